"""Conversations to train a bot on: a context and the response to it. JSON lines, ParlAI text, our own studies."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bots.safety import readers
from bots.safety.errors import DataError
from bots.safety.readers import study
from bots.safety.readers.lines import numbered, objects, said, text_of
from bots.safety.turns import BOT, HUMAN, Turn
from bots.text import one_line


@dataclass(frozen=True, slots=True)
class Pair:
    """A response and the utterances before it, oldest first. `author` wrote the response; "" if nobody knows."""

    context: tuple[str, ...]
    response: str
    author: str = ""

    def line(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def asked(self) -> Turn | None:
        """The last utterance of the context, as the person's; None where there is no context."""
        return Turn(self.context[:-1], self.context[-1], HUMAN) if self.context else None

    def answered(self) -> Turn:
        """The response, as the bot's: it is what a bot will learn to say."""
        return Turn(self.context, self.response, BOT)


def read(paths: Sequence[Path]) -> Iterator[Pair]:
    """The pairs of all files, one after another. Raises DataError at the first line that cannot be read."""
    for path in paths:
        yield from _reader(path)


def _reader(path: Path) -> Iterator[Pair]:
    if not path.is_file():
        raise DataError(path, "", "There is no such file.")
    first = next((line for _, line in numbered(path) if line.strip()), "")
    if not first.startswith("{"):
        return _parlai(path)
    if readers.format_of(path) == study.NAME:
        return _study(path)
    return _rows(path)


def _rows(path: Path) -> Iterator[Pair]:
    for number, row in objects(path):
        try:
            yield Pair(said(row.get("context")), text_of(row.get("response")), str(row.get("author") or ""))
        except ValueError as error:
            raise DataError(path, number, str(error)) from error


def _study(path: Path) -> Iterator[Pair]:
    """Every bot utterance of an export, with the chat up to it."""
    chat, before = "", list[str]()
    for number, row in objects(path):
        try:
            if row.get("chat") != chat:
                chat, before = str(row.get("chat")), []
            text = text_of(row.get("text"))
        except ValueError as error:
            raise DataError(path, number, str(error)) from error
        if row.get("speaker") == BOT:
            yield Pair(tuple(before), text, str(row.get("bot") or ""))
        before.append(text)


def _parlai(path: Path) -> Iterator[Pair]:
    """ParlAI's own text: `text:...` TAB `labels:...` TAB `episode_done:True`, an exchange a line, the episode growing
    until it is done. The first of several labels is the response.
    """
    before: list[str] = []
    for number, line in numbered(path):
        if not line.strip():
            continue
        fields = dict(field.partition(":")[::2] for field in line.split("\t"))
        texts = [one_line(_plain(text)) for text in fields.get("text", "").split("\\n")]
        response = one_line(_plain(fields.get("labels", "").split("|")[0]))
        if not any(texts) or not response:
            raise DataError(path, number, "The field 'text' or 'labels' is missing or empty.")
        if response in ("__ok__", "__notok__"):
            raise DataError(path, number, "These are labelled utterances, not responses to learn.")
        before += [text for text in texts if text]
        yield Pair(tuple(before), response, fields.get("author", ""))
        before.append(response)
        if fields.get("episode_done"):  # any value counts, "False" too: so does ParlAI read it
            before = []


def _plain(text: str) -> str:
    return text.replace("\\t", " ").replace("\\n", " ").replace("__PIPE__", "|")


def dumped(value: Any) -> str:
    """JSON as reports are written."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
