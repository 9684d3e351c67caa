"""Chats read and written by the statements of rows.py, planned once."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from django.db import DatabaseError, connection

from annotations.chats.models import Dialogue, Utterance
from annotations.rows import columns, for_update, insert, load, run, update
from bots.models import Bot

__all__ = [
    "BIGGEST",
    "belongs",
    "claimed",
    "insert",
    "locked",
    "safely",
    "said_in",
    "update",
    "utterance_in",
    "waiting_before",
]

T = TypeVar("T")
BIGGEST = 2**63 - 1
"""No key is greater; SQLite would not even compare."""


def safely(verb: Callable[..., T], **values: Any) -> T:
    """What `verb` gives, run on this thread's own connection; once more where it was the connection that broke.

    For threads that keep their connection, and verbs that may be run twice.
    """
    try:
        return verb(**values)
    except DatabaseError:
        connection.close()
        return verb(**values)


def locked(dialogue_id: int, **where: int) -> Dialogue | None:
    """The chat with its row locked until the transaction ends, if it is there and `where` (its columns) holds.

    Its bot comes with it, unlocked, with the settings of now.
    """
    if dialogue_id > BIGGEST:
        return None
    query = _select_chat(tuple(where)) + for_update("annotations_dialogue")
    return _chat(query, [dialogue_id, *where.values()])


def belongs(dialogue_id: int, *, worker_id: int) -> bool:
    """Whether there is such a chat and it is that worker's."""
    query = "SELECT 1 FROM annotations_dialogue WHERE id = %s AND worker_id = %s"
    return dialogue_id <= BIGGEST and bool(run(query, [dialogue_id, worker_id]))


def claimed(dialogue_id: int, *, number: int, now: datetime, until: datetime) -> Dialogue | None:
    """The chat that owes the reply to utterance `number`, claimed until then; None where nobody may claim it.

    One conditional statement: of any number of processes that come at once, one gets the row.
    """
    prepared = connection.ops.adapt_datetimefield_value
    won = run(
        "UPDATE annotations_dialogue SET leased_until = %s WHERE id = %s AND said = %s AND state = 'open'"
        " AND asked_at IS NOT NULL AND stalled_at IS NULL AND (leased_until IS NULL OR leased_until < %s)"
        " RETURNING id",
        [prepared(until), dialogue_id, number, prepared(now)],
    )
    return _chat(_select_chat(()), [dialogue_id]) if won else None


def waiting_before(dialogue: Dialogue) -> int:
    """How many other chats wait for a reply of the same bot and asked earlier."""
    ((count,),) = run(
        "SELECT count(*) FROM annotations_dialogue WHERE bot_id = %s AND asked_at < %s"
        " AND state = 'open' AND stalled_at IS NULL",
        [dialogue.bot_id, connection.ops.adapt_datetimefield_value(dialogue.asked_at)],
    )
    return int(count)


def said_in(dialogue: Dialogue) -> list[tuple[int, str, str | None]]:
    """Number, text and client id of every utterance, in order."""
    return run(
        "SELECT number, text, client_id FROM annotations_utterance WHERE dialogue_id = %s ORDER BY number",
        [dialogue.pk],
    )


def utterance_in(dialogue: Dialogue, number: int) -> Utterance:
    """One utterance of the chat. Raises ValueError where there is none of that number."""
    query = f"SELECT {columns(Utterance)} FROM annotations_utterance WHERE dialogue_id = %s AND number = %s"  # noqa: S608 names of our own columns
    (row,) = run(query, [dialogue.pk, number])
    utterance = load(Utterance, row)
    utterance.dialogue = dialogue
    return utterance


def _chat(query: str, values: Sequence[Any]) -> Dialogue | None:
    for row in run(query, values):
        width = len(Dialogue._meta.concrete_fields)
        dialogue = load(Dialogue, row[:width])
        dialogue.bot = load(Bot, row[width:])
        return dialogue
    return None


@cache
def _select_chat(where: tuple[str, ...]) -> str:
    conditions = "".join(f' AND "annotations_dialogue"."{name}" = %s' for name in where)
    return (
        f"SELECT {columns(Dialogue)}, {columns(Bot)} FROM annotations_dialogue"  # noqa: S608 names of our own columns
        " JOIN bots_bot ON bots_bot.id = annotations_dialogue.bot_id"
        f" WHERE annotations_dialogue.id = %s{conditions}"
    )
