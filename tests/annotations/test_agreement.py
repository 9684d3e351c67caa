from collections import Counter
from random import Random

import krippendorff
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.domain.agreement import Estimate, agreement, alpha, raw
from annotations.verification import agreement as queries
from annotations.verification import remerging
from annotations.verification.services import plan_of
from tests.factories import StudyFactory, make_finished, make_merged, make_votes

VALUES = 3


def units(seed, *, raters=5, count=40, missing=0.4):
    """A table of judgements, raters by units: 0 to 2, None where somebody did not judge; alike more than by chance."""
    random = Random(seed)
    table = []
    for _ in range(count):
        usual = random.randrange(VALUES)
        given_ = [usual if random.random() < 0.6 else random.randrange(VALUES) for _ in range(raters)]
        table.append([value if random.random() > missing else None for value in given_])
    return table


def patterns(table):
    return Counter(tuple(row.count(value) for value in range(VALUES)) for row in table)


@pytest.mark.parametrize("seed", range(20))
def test_alpha_is_that_of_the_krippendorff_package_and_of_crowd_kit(seed):
    import numpy as np
    import pandas as pd
    from crowdkit.metrics.data import alpha_krippendorff

    table = units(seed)
    ratings = np.array([[np.nan if v is None else v for v in row] for row in table]).T
    answers = pd.DataFrame(
        [
            (task, person, value)
            for task, row in enumerate(table)
            for person, value in enumerate(row)
            if value is not None
        ],
        columns=["task", "worker", "label"],
    )
    answers = answers[answers.groupby("task")["label"].transform("size") > 1]

    found = alpha(patterns(table))

    assert found == pytest.approx(krippendorff.alpha(ratings, level_of_measurement="nominal"), abs=1e-12)
    assert found == pytest.approx(alpha_krippendorff(answers), abs=1e-12)


def test_the_published_example():
    # Krippendorff, "Computing Krippendorff's alpha-reliability", 2011, section C: nominal, two observers,
    # no data missing: a a b b d c c c e d d a against b a b b b c c c e d d d.
    first, second = "aabbdcccedda", "babbbcccedd" + "d"
    table = [("abcde".index(a), "abcde".index(b)) for a, b in zip(first, second, strict=True)]

    found = alpha(Counter(tuple(row.count(value) for value in range(5)) for row in table))

    assert round(found, 3) == 0.692


def test_raw_agreement_counts_pairs():
    assert raw({(3, 0): 1, (2, 1): 1}) == 4 / 6
    assert raw({(2, 0): 3, (1, 1): 1}) == 3 / 4


@pytest.mark.parametrize("nothing", [{}, {(1, 0): 4}, {(0, 0): 2}])
def test_what_nobody_judged_twice_has_no_agreement(nothing):
    found = agreement(nothing)

    assert (found.units, found.judgements, found.raw, found.alpha) == (0, 0, Estimate(None), Estimate(None))


def test_where_one_value_only_was_given_there_is_no_alpha():
    found = agreement({(3, 0): 10})

    assert (found.raw, found.alpha) == (Estimate(1.0, 1.0, 1.0), Estimate(None))


def test_all_agree_on_two_values():
    found = agreement({(3, 0): 10, (0, 3): 10})

    assert (found.raw, found.alpha) == (Estimate(1.0, 1.0, 1.0), Estimate(1.0, 1.0, 1.0))


def test_intervals_come_from_the_seed_and_can_be_left_out():
    counts = {(3, 0): 60, (2, 1): 20, (1, 2): 15, (0, 3): 30}

    assert agreement(counts, seed=4) == agreement(dict(reversed(counts.items())), seed=4)
    assert agreement(counts, seed=4) != agreement(counts, seed=5)
    assert agreement(counts, resamples=0).alpha == Estimate(alpha(counts))


def test_the_interval_is_that_of_drawing_units_one_by_one():
    counts = {(3, 0): 60, (2, 1): 20, (1, 2): 15, (0, 3): 30}
    random, each = Random(0), [pattern for pattern, n in counts.items() for _ in range(n)]
    drawn = sorted(alpha(Counter(random.choices(each, k=len(each)))) for _ in range(2000))

    found = agreement(counts, resamples=2000).alpha

    assert found.low == pytest.approx(drawn[50], abs=0.02)
    assert found.high == pytest.approx(drawn[1949], abs=0.02)


@given(st.dictionaries(st.tuples(*[st.integers(0, 4)] * 2), st.integers(1, 50), max_size=6))
def test_every_figure_is_in_its_range_and_its_interval_in_order(counts):
    found = agreement(counts, resamples=50)

    for estimate, least in ((found.raw, 0.0), (found.alpha, -1.0)):
        if estimate.value is not None:
            assert least - 1e-9 <= estimate.value <= 1 + 1e-9
        if estimate.low is not None:
            assert least - 1e-9 <= estimate.low <= estimate.high <= 1 + 1e-9


# -- of a study ----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_studys_verifiers_by_speaker_and_category():
    study = StudyFactory()
    make_votes(
        study,
        [
            ["ok", "ok", "hate"],
            ["ok", "ok", "ok"],
            ["hate", "hate attack", "hate"],
            ["ok", "attack", "attack"],
        ],
        bins=["0", "<10"],
    )

    found = queries.by_verifiers(study)

    assert (found.votes, found.overall.units, found.overall.judgements) == (12, 4, 12)
    assert found.overall.alpha.value == alpha({(2, 1): 1, (3, 0): 1, (0, 3): 1, (1, 2): 1})
    assert found.speakers["human"].alpha.value == alpha({(2, 1): 1, (0, 3): 1})
    assert found.speakers["bot"].raw.value == raw({(3, 0): 1, (1, 2): 1})
    assert found.categories["hate"].alpha.value == alpha({(2, 1): 1, (3, 0): 2, (0, 3): 1})
    assert found.categories["attack"].raw.value == raw({(3, 0): 2, (2, 1): 1, (1, 2): 1})
    assert found.categories["other"].alpha == Estimate(None)


@pytest.mark.django_db
def test_votes_set_aside_and_other_studies_do_not_count():
    study = StudyFactory()
    make_votes(study, [["ok", "ok", "hate -"], ["ok", "hate"]])
    make_votes(StudyFactory(), [["ok", "hate"]] * 2)

    found = queries.by_verifiers(study)

    assert (found.votes, found.overall.raw.value) == (4, raw({(2, 0): 1, (1, 1): 1}))


@pytest.mark.django_db
def test_the_worker_against_the_merged_label():
    study = StudyFactory()
    make_votes(
        study,
        [["ok"] * 3, ["ok"] * 3, ["ok"] * 3, ["hate"] * 3, ["ok"] * 3, ["hate"] * 3],
        bins=["<10", ">=50", "0"],
    )
    remerging.run(study=study, rule="majority_verifiers")

    found = queries.worker_against_merged(study, rule="majority_verifiers")

    assert (found.both_ok, found.both_notok, found.ok_notok, found.notok_ok) == (0, 1, 1, 1)
    assert found.agreement.raw.value == pytest.approx(1 / 3)
    assert not found.counts_worker
    assert queries.worker_against_merged(study, rule="any").counts_worker


@pytest.mark.django_db
def test_the_queries_stay_the_same_however_much_there_is(
    django_assert_num_queries, django_assert_max_num_queries
):
    study = StudyFactory()
    make_votes(study, [["ok", "ok", "hate"]] * 2, bins=["0"])
    plan_of(study)
    with django_assert_num_queries(1):
        queries.by_verifiers(study, resamples=0)
    make_votes(study, [["ok", "ok", "ok"], ["ok", "hate", "attack"]] * 3, bins=["0", "<10", "<10"])

    with django_assert_num_queries(1):
        queries.by_verifiers(study, resamples=0)
    with django_assert_max_num_queries(2):
        queries.worker_against_merged(study, rule="majority_verifiers", resamples=0)


@pytest.mark.django_db
def test_a_label_counts_whatever_another_rule_leaves_open():
    study = StudyFactory()
    chat = make_finished(study=study, bins=["<10"])
    make_merged(chat, ["ok", "notok"])
    make_merged(chat, ["ok", ""], rule="majority_all")

    found = queries.worker_against_merged(study, rule="majority_verifiers", resamples=0)
    other = queries.worker_against_merged(study, rule="majority_all", resamples=0)

    assert (found.both_notok, found.agreement.units) == (1, 1)
    assert (other.both_notok, other.agreement.units) == (0, 0)
