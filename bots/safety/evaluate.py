"""Models against labelled rows: the figures of each, side by side, and the rows each got wrong."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bots.safety import metrics
from bots.safety.errors import DataError
from bots.safety.metrics import Judged
from bots.safety.models import SAFE, Model
from bots.safety.turns import Example

CHUNK = 4_096


def judged(model: Model, examples: Sequence[Example]) -> list[Judged]:
    """What the model makes of each example, in their order."""
    rows: list[Judged] = []
    for start in range(0, len(examples), CHUNK):
        some = examples[start : start + CHUNK]
        rows += [
            Judged(example, verdict.label, verdict.score)
            for example, verdict in zip(some, model.judge(some), strict=True)
        ]
    return rows


def flagging(model: Model) -> list[str]:
    return [label for label in model.labels if label not in SAFE]


def report(
    model: Model, examples: Sequence[Example], *, path: Path, seed: int = 0
) -> tuple[dict[str, Any], list[Judged]]:
    """The figures of one model, with its name, version and thresholds, and its judgements.

    Raises DataError (of `path`) if the rows have labels that the model does not know.
    """
    strange = {example.label for example in examples} - {*model.labels, model.safe}
    if strange:
        raise DataError(path, "", f"{model.name} knows no label {min(strange)!r}.")
    rows = judged(model, examples)
    about = {"model": model.name, "version": model.version, "thresholds": model.thresholds}
    return {**about, **metrics.report(rows, flagging(model), seed=seed)}, rows


def table(reports: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The lines of a table as the paper's Table 4: a model a line, F1 of the unsafe class on each source, the mean of
    these, then precision, recall and accuracy over all rows.
    """
    names = sorted({source for report in reports for source in report["by_source"]})
    width = max(len("model"), *(len(report["model"]) for report in reports))
    heads = [*names, "mean", "precision", "recall", "accuracy"]
    yield "  ".join(["model".ljust(width), *(head.rjust(max(9, len(head))) for head in heads)])
    for report in reports:
        each = [report["by_source"][name]["f1"] for name in names]
        values = [*each, sum(each) / len(each), *(report[name] for name in heads[-3:])]
        cells = (
            f"{100 * value:.1f}".rjust(max(9, len(head))) for head, value in zip(heads, values, strict=True)
        )
        yield "  ".join([report["model"].ljust(width), *cells])


def write_errors(path: Path, rows: Sequence[Judged], model: Model) -> int:
    """Every row that the model got wrong, the surest mistakes first, as JSON lines; how many."""
    wrong = [row for row in rows if row.label != row.example.label]
    wrong.sort(key=lambda row: -abs(row.score - next(iter(model.thresholds.values()))))
    with path.open("w", encoding="utf-8") as file:
        for row in wrong:
            example = row.example
            line = {
                "text": example.text,
                "context": example.context,
                "speaker": example.speaker,
                "label": example.label,
                "predicted": row.label,
                "score": round(row.score, 6),
                "source": example.source,
                "dialogue": example.dialogue,
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return len(wrong)
