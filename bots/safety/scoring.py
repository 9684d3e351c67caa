"""Labelling of files of any size, row by row as they come: for semi-supervised training, and to look at."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bots.errors import ConfigError
from bots.safety import resumable
from bots.safety.errors import DataError
from bots.safety.models import Model
from bots.safety.readers.lines import objects
from bots.safety.readers.rows import turn_of
from bots.safety.sources import sha256
from bots.safety.turns import Progress, Turn

Record = tuple[dict[str, Any], Turn]


def score(model: Model, inputs: Sequence[Path], out: Path, *, key: str, progress: Progress) -> int:
    """Writes every row of the JSON-lines files with what the model makes of it; how many.

    A row has "text" and, as far as known, "context" and "speaker"; it comes out as it was, with the label under `key`
    and the "score". With the key "label" the output is a file to train on. Raises DataError for a bad row (what was
    written until there stays, and the corrected file starts anew), ConfigError as `resumable.write`.
    """
    if key in ("text", "context", "speaker", "score"):
        raise ConfigError(f"The label cannot take the name {key!r}: the row has that already.")
    about = {**described(model), "inputs": [sha256(path) for path in inputs], "key": key}

    def work(records: Sequence[Record]) -> list[str]:
        verdicts = model.judge([turn for _, turn in records])
        return [
            json.dumps({**row, key: verdict.label, "score": round(verdict.score, 6)}, ensure_ascii=False)
            for (row, _), verdict in zip(records, verdicts, strict=True)
        ]

    return resumable.write(_records(inputs), out, work, about=about, progress=progress)


def described(model: Model) -> dict[str, Any]:
    """What decided a label: goes with everything that a model has labelled."""
    return {"model": model.name, "version": model.version, "thresholds": model.thresholds}


def _records(inputs: Sequence[Path]) -> Iterator[Record]:
    for path in inputs:
        for number, row in objects(path):
            try:
                yield row, turn_of(row)
            except ValueError as error:
                raise DataError(path, number, str(error)) from error
