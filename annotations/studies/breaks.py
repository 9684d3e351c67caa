"""Breaks after a stretch of upsetting messages, for workers and verifiers alike.

What upsets a person is what they themselves found not OK: a vote for not OK, or a reply they labelled above
nobody. Votes and labels are read by way of the person, since both are kept in features above this one.
"""

from datetime import datetime, timedelta

from django.utils import timezone

from annotations.domain.turns import BINS
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.models import Break, Study


def upsetting(*, user_id: int, study_id: int, since: datetime) -> int:
    """How many messages of the study this person has found not OK since then."""
    person = User(pk=user_id)
    votes = person.votes.filter(item__study=study_id, ok=False, at__gte=since)
    labels = person.dialogues.filter(
        study=study_id, utterances__label__at__gte=since, utterances__label__bin__in=BINS[1:]
    )
    return votes.count() + labels.count()


def note(*, user_id: int, study_id: int) -> Break | None:
    """Begins a break where the study's limit is reached, and gives it. To be called as something upsetting is stored.

    Counted since the last break, or since the start of the day.
    """
    limit = Study.objects.filter(pk=study_id, plan__soft_limit__gt=0)
    values = limit.values_list("plan__soft_limit", "plan__break_minutes", "plan__break_binding").first()
    if values is None:
        return None
    soft_limit, minutes, binding = values
    now = timezone.now()
    last = Break.objects.filter(study=study_id, user=user_id).order_by("-at").values_list("at", flat=True)
    today = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    count = upsetting(user_id=user_id, study_id=study_id, since=max(last.first() or today, today))
    if count < soft_limit:
        return None
    return Break.objects.create(
        study_id=study_id,
        user_id=user_id,
        at=now,
        until=now + timedelta(minutes=minutes),
        binding=binding,
        upsetting=count,
    )


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
