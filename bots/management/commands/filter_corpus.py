import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bots.errors import ConfigError
from bots.safety import models
from bots.safety.errors import DataError, ModelError
from bots.safety.filtering import AUTHOR_THRESHOLD, BY, filter_corpus


class Command(BaseCommand):
    help = "Leaves unsafe examples, or unsafe authors, out of a corpus, with a report (docs/safety.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", default="default", help="a folder of train_safety, or default")
        parser.add_argument("--in", dest="inputs", nargs="+", type=Path, required=True, metavar="FILE")
        parser.add_argument("--out", type=Path, required=True, help="a folder")
        parser.add_argument("--by", choices=BY, required=True)
        parser.add_argument("--author-threshold", type=float, default=AUTHOR_THRESHOLD)

    def handle(self, **options: Any) -> None:
        try:
            report = filter_corpus(
                models.load(models.folder_of(options["model"])),
                options["inputs"],
                options["out"],
                by=options["by"],
                author_threshold=options["author_threshold"],
                progress=self.stderr.write,
            )
        except (ConfigError, DataError, ModelError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(report, indent=1))
