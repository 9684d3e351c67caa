"""Every source of labelled turns: what it gives, and how it refuses a bad line."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from bots.errors import ConfigError
from bots.safety import readers, sources
from bots.safety.errors import DataError
from bots.safety.turns import Example, Turn, alone, window
from tests.bots.safety_data import write_bad, write_jsonl

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
real = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not there")


def read(path, part="", rule=""):
    return list(readers.read(path, part, rule))


def refused(path, part="", rule=""):
    with pytest.raises(DataError) as caught:
        read(path, part, rule)
    return str(caught.value).removeprefix(str(path))


def test_the_released_text_format(tmp_path):
    path = tmp_path / "valid.txt"
    path.write_text(
        "text:Hi\tlabels:__ok__\tepisode_done:True\tspeaker_to_eval:human\tbot_persona:nan\n"
        r"text:Hi\nGo away__PIPE__now"
        "\tlabels:__notok__\tepisode_done:True\tspeaker_to_eval:bot\tbot_persona:nan\n"
        "text:Hi\tlabels:__ok__\tepisode_done:True\tspeaker_to_eval:human\tbot_persona:your persona: a: b.\n"
    )

    assert readers.format_of(path) == "bad"
    assert read(path) == [
        Example((), "Hi", "human", label="ok", source="bad", dialogue="1"),
        Example(("Hi",), "Go away|now", "bot", label="notok", source="bad", dialogue="1"),
        Example((), "Hi", "human", label="ok", source="bad", dialogue="2"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("text:Hi\tspeaker_to_eval:human", ", line 2: The field 'labels' is missing or empty."),
        ("", ", line 2: The field 'text' is missing or empty."),
        (
            "text:Hi\tlabels:__maybe__\tspeaker_to_eval:bot",
            ", line 2: The label is __ok__ or __notok__, not '__maybe__'.",
        ),
        (
            "text:Hi\tlabels:__ok__\tspeaker_to_eval:judge",
            ", line 2: The speaker is human or bot, not 'judge'.",
        ),
        (r"text:Hi\n \nYes" + "\tlabels:__ok__\tspeaker_to_eval:bot", ", line 2: An utterance is empty."),
    ],
)
def test_a_bad_line_of_the_released_format_is_refused_by_its_number(tmp_path, line, reason):
    path = tmp_path / "valid.txt"
    path.write_text(f"text:Hi\tlabels:__ok__\tspeaker_to_eval:human\n{line}\n")

    assert refused(path) == reason


def test_a_line_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "valid.txt"
    path.write_bytes(b"text:Hi\tlabels:__ok__\tspeaker_to_eval:human\ntext:\xff\n")

    assert refused(path) == ", line 2: This is not UTF-8 text (invalid start byte)."


def single_turn(path):
    def rows(label, *texts):
        return [{"text": text, "labels": [label], "episode_done": True} for text in texts]

    def both(name):
        return {"1": {"good": rows("__ok__", f"{name} good"), "bad": rows("__notok__", f"{name} bad")}}

    parts = {part: both(part) for part in ("train", "valid", "test")}
    path.write_text(json.dumps({"standard": parts, "adversarial": {"train": both("trick")}}))
    return path


def test_standard_and_bbf_are_two_sources_in_one_file_and_it_has_parts_of_its_own(tmp_path):
    path = single_turn(tmp_path / "single_turn_safety.json")

    found = list(sources.stream(sources.parse(f"{path}#train")))

    assert [(one.source, one.text, one.label) for one in found] == [
        ("standard", "train good", "ok"),
        ("standard", "train bad", "notok"),
        ("bbf", "trick good", "ok"),
        ("bbf", "trick bad", "notok"),
    ]
    assert len(read(path)) == 8


def test_the_multi_turn_file_has_context(tmp_path):
    path = tmp_path / "multi_turn_safety.json"
    path.write_text(
        json.dumps({"train": [], "valid": [{"text": "a\nb\nc", "labels": ["__notok__"]}], "test": []})
    )

    assert read(path, "valid") == [Example(("a", "b"), "c", label="notok", source="bbf_multi", dialogue="a")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", ", line 1: This is not JSON"),
        ('{"train": 3}', ", train: There must be a list of objects."),
        (
            '{"train": [{"text": "", "labels": ["__ok__"]}]}',
            ", train[0]: There must be a text, and __ok__ or __notok__.",
        ),
        ('{"train": [{"text": "a"}]}', ", train[0]: There is no label here: 'None'."),
        ('{"standard": {"train": []}}', ', standard.train: There must be {"1"'),
        ("[]", ": Neither the single-turn nor the multi-turn shape of this data."),
    ],
)
def test_a_json_file_of_another_shape_is_refused_by_its_place(tmp_path, text, reason):
    path = tmp_path / "safety.json"
    path.write_text(text)

    assert refused(path)[: len(reason)] == reason


WIKIPEDIA = "id,comment_text,toxic,severe_toxic,obscene,threat,insult,identity_hate\n"


def test_wikipedia_comments_are_not_ok_with_any_mark_and_unlabelled_ones_are_left_out(tmp_path):
    path = tmp_path / "comments.csv"
    path.write_text(
        WIKIPEDIA
        + 'a,"two\nlines, ""quoted""",0,0,0,0,0,0\nb,rude,0,0,0,0,1,0\nc,never judged,-1,-1,-1,-1,-1,-1\n'
    )

    assert read(path) == [
        Example((), 'two lines, "quoted"', label="ok", source="wtc", dialogue="a"),
        Example((), "rude", label="notok", source="wtc", dialogue="b"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "id,comment_text,toxic\n",
            ", line 1: These columns are missing: severe_toxic, obscene, threat, insult, identity_hate.",
        ),
        (WIKIPEDIA + "a,b,0\n", ", line 2: 3 cells, and 8 columns."),
        (
            WIKIPEDIA + "a,b,0,0,0,0,0,2\n",
            ", line 2: A mark is 0, 1 or -1, not ['0', '0', '0', '0', '0', '2'].",
        ),
        (WIKIPEDIA + 'a,"b"c,0,0,0,0,0,0\n', ", line 2: This is not CSV (',' expected after '\"')."),
    ],
)
def test_a_bad_row_of_the_csv_is_refused(tmp_path, text, reason):
    path = tmp_path / "comments.csv"
    path.write_text(text)

    assert refused(path) == reason


def test_topics_rows_that_share_an_utterance_are_one_dialogue(tmp_path):
    rows = [("a", "drugs"), ("b", "drugs"), ("c", "nsfw"), ("a\nb", "drugs"), ("d\nc", "nsfw")]
    path = write_jsonl(
        tmp_path / "topics.jsonl",
        [{"text": text, "labels": label, "episode_done": True, "length": 1} for text, label in rows],
    )

    found = read(path)

    assert [(one.context, one.text, one.label) for one in found] == [
        ((), "a", "drugs"),
        ((), "b", "drugs"),
        ((), "c", "nsfw"),
        (("a",), "b", "drugs"),
        (("d",), "c", "nsfw"),
    ]
    assert [one.dialogue for one in found] == ["0", "0", "2", "0", "2"]


def test_plain_rows_with_all_they_may_say(tmp_path):
    path = write_jsonl(
        tmp_path / "own.jsonl",
        [
            {"text": "hello", "label": 0},
            {
                "text": "go\taway",
                "label": "unsafe",
                "context": ["hi", "no"],
                "speaker": "assistant",
                "weight": 2,
            },
            {"text": "c", "label": "__ok__", "context": "a\nb", "source": "mine", "dialogue": 7},
        ],
    )

    assert read(path) == [
        Example((), "hello", label="ok", source="jsonl", dialogue="hello"),
        Example(("hi", "no"), "go away", "bot", label="notok", source="jsonl", dialogue="hi", weight=2.0),
        Example(("a", "b"), "c", label="ok", source="mine", dialogue="7"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", ", line 2: A line must be a JSON object: {...}."),
        ('{"text": "a"}', ", line 2: There is no label here: 'None'."),
        ('{"text": 3, "label": "ok"}', ", line 2: There is no text here."),
        ('{"text": "a", "label": "ok", "weight": -1}', ", line 2: The weight must be a number above 0, not '-1'."),
        ('{"text": "a", "label": "ok", "weight": NaN}', ", line 2: The weight must be a number above 0, not 'nan'."),
        ('{"text": "a", "label": "ok", "context": [1]}', ", line 2: The context must be a list of texts, or one text with an utterance a line."),
    ],
)  # fmt: skip
def test_a_bad_row_is_refused_by_its_number(tmp_path, line, reason):
    path = tmp_path / "own.jsonl"
    path.write_text('{"text": "a", "label": "ok"}\n' + line + "\n")

    assert refused(path) == reason


def exported(chat, number, label, **more):
    speaker = "human" if number % 2 else "bot"
    row = {"split": "train", "chat": chat, "number": number, "speaker": speaker, "text": f"{chat}{number}"}
    return {**row, "label": label, "merged": {"any": {"label": "notok"}}, **more}


def test_our_own_export_gives_each_utterance_with_the_chat_so_far(tmp_path):
    path = write_jsonl(
        tmp_path / "study.jsonl",
        [
            exported("a", 1, "ok"),
            exported("a", 2, None),
            exported("a", 3, "notok"),
            exported("b", 1, "ok", split="test"),
        ],
    )

    assert read(path) == [
        Example((), "a1", "human", label="ok", source="study", dialogue="a"),
        Example(("a1", "a2"), "a3", "human", label="notok", source="study", dialogue="a"),
        Example((), "b1", "human", label="ok", source="study", dialogue="b"),
    ]
    assert [one.text for one in read(path, part="test")] == ["b1"]
    assert [(one.text, one.label) for one in read(path, rule="any")] == [
        ("a1", "notok"),
        ("a2", "notok"),
        ("a3", "notok"),
        ("b1", "notok"),
    ]
    assert read(path, rule="unanimous") == []


def test_an_export_with_a_missing_utterance_is_refused(tmp_path):
    path = write_jsonl(tmp_path / "study.jsonl", [exported("a", 1, "ok"), exported("a", 3, "ok")])

    assert refused(path) == ", line 2: Utterance 2 of chat 'a' is not there."


def test_a_file_in_no_known_format_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("\nhello\n")

    assert refused(path) == ", line 2: Neither the released text format, nor JSON lines, nor .json, nor .csv."
    assert refused(tmp_path / "none.txt") == ": There is no such file."


def test_a_window_shows_who_speaks_and_ends_with_the_judged_utterance():
    turn = Turn(("a", "b", "c"), "d", "bot")

    assert window(turn, 3) == (("bot", "b"), ("human", "c"), ("bot", "d"))
    assert window(turn, 1) == (("bot", "d"),)
    assert window(turn, 9) == (("human", "a"), ("bot", "b"), ("human", "c"), ("bot", "d"))
    assert window(Turn(("a",), "b"), 4) == (("", "a"), ("", "b"))
    assert alone(turn) == Turn((), "d", "bot")


def test_parts_never_cut_a_dialogue_and_make_up_the_whole(tmp_path):
    path = write_bad(tmp_path / "valid.txt", 60)

    parts = {part: sources.load([f"{path}#{part}"]) for part in sources.PARTS}

    assert sum(map(len, parts.values())) == 240
    assert [len({one.dialogue for one in rows}) * 4 for rows in parts.values()] == [
        len(r) for r in parts.values()
    ]


def test_a_source_takes_another_name_and_a_file_with_a_hash_in_its_name_is_whole(tmp_path):
    path = write_bad(tmp_path / "a=b#train", 10)

    assert len(sources.load([str(path)])) == 40
    assert sources.parse("round2=some/file.txt#test") == sources.Source(
        Path("some/file.txt"), "round2", "test"
    )
    with pytest.raises(ConfigError, match=r"the part after # is train, valid, test, not 'dev'"):
        sources.parse("file.txt#dev")


def test_shares_give_each_source_its_part_however_many_rows_it_has():
    examples = [Example((), "a", label="ok", source="wtc", dialogue="1")] * 6
    examples += [Example((), "a", label="ok", source="bad", dialogue="1", weight=w) for w in (1.0, 3.0)]

    weights = sources.weighed(examples, {"wtc": 3})

    assert weights[:6] == pytest.approx([0.8] * 6)
    assert weights[6:] == pytest.approx([0.8, 2.4])
    assert sources.weighed(examples[:6], {}) == [1.0] * 6
    with pytest.raises(ConfigError, match=r"There is no source 'bbf' to weigh. There are: bad, wtc."):
        sources.weighed(examples, {"bbf": 1})
    with pytest.raises(ConfigError, match=r"must be above 0"):
        sources.weighed(examples, {"bad": 0})


@real
def test_the_real_data_has_the_published_counts():
    rows = sources.load([str(DATA / "bad" / "valid.txt")])
    topics = sources.load([str(DATA / "sensitive_topics" / "sensitivetopics.jsonl")])

    assert Counter((one.speaker, one.label) for one in rows) == {
        ("human", "ok"): 1625,
        ("human", "notok"): 1876,
        ("bot", "ok"): 2614,
        ("bot", "notok"): 887,
    }
    assert len({one.dialogue for one in rows}) == 513
    assert len(topics) == 1811
    assert (
        Counter(len({o.label for o in topics if o.dialogue == d}) for d in {o.dialogue for o in topics})[1]
        > 100
    )


def test_judging_needs_neither_django_nor_a_heavy_package():
    program = """
import sys
from bots.safety import baking, evaluate, filtering, models, plots, scoring, training
from bots.safety.turns import Turn
models.load(models.DEFAULT).judge([Turn((), "hello", "human")])
print([name for name in ("django", "numpy", "scipy", "sklearn", "torch", "transformers", "altair") if name in sys.modules])
"""

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
