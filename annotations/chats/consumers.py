"""Frames in, frames out. docs/protocol.md is the protocol; tests/docs reads it."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, TypeVar

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from redis.exceptions import RedisError

from annotations.chats import events, services, store
from annotations.chats.events import group
from annotations.people.errors import Refused
from annotations.people.services import still_welcome

log = logging.getLogger(__name__)
T = TypeVar("T")

LONGEST_FRAME = 32_000
"""Characters; a message of 2,000 characters fits even where each is written as two escapes."""
REDIS_PATIENCE_S = 1.0
NOT_SIGNED_IN, NO_SUCH_CHAT, TOO_MUCH = 4401, 4404, 4429


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.CHAT_THREADS, thread_name_prefix="chat")


async def in_thread(verb: Callable[..., T], **values: Any) -> T:
    """Runs a service in one of this process's database threads.

    Each keeps its connection: Channels' own way has one thread for the whole process, or a connection a call.
    """
    return await asyncio.get_running_loop().run_in_executor(_pool(), partial(store.safely, verb, **values))


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One socket of one chat. Keeps nothing but whose it is."""

    closed = False

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Channels' own, without its visit to another thread before each message: no database is used here."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        events.speak_on(asyncio.get_running_loop())
        await self.accept()
        user = self.scope.get("user")
        if user is None or not user.is_authenticated:
            await self._refuse(NOT_SIGNED_IN, "not_signed_in", "Sign in, or send a token, to open a chat.")
            return
        self.worker_id: int = user.pk
        self.dialogue_id = int(self.scope["url_route"]["kwargs"]["dialogue_id"])
        self.budget, self.filled_at = float(settings.FRAMES_A_SECOND), time.monotonic()
        if not await in_thread(store.belongs, dialogue_id=self.dialogue_id, worker_id=self.worker_id):
            await self._refuse(NO_SUCH_CHAT, "no_such_chat", "This chat is not here, or it is not yours.")
            return
        await self._join_group()

    async def _join_group(self) -> None:
        """Hears the chat's announcements from now on; does not keep the person waiting while Redis is away.

        Whoever could not be joined is when it next sends `resume`, which the page does while it waits or idles.
        """
        self.joining = asyncio.create_task(self._attempt(self.channel_layer.group_add))
        await asyncio.wait({self.joining}, timeout=REDIS_PATIENCE_S)

    async def _attempt(self, verb: Callable[[str, str], Awaitable[None]]) -> None:
        try:
            await verb(group(self.dialogue_id), self.channel_name)
        except (RedisError, OSError) as error:
            log.warning("a socket hears nothing of others until Redis is back: %s", error)

    async def disconnect(self, code: int) -> None:  # noqa: ARG002 Channels calls it so
        if hasattr(self, "joining"):
            self.joining.cancel()
            await self._attempt(self.channel_layer.group_discard)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:  # noqa: ARG002
        if self.closed or not hasattr(self, "dialogue_id"):
            return
        if not self._within_budget():
            await self._refuse(TOO_MUCH, "too_fast", "Too many frames at once. Connect again in a moment.")
            return
        try:
            frame = _parse(text_data)
            verb, values = _verb(frame)
        except Refused as refusal:
            await self._send({"re": _id_of(text_data), "error": refusal.code, "detail": refusal.detail})
            return
        await self._send(*await self._do(frame["id"], verb, values))

    async def _do(self, request_id: str, verb: str, values: dict[str, Any]) -> list[dict[str, Any]]:
        try:
            outcome = await getattr(self, f"_{verb}")(request_id, **values)
        except Refused as refusal:
            if refusal.code == "not_signed_in":
                await self.close(NOT_SIGNED_IN)
                return []
            return [{"re": request_id, "error": refusal.code, "detail": refusal.detail}]
        except Exception:
            log.exception("%s in chat %d broke", verb, self.dialogue_id)
            detail = "Something broke on our side. What is stored is safe; try again."
            return [{"re": request_id, "error": "server_error", "detail": detail}]
        return [{"re": request_id, "ok": True, **outcome.ack}, *outcome.frames]

    async def _say(self, request_id: str, text: str) -> services.Outcome:
        return await self._call(services.say, client_id=request_id, text=text, origin=self.channel_name)

    async def _label(self, _: str, utterance: int, bin: str) -> services.Outcome:  # noqa: A002 the frame's own word
        return await self._call(services.label, number=utterance, bin_=bin, origin=self.channel_name)

    async def _resume(self, _: str, after: int) -> services.Outcome:
        await self._join_group()
        if not await in_thread(still_welcome, user_id=self.worker_id, digest_=self.scope.get("token")):
            raise Refused("not_signed_in", "This account or token is no longer in use.")
        return await self._call(services.resume, after=after)

    async def _ask(self, _: str) -> services.Outcome:
        return await self._call(services.ask_again)

    async def _leave(self, _: str) -> services.Outcome:
        return await self._call(services.leave)

    async def _call(self, service: Callable[..., T], **values: Any) -> T:
        return await in_thread(service, worker_id=self.worker_id, dialogue_id=self.dialogue_id, **values)

    async def chat_frames(self, message: dict[str, Any]) -> None:
        """Announcements of other sockets and processes."""
        if message["origin"] != self.channel_name:
            await self._send(*message["frames"])

    def _within_budget(self) -> bool:
        now = time.monotonic()
        rate = settings.FRAMES_A_SECOND
        self.budget = min(2.0 * rate, self.budget + (now - self.filled_at) * rate) - 1
        self.filled_at = now
        return self.budget >= 0

    async def _refuse(self, close_code: int, code: str, detail: str) -> None:
        await self._send({"event": "refused", "error": code, "detail": detail})
        await self.close(close_code)

    async def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Channels' own; what arrives or is announced after it is dropped: a server sends nothing after a close."""
        self.closed = True
        await super().close(code, reason)

    async def _send(self, *frames: dict[str, Any]) -> None:
        for frame in frames if not self.closed else ():
            text = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
            try:
                await self.send(text_data=text)
            except (
                RuntimeError
            ):  # the server closed it between two messages, as it does after a frame too big
                self.closed = True
                return


VERBS: dict[str, dict[str, type]] = {
    "say": {"text": str},
    "label": {"utterance": int, "bin": str},
    "resume": {"after": int},
    "ask": {},
    "leave": {},
}
"""Each verb with its keys and their types; docs/protocol.md tells the same and a test compares."""


def _parse(text: str | None) -> dict[str, Any]:
    if text is None:
        raise Refused("bad_frame", "Send text frames, not binary ones.")
    if len(text) > LONGEST_FRAME:
        raise Refused("too_big", f"A frame has at most {LONGEST_FRAME:,} characters.")
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        raise Refused("bad_frame", "A frame is one JSON object.") from None
    if not isinstance(frame, dict):
        raise Refused("bad_frame", "A frame is one JSON object.")
    if not _is_id(frame.get("id")):
        raise Refused("bad_frame", 'A frame has an "id" of 1 to 64 printable characters.')
    return frame


def _verb(frame: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    verb = frame.get("do")
    if not isinstance(verb, str) or verb not in VERBS:
        raise Refused("unknown_verb", f'"do" is one of: {", ".join(VERBS)}.')
    values = {key: value for key, value in frame.items() if key not in ("id", "do")}
    wanted = VERBS[verb]
    if values.keys() != wanted.keys():
        raise Refused("bad_frame", f'"{verb}" takes {", ".join(wanted) or "nothing"} beside id and do.')
    for key, kind in wanted.items():
        if type(values[key]) is not kind or (kind is int and not 0 <= values[key] <= 10_000):
            words = "a whole number from 0 to 10,000" if kind is int else "a string"
            raise Refused("bad_frame", f'"{key}" of "{verb}" is {words}.')
    return verb, values


def _id_of(text: str | None) -> str | None:
    """The id of a frame that could not be taken, where it can be told, so that its sender sees which it was."""
    try:
        found = json.loads(text or "")["id"] if text and len(text) <= LONGEST_FRAME else None
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return found if _is_id(found) else None


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 64 and value.isprintable()
