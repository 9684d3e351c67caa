import sys
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.models import Merged, Merging, Study
from annotations.people.errors import Refused
from annotations.verification import remerging

BAR = 30


class Command(BaseCommand):
    help = "Makes a study's merged labels anew under one rule; labels of other rules stay beside them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="slug of the study")
        parser.add_argument("--rule", required=True, help=f"one of {', '.join(remerging.TITLES)}")

    def handle(self, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            slugs = ", ".join(Study.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"There is no study {options['study']!r}. There are: {slugs}.")
        began = self.last_shown = time.monotonic()
        try:
            merging = remerging.run(study=study, rule=options["rule"], tick=self._tick)
        except Refused as refusal:
            raise CommandError(refusal.detail) from refusal
        if merging.state != Merging.State.DONE:
            raise CommandError(merging.problem or f"The merging was {merging.state} meanwhile.")
        labels = Merged.objects.filter(study=study, rule=merging.rule).count()
        self.stdout.write(
            f"{labels} of {merging.total} utterances have a label under {merging.rule}, "
            f"in {time.monotonic() - began:.1f} s."
        )

    def _tick(self, done: int, total: int) -> None:
        live, now = sys.stderr.isatty(), time.monotonic()
        if not live and now - self.last_shown < 5:
            return
        self.last_shown = now
        filled = BAR * done // total
        bar = f"[{'#' * filled}{'.' * (BAR - filled)}] {done} of {total} utterances"
        self.stderr.write(("\r" if live else "") + bar, ending="" if live and done < total else "\n")
