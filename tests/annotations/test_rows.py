"""Rows, the released text format, splits and pseudonyms: pure, no database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.domain import parlai
from annotations.domain.privacy import Pseudonyms, derived_key, has_email, has_number, masked
from annotations.domain.rows import COLUMNS, FLAT, JSONL, ExportRow, defused, flat, shown_persona
from annotations.domain.splits import Candidate, SplitError, assign, parse

PERSONA = ("your persona: i live alone.", "Steak ")


def row(number=1, text="Hi.", context=(), **values):
    plain = dict.fromkeys(ExportRow._fields)
    defaults = {
        "split": "train",
        "chat": "c",
        "number": number,
        "speaker": "human" if number % 2 else "bot",
        "text": text,
        "context": tuple(context),
        "persona": (),
        "label": "ok",
        "tie": False,
        "categories": (),
    }
    return ExportRow(**{**plain, **defaults, **values})


def chat_of(texts, labels=None, persona=()):
    labels = labels or ["ok"] * len(texts)
    return [
        row(place + 1, text, texts[:place], label=label, persona=persona)
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def written(texts, **values):
    return [parlai.line(one).encode() for one in chat_of(texts, **values)]


# -- rows ----------------------------------------------------------------------------------------------------


def test_every_field_of_a_row_is_described_in_order():
    assert tuple(COLUMNS) == ExportRow._fields
    assert [name for name in JSONL if name not in FLAT] == [
        "bin_at",
        "bin_changes",
        "started_at",
        "ended_at",
        "votes",
        "merged",
    ]


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@a", "\ta", "\ra", "\na"])
def test_a_cell_a_spreadsheet_would_run_is_defused(cell):
    assert defused(cell) == "'" + cell


def test_other_cells_stay():
    assert [defused(cell) for cell in ("", "a=1", "'=1", "<10")] == ["", "a=1", "'=1", "<10"]


def test_a_flat_row_holds_lists_as_lines():
    cells = dict(zip(FLAT, flat(row(3, "=c", ["=a", "b"], categories=("hate", "other"))), strict=True))

    assert (cells["text"], cells["context"], cells["categories"]) == ("'=c", "'=a\nb", "hate\nother")
    assert (cells["tie"], cells["number"], cells["worker"]) == ("false", 3, None)


@pytest.mark.parametrize(
    ("lines", "imported", "shown"),
    [
        (["i live alone."], False, ("your persona: i live alone.",)),
        (["your persona: i live alone.", "Steak"], False, ("your persona: i live alone.", "Steak")),
        (["i live alone."], True, ("i live alone.",)),
        ([], False, ()),
    ],
)
def test_persona_lines_get_their_mark_once(lines, imported, shown):
    assert shown_persona(lines, imported=imported) == shown


# -- the text format -----------------------------------------------------------------------------------------


def test_a_line_is_five_fields_in_order():
    line = parlai.line(row(2, "Go away.", ["Hi."], label="notok", persona=PERSONA))

    assert line == (
        "text:Hi.\\nGo away.\tlabels:__notok__\tepisode_done:True\tspeaker_to_eval:bot"
        "\tbot_persona:your persona: i live alone.\\nSteak \n"
    )


def test_a_bot_without_a_persona_is_nan():
    assert parlai.line(row()).endswith("\tbot_persona:nan\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb", "a b"),
        ("a\nb\r\nc", "a b c"),
        ("C:\\new\\temp", "C:\\ new\\ temp"),
        ("a|b", "a__PIPE__b"),
        ("ends \\", "ends \\"),
        (" spaces stay  ", " spaces stay  "),
    ],
)
def test_what_would_break_a_row_is_written_otherwise(text, shown):
    assert parlai.escaped(text) == shown


@given(st.lists(st.text(min_size=1, max_size=40), min_size=3, max_size=6))
def test_whatever_people_say_a_row_keeps_five_fields_and_its_utterances(texts):
    last = parlai.line(chat_of(texts)[-1])

    plain = last.replace("\\t", "\t").replace("\\n", "\n")
    assert last.count("\n") == 1
    assert [part.split(":")[0] for part in plain.split("\t")] == list(parlai.FIELDS)
    assert len(plain.split("\t")[0].split("\n")) == len(texts)


def test_the_format_holds_a_chat_up_to_the_first_without_a_label():
    chat = chat_of(["a", "b", "c", "d", "e"], ["ok", "notok", "ok", None, "ok"])

    assert [one.number for one in parlai.rows_of(chat)] == [1, 2, 3]
    assert list(parlai.rows_of(chat[3:])) == []
    assert list(parlai.rows_of(chat_of(["a", "b"]))) == []


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=30)


@given(st.lists(st.lists(TEXTS, min_size=3, max_size=6), min_size=1, max_size=4))
def test_what_is_written_can_be_read_and_written_again_byte_for_byte(chats):
    lines = [line for texts in chats for line in written(texts, persona=PERSONA)]

    read = list(parlai.read(lines))

    assert [len(chat.texts) for chat in read] == [len(texts) for texts in chats]
    again = [line for chat in read for line in written(chat.texts, persona=chat.persona)]
    assert b"".join(again) == b"".join(lines)


def test_reading_gives_texts_labels_and_persona():
    lines = [parlai.line(one).encode() for one in chat_of(["a|b", "c", "d"], ["ok", "notok", "ok"], PERSONA)]

    (chat,) = parlai.read(lines)

    assert (chat.texts, chat.ok, chat.persona, chat.line) == (
        ["a|b", "c", "d"],
        [True, False, True],
        PERSONA,
        1,
    )


GOOD = written(["a", "b", "c"])


@pytest.mark.parametrize(
    ("at", "old", "new", "reason"),
    [
        (
            1,
            b"text:a\\nb",
            b"text:x\\nb",
            "its text has 2 utterances and does not go on from the line before.",
        ),
        (1, b"a\\nb", b"a\\n", "utterance 2 is empty."),
        (1, b"a\\nb", b"a\\nb" + b"x" * 2000, "utterance 2 has 2,001 characters, over 2,000."),
        (1, b"__ok__", b"ok", "labels is 'ok', neither __ok__ nor __notok__."),
        (1, b"True", b"False", "episode_done is 'False', not True."),
        (1, b":bot", b":human", "speaker_to_eval is 'human'; utterance 2 is the bot's."),
        (1, b"nan", b"me", "its bot_persona is not that of the lines before in the same chat."),
        (1, b"nan", b"", "bot_persona is empty; of a bot without a persona it is nan."),
        (1, b"\tlabels", b"labels", "it has 4 fields parted by tabs, not 5."),
        (1, b"labels:", b"label:", "a field begins with 'label:__ok__', where labels: should stand."),
        (1, b"a\\nb", b"a\\nb\\t", "text holds \\t: readers of the format take it for the end of a field."),
        (1, b"a\\nb", b"a\\nb|", "text holds a |, which the format writes as __PIPE__."),
        (1, b"a\\nb", b"a\\nb\x00", "text holds the control character U+0000."),
        (1, b"a\\nb", b"a\\nb\xe2\x80\xa8", "text holds the control character U+2028."),
        (1, b"a\\nb", b"a\\nb\xff", "byte 10 is not UTF-8. Save the file as UTF-8."),
        (1, b"\n", b"\r\n", "it ends with a carriage return. Save the file with LF line ends."),
        (0, GOOD[0], GOOD[1], "its text has 2 utterances and does not go on from the line before."),
    ],
)
def test_a_bad_line_is_told_by_number_and_reason(at, old, new, reason):
    lines = list(GOOD)
    lines[at] = lines[at].replace(old, new)

    with pytest.raises(parlai.LineError) as refusal:
        list(parlai.read(lines))

    assert refusal.value.number == at + 1
    assert refusal.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("lines", "number", "reason"),
    [
        ([], 1, "the file is empty."),
        ([*GOOD, b"\n"], 4, "it is blank."),
        ([*GOOD, *GOOD[:2]], 4, "the chat that begins here has 2 utterances."),
        (written([str(n) for n in range(41)]), 41, "the chat has more than 40 utterances."),
    ],
)
def test_a_file_that_is_no_dataset_is_refused(lines, number, reason):
    with pytest.raises(parlai.LineError) as refusal:
        list(parlai.read(lines))

    assert refusal.value.number == number
    assert refusal.value.reason.startswith(reason)


def test_the_last_line_may_lack_its_end():
    (chat,) = parlai.read([*GOOD[:2], GOOD[2].removesuffix(b"\n")])

    assert len(chat.texts) == 3


# -- splits --------------------------------------------------------------------------------------------------


def chats(count, bots=2, split=""):
    return [Candidate(number, number % bots, split) for number in range(count)]


def sizes(found):
    return [list(found.values()).count(name) for name in ("train", "valid", "test")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0.8,0.1,0.1", (0.8, 0.1, 0.1)),
        ("5080, 513, 191", (5080, 513, 191)),
        ("1,0,0", (1.0, 0.0, 0.0)),
        ("0,0,5", (0, 0, 5)),
    ],
)
def test_splits_are_shares_or_counts(text, found):
    assert parse(text) == found


@pytest.mark.parametrize(
    "text", ["", "0.8,0.2", "0.8,0.1,0.2", "-1,1,1", "a,b,c", "nan,0,1", "1e3,0,0", "٣,0,0"]
)
def test_other_splits_are_refused(text):
    with pytest.raises(SplitError):
        parse(text)


@given(st.integers(0, 60), st.integers(1, 4), st.integers(0, 99))
def test_whole_chats_are_drawn_by_share_and_the_same_seed_draws_the_same(count, bots, seed):
    found = assign(chats(count, bots), "0.8,0.1,0.1", seed)

    assert list(found) == list(range(count))
    assert sizes(found) == [count - 2 * round(count * 0.1), round(count * 0.1), round(count * 0.1)]
    assert assign(chats(count, bots), "0.8,0.1,0.1", seed) == found


def test_another_seed_draws_others():
    assert assign(chats(50), "0.8,0.1,0.1", 0) != assign(chats(50), "0.8,0.1,0.1", 1)


def test_test_is_balanced_over_the_bots_whatever_each_has():
    few = [Candidate(n, 1, "") for n in range(3)]
    many = [Candidate(n, 2, "") for n in range(10, 100)]

    found = assign([*few, *many], "83,0,10", 0)

    in_test = [chat for chat, split in found.items() if split == "test"]
    assert (sum(chat < 10 for chat in in_test), len(in_test)) == (3, 10)


def test_fixed_chats_keep_their_split_and_count_towards_it():
    fixed = [Candidate(n, 0, "test") for n in range(4)]
    free = [Candidate(n, n % 2, "") for n in range(10, 26)]

    found = assign([*fixed, *free], "10,4,6", 0)

    assert sizes(found) == [10, 4, 6]
    drawn = [chat for chat, split in found.items() if split == "test" and chat >= 10]
    assert [chat % 2 for chat in drawn] == [1, 1]


def test_too_many_fixed_chats_leave_less_for_train():
    assert sizes(assign(chats(10, split="valid"), "0.8,0.1,0.1", 0)) == [0, 10, 0]


def test_counts_have_to_add_up():
    with pytest.raises(SplitError, match="add up to 9, and there are 10 chats"):
        assign(chats(10), "7,1,1", 0)


# -- privacy -------------------------------------------------------------------------------------------------


def test_a_pseudonym_hangs_on_key_kind_and_number():
    names = Pseudonyms("k")

    assert names.of("person", 1) == Pseudonyms("k").of("person", 1)
    assert (
        len(
            {
                names.of("person", 1),
                names.of("person", 2),
                names.of("bot", 1),
                Pseudonyms("l").of("person", 1),
            }
        )
        == 4
    )
    assert len(names.of("person", 1)) == 16


def test_a_key_hangs_on_the_secret_and_every_part():
    assert derived_key("s", "a", 1) == derived_key("s", "a", 1)
    assert len({derived_key("s", "a", 1), derived_key("t", "a", 1), derived_key("s", "a", 2)}) == 3


@pytest.mark.parametrize(
    ("text", "email", "number", "shown"),
    [
        ("Write to a.b@example.org!", True, False, "Write to [email]!"),
        ("Call +44 20 7946 0958 now", False, True, "Call [number] now"),
        ("Call (555) 123-4567", False, True, "Call ([number]"),
        ("Born in 1984, 99 years, 10,000 dollars", False, False, None),
        ("12345 and 67890", False, False, None),
        ("@nobody, a @ b", False, False, None),
    ],
)
def test_addresses_and_long_numbers_are_found_and_masked(text, email, number, shown):
    assert (has_email(text), has_number(text)) == (email, number)
    assert masked(text) == (shown or text)
