"""Odd moments and hostile input that once went wrong."""

import time
from concurrent.futures import Future
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotations.chats import answering, services, trials
from annotations.chats.desk import Desk
from annotations.domain.messages import MessageError, clean_message
from annotations.models import Dialogue, Trial, User
from annotations.people.errors import Refused
from annotations.people.services import delete_token
from badcollect.simulation.people import hire
from bots.errors import EngineError
from bots.models import Bot
from bots.replies import at_once
from tests.bots.fake_server import FakeServer
from tests.factories import BotFactory, StudyFactory, make_dialogue, make_researcher, make_token, make_worker
from tests.sockets import Socket
from tests.stack import wait_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def owing():
    """A chat on a slow bot, asked half an hour ago."""
    bot = BotFactory(engine="http", config={"style": "rest", "url": "http://127.0.0.1:9/"})
    dialogue = make_dialogue(["Hello to you"], study=StudyFactory(bot=bot))
    old = timezone.now() - timedelta(minutes=40)
    Dialogue.objects.filter(pk=dialogue.pk).update(last_at=old, asked_at=old, queued_at=old)
    dialogue.refresh_from_db()
    return dialogue


def test_a_chat_whose_bot_is_at_work_is_not_idle(owing):
    Dialogue.objects.filter(pk=owing.pk).update(leased_until=timezone.now() + timedelta(seconds=5))

    closed = services.close_idle()

    assert closed == 0


def test_asking_fifty_times_keeps_the_place_and_the_attempts(owing):
    who = {"worker_id": owing.worker_id, "dialogue_id": owing.pk}
    answering.ask_again(**who)
    first = Dialogue.objects.get(pk=owing.pk)

    for _ in range(50):
        answering.ask_again(**who)

    last = Dialogue.objects.get(pk=owing.pk)
    assert (last.asked_at, last.queued_at) == (owing.asked_at, first.queued_at)


def test_a_left_chat_that_is_open_again_on_a_page_was_not_left():
    dialogue = make_dialogue(["word one two", "reply"])
    who = {"worker_id": dialogue.worker_id, "dialogue_id": dialogue.pk}
    services.leave(**who)

    services.resume(**who, after=0)

    dialogue.refresh_from_db()
    assert dialogue.left_at is None


def test_a_claim_taken_twice_is_renewed_until_both_are_done():
    desk = Desk(1)
    desk._under_way[7] += 2
    stale = Future()
    stale.set_exception(EngineError("Too late."))

    desk._finish(7, 1, stale)

    assert desk._under_way[7] == 1
    desk._under_way.clear()
    desk._stop.set()


@pytest.mark.parametrize("text", ["\u200b", "\u202e\u2066", "\u00ad \u2060"])
def test_what_nobody_can_see_is_no_message(text):
    with pytest.raises(MessageError) as error:
        clean_message(text)

    assert error.value.code == "empty"


def test_a_bot_whose_settings_no_longer_pass_does_not_shut_its_chats():
    assert at_once(Bot(engine="local", config={"preset": "gone"})) == 1


@pytest.mark.django_db(transaction=True)
def test_a_trial_is_answered_by_the_desk():
    with FakeServer() as server:
        bot = BotFactory(engine="http", config={"style": "rest", "url": server.rest_url})
        trial = trials.start(bot=bot, user=make_researcher(), text="Hello to you")
        desk = Desk(1)

        desk.try_out(trial.pk)

        wait_for(lambda: Trial.objects.get(pk=trial.pk).reply, seconds=5, what="the reply")
    assert Trial.objects.get(pk=trial.pk).reply == "You said: Hello to you"
    desk._stop.set()


def test_five_trials_wait_and_a_sixth_is_refused():
    bot = BotFactory(engine="http", config={"style": "rest", "url": "http://127.0.0.1:9/"})
    user = make_researcher()
    for _ in range(5):
        trials.start(bot=bot, user=user, text="Hello to you")

    with pytest.raises(Refused) as refusal:
        trials.start(bot=bot, user=user, text="Hello to you")

    assert refusal.value.code == "trials_waiting"
    assert Trial.objects.count() == 5


def test_simulated_workers_with_an_open_chat_are_left_alone():
    study = StudyFactory()
    hire(study, 10, at_least=2)
    busy = User.objects.get(username="simulated-0001")
    make_dialogue(study=study, worker=busy)

    hire(study, 10, at_least=2)

    assert User.objects.filter(username__startswith="simulated-").count() == 3


@pytest.mark.parametrize("verb", ["say", "label", "leave", "ask", "comment"])
def test_a_number_no_chat_can_have(client, verb):
    client.force_login(make_worker(StudyFactory()), backend="django.contrib.auth.backends.ModelBackend")

    answer = client.post(
        f"/chats/{10**25}/{verb}", {"text": "Hello", "utterance": 2, "bin": "0"}, follow=True
    )

    assert answer.status_code == 404


def test_a_nul_in_an_address_finds_nothing(client):
    key = make_token(make_worker(StudyFactory()))

    page = client.get("/join/%00x")
    rest = client.post("/api/v1/studies/%00/chats", headers={"Authorization": f"Bearer {key}"})

    assert (page.status_code, rest.status_code) == (404, 404)
    assert rest.json()["error"] == "not_found"


def test_the_end_of_an_open_chat_is_the_chat(client):
    dialogue = make_dialogue()
    client.force_login(dialogue.worker, backend="django.contrib.auth.backends.ModelBackend")

    assert client.get(f"/chats/{dialogue.pk}/end").url == f"/chats/{dialogue.pk}"


def test_a_name_is_compared_as_it_will_be_stored(client):
    study = StudyFactory(open_signup=True)
    make_worker(study, username="bob")

    client.post(f"/studies/{study.slug}/join", {"username": "ＢＯＢ", "password": "another horse 9"})

    assert [user.username for user in User.objects.all()] == ["bob"]


def test_a_visitor_of_an_open_study_is_led_to_join(client):
    study = StudyFactory(open_signup=True)
    closed = StudyFactory()

    assert client.get(f"/studies/{study.slug}/").url == f"/studies/{study.slug}/join"
    assert client.get(f"/studies/{closed.slug}/").url == f"/login?next=/studies/{closed.slug}/"


def test_a_fault_with_the_database_away_asks_it_once(settings):
    client = Client(raise_request_exception=False)
    client.force_login(make_worker(StudyFactory()), backend="django.contrib.auth.backends.ModelBackend")
    asked = []

    def refuse(*_):
        asked.append(time.monotonic())
        raise RuntimeError("the database is away")

    with connection.execute_wrapper(refuse):
        answer = client.get("/")

    assert answer.status_code == 500
    assert "It is recorded as" in answer.content.decode()
    assert len(asked) == 1


@pytest.mark.django_db(transaction=True)
async def test_a_deleted_token_is_turned_away_at_the_next_resume():
    from channels.db import database_sync_to_async

    dialogue = await database_sync_to_async(make_dialogue)()
    worker = dialogue.worker
    key = await database_sync_to_async(make_token)(worker)
    async with Socket(dialogue.pk, key=key) as socket:
        await socket.ask(id="r1", do="resume", after=0)
        await database_sync_to_async(lambda: delete_token(user=worker, token_id=worker.tokens.get().pk))()
        await socket.send('{"id":"r2","do":"resume","after":0}')
        code = await socket.closed()

    assert code == 4401
