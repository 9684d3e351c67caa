"""Many scripted chats at once, and what came of them."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import quantiles
from string import ascii_lowercase
from typing import Any

import aiohttp

from badcollect.simulation.words import marker
from badcollect.simulation.worker import Chat, Found, Line, NoChatError

MANY_REFUSALS = 3


@dataclass
class Tally:
    """What has come of a simulation so far."""

    wanted: int
    chats: int = 0
    found: list[Found] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0

    def turns(self) -> int:
        return sum(found.turns for found in self.found)

    def summary(self) -> dict[str, Any]:
        """The ten figures, times in milliseconds; null where there is nothing to take them of."""
        acks = [ms for found in self.found for ms in found.acks_ms]
        replies = [ms for found in self.found for ms in found.replies_ms]
        return {
            "chats": self.chats,
            "turns": self.turns(),
            "turns_per_s": round(self.turns() / self.seconds, 1) if self.seconds else None,
            "ack_p50_ms": percentile(acks, 50),
            "ack_p95_ms": percentile(acks, 95),
            "reply_p50_ms": percentile(replies, 50),
            "reply_p95_ms": percentile(replies, 95),
            "lost": sum(found.lost for found in self.found),
            "doubled": sum(found.doubled for found in self.found),
            "crossed": sum(found.crossed for found in self.found),
        }


def percentile(values: Sequence[float], percent: int) -> float | None:
    """The `percent`th percentile, to a tenth; None of nothing."""
    if len(values) < 2:
        return round(values[0], 1) if values else None
    return round(quantiles(values, n=100, method="inclusive")[percent - 1], 1)


async def simulate(
    *,
    url: str,
    slug: str,
    keys: Sequence[str],
    chats: int,
    concurrency: int,
    line: Line,
    seed: int,
    tick: Callable[[Tally], None],
) -> Tally:
    """Has `chats` chats done in the study, `concurrency` at a time, each by the next free of the workers `keys`."""
    tally = Tally(wanted=chats)
    rng = Random(seed)
    run = "".join(Random().choices(ascii_lowercase, k=3))
    free: asyncio.Queue[str] = asyncio.Queue()
    for key in keys:
        free.put_nowait(key)
    numbers = iter(range(chats))
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=60)) as http:
        async with http.get(f"{url}/health") as answer:
            answer.raise_for_status()

        async def play() -> None:
            for number in numbers:
                while True:
                    key = await free.get()
                    seeded = Random(f"{seed}-{number}")
                    chat = Chat(http, url, key, rng=seeded, line=line, mark=marker(run, number))
                    try:
                        found = await chat.play(slug)
                    except NoChatError as error:
                        if error.code == "enough_chats" and not free.empty():
                            continue
                        tally.trouble.append(str(error))
                        return
                    free.put_nowait(key)
                    break
                tally.found.append(found)
                tally.chats += found.done
                if found.trouble:
                    tally.trouble.append(found.trouble)
                tick(tally)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, chats)):
                group.create_task(play())
                await asyncio.sleep(rng.random() * 0.01)
    tally.seconds = time.monotonic() - tally.started
    return tally
