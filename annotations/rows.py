"""Rows of the busiest paths, read and written without putting together and planning the same query each time.

Two thirds of what a stored turn of a chat costs by way of the ORM is Django compiling the same seven statements
and PostgreSQL planning them. Here both happen once; values still go through the fields, so both databases and
every column type are Django's care.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import connection, models

M = TypeVar("M", bound=models.Model)


def run(query: str, values: Sequence[Any]) -> list[Any]:
    """The rows a statement gives; none where it gives none."""
    with _cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall() if cursor.description else []


def insert(rows: Sequence[models.Model]) -> None:
    """Adds rows of one table. Their keys, where the database makes them, are not read back."""
    fields = _writable(type(rows[0]))
    places = ", ".join(["(" + ", ".join(["%s"] * len(fields)) + ")"] * len(rows))
    values = [value for row in rows for value in _values(row, fields)]
    run(f"{_insert_into(type(rows[0]))} {places}", values)


def insert_one(row: models.Model) -> None:
    """Adds a row and sets its key, which the database makes."""
    fields = _writable(type(row))
    query = f"{_insert_into(type(row))} ({', '.join(['%s'] * len(fields))}) RETURNING id"
    ((row.pk,),) = run(query, _values(row, fields))
    row._state.adding = False


@cache
def _insert_into(model: type[models.Model]) -> str:
    names = ", ".join(f'"{field.column}"' for field in _writable(model))
    return f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES'


def update(row: models.Model, names: Sequence[str]) -> None:
    """Writes the fields `names` of a row that is there."""
    fields: list[Any] = [row._meta.get_field(name) for name in names]
    assignments = ", ".join(f'"{field.column}" = %s' for field in fields)
    query = f'UPDATE "{row._meta.db_table}" SET {assignments} WHERE "{row._meta.pk.column}" = %s'  # noqa: S608 as above
    run(query, [*_values(row, fields), row.pk])


def _cursor() -> Any:
    """A cursor that on PostgreSQL binds at the server, so that a statement is parsed and planned once."""
    if connection.vendor != "postgresql":
        return connection.cursor()
    from psycopg import Cursor

    connection.ensure_connection()
    plain: Any = Cursor(connection.connection)
    return connection.make_debug_cursor(plain) if connection.queries_logged else connection.make_cursor(plain)


def load(model: type[M], row: Sequence[Any]) -> M:
    """A row of `columns` as an object."""
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
def columns(model: type[models.Model]) -> str:
    """The model's columns, as a statement selects them."""
    return ", ".join(f'"{model._meta.db_table}"."{field.column}"' for field in model._meta.concrete_fields)


def for_update(table: str) -> str:
    """What locks a table's rows that a statement reads, where the database locks rows."""
    return f" FOR NO KEY UPDATE OF {table}" if connection.features.has_select_for_no_key_update else ""


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
