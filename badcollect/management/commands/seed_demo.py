from typing import Any

from django.core.management.base import BaseCommand

from badcollect.seed import PEOPLE, password, seed


class Command(BaseCommand):
    help = "Makes the demo study, its bots and its accounts; run again, it adds what is missing."

    def handle(self, **_options: Any) -> None:
        study = seed()
        names = ", ".join(name for name, _ in PEOPLE)
        self.stdout.write(f"Study {study.slug!r} is ready. Accounts: {names}. Password: {password()}")
