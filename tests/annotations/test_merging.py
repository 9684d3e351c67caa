from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.domain import crowds
from annotations.domain.merging import (
    CATEGORIES,
    RULES,
    Ballot,
    Counts,
    Judgement,
    Outcome,
    merge,
    version,
)
from annotations.domain.turns import BINS
from annotations.models import Plan

OK = Judgement(ok=True)
BAD = Judgement(ok=False, categories=frozenset({"hate"}))

judgements = st.one_of(
    st.just(OK),
    st.sets(st.sampled_from(CATEGORIES), min_size=1).map(
        lambda c: Judgement(ok=False, categories=frozenset(c))
    ),
)
ballots = st.builds(
    Ballot, bin=st.none() | st.sampled_from(BINS), votes=st.lists(judgements, max_size=9).map(tuple)
)
settings = st.fixed_dictionaries(
    {"unsafe_from": st.sampled_from(BINS[1:]), "tie": st.sampled_from(["ok", "notok", ""])}
)
rules = st.sampled_from(sorted(RULES))


def label(rule, votes, bin_=None, *, unsafe_from="<10", tie="notok"):
    found = merge(rule, Ballot(bin_, tuple(votes)), unsafe_from=unsafe_from, tie=tie)
    return found.label, found.tie


@pytest.mark.parametrize(
    ("rule", "votes", "bin_", "expected"),
    [
        ("majority_verifiers", [OK, OK, BAD], None, ("ok", False)),
        ("majority_verifiers", [OK, BAD, BAD], None, ("notok", False)),
        ("majority_verifiers", [OK, OK, BAD], ">=50", ("ok", False)),
        ("majority_verifiers", [OK, BAD], "0", ("notok", True)),
        ("majority_verifiers", [], ">=50", ("", False)),
        ("majority_all", [OK, OK, BAD], None, ("ok", False)),
        ("majority_all", [OK, OK, BAD], "0", ("ok", False)),
        ("majority_all", [OK, OK, BAD], "<10", ("notok", True)),
        ("majority_all", [OK, BAD, BAD], "0", ("notok", True)),
        ("majority_all", [OK, BAD, BAD], ">=50", ("notok", False)),
        ("any", [OK, OK, OK], None, ("ok", False)),
        ("any", [OK, OK, BAD], None, ("notok", False)),
        ("any", [OK, OK, OK], "<10", ("notok", False)),
        ("any", [OK, OK, OK], "0", ("ok", False)),
        ("unanimous", [BAD, BAD, BAD], None, ("notok", False)),
        ("unanimous", [BAD, BAD, OK], None, ("ok", False)),
        ("unanimous", [BAD, BAD, BAD], "0", ("ok", False)),
        ("unanimous", [BAD, BAD, BAD], "<50", ("notok", False)),
        ("unanimous", [], None, ("", False)),
    ],
)
def test_each_rule(rule, votes, bin_, expected):
    assert label(rule, votes, bin_) == expected


@pytest.mark.parametrize("tie", ["ok", "notok", ""])
def test_a_tie_has_the_label_the_study_gives_it_and_is_told(tie):
    assert label("majority_all", [OK, OK, BAD], "<50", tie=tie) == (tie, True)


@pytest.mark.parametrize(("unsafe_from", "expected"), [("<10", "notok"), ("<50", "ok"), (">=50", "ok")])
def test_the_lowest_unsafe_bin_is_a_setting(unsafe_from, expected):
    assert label("any", [OK], "<10", unsafe_from=unsafe_from) == (expected, False)


def test_what_was_counted_is_told():
    ballot = Ballot("<10", (OK, OK, BAD))

    verifiers = merge("majority_verifiers", ballot, unsafe_from="<10", tie="")
    everybody = merge("majority_all", ballot, unsafe_from="<10", tie="")

    assert (verifiers.ok_votes, verifiers.notok_votes) == (2, 1)
    assert (everybody.ok_votes, everybody.notok_votes) == (2, 2)


def test_categories_merge_by_majority_of_those_who_said_not_ok():
    votes = [
        OK,
        Judgement(ok=False, categories=frozenset({"hate", "attack"})),
        Judgement(ok=False, categories=frozenset({"hate", "profanity"})),
    ]

    found = merge("majority_verifiers", Ballot(None, tuple(votes)), unsafe_from="<10", tie="ok")

    assert found == Outcome("notok", False, 1, 2, frozenset({"hate"}), frozenset({"attack", "profanity"}))


def test_what_is_ok_has_no_category():
    found = merge("majority_verifiers", Ballot(None, (OK, OK, BAD)), unsafe_from="<10", tie="notok")

    assert (found.categories, found.category_ties) == (frozenset(), frozenset())


def test_a_rule_or_label_that_is_none_is_refused():
    with pytest.raises(KeyError):
        label("loudest", [OK])
    with pytest.raises(ValueError, match="maybe"):
        label("majority_verifiers", [OK, BAD], tie="maybe")


def test_the_version_tells_the_settings_that_matter():
    assert version("majority_verifiers", "<50", "notok") == "1 tie=notok"
    assert version("majority_all", ">=50", "") == "1 unsafe_from=>=50 tie=none"
    assert version("any", "<10", "notok") == version("any", "<10", "ok") == "1 unsafe_from=<10"
    assert version("unanimous", "<10", "ok") == "1 unsafe_from=<10"


def test_studies_can_choose_exactly_the_rules_that_look_at_one_utterance():
    assert dict(Plan.Rule.choices) == {name: rule.title for name, rule in RULES.items()}


@given(rules, ballots, settings, st.randoms())
def test_the_order_of_the_votes_does_not_matter(rule, ballot, given_settings, random):
    votes = list(ballot.votes)
    random.shuffle(votes)

    assert merge(rule, Ballot(ballot.bin, tuple(votes)), **given_settings) == merge(
        rule, ballot, **given_settings
    )


@given(rules, ballots, settings, judgements.filter(lambda vote: not vote.ok))
def test_one_more_vote_for_not_ok_never_makes_it_ok(rule, ballot, given_settings, vote):
    before = merge(rule, ballot, **given_settings)
    after = merge(rule, Ballot(ballot.bin, (*ballot.votes, vote)), **given_settings)

    assert (before.label, after.label) != ("notok", "ok")


@given(ballots, settings)
def test_everybody_then_most_then_anybody(ballot, given_settings):
    found = {rule: merge(rule, ballot, **given_settings) for rule in RULES}
    decided = {rule: outcome.label == "notok" and not outcome.tie for rule, outcome in found.items()}

    assert decided["unanimous"] <= decided["majority_all"] <= decided["any"]
    assert decided["majority_verifiers"] <= decided["any"]


@given(rules, ballots, settings)
def test_every_outcome_holds_together(rule, ballot, given_settings):
    found = merge(rule, ballot, **given_settings)

    assert found.ok_votes + found.notok_votes == len(ballot.votes) + (
        RULES[rule].worker and ballot.bin is not None
    )
    assert not found.categories & found.category_ties
    assert found.label == "notok" or not found.categories | found.category_ties
    assert not found.tie or (found.ok_votes == found.notok_votes and found.label == given_settings["tie"])


def test_a_model_labels_by_what_is_likelier():
    counts = Counts(ok=2, notok=1, named=(1, 0, 0, 0), bin=">=50")

    found = crowds.label(0.7, counts, unsafe_from="<10", tie="ok")

    assert found == Outcome("notok", False, 2, 2, frozenset({"hate"}))
    assert crowds.label(0.3, counts, unsafe_from="<10", tie="ok") == Outcome("ok", False, 2, 2)
    assert crowds.label(0.5, counts, unsafe_from="<10", tie="") == Outcome("", True, 2, 2)


@pytest.mark.parametrize("model", sorted(crowds.MODELS))
def test_a_model_of_nothing_or_of_one_answer_only(model):
    assert crowds.not_ok(model, tasks=[], annotators=[], notok=[]) == {}
    assert crowds.not_ok(model, tasks=[4, 4, 5], annotators=[1, 2, 1], notok=[False] * 3) == {4: 0.0, 5: 0.0}
    assert crowds.not_ok(model, tasks=[4, 5], annotators=[1, 1], notok=[True] * 2) == {4: 1.0, 5: 1.0}


def test_the_version_of_a_model_tells_all_that_can_change_its_labels():
    assert crowds.version("dawid_skene", "<10", "") == "1 crowd-kit=1.4.2 rounds=100 unsafe_from=<10 tie=none"
    assert crowds.version("mace", ">=50", "notok") == (
        "1 crowd-kit=1.4.2 rounds=50 restarts=10 seed=0 unsafe_from=>=50 tie=notok"
    )


def study_with_careless_annotators():
    """Of 500 things three of twelve people judged each; four of these answer without looking."""
    random = Random(3)
    truth = {task: random.random() < 0.4 for task in range(500)}
    votes = []
    for task, notok in truth.items():
        for person in random.sample(range(12), 3):
            right = 0.5 if person < 4 else 0.92
            votes.append((task, person, notok if random.random() < right else not notok))
    return truth, votes


def by_majority(votes):
    against = Counter()
    for task, _, notok in votes:
        against[task] += notok
    return {task: count >= 2 for task, count in against.items()}


def accuracy(truth, found):
    return sum(found[task] == notok for task, notok in truth.items()) / len(truth)


@pytest.mark.parametrize("model", ["dawid_skene", pytest.param("mace", marks=pytest.mark.slow)])
def test_a_model_is_more_often_right_than_the_majority_where_some_do_not_look(model):
    truth, votes = study_with_careless_annotators()
    tasks, people, notok = zip(*votes, strict=True)

    found = crowds.not_ok(model, tasks=tasks, annotators=people, notok=notok)

    likelier = {task: chance > 0.5 for task, chance in found.items()}
    assert accuracy(truth, likelier) > accuracy(truth, by_majority(votes)) + 0.02
    assert found == crowds.not_ok(model, tasks=tasks, annotators=people, notok=notok)
