"""Breaks, opting out, and how much each person has read."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.chats import services as chats
from annotations.models import Batch, Break, Vote
from annotations.people.errors import Refused
from annotations.studies import breaks
from annotations.studies import services as studies
from annotations.verification import batches, care
from tests.factories import (
    DialogueFactory,
    StudyFactory,
    make_dialogue,
    make_items,
    make_plan,
    make_verifier,
    make_vote,
    make_worker,
)

pytestmark = pytest.mark.django_db


def code_of(verb, **values):
    with pytest.raises(Refused) as refusal:
        verb(**values)
    return refusal.value.code


def reading(study, **plan):
    """A batch of twenty items."""
    make_plan(study, batch_size=20, **plan)
    make_items(study, 20)
    return batches.take(verifier=make_verifier(study), slug=study.slug)


def test_a_break_is_suggested_after_so_many_upsetting_messages():
    study = StudyFactory()
    batch = reading(study, soft_limit=3, break_minutes=10)
    for ok in (False, True, False, True):
        make_vote(batch, ok=ok)
    assert breaks.current(user_id=batch.verifier.pk, study_id=study.pk) is None

    before = timezone.now()
    make_vote(batch, ok=False)

    found = breaks.current(user_id=batch.verifier.pk, study_id=study.pk)
    assert (found.upsetting, found.binding) == (3, False)
    assert timedelta(minutes=10) <= found.until - before < timedelta(minutes=11)
    batch.refresh_from_db()
    assert batch.leased_until - found.until >= timedelta(minutes=19)


def test_after_a_break_the_count_starts_again():
    study = StudyFactory()
    batch = reading(study, soft_limit=2)
    for _ in range(3):
        make_vote(batch, ok=False)
    assert Break.objects.count() == 1

    make_vote(batch, ok=False)

    assert list(Break.objects.values_list("upsetting", flat=True)) == [2, 2]


def test_yesterday_does_not_count():
    study = StudyFactory()
    batch = reading(study, soft_limit=2)
    make_vote(batch, ok=False)
    Vote.objects.update(at=timezone.now() - timedelta(days=1))

    make_vote(batch, ok=False)

    assert Break.objects.count() == 0


def test_a_limit_of_0_is_none():
    study = StudyFactory()
    batch = reading(study, soft_limit=0)

    for _ in range(5):
        make_vote(batch, ok=False)

    assert Break.objects.count() == 0


def test_during_a_binding_break_no_new_message_is_shown_but_what_is_shown_can_be_judged():
    study = StudyFactory()
    batch = reading(study, soft_limit=1, break_minutes=12, break_binding=True)
    shown, next_ = batch.assignments.order_by("position")[1:3]
    who = {"verifier_id": batch.verifier_id}
    batches.show(**who, assignment_id=shown.pk)
    make_vote(batch, ok=False)

    with pytest.raises(Refused) as refusal:
        batches.show(**who, assignment_id=next_.pk)
    batches.vote(**who, assignment_id=shown.pk, ok=True)

    assert refusal.value.code == "on_break"
    assert refusal.value.detail == (
        "Time for a break: you have read a lot that upsets. Come back in 12 minutes."
    )
    assert Break.objects.get().binding

    Break.objects.update(until=timezone.now())
    assert batches.show(**who, assignment_id=next_.pk).shown_at


def test_the_place_is_kept_over_a_break():
    study = StudyFactory()
    batch = reading(study, soft_limit=1, break_minutes=60, lease_minutes=5)

    make_vote(batch, ok=False)

    assert Batch.objects.get().leased_until - timezone.now() > timedelta(minutes=64)


def test_a_workers_unsafe_labels_lead_to_a_break_before_the_next_chat():
    study = StudyFactory()
    make_plan(study, soft_limit=2, break_binding=True)
    worker = make_worker(study)
    make_dialogue(["Hi there you", "Go away."], [">=50"], study=study, worker=worker, **_over())
    dialogue = make_dialogue(["Hi there you", "Go away."], study=study, worker=worker, wanted=2)
    values = {"worker_id": worker.pk, "dialogue_id": dialogue.pk, "number": 2}

    chats.label(**values, bin_="0")
    assert Break.objects.count() == 0
    chats.label(**values, bin_="<10")
    chats.label(**values, bin_="<10")

    assert Break.objects.get().upsetting == 2
    assert code_of(chats.start_chat, worker=worker, slug=study.slug) == "on_break"
    Break.objects.update(binding=False)
    assert chats.start_chat(worker=worker, slug=study.slug)[1]


def _over():
    return {"state": "complete", "end_reason": "complete", "ended_at": timezone.now(), "wanted": 2}


def test_an_open_chat_is_gone_on_with_whatever_the_break():
    study = StudyFactory()
    worker = make_worker(study)
    dialogue = DialogueFactory(study=study, worker=worker)
    now = timezone.now()
    Break.objects.create(
        study=study, user=worker, at=now, until=now + timedelta(minutes=9), binding=True, upsetting=15
    )

    assert chats.start_chat(worker=worker, slug=study.slug) == (dialogue, False)


def test_a_study_without_a_plan_has_no_breaks():
    study = StudyFactory()
    dialogue = make_dialogue(["Hi there you", "Go away."], study=study)

    chats.label(worker_id=dialogue.worker_id, dialogue_id=dialogue.pk, number=2, bin_=">=50")

    assert Break.objects.count() == 0


def test_chats_and_verification_count_together_but_not_other_studies():
    study, other = StudyFactory(), StudyFactory()
    batch = reading(study, soft_limit=2)
    studies.join(study=study, user=batch.verifier, role="worker")
    for where in (study, other):
        make_dialogue(["Hi there you", "Go away."], [">=50"], study=where, worker=batch.verifier)

    make_vote(batch, ok=False)

    assert Break.objects.get().upsetting == 2
    today = timezone.now() - timedelta(hours=1)
    assert breaks.upsetting(user_id=batch.verifier.pk, study_id=study.pk, since=today) == 2
    assert breaks.upsetting(user_id=batch.verifier.pk, study_id=other.pk, since=today) == 1


def test_how_much_each_person_has_read():
    study = StudyFactory()
    batch = reading(study, soft_limit=1)
    make_vote(batch, ok=False)
    make_vote(batch, ok=True)
    dialogue = make_dialogue(["Hi there you", "Go away.", "Why?", "So."], [">=50", "0"], study=study)
    make_dialogue(["Hi there you", "Go away."], [">=50"], study=StudyFactory())

    rows = {row.user: row for row in care.exposure(study)}

    verifier = rows[batch.verifier]
    assert (verifier.judged, verifier.upsetting, verifier.breaks, verifier.read) == (2, 1, 1, 2)
    worker = rows[dialogue.worker]
    assert (worker.labelled, worker.upsetting, worker.breaks, worker.read) == (2, 1, 0, 2)
    assert len(rows) == 3  # with the worker of the twenty messages


@pytest.mark.parametrize("people", [1, 3])
def test_exposure_costs_the_same_however_many_people(people):
    study = StudyFactory()
    make_items(study)
    for _ in range(people):
        make_vote(batches.take(verifier=make_verifier(study), slug=study.slug))

    with CaptureQueriesContext(connection) as queries:
        assert len(care.exposure(study)) == people + 1

    assert len(queries) == 4
