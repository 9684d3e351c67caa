"""The statements of a vote, planned once (rows.py says why)."""

from datetime import datetime
from functools import cache

from django.db import connection

from annotations.people.models import User
from annotations.rows import columns, for_update, load, run
from annotations.verification.models import Assignment, Batch, Item

BIGGEST = 2**63 - 1
"""No key is greater; SQLite would not even compare."""


def lock_verifier(verifier_id: int) -> User:
    """Locks the verifier's row until the transaction ends. Of the person, only whether they are blocked is read."""
    query = f"SELECT blocked_at, blocked_reason FROM annotations_user WHERE id = %s{for_update('annotations_user')}"  # noqa: S608 no value in it
    ((blocked_at, reason),) = run(query, [verifier_id])
    return User(pk=verifier_id, blocked_at=blocked_at, blocked_reason=reason)


def own(verifier_id: int, assignment_id: int) -> tuple[Assignment, int] | None:
    """The verifier's assignment with its batch and its item, that locked, and the plan's minutes of a lease."""
    if assignment_id > BIGGEST:
        return None
    for row in run(_select_own() + for_update("annotations_item"), [assignment_id, verifier_id]):
        first = len(Assignment._meta.concrete_fields)  # noqa: SLF001 Django's documented way to a model's columns
        second = first + len(Batch._meta.concrete_fields)  # noqa: SLF001 as above
        assignment = load(Assignment, row[:first])
        assignment.batch = load(Batch, row[first:second])
        assignment.item = load(Item, row[second:-1])
        return assignment, row[-1]
    return None


@cache
def _select_own() -> str:
    return (
        f"SELECT {columns(Assignment)}, {columns(Batch)}, {columns(Item)}, annotations_plan.lease_minutes"  # noqa: S608 names of our own columns
        " FROM annotations_assignment"
        " JOIN annotations_batch ON annotations_batch.id = annotations_assignment.batch_id"
        " JOIN annotations_item ON annotations_item.id = annotations_assignment.item_id"
        " JOIN annotations_plan ON annotations_plan.study_id = annotations_batch.study_id"
        " WHERE annotations_assignment.id = %s AND annotations_assignment.verifier_id = %s"
    )


def keep(batch: Batch, *, until: datetime) -> bool:
    """Leases the batch until then, where something of it is held. Whether there is."""
    kept = run(
        "UPDATE annotations_batch SET leased_until = %s WHERE id = %s AND EXISTS (SELECT 1 FROM"
        " annotations_assignment WHERE batch_id = annotations_batch.id AND state = 'held') RETURNING id",
        [connection.ops.adapt_datetimefield_value(until), batch.pk],
    )
    return bool(kept)
