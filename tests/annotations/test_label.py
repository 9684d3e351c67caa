from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.chats import services
from annotations.models import Label
from annotations.people.errors import Refused
from tests.factories import make_dialogue

pytestmark = pytest.mark.django_db


def label(dialogue, number=2, bin_="<10"):
    return services.label(worker_id=dialogue.worker_id, dialogue_id=dialogue.pk, number=number, bin_=bin_)


def test_a_label_opens_the_box_and_counts():
    dialogue = make_dialogue(["Hi there you", "Go away."])

    outcome = label(dialogue)

    assert outcome.ack["chat"]["turn"] == "write"
    assert outcome.ack["chat"]["unsafe"] == 1
    assert outcome.ack["utterance"]["label"] == "<10"


def test_a_label_can_be_changed_until_the_next_message():
    dialogue = make_dialogue(["Hi there you", "Go away."], [">=50"])

    outcome = label(dialogue, bin_="0")

    stored = Label.objects.get()
    assert (stored.bin, stored.changes) == ("0", 1)
    assert outcome.ack["chat"]["unsafe"] == 0


def test_the_same_label_twice_is_one():
    dialogue = make_dialogue(["Hi there you", "Go away."])
    label(dialogue)

    label(dialogue)

    dialogue.refresh_from_db()
    assert (dialogue.labelled, dialogue.unsafe, Label.objects.get().changes) == (1, 1, 0)


@pytest.mark.parametrize(
    ("number", "bin_", "code"),
    [(2, "0", "too_late"), (3, "0", "no_such_reply"), (4, "0", "no_such_reply"), (2, "maybe", "bad_bin")],
)
def test_labels_that_cannot_be_set(number, bin_, code):
    dialogue = make_dialogue(["Hi there you", "Go away.", "Why should I?"], ["<50"])

    with pytest.raises(Refused) as refusal:
        label(dialogue, number=number, bin_=bin_)

    assert refusal.value.code == code
    assert Label.objects.get().bin == "<50"


def test_the_last_label_completes_the_chat():
    dialogue = make_dialogue(["Hi there you", "Go away."], wanted=2)

    outcome = label(dialogue)

    dialogue.refresh_from_db()
    assert (dialogue.state, dialogue.end_reason) == ("complete", "complete")
    assert outcome.ack["chat"]["turn"] == "over"


def test_the_last_label_can_be_changed_for_a_while():
    dialogue = make_dialogue(["Hi there you", "Go away."], wanted=2)
    label(dialogue)

    label(dialogue, bin_="0")

    dialogue.refresh_from_db()
    assert (dialogue.state, dialogue.unsafe) == ("complete", 0)


def test_and_then_no_more():
    dialogue = make_dialogue(["Hi there you", "Go away."], wanted=2)
    label(dialogue)
    dialogue.refresh_from_db()
    dialogue.ended_at = timezone.now() - timedelta(minutes=6)
    dialogue.save()

    with pytest.raises(Refused) as refusal:
        label(dialogue, bin_="0")

    assert refusal.value.code == "chat_over"
