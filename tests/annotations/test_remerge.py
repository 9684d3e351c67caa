"""A study's labels made anew, beside those that are made as votes land."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.domain import crowds
from annotations.domain.merging import RULES
from annotations.models import AuditEntry, Item, Merged, Merging, Plan, Vote
from annotations.people.errors import Refused
from annotations.verification import batches, derived, merging, remerging
from tests.annotations.test_races import at_once
from tests.factories import (
    StudyFactory,
    make_items,
    make_labelled,
    make_plan,
    make_researcher,
    make_verifier,
    make_votes,
)

pytestmark = pytest.mark.django_db

SAID = [
    ["ok", "ok", "hate"],
    ["ok", "hate", "hate attack"],
    ["profanity", "other", "attack"],
    ["ok", "ok", "ok"],
    ["ok", "ok", "other"],
    ["hate", "ok", "hate"],
]
BINS = ["0", "<10", ">=50"]


def labels(study, rule):
    rows = Merged.objects.filter(study=study, rule=rule).order_by("utterance")
    return list(rows.values_list("label", flat=True))


def stored(study, rule):
    """Everything that is stored of the study's labels but when."""
    rows = Merged.objects.filter(study=study, rule=rule).order_by("utterance")
    return list(rows.values_list("utterance", *derived.MADE))


def test_a_whole_study_is_merged_under_a_rule():
    study = StudyFactory()
    items = make_votes(study, SAID, bins=BINS)

    job = remerging.run(study=study, rule="majority_verifiers")

    assert labels(study, "majority_verifiers") == ["ok", "notok", "notok", "ok", "ok", "notok"]
    second = Merged.objects.get(utterance=items[1].utterance)
    assert (second.ok_votes, second.notok_votes, second.hate, second.attack) == (1, 2, True, False)
    assert (second.category_ties, second.version, second.probability) == ("attack", "1 tie=notok", None)
    assert (job.state, job.done, job.total, job.percent) == ("done", 6, 6, 100)
    assert job.finished_at is not None


@pytest.mark.parametrize("rule", sorted(RULES))
def test_it_makes_what_merging_vote_by_vote_makes(rule):
    study = StudyFactory()
    items = make_votes(study, SAID, bins=BINS)
    Item.objects.update(due_at=timezone.now())
    assert [merging.merge_item(item.pk) for item in items] == [True] * 6
    one_by_one = stored(study, rule)
    Merged.objects.all().delete()

    remerging.run(study=study, rule=rule)

    assert stored(study, rule) == one_by_one


def test_rules_live_side_by_side_with_other_studies_and_imported_labels():
    study = StudyFactory()
    make_votes(study, SAID[:2], bins=["<10"])
    make_votes(StudyFactory(), SAID[:2])
    imported = make_labelled(study=study)
    Merged.objects.filter(utterance__dialogue=imported).update(rule="imported")

    for rule in ("any", "unanimous"):
        remerging.run(study=study, rule=rule)

    assert labels(study, "any") == ["notok", "notok"]
    assert labels(study, "unanimous") == ["ok", "ok"]
    assert labels(study, "imported") == ["ok"] * 4
    assert Merged.objects.exclude(study=study).count() == 0


def test_settings_of_the_study_hold_and_are_told():
    study = StudyFactory()
    make_votes(study, [["ok"] * 3, ["ok", "ok", "hate"]], bins=["<10"])
    remerging.run(study=study, rule="majority_all")
    before = labels(study, "majority_all")
    Plan.objects.filter(study=study).update(tie="")

    remerging.run(study=study, rule="majority_all")

    assert (before, labels(study, "majority_all")) == (["ok", "notok"], ["ok", ""])
    assert Merged.objects.filter(tie=True).count() == 1
    versions = Merged.objects.order_by().values_list("version", flat=True).distinct()
    assert list(versions) == ["1 unsafe_from=<10 tie=none"]


def test_only_what_has_all_its_votes_is_labelled():
    study = StudyFactory()
    items = make_votes(study, [["ok", "ok", "hate"], ["ok", "ok", "hate"]])
    remerging.run(study=study, rule="any")
    Vote.objects.filter(item=items[0], ok=False).update(set_aside_at=timezone.now())
    Item.objects.filter(pk=items[0].pk).update(votes_in=2, free=1)

    remerging.run(study=study, rule="any")

    assert list(Merged.objects.values_list("utterance", flat=True)) == [items[1].utterance_id]


def test_votes_set_aside_do_not_count():
    study = StudyFactory()
    make_votes(study, [["ok", "ok", "ok", "hate -"], ["ok", "hate", "hate", "ok -"]])

    remerging.run(study=study, rule="any")

    assert labels(study, "any") == ["ok", "notok"]


def test_the_second_time_nothing_is_written():
    study = StudyFactory()
    make_votes(study, SAID, bins=BINS)
    remerging.run(study=study, rule="any")
    before = list(Merged.objects.order_by("pk").values())

    remerging.run(study=study, rule="any")

    assert list(Merged.objects.order_by("pk").values()) == before


def test_the_queries_stay_the_same_however_many_items():
    study = StudyFactory()
    make_votes(study, SAID[:2])
    with CaptureQueriesContext(connection) as few:
        remerging.run(study=study, rule="any")
    make_votes(study, SAID)

    with CaptureQueriesContext(connection) as many:
        remerging.run(study=study, rule="any")

    assert len(many) == len(few)


# -- models --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["dawid_skene", pytest.param("mace", marks=pytest.mark.slow)])
def test_a_model_keeps_its_probabilities_and_the_votes_behind_them(model):
    study = StudyFactory()
    items = make_votes(study, SAID, bins=BINS)

    job = remerging.run(study=study, rule=model)

    assert (job.state, job.problem) == ("done", "")
    rows = Merged.objects.filter(rule=model).order_by("utterance")
    assert [row.label for row in rows] == ["notok" if row.probability > 0.5 else "ok" for row in rows]
    assert (rows[3].label, rows[5].label) == ("ok", "notok")
    assert [(row.ok_votes, row.notok_votes) for row in rows][:2] == [(2, 1), (2, 2)]
    assert {row.version for row in rows} == {crowds.version(model, "<10", "notok")}
    assert len(rows) == len(items)


def test_a_models_labels_are_asked_for_anew_where_votes_have_come_in():
    study = StudyFactory()
    make_votes(study, SAID[:4])
    remerging.run(study=study, rule="dawid_skene")
    assert remerging.refresh_models() == 0

    remerging.run(study=study, rule="any")

    assert (remerging.refresh_models(), remerging.refresh_models()) == (1, 0)
    waiting = Merging.objects.get(state="waiting")
    assert (waiting.study, waiting.rule, waiting.asked_by) == (study, "dawid_skene", None)


# -- jobs ----------------------------------------------------------------------------------------------------


def test_asking_queues_a_job_once(django_capture_on_commit_callbacks):
    study, researcher = StudyFactory(), make_researcher()

    with django_capture_on_commit_callbacks() as sent:
        first = remerging.ask(study=study, rule="any", actor=researcher)
        again = remerging.ask(study=study, rule="any", actor=researcher)
        other = remerging.ask(study=study, rule="mace", actor=researcher)

    assert (first.pk, first.state, first.asked_by) == (again.pk, "waiting", researcher)
    assert other.pk != first.pk
    assert len(sent) == 2
    asked = AuditEntry.objects.filter(action="remerge_asked", actor=researcher).order_by("pk")
    assert [entry.detail for entry in asked] == [{"rule": "any"}, {"rule": "mace"}]


@pytest.mark.parametrize("rule", ["imported", "loudest", ""])
def test_a_rule_that_is_none_is_refused(rule):
    with pytest.raises(Refused) as refusal:
        remerging.ask(study=StudyFactory(), rule=rule, actor=None)

    assert (refusal.value.code, refusal.value.status) == ("no_such_rule", 422)
    assert not Merging.objects.exists()


def test_a_job_that_is_done_or_under_way_is_not_done_again():
    study = StudyFactory()
    make_votes(study, SAID)
    job = remerging.ask(study=study, rule="any", actor=None)

    assert (remerging.remerge(job.pk), remerging.remerge(job.pk)) == (True, False)
    Merging.objects.update(state="running", alive_at=timezone.now())
    Merged.objects.all().delete()
    assert remerging.remerge(job.pk) is False
    assert not Merged.objects.exists()


def test_a_job_whose_worker_was_killed_is_taken_up_from_the_beginning(monkeypatch):
    monkeypatch.setattr(remerging, "CHUNK", 2)
    study = StudyFactory()
    make_votes(study, SAID)
    job = remerging.ask(study=study, rule="any", actor=None)

    def killed(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remerging.remerge(job.pk, killed)
    job.refresh_from_db()
    assert (job.state, job.done, len(labels(study, "any"))) == ("running", 2, 2)
    assert (remerging.revive(), remerging.remerge(job.pk)) == (0, False)

    long_ago = timezone.now() - timedelta(minutes=2)
    Merging.objects.update(alive_at=long_ago, asked_at=long_ago)

    assert (remerging.revive(), remerging.remerge(job.pk)) == (1, True)
    assert len(labels(study, "any")) == 6


def test_a_job_lost_with_the_queue_is_queued_again():
    job = remerging.ask(study=StudyFactory(), rule="any", actor=None)
    assert remerging.revive() == 0

    Merging.objects.update(asked_at=timezone.now() - timedelta(minutes=2))

    assert remerging.revive() == 1
    assert remerging.remerge(job.pk) is True


def test_a_job_can_be_cancelled_on_its_way(monkeypatch):
    monkeypatch.setattr(remerging, "CHUNK", 2)
    study = StudyFactory()
    make_votes(study, SAID)
    job = remerging.ask(study=study, rule="any", actor=None)
    cancelled = []

    done = remerging.remerge(
        job.pk, lambda _done, _total: cancelled.append(remerging.cancel(study=study, merging_id=job.pk))
    )

    job.refresh_from_db()
    assert (done, job.state, job.done, job.total) == (False, "cancelled", 2, 6)
    assert cancelled == [True]
    assert remerging.cancel(study=study, merging_id=job.pk) is False
    assert remerging.cancel(study=StudyFactory(), merging_id=job.pk) is False


def test_what_goes_wrong_is_told():
    study = StudyFactory()
    make_votes(study, SAID[:2])
    job = remerging.ask(study=study, rule="any", actor=None)

    def fails(done, total):
        raise ValueError("no room")

    assert remerging.remerge(job.pk, fails) is False
    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", "The labels could not be made: no room")


def test_where_the_database_is_away_the_job_stays_to_be_taken_up():
    study = StudyFactory()
    make_votes(study, SAID[:2])
    job = remerging.ask(study=study, rule="any", actor=None)

    def away(done, total):
        raise OperationalError("the connection is lost")

    with pytest.raises(OperationalError):
        remerging.remerge(job.pk, away)
    job.refresh_from_db()
    assert job.state == "running"


# -- the command ---------------------------------------------------------------------------------------------


def test_the_command_tells_what_it_did(capsys):
    study = StudyFactory()
    make_votes(study, SAID)

    call_command("remerge", study=study.slug, rule="majority_verifiers")

    told = capsys.readouterr().out
    assert told.startswith("6 of 6 utterances have a label under majority_verifiers, in ")
    assert labels(study, "majority_verifiers") == ["ok", "notok", "notok", "ok", "ok", "notok"]


def test_the_command_refuses_what_is_not_there():
    study = StudyFactory()

    with pytest.raises(CommandError, match=f"There is no study 'nowhere'. There are: {study.slug}."):
        call_command("remerge", study="nowhere", rule="any")
    with pytest.raises(
        CommandError, match=r"There is no rule 'loudest' to merge by. There are: majority_ver"
    ):
        call_command("remerge", study=study.slug, rule="loudest")


# -- at the same time ----------------------------------------------------------------------------------------


def judge_all(study, verifier):
    """Takes and judges until nothing is left, and changes every other vote afterwards."""
    number = 0
    while True:
        try:
            batch = batches.take(verifier=verifier, slug=study.slug)
        except Refused:
            return number
        for row in batch.assignments.filter(state="held"):
            number += 1
            ok = (row.item_id + number) % 3 == 0
            judged = [(ok, [])] if ok else [(True, []), (False, ["hate"])]
            for said, categories in judged:
                batches.vote(verifier_id=verifier.pk, assignment_id=row.pk, ok=said, categories=categories)


@pytest.mark.django_db(transaction=True)
def test_votes_that_land_and_change_while_a_study_is_merged_have_the_last_word(monkeypatch):
    monkeypatch.setattr(remerging, "CHUNK", 4)
    study = StudyFactory()
    make_items(study, 12)
    make_plan(study, batch_size=4)
    verifiers = [make_verifier(study) for _ in range(4)]

    at_once(
        lambda: [remerging.run(study=study, rule="any") for _ in range(8)],
        lambda: [merging.merge_due() for _ in range(8)],
        *[lambda person=person: judge_all(study, person) for person in verifiers],
    )
    merging.merge_due()

    made = stored(study, "any")
    Merged.objects.all().delete()
    remerging.run(study=study, rule="any")
    assert len(made) == 12
    assert made == stored(study, "any")
