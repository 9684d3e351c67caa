"""The protocol, frame by frame, over a real channel layer."""

import asyncio
import json

import pytest
from channels.db import database_sync_to_async

from annotations.chats.consumers import VERBS
from annotations.models import Utterance
from tests.factories import UserFactory, make_dialogue, make_token
from tests.sockets import Socket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dialogue():
    return make_dialogue()


@pytest.fixture
def key(dialogue):
    return make_token(dialogue.worker)


async def test_a_turn(dialogue, key):
    async with Socket(dialogue.pk, key=key) as socket:
        ack = await socket.ask(id="k1", do="say", text="Do you like cats?")
        event = await socket.frame()
        label = await socket.ask(id="k2", do="label", utterance=2, bin="<10")
        resumed = await socket.ask(id="k3", do="resume", after=1)

    assert (ack["re"], ack["ok"], ack["utterance"]["number"]) == ("k1", True, 1)
    assert (event["event"], event["utterance"]["number"], event["chat"]["turn"]) == ("utterance", 2, "label")
    assert (label["re"], label["utterance"]["label"], label["chat"]["unsafe"]) == ("k2", "<10", 1)
    assert [row["number"] for row in resumed["utterances"]] == [2]


async def test_the_worker_is_not_told_which_bot_it_is(dialogue, key):
    async with Socket(dialogue.pk, key=key) as socket:
        await socket.ask(id="k1", do="say", text="Do you like cats?")
        event = await socket.frame()

    assert sorted(event["utterance"]) == ["at", "label", "number", "speaker", "text"]


async def test_every_frame_twice_changes_nothing(dialogue, key):
    async with Socket(dialogue.pk, key=key) as socket:
        say = {"id": "k1", "do": "say", "text": "Do you like cats?"}
        first = await socket.ask(**say)
        await socket.frame()
        again = await socket.ask(**say)
        reply = await socket.frame()
        label = {"id": "k2", "do": "label", "utterance": 2, "bin": "0"}
        labels = [await socket.ask(**label), await socket.ask(**label)]

    assert again["utterance"] == first["utterance"]
    assert reply["utterance"]["number"] == 2
    assert labels[0] == labels[1]
    assert await Utterance.objects.acount() == 2


async def test_a_second_tab_sees_what_the_first_does(dialogue, key):
    async with Socket(dialogue.pk, key=key) as one, Socket(dialogue.pk, key=key) as two:
        await two.ask(id="r", do="resume", after=0)
        await one.ask(id="k1", do="say", text="Do you like cats?")
        await one.frame()
        seen = [await two.frame(), await two.frame()]
        await one.ask(id="k2", do="label", utterance=2, bin=">=50")
        labelled = await two.frame()

    assert [(frame["event"], frame["utterance"]["number"]) for frame in seen] == [
        ("utterance", 1),
        ("utterance", 2),
    ]
    assert (labelled["event"], labelled["utterance"]["label"]) == ("label", ">=50")


async def test_two_tabs_typing_at_once(dialogue, key):
    async with Socket(dialogue.pk, key=key) as one, Socket(dialogue.pk, key=key) as two:
        await asyncio.gather(
            one.send(json.dumps({"id": "a", "do": "say", "text": "First of two"})),
            two.send(json.dumps({"id": "b", "do": "say", "text": "Second of two"})),
        )
        frames = [await one.frame() for _ in range(2)] + [await two.frame() for _ in range(2)]
        resumed = await one.ask(id="r", do="resume", after=0)
        while resumed.get("re") != "r":
            resumed = await one.frame()

    refusals = [frame["error"] for frame in frames if "error" in frame]
    assert refusals == ["label_first"]
    assert [row["number"] for row in resumed["utterances"]] == [1, 2]


@pytest.mark.parametrize(
    ("text", "re", "code"),
    [
        ("{", None, "bad_frame"),
        ("[]", None, "bad_frame"),
        ('"say"', None, "bad_frame"),
        ("[" * 9000, None, "bad_frame"),
        ('{"do":"say","text":"x"}', None, "bad_frame"),
        ('{"id":7,"do":"say","text":"x"}', None, "bad_frame"),
        ('{"id":"","do":"say","text":"x"}', None, "bad_frame"),
        ('{"id":"a\\u0000b","do":"say","text":"x"}', None, "bad_frame"),
        ('{"id":"\\ud800","do":"say","text":"x"}', None, "bad_frame"),
        ('{"id":"k","do":"delete"}', "k", "unknown_verb"),
        ('{"id":"k","do":["say"]}', "k", "unknown_verb"),
        ('{"id":"k","do":"say"}', "k", "bad_frame"),
        ('{"id":"k","do":"say","text":5}', "k", "bad_frame"),
        ('{"id":"k","do":"say","text":"x","more":1}', "k", "bad_frame"),
        ('{"id":"k","do":"label","utterance":true,"bin":"0"}', "k", "bad_frame"),
        ('{"id":"k","do":"label","utterance":2.5,"bin":"0"}', "k", "bad_frame"),
        ('{"id":"k","do":"resume","after":-1}', "k", "bad_frame"),
        ('{"id":"k","do":"resume","after":1e400}', "k", "bad_frame"),
        ('{"id":"k","do":"say","text":"' + "x" * 32_000 + '"}', None, "too_big"),
        ('{"id":"k","do":"say","text":" "}', "k", "empty"),
        ('{"id":"k","do":"say","text":"\\ud800"}', "k", "empty"),
        ('{"id":"k","do":"say","text":"' + "x" * 2_001 + '"}', "k", "too_long"),
        ('{"id":"k","do":"label","utterance":2,"bin":"0"}', "k", "no_such_reply"),
        ('{"id":"k","do":"ask"}', "k", "nothing_owed"),
    ],
)
async def test_frames_of_the_wrong_shape_are_told_so(dialogue, key, text, re, code):
    async with Socket(dialogue.pk, key=key) as socket:
        await socket.send(text)
        frame = await socket.frame()
        after = await socket.ask(id="r", do="resume", after=0)

    assert (frame["re"], frame["error"]) == (re, code)
    assert after["utterances"] == []


async def test_binary_frames_are_told_so(dialogue, key):
    async with Socket(dialogue.pk, key=key) as socket:
        await socket.raw.send_input({"type": "websocket.receive", "bytes": b"\x00"})
        frame = await socket.frame()

    assert frame["error"] == "bad_frame"


@pytest.mark.parametrize("key", [None, "bc_wrong", ""])
async def test_without_a_token_the_socket_is_closed(dialogue, key):
    ours = [(b"origin", b"http://testserver"), (b"host", b"testserver")]
    headers = ours if key is None else [(b"authorization", f"Bearer {key}".encode())]
    async with Socket(dialogue.pk, headers=headers) as socket:
        frame, code = await socket.frame(), await socket.closed()

    assert (frame["error"], code) == ("not_signed_in", 4401)


async def test_anothers_chat_is_closed_in_the_same_words_as_none(dialogue):
    other = await database_sync_to_async(lambda: make_token(UserFactory()))()
    answers = []
    for pk in (dialogue.pk, 999_999):
        async with Socket(pk, key=other) as socket:
            answers.append((await socket.frame(), await socket.closed()))

    assert answers[0] == answers[1]
    assert (answers[0][0]["error"], answers[0][1]) == ("no_such_chat", 4404)


async def test_a_foreign_origin_is_turned_away(dialogue):
    async with Socket(dialogue.pk, headers=[(b"origin", b"https://evil.example")]) as socket:
        assert socket.connected is False


async def test_too_many_frames_close_the_socket(dialogue, key, settings):
    settings.FRAMES_A_SECOND = 5
    async with Socket(dialogue.pk, key=key) as socket:
        for number in range(30):
            await socket.send(json.dumps({"id": f"k{number}", "do": "resume", "after": 0}))
        frames = []
        while "error" not in (frame := await socket.frame()):
            frames.append(frame)
        code = await socket.closed()

    assert (frame["error"], code) == ("too_fast", 4429)
    assert len(frames) >= 5


async def test_an_address_without_a_socket():
    async with Socket("nowhere", key="x") as socket:
        assert socket.connected is False


def test_the_protocol_page_tells_every_verb():
    assert sorted(VERBS) == ["ask", "label", "leave", "resume", "say"]
