import csv
import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bots.checkers import abuse, corpus
from bots.checkers.abuse_training import Trained, TrainingError, as_json, train, write


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Trains the abuse checker on labelled tweets (columns `class` and `tweet`) and writes its weights and card."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", required=True, type=Path, help="labeled_data.csv of Davidson et al.")
        parser.add_argument(
            "--clean",
            action="append",
            type=Path,
            default=[],
            help="a corpus known to be harmless; may be repeated",
        )
        parser.add_argument(
            "--out", type=Path, default=abuse.MODEL.parent, help="folder (default: the checker's own)"
        )

    def handle(self, *, data: Path, clean: list[Path], out: Path, **_options: Any) -> None:
        try:
            trained = train(_tweets(data), _texts(clean) if clean else None)
            write(trained, out, source=f"{data.name} (Davidson et al. 2017, MIT licence)")
        except (TrainingError, corpus.CorpusError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(_summary(trained))


def _tweets(path: Path) -> list[tuple[str, int]]:
    """Text and class of each row. Raises TrainingError where a column is missing or a class is none."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        if not {"class", "tweet"} <= set(rows.fieldnames or ()):
            raise TrainingError(f"{path} needs the columns class and tweet.")
        try:
            return [(row["tweet"], int(row["class"])) for row in rows]
        except (TypeError, ValueError) as error:
            raise TrainingError(f"{path}, line {rows.line_num}: the class must be 0, 1 or 2.") from error


def _texts(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        for utterance in corpus.read(path):
            yield utterance.text


def _summary(trained: Trained) -> str:
    return json.dumps(as_json(trained), indent=2, ensure_ascii=False)
