"""What a checker answers: a score with its evidence, or why there is none."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from bots.checkers.bounds import Interval, deviation, mean_interval
from bots.checkers.corpus import Utterance

State = Literal["tested", "not_tested", "cannot_judge"]
"""`not_tested` and `cannot_judge` have no score: neither 0 nor 0.5 stands for what is not known."""
Level = Literal["L", "M", "H"]
SHOWN = 5
"""Utterances given as evidence, at most."""
EXCERPT = 300
"""Characters of each, at most."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An utterance, its score, and what spoke for it."""

    dialogue: str
    number: int
    text: str
    score: float
    because: str


@dataclass(frozen=True, slots=True)
class Part:
    """What was found in the turns of one side. `score` is from 0 to 1, None where nothing could be judged.

    `interval`: 95 %, None where there is too little for one. `refused`: utterances that were not judged.
    """

    score: float | None
    interval: Interval | None
    judged: int
    refused: int
    details: Mapping[str, Any] = field(default_factory=dict)
    worst: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One checker's answer on one issue.

    `bot` is what the rating rests on; `user`, the people's turns, is told beside it. `level` is set by checkers
    that have a rule of their own instead of a score to be binned. `why`: why there is no score.
    """

    issue: str
    checker: str
    version: str
    limits: str
    state: State
    why: str = ""
    bot: Part | None = None
    user: Part | None = None
    level: Level | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def score(self) -> float | None:
        return self.bot.score if self.bot and self.state == "tested" else None


class Check(Protocol):
    """What a file of `bots/checkers/issues` offers as `Check(settings)`: it sees utterances, then gives a finding.

    `look` sees every utterance before `see` does, in a pass of its own, where `looks_first` is true.
    """

    looks_first: bool

    def look(self, utterance: Utterance) -> None: ...

    def see(self, utterance: Utterance) -> None: ...

    def finding(self) -> Finding: ...


class Tally:
    """Scores of any number of utterances in little memory: count, mean, deviation, and the worst of them."""

    def __init__(self) -> None:
        self.count = 0
        self.refused = 0
        self.total = 0.0
        self.squares = 0.0
        self._worst: list[tuple[float, int, Evidence]] = []
        self._texts: set[str] = set()

    def add(self, score: float) -> None:
        self.count += 1
        self.total += score
        self.squares += score * score

    def show(self, utterance: Utterance, score: float, because: str) -> None:
        """Keeps the utterance as evidence if it is among the worst; each text once, nothing that scores 0."""
        full = len(self._worst) == SHOWN
        if score <= 0 or utterance.text in self._texts or (full and score <= self._worst[0][0]):
            return
        found = Evidence(
            utterance.dialogue, utterance.number, utterance.text[:EXCERPT], round(score, 4), because
        )
        entry = (score, -self.count, found)
        self._texts.add(utterance.text)
        if full:
            dropped = heapq.heapreplace(self._worst, entry)[2]
            self._texts = {text for text in self._texts if text[:EXCERPT] != dropped.text}
        else:
            heapq.heappush(self._worst, entry)

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None

    @property
    def sd(self) -> float:
        return deviation(self.count, self.total, self.squares)

    @property
    def interval(self) -> Interval | None:
        return mean_interval(self.count, self.total, self.squares)

    @property
    def worst(self) -> tuple[Evidence, ...]:
        return tuple(found for _, _, found in sorted(self._worst, reverse=True))

    def part(self, **details: Any) -> Part:
        return Part(self.mean, self.interval, self.count, self.refused, details, self.worst)


class SettingError(ValueError):
    """A checker's setting that cannot be: what is wrong, and what it may be."""


def refuse_unknown(settings: Mapping[str, str], known: tuple[str, ...], checker: str) -> None:
    """Raises SettingError where a setting is none of `known`."""
    if unknown := sorted(set(settings) - set(known)):
        listed = f"It knows: {', '.join(known)}." if known else "It has no settings."
        raise SettingError(f"The checker {checker} does not know the setting {unknown[0]!r}. {listed}")
