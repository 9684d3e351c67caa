"""Merged labels of single utterances, made as their last vote lands, with the item locked.

The queue only brings it forward: what is due stands in the database, and the beat finds it.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from annotations.chats.models import Label
from annotations.chats.services import LABEL_GRACE
from annotations.domain.merging import RULES, Ballot, Judgement, merge, version
from annotations.verification import derived
from annotations.verification.models import CATEGORIES, Item, Merged, Plan, Vote
from annotations.verification.services import plan_of

log = logging.getLogger(__name__)

SETTLED = LABEL_GRACE + timedelta(minutes=1)
"""After this long the worker's label of a chat's last reply is final, a change still under way included."""
RULE_IMPORTED = "imported"
"""Labels that came with the data; they are derived from no votes of ours."""


@transaction.atomic
def merge_item(item_id: int) -> bool:
    """Makes the labels of a due item under every plain rule, side by side. Whether there was something to do.

    An item that lacks votes again loses its labels. The last reply of a chat just finished is due once more when
    its worker can no longer change the label. Safe to run at any time and any number of times.
    """
    now = timezone.now()
    items = Item.objects.select_for_update(of=("self",), no_key=True)
    rows = items.select_related("study", "utterance__dialogue")
    item = rows.filter(due_at__lte=now, pk=item_id).first()
    if item is None:
        return False
    item.due_at = None
    if item.votes_in < item.wanted:
        forget([item.pk])
    else:
        _store(item, plan_of(item.study))
        item.due_at = _settles_at(item, now)
    item.save(update_fields=["due_at"])
    return True


def merge_due(limit: int = 1000) -> int:
    """Merges what is due: nobody was told of it, or who was told is gone. How many items."""
    due = Item.objects.filter(due_at__lte=timezone.now()).order_by("due_at")
    return sum(merge_item(pk) for pk in list(due.values_list("pk", flat=True)[:limit]))


def _settles_at(item: Item, now: datetime) -> datetime | None:
    """When the worker's label of this utterance is final; None where it is."""
    assert item.utterance is not None  # noqa: S101 only items of utterances are ever due
    dialogue = item.utterance.dialogue
    if dialogue.ended_at is None or item.utterance.number != dialogue.said:
        return None
    settled = dialogue.ended_at + SETTLED
    return settled if settled > now else None


def _store(item: Item, plan: Plan) -> None:
    assert item.utterance is not None  # noqa: S101 only items of utterances are ever due
    ballot = _ballot(item)
    made = {}
    for rule in RULES:
        outcome = merge(rule, ballot, unsafe_from=plan.unsafe_from, tie=plan.tie)
        told = version(rule, plan.unsafe_from, plan.tie)
        made[item.utterance.pk, rule] = derived.columns(told, outcome)
    derived.store(study_id=item.study_id, made=made)


def _ballot(item: Item) -> Ballot:
    """What was said of the item's utterance: the worker's bin, and the votes that count in the order they came."""
    votes = Vote.objects.filter(item=item, set_aside_at=None).order_by("pk").values("ok", *CATEGORIES)
    bins = Label.objects.filter(utterance=item.utterance).values_list("bin", flat=True)
    return Ballot(
        bin=bins.first(),
        votes=tuple(
            Judgement(ok=vote["ok"], categories=frozenset(c for c in CATEGORIES if vote[c])) for vote in votes
        ),
    )


def forget(item_ids: list[int]) -> None:
    """Deletes the labels made of these items' votes. Their rows are locked."""
    Merged.objects.filter(utterance__items__in=item_ids).exclude(rule=RULE_IMPORTED).delete()


def send(item_id: int) -> None:
    """Has a due item merged as soon as the transaction is through; where the queue is away, by the beat."""

    def queue() -> None:
        from annotations.verification.tasks import merge_item_task

        try:
            merge_item_task.delay(item_id)
        except merge_item_task.OperationalError as error:
            log.warning("item %d could not be sent to be merged, the beat will: %s", item_id, error)

    transaction.on_commit(queue)
