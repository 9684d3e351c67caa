import multiprocessing
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import CancelledError, Future, wait
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import aiohttp
import pytest

from bots import replies
from bots.engines import addresses, http
from bots.engines.background import BACKGROUND
from bots.errors import ConfigError, EngineError
from bots.models import Bot
from tests.bots.fake_server import FakeServer

KEY = "tiny/secret+1"


@pytest.fixture(autouse=True)
def _switch(monkeypatch):
    monkeypatch.setenv(addresses.SWITCH, "1")
    monkeypatch.setenv("FAKE_API_KEY", KEY)


@pytest.fixture
def server():
    with FakeServer() as running:
        yield running


def chat_bot(server, **config):
    return Bot(engine="http", slug="h", config={"url": server.chat_url, "model": "m", **config})


def rest_bot(server, **config):
    return Bot(engine="http", slug="h", config={"style": "rest", "url": server.rest_url, **config})


def failure(bot, history=("hello",)):
    """The message and `retry` of the error that a reply ends with."""
    with pytest.raises(EngineError) as caught:
        replies.reply(bot, list(history))
    return str(caught.value), caught.value.retry


def who(server):
    return f"The bot at 127.0.0.1:{server.port}"


# -- what is sent and what comes back -----------------------------------------------------------------------


def test_chat_sends_the_history_as_roles_and_the_persona_as_system_message(server):
    bot = chat_bot(server, system="Be brief.", temperature=0.5)

    reply = replies.submit(bot, ["hi", "hello", "how are you?"], ["i like to ski."]).result(timeout=10)

    assert reply.text == "You said: how are you?"
    assert server.requests[0].body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief.\ni like to ski."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
            {"role": "user", "content": "how are you?"},
        ],
        "stream": False,
        "max_tokens": 128,
        "temperature": 0.5,
    }


def test_chat_without_persona_has_no_system_message_and_begins_with_whoever_began(server):
    replies.reply(chat_bot(server), ["welcome", "hi"])

    assert server.requests[0].body["messages"] == [
        {"role": "assistant", "content": "welcome"},
        {"role": "user", "content": "hi"},
    ]


@pytest.mark.parametrize("encoding", ["json", "form"])
def test_rest_sends_the_last_utterance_only(server, encoding):
    bot = rest_bot(server, bot_id="7", encoding=encoding)

    reply = replies.reply(bot, ["hi", "hello", "grüße & so?"])

    assert reply.text == "You said: grüße & so?"
    assert server.requests[0].body == {"bot_id": "7", "messageText": "grüße & so?"}


@pytest.mark.parametrize("bot_of", [chat_bot, rest_bot])
def test_a_reply_in_parts_becomes_one(server, bot_of):
    server.script.append("list")

    reply = replies.reply(bot_of(server), ["hi"])

    assert reply.text == "You said: hi Go on."


def test_no_cookie_goes_from_one_chat_to_another(server):
    replies.reply(chat_bot(server), ["first"])

    replies.reply(chat_bot(server), ["second"])

    assert [request.headers.get("Cookie") for request in server.requests] == [None, None]


def test_an_empty_history_is_not_sent(server):
    assert failure(chat_bot(server), []) == ("There is nothing to reply to yet.", False)
    assert server.requests == []


# -- the key ------------------------------------------------------------------------------------------------


def test_the_key_of_the_environment_is_sent(server):
    replies.reply(chat_bot(server, key_env="FAKE_API_KEY"), ["hi"])

    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_without_key_env_no_authorization_is_sent(server):
    replies.reply(chat_bot(server), ["hi"])

    assert server.requests[0].headers.get("Authorization") is None


def test_a_key_that_the_server_repeats_is_not_in_the_error(server):
    server.script.append("echo-key")

    assert failure(chat_bot(server, key_env="FAKE_API_KEY")) == (
        f"{who(server)} refuses the request (400). It says: bad request by Bearer ***",
        False,
    )


def test_a_variable_that_is_not_set_is_named(server):
    assert failure(chat_bot(server, key_env="MISSING_API_KEY")) == (
        "The environment variable MISSING_API_KEY, which should hold this bot's key, is not set where bots run.",
        False,
    )


def test_a_key_that_cannot_be_sent_is_not_shown(server, monkeypatch):
    monkeypatch.setenv("FAKE_API_KEY", "one\ntwo")

    assert failure(chat_bot(server, key_env="FAKE_API_KEY")) == (
        "The key in FAKE_API_KEY has characters that no key can have.",
        False,
    )


@pytest.mark.parametrize(
    ("key_env", "hint"),
    [("FAKE_API_KEY", "Check the key in FAKE_API_KEY."), ("", "It may want a key: set key_env.")],
)
def test_a_refused_key(server, key_env, hint):
    server.script.append("401")

    assert failure(chat_bot(server, key_env=key_env)) == (
        f"{who(server)} refuses access (401). {hint}",
        False,
    )


# -- failures that are tried again ----------------------------------------------------------------------------


def test_two_faults_and_then_a_reply(server):
    server.script.extend(["500", "503"])

    reply = replies.reply(chat_bot(server), ["hi"])

    assert reply.text == "You said: hi"
    assert len(server.requests) == 3


def test_back_off_grows(server):
    server.script.extend(["500", "500"])

    replies.reply(chat_bot(server), ["hi"])

    first, second, third = (request.at for request in server.requests)
    assert second - first >= 0.25
    assert third - second >= 0.5


def test_faults_beyond_the_retries(server):
    server.script.extend(["502"] * 9)

    assert failure(chat_bot(server, retries=1)) == (f"{who(server)} has a fault (502).", True)
    assert len(server.requests) == 2


def test_retry_after_zero_is_taken_at_its_word(server):
    server.script.append("429:0")

    reply = replies.reply(chat_bot(server), ["hi"])

    assert reply.text == "You said: hi"
    assert server.requests[1].at - server.requests[0].at < 0.2


def test_retry_after_in_seconds_is_waited_for(server):
    server.script.append("429:1")

    replies.reply(chat_bot(server), ["hi"])

    assert server.requests[1].at - server.requests[0].at >= 1.0


def test_retry_after_beyond_the_deadline_fails_at_once(server):
    server.script.append("429:60")
    started = time.monotonic()

    assert failure(chat_bot(server)) == (f"{who(server)} is asked too often (429).", True)
    assert len(server.requests) == 1
    assert time.monotonic() - started < 2


def test_retry_after_as_a_date(server):
    server.script.append(f"429:{format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)}")

    assert failure(chat_bot(server)) == (f"{who(server)} is asked too often (429).", True)
    assert len(server.requests) == 1


def test_a_retry_after_that_says_nothing_is_left_aside(server):
    server.script.append("429:soon")

    reply = replies.reply(chat_bot(server), ["hi"])

    assert reply.text == "You said: hi"


def test_a_dropped_connection_is_tried_again(server):
    server.script.append("drop")

    reply = replies.reply(chat_bot(server), ["hi"])

    assert reply.text == "You said: hi"
    assert len(server.requests) == 2


def test_a_connection_dropped_each_time(server):
    server.script.extend(["drop"] * 2)

    assert failure(chat_bot(server, retries=1)) == (f"{who(server)} broke off the connection.", True)


def test_nobody_listens(server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        bot = chat_bot(server, url=f"http://127.0.0.1:{port}/x", retries=0)

        told = failure(bot)

    assert told == (f"The bot at 127.0.0.1:{port} could not be reached. Is it running?", True)


def test_a_name_that_nobody_has(server, monkeypatch):
    def unknown(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    assert failure(chat_bot(server, url="http://bot.example.org/x", retries=0)) == (
        "The bot at bot.example.org was not found: no machine of that name is known.",
        True,
    )


# -- the deadline and giving up -------------------------------------------------------------------------------


def test_a_server_that_hangs_ends_at_the_deadline(server):
    server.script.append("hang")
    started = time.monotonic()

    assert failure(chat_bot(server, timeout_s=0.4)) == (f"{who(server)} did not answer within 0.4 s.", True)
    assert 0.4 <= time.monotonic() - started < 2
    assert server.left.wait(5)


def test_the_deadline_holds_for_all_attempts_together(server):
    server.script.extend(["429:0", "hang"])
    started = time.monotonic()

    assert failure(chat_bot(server, timeout_s=0.6)) == (f"{who(server)} did not answer within 0.6 s.", True)
    assert len(server.requests) == 2
    assert 0.6 <= time.monotonic() - started < 2


def test_a_wait_beyond_the_deadline_is_not_begun(server):
    server.script.append("500")

    assert failure(chat_bot(server, timeout_s=0.2)) == (f"{who(server)} has a fault (500).", True)
    assert len(server.requests) == 1


def test_cancelling_the_future_cancels_the_request(server):
    server.script.append("hang")
    future = http.submit({"url": server.chat_url, "model": "m"}, ["hi"])
    assert server.arrived.wait(5)

    assert future.cancel()

    assert server.left.wait(5)


# -- answers that are no reply --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "told", "retry"),
    [
        ("big", "sent more than 256 KB.", False),
        ("bomb", "sent more than 256 KB.", False),
        (
            "html",
            "did not send JSON but text/html: <!DOCTYPE html> <title>Welcome</title>",
            False,
        ),
        ("cut", 'did not send JSON but application/json: {"choices": [{"mess', True),
        ("nothing", "sent an empty answer.", True),
        ("empty", "sent an empty reply.", True),
        (
            "no-text",
            'sent no text at choices[0].message.content but application/json: {"answer": "hello"}',
            False,
        ),
        (
            "redirect",
            "redirects (302) to /elsewhere; redirects are not followed. Enter the final address.",
            False,
        ),
        ("400", "refuses the request (400). It says: scripted", False),
        (
            "404",
            "refuses the request (404). Check the address and the model's name. It says: scripted",
            False,
        ),
    ],
)
def test_an_answer_that_is_no_reply_is_told_and_not_tried_again(server, step, told, retry):
    server.script.append(step)

    assert failure(chat_bot(server)) == (f"{who(server)} {told}", retry)
    assert len(server.requests) == 1


def test_reading_stops_at_the_cap(server):
    server.script.append("big")

    failure(chat_bot(server))

    assert server.left.wait(5)


def test_rest_without_text(server):
    server.script.append("no-text")

    assert failure(rest_bot(server)) == (
        f'{who(server)} sent no text at output.text but application/json: {{"answer": "hello"}}',
        False,
    )


def test_a_server_that_does_not_speak_http(server):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        future = replies.submit(chat_bot(server, url=f"http://127.0.0.1:{port}/x"), ["hi"])
        connection, _ = other.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"220 mail ready\r\n\r\n")
            error = future.exception(timeout=10)

    assert str(error) == f"The bot at 127.0.0.1:{port} does not answer as a web server does."


def test_https_to_a_server_without_it(server):
    bot = chat_bot(server, url=server.chat_url.replace("http:", "https:"))

    assert failure(bot) == (
        f"{who(server)} has no encrypted connection that can be trusted: check https and its certificate.",
        False,
    )


# -- many at once ---------------------------------------------------------------------------------------------


def test_fifty_chats_at_once_get_each_its_own_reply(server):
    server.delay = 0.05
    bot = chat_bot(server)

    futures = [replies.submit(bot, [f"message {number}"]) for number in range(50)]

    assert [future.result(timeout=20).text for future in futures] == [
        f"You said: message {number}" for number in range(50)
    ]


def test_two_hundred_are_in_flight_at_once(server):
    server.delay = 1.0
    bot = chat_bot(server)
    started = time.monotonic()

    futures = [replies.submit(bot, ["hi"]) for _ in range(200)]
    wait(futures, timeout=30)

    assert {future.result().text for future in futures} == {"You said: hi"}
    assert server.most == 200
    assert time.monotonic() - started < 3 * server.delay


def test_max_in_flight_keeps_the_others_waiting(server):
    server.delay = 0.05
    bot = chat_bot(server, max_in_flight=3)

    wait([replies.submit(bot, ["hi"]) for _ in range(12)], timeout=20)

    assert len(server.requests) == 12
    assert server.most == 3


def test_a_forked_process_has_its_own_connections(server):
    server.delay = 0.5
    bot = chat_bot(server)
    replies.reply(bot, ["warm"])
    pending = replies.submit(bot, ["parent"])
    ours, theirs = multiprocessing.Pipe()

    child = multiprocessing.get_context("fork").Process(
        target=lambda: theirs.send(replies.reply(bot, ["child"]).text)
    )
    child.start()

    assert ours.poll(20)
    assert ours.recv() == "You said: child"
    assert pending.result(timeout=20).text == "You said: parent"
    assert replies.reply(bot, ["after"]).text == "You said: after"
    child.join(10)
    assert child.exitcode == 0


def test_closing_cancels_what_is_under_way_and_the_next_reply_starts_afresh(server):
    server.script.append("hang")
    future = http.submit({"url": server.chat_url, "model": "m"}, ["hi"])
    assert server.arrived.wait(5)

    BACKGROUND.close()

    with pytest.raises(CancelledError):
        future.result(timeout=5)
    assert replies.reply(chat_bot(server), ["again"]).text == "You said: again"


# -- addresses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.1.2.3", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1"),
        *(
            "169.254.169.254",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "224.0.0.1",
            "255.255.255.255",
        ),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1"),
        *("::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b::a9fe:a9fe", "::127.0.0.1", "2001:db8::1"),
    ],
)
def test_internal_addresses(address):
    assert addresses.is_internal(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_addresses_of_the_internet(address):
    assert not addresses.is_internal(address)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST.", "bot.localhost", "metadata.google.internal", "127.0.0.1", "127.1"),
        *("2130706433", "0x7f000001", "[::1]", "[::ffff:10.0.0.1]", "169.254.169.254"),
    ],
)
def test_internal_hosts_are_refused_with_the_switch_off(host, monkeypatch):
    monkeypatch.delenv(addresses.SWITCH)
    refused = f"url: {addresses.REFUSED}"

    with pytest.raises(ConfigError) as caught:
        http.check({"style": "rest", "url": f"http://{host}:8000/x"})

    assert str(caught.value) == refused


def test_a_stored_bot_with_an_internal_address_is_not_asked_with_the_switch_off(server, monkeypatch):
    monkeypatch.delenv(addresses.SWITCH)

    assert failure(chat_bot(server)) == (f"url: {addresses.REFUSED}", False)
    assert server.requests == []


def resolves_to(*found):
    def lookup(host, port, *args, **kwargs):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    return lookup


def test_a_name_that_resolves_to_an_internal_address_is_refused_when_connecting(server, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", resolves_to("127.0.0.1", "10.0.0.1"))
    bot = chat_bot(server, url=f"http://bot.example.org:{server.port}/v1/chat/completions")
    monkeypatch.setenv(addresses.SWITCH, "0")

    told = failure(bot)
    seen_before = list(server.requests)
    monkeypatch.setenv(addresses.SWITCH, "1")
    allowed = replies.reply(bot, ["hi"])

    assert told == (f"The bot at bot.example.org:{server.port} was not asked. {addresses.REFUSED}", False)
    assert seen_before == []
    assert allowed.text == "You said: hi"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_no_spelling_gets_a_connection_with_the_switch_off(server, monkeypatch, host):
    monkeypatch.delenv(addresses.SWITCH)

    async def connect():
        async with BACKGROUND.session().get(f"http://{host}:{server.port}/"):
            pass

    with pytest.raises(aiohttp.ClientConnectorError) as caught:
        BACKGROUND.run(connect()).result(timeout=10)

    assert type(caught.value.os_error) is addresses.RefusedAddressError


# -- settings -------------------------------------------------------------------------------------------------


def test_the_defaults_of_chat():
    assert http.check({"url": "http://localhost:8000/v1/chat/completions", "model": "m"}) == {
        "style": "chat",
        "url": "http://localhost:8000/v1/chat/completions",
        "key_env": "",
        "timeout_s": 30,
        "retries": 2,
        "max_in_flight": 256,
        "model": "m",
        "system": "",
        "max_tokens": 128,
        "temperature": None,
    }


def test_the_defaults_of_rest():
    assert http.check({"style": "rest", "url": "https://bot.example.org/say"}) == {
        "style": "rest",
        "url": "https://bot.example.org/say",
        "key_env": "",
        "timeout_s": 30,
        "retries": 2,
        "max_in_flight": 256,
        "bot_id": "",
        "encoding": "json",
    }


def test_checked_settings_stay_as_they_are():
    once = http.check({"url": "http://localhost:8000/v1/chat/completions", "model": "m"})

    assert http.check(once) == once


def refusal(**config):
    with pytest.raises(ConfigError) as caught:
        replies.check_config("http", {"url": "https://bot.example.org/x", "model": "m", **config})
    return str(caught.value)


EXAMPLE = "Enter the full address, for example http://localhost:8000/v1/chat/completions."
SCHEME = f"url: it has to begin with http:// or https:// and a machine's name. {EXAMPLE}"
ENV_NAME = (
    "key_env: enter the name of an environment variable, never the key itself: capital letters, ending in "
    "_KEY or _TOKEN, and none of the site's own (SECRET, PASSWORD, DJANGO_, BADCOLLECT_, AWS_). "
    "For example VLLM_API_KEY."
)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"style": "soap"}, "style: enter one of chat, rest."),
        (
            {"bot_id": "7", "modle": "m"},
            (
                "Unknown setting bot_id, modle for style 'chat'. Known ones: style, url, key_env, timeout_s, "
                "retries, max_in_flight, model, system, max_tokens, temperature."
            ),
        ),
        ({"url": ""}, f"url: {EXAMPLE}"),
        ({"url": 5}, f"url: {EXAMPLE}"),
        ({"url": "http://a b/x"}, f"url: {EXAMPLE}"),
        ({"url": "http://a.example/x\r\nHost: b"}, f"url: {EXAMPLE}"),
        ({"url": "http://a.example:99999/x"}, f"url: this is not an address. {EXAMPLE}"),
        ({"url": "http://[::1/x"}, f"url: this is not an address. {EXAMPLE}"),
        ({"url": "ftp://a.example/x"}, SCHEME),
        ({"url": "file:///etc/passwd"}, SCHEME),
        ({"url": "http:///x"}, SCHEME),
        (
            {"url": "http://me:pw@a.example/x"},
            "url: leave out the name and password before the @; use key_env for a key.",
        ),
        (
            {"url": "http://a.example/x?api_key=1"},
            "url: leave out the key or token after the question mark; use key_env for a key.",
        ),
        (
            {"url": "http://localhost:8000/v1/"},
            "url: enter the full address of the endpoint; most servers' ends in /v1/chat/completions.",
        ),
        ({"model": " "}, "model: enter the model's name as the server lists it."),
        ({"system": 5}, "system: enter text of at most 8000 characters."),
        (
            {"max_tokens": 0},
            "max_tokens: enter a whole number from 1 to 32768, or leave it out for the server's own.",
        ),
        (
            {"max_tokens": True},
            "max_tokens: enter a whole number from 1 to 32768, or leave it out for the server's own.",
        ),
        (
            {"temperature": 2.5},
            "temperature: enter a number from 0 to 2, or leave it out for the server's own.",
        ),
        ({"timeout_s": float("nan")}, "timeout_s: enter a number from 0.1 to 600."),
        ({"timeout_s": "30"}, "timeout_s: enter a number from 0.1 to 600."),
        ({"retries": 1.5}, "retries: enter a whole number from 0 to 10."),
        ({"max_in_flight": 0}, "max_in_flight: enter a whole number from 1 to 512."),
        ({"key_env": "sk-abcdef0123456789"}, ENV_NAME),
        ({"key_env": "hf_abcdefghijklmnop"}, ENV_NAME),
        ({"key_env": "AKIAIOSFODNN7EXAMPLE"}, ENV_NAME),
        ({"key_env": "SECRET_KEY"}, ENV_NAME),
        ({"key_env": "DATABASE_URL"}, ENV_NAME),
        ({"key_env": "AWS_SESSION_TOKEN"}, ENV_NAME),
        ({"key_env": 5}, ENV_NAME),
    ],
)
def test_settings_that_cannot_be_used(config, told):
    assert refusal(**config) == told


def test_settings_that_cannot_be_used_end_a_reply_in_the_same_words(server):
    assert failure(chat_bot(server, retries=-1)) == ("retries: enter a whole number from 0 to 10.", False)


# -- the process ----------------------------------------------------------------------------------------------


def test_importing_the_engine_does_not_import_aiohttp():
    code = "import sys, bots.engines.http; print('aiohttp' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_a_process_ends_cleanly_with_a_reply_under_way(server):
    server.script.append("hang")
    code = (
        "import os, bots.engines.http as http\n"
        f"first = http.submit({{'url': {server.chat_url!r}, 'model': 'm', 'timeout_s': 60}}, ['hi'])\n"
        f"second = http.submit({{'url': {server.chat_url!r}, 'model': 'm'}}, ['hi'])\n"
        "from concurrent.futures import wait\n"
        "print(len(wait([first, second], return_when='FIRST_COMPLETED').done))\n"
    )
    environment = {**os.environ, addresses.SWITCH: "1"}

    command = [sys.executable, "-W", "default", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=20, check=False)

    assert (done.stdout, done.stderr, done.returncode) == ("1\n", "", 0)


def test_the_fake_server_runs_on_its_own():
    command = [sys.executable, "-m", "tests.bots.fake_server", "--port", "0", "--delay", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        ready, chat_url, _ = process.stdout.readline().split()
        answer = http.submit({"url": chat_url, "model": "m"}, ["hi"])

        assert ready == "ready"
        assert isinstance(answer, Future)
        assert answer.result(timeout=10) == "You said: hi"
        process.terminate()
