import json

import pytest

from tests.factories import BotFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def url():
    BotFactory(slug="ada", engine="eliza", public=True)
    return "/bots/ada/reply"


def send(client, url, body, **extra):
    return client.post(
        url, body if isinstance(body, (str, bytes)) else json.dumps(body), "application/json", **extra
    )


@pytest.mark.parametrize("engine", ["eliza", "trains", "hospitals"])
def test_a_public_scripted_bot_answers_json(client, engine):
    BotFactory(slug="ada", engine=engine, public=True)

    answer = send(client, "/bots/ada/reply", {"bot_id": "x", "messageText": "Is the train to Utrecht late?"})

    values = answer.json()
    assert (answer.status_code, list(values), list(values["output"])) == (200, ["output"], ["text"])
    assert 0 < len(values["output"]["text"]) <= 2000


def test_a_form_gets_the_same_answer_as_json(client, url):
    values = {"bot_id": "x", "messageText": "I am sad"}

    found = [
        send(client, url, values).json(),
        client.post(url, values).json(),
        client.post(url, "bot_id=x&messageText=I+am+sad", "application/x-www-form-urlencoded").json(),
    ]

    assert found == [found[0]] * 3


def test_it_takes_messages_from_anywhere_without_a_token(url):
    from django.test import Client

    answer = send(
        Client(enforce_csrf_checks=True), url, {"messageText": "Hello"}, headers={"Origin": "https://x.org"}
    )

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "values",
    [
        {"public": False},
        {"public": True, "enabled": False},
        {
            "public": True,
            "engine": "http",
            "config": {"url": "https://example.org/v1/chat/completions", "model": "m"},
        },
        {"public": True, "slug": "other"},
    ],
)
def test_any_other_bot_is_not_there(client, values):
    BotFactory(**{"slug": "ada", **values})

    answer = send(client, "/bots/ada/reply", {"messageText": "Hello"})

    assert (answer.status_code, answer.json()) == (
        404,
        {"error": "no_such_bot", "detail": "There is no public bot at this address."},
    )


EMPTY = "messageText is empty. Send at least one character."
STRING = "Send an object with messageText, a string."


@pytest.mark.parametrize(
    ("body", "error", "detail"),
    [
        ({}, "empty", EMPTY),
        ({"messageText": " \n\u0000 "}, "empty", EMPTY),
        ({"messageText": "\ud800"}, "empty", EMPTY),
        ({"messageText": "x" * 2001}, "too_long", "messageText is over 2,000 characters. Shorten it."),
        ({"messageText": 5}, "bad_body", STRING),
        ({"messageText": None}, "bad_body", STRING),
        ([], "bad_body", STRING),
        ("{", "bad_body", "The body is not JSON."),
        (b"\xff\xfe\xfd", "bad_body", "The body is not JSON."),
        ("[" * 30_000, "bad_body", "The body is not JSON."),
    ],
)
def test_what_cannot_be_answered_is_told(client, url, body, error, detail):
    answer = send(client, url, body)

    assert (answer.status_code, answer.json()) == (422, {"error": error, "detail": detail})


@pytest.mark.parametrize(
    ("body", "kind", "detail"),
    [
        (b"", "application/x-www-form-urlencoded", EMPTY),
        (b"x", "multipart/form-data", "The form could not be read."),
        (
            b"&".join(b"a%d=1" % n for n in range(2000)),
            "application/x-www-form-urlencoded",
            "The form could not be read.",
        ),
        (b"Hello", "text/plain", EMPTY),
    ],
)
def test_a_form_that_cannot_be_answered_is_told(client, url, body, kind, detail):
    answer = client.post(url, body, kind)

    assert (answer.status_code, answer.json()["detail"]) == (422, detail)


def test_a_body_over_64_kb_is_too_big(client, url):
    codes = [
        send(client, url, {"messageText": "Hello", "pad": "x" * 64 * 1024}).status_code,
        client.post(url, {"messageText": "x" * 64 * 1024}).status_code,
        send(client, url, {"messageText": "Hello", "pad": "x" * 5_000_000}).json(),
    ]

    assert codes == [413, 413, {"error": "too_big", "detail": "Send at most 64 KB."}]


@pytest.mark.parametrize("method", ["get", "put", "delete", "head", "options"])
def test_only_post_is_taken(client, url, method):
    answer = getattr(client, method)(url)

    assert (answer.status_code, answer["Allow"]) == (405, "POST")


def test_markup_and_marks_come_back_as_plain_json(client, url):
    answer = send(client, url, {"messageText": "I am <script>alert(1)</script> \u202e"})

    assert answer["Content-Type"] == "application/json"
    assert answer.status_code == 200
