"""Which examples are meant: `[NAME=]FILE[#PART]`, several at once, weighed against each other."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bots.errors import ConfigError
from bots.safety import readers
from bots.safety.errors import DataError
from bots.safety.turns import Example

PARTS = {"train": (0.0, 0.7), "valid": (0.7, 0.85), "test": (0.85, 1.0)}
"""Shares of the dialogues in each part of a file that has no parts of its own (our choice)."""


@dataclass(frozen=True)
class Source:
    """A file, the name its rows go by ("" for that of their format) and the part of it ("" for all)."""

    path: Path
    name: str = ""
    part: str = ""


def parse(spec: str) -> Source:
    """`[NAME=]FILE[#PART]`; a file whose own name has # or = in it is taken whole. Raises ConfigError."""
    if Path(spec).is_file():
        return Source(Path(spec))
    name, _, rest = spec.rpartition("=")
    path, _, part = rest.partition("#")
    if part not in ("", *PARTS):
        raise ConfigError(f"{spec}: the part after # is {', '.join(PARTS)}, not {part!r}.")
    return Source(Path(path), name, part)


def load(specs: Sequence[str], *, rule: str = "") -> list[Example]:
    """All examples of the files. Raises DataError for a bad line or if there is nothing, ConfigError for a spec."""
    examples = [example for spec in specs for example in stream(parse(spec), rule=rule)]
    if not examples:
        raise DataError(Path(specs[0]), "", "There are no labelled rows in it.")
    return examples


def stream(source: Source, *, rule: str = "") -> Iterator[Example]:
    """The examples of one source, one after another."""
    own = readers.format_of(source.path) in readers.OWN_PARTS
    found: Iterable[Example] = readers.read(source.path, source.part, rule)
    if source.part and not own:
        found = (example for example in found if part_of(example.dialogue) == source.part)
    if source.name:
        found = (replace(example, source=source.name) for example in found)
    return iter(found)


def part_of(dialogue: str) -> str:
    """The part a dialogue falls into: always the same one, whatever else is in the file."""
    place = int.from_bytes(hashlib.sha256(f"part:{dialogue}".encode()).digest()[:8]) / 2**64
    return next(part for part, (low, high) in PARTS.items() if low <= place < high)


def weighed(examples: Sequence[Example], shares: Mapping[str, float]) -> list[float]:
    """How much each example counts, 1 on average.

    With `shares` (source -> weight) each source as a whole counts in proportion to its weight, however many rows it
    has: ParlAI's multitask weights (the paper: wtc 3, standard 1, bbf 1, bad 1). A source that is not named weighs 1.
    Without, every row counts alike. Raises ConfigError for a source that is not there or a weight not above 0.
    """
    rows = Counter[str]()
    for example in examples:
        rows[example.source] += 1
    for name, share in shares.items():
        if name not in rows:
            raise ConfigError(f"There is no source {name!r} to weigh. There are: {', '.join(sorted(rows))}.")
        if not share > 0:
            raise ConfigError(f"The weight of {name!r} must be above 0.")
    each = {name: shares.get(name, 1.0) / count for name, count in rows.items()} if shares else {}
    raw = [example.weight * each.get(example.source, 1.0) for example in examples]
    scale = len(raw) / sum(raw)
    return [weight * scale for weight in raw]


def described(specs: Sequence[str], examples: Iterable[Example]) -> dict[str, object]:
    """For a model's card: the files with their hashes, and how many rows of each label every source gave."""
    counts = Counter[tuple[str, str]]()
    dialogues = set[tuple[str, str]]()
    for example in examples:
        counts[example.source, example.label] += 1
        dialogues.add((example.source, example.dialogue))
    rows: dict[str, dict[str, int]] = {}
    for (source, label), count in sorted(counts.items()):
        rows.setdefault(source, {})[label] = count
    return {
        "files": [_file(parse(spec)) for spec in specs],
        "rows": rows,
        "dialogues": len(dialogues),
    }


def _file(source: Source) -> dict[str, str]:
    return {"file": source.path.name, "part": source.part or "all", "sha256": sha256(source.path)}


def sha256(path: Path) -> str:
    """The hash of a file, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
