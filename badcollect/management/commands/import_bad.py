import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import slug_re

from annotations.domain.parlai import LineError
from annotations.domain.rows import SPLITS
from annotations.exports import importing
from annotations.models import Membership, User
from annotations.people.errors import Refused
from annotations.studies.services import join


class Command(BaseCommand):
    help = "Reads a file of the released Bot-Adversarial Dialogue data into a study, whole or not at all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="such as valid.txt")
        parser.add_argument(
            "--study", required=True, help="slug of the study; made, closed, where there is none"
        )
        parser.add_argument(
            "--researcher", default="", help="account that is to see the study in the console"
        )
        parser.add_argument(
            "--split", default="", choices=SPLITS, help="the split its chats have in every export"
        )

    def handle(self, **options: Any) -> None:
        path, slug = options["file"].resolve(), options["study"]
        if not slug_re.fullmatch(slug) or len(slug) > 60:
            raise CommandError(f"--study {slug!r} is no slug: use up to 60 letters, digits and hyphens.")
        name = options["researcher"]
        researcher = User.objects.filter(username=name).first()
        if name and researcher is None:
            raise CommandError(f"There is no account {name!r}. Nothing was imported.")
        try:
            importing.check(path)  # before a study is made for it
            self._run(path, slug, options["split"], researcher)
        except LineError as error:
            raise CommandError(f"{path}: {error} Nothing was imported.") from error
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error

    def _run(self, path: Path, slug: str, split: str, researcher: User | None) -> None:
        study = importing.study_called(slug)
        if researcher:
            join(study=study, user=researcher, role="researcher")
        try:
            found = importing.ask(
                study=study, actor=None, name=path.name, path=path, sha256=importing.digest(path), split=split
            )
        except Refused as refusal:
            if refusal.code != "imported_before":
                raise CommandError(refusal.detail) from refusal
            self.stdout.write(refusal.detail)
            return
        if sys.stderr.isatty():
            self.stderr.write("Every line is good. Storing the chats.")
        importing.run(found.pk)
        found.refresh_from_db()
        if found.state != found.State.DONE:
            raise CommandError(found.problem or "It was cancelled.")
        self._tell(slug, found.report)
        if not Membership.objects.filter(study=study, role="researcher").exists():
            self.stdout.write(
                "Only administrators see this study. Give it to somebody with --researcher NAME."
            )

    def _tell(self, slug: str, report: dict[str, Any]) -> None:
        self.stdout.write(f"Imported into {slug}: {report['rows']:,} rows of {report['chats']:,} chats.")
        for who in ("human", "bot"):
            labels = report["labels"][who]
            self.stdout.write(f"{who:>8}: {labels['ok']:,} OK, {labels['notok']:,} not OK")
        lengths = ", ".join(f"{count:,} of {length}" for length, count in _in_order(report["lengths"]))
        self.stdout.write(f"{'chats':>8}: {lengths} utterances")
        personas = ", ".join(f"{count:,} with {lines}" for lines, count in _in_order(report["persona_lines"]))
        self.stdout.write(f"{'personas':>8}: {personas} lines")


def _in_order(counts: dict[str, int]) -> list[tuple[int, int]]:
    """By the number counted: PostgreSQL keeps no order of keys."""
    return sorted((int(key), count) for key, count in counts.items())
