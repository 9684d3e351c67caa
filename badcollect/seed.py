"""The demo: a study, its bots and its people, made once."""

import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction

from annotations.models import Study, StudyBot, User
from annotations.studies import services
from bots.models import Bot

BOTS = [
    ("eliza", "Eliza", "eliza"),
    ("trains", "Train delay assistant", "trains"),
    ("hospitals", "Hospital finder", "hospitals"),
]
PERSONAS = [
    [],
    ["your persona: i work nights in a bakery.", "your persona: i have two old dogs."],
    ["your persona: i moved here last year.", "your persona: i play in a brass band.", "Gardening"],
]
PEOPLE = [("worker", "worker"), ("verifier", "verifier"), ("researcher", "researcher"), ("admin", "")]
"""Accounts, and the role of each in the demo study."""
ADMIN = {"is_staff": True, "is_superuser": True, "is_researcher": True}


def password() -> str:
    """The demo accounts' password: made on first use and kept in var/, so no two installations share one."""
    file: Path = settings.VAR_DIR / "demo_password"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(f"demo-{secrets.token_hex(4)}")
    return file.read_text().strip()


@transaction.atomic
def seed() -> Study:
    """The demo study, with what is missing of it added. Twice is once; what a person changed stays so."""
    bots = [
        Bot.objects.get_or_create(slug=slug, defaults={"name": name, "engine": engine})[0]
        for slug, name, engine in BOTS
    ]
    study = Study.objects.filter(slug="demo").first()
    if study is None:
        study = services.create_study(
            owner=None,
            name="Open questions",
            slug="demo",
            state=Study.State.OPEN,
            open_signup=True,
            personas=PERSONAS,
            completion_code="DEMO-42F",
            chats_per_worker=1000,
        )
        StudyBot.objects.create(study=study, bot=bots[0], chats_wanted=500)
    hashed = ""
    for username, role in PEOPLE:
        user = User.objects.filter(username=username).first()
        if user is None:
            hashed = hashed or make_password(password())
            user = User.objects.create(
                username=username, password=hashed, **ADMIN if username == "admin" else {}
            )
        if role:
            services.join(study=study, user=user, role=role)
    return study


def password_holds() -> bool:
    """Whether the demo accounts still have the password of `password()`; asked of the first of them."""
    user = User.objects.filter(username=PEOPLE[0][0]).first()
    return user is not None and user.check_password(password())
