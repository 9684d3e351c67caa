"""Breaks after a stretch of upsetting messages, for workers and verifiers alike.

What upsets a person is what they themselves found not OK: a vote for not OK, or a reply they labelled above
nobody. Votes, labels and the plan are kept in features above this one, which is why they are read by statements
here; written out, since a third of all votes come this way.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from annotations.people.errors import Refused
from annotations.rows import run
from annotations.studies.models import Break

_LIMIT = """
    SELECT soft_limit, break_minutes, break_binding,
        (SELECT max(at) FROM annotations_break WHERE study_id = annotations_plan.study_id AND user_id = %s)
    FROM annotations_plan WHERE study_id = %s AND soft_limit > 0
"""
_UPSETTING = """
    SELECT (
        SELECT count(*) FROM annotations_vote JOIN annotations_item ON annotations_item.id = item_id
        WHERE verifier_id = %s AND at >= %s AND study_id = %s AND NOT annotations_vote.ok
    ) + (
        SELECT count(*) FROM annotations_label JOIN annotations_utterance ON annotations_utterance.id = utterance_id
        JOIN annotations_dialogue ON annotations_dialogue.id = dialogue_id
        WHERE worker_id = %s AND last_at >= %s AND annotations_label.at >= %s AND study_id = %s AND bin <> '0'
    )
"""


def upsetting(*, user_id: int, study_id: int, since: datetime) -> int:
    """How many messages of the study this person has found not OK since then."""
    return _upsetting(user_id, study_id, connection.ops.adapt_datetimefield_value(since))


def _upsetting(user_id: int, study_id: int, since: Any) -> int:
    """The same, from a time as the database writes it."""
    ((count,),) = run(_UPSETTING, [user_id, since, study_id, user_id, since, since, study_id])
    return int(count)


def note(*, user_id: int, study_id: int) -> Break | None:
    """Begins a break where the study's limit is reached, and gives it. To be called as something upsetting is stored.

    Counted since the last break, or since the start of the day.
    """
    now = timezone.now()
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    today: Any = connection.ops.adapt_datetimefield_value(midnight)
    for soft_limit, minutes, binding, last in run(_LIMIT, [user_id, study_id]):
        count = _upsetting(user_id, study_id, max(last or today, today))
        if count >= soft_limit:
            return Break.objects.create(
                study_id=study_id,
                user_id=user_id,
                at=now,
                until=now + timedelta(minutes=minutes),
                binding=binding,
                upsetting=count,
            )
    return None


def current(*, user_id: int, study_id: int) -> Break | None:
    """The break that is running for this person, suggested or binding."""
    rows = Break.objects.filter(study=study_id, user=user_id, until__gt=timezone.now())
    return rows.order_by("-at").first()


def running(*, user_id: int) -> dict[int, Break]:
    """The person's running breaks, by the study's key."""
    rows = Break.objects.filter(user=user_id, until__gt=timezone.now()).order_by("at")
    return {row.study_id: row for row in rows}


def refuse_if_on_break(*, user_id: int, study_id: int) -> None:
    """Raises Refused on_break while a binding break is running."""
    refuse_during(current(user_id=user_id, study_id=study_id))


def refuse_during(pause: Break | None) -> None:
    """Raises Refused on_break where this break has to be taken."""
    if pause and pause.binding:
        left = max(1, round((pause.until - timezone.now()).total_seconds() / 60))
        minutes = "one minute" if left == 1 else f"{left} minutes"
        raise Refused(
            "on_break", f"Time for a break: you have read a lot that upsets. Come back in {minutes}."
        )
