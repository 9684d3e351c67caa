import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.models import Vote
from annotations.verification import batches, merging, quality
from annotations.verification.queries import verifier_rows
from tests.factories import (
    StudyFactory,
    make_gold,
    make_items,
    make_plan,
    make_researcher,
    make_verifier,
    make_vote,
)

pytestmark = pytest.mark.django_db


def test_each_verifier_in_figures():
    study = StudyFactory()
    make_plan(study, gold_share=0.2, batch_size=5)
    items = make_items(study, 4)
    gold = make_gold(study, ok=False)
    anna, ben, cleo, dan = (make_verifier(study, username=name) for name in ("anna", "ben", "cleo", "dan"))
    of = {person: batches.take(verifier=person, slug=study.slug) for person in (anna, ben, cleo)}
    for person, oks in (
        (anna, [True, True, False]),
        (ben, [True, False, False]),
        (cleo, [False, False, False]),
    ):
        for item, ok in zip(items[:3], oks, strict=True):
            make_vote(of[person], item=item, ok=ok)
    make_vote(of[anna], item=gold, ok=False)
    make_vote(of[ben], item=gold, ok=True)
    skipped = of[anna].assignments.get(item=items[3])
    batches.skip(verifier_id=anna.pk, assignment_id=skipped.pk)
    for seconds, item in zip((2, 9, 4), items, strict=False):
        Vote.objects.filter(verifier=anna, item=item).update(seconds=seconds)
    for seconds, item in zip((2, 9), items, strict=False):
        Vote.objects.filter(verifier=ben, item=item).update(seconds=seconds)
    merging.merge_due()
    quality.pause(study=study, verifier=cleo, reason="Everything is bad.", actor=make_researcher(study))

    rows = verifier_rows(study, rule="majority_verifiers")

    assert [row.user for row in rows] == [anna, ben, cleo, dan]
    assert [(row.votes, row.notok, row.skipped) for row in rows] == [
        (3, 1, 1),
        (3, 2, 0),
        (3, 3, 0),
        (0, 0, 0),
    ]
    assert [(row.gold_right, row.gold_of) for row in rows] == [(1, 1), (0, 1), (0, 0), (0, 0)]
    assert [row.median_seconds for row in rows] == [4, 5.5, None, None]
    assert [row.agreement for row in rows] == [2 / 3, 1, 2 / 3, None]
    assert [row.compared for row in rows] == [3, 3, 3, 0]
    assert [bool(row.paused_at) for row in rows] == [False, False, True, False]
    assert rows[2].paused_reason == "Everything is bad."


def test_votes_set_aside_are_told_and_not_compared():
    study = StudyFactory()
    make_plan(study, votes_wanted=1)
    item, _ = make_items(study)
    verifier = make_verifier(study)
    make_vote(batches.take(verifier=verifier, slug=study.slug), item=item)
    quality.set_aside(study=study, verifier=verifier, actor=make_researcher(study))

    (row,) = verifier_rows(study, rule="majority_verifiers")

    assert (row.votes, row.set_aside, row.compared) == (1, 1, 0)


@pytest.mark.parametrize("people", [1, 3])
def test_figures_cost_the_same_however_many_verifiers(people):
    study = StudyFactory()
    make_items(study)
    for _ in range(people):
        make_vote(batches.take(verifier=make_verifier(study), slug=study.slug))

    with CaptureQueriesContext(connection) as queries:
        assert len(verifier_rows(study, rule="majority_verifiers")) == people

    assert len(queries) == 7
