"""Rows into files, one for each split. A writer gets the rows some at a time and keeps none."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

from annotations.domain import parlai
from annotations.domain.rows import COLUMNS, FLAT, JSONL, ExportRow, flat


class Writer(Protocol):
    def add(self, rows: Sequence[ExportRow]) -> None: ...

    def close(self) -> None: ...


class TextWriter:
    """A file of lines: UTF-8, LF."""

    def __init__(self, path: Path, show: Callable[[Sequence[ExportRow]], str], head: str = "") -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._show = show
        self._file.write(head)

    def add(self, rows: Sequence[ExportRow]) -> None:
        self._file.write(self._show(rows))

    def close(self) -> None:
        self._file.close()


def _parlai(rows: Sequence[ExportRow]) -> str:
    return "".join(map(parlai.line, rows))


# No row holds itself: looking for that would take an eighth of the time.
_encode = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
).encode
_json_values = itemgetter(*(ExportRow._fields.index(name) for name in JSONL))


def jsonl(rows: Sequence[ExportRow]) -> str:
    return "".join([_encode(dict(zip(JSONL, _json_values(row), strict=True))) + "\n" for row in rows])


def _csv(lines: Sequence[Sequence[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue()


class ParquetWriter:
    """A Parquet file (zstd), a row group a portion of chats."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        kinds = {
            "text": pa.string(),
            "texts": pa.list_(pa.string()),
            "whole": pa.int32(),
            "real": pa.float64(),
            "flag": pa.bool_(),
        }
        self._schema = pa.schema([(name, kinds[COLUMNS[name].kind]) for name in FLAT])
        self._table = pa.Table.from_pydict
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")

    def add(self, rows: Sequence[ExportRow]) -> None:
        if rows:
            columns = {name: [getattr(row, name) for row in rows] for name in FLAT}
            self._writer.write_table(self._table(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


def file_name(format_: str, split: str) -> str:
    """Where the rows of a split go, in the folder of an export."""
    ending = {"parlai": "txt", "hf": "parquet"}.get(format_, format_)
    return f"data/{split}.{ending}" if format_ == "hf" else f"{split}.{ending}"


def writer(format_: str, path: Path) -> Writer:
    """The writer of one file. `format_`: one of Export.Format."""
    if format_ == "parlai":
        return TextWriter(path, _parlai)
    if format_ == "jsonl":
        return TextWriter(path, jsonl)
    if format_ == "csv":
        return TextWriter(path, lambda rows: _csv([flat(row) for row in rows]), head=_csv([FLAT]))
    return ParquetWriter(path)


def held(format_: str, chat: Sequence[ExportRow]) -> Sequence[ExportRow]:
    """The rows of a chat that the format holds: JSON lines all, the others those with a label."""
    if format_ == "jsonl":
        return chat
    if format_ == "parlai":
        return parlai.rows_of(chat)
    return [row for row in chat if row.label]
