"""AC, accuracy: does a bot answer as its question-and-answer file says?

The issue that most respondents of the paper's survey missed; the measure is our choice. A reply is right where it
holds one of the question's answers, word by word or with most of its words (F1 of the shared words, as in P. Rajpurkar
and others, SQuAD, EMNLP 2016, DOI 10.18653/v1/D16-1264).
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bots.checkers.words import words

VERSION = "1"
SHARED = 0.5
"""The F1 from which on a reply counts as right."""
LARGEST = 10_000_000
"""Bytes of a question-and-answer file, at most."""

Answers = Mapping[str, tuple[tuple[str, ...], ...]]
"""By a question's words joined: the words of each of its answers."""


class AnswersError(ValueError):
    """What is wrong with a question-and-answer file."""


def load(path: Path) -> Answers:
    """Questions and answers of a CSV file (columns question, answer) or JSON lines (question, answer or answers).

    A question may stand several times, with an answer each. Raises AnswersError.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise AnswersError(f"{path.name} is larger than {LARGEST:,} bytes.")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise AnswersError(f"{path.name} cannot be read: {error}.") from error
    found: dict[str, list[tuple[str, ...]]] = {}
    for question, answer in _json(text) if text.lstrip().startswith("{") else _csv(text):
        if not words(question) or not words(answer):
            raise AnswersError(f"{path.name}: a question or an answer has no words: {question[:60]!r}.")
        found.setdefault(key(question), []).append(tuple(words(answer)))
    if not found:
        raise AnswersError(f"{path.name} holds no question. It needs the columns question and answer.")
    return {question: tuple(answers) for question, answers in found.items()}


def _csv(text: str) -> Iterator[tuple[str, str]]:
    for row in csv.DictReader(text.splitlines()):
        lowered = {str(name).strip().lower(): value for name, value in row.items()}
        if lowered.get("question") and lowered.get("answer"):
            yield str(lowered["question"]), str(lowered["answer"])


def _json(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                row: Any = json.loads(line)
                answers = row["answers"] if "answers" in row else [row["answer"]]
                yield from ((str(row["question"]), str(answer)) for answer in answers)
            except (ValueError, KeyError, TypeError) as error:
                raise AnswersError(f"Line {number} needs a question and an answer (or answers).") from error


def key(question: str) -> str:
    """What two ways of writing the same question share."""
    return " ".join(words(question))


def is_right(reply: str, answers: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a reply holds one of the answers, or shares enough of its words."""
    said = words(reply)
    return any(_holds(said, answer) or _f1(said, answer) >= SHARED for answer in answers)


def _holds(said: list[str], answer: tuple[str, ...]) -> bool:
    size = len(answer)
    return any(tuple(said[at : at + size]) == answer for at in range(len(said) - size + 1))


def _f1(said: list[str], answer: tuple[str, ...]) -> float:
    shared = (Counter(said) & Counter(answer)).total()
    return 2 * shared / (len(said) + len(answer)) if shared else 0.0
