from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bots.errors import ConfigError
from bots.management.options import add_plan, plan_of
from bots.safety.errors import DataError, ModelError
from bots.safety.presets import MAX_TOKENS
from bots.safety.pretraining import Settings, pretrain


class Command(BaseCommand):
    help = "Masked language modelling on a corpus of one's own: a base for train_safety (docs/safety.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--base", required=True, help="bad-128m, bad-311m, or an encoder's folder or hub name"
        )
        parser.add_argument(
            "--corpus", nargs="+", type=Path, required=True, metavar="FILE", help="a passage a line"
        )
        parser.add_argument("--out", type=Path, required=True, help="the encoder's folder")
        parser.add_argument("--max-tokens", type=int, default=MAX_TOKENS)
        add_plan(parser)

    def handle(self, **options: Any) -> None:
        try:
            settings = Settings(
                base=options["base"],
                corpus=options["corpus"],
                out=options["out"],
                max_tokens=options["max_tokens"],
                plan=plan_of(options),
            )
            about = pretrain(settings, self.stderr.write)
        except (ConfigError, DataError, ModelError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{about['lines']} lines, perplexity {about['perplexity']}")
