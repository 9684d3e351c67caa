import pytest

from bots.checkers.bounds import clopper_pearson, deviation, mean_interval
from bots.checkers.porter import stem
from bots.checkers.sentiment import _analyzer, sentiment
from bots.checkers.words import Language, cannot_judge, syllables, words, zipf


@pytest.mark.parametrize(
    ("hits", "trials"), [(0, 80), (1, 80), (40, 80), (79, 80), (80, 80), (9, 29_433), (5_000, 1_000_000)]
)
def test_exact_bounds_are_scipys(hits, trials):
    from scipy.stats import binomtest

    expected = binomtest(hits, trials).proportion_ci(0.95, "exact")

    assert clopper_pearson(hits, trials) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_nothing_has_no_bounds():
    assert clopper_pearson(0, 0) is None
    assert mean_interval(1, 0.5, 0.25) is None


def test_the_interval_of_a_mean():
    assert deviation(2, 1.0, 1.0) == pytest.approx(0.7071, abs=1e-4)
    assert mean_interval(2, 1.0, 1.0) == (0.0, 1.0)
    assert mean_interval(100, 50.0, 25.0) == (0.5, 0.5)


def test_stems_are_those_of_porters_paper():
    said = "caresses ponies cats agreed plastered motoring conflated troubled sized hopping falling happy sky relational"
    assert " ".join(map(stem, said.split())) == (
        "caress poni cat agre plaster motor conflat troubl size hop fall happi sky relat"
    )


@pytest.mark.slow
def test_stems_are_those_of_nltks_original_algorithm():
    from nltk.stem.porter import PorterStemmer
    from wordfreq import top_n_list

    theirs = PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)
    common = [word for word in top_n_list("en", 5_000) if word.isascii() and word.isalpha() and len(word) > 2]

    assert [stem(word) for word in common] == [theirs.stem(word) for word in common]


def test_words_keep_what_joins_them():
    assert words("Don’t go, saint_johns is well-known!") == ["don't", "go", "saint_johns", "is", "well-known"]


def test_syllables_by_hyphenation():
    assert [syllables(word) for word in ("cat", "restaurant", "information")] == [1, 2, 4]


def test_how_common_a_word_is():
    assert zipf("the") > 7
    assert zipf("asdfgh") == 0


@pytest.mark.parametrize(
    "text",
    [
        "VADER is very smart, handsome, and funny!!!",
        "The phone number is 01223",
        "not good but not BAD either :)",
        "No",
        "no problem, bus stop",
        "",
        "!!!",
        "I love you 💘 but I hate it",
        "kind of the bomb (great)",
    ],
)
def test_the_shortcut_gives_what_the_library_gives(text):
    found = _analyzer().polarity_scores(text)

    assert sentiment(text) == (found["neg"], found["neu"], found["pos"], found["compound"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Hello there.", ""),
        ("saint_johns_chop_house serves modern_european food", ""),
        ("Bonjour", ""),
        ("quiero un restaurante barato en el norte", "not English"),
        ("ich möchte ein billiges restaurant im norden der stadt", "not English"),
        ("你好，请问有什么可以帮您", "not in Latin letters"),
        ("Привет", "not in Latin letters"),
        ("<html><body></body></html>", ""),
        ("...", "no words"),
        ("", "no words"),
    ],
)
def test_what_cannot_be_judged(text, why):
    assert cannot_judge(text) == why


def test_a_language_is_told_by_all_its_words():
    french, english, short = Language(), Language(), Language()
    for _ in range(5):
        french.see("je voudrais un restaurant pas cher dans le nord de la ville")
        english.see("I would like a cheap restaurant in the north of town")
    short.see("Bonjour")

    assert (french.foreign, english.foreign, short.foreign) == (True, False, False)
