"""How far people who judged the same things agree.

Everything is worked out from patterns: how many units (utterances) were judged in the same way. A pattern is a
tuple with the number of judgements for each value, such as (2, 1) for two OK and one not OK. A study of any size
has a handful of them, so that resampling it a thousand times takes milliseconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

Patterns = Mapping[tuple[int, ...], int]
"""How many units have each pattern. All patterns are equally long: a place for each value."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95% interval; each None where there is nothing to work it out from."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """`units` judged by two people or more, `judgements` of those; raw agreement (0 to 1) and alpha (to 1)."""

    units: int
    judgements: int
    raw: Estimate
    alpha: Estimate


def raw(patterns: Patterns) -> float | None:
    """The share of pairs of judgements of the same unit that agree, 0 to 1; None without a pair.

    Every pair counts the same, so that a unit judged by four people weighs more than one judged by two.
    """
    pairs = sum(count * sum(pattern) * (sum(pattern) - 1) for pattern, count in patterns.items())
    same = sum(count * sum(n * (n - 1) for n in pattern) for pattern, count in patterns.items())
    return same / pairs if pairs else None


def alpha(patterns: Patterns) -> float | None:
    """Krippendorff's alpha for nominal values, by any number of people and with judgements missing.

    1: all agree; 0: as by chance; below: less than by chance. None where nothing was judged twice, or where only
    one value was ever given: there is then nothing that could have been disagreed on. Krippendorff, "Computing
    Krippendorff's alpha-reliability", 2011, section E: one less the disagreement seen in pairs within units,
    each unit's pairs weighed by 1 / (judgements - 1), over the disagreement among all judgements put together.
    """
    twice = {pattern: count for pattern, count in patterns.items() if sum(pattern) > 1}
    total = sum(count * sum(pattern) for pattern, count in twice.items())
    seen = sum(count * _disagreement(pattern) for pattern, count in twice.items())
    values = [sum(count * n for n, count in place) for place in _places(twice)]
    by_chance = total * total - sum(n * n for n in values)
    return 1 - (total - 1) * seen / by_chance if by_chance else None


def agreement(patterns: Patterns, *, resamples: int = 1000, seed: int = 0) -> Agreement:
    """Raw agreement and alpha with their 95% intervals, by the bootstrap: percentiles over resampled units.

    Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13. Units are drawn with replacement
    from those judged twice or more, which comes to a multinomial draw of the patterns' counts. It takes units as
    independent; utterances of one chat are alike, so the true interval is somewhat wider. A resample in which
    only one value is left has no alpha and is left out. With `resamples` 0 there are no intervals, and numpy is
    not needed.
    """
    twice = {pattern: count for pattern, count in patterns.items() if sum(pattern) > 1 and count}
    units = sum(twice.values())
    judgements = sum(count * sum(pattern) for pattern, count in twice.items())
    values = raw(twice), alpha(twice)
    intervals = _bootstrap(twice, resamples, seed) if units and resamples else (_NONE, _NONE)
    estimates = [Estimate(value, *interval) for value, interval in zip(values, intervals, strict=True)]
    return Agreement(units, judgements, *estimates)


_NONE: tuple[float | None, float | None] = (None, None)


def _disagreement(pattern: tuple[int, ...]) -> float:
    """Of one unit: its ordered pairs that differ, over its judgements less one."""
    people = sum(pattern)
    return (people * people - sum(n * n for n in pattern)) / (people - 1)


def _places(patterns: Patterns) -> list[list[tuple[int, int]]]:
    """By value: each pattern's judgements for it, with the pattern's count."""
    return [
        [(pattern[place], count) for pattern, count in patterns.items()]
        for place in range(len(next(iter(patterns), ())))
    ]


def _bootstrap(
    patterns: Patterns, resamples: int, seed: int
) -> tuple[tuple[float | None, float | None], ...]:
    """The intervals of raw agreement and of alpha. Every pattern has two judgements or more."""
    import numpy as np

    rows = sorted(patterns.items())
    table = np.array([pattern for pattern, _ in rows], dtype=float)
    counts = np.array([count for _, count in rows])
    units = counts.sum()
    drawn = np.random.default_rng(seed).multinomial(units, counts / units, size=resamples).astype(float)

    people = table.sum(axis=1)
    same = (table * (table - 1)).sum(axis=1)
    pairs = people * (people - 1)
    seen = drawn @ ((people**2 - (table**2).sum(axis=1)) / (people - 1))
    total = drawn @ people
    by_chance = total**2 - ((drawn @ table) ** 2).sum(axis=1)
    told = by_chance > 0
    alphas = 1 - (total - 1)[told] * seen[told] / by_chance[told]
    raws = (drawn @ same) / (drawn @ pairs)
    return tuple(
        tuple(np.quantile(found, [0.025, 0.975]).tolist()) if len(found) else _NONE
        for found in (raws, alphas)
    )
