"""CC, conversation complexity: how hard what is said is to follow.

Q. V. Liao, B. Srivastava, P. Kapanipathi, "A Measure for Dialog Complexity and its Application in Streamlining
Service Operations", arXiv 1708.04134, as Srivastava et al. 2020 used it; the weights were recovered from their
published numbers (docs/trust.md):

    C(utterance) = (DS + 0.5 CE + s stop) / words      DS: words of the domain, CE: common English words
    C(turn)      = mean of its utterances
    C(dialog)    = 0.5 mean C(turn) + 0.5 turns / reference

`s` is 0 or 0.25 (it cannot be told which); ours is 0.25. The reference is 20 turns, and no more than 1 is counted:
the paper divides by the longest dialogue of the corpus, so that one outlier moves every score.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import log10

from bots.checkers.words import word_list, zipf

VERSION = "1"
STOP = 0.25
REFERENCE = 20
COMMON = 3.5
"""Words at least so frequent in English (`zipf`) are common English: about 12,000."""
TIMES = 1.0
"""Powers of ten by which a word must be more frequent in the corpus than in English to be one of its domain."""
SEEN = 3
"""Times a word must be said to be one of the domain."""
ENOUGH = 1_000
"""Words a corpus needs for a domain: in fewer, every word said thrice would look like one of it."""
LISTED = 1_000
"""Words of the domain that are kept, the most typical first."""
KEPT = 200_000
"""Different words counted at most; beyond that, those seen once are forgotten."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The words of a corpus that belong to its domain, the most typical first; stored with every result."""

    terms: tuple[str, ...]
    words_seen: int

    def weights(self, stop: float = STOP) -> "Weights":
        return Weights(self, stop)


class Weights:
    """What each word adds: 1 for the domain's, 0.5 for common English, `stop` for stop words.

    A word that is neither common nor a stop word counts as one of a domain: the formula knows three kinds.
    """

    def __init__(self, domain: Domain, stop: float) -> None:
        self._known = dict.fromkeys(domain.terms, 1.0) | dict.fromkeys(word_list("stopwords"), stop)

    def __getitem__(self, word: str) -> float:
        weight = self._known.get(word)
        return (0.5 if zipf(word) >= COMMON else 1.0) if weight is None else weight


class Vocabulary:
    """Counts words in bounded memory, then tells those of the domain."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.total = 0

    def see(self, found: Iterable[str]) -> None:
        for word in found:
            self.counts[word] += 1
            self.total += 1
        if len(self.counts) > KEPT:
            self.counts = Counter({word: n for word, n in self.counts.items() if n > 1})

    def domain(self) -> Domain:
        """The words at least ten times as frequent here as in English (wordfreq), by how much more.

        None of a corpus of fewer than ENOUGH words.
        """
        if self.total < ENOUGH:
            return Domain((), self.total)
        stops = word_list("stopwords")
        above = []
        for word, count in self.counts.items():
            if count >= SEEN and word not in stops:
                times = log10(count / self.total * 1e9) - max(zipf(word), 3.0)
                if times >= TIMES:
                    above.append((-times * count, word))
        return Domain(tuple(word for _, word in sorted(above)[:LISTED]), self.total)


def of_utterance(found: list[str], weights: Weights) -> float | None:
    """C of an utterance with these words, 0 to 1; None of none."""
    return sum(map(weights.__getitem__, found)) / len(found) if found else None


def of_dialog(total: float, turns: int, reference: int) -> float:
    """C of a dialogue whose `turns` turns have a C of `total` together; `reference`: the turns that count as long.

    0 to 1. Raises ValueError without turns.
    """
    if not turns:
        raise ValueError("A dialogue without turns has no complexity.")
    return 0.5 * total / turns + 0.5 * min(1.0, turns / reference)
