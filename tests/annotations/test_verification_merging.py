"""Labels made as the last vote lands, and made again when something changes."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.chats import services as chats
from annotations.models import Dialogue, Item, Label, Merged, Utterance
from annotations.verification import batches, merging, quality
from annotations.verification import services as verification
from tests.factories import (
    StudyFactory,
    make_finished,
    make_items,
    make_plan,
    make_researcher,
    make_verifier,
    make_vote,
)

pytestmark = pytest.mark.django_db


def judge(study, item, *votes):
    """Votes of as many verifiers: None is OK, else the categories of not OK."""
    rows = []
    for categories in votes:
        batch = batches.take(verifier=make_verifier(study), slug=study.slug)
        rows.append(make_vote(batch, item=item, ok=categories is None, categories=categories or ()))
        batches.give_back(verifier_id=batch.verifier_id, batch_id=batch.pk)
    return rows


def labels(item):
    return dict(Merged.objects.filter(utterance=item.utterance).values_list("rule", "label"))


def test_every_plain_rule_is_kept_side_by_side():
    study = StudyFactory()
    human, bot = make_items(study, 2, bins=["<50"])
    judge(study, human, None, ["attack"], ["attack", "hate"])
    judge(study, bot, None, None, ["other"])

    assert merging.merge_due() == 2

    assert labels(human) == {
        "majority_verifiers": "notok",
        "majority_all": "notok",
        "any": "notok",
        "unanimous": "ok",
    }
    assert labels(bot) == {
        "majority_verifiers": "ok",
        "majority_all": "notok",
        "any": "notok",
        "unanimous": "ok",
    }
    row = Merged.objects.get(utterance=human.utterance, rule="majority_verifiers")
    assert (row.ok_votes, row.notok_votes, row.tie) == (1, 2, False)
    assert (row.hate, row.attack, row.category_ties) == (False, True, "hate")
    tied = Merged.objects.get(utterance=bot.utterance, rule="majority_all")
    assert (tied.ok_votes, tied.notok_votes, tied.tie) == (2, 2, True)
    assert tied.version == "1 unsafe_from=<10 tie=notok"


def test_the_plan_says_what_is_unsafe_and_what_a_tie_is():
    study = StudyFactory()
    make_plan(study, votes_wanted=1, unsafe_from=">=50", tie="")
    _, bot = make_items(study, 2, bins=["<50"])
    judge(study, bot, ["other"])

    merging.merge_due()

    assert labels(bot)["majority_all"] == ""


def test_an_item_that_lacks_votes_is_not_merged():
    study = StudyFactory()
    item, _ = make_items(study)
    judge(study, item, None, None)

    assert merging.merge_due() == 0
    assert merging.merge_item(item.pk) is False
    assert Merged.objects.count() == 0


def test_merging_twice_is_once():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    item, _ = make_items(study)
    judge(study, item, None)

    assert [merging.merge_item(item.pk), merging.merge_item(item.pk)] == [True, False]
    at = set(Merged.objects.values_list("at", flat=True))
    assert merging.merge_due() == 0
    assert set(Merged.objects.values_list("at", flat=True)) == at
    assert Merged.objects.count() == 4


def test_a_changed_vote_is_merged_again():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    item, _ = make_items(study)
    (stored,) = judge(study, item, None)
    merging.merge_due()

    row = item.assignments.get()
    batches.vote(verifier_id=stored.verifier_id, assignment_id=row.pk, ok=False, categories=["hate"])
    merging.merge_due()

    assert set(labels(item).values()) == {"notok"}
    assert Merged.objects.count() == 4


def test_labels_go_with_votes_set_aside_and_come_again_with_new_ones():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    item, _ = make_items(study)
    (stored,) = judge(study, item, ["hate"])
    merging.merge_due()
    Merged.objects.create(
        study=study, utterance=item.utterance, rule="imported", version="1", label="ok", at=timezone.now()
    )
    Merged.objects.create(
        study=study, utterance=item.utterance, rule="mace", version="1", label="ok", at=timezone.now()
    )

    quality.set_aside(study=study, verifier=stored.verifier, actor=make_researcher(study))
    assert labels(item) == {"imported": "ok"}

    judge(study, item, None)
    merging.merge_due()
    assert labels(item)["majority_verifiers"] == "ok"


def test_the_last_reply_is_merged_again_when_its_label_is_final():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    dialogue = make_finished(study=study, ended_minutes_ago=0, bins=["0"])
    verification.open_items(dialogue.pk)
    human, bot = Item.objects.order_by("utterance__number")
    batch = batches.take(verifier=make_verifier(study), slug=study.slug)
    make_vote(batch, item=human)
    make_vote(batch, item=bot)

    assert merging.merge_due() == 2
    assert (labels(human)["any"], labels(bot)["any"]) == ("ok", "ok")

    chats.label(worker_id=dialogue.worker_id, dialogue_id=dialogue.pk, number=2, bin_=">=50")
    assert merging.merge_due() == 0
    Item.objects.filter(due_at__isnull=False).update(due_at=timezone.now())
    Dialogue.objects.update(ended_at=timezone.now() - merging.SETTLED - timedelta(seconds=1))
    assert (merging.merge_due(), merging.merge_due()) == (1, 0)
    assert labels(bot)["any"] == "notok"


def test_a_reply_without_a_label_is_merged_from_its_votes():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    _, bot = make_items(study, 2, bins=[], state="partial", end_reason="idle")
    judge(study, bot, None)

    merging.merge_due()

    assert not Label.objects.exists()
    assert set(labels(bot).values()) == {"ok"}


def test_what_is_due_longest_comes_first():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    first, second = make_items(study)
    judge(study, second, None)
    judge(study, first, None)

    merging.merge_due(limit=1)

    assert set(Merged.objects.values_list("utterance", flat=True)) == {second.utterance_id}


@pytest.mark.parametrize("wanted", [1, 3])
def test_merging_costs_the_same_however_many_votes_there_are(wanted):
    study = StudyFactory()
    make_plan(study, votes_wanted=wanted)
    item, _ = make_items(study)
    judge(study, item, *[None] * wanted)

    with CaptureQueriesContext(connection) as queries:
        merging.merge_item(item.pk)

    assert len(queries) == 8
    assert Utterance.objects.count() == 2
