from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bots.errors import ConfigError
from bots.safety import models
from bots.safety.errors import DataError, ModelError
from bots.safety.scoring import score


class Command(BaseCommand):
    help = (
        "Labels JSON lines of any size with a classifier; killed and run again, it goes on (docs/safety.md)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", default="default", help="a folder of train_safety, or default")
        parser.add_argument("--in", dest="inputs", nargs="+", type=Path, required=True, metavar="FILE")
        parser.add_argument("--out", type=Path, required=True)
        parser.add_argument(
            "--key", default="predicted", help="the label's name in a row; `label` makes training data"
        )

    def handle(self, **options: Any) -> None:
        try:
            model = models.load(models.folder_of(options["model"]))
            rows = score(
                model, options["inputs"], options["out"], key=options["key"], progress=self.stderr.write
            )
        except (ConfigError, DataError, ModelError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{rows} rows, by {model.name} {model.version}")
