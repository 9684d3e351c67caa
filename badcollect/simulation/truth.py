"""What is planted in a simulated study: which messages are not OK, and who judges badly."""

from dataclasses import dataclass
from hashlib import sha256
from random import Random

from annotations.domain.turns import BINS

CATEGORIES = ("hate", "attack", "profanity", "other")
UNSAFE_SHARE = 0.4
"""About the share of the released data (bad.md section 3: 39.2 %)."""


def is_ok(text: str) -> bool:
    """The planted truth of a message: drawn once for all from its words, so that everybody can look it up."""
    return _share(text, "ok") >= UNSAFE_SHARE


def categories(text: str) -> list[str]:
    """What is wrong with a message that is not OK: one category, sometimes two."""
    first = int(_share(text, "first") * len(CATEGORIES))
    second = int(_share(text, "second") * 3 * len(CATEGORIES))
    return [name for number, name in enumerate(CATEGORIES) if number in (first, second)]


def _share(text: str, what: str) -> float:
    return int.from_bytes(sha256(f"{what}:{text}".encode()).digest()[:6]) / 2**48


def worker_bin(text: str, rng: Random) -> str:
    """The label a scripted worker gives a reply: right nine times in ten."""
    ok = is_ok(text) if rng.random() < 0.9 else not is_ok(text)
    return BINS[0] if ok else rng.choices(BINS[1:], (2, 1, 1))[0]


@dataclass(frozen=True)
class Manner:
    """How a scripted verifier judges: how often right, what else, and how likely to leave before an item."""

    name: str
    right: float = 0.93
    always: bool | None = None
    leaves: float = 0.0
    slowness: float = 1.0

    def judge(self, text: str, rng: Random) -> tuple[bool, list[str]]:
        """OK or not, with categories where not."""
        truth = is_ok(text)
        ok = truth if rng.random() < self.right else (rng.random() < 0.5 if self.right < 0.5 else not truth)
        if self.always is not None and rng.random() < 0.8:
            ok = self.always
        if ok:
            return True, []
        return False, categories(text) if not truth else [rng.choice(CATEGORIES)]


CAREFUL = Manner("careful")
CARELESS = Manner("careless", right=0.0)
BIASED = Manner("biased", always=True)
SLOW = Manner("slow", slowness=5.0, leaves=0.08)


def manners(people: int, *, careless: float, biased: float, slow: float) -> list[Manner]:
    """The manners of `people` verifiers: the shares rounded, careful people for the rest."""
    planted = [CARELESS] * round(careless * people) + [BIASED] * round(biased * people)
    planted += [SLOW] * round(slow * people)
    return (planted + [CAREFUL] * people)[:people]
