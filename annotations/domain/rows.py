"""The one definition of a row: an utterance of a chat with all that was said of it. Every format is made of these."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

PERSONA = "your persona: "
"""What a persona line begins with in the released data."""

SPLITS = ("train", "valid", "test")


class ExportRow(NamedTuple):
    """An utterance. `COLUMNS` says what each field means; None stands for what there is not."""

    split: str
    chat: str
    number: int
    speaker: str
    text: str
    context: tuple[str, ...]
    persona: tuple[str, ...]
    label: str | None
    tie: bool
    categories: tuple[str, ...]
    ok_votes: int
    notok_votes: int
    probability: float | None
    bin: str | None
    worker: str | None
    bot: str | None
    instruction_set: str | None
    chats_before: int
    state: str
    imported: bool
    has_email: bool
    has_number: bool
    at: str
    bin_at: str | None
    bin_changes: int
    started_at: str
    ended_at: str | None
    votes: Sequence[Mapping[str, Any]]
    merged: Mapping[str, Mapping[str, Any]]


class Column(NamedTuple):
    """`kind`: text, texts (a list of them), whole, real, flag, or (JSON lines only) objects."""

    kind: str
    meaning: str


COLUMNS = {
    "split": Column("text", "`train`, `valid` or `test`: the same for every row of a chat"),
    "chat": Column("text", "the chat, under a pseudonym"),
    "number": Column(
        "whole", "place of the utterance in the chat, from 1; odd: the worker's, even: the bot's"
    ),
    "speaker": Column("text", "`human` or `bot`"),
    "text": Column("text", "the utterance"),
    "context": Column("texts", "the utterances before it, oldest first"),
    "persona": Column("texts", "the persona lines the bot was given; none for a bot without a persona"),
    "label": Column("text", "`ok` or `notok`, merged under the export's rule; null where it gave none"),
    "tie": Column("flag", "as many judgements for as against; the study's setting chose the label"),
    "categories": Column("texts", "of what is not OK: `hate`, `attack`, `profanity`, `other`"),
    "ok_votes": Column("whole", "judgements the rule counted as OK"),
    "notok_votes": Column("whole", "judgements the rule counted as not OK"),
    "probability": Column("real", "of not OK, where the rule is a model of the verifiers; else null"),
    "bin": Column("text", "the worker's label while chatting: `0`, `<10`, `<50` or `>=50`; null where none"),
    "worker": Column("text", "who wrote the chat, under a pseudonym; null in imported chats"),
    "bot": Column("text", "the bot, under a pseudonym; null in imported chats"),
    "instruction_set": Column("text", "short name of the instructions the worker had; null where none"),
    "chats_before": Column("whole", "chats the worker had done in the study before this one"),
    "state": Column("text", "`complete`, or `partial`: ended early, with enough in it to count"),
    "imported": Column("flag", "the chat came in from a file"),
    "has_email": Column("flag", "the text holds, or held before it was masked, an e-mail address"),
    "has_number": Column("flag", "the same for a long number, such as one of a telephone"),
    "at": Column("text", "when it was said: ISO 8601 with the offset from UTC"),
    "bin_at": Column("text", "when the worker's label was set; null where there is none"),
    "bin_changes": Column("whole", "how often the worker changed it"),
    "started_at": Column("text", "when the chat began"),
    "ended_at": Column("text", "when it ended"),
    "votes": Column("objects", "every verifier's vote, in the order they were cast"),
    "merged": Column("objects", "the merged label under each rule, by the rule's name"),
}
"""What each field of a row is, in order."""

_ONLY_JSONL = ("bin_at", "bin_changes", "started_at", "ended_at", "votes", "merged")
FLAT = tuple(name for name in COLUMNS if name not in _ONLY_JSONL)
"""The columns of CSV and Parquet, and of the folder for `datasets`."""
JSONL = tuple(name for name in COLUMNS if name != "context")
"""The keys of JSON lines. No context: the rows of a chat stand together, so it is the rows above."""

VOTE = {
    "verifier": "who voted, under a pseudonym: the same person has the same one as a worker",
    "ok": "whether it is OK to send",
    "categories": "what is wrong with it, where it is not OK",
    "note": "what the verifier wrote beside it",
    "seconds": "from shown to voted; null where it is not known",
    "at": "when it was cast",
    "changes": "how often the verifier changed it",
    "counts": "false where a researcher has set it aside: no rule counts it",
}
MERGED = {
    "version": "of the rule, with its settings",
    "label": "`ok`, `notok`, or null where the rule gave none",
    "tie": "as above",
    "ok_votes": "as above",
    "notok_votes": "as above",
    "categories": "as above",
    "category_ties": "categories that exactly half of them named",
    "probability": "as above",
}


def shown_persona(lines: Sequence[str], *, imported: bool) -> tuple[str, ...]:
    """A stored persona as the released data writes it.

    That of an imported chat is as it was read. Else each line gets its mark, unless one has it already: in the
    released data the third line, a topic, has none.
    """
    if imported or any(line.startswith(PERSONA) for line in lines):
        return tuple(lines)
    return tuple(PERSONA + line for line in lines)


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def defused(cell: str) -> str:
    """`cell`, with a ' before it where a spreadsheet would run it (OWASP, "CSV Injection")."""
    return "'" + cell if cell.startswith(_FORMULA) else cell


def flat(row: ExportRow) -> list[Any]:
    """The cells of a row in FLAT's order, as CSV holds them: lists as lines, yes and no as true and false."""
    return [_cell(getattr(row, name)) for name in FLAT]


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return defused(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return defused("\n".join(value))
    return value
