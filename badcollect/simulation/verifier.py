"""One scripted verifier: takes batches over REST, judges in a manner of its own, may leave in the middle."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import aiohttp

from badcollect.simulation.truth import Manner
from badcollect.simulation.worker import Line

STOPS = ("paused", "blocked", "test_first", "consent_first", "no_such_study", "verification_closed")


@dataclass
class Judged:
    """What came of one verifier. `stopped`: the code of the refusal that ended it; empty where all was done."""

    name: str
    manner: Manner
    batches: int = 0
    votes: int = 0
    left: int = 0
    stopped: str = ""


class Verifier:
    """`is_done` says whether nothing is left in the study for anybody."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        url: str,
        key: str,
        *,
        found: Judged,
        rng: Random,
        line: Line,
        is_done: Callable[[], bool],
    ) -> None:
        self.http, self.url, self.rng, self.line, self.is_done = http, url, rng, line, is_done
        self.headers = {"Authorization": f"Bearer {key}"}
        self.found = found

    async def work(self, slug: str) -> Judged:
        """Batch after batch until nothing is left, or the study lets this verifier do no more."""
        while not self.is_done():
            status, batch = await self._post(f"studies/{slug}/batches")
            if status == 200:
                await self._judge(batch)
                self.found.batches += 1
            elif batch.get("error") in STOPS:
                self.found.stopped = batch["error"]
                break
            else:  # nothing left just now, or a break
                await asyncio.sleep(0.5)
        return self.found

    async def _judge(self, batch: dict[str, Any]) -> None:
        for item in batch["items"]:
            if item["state"] != "held":
                continue
            if self.line.think_s:
                await asyncio.sleep(self.rng.expovariate(1 / self.line.think_s) * self.found.manner.slowness)
            if self.rng.random() < self.found.manner.leaves:
                await self._leave(batch)
                return
            ok, categories = self.found.manner.judge(item["text"], self.rng)
            body = {"ok": ok, "categories": categories}
            status, answer = await self._post(f"assignments/{item['assignment']}/vote", body)
            if self.rng.random() < self.line.repeat:
                await self._post(f"assignments/{item['assignment']}/vote", body)
            self.found.votes += status == 200
            if answer.get("error") in STOPS:
                return

    async def _leave(self, batch: dict[str, Any]) -> None:
        """Half of those who leave say so; the others' batches are given back when their time runs out."""
        self.found.left += 1
        if self.rng.random() < 0.5:
            await self._post(f"batches/{batch['id']}/give-back")

    async def _post(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Status and answer; asked again while the server is away."""
        for wait in itertools.chain([0.2, 0.5], [1.0] * 60, [None]):
            try:
                async with self.http.post(
                    f"{self.url}/api/v1/{path}", headers=self.headers, json=body
                ) as answer:
                    if answer.status < 500:
                        return answer.status, dict(await answer.json(content_type=None))
            except (aiohttp.ClientError, TimeoutError, ValueError):
                if wait is None:
                    raise
            if wait is None:
                answer.raise_for_status()
            await asyncio.sleep(wait or 0)
        raise AssertionError
