"""One reader for each source of labelled turns; which one a file wants shows in its name and first line."""

from collections.abc import Iterator
from pathlib import Path

from bots.safety.errors import DataError
from bots.safety.readers import bad, rows, standard, study, topics, wikipedia
from bots.safety.readers.lines import numbered, parsed
from bots.safety.turns import Example

FORMATS = (bad.NAME, rows.NAME, study.NAME, topics.NAME, "standard", wikipedia.NAME)
OWN_PARTS = ("standard", study.NAME)
"""Formats whose files say themselves which rows are for training, validation and test."""


def format_of(path: Path) -> str:
    """Which of FORMATS the file is in. Raises DataError if it is missing, empty, or in none."""
    if not path.is_file():
        raise DataError(path, "", "There is no such file.")
    if path.suffix == ".csv":
        return wikipedia.NAME
    if path.suffix == ".json":
        return "standard"
    number, first = next(((n, line) for n, line in numbered(path) if line.strip()), (0, ""))
    if first.startswith("text:"):
        return bad.NAME
    if not first.startswith("{"):
        raise DataError(
            path, number or "", "Neither the released text format, nor JSON lines, nor .json, nor .csv."
        )
    keys = set(parsed(path, number, first))
    if {"chat", "number"} <= keys:
        return study.NAME
    return topics.NAME if {"labels", "length"} <= keys else rows.NAME


def read(path: Path, part: str = "", rule: str = "") -> Iterator[Example]:
    """The examples of a file in any of FORMATS, one after another.

    `part` (train, valid, test or "") counts only for files with parts of their own. Raises DataError at the first
    line that cannot be read.
    """
    name = format_of(path)
    if name == "standard":
        return standard.read(path, part)
    if name == study.NAME:
        return study.read(path, part, rule)
    plain = {
        bad.NAME: bad.read,
        rows.NAME: rows.read,
        topics.NAME: topics.read,
        wikipedia.NAME: wikipedia.read,
    }
    return plain[name](path)
