from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bots.errors import ConfigError
from bots.management.options import add_plan, named_numbers, plan_of
from bots.safety.errors import DataError, ModelError
from bots.safety.presets import MAX_TOKENS
from bots.safety.training import Settings, train
from bots.safety.turns import NOTOK


class Command(BaseCommand):
    help = "Trains a safety or topic classifier and writes a folder with the model and its card (docs/safety.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--base", required=True, help="tfidf, bad-128m, bad-311m, or an encoder's folder or hub name"
        )
        parser.add_argument("--train", nargs="+", required=True, metavar="[NAME=]FILE[#PART]")
        parser.add_argument("--valid", nargs="+", required=True, metavar="[NAME=]FILE[#PART]")
        parser.add_argument(
            "--test", nargs="+", default=[], metavar="[NAME=]FILE[#PART]", help="measured at the end"
        )
        parser.add_argument("--out", type=Path, required=True, help="the model's folder")
        parser.add_argument("--weight", nargs="+", default=[], metavar="SOURCE=W", help="multitask weights")
        parser.add_argument("--rule", default="", help="merged labels of our own exports under this rule")
        parser.add_argument("--context", type=int, default=4, help="utterances read, the judged one included")
        parser.add_argument("--max-tokens", type=int, default=MAX_TOKENS)
        parser.add_argument("--threshold", nargs="+", default=[], metavar="[LABEL=]T")
        add_plan(parser)

    def handle(self, **options: Any) -> None:
        try:
            settings = Settings(
                base=options["base"],
                train=options["train"],
                valid=options["valid"],
                test=options["test"],
                out=options["out"],
                shares=named_numbers(options["weight"]),
                rule=options["rule"],
                context=options["context"],
                max_tokens=options["max_tokens"],
                thresholds=named_numbers(options["threshold"], default=NOTOK),
                plan=plan_of(options),
            )
            card = train(settings, self.stderr.write)
        except (ConfigError, DataError, ModelError) as error:
            raise CommandError(str(error)) from error
        for part, found in card.get("metrics", {}).items():
            low, high = found["intervals"]["f1"]
            self.stdout.write(f"{part}: F1 {found['f1']:.3f} ({low:.3f} to {high:.3f}), {found['rows']} rows")
