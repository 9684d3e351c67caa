"""Words, syllables and languages: what every checker of English text needs."""

import re
from functools import cache, lru_cache
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
    from wordfreq import get_frequency_dict  # 30 ms and some MB: not for a process that only imports this

    import math

    return {word: round(math.log10(share) + 9, 2) for word, share in get_frequency_dict("en", "small").items()}


def zipf(word: str) -> float:
    """How common a word is in English: log10 of its count in a thousand million words; 0 where it is below 3.

    Source: wordfreq 3.1.1 (R. Speer, DOI 10.5281/zenodo.7199437), its small English list.
    """
    return _zipf().get(word, 0.0)
