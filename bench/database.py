"""A PostgreSQL database of its own for a benchmark, made anew each run."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SERVER = os.environ.get("BENCH_SERVER", "postgres://postgres@127.0.0.1:5432")
NAME = os.environ.get("BENCH_NAME", "badcollect_bench")
URL = f"{SERVER}/{NAME}"


def make() -> None:
    """Makes the database and its tables, and sets Django up on it in this process."""
    import psycopg

    try:
        with psycopg.connect(f"{SERVER}/postgres", autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {NAME}")
    except psycopg.OperationalError as error:
        sys.exit(f"No PostgreSQL at {SERVER} ({error}). Start one, or set BENCH_SERVER.")
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "badcollect.settings",
        "DATABASE_URL": URL,
        "SECRET_KEY": "only for one benchmark",
        "VAR_DIR": "/tmp/badcollect-bench",
    }
    import django

    django.setup()
    subprocess.run([sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"], check=True)


def chats(
    count: int, *, engine: str = "eliza", config: dict | None = None, utterances: int = 14
) -> list[tuple[int, str]]:
    """Open chats with one bot, each of a worker of its own: (id, token)."""
    from django.utils import timezone

    from annotations.models import ApiToken, Dialogue, User
    from annotations.people.services import digest
    from annotations.studies.services import create_study
    from bots.models import Bot

    study = create_study(owner=None, name="Bench", slug=f"bench-{User.objects.count()}", state="open")
    bot = Bot.objects.create(slug=f"bot-{study.pk}", name="Bench", engine=engine, config=config or {})
    people = User.objects.bulk_create(
        User(username=f"{study.slug}-{n}", is_worker=True) for n in range(count)
    )
    keys = [f"bc_{user.username}" for user in people]
    ApiToken.objects.bulk_create(
        ApiToken(user=user, name="bench", digest=digest(key), start="bc_", used_at=timezone.now())
        for user, key in zip(people, keys, strict=True)
    )
    dialogues = Dialogue.objects.bulk_create(
        Dialogue(
            study=study,
            worker=user,
            bot=bot,
            instruction="",
            chats_before=0,
            wanted=utterances,
            last_at=timezone.now(),
        )
        for user in people
    )
    return [(dialogue.pk, key) for dialogue, key in zip(dialogues, keys, strict=True)]
