"""A bot behind a web address: a model server, a hosted model, or anybody's own bot.

Style `chat` is the chat-completions protocol that vLLM, llama.cpp, `transformers serve` and the hosted models
speak: the whole history goes along, as messages of user and assistant. Style `rest` is the plain contract
of trustworthiness-rating tools (POST `bot_id` and `messageText`, answered by `{"output": {"text": ...}}`):
it has no place for a history, so only the last utterance is sent, and neither has it one for a persona.
"""

import asyncio
import itertools
import json
import os
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from bots.engines.addresses import REFUSED, RefusedAddressError
from bots.engines.background import BACKGROUND
from bots.engines.http_settings import check
from bots.errors import ConfigError, EngineError

if TYPE_CHECKING:
    import aiohttp

__all__ = ["at_once", "check", "submit"]

MAX_BYTES = 256 * 1024
"""Bytes read of an answer: a hundred times the longest reply that is kept, with room for its wrapping."""
MAX_ERROR_BYTES = 4096
SHOWN = 80
"""Characters of an answer that an error shows."""
BACKOFF_S = 0.5
"""First wait before asking again; it doubles each time, up to BACKOFF_MOST_S."""
BACKOFF_MOST_S = 8.0


@dataclass(frozen=True)
class _Call:
    """All that one reply needs; its repr shows no header, where the key is."""

    settings: Mapping[str, Any]
    who: str
    body: bytes
    headers: Mapping[str, str] = field(repr=False)
    key: str = field(repr=False)
    deadline: float


class _TryAgainError(Exception):
    """One attempt failed in a way that another may not; `wait` is what the server asked for, in seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def at_once(config: Mapping[str, Any]) -> int:
    """How many requests are under way at the same time, at most; further ones wait."""
    return int(config.get("max_in_flight", 256))


def submit(config: Mapping[str, Any], history: Sequence[str], persona: Sequence[str] = ()) -> "Future[str]":
    """A future of the reply to `history` (utterances, oldest first, the person's last).

    It never raises; the future ends with EngineError when there is no reply. Its callbacks run on the thread
    that serves every request under way, so they have to be short (no database). Cancelling it cancels the
    request. The deadline `timeout_s` counts from here and holds for everything, retries included, because it
    is how long a person waits.
    """
    try:
        call = _prepare(config, history, persona)
    except EngineError as error:
        failed: Future[str] = Future()
        failed.set_exception(error)
        return failed
    return BACKGROUND.run(_answer(call))


def _prepare(config: Mapping[str, Any], history: Sequence[str], persona: Sequence[str]) -> _Call:
    try:
        settings = check(config)
    except ConfigError as error:
        raise EngineError(str(error), retry=False) from None
    if not history:
        raise EngineError("There is nothing to reply to yet.", retry=False)
    key = _key(settings["key_env"])
    body, kind = _body(settings, history, persona)
    headers = {"Content-Type": kind, "Accept": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    who = f"The bot at {urlsplit(settings['url']).netloc}"
    return _Call(settings, who, body, headers, key, time.monotonic() + settings["timeout_s"])


def _key(name: str) -> str:
    """The key of the environment variable `name`; '' when the bot needs none. Raises EngineError."""
    if not name:
        return ""
    key = os.environ.get(name, "").strip()
    if not key:
        raise EngineError(
            f"The environment variable {name}, which should hold this bot's key, is not set where bots run.",
            retry=False,
        )
    if not all("!" <= c <= "~" for c in key):
        raise EngineError(f"The key in {name} has characters that no key can have.", retry=False)
    return key


def _body(settings: Mapping[str, Any], history: Sequence[str], persona: Sequence[str]) -> tuple[bytes, str]:
    """What is sent, and its content type."""
    if settings["style"] == "rest":
        fields = {"bot_id": settings["bot_id"], "messageText": history[-1]}
        if settings["encoding"] == "form":
            return urlencode(fields).encode(), "application/x-www-form-urlencoded"
        return json.dumps(fields).encode(), "application/json"
    system = "\n".join(line for line in (settings["system"], *persona) if line)
    # Counted from the end: the last utterance is the person's, whoever began.
    roles = itertools.cycle(("user", "assistant"))
    turns = [{"role": role, "content": text} for role, text in zip(roles, reversed(history), strict=False)]
    messages = [{"role": "system", "content": system}] if system else []
    asked = {"model": settings["model"], "messages": [*messages, *reversed(turns)], "stream": False}
    limits = {k: settings[k] for k in ("max_tokens", "temperature") if settings[k] is not None}
    return json.dumps(asked | limits).encode(), "application/json"


async def _answer(call: _Call) -> str:
    try:
        async with asyncio.timeout(call.deadline - time.monotonic()):
            return await _with_retries(call)
    except TimeoutError:
        raise EngineError(f"{call.who} did not answer within {call.settings['timeout_s']:g} s.") from None


async def _with_retries(call: _Call) -> str:
    for tried in itertools.count():
        try:
            return await _attempt(call)
        except _TryAgainError as failure:
            wait = _wait(tried, failure.wait)
            # A wait that would pass the deadline is not begun: the person hears at once.
            if tried >= call.settings["retries"] or time.monotonic() + wait >= call.deadline:
                raise EngineError(str(failure)) from None
        await asyncio.sleep(wait)
    raise AssertionError  # pragma: no cover  # count() does not end


def _wait(tried: int, asked: float | None) -> float:
    """Seconds before the next attempt: what the server asked for, or else exponential back-off.

    Both with jitter, so that chats which failed together do not come back together (M. Brooker, "Exponential
    Backoff And Jitter", AWS Architecture Blog 2015; the "equal jitter" of that text).
    """
    if asked is not None:
        return asked + random.uniform(0, min(1.0, asked / 4))
    longest = min(BACKOFF_MOST_S, BACKOFF_S * 2**tried)
    return random.uniform(longest / 2, longest)


async def _attempt(call: _Call) -> str:
    """One request. Raises _TryAgainError or EngineError; causes are dropped because they hold the headers."""
    import aiohttp

    gate = BACKGROUND.gate(call.settings["url"], call.settings["max_in_flight"])
    post = BACKGROUND.session().post
    try:
        async with (
            gate,
            post(
                call.settings["url"], data=call.body, headers=call.headers, allow_redirects=False
            ) as response,
        ):
            return await _read(call, response)
    except aiohttp.ClientSSLError:
        raise EngineError(
            f"{call.who} has no encrypted connection that can be trusted: check https and its certificate.",
            retry=False,
        ) from None
    except aiohttp.ClientConnectorDNSError:
        raise _TryAgainError(f"{call.who} was not found: no machine of that name is known.") from None
    except aiohttp.ClientConnectorError as error:
        if isinstance(error.os_error, RefusedAddressError):
            raise EngineError(f"{call.who} was not asked. {REFUSED}", retry=False) from None
        raise _TryAgainError(f"{call.who} could not be reached. Is it running?") from None
    except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError):
        raise _TryAgainError(f"{call.who} broke off the connection.") from None
    except aiohttp.ClientError:
        raise EngineError(f"{call.who} does not answer as a web server does.", retry=False) from None


async def _read(call: _Call, response: "aiohttp.ClientResponse") -> str:
    status = response.status
    if status == 429:
        raise _TryAgainError(f"{call.who} is asked too often (429).", _retry_after(response))
    if status >= 500:
        raise _TryAgainError(f"{call.who} has a fault ({status}).", _retry_after(response))
    if 300 <= status < 400:
        where = _shown(call, response.headers.get("Location", "").partition("?")[0])
        raise EngineError(
            f"{call.who} redirects ({status}) to {where or 'nowhere'}; redirects are not followed."
            " Enter the final address.",
            retry=False,
        )
    if status >= 400:
        raise EngineError(await _refusal(call, response), retry=False)
    body = await _up_to(response, MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        response.close()
        raise EngineError(f"{call.who} sent more than {MAX_BYTES // 1024} KB.", retry=False)
    return _text(call, body, response.content_type)


async def _up_to(response: "aiohttp.ClientResponse", most: int) -> bytes:
    """The answer's first `most` bytes, unpacked; nothing after them is read."""
    body = bytearray()
    while len(body) < most and (chunk := await response.content.read(most - len(body))):
        body += chunk
    return bytes(body)


def _retry_after(response: "aiohttp.ClientResponse") -> float | None:
    """Seconds of a Retry-After header, which may be a date (RFC 9110, 10.2.3). None without a usable one."""
    value = response.headers.get("Retry-After", "").strip()
    if value.replace(".", "", 1).isdecimal():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (at - datetime.now(UTC)).total_seconds()) if at.tzinfo else None


async def _refusal(call: _Call, response: "aiohttp.ClientResponse") -> str:
    """Plain words for an answer of 400 to 499."""
    status = response.status
    if status in {401, 403}:  # without its text: some servers repeat part of the key in it
        name = call.settings["key_env"]
        hint = f"Check the key in {name}." if name else "It may want a key: set key_env."
        return f"{call.who} refuses access ({status}). {hint}"
    hint = " Check the address and the model's name." if status in {404, 405} else ""
    said = _shown(call, _error_message(await _up_to(response, MAX_ERROR_BYTES)))
    return f"{call.who} refuses the request ({status}).{hint}" + (f" It says: {said}" if said else "")


def _error_message(body: bytes) -> str:
    """The message in the error object of the chat-completions protocol, or else the body as it is."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    for part in (data.get("error"), data) if isinstance(data, dict) else ():
        if isinstance(part, dict) and isinstance(part.get("message"), str):
            return str(part["message"])
    return body.decode("utf-8", "replace")


def _text(call: _Call, body: bytes, kind: str) -> str:
    """The reply in an answer. Raises EngineError with what came instead."""
    if not body.strip():
        raise EngineError(f"{call.who} sent an empty answer.")
    chat = call.settings["style"] == "chat"
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        # Cut-off JSON may be whole the next time; a web page means a wrong address.
        raise EngineError(
            f"{call.who} did not send JSON but {_came(call, body, kind)}", retry=kind != "text/html"
        ) from None
    text = _chat_text(data) if chat else _rest_text(data)
    if text is None:
        place = "choices[0].message.content" if chat else "output.text"
        raise EngineError(f"{call.who} sent no text at {place} but {_came(call, body, kind)}", retry=False)
    if not text.strip():
        raise EngineError(f"{call.who} sent an empty reply.")
    return text


def _came(call: _Call, body: bytes, kind: str) -> str:
    return f"{_shown(call, kind)}: {_shown(call, body.decode('utf-8', 'replace'))}"


def _chat_text(data: Any) -> str | None:
    try:
        content = data["choices"][0]["message"]["content"]
    except (TypeError, LookupError):
        return None
    if isinstance(content, list):  # parts, of which only those of text can be shown
        content = [part.get("text") for part in content if isinstance(part, dict) and "text" in part]
    return _joined(content)


def _rest_text(data: Any) -> str | None:
    try:
        return _joined(data["output"]["text"])
    except (TypeError, LookupError):
        return None


def _joined(text: Any) -> str | None:
    """Text, or a list of texts as one; None for anything else."""
    if isinstance(text, list) and text and all(isinstance(part, str) for part in text):
        return "\n".join(text)
    return text if isinstance(text, str) else None


def _shown(call: _Call, text: str) -> str:
    """What came, fit for an error: one line, printable, 80 characters, without the key in any spelling."""
    line = "".join(c for c in " ".join(text.split()) if c.isprintable())
    if call.key:
        escaped = json.dumps(call.key)[1:-1]
        for spelling in (call.key, escaped, escaped.replace("/", "\\/"), quote(call.key, safe="")):
            line = line.replace(spelling, "***")
    return line[:SHOWN]
