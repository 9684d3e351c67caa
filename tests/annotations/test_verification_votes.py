"""Votes: what counts, once, and what may still be changed."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.models import Assignment, AuditEntry, Batch, Item, User, Vote
from annotations.people.errors import Refused
from annotations.verification import batches, quality
from tests.factories import StudyFactory, make_items, make_plan, make_researcher, make_verifier, make_vote

pytestmark = pytest.mark.django_db


def given(study=None, count=2, **plan):
    """A batch with items of a study of its own."""
    study = study or StudyFactory()
    make_plan(study, **plan)
    make_items(study, count)
    return batches.take(verifier=make_verifier(study), slug=study.slug)


def first(batch):
    return batch.assignments.order_by("position").first()


def vote(row, *, ok=True, **values):
    values = {"categories": () if ok else ("attack",), **values}
    return batches.vote(verifier_id=row.verifier_id, assignment_id=row.pk, ok=ok, **values)


def code_of(verb, *arguments, **values):
    with pytest.raises(Refused) as refusal:
        verb(*arguments, **values)
    return refusal.value.code


def shown_before(row, **ago):
    Assignment.objects.filter(pk=row.pk).update(shown_at=timezone.now() - timedelta(**ago))


def lose(batch):
    """Has the batch run out."""
    Batch.objects.filter(pk=batch.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    assert batches.expire() == 1


def test_a_vote_is_stored_with_its_categories_note_and_time():
    row = first(given())
    shown_before(row, seconds=30)

    stored = vote(row, ok=False, categories=["hate", "other"], note=" Against\na group ")

    stored.refresh_from_db()
    assert (stored.ok, stored.hate, stored.attack, stored.profanity, stored.other) == (
        False,
        True,
        False,
        False,
        True,
    )
    assert stored.note == "Against a group"
    assert 30 <= stored.seconds < 60
    item = Item.objects.get(pk=row.item_id)
    assert (item.votes_in, item.free, item.wanted) == (1, 2, 3)
    row.refresh_from_db()
    assert row.state == "voted"


@pytest.mark.parametrize(("ago", "seconds"), [({"hours": 9}, 3600), ({"hours": -1}, 0)])
def test_time_away_is_not_counted(ago, seconds):
    row = first(given())
    shown_before(row, **ago)

    assert vote(row).seconds == seconds


def test_what_was_never_shown_has_no_time():
    assert vote(first(given())).seconds is None


@pytest.mark.parametrize(
    "values",
    [
        {"ok": True, "categories": ["hate"]},
        {"ok": False, "categories": []},
        {"ok": False, "categories": ["rude"]},
        {"ok": True, "note": "x" * 501},
    ],
)
def test_votes_that_make_no_sense_are_refused(values):
    row = first(given())

    assert code_of(vote, row, **values) == "bad_vote"
    assert Vote.objects.count() == 0


def test_the_same_vote_twice_is_one():
    batch = given()
    row = first(batch)

    assert vote(row, note="Hm") == vote(row, note="Hm")

    assert Item.objects.get(pk=row.item_id).votes_in == 1
    assert Vote.objects.get().changes == 0


def test_the_last_vote_ends_the_batch():
    batch = given()

    make_vote(batch)
    batch.refresh_from_db()
    assert batch.closed_at is None

    make_vote(batch)
    batch.refresh_from_db()
    assert batch.end_reason == "done"


def test_the_last_vote_wanted_has_the_item_merged(django_capture_on_commit_callbacks):
    study = StudyFactory()
    batch = given(study, votes_wanted=2)
    item = first(batch).item
    other = batches.take(verifier=make_verifier(study), slug=study.slug)

    make_vote(batch, item=item)
    assert Item.objects.get(pk=item.pk).due_at is None
    with django_capture_on_commit_callbacks() as sent:
        make_vote(other, item=item)

    assert Item.objects.get(pk=item.pk).due_at is not None
    assert len(sent) == 1


def test_a_vote_can_be_undone_and_the_old_one_is_on_the_audit_trail():
    study = StudyFactory()
    batch = given(study)
    row = first(batch)
    vote(row, ok=False, categories=["profanity"])

    changed = vote(row, ok=True)

    stored = Vote.objects.get()
    assert changed == stored
    assert (stored.ok, stored.profanity, stored.changes) == (True, False, 1)
    assert stored.changed_at is not None
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor_id, entry.study) == ("vote_changed", batch.verifier_id, study)
    assert (entry.detail["before"]["profanity"], entry.detail["after"]["ok"]) == (True, True)
    assert Item.objects.get(pk=row.item_id).votes_in == 1


def test_ten_minutes_after_the_batch_a_vote_stays():
    batch = given()
    row = first(batch)
    make_vote(batch)
    make_vote(batch)
    vote(row, ok=False)
    Batch.objects.update(closed_at=timezone.now() - timedelta(minutes=11))

    assert code_of(vote, row, ok=True) == "too_late"
    assert vote(row, ok=False).changes == 1
    assert not Vote.objects.get(item=row.item_id).ok


def test_a_changed_vote_of_a_finished_item_is_merged_again():
    batch = given(votes_wanted=1)
    row = first(batch)
    vote(row)
    Item.objects.update(due_at=None)

    vote(row, ok=False)

    assert Item.objects.get(pk=row.item_id).due_at is not None


def test_a_vote_after_the_lease_counts_where_there_is_still_a_place():
    batch = given(votes_wanted=1)
    row = first(batch)
    lose(batch)

    vote(row)
    vote(row)

    item = Item.objects.get(pk=row.item_id)
    assert (item.votes_in, item.free) == (1, 0)
    batch.refresh_from_db()
    assert batch.end_reason == "expired"


def test_a_vote_after_the_lease_is_refused_where_others_have_the_place():
    study = StudyFactory()
    batch = given(study, votes_wanted=1)
    row = first(batch)
    lose(batch)
    batches.take(verifier=make_verifier(study), slug=study.slug)

    assert code_of(vote, row) == "lease_over"
    assert Vote.objects.count() == 0
    assert Item.objects.get(pk=row.item_id).votes_in == 0


def test_an_item_given_back_and_given_again_keeps_its_number():
    study = StudyFactory()
    batch = given(study)
    row = first(batch)
    lose(batch)

    again = batches.take(verifier=batch.verifier, slug=study.slug)
    vote(row)

    row.refresh_from_db()
    assert (row.batch_id, row.state) == (again.pk, "voted")
    assert Item.objects.get(pk=row.item_id).votes_in == 1


def test_a_skip_can_be_undone_by_a_vote():
    batch = given(votes_wanted=1)
    row = first(batch)
    batches.skip(verifier_id=row.verifier_id, assignment_id=row.pk)

    vote(row)

    item = Item.objects.get(pk=row.item_id)
    assert (item.votes_in, item.free) == (1, 0)


def test_after_a_pause_no_vote_comes_in_late():
    study = StudyFactory()
    batch = given(study)
    row = first(batch)

    quality.pause(study=study, verifier=batch.verifier, reason="Too quick.", actor=make_researcher(study))

    assert code_of(vote, row) == "paused"
    assert set(Item.objects.values_list("free", flat=True)) == {3}


@pytest.mark.parametrize("count", [2, 6])
def test_a_vote_costs_the_same_however_many_items_there_are(count):
    row = first(given(count=count))

    with CaptureQueriesContext(connection) as queries:
        vote(row)

    assert len(queries) == 8


def test_who_is_blocked_neither_votes_nor_changes_a_vote():
    batch = given()
    voted, held = batch.assignments.order_by("position")
    vote(voted)

    User.objects.filter(pk=batch.verifier_id).update(blocked_at=timezone.now(), blocked_reason="Spam.")

    assert code_of(vote, held) == "blocked"
    assert code_of(vote, voted, ok=False) == "blocked"
    assert list(Vote.objects.values_list("ok", "changes")) == [(True, 0)]


def test_a_late_vote_is_not_taken_where_verification_is_closed():
    study = StudyFactory()
    make_plan(study)
    make_items(study, 2)
    verifier = make_verifier(study)
    batch = batches.take(verifier=verifier, slug=study.slug)
    late = batch.assignments.first()
    batches.give_back(verifier_id=verifier.pk, batch_id=batch.pk)
    make_plan(study, open=False)

    with pytest.raises(Refused) as refusal:
        batches.vote(verifier_id=verifier.pk, assignment_id=late.pk, ok=True)

    assert (refusal.value.code, Vote.objects.count()) == ("verification_closed", 0)
