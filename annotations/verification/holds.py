"""What a verifier holds: items taken for them, until they vote, skip or give back.

One order of locks keeps all of verification free of deadlocks: the verifier's row first, then items in the order
of their keys. Whoever holds an item waits for no other.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import F, QuerySet
from django.utils import timezone

from annotations.people.models import User
from annotations.studies.models import Study
from annotations.verification.models import Assignment, Batch, Item

CHUNK = 1000
"""Rows in one statement: SQLite takes 32,766 values, and a lock held for thousands of rows keeps others waiting."""


def lock_verifier(verifier_id: int) -> User:
    """The verifier as stored now, their row locked: what one person does happens one after the other."""
    return User.objects.select_for_update(no_key=True).get(pk=verifier_id)


def lock_items(keys: Iterable[int]) -> QuerySet[Item]:
    """These items, to be locked in the order of their keys when read."""
    return Item.objects.select_for_update(no_key=True).filter(pk__in=list(keys)).order_by("pk")


def close(batch: Batch, reason: str, now: datetime) -> int:
    """Ends an open batch and gives back what it still holds. How many items. The verifier's row is locked.

    Votes and skips stay. Places at gold items are not counted, so that there is none to give back.
    """
    held = Assignment.objects.filter(batch=batch, state=Assignment.State.HELD)
    keys = [item.pk for item in lock_items(held.values_list("item", flat=True))]
    Item.objects.filter(pk__in=keys, kind=Item.Kind.UTTERANCE).update(free=F("free") + 1)
    held.update(state=Assignment.State.RETURNED)
    batch.closed_at, batch.end_reason = now, reason
    batch.save(update_fields=["closed_at", "end_reason"])
    return len(keys)


def close_open(*, verifier: User, reason: str, study: Study | None = None) -> int:
    """Ends the verifier's open batches, in one study or in all. How many. The verifier's row is locked."""
    rows = Batch.objects.filter(verifier=verifier, closed_at=None)
    if study:
        rows = rows.filter(study=study)
    batches = list(rows)
    now = timezone.now()
    for batch in batches:
        close(batch, reason, now)
    return len(batches)
