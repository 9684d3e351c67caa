"""What the scripted engines share: their settings, their tables, and finding a table's names in a message."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bots.errors import ConfigError

MAX_REPLY = 2_000
"""Characters of a reply: the cap that `bots.replies` keeps."""

_WORD = re.compile(r"\w+(?:'\w+)*")


class Found(NamedTuple):
    """A name of the tables that stands in a message: what it is, which, and from which word to which."""

    kind: str
    value: str
    start: int
    end: int


class Lexicon:
    """Phrases and what each stands for, as (kind, value). Looking up takes time linear in the message."""

    def __init__(self, phrases: Iterable[tuple[str, str, str]]) -> None:
        self._values = {tuple(words(phrase)): (kind, value) for phrase, kind, value in phrases}
        self._lengths: dict[str, list[int]] = {}
        for tokens in sorted(self._values, key=len, reverse=True):
            lengths = self._lengths.setdefault(tokens[0], [])
            if len(tokens) not in lengths:
                lengths.append(len(tokens))

    def find(self, tokens: Sequence[str]) -> list[Found]:
        """Every phrase in `tokens`, from the left, the longest at each place; phrases do not overlap."""
        found: list[Found] = []
        taken = 0
        for at in (n for n, token in enumerate(tokens) if token in self._lengths):
            if at < taken:
                continue
            for length in self._lengths[tokens[at]]:
                if match := self._values.get(tuple(tokens[at : at + length])):
                    taken = at + length
                    found.append(Found(*match, at, taken))
                    break
        return found


def words(text: str) -> list[str]:
    """The words of a message in lower case, without punctuation; apostrophes stay inside a word."""
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a table in `data/`, by column."""
    with (Path(__file__).parent / "data" / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def refuse_unknown(config: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raises ConfigError when `config` has a key that is not in `known`."""
    unknown = sorted(str(key) for key in config if key not in known)
    if unknown:
        listed = f"Known: {', '.join(known)}." if known else "This engine has none: enter {}."
        raise ConfigError(f"There is no setting {', '.join(map(repr, unknown))}. {listed}")


def listing(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]])
