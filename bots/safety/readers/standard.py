"""Build-it Break-it Fix-it and the Standard task (Dinan et al. 2019, arXiv 1908.06083): one JSON file each.

Single-turn: {"standard" | "adversarial": {"train" | "valid" | "test": {"1" | "2" | "3": {"good": [{"text", "labels"}],
"bad": [...]}}}}. Multi-turn: {"train" | "valid" | "test": [{"text": utterances joined by newlines, "labels"}]}.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bots.safety.errors import DataError
from bots.safety.readers.lines import label_of, said
from bots.safety.turns import NOTOK, OK, Example

SOURCES = {"standard": "standard", "adversarial": "bbf"}
"""Name in the file -> name of the source, as the paper calls it. The multi-turn file is `bbf_multi`."""
PARTS = ("train", "valid", "test")


def read(path: Path, part: str) -> Iterator[Example]:
    """The examples of one part, all three rounds, or of all where `part` is ""."""
    try:
        data = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataError(path, getattr(error, "lineno", ""), f"This is not JSON ({error}).") from error
    for where, source, row in _rows(path, data, part):
        try:
            utterances = said(row.get("text"))
            label = label_of(row.get("labels"))
            if not utterances or label not in (OK, NOTOK):
                raise ValueError("There must be a text, and __ok__ or __notok__.")  # noqa: TRY301 one place
        except ValueError as error:
            raise DataError(path, where, str(error)) from error
        *context, text = utterances
        yield Example(tuple(context), text, label=label, source=source, dialogue=utterances[0])


def _rows(path: Path, data: Any, part: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    wanted = (part,) if part else PARTS
    if isinstance(data, dict) and set(data) & set(SOURCES):
        for name, source in SOURCES.items():
            for which in wanted:
                for number, kinds in _at(path, data, name, which).items():
                    for kind, rows in kinds.items():
                        yield from _listed(path, f"{name}.{which}.{number}.{kind}", source, rows)
    elif isinstance(data, dict) and set(data) & set(PARTS):
        for which in wanted:
            yield from _listed(path, which, "bbf_multi", data.get(which, []))
    else:
        raise DataError(path, "", "Neither the single-turn nor the multi-turn shape of this data.")


def _at(path: Path, data: dict[str, Any], name: str, part: str) -> dict[str, dict[str, Any]]:
    rounds = data.get(name, {}).get(part, {})
    if not isinstance(rounds, dict) or not all(isinstance(kinds, dict) for kinds in rounds.values()):
        raise DataError(path, f"{name}.{part}", 'There must be {"1": {"good": [...], "bad": [...]}, ...}.')
    return rounds


def _listed(path: Path, where: str, source: str, rows: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(path, where, "There must be a list of objects.")
    for place, row in enumerate(rows):
        yield f"{where}[{place}]", source, row
