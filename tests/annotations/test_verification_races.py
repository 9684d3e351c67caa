"""Real threads, each with a connection of its own, after the same items at the same moment."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from annotations.console import services as console
from annotations.models import Assignment, Batch, Dialogue, Item, Merged, Vote
from annotations.people.errors import Refused
from annotations.studies import services as studies
from annotations.verification import batches, merging, quality
from annotations.verification import services as verification
from tests.annotations.test_races import at_once
from tests.factories import (
    StudyFactory,
    make_finished,
    make_gold,
    make_items,
    make_plan,
    make_researcher,
    make_verifier,
    make_vote,
)

pytestmark = pytest.mark.django_db(transaction=True)


def takes(study, verifiers):
    return [lambda person=person: batches.take(verifier=person, slug=study.slug) for person in verifiers]


def judge_all(study, verifier):
    """Takes and judges until nothing is left. How many votes."""
    votes = 0
    while True:
        try:
            batch = batches.take(verifier=verifier, slug=study.slug)
        except Refused as refusal:
            assert refusal.code == "nothing_left"
            return votes
        for row in batch.assignments.filter(state="held"):
            batches.vote(verifier_id=verifier.pk, assignment_id=row.pk, ok=True)
            votes += 1


def sound():
    """Places and votes agree: nobody twice, none too many, nothing lost."""
    for item in Item.objects.filter(kind="utterance").prefetch_related("assignments", "votes"):
        held = sum(row.state == "held" for row in item.assignments.all())
        counted = sum(vote.set_aside_at is None for vote in item.votes.all())
        assert item.votes_in == counted
        assert item.free + item.votes_in + held == item.wanted
    return True


def test_twelve_verifiers_on_few_items_leave_exactly_the_votes_wanted():
    study = StudyFactory()
    make_plan(study, batch_size=3)
    items = make_items(study, 4) + make_items(study, 4)
    verifiers = [make_verifier(study) for _ in range(12)]

    votes = at_once(*[lambda person=person: judge_all(study, person) for person in verifiers])

    assert sum(votes) == 3 * len(items)
    assert set(Item.objects.values_list("votes_in", "free")) == {(3, 0)}
    assert set(Counter(Vote.objects.values_list("item", "verifier")).values()) == {1}
    assert sound()


def test_twenty_verifiers_after_twenty_four_places_leave_none():
    study = StudyFactory()
    make_plan(study, votes_wanted=2, batch_size=2)
    for _ in range(3):
        make_items(study, 4)

    results = at_once(*takes(study, [make_verifier(study) for _ in range(20)]))

    assert Assignment.objects.count() == 24
    assert set(Item.objects.values_list("free", flat=True)) == {0}
    assert results.count("nothing_left") <= 8  # as many as come too late where all others get whole batches
    assert sound()


def test_one_verifier_pressing_ten_times_has_one_batch():
    study = StudyFactory()
    make_items(study, 40)

    results = at_once(*takes(study, [make_verifier(study)] * 10))

    assert len(set(results)) == 1
    assert Assignment.objects.count() == 10
    assert sound()


def test_a_vote_sent_ten_times_at_once_is_one():
    study = StudyFactory()
    make_items(study)
    batch = batches.take(verifier=make_verifier(study), slug=study.slug)
    row = batch.assignments.first()

    values = {"verifier_id": batch.verifier_id, "assignment_id": row.pk, "ok": True}
    results = at_once(*[lambda: batches.vote(**values)] * 10)

    assert len(set(results)) == 1
    assert Vote.objects.get().changes == 0
    assert sound()


def test_the_last_two_votes_of_a_batch_at_once_end_it():
    study = StudyFactory()
    make_items(study)
    batch = batches.take(verifier=make_verifier(study), slug=study.slug)

    at_once(
        *[
            lambda row=row: batches.vote(verifier_id=batch.verifier_id, assignment_id=row.pk, ok=True)
            for row in batch.assignments.all()
        ]
    )

    batch.refresh_from_db()
    assert batch.end_reason == "done"


def test_a_lease_that_runs_out_while_its_owner_votes():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    for _ in range(4):
        make_items(study, 2)
    held = batches.take(verifier=make_verifier(study), slug=study.slug)
    others = [make_verifier(study) for _ in range(3)]
    Batch.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    rows = list(held.assignments.all())

    at_once(
        *[
            lambda row=row: batches.vote(verifier_id=row.verifier_id, assignment_id=row.pk, ok=True)
            for row in rows
        ],
        batches.expire,
        batches.expire,
        *takes(study, others),
    )

    assert Vote.objects.count() == Item.objects.filter(votes_in=1).count()
    assert sound()


def test_voting_skipping_giving_back_and_pausing_at_once_lose_no_place():
    study = StudyFactory()
    make_plan(study, votes_wanted=2)
    for _ in range(5):
        make_items(study, 2)
    researcher = make_researcher(study)
    held = [batches.take(verifier=make_verifier(study), slug=study.slug) for _ in range(2)]
    verbs = []
    for batch in held:
        who = {"verifier_id": batch.verifier_id}
        keys = list(batch.assignments.values_list("pk", flat=True))
        verbs += [
            lambda who=who, key=key: batches.vote(**who, assignment_id=key, ok=True) for key in keys[:3]
        ]
        verbs += [lambda who=who, key=key: batches.skip(**who, assignment_id=key) for key in keys[3:5]]
        verbs.append(lambda who=who, batch=batch: batches.give_back(**who, batch_id=batch.pk))
        verbs.append(
            lambda batch=batch: quality.pause(
                study=study, verifier=batch.verifier, reason="Too quick.", actor=researcher
            )
        )
        verbs.append(
            lambda batch=batch: quality.set_aside(study=study, verifier=batch.verifier, actor=researcher)
        )

    at_once(*verbs, *takes(study, [make_verifier(study) for _ in range(3)]))

    assert Assignment.objects.filter(state="held", batch__closed_at__isnull=False).count() == 0
    assert sound()


def test_setting_aside_while_others_vote_and_labels_are_merged():
    study = StudyFactory()
    make_plan(study, votes_wanted=2)
    items = make_items(study, 10)
    careless = make_verifier(study)
    judge_all(study, careless)
    batch = batches.take(verifier=make_verifier(study), slug=study.slug)
    rows = list(batch.assignments.all())

    at_once(
        *[
            lambda row=row: batches.vote(
                verifier_id=row.verifier_id, assignment_id=row.pk, ok=False, categories=["hate"]
            )
            for row in rows
        ],
        lambda: quality.set_aside(study=study, verifier=careless, actor=make_researcher(study)),
        *[merging.merge_due] * 3,
    )
    merging.merge_due()

    assert set(Item.objects.values_list("votes_in", "free")) == {(1, 1)}
    assert Merged.objects.count() == 0
    assert len(items) == Vote.objects.filter(set_aside_at=None).count()
    assert sound()


def test_a_verifier_blocked_or_paused_while_taking_is_left_with_nothing():
    study = StudyFactory()
    make_items(study, 10)
    researcher = make_researcher(study)
    people = [make_verifier(study) for _ in range(6)]
    for person in people[:3]:
        studies.join(study=study, user=person, role="worker")
    stops = [
        lambda p=p: console.block(study=study, worker_id=p.pk, by=researcher, reason="Copied.")
        for p in people[:3]
    ] + [
        lambda p=p: quality.pause(study=study, verifier=p, reason="Too quick.", actor=researcher)
        for p in people[3:]
    ]

    at_once(*takes(study, people), *stops)

    assert Batch.objects.filter(closed_at=None).count() == 0
    assert set(Item.objects.values_list("free", flat=True)) == {3}


def test_a_chat_opened_by_ten_at_once_has_each_item_once():
    dialogues = [make_finished(["Hi there you", "Go away."] * 3) for _ in range(3)]

    at_once(*[verification.open_finished] * 10)

    assert Item.objects.count() == 18
    assert Dialogue.objects.filter(items_at=None).count() == 0
    assert len(dialogues) == 3


def test_an_item_merged_by_ten_at_once_has_each_label_once():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    item, _ = make_items(study)
    make_vote(batches.take(verifier=make_verifier(study), slug=study.slug), item=item)

    results = at_once(*[lambda: merging.merge_item(item.pk)] * 5, *[merging.merge_due] * 5)

    assert Merged.objects.count() == 4
    assert sum(bool(result) for result in results) == 1
    assert Merged.objects.filter(label="ok").count() == 4


def test_the_floor_reached_by_two_votes_at_once_pauses_once():
    study = StudyFactory()
    make_plan(study, gold_share=0.5, batch_size=4, floor_after=1)
    make_items(study, 4)
    golds = [make_gold(study), make_gold(study)]
    batch = batches.take(verifier=make_verifier(study), slug=study.slug)

    at_once(*[lambda gold=gold: make_vote(batch, item=gold, ok=False) for gold in golds])

    batch.refresh_from_db()
    assert batch.end_reason == "paused"
    assert Item.objects.filter(kind="utterance").exclude(free=F("wanted")).count() == 0
