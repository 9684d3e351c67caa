"""Many sockets that say, wait for the reply and label, as fast as they are answered or with time to think."""

import asyncio
import json
import random
import statistics
import time
from dataclasses import dataclass, field

import aiohttp


@dataclass
class Measured:
    turns: int = 0
    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.turns / self.seconds

    def percentile(self, percent: int) -> float:
        return 1000 * statistics.quantiles(self.waits, n=100, method="inclusive")[percent - 1]


async def one_chat(http, url, chat, measured, *, turns, think_s):
    pk, key = chat
    async with http.ws_connect(f"{url}/ws/chats/{pk}", headers={"Authorization": f"Bearer {key}"}) as socket:
        for turn in range(turns):
            if think_s:
                await asyncio.sleep(random.uniform(0, 2 * think_s))
            started = time.perf_counter()
            text = f"I have been thinking about my mother and message {turn}."
            await socket.send_str(json.dumps({"id": f"s{turn}", "do": "say", "text": text}))
            number = 2 * turn + 2
            while True:
                frame = json.loads((await socket.receive()).data)
                if frame.get("event") == "utterance" and frame["utterance"]["number"] == number:
                    break
                if "error" in frame or frame.get("event") == "stalled":
                    raise RuntimeError(frame)
            measured.waits.append(time.perf_counter() - started)
            await socket.send_str(
                json.dumps({"id": f"l{turn}", "do": "label", "utterance": number, "bin": "0"})
            )
            while json.loads((await socket.receive()).data).get("re") != f"l{turn}":
                pass
            measured.turns += 1


async def drive(url, chats, *, at_once, turns=7, think_s=0.0):
    """Goes through all `chats`, `at_once` at a time."""
    measured = Measured()
    waiting = iter(chats)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:

        async def lane():
            for chat in waiting:
                await one_chat(http, url, chat, measured, turns=turns, think_s=think_s)

        started = time.perf_counter()
        await asyncio.gather(*(lane() for _ in range(at_once)))
        measured.seconds = time.perf_counter() - started
    return measured


def run(*args, **kwargs):
    return asyncio.run(drive(*args, **kwargs))
