"""A study's merged labels made anew under one rule, beside the merging that goes on as votes land.

Item by item in the order of their keys, some thousands in a transaction: those items are locked, their counted
votes read, their labels written where they differ. A vote locks its item too, so that it is either read here or
lands after, and its own merging comes after it: whichever way, the newest votes have the last word. Every step
can be done again, so that a job whose worker was killed simply starts from the beginning.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotations.chats.models import Label
from annotations.domain import crowds
from annotations.domain import merging as rules
from annotations.domain.merging import CATEGORIES, Counts, merge_counts
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.audit import record
from annotations.studies.models import Study
from annotations.verification import derived
from annotations.verification.models import Item, Merged, Merging, Plan, Vote
from annotations.verification.services import plan_of

log = logging.getLogger(__name__)

TITLES = {name: rule.title for name, rule in rules.RULES.items()} | crowds.MODELS
"""What a study can be merged by. Imported labels came with the data: there is nothing to make them of."""
CHUNK = 2000
"""Items in a transaction: a vote on one of them waits for a tenth of a second at most."""
BEAT = timedelta(seconds=10)
DEAD = timedelta(seconds=60)
"""A job that has given no sign of life for so long is taken over."""

Tick = Callable[[int, int], None]


# -- asking --------------------------------------------------------------------------------------------------


@transaction.atomic
def ask(*, study: Study, rule: str, actor: User | None) -> Merging:
    """Has the study merged under `rule` by a worker, and gives the job to follow. Raises Refused no_such_rule.

    One that waits already is given again.
    """
    refuse_unknown(rule)
    Plan.objects.select_for_update().get(pk=plan_of(study).pk)  # two clicks are one job
    waiting = Merging.objects.filter(study=study, rule=rule, state=Merging.State.WAITING).first()
    if waiting:
        return waiting
    merging = Merging.objects.create(study=study, rule=rule, asked_by=actor)
    record(action="remerge_asked", study=study, actor=actor, rule=rule)
    _send(merging.pk)
    return merging


def refuse_unknown(rule: str) -> None:
    """Raises Refused no_such_rule."""
    if rule not in TITLES:
        detail = f"There is no rule {rule!r} to merge by. There are: {', '.join(TITLES)}."
        raise Refused("no_such_rule", detail, status=422)


def _send(merging_id: int, *, expires: float | None = None) -> None:
    def queue() -> None:
        from annotations.verification.tasks import remerge_task

        try:
            remerge_task.apply_async((merging_id,), expires=expires)
        except remerge_task.OperationalError as error:
            log.warning("merging %d could not be queued, the beat will: %s", merging_id, error)

    transaction.on_commit(queue)


def cancel(*, study: Study, merging_id: int) -> bool:
    """Ends a merging that waits or runs; what it has written stays. Whether there was one."""
    under_way = Merging.objects.filter(pk=merging_id, study=study).exclude(state__in=_OVER)
    return bool(under_way.update(state=Merging.State.CANCELLED, finished_at=timezone.now()))


_OVER = (Merging.State.DONE, Merging.State.FAILED, Merging.State.CANCELLED)


def revive() -> int:
    """Queues again what was lost with the queue or with a worker that was killed. How many."""
    lost = Merging.objects.filter(_takeable() | Q(state=Merging.State.WAITING))
    keys = list(lost.filter(asked_at__lt=timezone.now() - DEAD).values_list("pk", flat=True))
    for pk in keys:
        _send(pk, expires=30)  # the next look sends it again: messages must not pile up behind a long job
    return len(keys)


def refresh_models() -> int:
    """Asks for the labels of a model anew where votes have come in since. How many.

    A rule looks at one utterance, and is applied as its votes land; a model looks at the whole study.
    """
    asked = 0
    done = Merging.objects.filter(rule__in=crowds.MODELS, state=Merging.State.DONE).order_by("pk")
    newest = {(merging.study_id, merging.rule): merging for merging in done.select_related("study")}
    for merging in newest.values():
        under_way = Merging.objects.filter(study=merging.study, rule=merging.rule).exclude(state__in=_OVER)
        plain = Merged.objects.filter(study=merging.study, rule__in=rules.RULES, at__gt=merging.asked_at)
        aside = Vote.objects.filter(item__study=merging.study, set_aside_at__gt=merging.asked_at)
        if (plain.exists() or aside.exists()) and not under_way.exists():
            ask(study=merging.study, rule=merging.rule, actor=None)
            asked += 1
    return asked


# -- doing ---------------------------------------------------------------------------------------------------


def run(*, study: Study, rule: str, tick: Tick | None = None) -> Merging:
    """Merges the study under `rule` here and now, and gives the finished job. Raises Refused no_such_rule.

    `tick` is called with the items done and their total, each time both are known anew.
    """
    refuse_unknown(rule)
    merging = Merging.objects.create(study=study, rule=rule)
    remerge(merging.pk, tick)
    merging.refresh_from_db()
    return merging


def remerge(merging_id: int, tick: Tick | None = None) -> bool:
    """Does a merging that waits, or whose worker is gone. Whether it was done to its end.

    A second call meanwhile does nothing. Where the database is away the job stays as it is, for `revive`.
    """
    now = timezone.now()
    mine = Merging.objects.filter(Q(state=Merging.State.WAITING) | _takeable(), pk=merging_id)
    if not mine.update(state=Merging.State.RUNNING, alive_at=now, done=0, problem=""):
        return False
    merging = Merging.objects.select_related("study").get(pk=merging_id)
    try:
        ended = _all(merging, tick or (lambda _done, _total: None))
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        log.exception("merging %d failed", merging_id)
        _end(merging_id, Merging.State.FAILED, problem=f"The labels could not be made: {error}"[:500])
        return False
    return ended and _end(merging_id, Merging.State.DONE)


def _takeable() -> Q:
    return Q(state=Merging.State.RUNNING, alive_at__lt=timezone.now() - DEAD)


def _running(merging_id: int) -> QuerySet[Merging]:
    return Merging.objects.filter(pk=merging_id, state=Merging.State.RUNNING)


def _end(merging_id: int, state: str, *, problem: str = "") -> bool:
    now = timezone.now()
    return bool(_running(merging_id).update(state=state, problem=problem, alive_at=now, finished_at=now))


@dataclass(frozen=True, slots=True)
class _Way:
    """How this run makes labels: by a rule, or by the chances (by item) that a model has worked out."""

    rule: str
    version: str
    unsafe_from: str
    tie: str
    chances: Mapping[int, float] | None = None

    def made(self, item_id: int, counts: Counts) -> tuple[object, ...] | None:
        """What to store of an item with these counted votes; None where the model has not seen it."""
        if self.chances is None:
            found = merge_counts(self.rule, counts, unsafe_from=self.unsafe_from, tie=self.tie)
            return derived.columns(self.version, found)
        chance = self.chances.get(item_id)
        if chance is None:
            return None
        found = crowds.label(chance, counts, unsafe_from=self.unsafe_from, tie=self.tie)
        return derived.columns(self.version, found, chance)


def _all(merging: Merging, tick: Tick) -> bool:
    """Labels every item of the study, some at a time. False where the job was cancelled meanwhile."""
    items = Item.objects.filter(study=merging.study, kind=Item.Kind.UTTERANCE)
    keys = list(items.order_by("pk").values_list("pk", flat=True))
    _running(merging.pk).update(total=len(keys))
    way = _way(merging)
    for start in range(0, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        _merge(merging, way, items.filter(pk__range=(part[0], part[-1])))
        done = start + len(part)
        if not _running(merging.pk).update(done=done, alive_at=timezone.now()):
            return False
        tick(done, len(keys))
    return True


def _way(merging: Merging) -> _Way:
    plan, rule = plan_of(merging.study), merging.rule
    if rule in rules.RULES:
        version = rules.version(rule, plan.unsafe_from, plan.tie)
        return _Way(rule, version, plan.unsafe_from, plan.tie)
    version = crowds.version(rule, plan.unsafe_from, plan.tie)
    with _alive(merging.pk):
        chances = _chances(merging, plan.unsafe_from)
    return _Way(rule, version, plan.unsafe_from, plan.tie, chances)


def _chances(merging: Merging, unsafe_from: str) -> Mapping[int, float]:
    """By item, how likely it is not OK by the study's counted votes, of unfinished items too.

    The workers are annotators as well, by their bins; somebody who is both counts as two people, since a guess
    of how others would judge is another task.
    """
    mine = {"item__study": merging.study, "item__kind": Item.Kind.UTTERANCE, "set_aside_at": None}
    votes = Vote.objects.filter(**mine).order_by("item", "verifier").values_list("item", "verifier", "ok")
    tasks, annotators, notok = [], [], []
    for item, verifier, ok in votes.iterator(chunk_size=10_000):
        tasks.append(item)
        annotators.append(2 * verifier)
        notok.append(not ok)
    voted = set(tasks)
    labels = Item.objects.filter(
        study=merging.study, kind=Item.Kind.UTTERANCE, utterance__label__isnull=False
    )
    bins = labels.order_by("pk").values_list("pk", "utterance__dialogue__worker", "utterance__label__bin")
    for item, worker, bin_ in bins.iterator(chunk_size=10_000):
        if item in voted:
            tasks.append(item)
            annotators.append(2 * worker + 1)
            notok.append(rules.is_unsafe_from(bin_, unsafe_from))
    return crowds.not_ok(merging.rule, tasks=tasks, annotators=annotators, notok=notok)


@contextmanager
def _alive(merging_id: int) -> Iterator[None]:
    """Says again and again that the job is alive, while something runs that cannot say so itself."""
    over = threading.Event()

    def beat() -> None:
        try:
            while not over.wait(BEAT.total_seconds()):
                _running(merging_id).update(alive_at=timezone.now())
        finally:
            connection.close()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@transaction.atomic
def _merge(merging: Merging, way: _Way, items: QuerySet[Item]) -> None:
    """Makes the labels of these items that have all their votes, and removes those of items that no longer do.

    What belongs to them is read by ranges of keys, since they lie close together; what else lies there is passed
    over. A list of two thousand keys would take the database ten times as long.
    """
    rows = items.select_for_update(no_key=True).order_by("pk")
    locked = list(rows.values_list("pk", "utterance_id", "votes_in", "wanted"))
    if not locked:
        return
    utterances = [utterance_id for _, utterance_id, _, _ in locked]
    said = {"utterance_id__gte": min(utterances), "utterance_id__lte": max(utterances)}
    bins = dict(Label.objects.filter(**said).values_list("utterance", "bin"))
    old_labels = _stored(Merged.objects.filter(study=merging.study, rule=merging.rule, **said))
    votes = _votes(Vote.objects.filter(item_id__gte=locked[0][0], item_id__lte=locked[-1][0]))
    changed: dict[tuple[int, str], tuple[object, ...]] = {}
    gone = []
    for pk, utterance_id, votes_in, wanted in locked:
        counts = Counts(*votes.get(pk, _NO_VOTES), bins.get(utterance_id))
        made = way.made(pk, counts) if votes_in >= wanted else None
        old = old_labels.get(utterance_id)
        if made is None and old is not None:
            gone.append(utterance_id)
        elif made is not None and made != old:
            changed[utterance_id, merging.rule] = made
    derived.store(study_id=merging.study_id, made=changed)
    if gone:
        Merged.objects.filter(rule=merging.rule, utterance__in=gone).delete()


def _votes(rows: QuerySet[Vote]) -> dict[int, tuple[int, int, tuple[int, ...]]]:
    """By item, how many counted votes say OK, say not OK, and name each category."""
    named = {f"n_{category}": Count("pk", filter=Q(**{category: True})) for category in CATEGORIES}
    counted = {"n_ok": Count("pk", filter=Q(ok=True)), "n_notok": Count("pk", filter=Q(ok=False)), **named}
    found = rows.filter(set_aside_at=None).order_by().values_list("item").annotate(**counted)
    return {item: (ok, notok, tuple(named)) for item, ok, notok, *named in found}


_NO_VOTES = (0, 0, (0,) * len(CATEGORIES))


def _stored(rows: QuerySet[Merged]) -> dict[int, tuple[object, ...]]:
    """By utterance, the label it has, as MADE."""
    found = rows.order_by().values_list("utterance", *derived.MADE)
    return {utterance_id: tuple(made) for utterance_id, *made in found}
