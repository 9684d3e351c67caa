"""Merged labels as rows: what a rule found, in the columns it is stored in."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import connection
from django.utils import timezone

from annotations.domain.merging import CATEGORIES, Outcome
from annotations.verification.models import Merged

MADE = (
    "version",
    "label",
    "tie",
    "ok_votes",
    "notok_votes",
    *CATEGORIES,
    "category_ties",
    "probability",
)
"""The columns that a merging makes; `at` is when they last changed."""


@lru_cache(maxsize=8192)
def columns(version: str, outcome: Outcome, probability: float | None = None) -> tuple[object, ...]:
    """The values of MADE for an outcome of a rule in this version."""
    return (
        version,
        outcome.label,
        outcome.tie,
        outcome.ok_votes,
        outcome.notok_votes,
        *(category in outcome.categories for category in CATEGORIES),
        ",".join(category for category in CATEGORIES if category in outcome.category_ties),
        probability,
    )


def store(*, study_id: int, made: Mapping[tuple[int, str], tuple[object, ...]]) -> None:
    """Writes labels (by utterance and rule, the values of MADE) over those that are there.

    The items they come from are locked by the caller.
    """
    names = ("utterance_id", "rule", *MADE)
    rows = [(*which, *values) for which, values in made.items()]
    if not rows:
        return
    now = timezone.now()
    if connection.vendor == "postgresql":
        _unnest(names, rows, {"study_id": study_id, "at": now})
        return
    labels = [Merged(study_id=study_id, at=now, **dict(zip(names, row, strict=True))) for row in rows]
    Merged.objects.bulk_create(
        labels, update_conflicts=True, unique_fields=["utterance", "rule"], update_fields=[*MADE, "at"]
    )


def _unnest(names: Sequence[str], rows: Sequence[tuple[object, ...]], same: Mapping[str, object]) -> None:
    """The same upsert, each column sent as one array.

    A study of 80,000 utterances takes this process half a second so, and five with every value put into the
    statement by itself.
    """
    fields = Merged._meta  # noqa: SLF001 Django's documented way to a model's columns
    types = [str(fields.get_field(name).db_type(connection)) for name in names]
    arrays = ", ".join(f"%s::{kind}[]" for kind in types)
    newest = ", ".join(f'"{name}" = EXCLUDED."{name}"' for name in (*MADE, "at"))
    quoted = ", ".join(f'"{name}"' for name in (*same, *names))
    query = (
        f"INSERT INTO annotations_merged ({quoted})"  # noqa: S608 names of our own columns
        f" SELECT {', '.join(['%s'] * len(same))}, rows.* FROM UNNEST({arrays}) AS rows"
        f" ON CONFLICT (utterance_id, rule) DO UPDATE SET {newest}"
    )
    values: list[Any] = list(same.values())
    with connection.cursor() as cursor:
        cursor.execute(query, [*values, *map(list, zip(*rows, strict=True))])
