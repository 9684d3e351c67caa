"""How kind or unkind a text's words are: VADER (C. J. Hutto, E. Gilbert, ICWSM 2014), by its authors' library."""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_SPLIT = re.compile(r"\S+")


class Sentiment(NamedTuple):
    """Shares of negative, neutral and positive words (0 to 1), and the compound score from -1 to 1."""

    negative: float
    neutral: float
    positive: float
    compound: float


@cache
def _analyzer() -> SentimentIntensityAnalyzer:
    return SentimentIntensityAnalyzer()


@cache
def valences() -> dict[str, float]:
    """VADER's words and how they are rated, -4 to 4."""
    lexicon: dict[str, float] = _analyzer().lexicon
    return lexicon


@lru_cache(maxsize=4096)
def sentiment(text: str) -> Sentiment:
    """The sentiment of a text, exactly as the library gives it.

    A text without one word of the lexicon and without emoji is neutral whatever else it holds, so it is not
    handed to the library, which would take twenty times as long to find that out.
    """
    tokens = _SPLIT.findall(text)
    if text.isascii() and not any(_rated(token) for token in tokens):
        return Sentiment(0.0, 1.0 if tokens else 0.0, 0.0, 0.0)
    found = _analyzer().polarity_scores(text)
    return Sentiment(found["neg"], found["neu"], found["pos"], found["compound"])


def _rated(token: str) -> bool:
    lowered, lexicon = token.lower(), valences()
    return lowered in lexicon or lowered.strip(_PUNCTUATION) in lexicon
