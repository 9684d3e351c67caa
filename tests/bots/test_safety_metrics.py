"""Figures of a classifier, against scikit-learn's and by hand."""

import random

import pytest

from bots.safety import metrics
from bots.safety.metrics import Judged
from bots.safety.turns import Example


def rows(counts, *, dialogues=1):
    """`counts`: (true label, given label) -> how many."""
    made = []
    for (true, given), number in counts.items():
        for _ in range(number):
            example = Example((), "a", "human", label=true, source="s", dialogue=str(len(made) % dialogues))
            made.append(Judged(example, given, 0.9 if given == "notok" else 0.1))
    return made


COUNTS = {("notok", "notok"): 6, ("notok", "ok"): 2, ("ok", "notok"): 3, ("ok", "ok"): 9}


def test_figures_of_both_classes_by_hand():
    report = metrics.report(rows(COUNTS), ["notok"])

    assert report["f1"] == 12 / 17
    assert report["precision"] == 6 / 9
    assert report["recall"] == 6 / 8
    assert report["accuracy"] == 15 / 20
    assert report["classes"]["ok"] == {"precision": 9 / 11, "recall": 9 / 12, "f1": 18 / 23, "rows": 12}
    assert report["weighted_f1"] == pytest.approx((8 * 12 / 17 + 12 * 18 / 23) / 20)
    assert report["confusion"] == {"notok": {"notok": 6, "ok": 2}, "ok": {"notok": 3, "ok": 9}}
    assert report["by_speaker"]["human"]["f1"] == 12 / 17


def test_where_there_is_nothing_to_divide_by_a_figure_is_0():
    report = metrics.report(rows({("ok", "ok"): 3}), ["notok"])

    assert (report["f1"], report["accuracy"]) == (0.0, 1.0)
    assert sorted(report) == sorted(
        [
            "accuracy",
            "brier",
            "by_source",
            "by_speaker",
            "calibration_error",
            "classes",
            "confusion",
            "f1",
            "intervals",
            "precision",
            "recall",
            "rows",
            "weighted_f1",
        ]
    )


def test_of_several_topics_the_figures_are_means():
    counts = {("drugs", "drugs"): 2, ("drugs", "none"): 2, ("nsfw", "nsfw"): 1, ("none", "nsfw"): 1}

    found = metrics.figures(counts, ["drugs", "nsfw", "politics"])

    assert found["recall"] == (0.5 + 1.0) / 2
    assert found["precision"] == (1.0 + 0.5) / 2
    assert found["rows"] == 6


def scored(number=300):
    chance = random.Random(1)
    unsafe = [chance.random() < 0.4 for _ in range(number)]
    return unsafe, [round(0.3 * one + 0.7 * chance.random(), 2) for one in unsafe]


def test_average_precision_and_curve_are_scikit_learns():
    from sklearn.metrics import average_precision_score, precision_recall_curve

    unsafe, scores = scored()

    precision, recall, thresholds = precision_recall_curve(unsafe, scores)
    points = metrics.curve(unsafe, scores)

    assert metrics.average_precision(unsafe, scores) == pytest.approx(average_precision_score(unsafe, scores))
    assert [p["threshold"] for p in points] == thresholds[::-1].tolist()
    assert [p["precision"] for p in points] == pytest.approx(precision[-2::-1].tolist())
    assert [p["recall"] for p in points] == pytest.approx(recall[-2::-1].tolist())


def test_the_best_threshold_has_the_best_f1_of_all():
    from sklearn.metrics import f1_score

    unsafe, scores = scored()

    threshold = metrics.best_threshold(unsafe, scores)

    best = max(f1_score(unsafe, [score >= t / 200 for score in scores]) for t in range(200))
    assert f1_score(unsafe, [score >= threshold for score in scores]) == best
    assert threshold not in scores


def test_reliability_sums_up_to_all_rows():
    unsafe, scores = scored()

    bins = metrics.reliability(unsafe, scores)

    assert sum(one["rows"] for one in bins) == 300
    assert sum(one["rows"] * one["unsafe"] for one in bins) == pytest.approx(sum(unsafe))
    assert metrics.reliability([True], [1.0]) == [{"rows": 1, "score": 1.0, "unsafe": 1.0}]


def test_intervals_hold_the_figure_are_the_same_each_time_and_wider_where_dialogues_are_few():
    many, few = rows(COUNTS, dialogues=20), rows(COUNTS, dialogues=4)

    low, high = metrics.intervals(many, ["notok"])["f1"]

    assert low < 12 / 17 < high
    assert metrics.intervals(many, ["notok"]) == metrics.intervals(many, ["notok"])
    assert metrics.intervals(many, ["notok"], seed=1) != metrics.intervals(many, ["notok"])
    assert metrics.intervals(rows(COUNTS), ["notok"])["f1"] == [12 / 17, 12 / 17]
    assert len(few) == len(many)


def test_a_thinned_curve_has_a_point_a_step():
    unsafe, scores = scored()

    points = metrics.thinned(metrics.curve(unsafe, scores), steps=10)

    assert len(points) == len({int(score * 10) for score in scores})
    assert [p["recall"] for p in points] == sorted((p["recall"] for p in points), reverse=True)
