"""Plain JSON lines: {"text", "label"} and, as far as known, "context", "speaker", "weight", "source", "dialogue"."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bots.safety.errors import DataError
from bots.safety.readers.lines import label_of, objects, said, speaker_of, text_of
from bots.safety.turns import Example, Turn

NAME = "jsonl"


def read(path: Path) -> Iterator[Example]:
    """Every row. Where it names no dialogue, rows that open with the same utterance are one."""
    for number, row in objects(path):
        try:
            yield _example(row)
        except ValueError as error:
            raise DataError(path, number, str(error)) from error


def turn_of(row: dict[str, Any]) -> Turn:
    """The turn in a row, labelled or not. Raises ValueError with the reason."""
    return Turn(said(row.get("context")), text_of(row.get("text")), speaker_of(row.get("speaker")))


def _example(row: dict[str, Any]) -> Example:
    turn = turn_of(row)
    weight = row.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not weight > 0:
        raise ValueError(f"The weight must be a number above 0, not {str(weight)[:60]!r}.")
    return Example(
        turn.context,
        turn.text,
        turn.speaker,
        label=label_of(row.get("label", row.get("labels"))),
        source=str(row.get("source") or NAME),
        dialogue=str(row.get("dialogue") or (turn.context or (turn.text,))[0]),
        weight=float(weight),
    )
