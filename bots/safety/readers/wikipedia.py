"""The Wikipedia Toxic Comments (Wulczyn et al. 2017, arXiv 1610.08914) as CSV: a comment and six marks.

Not OK is a comment with any of the six; rows that are marked -1 were never labelled and are left out, as in ParlAI's
task `dialogue_safety`.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

from bots.safety.errors import DataError
from bots.safety.readers.lines import numbered
from bots.safety.turns import NOTOK, OK, Example
from bots.text import one_line

NAME = "wtc"
MARKS = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")


def read(path: Path) -> Iterator[Example]:
    """Every labelled comment as an utterance without context or speaker; each is a dialogue of its own."""
    rows = csv.reader((line + "\n" for _, line in numbered(path)), strict=True)
    try:
        header = next(rows, [])
        missing = [name for name in ("comment_text", *MARKS) if name not in header]
        if missing:
            raise DataError(path, 1, f"These columns are missing: {', '.join(missing)}.")
        for row in rows:
            if len(row) != len(header):
                raise DataError(path, rows.line_num, f"{len(row)} cells, and {len(header)} columns.")
            example = _example(path, rows.line_num, dict(zip(header, row, strict=True)))
            if example:
                yield example
    except csv.Error as error:
        raise DataError(path, rows.line_num, f"This is not CSV ({error}).") from error


def _example(path: Path, number: int, row: dict[str, str]) -> Example | None:
    marks = [row[name].strip() for name in MARKS]
    if not set(marks) <= {"0", "1", "-1"}:
        raise DataError(path, number, f"A mark is 0, 1 or -1, not {marks}.")
    text = one_line(row["comment_text"])
    if "-1" in marks or not text:
        return None
    return Example(
        (), text, label=NOTOK if "1" in marks else OK, source=NAME, dialogue=row.get("id") or str(number)
    )
