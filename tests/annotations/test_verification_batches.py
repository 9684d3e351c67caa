"""What a verifier is given, keeps and gives back."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.console import services as console
from annotations.models import Assignment, Batch, Break, Item
from annotations.people.errors import Refused
from annotations.studies import services as studies
from annotations.verification import batches, quality
from annotations.verification import services as verification
from tests.factories import (
    StudyFactory,
    UserFactory,
    make_finished,
    make_gold,
    make_items,
    make_plan,
    make_researcher,
    make_verifier,
    make_vote,
    make_worker,
)

pytestmark = pytest.mark.django_db


def take(study, verifier):
    return batches.take(verifier=verifier, slug=study.slug)


def items_of(batch):
    return list(Item.objects.filter(assignments__batch=batch).order_by("assignments__position"))


def refusal_of(verb, **values):
    with pytest.raises(Refused) as refusal:
        verb(**values)
    return refusal.value.code, refusal.value.status


def run_out(batch):
    Batch.objects.filter(pk=batch.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


# -- taking --------------------------------------------------------------------------------------------------


def test_a_batch_holds_as_many_items_as_the_plan_says_for_as_long():
    study = StudyFactory()
    make_plan(study, batch_size=4, lease_minutes=7)
    make_items(study, 10)

    before = timezone.now()
    batch = take(study, make_verifier(study))

    rows = list(batch.assignments.all())
    assert [row.position for row in rows] == [1, 2, 3, 4]
    assert {(row.state, row.shown_at) for row in rows} == {("held", None)}
    assert timedelta(minutes=7) <= batch.leased_until - before < timedelta(minutes=8)
    assert sorted(Item.objects.values_list("free", flat=True)) == [2] * 4 + [3] * 6


def test_who_has_a_batch_gets_it_again_and_keeps_it_longer():
    study = StudyFactory()
    make_items(study, 20)
    verifier = make_verifier(study)
    first = take(study, verifier)
    run_out(first)

    again = take(study, verifier)

    assert again == first
    assert again.leased_until > timezone.now()
    assert batches.current(verifier=verifier, slug=study.slug) == first
    assert Assignment.objects.count() == 10


def test_items_are_mixed_from_different_chats():
    study = StudyFactory()
    make_plan(study, batch_size=3)
    for _ in range(3):
        make_items(study, 6)

    batch = take(study, make_verifier(study))

    assert len({item.utterance.dialogue_id for item in items_of(batch)}) == 3


def test_two_items_of_one_chat_come_in_its_order():
    study = StudyFactory()
    make_items(study, 10)

    numbers = [item.utterance.number for item in items_of(take(study, make_verifier(study)))]

    assert numbers == sorted(numbers)
    assert len(numbers) == 10


def test_the_same_seed_gives_the_same_batch_and_the_next_batch_is_another():
    study = StudyFactory()
    make_plan(study, batch_size=5)
    for _ in range(20):
        make_items(study, 2)
    verifier = make_verifier(study)
    first = take(study, verifier)
    keys = [item.pk for item in items_of(first)]
    batches.give_back(verifier_id=verifier.pk, batch_id=first.pk)

    second = [item.pk for item in items_of(take(study, verifier))]
    Assignment.objects.all().delete()
    Batch.objects.all().delete()
    Item.objects.update(free=3)
    again = [item.pk for item in items_of(take(study, verifier))]

    assert again == keys
    assert second != keys


def test_nobody_judges_a_chat_of_their_own():
    study = StudyFactory()
    verifier = make_verifier(study)
    make_items(study, 4, worker=verifier)
    theirs = make_items(study, 2)

    assert {item.pk for item in items_of(take(study, verifier))} == {item.pk for item in theirs}


def test_an_item_is_given_to_as_many_as_wanted_and_no_more():
    study = StudyFactory()
    make_plan(study, votes_wanted=2)
    make_items(study, 2)
    for _ in range(2):
        take(study, make_verifier(study))

    assert refusal_of(take, study=study, verifier=make_verifier(study)) == ("nothing_left", 409)
    assert set(Item.objects.values_list("free", flat=True)) == {0}


def test_what_somebody_voted_on_or_skipped_does_not_come_back():
    study = StudyFactory()
    make_plan(study, batch_size=2)
    make_items(study, 4)
    verifier = make_verifier(study)
    first = take(study, verifier)
    voted, skipped = items_of(first)
    make_vote(first, item=voted)
    batches.skip(verifier_id=verifier.pk, assignment_id=first.assignments.get(item=skipped).pk)

    second = items_of(take(study, verifier))

    assert len(second) == 2
    assert not {voted, skipped} & set(second)


def test_the_last_items_are_found_wherever_they_stand_in_the_order():
    study = StudyFactory()
    make_plan(study, votes_wanted=1, batch_size=1)
    for _ in range(15):
        make_items(study, 2)

    found = [items_of(take(study, make_verifier(study)))[0].pk for _ in range(30)]

    assert len(set(found)) == 30


def test_words_somebody_avoids_are_not_given():
    study = StudyFactory()
    dialogue = make_finished(["Hi there you", "Fuck off.", "Do you like porn?", "Bye."], study=study)
    verification.open_items(dialogue.pk)
    no_swearing = make_verifier(study, avoid=16)
    no_violence = make_verifier(study, avoid=4)

    assert [item.utterance.number for item in items_of(take(study, no_swearing))] == [1]
    assert len(items_of(take(study, no_violence))) == 4


@pytest.mark.parametrize("size", [1, 3])
def test_a_batch_costs_the_same_however_large(size):
    study = StudyFactory()
    make_plan(study, batch_size=size)
    for _ in range(10):
        make_items(study, 2)
    Item.objects.update(draw=2**31 - 1)  # wherever the batch starts in the order, they all come after
    verifier = make_verifier(study)

    with CaptureQueriesContext(connection) as queries:
        take(study, verifier)

    assert len(queries) == 17


# -- who may --------------------------------------------------------------------------------------------------


def test_only_a_verifier_of_the_study_gets_items():
    study, other = StudyFactory(), StudyFactory()
    make_items(study)

    people = [make_worker(study), make_verifier(other), make_researcher(study), UserFactory(is_verifier=True)]

    assert {refusal_of(take, study=study, verifier=person) for person in people} == {("no_such_study", 404)}
    assert refusal_of(batches.take, verifier=people[0], slug="nowhere") == ("no_such_study", 404)


def test_somebody_blocked_gets_none():
    study = StudyFactory()
    make_items(study)
    verifier = make_verifier(study, blocked_at=timezone.now(), blocked_reason="Copied texts.")

    assert refusal_of(take, study=study, verifier=verifier) == ("blocked", 403)


def test_consent_comes_first():
    study = StudyFactory()
    make_items(study)
    verifier = UserFactory()
    studies.join(study=study, user=verifier, role="verifier")

    assert refusal_of(take, study=study, verifier=verifier) == ("consent_first", 403)


def test_where_verification_is_closed_what_is_held_can_be_finished():
    study = StudyFactory()
    make_items(study)
    verifier = make_verifier(study)
    batch = take(study, verifier)
    make_plan(study, open=False)

    make_vote(batch)

    assert take(study, verifier) == batch
    assert refusal_of(take, study=study, verifier=make_verifier(study)) == ("verification_closed", 409)


def test_a_closed_study_is_verified_to_its_end():
    study = StudyFactory()
    make_items(study)
    console.close_study(study=study)

    batch = take(study, make_verifier(study))
    make_vote(batch)
    make_vote(batch)

    assert Item.objects.filter(votes_in=1).count() == 2


def test_a_binding_break_comes_before_the_next_batch():
    study = StudyFactory()
    make_items(study)
    verifier = make_verifier(study)
    now = timezone.now()
    Break.objects.create(
        study=study, user=verifier, at=now, until=now + timedelta(minutes=9), binding=True, upsetting=15
    )

    assert refusal_of(take, study=study, verifier=verifier) == ("on_break", 409)

    Break.objects.update(binding=False)
    assert take(study, verifier).pk


# -- gold ----------------------------------------------------------------------------------------------------


def test_gold_items_stand_among_the_others():
    study = StudyFactory()
    make_plan(study, gold_share=0.2, batch_size=10)
    make_items(study, 20)
    for _ in range(5):
        make_gold(study)
    verifier = make_verifier(study)

    kinds = [item.kind for item in items_of(take(study, verifier))]

    assert (kinds.count("gold"), kinds.count("utterance")) == (2, 8)
    assert set(Item.objects.filter(kind="gold").values_list("free", flat=True)) == {0}


def test_a_share_of_less_than_one_gold_item_a_batch_comes_to_one_now_and_then():
    study = StudyFactory()
    make_plan(study, gold_share=0.05, batch_size=5)
    make_items(study, 40)
    for _ in range(40):
        make_gold(study)
    verifier, gold = make_verifier(study), []

    for _ in range(40):
        batch = take(study, verifier)
        gold.append(batch.assignments.filter(item__kind="gold").count())
        batches.give_back(verifier_id=verifier.pk, batch_id=batch.pk)

    assert set(gold) == {0, 1}
    assert 2 <= sum(gold) <= 20  # 10 of 40 on average; the seed is the study's


def test_a_batch_of_one_item_holds_no_gold_item():
    study = StudyFactory()
    make_plan(study, gold_share=0.5, batch_size=1)
    make_items(study, 8)
    make_gold(study)
    verifier, kinds = make_verifier(study), []

    for _ in range(8):
        batch = take(study, verifier)
        kinds += [item.kind for item in items_of(batch)]
        make_vote(batch)

    assert kinds == ["utterance"] * 8


def test_a_gold_item_is_given_once_and_a_retired_one_not_at_all():
    study = StudyFactory()
    make_plan(study, gold_share=0.5, batch_size=2)
    make_items(study, 6)
    researcher = make_researcher(study)
    make_gold(study)
    quality.retire_gold(study=study, actor=researcher, item_id=make_gold(study).pk)
    verifier = make_verifier(study)

    kinds = []
    for _ in range(2):
        batch = take(study, verifier)
        kinds.append(sorted(item.kind for item in items_of(batch)))
        make_vote(batch)
        make_vote(batch)

    assert kinds == [["gold", "utterance"], ["utterance", "utterance"]]


def test_an_utterance_is_not_given_both_as_gold_and_as_an_item():
    study = StudyFactory()
    make_plan(study, votes_wanted=1, gold_share=0.5, batch_size=2)
    item, other = make_items(study)
    as_item, as_gold = make_verifier(study), make_verifier(study)
    judged = items_of(take(study, as_item))
    make_vote(batches.current(verifier=as_item, slug=study.slug))
    make_vote(batches.current(verifier=as_item, slug=study.slug))
    gold = make_gold(study, utterance=item.utterance)
    make_items(study, 4)

    assert judged == [item, other]
    assert gold not in items_of(take(study, as_item))
    assert gold in items_of(take(study, as_gold))


def test_an_utterance_that_wants_votes_is_not_given_as_gold():
    study = StudyFactory()
    make_plan(study, gold_share=0.5, batch_size=2)
    item, _ = make_items(study)
    make_gold(study, utterance=item.utterance)

    given = items_of(take(study, make_verifier(study)))

    assert [one.kind for one in given] == ["utterance", "utterance"]


def test_gold_alone_makes_no_batch():
    study = StudyFactory()
    make_plan(study, gold_share=0.5)
    make_gold(study)

    assert refusal_of(take, study=study, verifier=make_verifier(study)) == ("nothing_left", 409)


# -- showing, keeping, giving back ------------------------------------------------------------------------------


def test_showing_notes_when_it_was_first_done():
    study = StudyFactory()
    make_items(study)
    verifier = make_verifier(study)
    key = take(study, verifier).assignments.first().pk

    first = batches.show(verifier_id=verifier.pk, assignment_id=key).shown_at
    again = batches.show(verifier_id=verifier.pk, assignment_id=key).shown_at

    assert first is not None
    assert again == first


def test_nobody_sees_votes_on_or_gives_back_what_is_anothers():
    study = StudyFactory()
    make_items(study)
    batch = take(study, make_verifier(study))
    key = batch.assignments.first().pk
    stranger = make_verifier(study).pk

    for guess in (key, key + 10_000, 2**70):
        values = {"verifier_id": stranger, "assignment_id": guess}
        assert refusal_of(batches.show, **values) == ("not_yours", 404)
        assert refusal_of(batches.skip, **values) == ("not_yours", 404)
        assert refusal_of(batches.vote, **values, ok=True) == ("not_yours", 404)
    for verb in (batches.renew, batches.give_back):
        assert refusal_of(verb, verifier_id=stranger, batch_id=batch.pk) == ("not_yours", 404)
    assert batch.assignments.filter(state="held").count() == 2


def test_giving_back_returns_what_is_untouched_and_keeps_the_votes():
    study = StudyFactory()
    make_items(study, 4)
    verifier = make_verifier(study)
    batch = take(study, verifier)
    voted = items_of(batch)[0]
    make_vote(batch)

    batches.give_back(verifier_id=verifier.pk, batch_id=batch.pk)
    batches.give_back(verifier_id=verifier.pk, batch_id=batch.pk)

    batch.refresh_from_db()
    assert batch.end_reason == "left"
    assert sorted(Item.objects.values_list("free", "votes_in")) == [(2, 1)] + [(3, 0)] * 3
    assert [item.pk for item in items_of(batch) if item.votes_in] == [voted.pk]
    assert len(items_of(take(study, verifier))) == 3


def test_a_batch_that_runs_out_is_given_back_by_the_beat():
    study = StudyFactory()
    make_items(study)
    batch, kept = take(study, make_verifier(study)), take(study, make_verifier(study))
    run_out(batch)

    assert [batches.expire(), batches.expire()] == [1, 0]

    batch.refresh_from_db()
    kept.refresh_from_db()
    assert (batch.end_reason, kept.end_reason) == ("expired", "")
    assert set(Item.objects.values_list("free", flat=True)) == {2}


def test_renewing_keeps_an_open_batch_and_not_an_ended_one():
    study = StudyFactory()
    make_items(study)
    verifier = make_verifier(study)
    batch = take(study, verifier)
    run_out(batch)

    batches.renew(verifier_id=verifier.pk, batch_id=batch.pk)
    assert batches.expire() == 0

    batches.give_back(verifier_id=verifier.pk, batch_id=batch.pk)
    assert refusal_of(batches.renew, verifier_id=verifier.pk, batch_id=batch.pk) == ("lease_over", 409)


def test_work_keeps_the_batch():
    study = StudyFactory()
    make_items(study, 4)
    verifier = make_verifier(study)
    batch = take(study, verifier)
    run_out(batch)
    make_vote(batch)
    assert batches.expire() == 0

    run_out(batch)
    batches.skip(verifier_id=verifier.pk, assignment_id=batch.assignments.filter(state="held")[0].pk)
    assert batches.expire() == 0


def test_a_skip_costs_nothing_and_leaves_the_item_to_others():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    item, _ = make_items(study)
    verifier = make_verifier(study)
    batch = take(study, verifier)
    key = batch.assignments.get(item=item).pk

    batches.skip(verifier_id=verifier.pk, assignment_id=key)
    batches.skip(verifier_id=verifier.pk, assignment_id=key)

    assert items_of(take(study, make_verifier(study))) == [item]
    make_vote(batch)
    batch.refresh_from_db()
    assert batch.end_reason == "done"


def test_what_was_voted_on_cannot_be_skipped():
    study = StudyFactory()
    make_items(study)
    verifier = make_verifier(study)
    batch = take(study, verifier)
    key = batch.assignments.first().pk
    make_vote(batch)

    assert refusal_of(batches.skip, verifier_id=verifier.pk, assignment_id=key) == ("too_late", 409)


def test_blocking_gives_back_what_the_person_holds():
    study = StudyFactory()
    make_items(study)
    person = make_verifier(study)
    studies.join(study=study, user=person, role="worker")
    batch = take(study, person)

    console.block(study=study, worker_id=person.pk, by=make_researcher(study), reason="Copied texts.")

    batch.refresh_from_db()
    assert batch.end_reason == "paused"
    assert set(Item.objects.values_list("free", flat=True)) == {3}
