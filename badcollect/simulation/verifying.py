"""A study verified by scripted verifiers, and how well it came out against what was planted."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import aiohttp
from django.db.models import F

from annotations.models import Dialogue, Item, Merged, Study
from annotations.verification import quality, remerging
from badcollect.simulation.truth import Manner, categories, is_ok
from badcollect.simulation.verifier import Judged, Verifier
from badcollect.simulation.words import marker, message
from badcollect.simulation.worker import Line

PATIENCE_S = 120.0
"""So long without a vote, and the rest is given up: nobody is there who may judge it."""


@dataclass(frozen=True)
class Left:
    """What is still to be done in a study: chats to open, votes wanted, items to merge."""

    chats: int
    votes: int
    unmerged: int


def left(study: Study) -> Left:
    items = Item.objects.filter(study=study, kind=Item.Kind.UTTERANCE)
    wanted = items.filter(votes_in__lt=F("wanted")).values_list("wanted", "votes_in")
    finished = Dialogue.objects.filter(study=study, state__in=["complete", "partial"], imported=False)
    merged = Merged.objects.filter(study=study, rule="majority_verifiers", utterance__items__kind="utterance")
    return Left(
        chats=finished.filter(items_at=None).count(),
        votes=sum(all_ - there for all_, there in wanted),
        unmerged=items.count() - merged.count(),
    )


def plant_gold(study: Study, count: int, seed: int) -> None:
    """Makes `count` gold items of messages of nobody's, with the planted answers. Twice is once."""
    rng = Random(seed)
    for number in range(count):
        text = message(rng, marker("old", number))
        ok = is_ok(text)
        wrong = [] if ok else categories(text)
        quality.add_gold(
            study=study, actor=None, text=text, ok=ok, categories=wrong, why="Planted by simulate."
        )


async def verify(
    *,
    url: str,
    study: Study,
    people: Sequence[tuple[str, str, Manner]],
    line: Line,
    seed: int,
    tick: Callable[[Left], None],
) -> list[Judged]:
    """Has `people` (name, token, manner) verify the study until nothing is left of it, or nobody goes on."""
    stop = asyncio.Event()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=60)) as http:
        verifiers = [
            Verifier(
                http,
                url,
                key,
                found=Judged(name, manner),
                rng=Random(f"{seed}-{name}"),
                line=line,
                is_done=stop.is_set,
            )
            for name, key, manner in people
        ]
        watch = asyncio.create_task(_watch(study, stop, tick))
        try:
            return list(await asyncio.gather(*(verifier.work(study.slug) for verifier in verifiers)))
        finally:
            stop.set()
            await watch


async def _watch(study: Study, stop: asyncio.Event, tick: Callable[[Left], None]) -> None:
    """Looks at the study twice a second, and says stop when every vote is in or none comes any more."""
    last, since = None, time.monotonic()
    while not stop.is_set():
        now = await asyncio.to_thread(left, study)
        tick(now)
        if now != last:
            last, since = now, time.monotonic()
        if not (now.chats or now.votes) or time.monotonic() - since > PATIENCE_S:
            stop.set()
        await asyncio.sleep(0.5)


def wait_merged(study: Study, seconds: float) -> Left:
    """Waits until every item with its votes has its labels. What is left then."""
    until = time.monotonic() + seconds
    while (now := left(study)).unmerged and time.monotonic() < until:
        time.sleep(0.5)
    return now


def accuracy(study: Study, rule: str) -> float | None:
    """The share of the study's merged labels under a rule that are as planted; None where there is none."""
    rows = Merged.objects.filter(study=study, rule=rule).exclude(label="")
    found = [is_ok(text) == (label == "ok") for text, label in rows.values_list("utterance__text", "label")]
    return round(sum(found) / len(found), 4) if found else None


def quality_report(study: Study, judged: Sequence[Judged]) -> dict[str, Any]:
    """How far the merged labels are from what was planted, and which verifiers the gold items found."""
    remerging.run(study=study, rule="dawid_skene")
    caught = [row for row in judged if row.stopped == "paused"]
    still = left(study)
    return {
        "items": Item.objects.filter(study=study, kind=Item.Kind.UTTERANCE).count(),
        "votes": sum(row.votes for row in judged),
        "votes_missing": still.votes,
        "unmerged": still.unmerged,
        "planted": {
            name: sum(row.manner.name == name for row in judged)
            for name in ("careful", "careless", "biased", "slow")
        },
        "paused": {
            name: sum(row.manner.name == name for row in caught)
            for name in ("careful", "careless", "biased", "slow")
        },
        "left_in_the_middle": sum(row.left for row in judged),
        "majority_right": accuracy(study, "majority_verifiers"),
        "dawid_skene_right": accuracy(study, "dawid_skene"),
    }
