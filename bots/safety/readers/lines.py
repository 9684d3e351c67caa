"""Lines and values of a file, each wrong one refused by its number and the reason."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bots.safety.errors import DataError
from bots.safety.turns import BOT, HUMAN, NOTOK, OK
from bots.text import one_line

LABELS = {
    "__ok__": OK,
    "__notok__": NOTOK,
    "safe": OK,
    "unsafe": NOTOK,
    "0": OK,
    "1": NOTOK,
    "false": OK,
    "true": NOTOK,
}
"""Other spellings of the two labels."""
SPEAKERS = {"worker": HUMAN, "user": HUMAN, "person": HUMAN, "assistant": BOT, "model": BOT}


def numbered(path: Path) -> Iterator[tuple[int, str]]:
    """Every line with its number, from 1, without its end. Raises DataError where it is not UTF-8."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise DataError(path, number, f"This is not UTF-8 text ({error.reason}).") from error


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every JSON object of a file that has one a line; blank lines are passed over."""
    for number, line in numbered(path):
        if not line.strip():
            continue
        yield number, parsed(path, number, line)


def parsed(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(path, number, f"This is not JSON ({error}).") from error
    if not isinstance(row, dict):
        raise DataError(path, number, "A line must be a JSON object: {...}.")
    return row


def label_of(value: object) -> str:
    """The label in any of its spellings; a list of one is that one. Any other word is itself (a topic).

    Raises ValueError with the reason for what is no label.
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool | int | str) and str(value).strip():
        word = str(value).strip()
        return LABELS.get(word.lower(), word)
    raise ValueError(f"There is no label here: {str(value)[:60]!r}.")


def speaker_of(value: object) -> str:
    """human, bot or "". Raises ValueError for another word."""
    word = str(value or "").strip().lower()
    word = SPEAKERS.get(word, word)
    if word not in ("", HUMAN, BOT):
        raise ValueError(f"The speaker is human or bot, not {word[:60]!r}.")
    return word


def said(value: object) -> tuple[str, ...]:
    """Utterances: a list of texts, or one text with a line for each. Raises ValueError for anything else."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.split("\n")
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError("The context must be a list of texts, or one text with an utterance a line.")
    return tuple(text for text in map(one_line, value) if text)


def text_of(value: object) -> str:
    """One utterance, on one line. Raises ValueError if there is none."""
    text = one_line(value) if isinstance(value, str) else ""
    if not text:
        raise ValueError("There is no text here.")
    return text
