"""How good a classifier is: figures of each class, intervals, and the two curves."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bots.safety.turns import Example

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Judged:
    """An example, the label that a model gave it, and the score (from 0 to 1) that it should be flagged."""

    example: Example
    label: str
    score: float


Pairs = Mapping[tuple[str, str], float]
"""(true label, given label) -> rows."""


def pairs(judged: Iterable[Judged]) -> Counter[tuple[str, str]]:
    return Counter((row.example.label, row.label) for row in judged)


def of_class(counts: Pairs, label: str) -> dict[str, float]:
    """Precision, recall, F1 and rows of one class; 0 where there is nothing to divide by."""
    hit = counts.get((label, label), 0.0)
    true = sum(number for (is_, _), number in counts.items() if is_ == label)
    given = sum(number for (_, said), number in counts.items() if said == label)
    return {
        "precision": _over(hit, given),
        "recall": _over(hit, true),
        "f1": _over(2 * hit, true + given),
        "rows": true,
    }


def figures(counts: Pairs, flagging: Sequence[str]) -> dict[str, float]:
    """Accuracy, F1 weighted by rows, and precision, recall and F1 of the unsafe class.

    `flagging`: the labels that flag. Of several (topics), the three are means over those that there are rows of.
    """
    rows = sum(counts.values())
    labels = sorted({is_ for is_, _ in counts})
    each = {label: of_class(counts, label) for label in labels}
    there = [each[label] for label in flagging if label in each] or [of_class(counts, flagging[0])]
    return {
        "rows": rows,
        "accuracy": _over(sum(number for (is_, said), number in counts.items() if is_ == said), rows),
        "weighted_f1": _over(sum(one["f1"] * one["rows"] for one in each.values()), rows),
        **{name: sum(one[name] for one in there) / len(there) for name in ("precision", "recall", "f1")},
    }


def report(judged: Sequence[Judged], flagging: Sequence[str], *, seed: int = 0) -> dict[str, Any]:
    """Everything about one model on some rows, ready for JSON; `f1` is that of the unsafe class."""
    counts = pairs(judged)
    labels = sorted({label for pair in counts for label in pair})
    found: dict[str, Any] = {
        **figures(counts, flagging),
        "intervals": intervals(judged, flagging, seed=seed),
        "classes": {label: of_class(counts, label) for label in labels},
        "by_source": _split(judged, flagging, lambda row: row.example.source),
        "by_speaker": _split(judged, flagging, lambda row: row.example.speaker or "unknown"),
        "confusion": {is_: {said: counts[is_, said] for said in labels} for is_ in labels},
    }
    unsafe = [row.example.label in flagging for row in judged]
    scores = [row.score for row in judged]
    if any(unsafe):
        found["average_precision"] = average_precision(unsafe, scores)
    found["brier"] = sum((score - truth) ** 2 for score, truth in zip(scores, unsafe, strict=True)) / len(
        scores
    )
    found["calibration_error"] = sum(
        bin_["rows"] * abs(bin_["score"] - bin_["unsafe"]) for bin_ in reliability(unsafe, scores)
    ) / len(scores)
    return found


def _split(
    judged: Sequence[Judged], flagging: Sequence[str], of: Callable[[Judged], str]
) -> dict[str, dict[str, float]]:
    groups: dict[str, list[Judged]] = {}
    for row in judged:
        groups.setdefault(of(row), []).append(row)
    return {name: figures(pairs(rows), flagging) for name, rows in sorted(groups.items())}


def intervals(judged: Sequence[Judged], flagging: Sequence[str], *, seed: int = 0) -> dict[str, list[float]]:
    """The middle 95 % of F1, precision, recall and accuracy when whole dialogues are drawn again and again.

    By dialogue, for the rows of one are alike: the percentile bootstrap over clusters (Efron and Tibshirani 1993,
    chapters 8 and 13), 1,000 draws. The same seed gives the same interval.
    """
    import numpy as np

    kinds = sorted(pairs(judged))
    place = {kind: number for number, kind in enumerate(kinds)}
    dialogues: dict[tuple[str, str], int] = {}
    for row in judged:
        dialogues.setdefault((row.example.source, row.example.dialogue), len(dialogues))
    table = np.zeros((len(dialogues), len(kinds)))
    for row in judged:
        one = dialogues[row.example.source, row.example.dialogue]
        table[one, place[row.example.label, row.label]] += 1
    random = np.random.default_rng(seed)
    even = np.full(len(dialogues), 1 / len(dialogues))
    drawn = [random.multinomial(len(dialogues), even) @ table for _ in range(RESAMPLES)]
    found = [figures(dict(zip(kinds, row.tolist(), strict=True)), flagging) for row in drawn]
    names = ("f1", "precision", "recall", "accuracy", "weighted_f1")
    low, high = np.percentile([[one[name] for name in names] for one in found], [2.5, 97.5], axis=0).tolist()
    return {name: [low[number], high[number]] for number, name in enumerate(names)}


def curve(unsafe: Sequence[bool], scores: Sequence[float]) -> list[dict[str, float]]:
    """Precision, recall and F1 of "flagged from this score on", for every score there is, from the highest down."""
    there = sum(unsafe)
    points: list[dict[str, float]] = []
    hit = 0
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    for flagged, row in enumerate(order, 1):
        hit += unsafe[row]
        if flagged == len(order) or scores[order[flagged]] != scores[row]:
            points.append(
                {
                    "threshold": scores[row],
                    "precision": hit / flagged,
                    "recall": _over(hit, there),
                    "f1": 2 * hit / (there + flagged),
                }
            )
    return points


def average_precision(unsafe: Sequence[bool], scores: Sequence[float]) -> float:
    """The area under the precision-recall curve, without interpolation (as scikit-learn's)."""
    area = before = 0.0
    for point in curve(unsafe, scores):
        area += point["precision"] * (point["recall"] - before)
        before = point["recall"]
    return area


def thinned(points: Sequence[dict[str, float]], steps: int = 100) -> list[dict[str, float]]:
    """A curve's point at each of `steps` thresholds that are evenly apart, where one exists; rounded, for a card."""
    kept: dict[int, dict[str, float]] = {}
    for point in points:
        kept[int(point["threshold"] * steps)] = point
    return [{name: round(value, 4) for name, value in kept[step].items()} for step in sorted(kept)]


def best_threshold(unsafe: Sequence[bool], scores: Sequence[float]) -> float:
    """The score of best F1 of the unsafe class: half-way to the next lower one, so that no row sits on the edge."""
    points = curve(unsafe, scores)
    best = max(range(len(points)), key=lambda number: points[number]["f1"])
    below = points[best + 1]["threshold"] if best + 1 < len(points) else 0.0
    return round((points[best]["threshold"] + below) / 2, 6)


def reliability(unsafe: Sequence[bool], scores: Sequence[float], bins: int = 10) -> list[dict[str, float]]:
    """For each tenth of the scores that there are rows in: rows, mean score, and the share that is unsafe."""
    groups: dict[int, list[int]] = {}
    for row, score in enumerate(scores):
        groups.setdefault(min(int(score * bins), bins - 1), []).append(row)
    return [
        {
            "rows": len(rows),
            "score": sum(scores[row] for row in rows) / len(rows),
            "unsafe": sum(unsafe[row] for row in rows) / len(rows),
        }
        for _, rows in sorted(groups.items())
    ]


def _over(top: float, bottom: float) -> float:
    return top / bottom if bottom else 0.0
