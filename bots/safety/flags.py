"""What a model makes of every pair of a corpus, kept in a file: the first pass of filtering and of baking in."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bots.safety import corpora, resumable
from bots.safety.corpora import Pair
from bots.safety.errors import DataError
from bots.safety.models import Model
from bots.safety.scoring import described
from bots.safety.sources import sha256
from bots.safety.turns import Progress

NAME = "flags.jsonl"


@dataclass(frozen=True, slots=True)
class Flags:
    """Whether the last utterance of the context, and the response, are flagged."""

    context: bool
    response: bool

    def __bool__(self) -> bool:
        return self.context or self.response


def about(model: Model, inputs: Sequence[Path]) -> dict[str, Any]:
    return {**described(model), "inputs": [{"file": path.name, "sha256": sha256(path)} for path in inputs]}


def judge(model: Model, inputs: Sequence[Path], folder: Path, progress: Progress) -> int:
    """Writes the flags of all pairs to `folder`; how many pairs. Killed and run again, it goes on."""

    def work(pairs: Sequence[Pair]) -> list[str]:
        turns = [turn for pair in pairs for turn in (pair.asked(), pair.answered()) if turn]
        verdicts = iter(model.judge(turns))
        return [
            json.dumps(
                [int(pair.asked() is not None and next(verdicts).flagged), int(next(verdicts).flagged)]
            )
            for pair in pairs
        ]

    rows = resumable.write(
        corpora.read(inputs), folder / NAME, work, about=about(model, inputs), progress=progress
    )
    if not rows:
        raise DataError(inputs[0], "", "There are no pairs in it.")
    return rows


def flagged(inputs: Sequence[Path], folder: Path) -> Iterator[tuple[Pair, Flags]]:
    """Every pair with its flags."""
    with (folder / NAME).open("rb") as file:
        for pair, line in zip(corpora.read(inputs), file, strict=True):
            context, response = json.loads(line)
            yield pair, Flags(bool(context), bool(response))
