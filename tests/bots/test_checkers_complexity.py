import pytest

from bots.checkers import complexity, readability
from bots.checkers.complexity import Domain, Vocabulary, of_dialog, of_utterance
from bots.checkers.words import words


def test_an_utterance_by_the_formula():
    weights = Domain(("annuities",), 100).weights()

    assert of_utterance(words("what is the house annuities"), weights) == (3 * 0.25 + 0.5 + 1) / 5
    assert (
        of_utterance(words("what is the house annuities"), Domain(("annuities",), 100).weights(0)) == 1.5 / 5
    )
    assert of_utterance([], weights) is None


def test_a_word_neither_common_nor_a_stop_word_counts_as_one_of_a_domain():
    weights = Domain((), 0).weights()

    assert [weights[word] for word in ("the", "house", "subrogation")] == [0.25, 0.5, 1]


@pytest.mark.parametrize(
    ("total", "turns", "reference", "score"),
    [
        (0.789, 1, 1, 0.8945),  # the Insurance corpus: one turn of at most one; printed .894
        (1.0, 2, 20, 0.3),
        (30.0, 40, 20, 0.875),
    ],
)
def test_a_dialog_by_the_formula(total, turns, reference, score):
    assert of_dialog(total, turns, reference) == pytest.approx(score)


@pytest.mark.parametrize(
    ("domain_share", "turns", "longest", "printed"),
    [((0 + 0 + 0.125 + 1 / 3) / 4, 2, 93, 0.112315188), ((2 / 11 + 1 / 3) / 2, 1, 93, 0.221285435)],
)
def test_dialogs_of_the_published_example_are_within_what_common_words_add(
    domain_share, turns, longest, printed
):
    """The authors print DS / N only; what their dialogs have above that must come from common words and stop words."""
    least = of_dialog(domain_share * turns, turns, longest)
    most = of_dialog(turns, turns, longest)

    assert least <= printed <= most


def test_a_dialog_without_turns_has_none():
    with pytest.raises(ValueError, match="no complexity"):
        of_dialog(0, 0, 20)


def test_the_domain_is_what_is_said_here_more_than_elsewhere():
    vocabulary = Vocabulary()
    for _ in range(100):
        vocabulary.see(words("the restaurant serves gastropub food to him and to her in all of this"))
    vocabulary.see(words("rare rare a house of the time"))

    assert vocabulary.domain() == Domain(("gastropub", "serves", "restaurant", "food"), 1_407)


def test_a_small_corpus_has_no_domain():
    vocabulary = Vocabulary()
    vocabulary.see(["gastropub"] * 999)

    assert vocabulary.domain().terms == ()


def test_counting_words_takes_bounded_memory(monkeypatch):
    monkeypatch.setattr(complexity, "KEPT", 100)
    vocabulary = Vocabulary()
    for n in range(1_000):
        vocabulary.see(["restaurant", f"word{n}"])

    assert len(vocabulary.counts) <= 101
    assert vocabulary.counts["restaurant"] == 1_000


@pytest.mark.parametrize(
    ("text", "count"),
    [("One. Two! Three?", 3), ("no mark", 1), ("one. two", 2), ("3.14 is pi", 1), ("...", 1)],
)
def test_sentences(text, count):
    assert readability.sentences(text) == count


def test_reading_ease_is_fleschs():
    assert readability.ease(spoken=6, found=6, said=1) == pytest.approx(206.835 - 1.015 * 6 - 84.6)


def test_readability_scores():
    assert readability.score(100, 0) == 0
    assert readability.score(0, 0.3) == 1
    assert readability.score(-50, 0.9) == 1
    assert readability.score(60, 0.06) == pytest.approx(0.3)
