"""The items of finished chats: which chats, which utterances, once."""

import pytest

from annotations.models import AuditEntry, Dialogue, Item, Plan
from annotations.verification import services
from tests.factories import StudyFactory, make_dialogue, make_finished, make_plan, make_researcher

pytestmark = pytest.mark.django_db


def test_each_utterance_of_a_complete_chat_becomes_an_item():
    study = StudyFactory()
    make_plan(study, votes_wanted=5)
    dialogue = make_finished(["Hi there you", "Go away.", "Why should I?", "Because."], study=study)

    opened = services.open_finished()

    items = list(Item.objects.order_by("utterance__number"))
    assert opened == 1
    assert [item.utterance.number for item in items] == [1, 2, 3, 4]
    assert {(item.wanted, item.free, item.votes_in) for item in items} == {(5, 5, 0)}
    assert Dialogue.objects.get(pk=dialogue.pk).items_at is not None


def test_a_partial_chat_is_verified_too():
    make_finished(state="partial", end_reason="idle")

    assert services.open_finished() == 1
    assert Item.objects.count() == 2


def test_open_and_dropped_chats_are_not():
    under_way = make_dialogue(["Hi there you"])
    dropped = make_finished(state="dropped", end_reason="idle")

    assert services.open_finished() == 0
    assert [services.open_items(under_way.pk), services.open_items(dropped.pk)] == [0, 0]
    assert Item.objects.count() == 0


def test_opening_twice_is_once():
    dialogue = make_finished()

    assert [services.open_items(dialogue.pk), services.open_items(dialogue.pk)] == [2, 0]
    assert services.open_finished() == 0
    assert Item.objects.count() == 2


def test_the_longest_finished_come_first_and_the_rest_next_time():
    study = StudyFactory()
    late = make_finished(study=study, ended_minutes_ago=1)
    early = make_finished(study=study, ended_minutes_ago=9)

    services.open_finished(limit=1)

    assert set(Item.objects.values_list("utterance__dialogue", flat=True)) == {early.pk}
    assert services.open_finished() == 1
    assert Item.objects.filter(utterance__dialogue=late).count() == 2


def test_the_order_of_a_study_is_seeded():
    study = StudyFactory()
    dialogue = make_finished(study=study)
    services.open_items(dialogue.pk)
    first = list(Item.objects.order_by("utterance").values_list("draw", flat=True))
    Item.objects.all().delete()
    Dialogue.objects.update(items_at=None)

    services.open_items(dialogue.pk)
    again = list(Item.objects.order_by("utterance").values_list("draw", flat=True))
    Item.objects.all().delete()
    Dialogue.objects.update(items_at=None)
    Plan.objects.update(seed=1)
    services.open_items(dialogue.pk)
    other = list(Item.objects.order_by("utterance").values_list("draw", flat=True))

    assert first == again
    assert first != other


def test_an_item_carries_the_harms_of_all_that_is_shown_with_it():
    dialogue = make_finished(["Hi there you", "Fuck off.", "Do you like porn?", "Bye."])

    services.open_items(dialogue.pk)

    assert list(Item.objects.order_by("utterance").values_list("harms", flat=True)) == [0, 16, 18, 18]


def test_imported_chats_wait_until_they_are_sent():
    study = StudyFactory()
    researcher = make_researcher(study)
    make_finished(study=study, imported=True)
    make_finished(imported=True)
    assert services.open_finished() == 0

    waiting = services.send_to_verification(study=study, actor=researcher)
    services.send_to_verification(study=study, actor=researcher)

    assert waiting == 1
    assert services.open_finished() == 1
    assert Item.objects.count() == 2
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor, entry.study) == ("imported_sent_to_verification", researcher, study)
