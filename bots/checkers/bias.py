"""B, biased wording: how opinionated the wording of a sentence is.

C. J. Hutto, D. Folds, D. S. Appling, "Computationally Detecting and Quantifying the Degree of Bias in
Sentence-Level Text of News Stories", HUSO 2015: a linear model of 14 features, fitted to how biased 91 people
found 41 sentences of news, from 0 to 3. The coefficients are the published ones, as are scaling (a third) and
clipping (0 to 1). The features are ours where theirs cannot be had: `data/bias_words.txt` for the words, VADER's
ratings for opinion and subjectivity, MODALITY for how certain a sentence is.

It measures wording of news, not unfair treatment: two of its weights rest on one sentence each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from bots.checkers.sentiment import sentiment, valences
from bots.checkers.words import words

VERSION = "1"
Features = Literal["full", "published"]
"""`published`: without the seven features whose word lists were dead when Srivastava et al. 2020 ran the model."""
INTERCEPT = -0.5581467
SENTIMENT = 0.3477007
MODAL = 0.5164345
BY_WORDS: Mapping[str, float] = {
    "opinion": -2.0461103,
    "third_person": 8.3551389,
    "tentative": 4.5965115,
    "achievement": 5.737545,
    "discrepancy": 5.6573254,
    "loaded": -0.953181,
    "work": 9.811681,
    "factive": -16.6359498,
    "hedge": 3.059548,
    "assertive": -3.5770891,
    "strong": 5.0959142,
    "weak": 4.872367,
}
"""Coefficients of the features that are shares of the words, 0 to 1."""
DEAD = frozenset({"opinion", "loaded", "factive", "hedge", "assertive", "strong", "weak"})
"""Features that were always 0 in the paper's own run (docs/trust.md)."""
STRONG = 2.0
"""A word that VADER rates at least so far from 0 (of 4) is strongly subjective, the others weakly: our choice."""

MODALITY: Mapping[str, tuple[float, int]] = {
    **dict.fromkeys(("would", "wouldn't", "i'd", "you'd"), (-0.5, 4)),
    **dict.fromkeys(("could", "might", "couldn't"), (-0.25, 4)),
    **dict.fromkeys(("can", "may", "can't", "cannot"), (0.0, 4)),
    **dict.fromkeys(("should", "ought"), (0.25, 4)),
    **dict.fromkeys(("shall",), (0.5, 4)),
    **dict.fromkeys(("will", "won't", "i'll", "you'll", "it'll"), (0.75, 4)),
    **dict.fromkeys(("must",), (1.0, 4)),
    **dict.fromkeys(("doubt", "doubts", "unlikely", "rarely", "hardly"), (-0.5, 2)),
    **dict.fromkeys(("hope", "wish", "want", "allegedly", "supposedly", "nearly"), (-0.25, 2)),
    **dict.fromkeys(("guess", "imagine", "maybe", "perhaps", "possibly", "sometimes"), (0.0, 2)),
    **dict.fromkeys(("seem", "seems", "appear", "appears", "feel", "probably", "likely"), (0.25, 2)),
    **dict.fromkeys(("think", "believe", "expect", "suggest", "often", "usually", "mostly"), (0.5, 2)),
    **dict.fromkeys(("know", "show", "shows", "clearly", "certainly", "surely", "really"), (0.75, 2)),
    **dict.fromkeys(("prove", "proves", "always", "definitely", "obviously", "absolutely"), (1.0, 2)),
}
"""Words that make a statement less or more certain: from -1 (not so) to 1 (so), and how much each counts. The idea is
that of T. De Smedt and W. Daelemans, "Pattern for Python", JMLR 13, 2012; the table is ours and needs no tagger."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """`raw` is the model's number, `score` a third of it, clipped to 0..1; `because`: what raised it most."""

    raw: float
    score: float
    because: tuple[str, ...]


@cache
def lists() -> dict[str, frozenset[str]]:
    """The words of each feature in BY_WORDS that has a list."""
    found: dict[str, set[str]] = {}
    name = ""
    text = (Path(__file__).parent / "data" / "bias_words.txt").read_text(encoding="utf-8")
    for line in (line.partition("#")[0].strip() for line in text.splitlines()):
        if line.startswith("["):
            name = line.strip("[]")
        else:
            found.setdefault(name, set()).update(line.split())
    rated = {word: abs(value) for word, value in valences().items() if word.isalpha()}
    found["opinion"] = set(rated)
    found["strong"] = {word for word, value in rated.items() if value >= STRONG}
    found["weak"] = found["opinion"] - found["strong"]
    return {name: frozenset(found[name]) for name in BY_WORDS}


@cache
def _weigher(features: Features) -> Callable[[str], float]:
    """Looks a word up: the sum of the coefficients of all features it belongs to."""
    weights: dict[str, float] = {}
    for name, members in lists().items():
        if features == "full" or name not in DEAD:
            for word in members:
                weights[word] = weights.get(word, 0.0) + BY_WORDS[name]
    return lambda word: weights.get(word, 0.0)


@lru_cache(maxsize=4096)
def judge(text: str, features: Features = "full") -> Judgement | None:
    """How biased the wording of an utterance is; None of a text without words."""
    found = words(text)
    if not found:
        return None
    weight = _weigher(features)
    of_words = sum(map(weight, found)) / len(found)
    raw = INTERCEPT + SENTIMENT * sentiment(text).compound + MODAL * modality(found) + of_words
    loudest = sorted({(-weight(word), word) for word in found if weight(word) > 0})
    return Judgement(raw, min(1.0, max(0.0, raw / 3)), tuple(word for _, word in loudest[:3]))


def modality(found: list[str]) -> float:
    """How certain the words are, -1 to 1; 1 where nothing tells otherwise. "not" before a word turns half of it."""
    total, count = 0.0, 0
    for at, word in enumerate(found):
        if (entry := MODALITY.get(word)) is not None:
            value, times = entry
            if at and found[at - 1] in ("not", "never", "without"):
                value *= -0.5
            total, count = total + times * value, count + times
    return total / count if count else 1.0
