"""One event loop in one daemon thread per process, with one pool of connections: hundreds of requests can be
under way at once without a thread each.
"""

import asyncio
import atexit
import os
import selectors
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from bots.engines.addresses import open_socket

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")

CONNECTIONS = 512
"""Connections of one process: half of the 1,024 open files that Linux usually gives it."""
KEEP_ALIVE_S = 4.0
"""How long an idle connection is kept: less than the 5 s after which uvicorn (and so vLLM) closes its end, so
that a request is not sent into a connection which is just being closed."""


class Background:
    """The loop, its thread and its connections. Each is made when first needed, and again after a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._selector: selectors.BaseSelector | None = None
        self._thread: threading.Thread | None = None
        self._session: aiohttp.ClientSession | None = None
        self._gates: WeakValueDictionary[tuple[str, int], asyncio.Semaphore] = WeakValueDictionary()
        self._inherited: list[object] = []

    def run(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start `work` on the loop, from any thread. The future's callbacks run on the loop's thread:
        they have to be short. Cancelling the future cancels the work.
        """
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def session(self) -> "aiohttp.ClientSession":
        """The pool of connections; to be called on the loop.

        It keeps no cookies, so nothing goes from one chat to another, takes no proxy from the environment,
        and every connection passes `addresses.open_socket`.
        """
        import aiohttp  # 0.14 s and 13 MiB, which a process that only checks settings need not pay

        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=CONNECTIONS, keepalive_timeout=KEEP_ALIVE_S, socket_factory=open_socket
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                headers={"User-Agent": "badcollect"},
                trust_env=False,
            )
        return self._session

    def gate(self, url: str, width: int) -> asyncio.Semaphore:
        """Lets `width` requests to an address through at once; to be called on the loop.

        It lives as long as somebody waits at it or has passed it, so changed settings leave nothing behind.
        """
        gate = self._gates.get((url, width))
        if gate is None:
            gate = self._gates[(url, width)] = asyncio.Semaphore(width)
        return gate

    def close(self) -> None:
        """Cancel what is under way, close the connections, end the thread. The next `run` starts afresh."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
            if loop is None or thread is None:
                return
            with suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(self._end(), loop).result(timeout=2)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=2)
            self._session = None
            if not thread.is_alive():
                loop.close()

    def forget(self) -> None:
        """In a process just forked: put aside what belongs to the parent, whose thread does not exist here.

        The selector is closed here alone, so nothing that happens to the parent's objects in this process
        can take a connection out of the kernel's list, which both processes share.
        """
        if self._selector is not None:
            self._selector.close()
        inherited = [*self._inherited, self._loop, self._session, self._thread]
        self.__init__()  # type: ignore[misc]  # the state of a new one, in the place everybody knows
        self._inherited = inherited

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._selector = selectors.DefaultSelector()
                self._loop = asyncio.SelectorEventLoop(self._selector)
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="bots-background", daemon=True
                )
                self._thread.start()
            return self._loop

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._session is not None:
            await self._session.close()


BACKGROUND = Background()
os.register_at_fork(after_in_child=BACKGROUND.forget)
atexit.register(BACKGROUND.close)
