import json

import pytest

from bots.checkers import corpus
from bots.checkers.corpus import Broken, CorpusError, Utterance, find_format, read

BABI = (
    "1 <SILENCE>\tHello , how may I help you ?\n2 cheap food\tapi_call R_cuisine\n3 nandos R_phone nandos_phone\n"
    "4 <SILENCE>\tnandos is nice\n\n1 hi\t hello\n"
)
BAD = (
    "text:Hi there\tlabels:__ok__\tepisode_done:True\tspeaker_to_eval:human\tbot_persona:nan\n"
    "text:Hi there\\nHello\tlabels:__ok__\tepisode_done:True\tspeaker_to_eval:bot\tbot_persona:nan\n"
    "text:Again\tlabels:__ok__\tepisode_done:True\tspeaker_to_eval:human\tbot_persona:nan\n"
)


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_babi_dialog_text(tmp_path):
    path = written(tmp_path, "a.txt", BABI)

    assert find_format(path) == "babi"
    assert list(read(path)) == [
        Utterance("1", 1, "bot", "Hello , how may I help you ?"),
        Utterance("1", 2, "human", "cheap food"),
        Utterance("1", 3, "bot", "nandos is nice"),
        Utterance("2", 1, "human", "hi"),
        Utterance("2", 2, "bot", "hello"),
    ]


def test_the_bad_format(tmp_path):
    path = written(tmp_path, "a.txt", BAD)

    assert find_format(path) == "bad"
    assert list(read(path)) == [
        Utterance("1", 1, "human", "Hi there"),
        Utterance("1", 2, "bot", "Hello"),
        Utterance("2", 1, "human", "Again"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "dialogue,speaker,text\n7,human,Hi\n7,bot,Hello\n8,bot,Yes\n",
        "\ufeffrow,dialog_ID,speaker,turn_ID,utterance\n0,7,user,1,Hi\n1,7,machine,1,Hello\n2,8,machine,1,Yes\n",
        'chat,number,speaker,text\n7,1,human,"Hi"\n7,2,bot,"Hello"\n\n8,1,bot,Yes\n',
    ],
)
def test_csv_of_several_makers(tmp_path, content):
    assert list(read(written(tmp_path, "a.csv", content))) == [
        Utterance("7", 1, "human", "Hi"),
        Utterance("7", 2, "bot", "Hello"),
        Utterance("8", 1, "bot", "Yes"),
    ]


def test_csv_with_line_breaks_in_a_cell(tmp_path):
    path = written(tmp_path, "a.csv", 'dialogue,speaker,text\n7,bot,"one\ntwo"\n')

    assert [said.text for said in read(path)] == ["one two"]


@pytest.mark.parametrize(
    "rows",
    [
        [{"dialogue": 7, "speaker": "human", "text": "Hi"}, {"dialogue": 7, "speaker": "bot", "text": "Hello"}],
        [{"chat": "x", "speaker": "Speaker 1", "utterance": "Hi"}, {"chat": "x", "speaker": "Speaker 2", "utterance": "Hello"}],
        [{"messages": [{"role": "system", "content": "Be nice"}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}],
        [{"dialog": [{"id": "human", "text": "Hi"}, {"id": "bot", "text": "Hello"}]}],
        [{"dialog": [{"agent_idx": 0, "text": "Hi"}, {"agent_idx": 1, "text": "Hello"}]}],
    ],
)  # fmt: skip
def test_json_lines_of_several_makers(tmp_path, rows):
    path = written(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))

    assert [(said.number, said.speaker, said.text) for said in read(path)] == [
        (1, "human", "Hi"),
        (2, "bot", "Hello"),
    ]


def test_broken_lines_are_skipped_and_told(tmp_path):
    lines = [
        b'{"dialogue": 1, "speaker": "bot", "text": "Hello"}',
        b"{broken",
        b"[1, 2]",
        b'{"dialogue": 1, "speaker": "martian", "text": "Hello"}',
        b'{"dialogue": 1, "speaker": "bot", "text": "  "}',
        b'{"dialogue": 1, "speaker": "bot", "text": "\xff"}',
        b'{"messages": [3]}',
        b'{"dialogue": 1, "speaker": "bot", "text": "Bye"}',
    ]
    broken = Broken()

    found = list(read(written(tmp_path, "a.jsonl", b"\n".join(lines)), broken=broken))

    assert [said.text for said in found] == ["Hello", "Bye"]
    assert (broken.count, broken.told) == (
        6,
        [
            "line 2: no JSON",
            "line 3: no JSON object",
            "line 4: the speaker is 'martian', not human or bot",
            "line 5: no text",
            "line 6: not in UTF-8",
            "line 7: an utterance that is no JSON object",
        ],
    )


def test_a_line_of_two_megabytes_is_skipped(tmp_path):
    content = b"1 hi\thello\n2 " + b"x" * 2_000_000 + b"\tno\n3 bye\tbye\n"
    broken = Broken()

    found = list(read(written(tmp_path, "a.txt", content), broken=broken))

    assert [said.text for said in found] == ["hi", "hello", "bye", "bye"]
    assert broken.told == ["line 2: longer than 1,000,000 bytes"]


def test_only_twenty_broken_lines_are_told(tmp_path):
    broken = Broken()
    list(read(written(tmp_path, "a.txt", BABI + "nonsense\n" * 50), broken=broken))

    assert (broken.count, len(broken.told)) == (50, corpus.TOLD)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", "", "a.txt is empty"),
        ("a.txt", "\n\n", "a.txt is empty"),
        ("a.txt", "once upon a time\n", "a.txt is none of what can be read"),
        ("a.csv", "a,b,c\n1,2,3\n", "needs the columns dialogue, speaker and text; it has: a, b, c"),
        ("a.csv", "dialogue,speaker,text\n", "holds no utterance"),
        ("a.jsonl", "{}\n", "holds no utterance. The first problem is in line 1: no text"),
        ("a.bin", bytes(range(256)), "is none of what can be read|is empty"),
        ("a.html", "<html><body>No</body></html>", "is none of what can be read"),
    ],
)
def test_what_is_no_corpus_is_refused_in_words(tmp_path, name, content, words):
    with pytest.raises(CorpusError, match=words):
        list(read(written(tmp_path, name, content)))


def test_one_utterance_is_a_corpus(tmp_path):
    assert list(read(written(tmp_path, "a.jsonl", '{"speaker": "bot", "text": "Hi"}'))) == [
        Utterance("", 1, "bot", "Hi")
    ]


def test_control_characters_do_not_get_through(tmp_path):
    path = written(tmp_path, "a.jsonl", json.dumps({"speaker": "bot", "text": "\x1b[31mred\x00\nline"}))

    assert next(read(path)).text == "[31mred line"


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    import tracemalloc

    path = written(tmp_path, "a.txt", "1 hi\thello\n2 more\tand more\n" * 5_000)
    tracemalloc.start()
    count = sum(1 for _ in read(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == 20_000
    assert peak < 500_000
