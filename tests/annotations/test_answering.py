"""Replies that take their time, and what happens when they do not come."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.chats import answering, services
from annotations.models import Dialogue, ReplyFailure
from annotations.people.errors import Refused
from bots.errors import EngineError
from bots.replies import Reply
from tests.bots.fake_server import FakeServer
from tests.factories import BotFactory, StudyFactory, make_dialogue

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def server():
    with FakeServer() as running:
        yield running


@pytest.fixture
def owing(server):
    """A chat whose bot, on the fake server, owes the reply to its first message."""
    bot = BotFactory(engine="http", config={"style": "rest", "url": server.rest_url})
    dialogue = make_dialogue(study=StudyFactory(bot=bot))
    services.say(worker_id=dialogue.worker_id, dialogue_id=dialogue.pk, client_id="k1", text="Hello to you")
    dialogue.refresh_from_db()
    return dialogue


def reply(text="Good day."):
    return Reply(text=text, engine="http", seconds=0.5, settings={"url": "http://here"})


def settle(dialogue, **values):
    return answering.settle(dialogue_id=dialogue.pk, number=1, **{"reply": reply(), **values})


def again(dialogue):
    return answering.ask_again(worker_id=dialogue.worker_id, dialogue_id=dialogue.pk)


def test_one_of_two_claims_gets_the_reply_to_make(owing):
    first = answering.claim(dialogue_id=owing.pk, number=1)
    second = answering.claim(dialogue_id=owing.pk, number=1)

    assert first.result(timeout=5).text == "You said: Hello to you"
    assert second is None


def test_a_reply_is_stored_once(owing):
    assert (settle(owing), settle(owing)) == (True, False)

    stored = owing.utterances.get(number=2)
    assert (stored.text, stored.speaker, stored.seconds) == ("Good day.", "bot", 0.5)
    owing.refresh_from_db()
    assert (owing.said, owing.asked_at, owing.leased_until) == (2, None, None)


def test_a_reply_to_a_closed_chat_is_dropped(owing):
    services.close(dialogue_id=owing.pk, reason="idle")

    assert settle(owing) is False

    assert owing.utterances.count() == 1


def test_a_failure_is_tried_again_and_then_told(owing):
    for _ in range(3):
        answering.fail(dialogue_id=owing.pk, number=1, error=EngineError("Too slow."))

    owing.refresh_from_db()
    assert owing.stalled_at is not None
    assert list(ReplyFailure.objects.order_by("pk").values_list("attempt", "number", "error")) == [
        (1, 2, "Too slow."),
        (2, 2, "Too slow."),
        (3, 2, "Too slow."),
    ]
    assert services.read(worker_id=owing.worker_id, dialogue_id=owing.pk).utterances.count() == 1


def test_a_failure_that_cannot_be_helped_is_told_at_once(owing):
    answering.fail(dialogue_id=owing.pk, number=1, error=EngineError("No such model.", retry=False))

    owing.refresh_from_db()
    assert owing.stalled_at is not None


def test_a_stalled_reply_can_be_asked_for_again(owing):
    answering.fail(dialogue_id=owing.pk, number=1, error=EngineError("No.", retry=False))

    again(owing)

    owing.refresh_from_db()
    assert (owing.stalled_at, owing.attempts) == (None, 0)
    assert settle(owing) is True


def test_asking_again_leaves_a_reply_in_the_making_alone(owing):
    answering.claim(dialogue_id=owing.pk, number=1)
    owing.refresh_from_db()
    asked = owing.asked_at

    again(owing)

    owing.refresh_from_db()
    assert owing.asked_at == asked


def test_nothing_is_owed_after_the_reply(owing):
    settle(owing)

    with pytest.raises(Refused) as refusal:
        again(owing)

    assert refusal.value.code == "nothing_owed"


def test_the_sweep_finds_what_was_lost_and_nothing_else(owing):
    assert answering.sweep() == 0
    long_ago = timezone.now() - timedelta(seconds=11)
    Dialogue.objects.update(queued_at=long_ago)

    assert (answering.sweep(), answering.sweep()) == (1, 0)

    Dialogue.objects.update(leased_until=long_ago)
    assert (answering.sweep(), answering.sweep()) == (1, 0)


def test_a_claim_that_is_kept_alive_is_not_swept(owing):
    answering.claim(dialogue_id=owing.pk, number=1)
    Dialogue.objects.update(leased_until=timezone.now() - timedelta(seconds=1))

    answering.renew([owing.pk])

    assert answering.sweep() == 0


def test_what_a_process_gives_back_is_free_at_once(owing):
    answering.claim(dialogue_id=owing.pk, number=1)

    answering.give_back([owing.pk])

    assert answering.claim(dialogue_id=owing.pk, number=1) is not None


def test_how_many_chats_are_ahead(server):
    bot = BotFactory(engine="http", config={"style": "rest", "url": server.rest_url, "max_in_flight": 2})
    study = StudyFactory(bot=bot)

    shown = []
    for _ in range(4):
        dialogue = make_dialogue(study=study)
        outcome = services.say(
            worker_id=dialogue.worker_id, dialogue_id=dialogue.pk, client_id="k1", text="Hello to you"
        )
        shown.append(outcome.ack["chat"]["ahead"])

    assert shown == [0, 0, 1, 2]
