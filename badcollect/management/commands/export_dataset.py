import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.domain.splits import SplitError
from annotations.exports import making, services
from annotations.exports.models import Export
from annotations.models import Study
from annotations.people.errors import Refused


class Command(BaseCommand):
    help = "Writes a study's dataset into a folder, as the console's exports do."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="slug of the study")
        parser.add_argument("--format", required=True, choices=Export.Format.values)
        parser.add_argument(
            "--out", required=True, type=Path, help="a folder that is not there yet, or empty"
        )
        parser.add_argument(
            "--rule", default="", help="whose labels; by default the rule of the study's plan"
        )
        parser.add_argument(
            "--splits", default="0.8,0.1,0.1", help="train, valid, test, as shares or as counts of chats"
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--mask", action="store_true", help="mask e-mail addresses and long numbers")
        parser.add_argument("--whole", action="store_true", help="without partial chats")

    def handle(self, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            slugs = ", ".join(Study.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"There is no study {options['study']!r}. There are: {slugs}.")
        out: Path = options["out"].resolve()
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise CommandError(f"{out} is there already and not an empty folder. Name another.")
        try:
            export = services.planned(
                study=study,
                format_=options["format"],
                rule=options["rule"],
                splits=options["splits"],
                seed=options["seed"],
                mask=options["mask"],
                partial=not options["whole"],
            )
            self._tell(out, self._make(export, out))
        except (Refused, SplitError) as refusal:
            raise CommandError(str(refusal)) from refusal
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error

    def _make(self, export: Export, out: Path) -> dict[str, Any]:
        """Into a folder beside it first, so that nobody takes a part for the whole."""
        self.shown = time.monotonic()
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as part:
            files = Path(part) / out.name
            files.mkdir()
            manifest, _ = making.make(export, files, self._tick)
            files.rename(out)
        return manifest

    def _tick(self, done: int, total: int) -> None:
        live = sys.stderr.isatty()
        if time.monotonic() - self.shown < (0.2 if live else 5) and done < total:
            return
        self.shown = time.monotonic()
        words = f"{done:,} of {total:,} chats"
        self.stderr.write(f"\r{words}" if live else words, ending="" if live and done < total else "\n")

    def _tell(self, out: Path, manifest: dict[str, Any]) -> None:
        for file in manifest["files"]:
            self.stdout.write(f"{file['sha256']}  {file['rows']:>8,} rows  {file['name']}")
        self.stdout.write(f"{manifest['rows']:,} rows under {manifest['rule']} in {out}")
