import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bots.errors import ConfigError
from bots.management.options import named_numbers
from bots.safety import evaluate, models, plots, sources
from bots.safety.errors import DataError, ModelError
from bots.safety.metrics import Judged
from bots.safety.turns import NOTOK


class Command(BaseCommand):
    help = "Measures classifiers on labelled files, side by side (docs/safety.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", nargs="+", required=True, help="folders of train_safety, or default")
        parser.add_argument("--data", nargs="+", required=True, metavar="[NAME=]FILE[#PART]")
        parser.add_argument("--rule", default="", help="merged labels of our own exports under this rule")
        parser.add_argument(
            "--threshold", nargs="+", default=[], metavar="[LABEL=]T", help="in place of the card's"
        )
        parser.add_argument("--seed", type=int, default=0, help="of the intervals")
        parser.add_argument(
            "--errors", type=Path, help="a JSONL of the wrong rows; of several models, a folder"
        )
        parser.add_argument("--plots", type=Path, help="a folder for the two curves")
        parser.add_argument(
            "--json", action="store_true", help="one JSON object; of several models, {models: [...]}"
        )

    def handle(self, **options: Any) -> None:
        try:
            self._measure(options)
        except (ConfigError, DataError, ModelError) as error:
            raise CommandError(str(error)) from error

    def _measure(self, options: dict[str, Any]) -> None:
        examples = sources.load(options["data"], rule=options["rule"])
        path = sources.parse(options["data"][0]).path
        thresholds = named_numbers(options["threshold"], default=NOTOK)
        reports: list[dict[str, Any]] = []
        judged: dict[str, list[Judged]] = {}
        for name in options["model"]:
            model = models.load(models.folder_of(name)).at(thresholds)
            if model.name in judged:
                raise ConfigError(f"Two models are called {model.name}: give one folder another name.")
            report, rows = evaluate.report(model, examples, path=path, seed=options["seed"])
            reports.append(report)
            judged[model.name] = rows
            if options["errors"]:
                many = len(options["model"]) > 1
                if many:
                    options["errors"].mkdir(parents=True, exist_ok=True)
                evaluate.write_errors(
                    options["errors"] / f"{model.name}.jsonl" if many else options["errors"], rows, model
                )
        if options["plots"]:
            plots.save(options["plots"], judged, evaluate.flagging(model))
        if options["json"]:
            self.stdout.write(json.dumps(reports[0] if len(reports) == 1 else {"models": reports}))
            return
        for line in evaluate.table(reports):
            self.stdout.write(line)
        for report in reports:
            low, high = report["intervals"]["f1"]
            self.stdout.write(
                f"{report['model']}: F1 {report['f1']:.3f}, 95 % interval {low:.3f} to {high:.3f}"
            )
