"""Rows of the busiest path, read and written without putting together and planning the same query each time.

Two thirds of what a stored turn cost was Django compiling the same seven statements and PostgreSQL planning
them. Here both happen once; values still go through the fields, so both databases and every column type are
Django's care.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from django.db import DatabaseError, connection, models

from annotations.chats.models import Dialogue, Utterance
from bots.models import Bot

T = TypeVar("T")
M = TypeVar("M", bound=models.Model)
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
    query = _select_chat(tuple(where)) + _for_update()
    return _chat(query, [dialogue_id, *where.values()])


def belongs(dialogue_id: int, *, worker_id: int) -> bool:
    """Whether there is such a chat and it is that worker's."""
    query = "SELECT 1 FROM annotations_dialogue WHERE id = %s AND worker_id = %s"
    return dialogue_id <= BIGGEST and bool(_rows(query, [dialogue_id, worker_id]))


def claimed(dialogue_id: int, *, number: int, now: datetime, until: datetime) -> Dialogue | None:
    """The chat that owes the reply to utterance `number`, claimed until then; None where nobody may claim it.

    One conditional statement: of any number of processes that come at once, one gets the row.
    """
    prepared = connection.ops.adapt_datetimefield_value
    won = _rows(
        "UPDATE annotations_dialogue SET leased_until = %s WHERE id = %s AND said = %s AND state = 'open'"
        " AND asked_at IS NOT NULL AND stalled_at IS NULL AND (leased_until IS NULL OR leased_until < %s)"
        " RETURNING id",
        [prepared(until), dialogue_id, number, prepared(now)],
    )
    return _chat(_select_chat(()), [dialogue_id]) if won else None


def waiting_before(dialogue: Dialogue) -> int:
    """How many other chats wait for a reply of the same bot and asked earlier."""
    ((count,),) = _rows(
        "SELECT count(*) FROM annotations_dialogue WHERE bot_id = %s AND asked_at < %s"
        " AND state = 'open' AND stalled_at IS NULL",
        [dialogue.bot_id, connection.ops.adapt_datetimefield_value(dialogue.asked_at)],
    )
    return int(count)


def said_in(dialogue: Dialogue) -> list[tuple[int, str, str | None]]:
    """Number, text and client id of every utterance, in order."""
    return _rows(
        "SELECT number, text, client_id FROM annotations_utterance WHERE dialogue_id = %s ORDER BY number",
        [dialogue.pk],
    )


def utterance_in(dialogue: Dialogue, number: int) -> Utterance:
    """One utterance of the chat. Raises ValueError where there is none of that number."""
    query = f"SELECT {_columns(Utterance)} FROM annotations_utterance WHERE dialogue_id = %s AND number = %s"  # noqa: S608 names of our own columns
    (row,) = _rows(query, [dialogue.pk, number])
    utterance = _load(Utterance, row)
    utterance.dialogue = dialogue
    return utterance


def insert(rows: Sequence[models.Model]) -> None:
    """Adds rows of one table. Their keys, where the database makes them, are not read back."""
    fields = _writable(type(rows[0]))
    places = ", ".join(["(" + ", ".join(["%s"] * len(fields)) + ")"] * len(rows))
    columns = ", ".join(f'"{field.column}"' for field in fields)
    table = rows[0]._meta.db_table
    values = [value for row in rows for value in _values(row, fields)]
    _rows(f'INSERT INTO "{table}" ({columns}) VALUES {places}', values)  # noqa: S608 names of our own columns


def update(row: models.Model, names: Sequence[str]) -> None:
    """Writes the fields `names` of a row that is there."""
    fields: list[Any] = [row._meta.get_field(name) for name in names]
    assignments = ", ".join(f'"{field.column}" = %s' for field in fields)
    query = f'UPDATE "{row._meta.db_table}" SET {assignments} WHERE "{row._meta.pk.column}" = %s'  # noqa: S608 as above
    _rows(query, [*_values(row, fields), row.pk])


def _rows(query: str, values: Sequence[Any]) -> list[Any]:
    with _cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall() if cursor.description else []


def _cursor() -> Any:
    """A cursor that on PostgreSQL binds at the server, so that a statement is parsed and planned once."""
    if connection.vendor != "postgresql":
        return connection.cursor()
    from psycopg import Cursor

    connection.ensure_connection()
    plain: Any = Cursor(connection.connection)
    return connection.make_debug_cursor(plain) if connection.queries_logged else connection.make_cursor(plain)


def _chat(query: str, values: Sequence[Any]) -> Dialogue | None:
    for row in _rows(query, values):
        width = len(Dialogue._meta.concrete_fields)
        dialogue = _load(Dialogue, row[:width])
        dialogue.bot = _load(Bot, row[width:])
        return dialogue
    return None


def _load(model: type[M], row: Sequence[Any]) -> M:
    values = list(row)
    for place, converters, column in _converters(model):
        for converter in converters:
            values[place] = converter(values[place], column, connection)
    return model.from_db("default", _names(model), values)


@cache
def _names(model: type[models.Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


@cache
def _converters(model: type[models.Model]) -> list[tuple[int, list[Any], Any]]:
    """For each column whose value Django converts on its way in: its place, what converts it, what it is."""
    columns = [field.get_col(model._meta.db_table) for field in model._meta.concrete_fields]
    found = [
        (place, [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)], column)
        for place, column in enumerate(columns)
    ]
    return [entry for entry in found if entry[1]]


@cache
def _columns(model: type[models.Model]) -> str:
    return ", ".join(f'"{model._meta.db_table}"."{field.column}"' for field in model._meta.concrete_fields)


@cache
def _select_chat(where: tuple[str, ...]) -> str:
    conditions = "".join(f' AND "annotations_dialogue"."{name}" = %s' for name in where)
    return (
        f"SELECT {_columns(Dialogue)}, {_columns(Bot)} FROM annotations_dialogue"  # noqa: S608 names of our own columns
        " JOIN bots_bot ON bots_bot.id = annotations_dialogue.bot_id"
        f" WHERE annotations_dialogue.id = %s{conditions}"
    )


@cache
def _for_update() -> str:
    return (
        " FOR NO KEY UPDATE OF annotations_dialogue"
        if connection.features.has_select_for_no_key_update
        else ""
    )


@cache
def _writable(model: type[models.Model]) -> list[Any]:
    return [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]


def _values(row: models.Model, fields: Sequence[Any]) -> list[Any]:
    return [
        value if field.attname in _plain(type(row)) else field.get_db_prep_save(value, connection)
        for field, value in ((field, getattr(row, field.attname)) for field in fields)
    ]


@cache
def _plain(model: type[models.Model]) -> frozenset[str]:
    """The columns whose Python value is what both databases take: numbers, texts and keys."""
    kinds = (models.CharField, models.TextField, models.IntegerField, models.FloatField, models.ForeignKey)
    return frozenset(field.attname for field in model._meta.concrete_fields if isinstance(field, kinds))
