import json
from fractions import Fraction
from itertools import chain, combinations, permutations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.domain.trust import PROFILES
from annotations.domain.voting import (
    METHODS,
    Dispute,
    VoteError,
    agreement,
    broken,
    clusters,
    disputes,
    distance,
    nearest,
    order,
    places,
    tau,
    tiers_by,
    vote,
)

ORACLE = json.loads((Path(__file__).parent / "pref_voting_answers.json").read_text())
LETTERS = "ABCDE"
ISSUES = ("B", "AL", "CC", "IL")


def election(case):
    """The votes of an oracle's case with letters for candidates, and how many there are."""
    k = case.get("candidates") or len(case["votes"][0])
    votes = [order([[LETTERS[c] for c in tier] for tier in one], LETTERS[:k]) for one in case["votes"]]
    return votes, k


def by_letter(values):
    return {LETTERS[n]: value for n, value in enumerate(values)}


def orders(text):
    """Votes out of "ABC*2 B(AC)": letters in order, those in brackets tie."""
    found = []
    for word in text.split():
        letters, _, times = word.partition("*")
        tiers = letters.replace("(", " (").replace(")", ") ").split()
        parts = [part for tier in tiers for part in ([tuple(tier[1:-1])] if tier[0] == "(" else list(tier))]
        found += [order(parts, "ABCD")] * int(times or 1)
    return found


def shown(joint):
    return [sorted(tier) for tier in joint]


@st.composite
def weak_orders(draw):
    ranks = [draw(st.integers(0, 3)) for _ in ISSUES]
    return tuple(
        frozenset(issue for issue, rank in zip(ISSUES, ranks, strict=True) if rank == level)
        for level in sorted(set(ranks))
    )


@pytest.mark.parametrize("method", ["plurality", "borda", "copeland"])
def test_scores_of_linear_orders_are_those_of_pref_voting(method):
    for case in ORACLE["linear"]:
        votes, _ = election(case)
        assert vote(method, votes).scores == by_letter(case[method])


def test_approvals_are_those_of_pref_voting():
    for case in ORACLE["linear"]:
        votes, _ = election(case)
        assert vote("approval", votes, top=case["top"]).scores == by_letter(case["approval"])


def test_kemeny_orders_and_their_distance_are_those_of_pref_voting():
    for case in ORACLE["linear"]:
        votes, _ = election(case)
        optimal = vote("kemeny", votes).optimal
        assert sorted(optimal) == [tuple(LETTERS[c] for c in one) for one in case["kemeny"]]
        as_order = tuple(frozenset({issue}) for issue in optimal[0])
        assert sum(distance(one, as_order) for one in votes) == case["kemeny_distance"]


def test_scores_of_partial_and_tied_orders_are_those_of_pref_voting():
    for case in ORACLE["tied"]:
        votes, k = election(case)
        borda = vote("borda", votes).scores
        assert vote("copeland", votes).scores == by_letter(case["copeland"])
        assert [2 * borda[c] - (k - 1) * len(votes) for c in LETTERS[:k]] == case["symmetric_borda"]


def test_those_who_tie_in_the_first_place_share_the_vote():
    for case in ORACLE["tied"]:
        votes, _ = election(case)
        assert vote("plurality", votes).scores == pytest.approx(by_letter(case["plurality"]))


def test_what_is_not_ranked_ties_below():
    assert shown(order(["IL", ("B", "AL")], ISSUES)) == [["IL"], ["AL", "B"], ["CC"]]
    assert shown(order([], ISSUES)) == [["AL", "B", "CC", "IL"]]


@pytest.mark.parametrize(
    ("tiers", "words"),
    [
        (["IL", "IL"], "IL stands more than once in the order."),
        (["IL", ("B", "IL")], "IL stands more than once in the order."),
        (["XX"], "There is no issue 'XX'. The issues are: B, AL, CC, IL."),
    ],
)
def test_an_order_that_cannot_be_is_refused_in_words(tiers, words):
    with pytest.raises(VoteError) as error:
        order(tiers, ISSUES)

    assert str(error.value) == words


def test_votes_must_be_there_and_on_the_same_issues():
    with pytest.raises(VoteError, match="There are no votes"):
        vote("borda", [])
    with pytest.raises(VoteError, match="different issues"):
        vote("borda", [order("AB", "AB"), order("ABC", "ABC")])
    with pytest.raises(VoteError, match="9 issues are more than 8"):
        vote("kemeny", [order("ABCDEFGHI", "ABCDEFGHI")])


def test_a_circle_ties_for_copeland_and_kemeny():
    votes = orders("ABCD BCAD CABD")

    assert shown(vote("copeland", votes).joint) == [["A", "B", "C"], ["D"]]
    assert shown(vote("kemeny", votes).joint) == [["A", "B", "C"], ["D"]]
    assert vote("kemeny", votes).optimal == (("A", "B", "C", "D"), ("B", "C", "A", "D"), ("C", "A", "B", "D"))


def test_approval_takes_the_whole_tier_that_reaches_the_top():
    outcome = vote("approval", orders("A(BC)D"), top=2)

    assert shown(outcome.joint) == [["A", "B", "C"], ["D"]]


def test_ties_are_broken_by_a_rule_that_is_named():
    votes = orders("ABCD*2 BCAD*2")
    joint = vote("plurality", votes).joint

    assert shown(joint) == [["A", "B"], ["C", "D"]]
    assert broken(joint, votes, by="list", listed="DCBA") == ["B", "A", "D", "C"]
    assert broken(joint, votes, by="borda", listed="ABCD") == ["B", "A", "C", "D"]


def test_rules_can_disagree_and_it_is_told_where():
    votes = orders("ABCD*5 CBAD*3 DBAC*4")

    found = disputes([vote(method, votes) for method in METHODS])

    assert found[0] == Dispute(("A", "B"), ("plurality",), ("borda", "approval", "copeland", "kemeny"), ())
    assert [dispute.pair for dispute in found] == [("A", "B"), ("B", "C"), ("B", "D"), ("C", "D")]


def test_nothing_is_in_dispute_where_all_think_the_same():
    assert disputes([vote(method, orders("ABCD*3")) for method in ("borda", "copeland", "kemeny")]) == []


@given(weak_orders(), weak_orders(), weak_orders())
def test_the_distance_is_a_metric(a, b, c):
    assert distance(a, a) == 0
    assert distance(a, b) == distance(b, a)
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, c) <= distance(a, b) + distance(b, c)
    assert 0 <= distance(a, b) <= 6


def test_agreement_is_scipys_tau_where_nothing_ties():
    from scipy.stats import kendalltau

    for one, other in combinations(permutations(ISSUES), 2):
        a, b = order(one, ISSUES), order(other, ISSUES)
        in_a, in_b = places(a), places(b)
        expected = kendalltau([in_a[i] for i in ISSUES], [in_b[i] for i in ISSUES]).statistic
        assert float(tau(a, b)) == pytest.approx(expected)


def test_the_agreement_of_a_group_is_the_mean():
    votes = orders("ABCD*3 DCBA")

    assert agreement(votes, votes[0]) == Fraction(1, 2)
    assert agreement([], votes[0]) is None
    assert tau(order("A", "A"), order("A", "A")) is None


def test_the_nearest_profile_or_none():
    profiles = {name: order(profile.order, ISSUES) for name, profile in PROFILES.items()}

    assert nearest(order(["IL", "AL", "CC", "B"], ISSUES), profiles) == ("P_PU",)
    assert nearest(order(["AL", "IL", "B", "CC"], ISSUES), profiles) == ("P_PU",)
    assert nearest(order(["IL", "CC", "AL", "B"], ISSUES), profiles, farthest=1) == ()
    assert nearest(order(["CC", "B", "AL", "IL"], ISSUES), profiles) == ("P_CU", "P_FU")
    assert nearest(order([], ISSUES), {}) == ()


def test_those_who_think_alike_are_grouped():
    votes = orders("ABCD DCBA ABDC ABCD DCAB")

    assert clusters(votes) == [[0, 2, 3], [1, 4]]
    assert clusters(votes, farthest=0) == [[0, 3], [1], [2], [4]]
    assert clusters(votes, farthest=6) == [[0, 1, 2, 3, 4]]
    assert clusters([]) == []


def test_groups_that_are_left_are_farther_apart_than_allowed():
    rng = Random(3)
    for _ in range(20):
        votes = [order(rng.sample(LETTERS, 5), LETTERS) for _ in range(12)]

        groups = clusters(votes, farthest=3)

        assert sorted(chain.from_iterable(groups)) == list(range(12))
        for one, other in combinations(groups, 2):
            apart = [distance(votes[a], votes[b]) for a in one for b in other]
            assert sum(apart) / len(apart) > 3


def test_scores_make_tiers():
    assert shown(tiers_by({"A": Fraction(1), "B": Fraction(2), "C": Fraction(1)})) == [["B"], ["A", "C"]]
