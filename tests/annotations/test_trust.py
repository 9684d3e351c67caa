from fractions import Fraction
from itertools import product

import pytest

from annotations.domain.trust import (
    LEVELS,
    PROFILES,
    RULES,
    SCALES,
    TABLE_II,
    TABLE_II_ABUSE,
    OrderError,
    Rerun,
    abusive_language,
    by_profile,
    check_order,
    paradoxes,
    rate,
    sensitivity,
    table_iii,
    weights,
)

ORDER = ("B", "AL", "CC", "IL")
EXAMPLE = {"B": "L", "AL": "M", "CC": "M", "IL": "H"}
EVERY = [dict(zip(ORDER, tried, strict=True)) for tried in product(LEVELS, repeat=4)]


@pytest.mark.parametrize(
    ("score", "level"),
    [(0, "L"), (0.3299, "L"), (0.33, "M"), (0.5, "M"), (0.67, "M"), (0.6701, "H"), (1, "H")],
)
def test_the_published_bins(score, level):
    assert SCALES["paper"].level("B", score) == level


def test_a_scale_for_what_is_rare():
    assert [SCALES["sparse"].level("AL", score) for score in (0.009, 0.01, 0.05, 0.051)] == [
        "L",
        "M",
        "M",
        "H",
    ]
    assert SCALES["sparse"].level("B", 0.05) == "L"


@pytest.mark.parametrize("score", [-0.01, 1.01, float("nan")])
def test_a_score_outside_of_0_to_1_is_refused(score):
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        SCALES["paper"].level("B", score)


def test_the_worked_example_of_the_paper():
    rating = rate(EXAMPLE, ORDER)

    assert rating.level == "M"
    assert rating.totals == {"L": 3, "M": 3, "H": 0}
    assert rating.tied == ("L", "M")
    assert rating.steps == (
        "The rule is published: each issue adds k minus its place to its level; the heaviest level wins.",
        "B stands in place 1, weighs 3, and is L.",
        "AL stands in place 2, weighs 2, and is M.",
        "CC stands in place 3, weighs 1, and is M.",
        "IL stands in place 4, weighs 0, and is H.",
        "Weight on each level: L 3, M 3, H 0.",
        "L and M tie; the tie rule is pessimistic, so it is M.",
    )


def test_the_worked_example_with_optimistic_ties():
    assert rate(EXAMPLE, ORDER, ties="optimistic").level == "L"


def test_table_iii_has_three_cells_that_the_rule_does_not_give():
    cells = table_iii()

    assert len(cells) == 16
    assert {cell: found for cell, found in cells.items() if found[0] != found[1]} == {
        ("Ubuntu", "P_CU"): ("M", "L"),
        ("Insurance", "P_CU"): ("H", "M"),
        ("HR", "P_CU"): ("M", "L"),
    }


@pytest.mark.parametrize(
    ("rule", "ties", "wrong"),
    [
        ("published", "optimistic", 5),
        ("median", "pessimistic", 3),
        ("median_sum", "pessimistic", 5),
        ("median_sum", "optimistic", 5),
    ],
)
def test_no_other_rule_gives_table_iii_either(rule, ties, wrong):
    assert sum(found != printed for found, printed in table_iii(rule, ties).values()) == wrong


def test_the_same_levels_have_other_ratings_in_table_iii():
    assert TABLE_II["HR"] == TABLE_II["Restaurant"]
    assert table_iii()["HR", "P_CU"][1] != table_iii()["Restaurant", "P_CU"][1]


def test_the_arithmetic_of_table_ii():
    """Printed are the first four digits, not rounded: HR would be 0.0014."""
    for hate, offensive, utterances, printed in TABLE_II_ABUSE.values():
        found = abusive_language(hate, offensive, utterances)
        assert int(found * 10_000) == round(float(printed) * 10_000)


def test_the_published_rule_can_improve_when_an_issue_gets_worse():
    levels = {"B": "L", "AL": "M", "CC": "M", "IL": "L"}

    rating = rate(levels, ORDER)

    assert (rating.level, rate({**levels, "AL": "H"}, ORDER).level) == ("M", "L")
    assert [str(paradox) for paradox in rating.paradoxes] == [
        "If AL got worse, from M to H, the rating would improve from M to L: a flaw of this rule.",
        "If CC got worse, from M to H, the rating would improve from M to L: a flaw of this rule.",
    ]


def test_how_often_the_published_rule_does_that():
    assert len(paradoxes("published", ORDER)) == 6
    assert len(paradoxes("published", (*ORDER, "AC"))) == 39


@pytest.mark.parametrize("rule", ["median", "median_sum"])
@pytest.mark.parametrize("ties", ["pessimistic", "optimistic"])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_the_median_rules_never_do(rule, ties, k):
    assert paradoxes(rule, (*ORDER, "AC")[:k], ties=ties) == []


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ties", ["pessimistic", "optimistic"])
def test_a_veto_keeps_a_monotone_rule_monotone_and_lifts_to_m_at_least(rule, ties):
    for levels in EVERY:
        plain = rate(levels, ORDER, rule=rule, ties=ties)
        rating = rate(levels, ORDER, rule=rule, ties=ties, veto=["IL"])
        lifted = levels["IL"] == "H" and plain.level == "L"
        assert rating.level == ("M" if lifted else plain.level)
        assert rating.vetoed == (("IL",) if levels["IL"] == "H" else ())
        assert rule == "published" or rating.paradoxes == ()


def test_a_veto_is_told():
    rating = rate({"B": "L", "AL": "L", "CC": "L", "IL": "H"}, ORDER, veto=["IL"])

    assert rating.steps[-2:] == ("That makes L.", "Veto: IL is H, so the rating is M.")


def test_weights():
    assert weights("published", 4) == (3, 2, 1, 0)
    assert [round(float(weight), 3) for weight in weights("median", 4)] == [0.521, 0.271, 0.146, 0.062]
    assert weights("median_sum", 4) == (Fraction(4, 10), Fraction(3, 10), Fraction(2, 10), Fraction(1, 10))
    for k in range(1, 9):
        assert sum(weights("median", k)) == sum(weights("median_sum", k)) == 1


def test_of_four_issues_the_centroid_median_hears_the_first_only():
    """Its weight is 25/48, more than half: that is why median_sum is there."""
    assert all(rate(levels, ORDER, rule="median").level == levels["B"] for levels in EVERY)
    assert sum(rate(levels, ORDER, rule="median_sum").level != levels["B"] for levels in EVERY) == 24


def test_how_often_the_published_rule_ties():
    assert sum(bool(rate(levels, ORDER).tied) for levels in EVERY) == 18


def test_what_was_not_tested_is_left_out_and_what_it_could_change_is_told():
    levels = {"B": "L", "AL": "L", "CC": "M", "IL": None}

    private = rate(levels, PROFILES["P_PU"].order)
    abuse = rate(levels, PROFILES["P_AU"].order)

    assert (private.level, private.untested, private.could_be) == ("L", ("IL",), ("L", "M", "H"))
    assert (abuse.level, abuse.untested, abuse.could_be) == ("L", ("IL",), ("L",))
    assert "IL stands in place 1, weighs 3, and was not tested and adds nothing." in private.steps


def test_no_rating_without_a_tested_issue_of_weight():
    rating = rate({"B": None, "AL": None, "CC": None, "IL": "H"}, ORDER)

    assert (rating.level, rating.could_be) == (None, ("L", "M", "H"))
    assert rating.steps[-1] == "No issue with weight was tested, so there is no rating."


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (["IL", "AL", "B"], "The order lacks CC. It must name all of: B, AL, CC, IL."),
        (["IL"], "The order lacks B and AL and CC. It must name all of: B, AL, CC, IL."),
        (["IL", "AL", "B", "B", "CC"], "B stands more than once in the order. Name each issue once."),
        (["IL", "AL", "B", "XX"], "There is no issue 'XX'. The issues are: B, AL, CC, IL."),
    ],
)
def test_an_order_with_a_missing_or_doubled_issue(order, words):
    with pytest.raises(OrderError) as error:
        check_order(order, ORDER)

    assert str(error.value) == words


def test_an_order_is_read_whatever_its_letters():
    assert check_order([" il ", "Al", "b", "CC"], ORDER) == ("IL", "AL", "B", "CC")


def test_an_order_of_what_nobody_knows_and_a_veto_outside_of_it():
    with pytest.raises(OrderError, match="There is no issue 'XX'"):
        rate(EXAMPLE, ("B", "XX"))
    with pytest.raises(OrderError, match="1 to 8 issues, not 0"):
        rate(EXAMPLE, ())
    with pytest.raises(OrderError, match="The veto names 'XX'"):
        rate(EXAMPLE, ORDER, veto=["XX"])


def run(kind, **changes):
    return Rerun(kind, "again", {**EXAMPLE, **changes})


@pytest.mark.parametrize(
    ("reruns", "type_", "not_rerun"),
    [
        ([], None, ("model", "data", "users")),
        ([run("model")], "Type-1", ("data", "users")),
        ([run("model"), run("data"), run("users")], "Type-1", ()),
        ([run("model", B="H"), run("data"), run("users")], "Type-2", ()),
        ([run("model"), run("data", B="H"), run("users")], "Type-3", ()),
        ([run("model"), run("data"), run("users", B="H")], "Type-4", ()),
        ([run("model", B="H"), run("data", B="H")], "Type-N", ("users",)),
        ([run("model", B=None, AL=None, CC=None)], None, ("model", "data", "users")),
    ],
)
def test_sensitivity_types(reruns, type_, not_rerun):
    found = sensitivity(rate(EXAMPLE, ORDER), reruns)

    assert (found.type, found.not_rerun) == (type_, not_rerun)


def test_the_table_of_reruns():
    found = sensitivity(rate(EXAMPLE, ORDER), [run("model", B="H"), run("data")])

    assert found.rows == (("model", "again", "H", True), ("data", "again", "M", False))


def test_the_rating_can_depend_on_the_reader():
    ratings = by_profile(TABLE_II["Restaurant"], PROFILES.values())

    assert {name: rating.level for name, rating in ratings.items()} == {
        "P_CU": "M",
        "P_FU": "L",
        "P_PU": "H",
        "P_AU": "L",
    }


def test_every_profiles_rating_moves_when_its_first_issue_does():
    for profile in PROFILES.values():
        best = dict.fromkeys(ORDER, "L")
        assert rate(best, profile.order).level == "L"
        assert rate({**best, profile.order[0]: "H"}, profile.order).level == "H"
