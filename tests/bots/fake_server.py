"""A real web server that plays a bot: chat-completions at /v1/chat/completions, the plain contract at /rest.

It repeats the last message of the person ("You said: ..."), so that a reply given to the wrong chat shows.
Failures are scripted: each request takes the next step of the script, and the normal answer when there is
none. Steps: a status ("500"), "429:SECONDS" (with Retry-After), "hang", "drop" (closes the connection),
"big" (10 MB), "bomb" (10 MB in a few KB of gzip), "html", "cut" (half a JSON), "nothing" (no bytes), "empty"
(an empty reply), "no-text" (JSON of another shape), "list" (the reply in parts), "redirect", "echo-key" (400
which repeats the Authorization).

In a process of its own: `python -m tests.bots.fake_server --port 8123 --delay 0.5` prints "ready" when it is up.
"""

import argparse
import asyncio
import contextlib
import gzip
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web


@dataclass
class Seen:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float

    @property
    def said(self) -> str:
        return self.body["messages"][-1]["content"] if "messages" in self.body else self.body["messageText"]


@dataclass
class FakeServer:
    """Use as a context manager. `requests` has what came, `most` the most requests under way at once;
    `arrived` and `left` are set when a request comes in and when its client goes before the answer.
    """

    delay: float = 0.0
    host: str = "127.0.0.1"
    port: int = 0
    script: deque[str] = field(default_factory=deque)
    requests: list[Seen] = field(default_factory=list)
    most: int = 0
    arrived: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    _under_way: int = 0

    @property
    def chat_url(self) -> str:
        return f"http://{self.host}:{self.port}/v1/chat/completions"

    @property
    def rest_url(self) -> str:
        return f"http://{self.host}:{self.port}/rest"

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        up = threading.Event()
        self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=(self.serve(up),), daemon=True
        )
        self._thread.start()
        assert up.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._loop.close()

    async def serve(self, up: threading.Event) -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._handle)
        app.router.add_post("/rest", self._handle)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, self.host, self.port, backlog=1024)
        await site.start()
        self.port = runner.addresses[0][1]
        up.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        form = request.content_type == "application/x-www-form-urlencoded"
        body = dict(await request.post()) if form else await request.json()
        seen = Seen(request.path, dict(request.headers), body, time.monotonic())
        self.requests.append(seen)
        self._under_way += 1
        self.most = max(self.most, self._under_way)
        self.arrived.set()
        try:
            await asyncio.sleep(self.delay)
            return await self._answer(request, seen, self.script.popleft() if self.script else "")
        except (asyncio.CancelledError, ConnectionResetError):
            self.left.set()
            raise
        finally:
            self._under_way -= 1

    async def _answer(self, request: web.Request, seen: Seen, step: str) -> web.StreamResponse:
        chat = seen.path != "/rest"
        status, _, seconds = step.partition(":")
        if status.isdigit():
            headers = {"Retry-After": seconds} if seconds else {}
            return web.json_response({"error": {"message": "scripted"}}, status=int(status), headers=headers)
        if step == "hang":
            await asyncio.sleep(3600)
        if step == "drop":
            request.transport.close()
        if step == "big":
            return await _big(request)
        if (made := _made(step, seen)) is not None:
            return made
        response = web.json_response(_reply(f"You said: {seen.said}", step, chat=chat))
        response.set_cookie("chat", "1")
        return response


_BODIES = {
    "html": ("text/html", "<!DOCTYPE html>\n<title>Welcome</title>"),
    "cut": ("application/json", '{"choices": [{"mess'),
    "nothing": ("application/json", ""),
    "no-text": ("application/json", '{"answer": "hello"}'),
}


def _made(step: str, seen: Seen) -> web.Response | None:
    if step == "bomb":
        return web.Response(body=gzip.compress(b" " * 10_000_000), headers={"Content-Encoding": "gzip"})
    if step == "redirect":
        return web.Response(status=302, headers={"Location": "/elsewhere?token=abc"})
    if step == "echo-key":
        message = f"bad request by {seen.headers.get('Authorization')}"
        return web.json_response({"error": {"message": message}}, status=400)
    if step in _BODIES:
        kind, text = _BODIES[step]
        return web.Response(text=text, content_type=kind)
    return None


def _reply(said: str, step: str, *, chat: bool) -> dict[str, Any]:
    text: str | list[Any] = "" if step == "empty" else said
    if step == "list":
        text = (
            [{"type": "text", "text": said}, {"type": "text", "text": "Go on."}] if chat else [said, "Go on."]
        )
    if not chat:
        return {"output": {"text": text}}
    message = {"role": "assistant", "content": text}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}


async def _big(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for _ in range(160):
        await response.write(b" " * 65536)
    return response


def main() -> None:
    parser = argparse.ArgumentParser(description="A bot behind a web address that repeats what it is told.")
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--delay", type=float, default=0.5, help="seconds before each answer")
    options = parser.parse_args()
    with FakeServer(delay=options.delay, port=options.port) as server:
        print("ready", server.chat_url, server.rest_url, flush=True)  # noqa: T201
        with contextlib.suppress(KeyboardInterrupt):
            server._thread.join()


if __name__ == "__main__":
    main()
