"""CC by readability: the other choice, free of the patents on dialog complexity.

Half is R. Flesch's reading ease (J. Applied Psychology 32(3), 1948, DOI 10.1037/h0057532) turned round, half the
share of rare words, both of a dialogue's words together: of one short utterance neither says anything.
"""

import re

from bots.checkers.words import syllables, word_list, zipf

VERSION = "1"
RARE = 3.5
"""Words less frequent in English than this (`zipf`) are rare; names are among them."""
MANY = 0.3
"""The share of rare words that counts as 1: our choice; plain dialogue has .02 to .10."""
_END = re.compile(r"[.!?]+(?=\s|$)")


def sentences(text: str) -> int:
    """Sentences of an utterance by their closing marks, at least 1; what follows the last mark is one too."""
    parts = _END.split(text)
    return max(1, sum(bool(part.strip()) for part in parts))


def is_rare(word: str) -> bool:
    return zipf(word) < RARE and word not in word_list("stopwords")


def ease(spoken: int, found: int, said: int) -> float:
    """Flesch's reading ease of `found` words with `spoken` syllables in `said` sentences: 100 easy, 0 very hard."""
    return 206.835 - 1.015 * found / said - 84.6 * spoken / found


def score(ease_: float, rare: float) -> float:
    """0 to 1 of a reading ease and a share of rare words."""
    hard = min(1.0, max(0.0, (100 - ease_) / 100))
    return 0.5 * hard + 0.5 * min(1.0, rare / MANY)


def syllables_of(found: list[str]) -> int:
    return sum(map(syllables, found))
