"""Tables as CSV files that a spreadsheet opens without running anything."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

from annotations.domain.rows import defused


def sheet(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The rows as CSV, a heading first."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    return defused(value) if isinstance(value, str) else value
