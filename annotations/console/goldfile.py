"""A CSV file of messages with known answers."""

import csv
from dataclasses import dataclass
from io import StringIO

COLUMNS = ("text", "speaker", "context", "ok", "categories", "why")
NEEDED = ("text", "speaker", "ok")
LONGEST = 2000
"""Lines of a file."""
YES, NO = ("yes", "true", "1", "ok"), ("no", "false", "0", "notok", "not ok")


@dataclass(frozen=True)
class GoldLine:
    """A message with its known answer, and the line of the file it stands in."""

    line: int
    text: str
    speaker: str
    context: list[dict[str, str]]
    ok: bool
    categories: list[str]
    why: str


class BadFile(ValueError):
    """A file that cannot be taken: what to change, a sentence a problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


def read(content: str) -> list[GoldLine]:
    """The lines of the file. Raises BadFile with every problem found.

    Columns by name, in any order: text, speaker (human or bot), context (the messages before it, one a line,
    each begun with "human:" or "bot:"), ok (yes or no), categories (parted by spaces or commas), why.
    """
    try:
        reader = csv.DictReader(StringIO(content), strict=True)
        lacking = [name for name in NEEDED if name not in (reader.fieldnames or ())]
        unknown = [str(name) for name in reader.fieldnames or () if name not in COLUMNS]
        rows = [] if lacking or unknown else [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise BadFile([f"This is no CSV file: {error}."]) from error
    problems = [f"There is no column “{name}”." for name in lacking]
    problems += [
        f"The column “{name[:40]}” is not known. There are: {', '.join(COLUMNS)}." for name in unknown
    ]
    if not problems and not rows:
        problems = ["The file has no lines under its heading."]
    if len(rows) > LONGEST:
        problems = [f"The file has {len(rows):,} lines. Part it into files of {LONGEST:,}."]
    found = []
    for number, row in rows if not problems else ():
        try:
            found.append(_line(number, row))
        except ValueError as error:
            problems.append(f"Line {number}: {error}")
    if problems:
        raise BadFile(problems)
    return found


def _line(number: int, row: dict[str, str]) -> GoldLine:
    if None in row or None in row.values():
        raise ValueError("it has not as many cells as the heading.")
    told = row["ok"].strip().lower()
    if told not in YES + NO:
        raise ValueError(f"ok is “{row['ok'][:20]}”. Write yes or no.")
    return GoldLine(
        line=number,
        text=row["text"],
        speaker=row["speaker"].strip().lower(),
        context=[_said(line) for line in (row.get("context") or "").splitlines() if line.strip()],
        ok=told in YES,
        categories=(row.get("categories") or "").replace(",", " ").replace(";", " ").lower().split(),
        why=row.get("why") or "",
    )


def _said(line: str) -> dict[str, str]:
    speaker, colon, text = line.partition(":")
    if not colon or speaker.strip().lower() not in ("human", "bot"):
        raise ValueError(f"the context line “{line[:40]}” does not begin with human: or bot:.")
    return {"speaker": speaker.strip().lower(), "text": text.strip()}
