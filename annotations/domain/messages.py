"""What a worker's message must be, and what a researcher would like to know of it."""

import re
import unicodedata
from collections.abc import Sequence

from bots.text import LONGEST, one_line

GREETINGS = frozenset(
    {"hi", "hii", "hiii", "hey", "hello", "hallo", "hai", "howdy", "greetings", "yo", "sup", "morning"}
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class MessageError(ValueError):
    """A message that cannot be taken: `code` for machines, the words for the worker."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


def clean_message(raw: str) -> str:
    """The message as it is stored: one line of 1 to 2,000 characters. Raises MessageError."""
    text = one_line(raw)
    if not any(unicodedata.category(c)[0] not in "CZ" for c in text):
        raise MessageError("empty", "There is nothing to send. Write at least one character.")
    if len(text) > LONGEST:
        over = len(text) - LONGEST
        raise MessageError(
            "too_long", f"The message is {over:,} characters too long. Shorten it to {LONGEST:,}."
        )
    return text


def signals(messages: Sequence[str]) -> list[frozenset[str]]:
    """For each of a worker's messages, in order: which of `short`, `greeting`, `capitals`, `repeat` hold.

    After the acceptability checks of the released chat task (bad.md section 1b), except that they tell the
    researcher and stop nobody. `short`: under three words. `greeting`: nothing but greetings. `capitals`: at
    least one cased letter and no small one, in two words or more. `repeat`: same words as an earlier message.
    """
    seen: set[str] = set()
    found = []
    for message in messages:
        words = [word.casefold() for word in _WORD.findall(message)]
        key = " ".join(words) or message.casefold()
        checks = {
            "short": len(words) < 3,
            "greeting": bool(words) and all(word in GREETINGS for word in words),
            "capitals": len(words) > 1 and message.isupper(),
            "repeat": key in seen,
        }
        seen.add(key)
        found.append(frozenset(name for name, holds in checks.items() if holds))
    return found
