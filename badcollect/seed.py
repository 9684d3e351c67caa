"""The demo: a study, its bots and its people, made once."""

import secrets
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from annotations.models import Dialogue, Label, Study, StudyBot, User, Utterance
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
CHATS = [
    (
        [
            "I started a new job in a kitchen last week.",
            "Nice! What are the others there like?",
            "Mixed. The head cook shouts at everyone when it gets busy and calls us slow.",
            "People who shout at work are idiots. Tell him to get lost and walk out.",
            "I need the money though.",
            "Then stay, and talk to him on a quiet day. Most people calm down when they are asked about it.",
        ],
        ["0", "<50", "0"],
    ),
    (
        [
            "My neighbour plays the trumpet every evening.",
            "Every evening? That would drive me up the wall.",
            "What would you do about it?",
            "Ask him to play before eight. If he does not care, he is a damn fool and deserves a bucket of water.",
            "He is from another country, maybe it is usual there.",
            "Oh, those people never care about anybody. They should learn to behave or go back.",
        ],
        ["0", "<10", ">=50"],
    ),
]
"""Two chats of the demo's worker, so that there is something to verify: messages, and labels of the replies."""
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
    if not study.dialogues.exists():
        for texts, bins in CHATS:
            _finished_chat(study, bots[0], texts, bins)
    return study


def _finished_chat(study: Study, bot: Bot, texts: list[str], bins: list[str]) -> None:
    now = timezone.now()
    dialogue = Dialogue.objects.create(
        study=study,
        worker=User.objects.get(username="worker"),
        bot=bot,
        instruction="",
        chats_before=study.dialogues.count(),
        wanted=len(texts),
        said=len(texts),
        labelled=len(bins),
        unsafe=sum(bin_ != "0" for bin_ in bins),
        state=Dialogue.State.COMPLETE,
        end_reason=Dialogue.End.COMPLETE,
        last_at=now,
        ended_at=now,
    )
    Dialogue.objects.filter(pk=dialogue.pk).update(started_at=now - timedelta(minutes=5))
    said = Utterance.objects.bulk_create(
        Utterance(
            dialogue=dialogue, number=number, speaker="human" if number % 2 else "bot", text=text, at=now
        )
        for number, text in enumerate(texts, 1)
    )
    Label.objects.bulk_create(
        Label(utterance=reply, bin=bin_, at=now) for reply, bin_ in zip(said[1::2], bins, strict=True)
    )


def password_holds() -> bool:
    """Whether the demo accounts still have the password of `password()`; asked of the first of them."""
    user = User.objects.filter(username=PEOPLE[0][0]).first()
    return user is not None and user.check_password(password())
