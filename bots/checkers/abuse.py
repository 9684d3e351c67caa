"""AL, abusive language: is an utterance hate speech, offensive, or neither?

T. Davidson, D. Warmsley, M. Macy, I. Weber, "Automated Hate Speech Detection and the Problem of Offensive
Language", ICWSM 2017, arXiv 1703.04009: a logistic regression on tf-idf of stemmed words, pairs and triples (not
normalised), readability, sentiment and counts. Ours leaves out the n-grams of parts of speech, which need a
tagger, and is trained anew by `manage.py train_abuse`; what it knows stands in `data/abuse.json`, how good it is
in `data/abuse.md`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from bots.checkers.porter import stem
from bots.checkers.sentiment import sentiment
from bots.checkers.words import syllables, word_list

Class = Literal["hate", "offensive", "neither"]
CLASSES: tuple[Class, ...] = ("hate", "offensive", "neither")
"""In the order of the data's own numbers, 0, 1 and 2."""
SCORES: dict[Class, float] = {"hate": 1.0, "offensive": 0.5, "neither": 0.0}
"""What an utterance of each class adds to AL: Srivastava et al. 2020."""
NUMBERS = (
    "grade", "ease", "syllables", "syllables_a_word", "characters", "characters_in_all", "terms", "words",
    "unique_words", "negative", "positive", "neutral", "compound", "hashtags", "mentions", "urls", "retweet",
)  # fmt: skip
MODEL = Path(__file__).parent / "data" / "abuse.json"

_URL = re.compile(r"http[s]?://(?:[a-zA-Z]|[0-9]|[$-_@.&+]|[!*\(\),]|(?:%[0-9a-fA-F][0-9a-fA-F]))+")
_MENTION = re.compile(r"@[\w\-]+")
_HASHTAG = re.compile(r"#[\w\-]+")
_SPACES = re.compile(r"\s+")
_LETTERS = re.compile(r"[a-z]+")


Weights = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The class of an utterance and, as evidence, the features that spoke most for it."""

    label: Class
    because: tuple[str, ...]

    @property
    def score(self) -> float:
        return SCORES[self.label]


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of a linear model: for each class in the order of CLASSES, by term (times idf) and by number."""

    version: str
    terms: dict[str, Weights]
    numbers: dict[str, Weights]
    intercept: Weights


@cache
def load() -> Model:
    """The model that ships. Raises FileNotFoundError where `train_abuse` has never run."""
    return read(json.loads(MODEL.read_text(encoding="utf-8")))


def read(held: Mapping[str, Any]) -> Model:
    """A model from what `abuse.json` holds. Raises KeyError where a part is missing."""
    terms = {term: _by_class(row, row["idf"]) for term, row in held["terms"].items()}
    numbers = {name: _by_class(row) for name, row in held["numbers"].items()}
    return Model(held["version"], terms, numbers, _by_class(held["intercept"]))


def _by_class(row: Mapping[str, float], times: float = 1.0) -> Weights:
    return row["hate"] * times, row["offensive"] * times, row["neither"] * times


@lru_cache(maxsize=4096)
def judge(text: str) -> Judgement:
    """The class of one utterance. Any text goes in; that it is English is for the caller to see to."""
    return classify(load(), text)


def classify(model: Model, text: str) -> Judgement:
    """The class for which the weights of the text's features add up highest; the first of CLASSES on a tie."""
    hate, offensive, neither = model.intercept
    spoke: list[tuple[Weights, str]] = []
    for term in grams(tokens(text)):
        if (weights := model.terms.get(term)) is not None:
            spoke.append((weights, term))
            hate, offensive, neither = hate + weights[0], offensive + weights[1], neither + weights[2]
    found = numbers(text) if model.numbers else {}
    for name, weights in model.numbers.items():
        value = found[name]
        hate += value * weights[0]
        offensive += value * weights[1]
        neither += value * weights[2]
    totals = (hate, offensive, neither)
    best = totals.index(max(totals))
    loudest = sorted({(-weights[best], term) for weights, term in spoke if weights[best] > 0})
    return Judgement(CLASSES[best], tuple(term for _, term in loudest[:3]))


def tokens(text: str) -> list[str]:
    """Stems of a text's words without links, mentions and stop words; letters of English only.

    Stop words are dropped after stemming, as in the original: "are" stays, as "ar".
    """
    stops = word_list("stopwords")
    cleaned = _preprocessed(text).lower()
    return [stemmed for word in _LETTERS.findall(cleaned) if (stemmed := stem(word)) not in stops]


def grams(stems: list[str]) -> list[str]:
    """The stems, their pairs and their triples."""
    pairs = [f"{a} {b}" for a, b in pairwise(stems)]
    triples = [f"{a} {b} {c}" for a, b, c in zip(stems, stems[1:], stems[2:], strict=False)]
    return stems + pairs + triples


def numbers(text: str) -> dict[str, float]:
    """The 17 features beside the words, by NUMBERS; counts are of the text as it stands, as in the original."""
    cleaned = _preprocessed(text)
    said = cleaned.split()
    spoken = sum(syllables(word.lower()) for word in said)
    a_word = round((spoken + 0.001) / (len(said) + 0.001), 4)
    mood = sentiment(text)
    return {
        "grade": round(0.39 * len(said) + 11.8 * a_word - 15.59, 1),
        "ease": round(206.835 - 1.015 * len(said) - 84.6 * a_word, 2),
        "syllables": spoken,
        "syllables_a_word": a_word,
        "characters": len(cleaned),
        "characters_in_all": len(text),
        "terms": len(text.split()),
        "words": len(said),
        "unique_words": len(set(said)),
        "negative": mood.negative,
        "positive": mood.positive,
        "neutral": mood.neutral,
        "compound": mood.compound,
        "hashtags": len(_HASHTAG.findall(text)),
        "mentions": len(_MENTION.findall(text)),
        "urls": len(_URL.findall(text)),
        "retweet": float("rt" in cleaned.lower().split()),
    }


def _preprocessed(text: str) -> str:
    return _MENTION.sub("", _URL.sub("", _SPACES.sub(" ", text)))
