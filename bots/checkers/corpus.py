"""Dialogues out of a file, one utterance at a time: bAbI dialog text, JSON lines, CSV and the BAD format.

Whatever the file's size, one line of it is held at a time. A line that cannot be read is skipped, counted and told;
a file without one readable utterance is refused.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bots.text import one_line

Speaker = Literal["human", "bot"]
Format = Literal["babi", "jsonl", "csv", "bad"]
FORMATS: tuple[Format, ...] = ("babi", "jsonl", "csv", "bad")

LONGEST_LINE = 1_000_000
"""Bytes of a line, at most: longer ones are skipped as broken, so that no file fills the memory."""
TOLD = 20
"""Broken lines that are told one by one; the rest are only counted."""

_HUMANS = frozenset({"human", "user", "person", "worker", "customer", "speaker 1", "0"})
_BOTS = frozenset({"bot", "assistant", "machine", "agent", "chatbot", "system", "speaker 2", "model", "1"})
_DIALOGUE = ("dialogue", "dialogue_id", "dialog_id", "dialog", "conversation_id", "chat")
_SPEAKER = ("speaker", "role", "agent_idx", "id")
_TEXT = ("text", "utterance", "content")
_LISTS = ("utterances", "messages", "dialogue", "dialog")
_BABI = re.compile(r"(\d+) (.*)")


class CorpusError(ValueError):
    """Why a file cannot be read as a corpus, and what to do."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message: which dialogue it stands in, its place there (from 1), who said it, and its text in one line."""

    dialogue: str
    number: int
    speaker: Speaker
    text: str


@dataclass
class Broken:
    """The lines that could not be read: how many, and the first of them with the reason."""

    count: int = 0
    told: list[str] = field(default_factory=list)

    def add(self, line: int, why: str) -> None:
        self.count += 1
        if len(self.told) < TOLD:
            self.told.append(f"line {line}: {why}")


def read(path: Path, *, format_: Format | None = None, broken: Broken | None = None) -> Iterator[Utterance]:
    """The utterances of a file in their order; the rows of one dialogue must stand together.

    `format_`: what the file is; found by its name and first line where it is None. `broken` is told of the lines
    that were skipped. Raises CorpusError for a file that is in none of the formats or holds no utterance.
    """
    skipped = broken if broken is not None else Broken()
    readers = {"babi": _babi, "jsonl": _jsonl, "csv": _csv, "bad": _bad}
    reader = readers[format_ or find_format(path)]
    empty = True
    for utterance in reader(path, skipped):
        empty = False
        yield utterance
    if empty:
        reasons = f" The first problem is in {skipped.told[0]}." if skipped.told else ""
        raise CorpusError(f"{path.name} holds no utterance.{reasons}")


def find_format(path: Path) -> Format:
    """What a file is, by its name and its first line that is not empty. Raises CorpusError where it is nothing."""
    first = next((line for _, line in _lines(path, Broken()) if line.strip()), "")
    if not first:
        raise CorpusError(f"{path.name} is empty.")
    if first.startswith("text:") and "\t" in first:
        return "bad"
    if first.lstrip().startswith("{"):
        return "jsonl"
    if path.suffix.lower() != ".csv" and _BABI.match(first):
        return "babi"
    if path.suffix.lower() == ".csv" or _column(_header(first), _TEXT):
        return "csv"
    raise CorpusError(
        f"{path.name} is none of what can be read: bAbI dialog text (`1 hello<TAB>Hi.`), JSON lines, CSV with the"
        " columns dialogue, speaker and text, or the BAD format (`text:...<TAB>labels:...`)."
    )


def _lines(path: Path, broken: Broken) -> Iterator[tuple[int, str]]:
    """Number and text of each line, without its end; those too long or not in UTF-8 are skipped."""
    with path.open("rb") as source:
        number = 0
        while raw := source.readline(LONGEST_LINE):
            number += 1
            if not raw.endswith(b"\n") and len(raw) == LONGEST_LINE:
                while (rest := source.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                broken.add(number, f"longer than {LONGEST_LINE:,} bytes")
                continue
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                broken.add(number, "not in UTF-8")
                continue
            yield number, line.rstrip("\r\n")


def _babi(path: Path, broken: Broken) -> Iterator[Utterance]:
    """A. Bordes, Y.-L. Boureau, J. Weston, ICLR 2017: `N user<TAB>bot`; silence, calls and facts are no utterances."""
    dialogue, at = 0, 0
    for number, line in _lines(path, broken):
        if not line.strip():
            continue
        if (match := _BABI.fullmatch(line)) is None:
            broken.add(number, "does not begin with a number and a space")
            continue
        if match[1] == "1":
            dialogue, at = dialogue + 1, 0
        said, tab, answered = match[2].partition("\t")
        if not tab:
            continue
        turns: tuple[tuple[Speaker, str], ...] = (("human", said), ("bot", answered))
        for speaker, raw in turns:
            text = one_line(raw)
            if text and text != "<SILENCE>" and not text.startswith("api_call"):
                at += 1
                yield Utterance(str(dialogue), at, speaker, text)


def _bad(path: Path, broken: Broken) -> Iterator[Utterance]:
    """J. Xu and others 2021, as released: a row is the chat so far, the last of it said by `speaker_to_eval`."""
    dialogue, before = 0, 0
    for number, line in _lines(path, broken):
        if not line.strip():
            continue
        row = dict(part.partition(":")[::2] for part in line.split("\t"))
        said = row.get("text", "").split("\\n")
        speaker = _speaker(row.get("speaker_to_eval", ""))
        if not said[-1].strip() or speaker is None:
            broken.add(number, "needs text: and speaker_to_eval:human or bot")
            continue
        dialogue += len(said) <= before or not before
        before = len(said)
        yield Utterance(str(dialogue), before, speaker, one_line(said[-1]))


def _csv(path: Path, broken: Broken) -> Iterator[Utterance]:
    rows = csv.reader(line + "\n" for _, line in _lines(path, broken))
    try:
        header = [name.strip().lower() for name in next(rows, [])]
    except csv.Error as error:
        raise CorpusError(f"{path.name} is no CSV: {error}.") from error
    columns = [_column(header, names) for names in (_DIALOGUE, _SPEAKER, _TEXT)]
    if None in columns:
        raise CorpusError(
            f"{path.name} needs the columns dialogue, speaker and text; it has: {', '.join(header)[:200]}."
        )
    places = [header.index(name) for name in columns if name is not None]
    numbers = _Numbers()
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            broken.add(rows.line_num, str(error))
            continue
        if row is None:
            return
        if len(row) <= max(places):
            if row:
                broken.add(rows.line_num, "too few columns")
            continue
        yield from _utterance(numbers, *(row[at] for at in places), broken=broken, line=rows.line_num)


def _jsonl(path: Path, broken: Broken) -> Iterator[Utterance]:
    """A line is an utterance (dialogue, speaker, text), or a dialogue with a list of its utterances."""
    numbers = _Numbers()
    for line, text in _lines(path, broken):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            broken.add(line, "no JSON")
            continue
        if not isinstance(row, dict):
            broken.add(line, "no JSON object")
            continue
        listed = next((row[name] for name in _LISTS if isinstance(row.get(name), list)), None)
        if listed is None:
            yield from _utterance(numbers, *_parts(row), broken=broken, line=line)
            continue
        for one in listed:
            if not isinstance(one, dict):
                broken.add(line, "an utterance that is no JSON object")
            elif one.get("role") != "system":  # the instructions of a chat-completions log: nobody said them
                yield from _utterance(numbers, str(line), *_parts(one)[1:], broken=broken, line=line)


def _parts(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Dialogue, speaker and text of a JSON object; empty where there is none."""
    lowered = {str(name).lower(): value for name, value in row.items()}
    found = (
        next((lowered[name] for name in names if name in lowered), "")
        for names in (_DIALOGUE, _SPEAKER, _TEXT)
    )
    dialogue, speaker, text = found
    return str(dialogue), str(speaker), text if isinstance(text, str) else ""


@dataclass
class _Numbers:
    """Counts the utterances of the dialogue that is being read."""

    dialogue: str | None = None
    at: int = 0

    def next(self, dialogue: str) -> int:
        self.at = self.at + 1 if dialogue == self.dialogue else 1
        self.dialogue = dialogue
        return self.at


def _utterance(
    numbers: _Numbers, dialogue: str, speaker: str, raw: str, *, broken: Broken, line: int
) -> Iterator[Utterance]:
    text, who = one_line(raw), _speaker(speaker)
    if not text:
        broken.add(line, "no text")
    elif who is None:
        broken.add(line, f"the speaker is {speaker[:40]!r}, not human or bot")
    else:
        yield Utterance(dialogue[:200], numbers.next(dialogue), who, text)


def _speaker(name: str) -> Speaker | None:
    lowered = name.strip().lower()
    return "human" if lowered in _HUMANS else "bot" if lowered in _BOTS else None


def _header(line: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in line.split(",")]


def _column(header: list[str], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in header), None)
