"""One scripted worker in one chat, on a bad line."""

import asyncio
import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import uuid4

import aiohttp

from badcollect.simulation.truth import worker_bin
from badcollect.simulation.words import marker, markers, message

PATIENCE_S = 10.0
"""After this long without the frame it waits for, a worker connects anew, as the page does."""


@dataclass(frozen=True)
class Line:
    """How the simulated workers behave: mean seconds of thinking, and how often a step goes wrong."""

    think_s: float = 0.3
    drop: float = 0.05
    reload: float = 0.03
    repeat: float = 0.03
    give_up_s: float = 300.0


@dataclass
class Found:
    """What one chat came to. Times are in milliseconds."""

    done: bool = False
    turns: int = 0
    acks_ms: list[float] = field(default_factory=list)
    replies_ms: list[float] = field(default_factory=list)
    lost: int = 0
    doubled: int = 0
    crossed: int = 0
    trouble: str = ""


class NoChatError(Exception):
    """The server gave no chat: `code` says why."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Chat:
    """A chat as its worker sees it. `seen` holds the utterances by number, as they came over the socket."""

    def __init__(
        self, http: aiohttp.ClientSession, url: str, key: str, *, rng: Random, line: Line, mark: str
    ) -> None:
        self.http, self.url, self.rng, self.line, self.mark = http, url, rng, line, mark
        self.headers = {"Authorization": f"Bearer {key}"}
        self.socket: aiohttp.ClientWebSocketResponse | None = None
        self.seen: dict[int, dict[str, Any]] = {}
        self.chat: dict[str, Any] = {}
        self.found = Found()
        self.socket_url = ""
        self.chat_id = 0

    async def play(self, slug: str) -> Found:
        """Starts a chat (or comes back to the open one) and goes through it to its end."""
        await self._start(slug)
        try:
            async with asyncio.timeout(self.line.give_up_s):
                await self._resume()
                while self.chat["turn"] != "over":
                    await self._turn()
            self.found.done = self.chat["state"] == "complete"
            await self._check()
        except TimeoutError:
            self.found.trouble = f"chat {self.chat_id} was not done after {self.line.give_up_s:.0f} s"
        finally:
            if self.socket:
                await self.socket.close()
        return self.found

    async def _start(self, slug: str) -> None:
        for wait in itertools.chain([0.5] * 60, [None]):
            try:
                async with self.http.post(
                    f"{self.url}/api/v1/studies/{slug}/chats", headers=self.headers
                ) as answer:
                    body = await answer.json(content_type=None)
            except (aiohttp.ClientError, ValueError):
                if wait is None:
                    raise
                await asyncio.sleep(wait)
                continue
            if answer.status not in (200, 201):
                raise NoChatError(
                    body.get("error", str(answer.status)), body.get("detail", "No chat was given.")
                )
            self.chat_id, self.socket_url = body["id"], body["socket"]
            return

    async def _turn(self) -> None:
        turn = self.chat["turn"]
        if turn == "write":
            await self._think()
            await self._say()
        elif turn == "label":
            await self._think()
            await self._label()
        elif turn == "stalled":
            await self._ask(do="ask")
        else:
            await self._await_reply()

    async def _think(self) -> None:
        if self.line.think_s:
            await asyncio.sleep(self.rng.expovariate(1 / self.line.think_s))
        if self.rng.random() < self.line.reload:
            await self._hang_up()
            await self._resume()

    async def _say(self) -> None:
        started = time.monotonic()
        frame = {"id": uuid4().hex, "do": "say", "text": message(self.rng, self.mark)}
        if self.rng.random() < self.line.drop:  # the line goes dead between say and ack
            await self._send(frame)
            await self._hang_up()
        answer = await self._ask(**frame)
        self.found.acks_ms.append(1000 * (time.monotonic() - started))
        if "error" in answer:
            raise NoChatError(answer["error"], answer["detail"])
        number = answer["utterance"]["number"]
        if self.rng.random() < self.line.drop:  # and between ack and reply
            await self._hang_up()
        while number + 1 not in self.seen and self.chat["turn"] in ("bot", "label"):
            await self._await_reply()
        if number + 1 in self.seen:
            self.found.replies_ms.append(1000 * (time.monotonic() - started))

    async def _await_reply(self) -> None:
        """Takes the next frame, or connects anew where none comes, and has what is missing sent."""
        before = self.chat.get("said"), self.chat.get("turn")
        try:
            await self._take(await self._receive())
        except (TimeoutError, ConnectionError):
            await self._hang_up()
            await self._resume()
        missing = self.chat["said"] > len(self.seen)
        if missing and before == (self.chat.get("said"), self.chat.get("turn")):
            await self._resume()

    async def _label(self) -> None:
        number = self.chat["said"]
        if number not in self.seen:
            await self._resume()
        frame = {"do": "label", "utterance": number, "bin": worker_bin(self.seen[number]["text"], self.rng)}
        answer = await self._ask(**frame)
        if "error" in answer:
            raise NoChatError(answer["error"], answer["detail"])
        self.found.turns += 1
        if self.rng.random() < self.line.repeat and self.chat["turn"] == "write":
            await self._ask(**frame)

    async def _resume(self) -> None:
        await self._ask(do="resume", after=max(self.seen, default=0))

    async def _ask(self, **frame: Any) -> dict[str, Any]:
        """Sends a frame until it is answered: after a lost line, again with the same id."""
        frame = {"id": uuid4().hex, **frame}
        while True:
            try:
                await self._send(frame)
                if self.rng.random() < self.line.repeat and frame["do"] == "say":
                    await self._send(frame)
                while True:
                    answer = await self._receive()
                    await self._take(answer)
                    if answer.get("re") == frame["id"]:
                        return answer
            except (TimeoutError, ConnectionError):
                await self._hang_up()

    async def _take(self, frame: Mapping[str, Any]) -> None:
        if "chat" in frame and not self._is_stale(frame["chat"]):
            self.chat = dict(frame["chat"])
        for row in [*frame.get("utterances", []), *([frame["utterance"]] if "utterance" in frame else [])]:
            known = self.seen.get(row["number"])
            if known and known["text"] != row["text"]:
                self.found.doubled += 1
            self.seen[row["number"]] = row

    def _is_stale(self, chat: Mapping[str, Any]) -> bool:
        """Whether this was sent before what is known already: announcements may overtake answers, as for the page."""
        if not self.chat or chat["said"] != self.chat["said"]:
            return bool(self.chat) and chat["said"] < self.chat["said"]
        return self.chat["turn"] in ("write", "over") and chat["turn"] in ("bot", "label")

    async def _send(self, frame: Mapping[str, Any]) -> None:
        if self.socket is None or self.socket.closed:
            await self._connect()
        assert self.socket is not None  # noqa: S101 for the type checker
        await self.socket.send_json(frame)

    async def _connect(self) -> None:
        for wait in itertools.chain((0.1, 0.2, 0.5), itertools.repeat(1.0)):
            try:
                self.socket = await self.http.ws_connect(
                    self.socket_url, headers=self.headers, max_msg_size=0
                )
                return
            except (aiohttp.ClientError, OSError):
                await asyncio.sleep(wait)

    async def _receive(self) -> dict[str, Any]:
        if self.socket is None or self.socket.closed:
            raise ConnectionError
        try:
            got = await self.socket.receive(timeout=PATIENCE_S)
        except TimeoutError:
            raise TimeoutError from None
        if got.type is not aiohttp.WSMsgType.TEXT:
            await asyncio.sleep(0.2)
            raise ConnectionError
        return dict(got.json())

    async def _hang_up(self) -> None:
        if self.socket:
            transport = self.socket._response.connection and self.socket._response.connection.transport  # noqa: SLF001
            if transport:
                transport.abort()
            await self.socket.close()
        self.socket = None

    async def _check(self) -> None:
        """Reads the chat back and compares it with what the worker saw."""
        for wait in itertools.chain([0.5] * 60, [None]):
            try:
                async with self.http.get(
                    f"{self.url}/api/v1/chats/{self.chat_id}", headers=self.headers
                ) as answer:
                    stored = (await answer.json(content_type=None))["utterances"]
                break
            except (aiohttp.ClientError, ValueError, KeyError):
                if wait is None:
                    raise
                await asyncio.sleep(wait)
        numbers = [row["number"] for row in stored]
        texts = {row["number"]: row["text"] for row in stored}
        self.found.lost += sum(texts.get(number) != row["text"] for number, row in self.seen.items())
        self.found.lost += (
            sum(row["speaker"] == "bot" and row["label"] is None for row in stored) * self.found.done
        )
        mine = [row["text"] for row in stored if row["speaker"] == "human"]
        self.found.doubled += len(numbers) - len(set(numbers))
        self.found.crossed += sum(bool(markers(row["text"]) - {self.mark}) for row in stored)
        self.found.crossed += sum(self.mark not in markers(text) for text in mine)


__all__ = ["Chat", "Found", "Line", "NoChatError", "marker"]
