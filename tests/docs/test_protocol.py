"""docs/protocol.md tells the protocol as the code has it: verbs, keys, error codes, events, close codes."""

import ast
import re
from pathlib import Path

from annotations.chats import consumers
from annotations.chats.models import Dialogue
from annotations.domain.turns import BINS, Turn

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text()
FILES = ["consumers.py", "services.py", "answering.py"]


def table(heading):
    """The first two cells of each row of the table under a heading, without their code marks."""
    part = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in part.splitlines() if line.startswith("| `")]
    return {first.strip(" `"): re.findall(r"`([^`]+)`", second) for first, second in rows}


def calls(name, position):
    """The text given at `position` in every call of `name` in the chat's files."""
    found = set()
    for file in FILES:
        for node in ast.walk(ast.parse((ROOT / "annotations" / "chats" / file).read_text())):
            called = getattr(
                getattr(node, "func", None), "id", getattr(getattr(node, "func", None), "attr", "")
            )
            if called == name and len(node.args) > position and isinstance(node.args[position], ast.Constant):
                found.add(node.args[position].value)
    return found


def test_every_verb_with_its_keys():
    assert table("Requests") == {verb: list(keys) for verb, keys in consumers.VERBS.items()}


def test_every_error_code():
    written = set(table("Errors"))

    at_the_start = {"study_not_open", "enough_chats", "no_chats_needed"}  # of REST, before there is a socket
    raised = calls("Refused", 0) | calls("_refuse", 1) | {"empty", "too_long", "server_error"}
    assert raised - at_the_start == written


def test_every_event():
    source = "".join((ROOT / "annotations" / "chats" / file).read_text() for file in FILES)

    assert set(re.findall(r'"event": "(\w+)"', source)) == set(table("Events"))


def test_the_close_codes():
    for code in (consumers.NOT_SIGNED_IN, consumers.NO_SUCH_CHAT, consumers.TOO_MUCH):
        assert str(code) in PAGE.split("Close codes:")[1]


def test_the_words_of_a_chat():
    words = PAGE.split("`chat`:")[1].split("\n\n")[0]
    turns = [*Turn, "stalled"]

    assert [f"`{word}`" in words for word in [*turns, *Dialogue.State.values]] == [True] * (len(turns) + 4)
    assert [f"`{bin_}`" in PAGE for bin_ in BINS] == [True] * 4


def test_the_longest_frame():
    assert f"{consumers.LONGEST_FRAME:,}" in PAGE
