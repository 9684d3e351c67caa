"""What browsers are told, and the only place that tells them."""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from channels.layers import get_channel_layer
from django.db import transaction

log = logging.getLogger(__name__)
Frame = Mapping[str, Any]


def group(dialogue_id: int) -> str:
    """The name of the group of sockets that show one chat."""
    return f"chat.{dialogue_id}"


def announce(dialogue_id: int, *frames: Frame, origin: str = "") -> None:
    """Sends `frames` to every socket of the chat but `origin`, once the transaction is committed.

    May be lost (Redis away, socket away): the database is the truth, and a socket that reconnects or waits
    too long asks for what it lacks.
    """
    message = {"type": "chat.frames", "frames": list(frames), "origin": origin}
    transaction.on_commit(lambda: _announcer.send(group(dialogue_id), message))


class Announcer:
    """Sends all announcements of this process on one event loop, in order.

    Services run in threads of three kinds of process; a loop for each call would open a connection to Redis
    for each. A web process lends its own loop, others get one in a thread.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque(maxlen=10_000)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._busy = False
        self._told_at = 0.0

    def speak_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """From now on sends on `loop`, which runs as long as this process has sockets."""
        if self._loop is not loop:
            with self._lock:
                self._loop, self._busy = loop, False

    def send(self, name: str, message: dict[str, Any]) -> None:
        """Takes an announcement and returns at once; while Redis is away the oldest are dropped."""
        with self._lock:
            self._waiting.append((name, message))
            if self._busy:
                return
            self._busy = True
            if self._loop is None or self._loop.is_closed():
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="announcer", daemon=True).start()
            asyncio.run_coroutine_threadsafe(self._drain(), self._loop)

    def _next(self) -> tuple[str, dict[str, Any]] | None:
        with self._lock:
            self._busy = bool(self._waiting)
            return self._waiting.popleft() if self._busy else None

    async def _drain(self) -> None:
        while found := self._next():
            try:
                async with asyncio.timeout(5):
                    await get_channel_layer().group_send(*found)
            except Exception as error:  # noqa: BLE001 whatever Redis or the line to it does
                self._tell(error)

    def _tell(self, error: Exception) -> None:
        if time.monotonic() - self._told_at > 30:
            self._told_at = time.monotonic()
            log.warning("announcements are being lost: %s: %s", type(error).__name__, error)


_announcer = Announcer()
speak_on = _announcer.speak_on
