"""Words, syllables and languages: what every checker of English text needs."""

import re
from functools import cache, lru_cache
from math import log10
from pathlib import Path
from typing import Any

import pyphen

_WORD = re.compile(r"[^\W_]+(?:['’_-][^\W_]+)*")
_DATA = Path(__file__).parent / "data"


def words(text: str) -> list[str]:
    """The words of a text in lower case; apostrophes, hyphens and underscores stay inside a word."""
    return _WORD.findall(text.lower().replace("’", "'"))


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of `data/NAME.txt`: one or more a line, `#` begins a comment. Raises FileNotFoundError."""
    lines = (_DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines for word in line.partition("#")[0].split())


@cache
def _hyphenator() -> Any:
    return pyphen.Pyphen(lang="en_US")


@lru_cache(maxsize=50_000)
def syllables(word: str) -> int:
    """Syllables of a word by the places where it may be hyphenated, at least 1. It knows fewer than an ear does."""
    return len(_hyphenator().positions(word[:60])) + 1


@cache
def _zipf() -> dict[str, float]:
    from wordfreq import get_frequency_dict  # 0.2 s and 8 MB: not for a process that only imports this

    return {word: round(log10(share) + 9, 2) for word, share in get_frequency_dict("en", "small").items()}


def zipf(word: str) -> float:
    """How common a word is in English: log10 of its count in a thousand million words; 0 where it is below 3.

    Source: wordfreq 3.1.1 (R. Speer, DOI 10.5281/zenodo.7199437), its small English list.
    """
    return _zipf().get(word, 0.0)


ENGLISH = 3.9
"""Mean commonness (`zipf`) of the words of a corpus, from which on it is taken for English. Measured: dialogue in
English 5.4 to 6.1, tweets 4.7, Dutch 3.8, French 3.7, German 2.6 (docs/trust.md)."""
FOREIGN = 2.5
"""An utterance of four words or more below this is not judged."""


@lru_cache(maxsize=4096)
def commonness(text: str) -> tuple[int, float]:
    """How many words a text has, and the sum of how common they are; parts joined by _ or - count one by one."""
    found = words(text.replace("_", " ").replace("-", " "))
    return len(found), sum(zipf(word) for word in found)


@lru_cache(maxsize=4096)
def cannot_judge(text: str) -> str:
    """Why the checkers of English cannot judge an utterance; empty where they can.

    Short ones get the benefit of the doubt, as do single words of slang: only what is surely something else is
    refused, and counted as refused.
    """
    count, total = commonness(text)
    if not count:
        return "no words"
    if not text.isascii():
        letters = [letter for letter in text if letter.isalpha()]
        if 2 * sum(letter < "\u0250" for letter in letters) < len(letters):
            return "not in Latin letters"
    return "not English" if count >= 4 and total / count < FOREIGN else ""


class Language:
    """Whether all that was said looks like English, of any number of utterances."""

    def __init__(self) -> None:
        self.words = 0
        self.total = 0.0

    def see(self, text: str) -> None:
        count, total = commonness(text)
        self.words += count
        self.total += total

    @property
    def foreign(self) -> bool:
        """Surely not English: twenty words or more, and too few of them common in English."""
        return self.words >= 20 and self.total / self.words < ENGLISH
