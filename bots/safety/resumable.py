"""A stream of rows into a file, a chunk at a time; killed at any moment, it goes on where it was."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from bots.errors import ConfigError
from bots.safety.turns import Progress

CHUNK = 2_048
"""Rows that are worked on together. A result never depends on where a run was broken off, since chunks do not."""

Row = TypeVar("Row")


def write(
    rows: Iterable[Row],
    out: Path,
    work: Callable[[Sequence[Row]], Sequence[str]],
    *,
    about: Mapping[str, Any],
    progress: Progress,
) -> int:
    """Writes the lines that `work` makes of each chunk of rows; how many rows there were.

    The file takes its name when it is whole; `<out>.about.json` keeps `about` beside it, and how far it is. The same
    call again goes on, or finds that all is done. Raises ConfigError if the file is of a run with another `about`.
    """
    note = out.with_name(f"{out.name}.about.json")
    partial = out.with_name(f"{out.name}.partial")
    state = _state(out, partial, note, about)
    if state["done"]:
        return int(state["rows"])
    out.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("ab") as file:
        file.truncate(state["bytes"])
        file.seek(state["bytes"])
        for chunk in _chunks(islice(rows, state["rows"], None)):
            file.write("".join(line + "\n" for line in work(chunk)).encode())
            file.flush()
            os.fsync(file.fileno())
            state |= {"rows": state["rows"] + len(chunk), "bytes": file.tell()}
            _put(note, state)
            progress(f"{out.name}: {state['rows']} rows")
    partial.replace(out)
    _put(note, {**state, "done": True})
    return int(state["rows"])


def _state(out: Path, partial: Path, note: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    fresh = {"about": json.loads(json.dumps(about)), "rows": 0, "bytes": 0, "done": False}
    if not note.exists():
        if out.exists():
            raise ConfigError(f"{out} is there already. Remove it, or choose another name.")
        return fresh
    state: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
    if state["about"] != fresh["about"]:
        raise ConfigError(
            f"{out} is of a run with other input or settings. Remove it and {note.name}, or choose another name."
        )
    if out.exists():  # killed after the file took its name, if it is not marked as done
        return {**state, "done": True}
    whole = partial.exists() and partial.stat().st_size >= state["bytes"]
    return state if whole and not state["done"] else fresh


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    rows = iter(rows)
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def _put(path: Path, value: Any) -> None:
    """Replaces a small file as a whole."""
    fresh = path.with_name(f"{path.name}.fresh")
    fresh.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    fresh.replace(path)
