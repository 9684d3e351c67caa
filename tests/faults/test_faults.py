"""Processes are killed and lines cut while people chat. Afterwards everything is there, once, in order."""

import asyncio
import contextlib
import json
import time

import aiohttp
import pytest

from annotations.chats import services
from annotations.models import Dialogue, Utterance
from tests.factories import BotFactory, StudyFactory, make_dialogue, make_token, make_worker
from tests.faults.conftest import Workers
from tests.stack import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.faults]


def whole(chats):
    return {"chats": chats, "turns": 3 * chats, "lost": 0, "doubled": 0, "crossed": 0}


def stored():
    """For each chat that is complete, its numbers in order."""
    rows = Dialogue.objects.filter(state="complete").prefetch_related("utterances")
    return [[utterance.number for utterance in dialogue.utterances.all()] for dialogue in rows]


def say(stack, dialogue, text="Hello to you"):
    """Says something over the real socket and gives what came: the ack."""

    async def go():
        address = f"{stack.url}/ws/chats/{dialogue.pk}"
        async with aiohttp.ClientSession() as http, http.ws_connect(address, headers=headers) as socket:
            await socket.send_json({"id": "k1", "do": "say", "text": text})
            return await socket.receive_json(timeout=10)

    headers = {"Authorization": f"Bearer {make_token(dialogue.worker)}"}
    return asyncio.run(go())


def test_the_bot_worker_is_killed_in_the_middle_of_a_reply(stack, slow_bot):
    dialogue = make_dialogue(study=StudyFactory(bot=slow_bot))
    say(stack, dialogue)
    wait_for(lambda: Dialogue.objects.get(pk=dialogue.pk).leased_until, what="the claim", every=0.01)

    stack.kill("bots")
    assert Utterance.objects.filter(dialogue=dialogue).count() == 1
    stack.start("bots")

    wait_for(lambda: Dialogue.objects.get(pk=dialogue.pk).said == 2, seconds=40, what="the reply")
    time.sleep(1)
    assert list(dialogue.utterances.values_list("number", "text")) == [
        (1, "Hello to you"),
        (2, "You said: Hello to you"),
    ]


def test_the_bot_worker_is_killed_while_many_chat(stack, study):
    workers = Workers(stack, study, chats=30, at_once=15)
    wait_for(lambda: workers.done > 5, what="some chats")

    stack.kill("bots")
    stack.start("bots")

    assert workers.finish() == whole(30)
    assert stored() == [[1, 2, 3, 4, 5, 6]] * 30


def test_without_redis_a_scripted_bot_goes_on(stack):
    dialogue = make_dialogue()

    stack.kill("redis")
    ack = say(stack, dialogue)

    assert (ack["ok"], ack["chat"]["turn"]) == (True, "label")
    assert dialogue.utterances.count() == 2


def test_redis_is_restarted_while_many_chat(stack, study):
    workers = Workers(stack, study, chats=30, at_once=15)
    wait_for(lambda: workers.done > 5, what="some chats")

    stack.kill("redis")
    time.sleep(1)
    stack.start("redis")

    assert workers.finish() == whole(30)
    assert stored() == [[1, 2, 3, 4, 5, 6]] * 30


def test_the_web_process_is_restarted_while_many_chat(stack, study):
    workers = Workers(stack, study, chats=30, at_once=15)
    wait_for(lambda: workers.done > 5, what="some chats")

    stack.kill("web")
    time.sleep(1)
    stack.start("web")

    assert workers.finish() == whole(30)
    assert stored() == [[1, 2, 3, 4, 5, 6]] * 30


def test_the_line_is_cut_between_say_and_ack_and_between_ack_and_reply(stack, study):
    workers = Workers(stack, study, chats=40, at_once=20, drop=0.4, think_s=0.02)

    assert workers.finish() == whole(40)
    assert stored() == [[1, 2, 3, 4, 5, 6]] * 40


def test_fifty_chats_at_once_on_each_engine_get_only_their_own_replies(stack, study):
    for engine in ("trains", "hospitals"):
        study.study_bots.create(bot=BotFactory(engine=engine), chats_wanted=500)

    workers = Workers(stack, study, chats=100, at_once=50, think_s=0.05)

    assert workers.finish() == whole(100)


async def _start_all(stack, slug, keys):
    async with aiohttp.ClientSession() as http:

        async def start(key):
            headers = {"Authorization": f"Bearer {key}"}
            async with http.post(f"{stack.url}/api/v1/studies/{slug}/chats", headers=headers) as answer:
                return answer.status

        return await asyncio.gather(*map(start, keys))


def test_a_hundred_chats_opened_at_once_on_a_study_that_needs_sixty(stack):
    study = StudyFactory(bot__wanted=60)
    keys = [make_token(make_worker(study)) for _ in range(100)]

    statuses = asyncio.run(_start_all(stack, study.slug, keys))

    assert set(statuses) == {201, 409}, stack.log()
    assert (statuses.count(201), statuses.count(409)) == (60, 40)
    assert Dialogue.objects.count() == 60


def test_an_idle_socket_still_works_after_a_minute(stack):
    dialogue = make_dialogue()
    headers = {"Authorization": f"Bearer {make_token(dialogue.worker)}"}

    async def go():
        async with aiohttp.ClientSession() as http:
            address = f"{stack.url}/ws/chats/{dialogue.pk}"
            async with http.ws_connect(address, headers=headers) as idle:
                first = asyncio.ensure_future(idle.receive_json())
                await asyncio.sleep(61)
                other = await http.ws_connect(address, headers=headers)
                await other.send_json({"id": "k1", "do": "say", "text": "Still there, are you?"})
                heard = [await asyncio.wait_for(first, 5), await idle.receive_json(timeout=5)]
                await idle.send_json({"id": "k2", "do": "label", "utterance": 2, "bin": "0"})
                return heard, await idle.receive_json(timeout=5)

    heard, label = asyncio.run(go())

    assert [frame["utterance"]["number"] for frame in heard] == [1, 2]
    assert label["ok"] is True


def test_two_hundred_sockets_hear_an_announcement(stack):
    dialogue = make_dialogue()
    headers = {"Authorization": f"Bearer {make_token(dialogue.worker)}"}

    async def go():
        address = f"{stack.url}/ws/chats/{dialogue.pk}"
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
            sockets = [await http.ws_connect(address, headers=headers) for _ in range(200)]
            for number, socket in enumerate(sockets):
                await socket.send_json({"id": f"r{number}", "do": "resume", "after": 0})
                await socket.receive_json(timeout=10)
            await sockets[0].send_json({"id": "k1", "do": "say", "text": "Hello to you all"})
            frames = [await socket.receive_json(timeout=10) for socket in sockets[1:]]
            for socket in sockets:
                await socket.close()
            return frames

    frames = asyncio.run(go())

    assert {frame["event"] for frame in frames} == {"utterance"}
    assert len(frames) == 199


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403)],
)
def test_a_foreign_origin_gets_no_socket(stack, headers, status):
    async def go():
        async with aiohttp.ClientSession() as http:
            await http.ws_connect(f"{stack.url}/ws/chats/1", headers=headers)

    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        asyncio.run(go())

    assert refusal.value.status == status


@pytest.mark.parametrize("stack", [{"FRAMES_A_SECOND": 10}], indirect=True, ids=["10 frames a second"])
def test_hostile_floods_close_the_socket_and_harm_nobody(stack):
    dialogue = make_dialogue()
    headers = {"Authorization": f"Bearer {make_token(dialogue.worker)}"}

    async def go(flood):
        last = {}
        address = f"{stack.url}/ws/chats/{dialogue.pk}"
        async with aiohttp.ClientSession() as http, http.ws_connect(address, headers=headers) as socket:
            with contextlib.suppress(ConnectionError):
                await flood(socket)
            while (message := await socket.receive(timeout=20)).type is aiohttp.WSMsgType.TEXT:
                last = json.loads(message.data)
            return socket.close_code, last

    async def megabyte(socket):
        await socket.send_json({"id": "r", "do": "resume", "after": 0})
        await socket.send_str("x" * 1_000_000)

    async def thousands(socket):
        for number in range(6_000):
            await socket.send_json({"id": f"k{number}", "do": "say", "text": "again and again"})

    big, _ = asyncio.run(go(megabyte))
    many, last = asyncio.run(go(thousands))

    assert big == 1009
    assert (many, last["error"]) == (4429, "too_fast")
    assert services.read(worker_id=dialogue.worker_id, dialogue_id=dialogue.pk).said in (0, 2)
    assert "Traceback" not in stack.log()
