import pytest

from bots.checkers import bias
from bots.checkers.words import words


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("anything else", 0.752181183),
        ("is there anything else", 0.369138558),
        ("royal spice is a nice restaurant in the north of town in the cheap price range", 0.034947882),
        ("i cheap restaurant in the north part of town", 0),
        ("You are looking for a restaurant is that right?", 0),
        ("Mint seems better", 1),
    ],
)
def test_scores_the_paper_published(text, score):
    """Six of the Restaurant rows and Table I, to the ninth digit: coefficients, scaling, clipping, VADER, modality."""
    assert bias.judge(text, "published").score == pytest.approx(score, abs=5e-10)


def test_the_coefficients_are_added_share_by_share():
    text = "they would win"
    found = bias.lists()
    expected = bias.INTERCEPT + bias.SENTIMENT * 0.5859 + bias.MODAL * -0.5
    for word in words(text):
        expected += sum(weight for name, weight in bias.BY_WORDS.items() if word in found[name]) / 3

    assert bias.judge(text).raw == pytest.approx(expected)
    assert bias.judge(text).because == ("win", "would", "they")


def test_features_that_were_dead_in_the_paper_do_not_count_as_published():
    assert bias.judge("I know it").score == 0
    assert bias.judge("I know it", "published").raw > bias.judge("I know it").raw


def test_nothing_said_is_not_judged():
    assert bias.judge("...") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("it is so", 1.0),
        ("it would be", -0.5),
        ("it will not be", 0.75),
        ("it may surely be", 0.25),
        ("not would", 0.25),
    ],
)
def test_modality(text, value):
    assert bias.modality(words(text)) == pytest.approx(value)


def test_every_feature_has_words_and_no_word_holds_a_wildcard():
    found = bias.lists()

    assert set(found) == set(bias.BY_WORDS)
    assert min(len(members) for members in found.values()) > 15
    assert [
        word for members in found.values() for word in members if "*" in word or word != word.lower()
    ] == []


def test_scores_stay_within_0_and_1():
    loud = "they obviously should fail, the worst losers, maybe better winners somehow"

    assert 0 <= bias.judge(loud).score <= 1
    assert bias.judge("know know know").score == 0
