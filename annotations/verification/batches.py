"""A verifier's verbs: take a batch, see an item, vote, skip, give back.

Each is one transaction in which the verifier's row is locked first and items after (holds.py says why). An item
never has more votes than wanted: its `free` places are taken with the row locked, and the database refuses less
than none.
"""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.rows import insert_one, update
from annotations.studies import breaks
from annotations.studies.audit import record
from annotations.studies.models import Study
from annotations.studies.services import refuse_if_blocked
from annotations.verification import merging, quality, store
from annotations.verification.holds import close, close_open, lock_verifier
from annotations.verification.models import CATEGORIES, Assignment, Batch, Item, Plan, Vote
from annotations.verification.services import plan_of, study_for_verifier
from bots.text import one_line

UNDO = timedelta(minutes=10)
"""How long a vote can still be changed after its batch has ended. Our choice."""
LONGEST_LOOK = 3600.0
"""Seconds; who took longer was away."""
LONGEST_NOTE = 500
NOT_YOURS = "This message is not here, or it is not yours."
NOTHING_LEFT = "There is nothing for you to judge at the moment. Look in again later."
LEASE_OVER = "The time for this message ran out, and others have judged it since. Take the next one."


class Candidate(NamedTuple):
    """An item that could be given: where its utterance stands, so that chats are mixed."""

    pk: int
    dialogue_id: int
    number: int


# -- taking --------------------------------------------------------------------------------------------------


@transaction.atomic
def take(*, verifier: User, slug: str) -> Batch:
    """The verifier's open batch in a study, kept for longer, or a new one, its items leased for the plan's time.

    Items of a new batch are mixed from different chats in a seeded order, none of a chat of the verifier's own,
    none they have had, none with words of a kind they avoid; gold items stand among them, unseen. Raises
    Refused no_such_study, blocked, consent_first, paused, test_first, verification_closed, on_break, nothing_left.
    """
    person = lock_verifier(verifier.pk)
    study = study_for_verifier(verifier=person, slug=slug)
    plan = plan_of(study)
    quality.refuse_if_paused(study=study, verifier=person)
    until = timezone.now() + timedelta(minutes=plan.lease_minutes)
    mine = Batch.objects.filter(study=study, verifier=person)
    found = mine.aggregate(count=Count("pk"), open=Max("pk", filter=Q(closed_at=None)))
    if found["open"]:
        mine.filter(pk=found["open"]).update(leased_until=until)
        return mine.get(pk=found["open"])
    refuse_a_new_one(plan=plan, verifier=person)
    rng = Random(f"{plan.seed}:{person.pk}:{found['count']}")
    gold, barred = _gold(plan, person, rng)
    chosen = _pick(_candidates(study, person, barred), plan.batch_size - len(gold), rng)
    if not chosen:
        raise Refused("nothing_left", NOTHING_LEFT)
    batch = Batch.objects.create(study=study, verifier=person, leased_until=until)
    _assign(batch, _in_order(chosen, gold, rng))
    return batch


def refuse_a_new_one(*, plan: Plan, verifier: User) -> None:
    """Raises Refused test_first, verification_closed, on_break: what keeps a verifier from a new batch."""
    quality.refuse_if_untested(plan=plan, verifier=verifier)
    refuse_if_closed(plan)
    breaks.refuse_if_on_break(user_id=verifier.pk, study_id=plan.study_id)


def refuse_if_closed(plan: Plan) -> None:
    """Raises Refused verification_closed."""
    if not plan.open:
        raise Refused("verification_closed", "Verification of this study is closed. Thank you for your help.")


def current(*, verifier: User, slug: str) -> Batch | None:
    """The verifier's open batch in a study, if there is one."""
    return Batch.objects.filter(study__slug=slug, verifier=verifier, closed_at=None).first()


def _candidates(study: Study, verifier: User, barred: Collection[int]) -> QuerySet[Item]:
    """Items with a free place that may be given to the verifier, in the study's seeded order.

    `barred`: utterances not to be given, since they have been or will be as gold items.
    """
    rows = givable(study, verifier)
    if barred:
        rows = rows.exclude(utterance__in=barred)
    return rows.order_by("draw")


def givable(study: Study | OuterRef, verifier: User) -> QuerySet[Item]:
    """Items of a study with a free place: none of the verifier's own chats, none had, none of a kind avoided."""
    had = Assignment.objects.filter(item=OuterRef("pk"), verifier=verifier)
    rows = Item.objects.filter(~Exists(had.exclude(state=Assignment.State.RETURNED)))
    rows = rows.filter(study=study, kind=Item.Kind.UTTERANCE, free__gt=0)
    rows = rows.exclude(utterance__dialogue__worker=verifier)
    if verifier.avoid:
        rows = rows.annotate(avoided=F("harms").bitand(verifier.avoid)).filter(avoided=0)
    return rows


def _pick(rows: QuerySet[Item], count: int, rng: Random) -> list[Candidate]:
    """Takes a place at each of up to `count` of the items; none only where there is none to be had.

    Those that another is just taking are passed over. Only where that leaves nothing are they waited for, in the
    order of their keys and without holding any: PostgreSQL keeps the lock of a row that turns out to have no free
    place, until the savepoint is rolled back.
    """
    savepoint = transaction.savepoint()
    taken: list[Candidate] = []
    for window in _windows(rows, rng.getrandbits(31), 4 * count):
        taken += _lock_from(window, count - len(taken))
        if len(taken) == count:
            break
    while not taken:
        transaction.savepoint_rollback(savepoint)
        left = [Candidate(*row) for row in _placed(rows)[:count]]
        if not left:
            break
        taken = _lock(left, skip=False)
    transaction.savepoint_commit(savepoint)
    Item.objects.filter(pk__in=[candidate.pk for candidate in taken]).update(free=F("free") - 1)
    return taken


def _lock_from(window: list[Candidate], count: int) -> list[Candidate]:
    """Up to `count` of the window, locked, of as many different chats as there are; others' are passed over."""
    taken: list[Candidate] = []
    while window and len(taken) < count:
        wanted = _mixed(window, count - len(taken))
        taken += _lock(wanted, skip=True)
        window = [candidate for candidate in window if candidate not in wanted]
    return taken


def _windows(rows: QuerySet[Item], start: int, size: int) -> Iterator[list[Candidate]]:
    """The items a window at a time, from `start` in the seeded order round to it again; each item once."""
    for part in (rows.filter(draw__gte=start), rows.filter(draw__lt=start)):
        seen: set[int] = set()
        while True:
            window = [Candidate(*row) for row in _placed(part.exclude(pk__in=seen) if seen else part)[:size]]
            yield window
            if len(window) < size:
                break
            seen.update(candidate.pk for candidate in window)


def _placed(rows: QuerySet[Item]) -> QuerySet[Item, tuple[int, int, int]]:
    return rows.values_list("pk", "utterance__dialogue_id", "utterance__number")


def _mixed(window: list[Candidate], count: int) -> list[Candidate]:
    """Up to `count` of the candidates, of as many different chats as there are."""
    chats: set[int] = set()
    first: list[Candidate] = []
    rest: list[Candidate] = []
    for candidate in window:
        (rest if candidate.dialogue_id in chats else first).append(candidate)
        chats.add(candidate.dialogue_id)
    return (first + rest)[:count]


def _lock(candidates: list[Candidate], *, skip: bool) -> list[Candidate]:
    """Those candidates that still have a free place, locked; `skip`: less those that another has locked."""
    rows = Item.objects.select_for_update(no_key=True, skip_locked=skip)
    keys = [candidate.pk for candidate in candidates]
    free = set(rows.filter(pk__in=keys, free__gt=0).order_by("pk").values_list("pk", flat=True))
    return [candidate for candidate in candidates if candidate.pk in free]


def _gold(plan: Plan, verifier: User, rng: Random) -> tuple[list[int], set[int]]:
    """The gold items for a new batch, and the utterances that the verifier has had or will have as gold items.

    An utterance that still wants votes is not given as a gold item: everybody who had it so would be barred from
    voting on it, and in a small study nobody might be left.
    """
    had = Assignment.objects.filter(verifier=verifier).exclude(state=Assignment.State.RETURNED)
    as_item = had.filter(item__kind=Item.Kind.UTTERANCE, item__utterance=OuterRef("utterance"))
    wanting = Item.objects.filter(
        kind=Item.Kind.UTTERANCE, utterance=OuterRef("utterance"), votes_in__lt=F("wanted")
    )
    rows = Item.objects.filter(study=plan.study_id, kind=Item.Kind.GOLD).annotate(
        given=Exists(had.filter(item=OuterRef("pk"))), judged=Exists(as_item), wanting=Exists(wanting)
    )
    values = rows.values_list(
        "pk", "utterance", "utterance__dialogue__worker", "harms", "retired_at", "given", "judged", "wanting"
    )
    barred, fresh = set(), []
    for pk, utterance, worker, harms, retired, *no in values.order_by("pk"):
        if no[0] and utterance:
            barred.add(utterance)
        if not (any(no) or retired or worker == verifier.pk or harms & verifier.avoid):
            fresh.append((pk, utterance))
    chosen = rng.sample(fresh, min(len(fresh), _gold_wanted(plan, rng)))
    return [pk for pk, _ in chosen], barred | {utterance for _, utterance in chosen if utterance}


def _gold_wanted(plan: Plan, rng: Random) -> int:
    """How many gold items a batch is to hold: drawn where its share is no whole number, so that a small one counts.

    One place is left for another item.
    """
    share = plan.gold_share * plan.batch_size
    drawn = int(share) + (rng.random() < share % 1 if share % 1 else 0)
    return min(drawn, plan.batch_size - 1)


def _in_order(chosen: list[Candidate], gold: list[int], rng: Random) -> list[int]:
    """The items of a batch as they are shown: shuffled, except that one chat's come in its own order.

    An utterance shown gives away those before it, so that a later one must not come first.
    """
    shown: list[Candidate | int] = [*chosen, *gold]
    rng.shuffle(shown)
    by_chat: dict[int, list[Candidate]] = {}
    for candidate in sorted(chosen, key=lambda candidate: -candidate.number):
        by_chat.setdefault(candidate.dialogue_id, []).append(candidate)
    return [place if isinstance(place, int) else by_chat[place.dialogue_id].pop().pk for place in shown]


def _assign(batch: Batch, item_ids: list[int]) -> None:
    """Gives the items to the batch's verifier. One given back before is given anew, under the same number."""
    Assignment.objects.bulk_create(
        [
            Assignment(batch=batch, item_id=item_id, verifier_id=batch.verifier_id, position=position)
            for position, item_id in enumerate(item_ids, 1)
        ],
        update_conflicts=True,
        unique_fields=["item", "verifier"],
        update_fields=["batch", "position", "state", "shown_at"],
    )


# -- judging -------------------------------------------------------------------------------------------------


def _own(verifier_id: int, assignment_id: int) -> tuple[Assignment, timedelta]:
    """The verifier's assignment, its item locked, and how long the plan keeps a batch. Raises Refused not_yours.

    The verifier's row is locked, so that the assignment and its batch stay as they are.
    """
    found = store.own(verifier_id, assignment_id)
    if found is None:
        raise Refused("not_yours", NOT_YOURS, status=404)
    assignment, minutes = found
    return assignment, timedelta(minutes=minutes)


def show(*, verifier_id: int, assignment_id: int) -> Assignment:
    """The verifier's item, to be shown; notes when that was first done.

    Raises Refused not_yours, lease_over where it has been given back, on_break while a break has to be taken.
    """
    rows = Assignment.objects.select_related("item__utterance", "batch__study")
    found = rows.filter(pk=assignment_id, verifier=verifier_id).first()
    if found is None:
        raise Refused("not_yours", NOT_YOURS, status=404)
    if found.state == Assignment.State.RETURNED:
        raise Refused("lease_over", "The time for this message ran out. Take the next one.")
    if found.state == Assignment.State.HELD and found.shown_at is None:
        breaks.refuse_if_on_break(user_id=verifier_id, study_id=found.batch.study_id)
        found.shown_at = timezone.now()
        Assignment.objects.filter(pk=found.pk, shown_at=None).update(shown_at=found.shown_at)
    return found


@transaction.atomic
def show_all(*, verifier_id: int, batch_id: int) -> Batch:
    """The verifier's batch, to be shown as a whole, as scripts get it. Raises Refused not_yours, on_break."""
    batch = _own_batch(verifier_id, batch_id)
    breaks.refuse_if_on_break(user_id=verifier_id, study_id=batch.study_id)
    held = Assignment.objects.filter(batch=batch, state=Assignment.State.HELD, shown_at=None)
    held.update(shown_at=timezone.now())
    return batch


@transaction.atomic
def vote(
    *, verifier_id: int, assignment_id: int, ok: bool, categories: Collection[str] = (), note: str = ""
) -> Vote:
    """Stores the verifier's vote. The same again changes nothing; another one replaces it, on the audit trail.

    The last vote wanted has the item merged, and the last of a batch ends it. A vote that comes after its lease
    has run out, or after a skip, counts where the item still has a place. Raises Refused bad_vote, not_yours,
    lease_over (others have filled the item), too_late (to change a vote), blocked, paused.
    """
    judgement = _judgement(ok=ok, categories=categories, note=note)
    refuse_if_blocked(store.lock_verifier(verifier_id))
    assignment, lease = _own(verifier_id, assignment_id)
    now = timezone.now()
    if assignment.state == Assignment.State.VOTED:
        return _change(assignment, judgement, now)
    if assignment.state != Assignment.State.HELD:
        _take_again(assignment)
    shown = assignment.shown_at
    stored = Vote(
        item=assignment.item,
        verifier_id=verifier_id,
        at=now,
        seconds=min(LONGEST_LOOK, max(0.0, (now - shown).total_seconds())) if shown else None,
        **judgement,
    )
    insert_one(stored)
    _count_in(assignment.item, now)
    assignment.state = Assignment.State.VOTED
    update(assignment, ["state"])
    pause = None if ok else breaks.note(user_id=verifier_id, study_id=assignment.batch.study_id)
    _go_on(assignment.batch, until=(pause.until if pause else now) + lease)
    if assignment.item.kind == Item.Kind.GOLD:
        quality.hold_to_floor(study=assignment.batch.study, verifier=assignment.verifier)
    return stored


def _judgement(*, ok: bool, categories: Collection[str], note: str) -> dict[str, bool | str]:
    """The columns of a vote. Raises Refused bad_vote."""
    unknown = set(categories) - set(CATEGORIES)
    if unknown or ok == bool(categories):
        names = ", ".join(CATEGORIES)
        detail = f"Say that the message is OK, or choose what is wrong with it: one or more of {names}."
        raise Refused("bad_vote", detail, status=422)
    note = one_line(note)
    if len(note) > LONGEST_NOTE:
        raise Refused("bad_vote", f"Shorten the note to {LONGEST_NOTE} characters.", status=422)
    return {"ok": ok, "note": note, **{category: category in categories for category in CATEGORIES}}


def _take_again(assignment: Assignment) -> None:
    """Takes back a place that was given back or skipped, as `take` would give it.

    Raises Refused lease_over, paused, verification_closed, no_such_study, consent_first.
    """
    study = study_for_verifier(verifier=assignment.verifier, slug=assignment.batch.study.slug)
    quality.refuse_if_paused(study=study, verifier=assignment.verifier)
    refuse_if_closed(plan_of(study))
    item = assignment.item
    if item.kind == Item.Kind.UTTERANCE:
        if item.free == 0:
            raise Refused("lease_over", LEASE_OVER)
        item.free -= 1


def _count_in(item: Item, now: datetime) -> None:
    """Counts one vote more, in a place that is taken already. With the last vote wanted, the item is due."""
    if item.kind != Item.Kind.UTTERANCE:
        return
    item.votes_in += 1
    if item.votes_in == item.wanted:
        item.due_at = now
        merging.send(item.pk)
    update(item, ["free", "votes_in", "due_at"])


def _change(assignment: Assignment, judgement: dict[str, bool | str], now: datetime) -> Vote:
    """Replaces a vote, which is kept on the audit trail. Raises Refused too_late."""
    stored = Vote.objects.get(item=assignment.item, verifier=assignment.verifier_id)
    before = {name: getattr(stored, name) for name in judgement}
    if before == judgement:
        return stored
    closed_at = assignment.batch.closed_at
    if (closed_at and now - closed_at > UNDO) or stored.set_aside_at:
        raise Refused("too_late", "This vote can no longer be changed: its batch has ended.")
    for name, value in judgement.items():
        setattr(stored, name, value)
    stored.changed_at, stored.changes = now, stored.changes + 1
    stored.save(update_fields=[*judgement, "changed_at", "changes"])
    record(
        action="vote_changed",
        study=assignment.batch.study,
        actor=assignment.verifier,
        about=assignment.verifier,
        item=assignment.item_id,
        before=before,
        after=judgement,
    )
    item = assignment.item
    if item.kind == Item.Kind.UTTERANCE and item.votes_in == item.wanted:
        item.due_at = now
        item.save(update_fields=["due_at"])
        merging.send(item.pk)
    return stored


def _go_on(batch: Batch, *, until: datetime) -> None:
    """Ends an open batch of which nothing is held any more; else keeps it until then."""
    if batch.closed_at:
        return
    if not store.keep(batch, until=until):
        close(batch, Batch.End.DONE, timezone.now())


@transaction.atomic
def skip(*, verifier_id: int, assignment_id: int) -> Assignment:
    """Leaves an item to others, at no cost; it is never offered to this verifier again. Twice is once.

    Raises Refused not_yours, too_late where it has been voted on.
    """
    store.lock_verifier(verifier_id)
    assignment, lease = _own(verifier_id, assignment_id)
    if assignment.state == Assignment.State.VOTED:
        raise Refused("too_late", "You have judged this one already. Change your vote instead.")
    if assignment.state == Assignment.State.HELD and assignment.item.kind == Item.Kind.UTTERANCE:
        assignment.item.free += 1
        assignment.item.save(update_fields=["free"])
    assignment.state = Assignment.State.SKIPPED
    assignment.save(update_fields=["state"])
    _go_on(assignment.batch, until=timezone.now() + lease)
    return assignment


# -- keeping and giving back ---------------------------------------------------------------------------------


def _own_batch(verifier_id: int, batch_id: int) -> Batch:
    batch = Batch.objects.select_related("study").filter(pk=batch_id, verifier=verifier_id).first()
    if batch is None:
        raise Refused("not_yours", "This batch is not here, or it is not yours.", status=404)
    return batch


@transaction.atomic
def renew(*, verifier_id: int, batch_id: int) -> Batch:
    """Keeps an open batch for as long again. Raises Refused not_yours, lease_over."""
    store.lock_verifier(verifier_id)
    batch = _own_batch(verifier_id, batch_id)
    if batch.closed_at:
        raise Refused("lease_over", "This batch has ended. Take the next one.")
    batch.leased_until = timezone.now() + timedelta(minutes=plan_of(batch.study).lease_minutes)
    batch.save(update_fields=["leased_until"])
    return batch


@transaction.atomic
def give_back(*, verifier_id: int, batch_id: int) -> Batch:
    """Ends a batch; what is not judged goes to others, what is counts. Twice is once. Raises Refused not_yours."""
    store.lock_verifier(verifier_id)
    batch = _own_batch(verifier_id, batch_id)
    if batch.closed_at is None:
        close(batch, Batch.End.LEFT, timezone.now())
    return batch


@transaction.atomic
def end_all(*, verifier: User) -> int:
    """Ends the open batches, in every study, of somebody who has been blocked. How many."""
    return close_open(verifier=lock_verifier(verifier.pk), reason=Batch.End.PAUSED)


def expire(limit: int = 1000) -> int:
    """Ends batches whose time has run out. How many. Safe to run twice."""
    run_out = Batch.objects.filter(closed_at=None, leased_until__lt=timezone.now()).order_by("leased_until")
    return sum(_expire(*row) for row in list(run_out.values_list("pk", "verifier")[:limit]))


@transaction.atomic
def _expire(batch_id: int, verifier_id: int) -> bool:
    lock_verifier(verifier_id)
    now = timezone.now()
    batch = Batch.objects.filter(pk=batch_id, closed_at=None, leased_until__lt=now).first()
    if batch:
        close(batch, Batch.End.EXPIRED, now)
    return batch is not None
