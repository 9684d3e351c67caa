import csv
import json
from pathlib import Path
from random import Random

import pytest
from django.core.management import CommandError, call_command

from bots.checkers import abuse, corpus
from bots.checkers.abuse_training import TrainingError, train, write

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
TWEETS = DATA / "davidson" / "labeled_data.csv"
CLEAN = sorted((DATA / "dstc2_babi6").glob("*.txt")) if DATA.is_dir() else []
needs_data = pytest.mark.skipif(not TWEETS.is_file() or len(CLEAN) < 2, reason="needs ../shared/data")


def made_up(count):
    """Tweets whose class a word gives away."""
    rng = Random(1)
    marks = {0: "vermin", 1: "idiot", 2: "flowers"}
    fill = [
        "today",
        "we",
        "went",
        "to",
        "see",
        "some",
        "people",
        "and",
        "they",
        "said",
        "things",
        "about",
        "it",
    ]
    return [(" ".join([*rng.sample(fill, 6), marks[n % 3]]), n % 3) for n in range(count)]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("have a nice day", "neither"),
        ("How do I kill a zombie process?", "neither"),
        ("You are a dumb bitch", "offensive"),
        ("go die you faggot", "hate"),
        ("", "neither"),
    ],
)
def test_the_model_that_ships(text, label):
    assert abuse.judge(text).label == label


def test_what_spoke_for_it_is_told():
    assert abuse.judge("go die you faggot") == abuse.Judgement("hate", ("faggot", "die"))


def test_scores_are_those_of_the_paper():
    assert [abuse.Judgement(name, ()).score for name in abuse.CLASSES] == [1.0, 0.5, 0.0]


def test_words_as_the_model_sees_them():
    text = "RT @somebody: Running,  the QUEENS are at http://example.org #winning"

    assert abuse.tokens(text) == ["run", "queen", "ar", "win"]
    assert abuse.grams(["a", "b", "c"]) == ["a", "b", "c", "a b", "b c", "a b c"]


def test_numbers_are_those_of_the_original():
    found = abuse.numbers("RT @you: nice #day http://x.org")

    assert tuple(found) == abuse.NUMBERS
    assert {name: found[name] for name in ("hashtags", "mentions", "urls", "retweet", "terms", "words")} == {
        "hashtags": 1, "mentions": 1, "urls": 1, "retweet": 1.0, "terms": 5, "words": 4,
    }  # fmt: skip
    assert found["ease"] == round(206.835 - 1.015 * 4 - 84.6 * found["syllables_a_word"], 2)


@pytest.mark.parametrize("text", ["a" * 20_000, "💩" * 500, "\u202e(((", "@" * 5_000, "http://" * 2_000])
def test_hostile_texts_are_judged_too(text):
    assert abuse.judge(text).label in abuse.CLASSES


def test_a_model_is_trained_written_and_read(tmp_path):
    trained = train(made_up(300), ["we saw flowers", "they said flowers today"], min_df=2)

    write(trained, tmp_path, source="made-up tweets")

    model = abuse.read(json.loads((tmp_path / "abuse.json").read_text()))
    assert [abuse.classify(model, f"they said {word}").label for word in ("vermin", "idiot", "flowers")] == [
        "hate", "offensive", "neither",
    ]  # fmt: skip
    assert trained.accuracy == 1
    assert trained.clean.al == 0
    card = (tmp_path / "abuse.md").read_text()
    assert "| hate | 1.000 | 1.000 | 1.000 |" in card
    assert "made-up tweets" in card
    assert "arXiv 1905.12516" in card


def test_a_model_that_calls_clean_talk_abusive_is_refused():
    with pytest.raises(TrainingError, match=r"AL is 1\.0000 on clean dialogue; it must be below 0\.005"):
        train(made_up(300), ["vermin"] * 3, min_df=2)


def test_too_few_tweets_are_refused():
    with pytest.raises(TrainingError, match="needs 10 tweets"):
        train(made_up(12))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n", "needs the columns class and tweet"),
        ("class,tweet\n7x,hello\n", "line 2: the class must be 0, 1 or 2"),
        ("class,tweet\n", "needs 10 tweets"),
    ],
)
def test_the_command_refuses_other_data_in_words(tmp_path, content, words):
    path = tmp_path / "tweets.csv"
    path.write_text(content)

    with pytest.raises(CommandError, match=words):
        call_command("train_abuse", data=path, out=tmp_path)

    assert list(tmp_path.iterdir()) == [path]


def test_the_command_writes_the_weights_and_the_card(tmp_path, capsys):
    path = tmp_path / "tweets.csv"
    with path.open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["class", "tweet"])
        rows.writerows((label, text) for text, label in made_up(300))

    call_command("train_abuse", data=path, out=tmp_path)

    assert sorted(found.name for found in tmp_path.iterdir()) == ["abuse.json", "abuse.md", "tweets.csv"]
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1


def test_the_card_that_ships_is_of_the_model_that_ships():
    held = json.loads(abuse.MODEL.read_text())
    card = abuse.MODEL.with_suffix(".md").read_text()

    assert f"over {len(held['terms'])} stemmed words" in card
    assert f"version {held['version']}" in card


@needs_data
def test_clean_dialogue_stays_clean():
    scores = [abuse.judge(said.text).score for path in CLEAN for said in corpus.read(path)]

    assert len(scores) == 29_433
    assert sum(scores) / len(scores) < 0.005


@needs_data
@pytest.mark.slow
def test_training_gives_the_model_that_ships(tmp_path):
    call_command("train_abuse", data=TWEETS, clean=CLEAN[::-1], out=tmp_path)

    found, held = (
        json.loads((folder / "abuse.json").read_text()) for folder in (tmp_path, abuse.MODEL.parent)
    )
    assert found["terms"].keys() == held["terms"].keys()
    assert found["terms"]["bitch"]["offensive"] == pytest.approx(
        held["terms"]["bitch"]["offensive"], rel=1e-3
    )
    assert (tmp_path / "abuse.md").read_text() == abuse.MODEL.with_suffix(".md").read_text()
