import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bots.errors import ConfigError
from bots.safety import models
from bots.safety.baking import REST, bake_in
from bots.safety.errors import DataError, ModelError


class Command(BaseCommand):
    help = (
        "Makes training data with safety baked in: a safe pool, a changed pool and a report (docs/safety.md)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", default="default", help="a folder of train_safety, or default")
        parser.add_argument("--in", dest="inputs", nargs="+", type=Path, required=True, metavar="FILE")
        parser.add_argument("--out", type=Path, required=True, help="a folder")
        parser.add_argument("--replace-share", type=float, default=0.5, help="of the flagged pairs")
        parser.add_argument(
            "--rest", choices=REST, default="drop", help="the flagged pairs that are not changed"
        )
        parser.add_argument("--seed", type=int, default=0)

    def handle(self, **options: Any) -> None:
        try:
            report = bake_in(
                models.load(models.folder_of(options["model"])),
                options["inputs"],
                options["out"],
                replace_share=options["replace_share"],
                rest=options["rest"],
                seed=options["seed"],
                progress=self.stderr.write,
            )
        except (ConfigError, DataError, ModelError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(report, indent=1))
