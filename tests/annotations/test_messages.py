import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.domain.messages import MessageError, clean_message, signals


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  hi  ", "hi"),
        ("a\tb\nc\r\nd", "a b c d"),
        ("a\x00b\x1bc", "abc"),
        ("a\u2028b", "a b"),
        ("half \ud800 pair", "half  pair"),
        ("שלום \u200f!", "שלום \u200f!"),
        ("x" * 2000, "x" * 2000),
    ],
)
def test_a_message_becomes_one_line(raw, clean):
    assert clean_message(raw) == clean


@given(st.text(max_size=3000))
def test_whatever_is_taken_fits_a_line_of_the_export(raw):
    try:
        text = clean_message(raw)
    except MessageError as error:
        assert error.code == ("too_long" if len(raw) > 2000 else "empty")
        return

    assert 0 < len(text) <= 2000
    assert text == text.strip()
    assert text.splitlines() == [text]
    assert "\t" not in text
    assert text.encode()


def test_signals_tell_what_a_researcher_would_like_to_know():
    messages = ["Hi", "HELLO THERE YOU", "What do you think of it?", "what do you think of it", "42"]

    found = signals(messages)

    assert found == [
        frozenset({"short", "greeting"}),
        frozenset({"capitals"}),
        frozenset(),
        frozenset({"repeat"}),
        frozenset({"short"}),
    ]
