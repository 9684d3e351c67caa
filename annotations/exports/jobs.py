"""How a long job is taken, tells how far it is, and ends: in one process at a time, whatever is killed.

The row's `alive_at` is the ticket of whoever works on it. It is renewed as the work goes on; one that has not been
for SILENCE is taken to be dead, and the next to claim the row starts from the beginning.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from django.db import OperationalError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotations.domain.parlai import LineError
from annotations.domain.splits import SplitError
from annotations.people.errors import Refused
from annotations.studies.jobs import Job

log = logging.getLogger(__name__)

SILENCE = timedelta(seconds=60)
TELL_EVERY = timedelta(seconds=1)

J = TypeVar("J", bound=Job)


class LostError(Exception):
    """The job is no longer ours: it was cancelled, or given to another who took us for dead."""


def work(model: type[J], pk: int, do: Callable[[J], None]) -> None:
    """Claims the job and has `do` do it and `finish` it; a job that is done, cancelled or in hand is left alone.

    What `do` refuses or breaks with is kept in the row's `problem`. Where the database goes away, the row stays as
    it is: silent, it is started again.
    """
    job = claim(model, pk)
    if job is None:
        return
    try:
        do(job)
    except LostError:
        log.warning("%s was cancelled, or taken over by another process", job)
    except OperationalError:
        raise
    except (Refused, LineError, SplitError) as refusal:
        _fail(job, str(refusal))
    except OSError as error:
        log.exception("%s could not use its files", job)
        _fail(
            job,
            f"Its files could not be used: {error.strerror or error}. Free some space, then start it again.",
        )
    except Exception as error:
        log.exception("%s broke", job)
        _fail(job, f"It broke: {type(error).__name__}. The log tells more.")


def claim(model: type[J], pk: int) -> J | None:
    """The job, now RUNNING and ours; None where it is not to be done, or another does it."""
    now = timezone.now()
    if not _to_be_done(model).filter(pk=pk).update(state="running", alive_at=now, done=0, problem=""):
        return None
    return _all(model).select_related("study").get(pk=pk)


def _all(model: type[J]) -> QuerySet[J]:
    return model._default_manager.all()  # noqa: SLF001 Django's documented way to the rows of a model that is passed on


def _to_be_done(model: type[J]) -> QuerySet[J]:
    silent = Q(state="running", alive_at__lt=timezone.now() - SILENCE)
    return _all(model).filter(Q(state="waiting") | silent)


def tell(job: Job, done: int, total: int, *, at_once: bool = False) -> None:
    """Says how far it is, and that we live; at most once in TELL_EVERY, unless `at_once`. Raises LostError."""
    now = timezone.now()
    if not at_once and job.alive_at and now - job.alive_at < TELL_EVERY:
        return
    if not _ours(job).update(alive_at=now, done=done, total=total):
        raise LostError
    job.alive_at = now


def finish(job: Job, **values: object) -> None:
    """The job is done, with these values. In the caller's transaction, if there is one. Raises LostError."""
    if not _ours(job).update(state="done", finished_at=timezone.now(), **values):
        raise LostError


def _fail(job: Job, problem: str) -> None:
    _ours(job).update(state="failed", problem=problem, finished_at=timezone.now())


def _ours(job: Job) -> QuerySet[Job]:
    return _all(type(job)).filter(pk=job.pk, state="running", alive_at=job.alive_at)


@transaction.atomic
def forgotten(model: type[J]) -> list[int]:
    """Jobs that somebody has to start again: their worker fell silent, or their task was lost."""
    old = Q(state="running") | Q(asked_at__lt=timezone.now() - SILENCE)
    # An import that stores its chats holds its row locked: it lives, though it cannot say so.
    skip = connection.features.has_select_for_update_skip_locked
    rows = _to_be_done(model).filter(old).order_by("pk").select_for_update(no_key=True, skip_locked=skip)
    return list(rows.values_list("pk", flat=True))


def cancel(job: Job) -> bool:
    """Stops a job that waits or is under way; whether it did."""
    rows = _all(type(job)).filter(pk=job.pk, state__in=["waiting", "running"])
    return bool(rows.update(state="cancelled", finished_at=timezone.now()))
