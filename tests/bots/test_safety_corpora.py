"""Filtering and baking in: from a corpus to what a bot may learn from it."""

import io
import json
from collections import Counter

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from bots.safety import baking, corpora, filtering, flags, models, nonsequitur
from bots.safety.corpora import Pair
from bots.safety.errors import DataError
from tests.bots.safety_data import write_jsonl


class Words:
    """A classifier that flags whatever holds the word bad."""

    labels, context = ("ok", "notok"), 1

    def probabilities(self, turns):
        return [[0.0, 1.0] if "bad" in turn.text.split() else [1.0, 0.0] for turn in turns]


MODEL = models.Model(Words(), {"notok": 0.5}, "words", "1")


def quiet(_line):
    pass


def corpus(path, rows):
    return write_jsonl(path, [{"context": c, "response": r, "author": a} for c, r, a in rows])


ROWS = [
    (["hello"], "hi", "ann"),
    (["a bad thing"], "no", "ann"),
    (["bad long ago", "sorry"], "fine", "ann"),
    (["why"], "bad answer", "bob"),
    ([], "good", "bob"),
]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_by_utterance_a_flagged_response_or_last_utterance_before_it_goes(tmp_path):
    source = corpus(tmp_path / "c.jsonl", ROWS)

    report = filtering.filter_corpus(MODEL, [source], tmp_path / "out", by="utterance", progress=quiet)

    assert [row["response"] for row in lines(tmp_path / "out" / "kept.jsonl")] == ["hi", "fine", "good"]
    assert report["flagged"] == {"context": 1, "response": 1, "either": 2}
    assert (report["pairs"], report["kept"], report["dropped"], report["kept_share"]) == (5, 3, 2, 0.6)
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == report


def test_by_author_all_of_one_who_is_flagged_too_often_goes(tmp_path):
    rows = [(["x"], "bad" if n == 0 else "fine", "rare") for n in range(10)]
    rows += [(["x"], "bad" if n < 2 else "fine", "often") for n in range(10)]
    source = corpus(tmp_path / "c.jsonl", rows)

    report = filtering.filter_corpus(MODEL, [source], tmp_path / "out", by="author", progress=quiet)

    assert {row["author"] for row in lines(tmp_path / "out" / "kept.jsonl")} == {"rare"}
    assert report["authors"] == {"all": 2, "dropped": 1, "threshold": 0.12}
    assert report["kept"] == 10


@pytest.mark.parametrize(("threshold", "authors"), [(0.1, {"edge"}), (0.09, set())])
def test_an_author_at_the_very_share_stays(tmp_path, threshold, authors):
    source = corpus(tmp_path / "c.jsonl", [([], "bad" if n == 0 else "fine", "edge") for n in range(10)])

    filtering.filter_corpus(
        MODEL, [source], tmp_path / "out", by="author", author_threshold=threshold, progress=quiet
    )

    assert {row["author"] for row in lines(tmp_path / "out" / "kept.jsonl")} == authors


def test_by_author_a_row_without_one_is_refused(tmp_path):
    source = corpus(tmp_path / "c.jsonl", [([], "fine", "ann"), ([], "fine", "")])

    with pytest.raises(DataError, match=r"pair 2: It names no author: filter by utterance."):
        filtering.filter_corpus(MODEL, [source], tmp_path / "out", by="author", progress=quiet)


def test_baking_in_changes_a_share_of_what_is_flagged_and_drops_the_rest(tmp_path):
    source = corpus(tmp_path / "c.jsonl", [(["x"], "bad" if n % 2 else "fine", str(n)) for n in range(400)])

    report = baking.bake_in(MODEL, [source], tmp_path / "out", progress=quiet)

    safe, baked = lines(tmp_path / "out" / "safe.jsonl"), lines(tmp_path / "out" / "baked.jsonl")
    assert report["flagged"] == {"context": 0, "response": 200, "either": 200}
    assert (
        report["pools"]
        == {"safe.jsonl": len(safe), "baked.jsonl": len(baked)}
        == {**report["pools"], "safe.jsonl": 200}
    )
    assert 70 < len(baked) < 130
    assert report["dropped"] == 200 - len(baked)
    assert {row["response"] for row in safe} == {"fine"}
    head, tail = nonsequitur.SENTENCE.split("{topic}")
    topics = [row["response"].removeprefix(head).removesuffix(tail) for row in baked]
    assert set(topics) <= set(nonsequitur.topics())
    assert len(set(topics)) > 50
    assert all(int(row["author"]) % 2 for row in baked)


def test_a_flagged_context_is_changed_too_and_the_rest_kept_if_so_set(tmp_path):
    source = corpus(tmp_path / "c.jsonl", ROWS)

    whole = baking.bake_in(MODEL, [source], tmp_path / "whole", replace_share=1, progress=quiet)
    none = baking.bake_in(MODEL, [source], tmp_path / "none", replace_share=0, rest="keep", progress=quiet)

    assert whole["pools"] == {"safe.jsonl": 3, "baked.jsonl": 2}
    assert [row["context"] for row in lines(tmp_path / "whole" / "baked.jsonl")] == [["a bad thing"], ["why"]]
    assert none["pools"] == {"safe.jsonl": 5, "baked.jsonl": 0}
    assert none["dropped"] == 0
    assert [row["response"] for row in lines(tmp_path / "none" / "safe.jsonl")] == [row[1] for row in ROWS]


def test_the_same_seed_bakes_the_same_and_another_does_not(tmp_path):
    source = corpus(tmp_path / "c.jsonl", [(["x"], "bad", "")] * 50)

    made = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        baking.bake_in(MODEL, [source], tmp_path / name, seed=seed, progress=quiet)
        made.append((tmp_path / name / "baked.jsonl").read_bytes())

    assert made[0] == made[1] != made[2]


def test_the_flags_are_made_once_and_another_corpus_in_the_same_folder_is_refused(tmp_path):
    source = corpus(tmp_path / "c.jsonl", ROWS)
    baking.bake_in(MODEL, [source], tmp_path / "out", progress=quiet)
    said = []

    flags.judge(MODEL, [source], tmp_path / "out", said.append)
    corpus(source, ROWS[:2])

    assert said == []
    with pytest.raises(ValueError, match=r"is of a run with other input or settings"):
        flags.judge(MODEL, [source], tmp_path / "out", quiet)


def test_parlai_text_grows_over_an_episode(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(
        r"text:your persona: i ski.\nhi" + "\tlabels:hello\n"
        "text:how are you\tlabels:fine|good\tepisode_done:True\n"
        "text:next__PIPE__one\tlabels:yes\tauthor:ann\tepisode_done:False\n"
        "\ntext:last\tlabels:no\n"
    )

    assert list(corpora.read([path])) == [
        Pair(("your persona: i ski.", "hi"), "hello"),
        Pair(("your persona: i ski.", "hi", "hello", "how are you"), "fine"),
        Pair(("next|one",), "yes", "ann"),
        Pair(("last",), "no"),
    ]


def test_our_own_export_gives_the_bot_utterances(tmp_path):
    path = write_jsonl(
        tmp_path / "study.jsonl",
        [
            {"chat": chat, "number": number, "speaker": "human" if number % 2 else "bot", "text": f"{chat}{number}", "bot": "b1"}
            for chat in "xy"
            for number in (1, 2, 3)
        ],
    )  # fmt: skip

    assert list(corpora.read([path])) == [Pair(("x1",), "x2", "b1"), Pair(("y1",), "y2", "b1")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("text:a\tlabels:\n", ", line 1: The field 'text' or 'labels' is missing or empty."),
        ("text:a\tlabels:__ok__\n", ", line 1: These are labelled utterances, not responses to learn."),
        ('{"context": [], "response": ""}\n', ", line 1: There is no text here."),
        ('{"context": 3, "response": "a"}\n', ", line 1: The context must be a list of texts"),
    ],
)
def test_a_bad_line_of_a_corpus_is_refused(tmp_path, text, reason):
    path = tmp_path / "corpus"
    path.write_text(text)

    with pytest.raises(DataError) as caught:
        list(corpora.read([path]))

    assert str(caught.value).removeprefix(str(path))[: len(reason)] == reason


def test_the_commands_print_their_report_and_refuse_in_words(tmp_path):
    source = corpus(tmp_path / "c.jsonl", ROWS)

    def run(*words):
        out = io.StringIO()
        call_command(*map(str, words), "--in", str(source), stdout=out, stderr=io.StringIO())
        return json.loads(out.getvalue())

    filtered = run("filter_corpus", "--out", tmp_path / "f", "--by", "utterance")
    baked = run("bake_in", "--out", tmp_path / "b", "--replace-share", 1)

    assert filtered["model"] == baked["model"] == "default"
    assert filtered["pairs"] == sum(baked["pools"].values()) == 5
    with pytest.raises(CommandError, match=r"The share is from 0 to 1"):
        run("bake_in", "--out", tmp_path / "c", "--replace-share", 2)
    with pytest.raises(CommandError, match=r"holds no card.json"):
        run("bake_in", "--out", tmp_path / "c", "--model", tmp_path)


def test_an_empty_corpus_is_refused(tmp_path):
    empty = tmp_path / "c.jsonl"
    empty.write_text("")

    with pytest.raises(DataError, match=r"There are no pairs in it."):
        baking.bake_in(MODEL, [empty], tmp_path / "out", progress=quiet)


def test_topics_are_many_lower_case_each_once_and_none_is_flagged():
    topics = nonsequitur.topics()

    assert len(topics) >= 1_087
    assert [t for t, n in Counter(topics).items() if n > 1] == []
    assert [t for t in topics if t != t.lower().strip() or len(t) > 40] == []
    said = [Pair((), nonsequitur.SENTENCE.format(topic=topic)).answered() for topic in topics]
    assert [v.flagged for v in models.load(models.DEFAULT).judge(said)] == [False] * len(topics)
