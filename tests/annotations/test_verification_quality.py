"""Gold items, the floor, pausing, setting aside, and the test before the first batch."""

import pytest
from django.utils import timezone

from annotations.models import Attempt, AuditEntry, Batch, Item, Merged, Standing, Vote
from annotations.people.errors import Refused
from annotations.verification import batches, merging, quality, queries
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

pytestmark = pytest.mark.django_db


def code_of(verb, **values):
    with pytest.raises(Refused) as refusal:
        verb(**values)
    return refusal.value.code


# -- gold items ----------------------------------------------------------------------------------------------


def test_gold_of_an_utterance_is_shown_as_in_its_chat():
    study = StudyFactory()
    researcher = make_researcher(study)
    dialogue = make_finished(["Hi there you", "Go away, idiot.", "Why?", "So."], study=study)
    reply = dialogue.utterances.get(number=2)

    values = {"study": study, "actor": researcher, "ok": False, "categories": ["attack"], "why": "An insult."}
    item = quality.add_gold(**values, utterance=reply)

    assert (item.kind, item.text, item.speaker, item.ok) == ("gold", "Go away, idiot.", "bot", False)
    assert item.context == [{"speaker": "human", "text": "Hi there you"}]
    assert (item.attack, item.hate, item.free) == (True, False, 0)
    assert quality.add_gold(**values, utterance=reply) == item
    assert AuditEntry.objects.get().action == "gold_added"


def test_gold_that_is_there_with_another_answer_is_refused():
    study = StudyFactory()
    values = {"study": study, "actor": None, "text": "Hello"}
    quality.add_gold(**values, ok=True)

    assert code_of(quality.add_gold, **values, ok=False, categories=["hate"]) == "known_otherwise"
    assert Item.objects.get().ok is True


@pytest.mark.parametrize(
    "values",
    [
        {"text": " "},
        {"text": "x" * 2001},
        {"speaker": "dog"},
        {"context": [{"speaker": "dog", "text": "Wuff"}]},
        {"context": [{"speaker": "bot", "text": ""}]},
        {"context": [{"speaker": "bot", "text": "Hi"}] * 41},
        {"ok": False},
        {"categories": ["hate"]},
        {"ok": False, "categories": ["rude"]},
        {"kind": "utterance"},
        {"kind": "test", "why": ""},
        {"why": "x" * 1001},
    ],
)
def test_gold_that_cannot_be_used_is_refused(values):
    study = StudyFactory()
    usual = {"text": "Hello", "ok": True, "why": "It is kind."}

    assert code_of(quality.add_gold, study=study, actor=None, **{**usual, **values}) == "bad_gold"
    assert Item.objects.count() == 0


def test_gold_of_another_study_is_refused():
    utterance = make_finished().utterances.first()

    code = code_of(quality.add_gold, study=StudyFactory(), actor=None, ok=True, utterance=utterance)

    assert code == "no_such_utterance"


def test_votes_on_gold_score_and_are_not_merged():
    study = StudyFactory()
    make_plan(study, gold_share=0.5, batch_size=4, votes_wanted=1)
    make_items(study, 2)
    right, wrong = make_gold(study, ok=False), make_gold(study)
    verifier = make_verifier(study)
    batch = batches.take(verifier=verifier, slug=study.slug)

    make_vote(batch, item=right, ok=False, categories=["hate"])
    make_vote(batch, item=wrong, ok=False)

    score = quality.gold_score(study=study, verifier=verifier)
    assert (score.right, score.of, score.share) == (1, 2, 0.5)
    assert merging.merge_due() == 0
    assert {(item.votes_in, item.free) for item in (right, wrong)} == {(0, 0)}

    quality.retire_gold(study=study, actor=make_researcher(study), item_id=wrong.pk)
    assert quality.gold_score(study=study, verifier=verifier).of == 1


def test_only_gold_of_the_study_can_be_retired():
    item, _ = make_items(StudyFactory())
    study = StudyFactory()
    gold = make_gold(StudyFactory())
    researcher = make_researcher(study)

    for key in (item.pk, gold.pk, 0):
        assert code_of(quality.retire_gold, study=study, actor=researcher, item_id=key) == "no_such_item"


# -- the floor -----------------------------------------------------------------------------------------------


def with_gold(study, count):
    make_plan(study, gold_share=0.5, batch_size=2 * count, floor=0.6, floor_after=3)
    make_items(study, 2 * count)
    golds = [make_gold(study) for _ in range(count)]
    verifier = make_verifier(study)
    return golds, batches.take(verifier=verifier, slug=study.slug)


def test_who_falls_under_the_floor_is_paused_and_gives_back():
    study = StudyFactory()
    golds, batch = with_gold(study, 4)

    make_vote(batch, item=golds[0])
    make_vote(batch, item=golds[1], ok=False)
    assert not Standing.objects.filter(paused_at__isnull=False).exists()
    make_vote(batch, item=golds[2], ok=False)

    standing = Standing.objects.get()
    assert standing.paused_reason == (
        "You judged 1 of 3 messages with a known answer as expected; this study asks for 60%."
    )
    batch.refresh_from_db()
    assert batch.end_reason == "paused"
    assert set(Item.objects.filter(kind="utterance").values_list("free", flat=True)) == {3}
    assert code_of(batches.take, verifier=batch.verifier, slug=study.slug) == "paused"
    entry = AuditEntry.objects.exclude(action="gold_added").get()
    assert (entry.action, entry.actor, entry.about) == ("verifier_paused", None, batch.verifier)


def test_who_is_above_the_floor_goes_on():
    study = StudyFactory()
    golds, batch = with_gold(study, 4)

    for gold, ok in zip(golds, [True, False, True, True], strict=True):
        make_vote(batch, item=gold, ok=ok)

    assert not Standing.objects.filter(paused_at__isnull=False).exists()


def test_who_is_let_in_again_starts_anew():
    study = StudyFactory()
    researcher = make_researcher(study)
    golds, batch = with_gold(study, 4)
    for gold in golds[:3]:
        make_vote(batch, item=gold, ok=False)

    for _ in range(2):
        quality.lift(study=study, verifier=batch.verifier, actor=researcher)

    again = batches.take(verifier=batch.verifier, slug=study.slug)
    make_vote(again, item=golds[3], ok=False)
    assert quality.gold_score(study=study, verifier=batch.verifier).of == 1
    assert Standing.objects.get().paused_at is None
    assert AuditEntry.objects.filter(action="verifier_let_in_again", actor=researcher).count() == 1


def test_pausing_needs_a_reason_and_keeps_the_first():
    study = StudyFactory()
    verifier, researcher = make_verifier(study), make_researcher(study)
    values = {"study": study, "verifier": verifier, "actor": researcher}

    assert code_of(quality.pause, **values, reason=" ") == "no_reason"
    quality.pause(**values, reason="Too quick.")
    quality.pause(**values, reason="Too slow.")

    assert Standing.objects.get().paused_reason == "Too quick."
    assert AuditEntry.objects.count() == 1
    assert Batch.objects.count() == 0


# -- setting aside -------------------------------------------------------------------------------------------


def test_setting_aside_reopens_every_item_of_that_verifier_in_that_study():
    study, other = StudyFactory(), StudyFactory()
    researcher = make_researcher(study)
    verifier = make_verifier(study)
    items = make_items(study, 4)
    batch = batches.take(verifier=verifier, slug=study.slug)
    for item in items[:3]:
        make_vote(batch, item=item)
    second = batches.take(verifier=make_verifier(study), slug=study.slug)
    make_vote(second, item=items[0])
    kept = make_vote(batches.take(verifier=_joined(verifier, other), slug=other.slug))

    numbers = [quality.set_aside(study=study, verifier=verifier, actor=researcher) for _ in range(2)]

    assert numbers == [3, 0]
    assert [Item.objects.get(pk=item.pk).votes_in for item in items] == [1, 0, 0, 0]
    assert [Item.objects.get(pk=item.pk).free for item in items] == [2, 2, 2, 1]
    assert Vote.objects.filter(set_aside_at__isnull=False).count() == 3
    assert Vote.objects.get(pk=kept.pk).set_aside_at is None
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.about, entry.detail) == ("votes_set_aside", verifier, {"votes": 3})


def _joined(verifier, study):
    from annotations.studies import services as studies

    studies.join(study=study, user=verifier, role="verifier")
    studies.consent(user=verifier, text=studies.current_consent(study))
    make_items(study)
    return verifier


def test_a_vote_set_aside_can_no_longer_be_changed_and_its_item_is_for_others():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    item, _ = make_items(study)
    batch = batches.take(verifier=make_verifier(study), slug=study.slug)
    make_vote(batch, item=item)
    merging.merge_due()

    quality.set_aside(study=study, verifier=batch.verifier, actor=make_researcher(study))

    row = batch.assignments.get(item=item)
    values = {"verifier_id": batch.verifier_id, "assignment_id": row.pk}
    assert code_of(batches.vote, **values, ok=False, categories=["hate"]) == "too_late"
    make_vote(batch)
    assert code_of(batches.take, verifier=batch.verifier, slug=study.slug) == "nothing_left"
    make_vote(batches.take(verifier=make_verifier(study), slug=study.slug), ok=False)
    assert merging.merge_due() == 2
    assert Merged.objects.filter(utterance=item.utterance, label="notok").count() == 4


# -- the test ------------------------------------------------------------------------------------------------


def study_with_test(*answers, **plan):
    study = StudyFactory()
    make_plan(study, test=True, **plan)
    make_items(study)
    for ok in answers:
        make_gold(study, ok=ok, kind="test")
    return study


def go_through(study, verifier, *, right):
    """An attempt of which that many answers are right."""
    attempt = quality.start_test(verifier=verifier, slug=study.slug)
    for number, key in enumerate(attempt.questions):
        ok = Item.objects.get(pk=key).ok == (number < right)
        values = {"ok": ok, "categories": () if ok else ("other",)}
        answer = quality.answer_test(verifier_id=verifier.pk, attempt_id=attempt.pk, item_id=key, **values)
    return answer.attempt


def test_the_test_comes_before_the_first_batch():
    study = study_with_test(True, False, True, False)
    verifier = make_verifier(study)
    assert code_of(batches.take, verifier=verifier, slug=study.slug) == "test_first"

    attempt = go_through(study, verifier, right=3)

    assert (attempt.right, attempt.passed) == (3, True)
    state = quality.test_state(study=study, verifier=verifier)
    assert (state.needed, state.passed, state.failed, state.used) == (True, True, False, 1)
    assert batches.take(verifier=verifier, slug=study.slug).pk
    assert code_of(quality.start_test, verifier=verifier, slug=study.slug) == "no_test"


def test_an_answer_is_explained_and_the_first_one_stands():
    study = study_with_test(False, True)
    verifier = make_verifier(study)
    attempt = quality.start_test(verifier=verifier, slug=study.slug)
    question = Item.objects.get(ok=False)
    values = {"verifier_id": verifier.pk, "attempt_id": attempt.pk, "item_id": question.pk}

    first = quality.answer_test(**values, ok=True)
    again = quality.answer_test(**values, ok=False, categories=["attack"])

    assert (first.right, again.right) == (False, False)
    assert first.question.why == "It is plain to see."
    assert (again.attempt.right, len(again.attempt.answers), again.attempt.finished_at) == (0, 1, None)
    assert quality.start_test(verifier=verifier, slug=study.slug) == attempt


def test_there_is_one_retry_and_then_no_more():
    study = study_with_test(True, False)
    verifier = make_verifier(study)

    assert [go_through(study, verifier, right=0).number, go_through(study, verifier, right=1).number] == [
        1,
        2,
    ]

    assert quality.test_state(study=study, verifier=verifier).failed
    assert code_of(quality.start_test, verifier=verifier, slug=study.slug) == "test_failed"
    assert code_of(batches.take, verifier=verifier, slug=study.slug) == "test_first"


def test_a_test_without_questions_is_none():
    study = study_with_test()
    verifier = make_verifier(study)

    assert batches.take(verifier=verifier, slug=study.slug).pk


def test_questions_with_words_somebody_avoids_are_left_out():
    study = study_with_test(True)
    make_gold(study, text="What the fuck", kind="test")
    verifier = make_verifier(study, avoid=16)

    assert len(quality.start_test(verifier=verifier, slug=study.slug).questions) == 1


def test_a_guessed_attempt_or_question_is_refused():
    study = study_with_test(True)
    verifier = make_verifier(study)
    attempt = quality.start_test(verifier=verifier, slug=study.slug)
    utterance = Item.objects.filter(kind="utterance").first()

    for who, key, item in [
        (make_verifier(study), attempt.pk, attempt.questions[0]),
        (verifier, attempt.pk + 1, attempt.questions[0]),
        (verifier, attempt.pk, utterance.pk),
    ]:
        values = {"verifier_id": who.pk, "attempt_id": key, "item_id": item}
        assert code_of(quality.answer_test, **values, ok=True) == "not_yours"
    values = {"verifier_id": verifier.pk, "attempt_id": attempt.pk, "item_id": attempt.questions[0]}
    assert code_of(quality.answer_test, **values, ok=False) == "bad_vote"


def test_who_failed_the_test_twice_can_be_let_in_by_a_researcher():
    study = StudyFactory()
    make_plan(study, test=True)
    make_items(study, 2)
    make_gold(study, kind="test")
    verifier, researcher = make_verifier(study), make_researcher(study)
    for number in (1, 2):
        Attempt.objects.create(
            study=study, verifier=verifier, number=number, passed=False, finished_at=timezone.now()
        )
    assert [row.failed_test for row in queries.verifier_rows(study, rule="any")] == [True]

    quality.let_in(study=study, verifier=verifier, actor=researcher)
    quality.let_in(study=study, verifier=verifier, actor=researcher)

    assert batches.take(verifier=verifier, slug=study.slug).assignments.count() == 2
    assert [row.failed_test for row in queries.verifier_rows(study, rule="any")] == [False]
    assert AuditEntry.objects.filter(action="let_in_without_test", about=verifier).count() == 1
