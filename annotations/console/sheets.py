"""Tables as CSV files that a spreadsheet opens without running anything."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from annotations.domain.rows import defused


def sheet(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """The rows as CSV, a heading first."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([defused(column) for column in columns])
    writer.writerows([_cell(row.get(column, "")) for column in columns] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    return defused(value) if isinstance(value, str) else value
