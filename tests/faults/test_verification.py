"""A hundred verify at once, and processes are killed meanwhile. Afterwards every item has its votes and labels, once."""

import asyncio
import contextlib
from collections import Counter
from datetime import timedelta

import aiohttp
import pytest
from django.utils import timezone

from annotations.console import services as console
from annotations.models import Batch, Dialogue, Item, Merged, Vote
from annotations.verification import services as verification
from tests.factories import StudyFactory, make_finished, make_plan, make_token, make_verifier
from tests.stack import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.faults]

RULES = 4


def make_chats(study, count, utterances=10):
    texts = [f"Message number {number}" for number in range(utterances)]
    return [make_finished(texts, study=study) for _ in range(count)]


def open_all(study, count):
    """That many open items, ten of a chat."""
    for dialogue in make_chats(study, count // 10):
        verification.open_items(dialogue.pk)


class Verifiers:
    """Verifiers at work over REST until nothing is left; `acknowledged` holds (item, verifier) of every vote stored."""

    def __init__(self, stack, study, count):
        self.stack, self.study = stack, study
        self.people = [make_verifier(study) for _ in range(count)]
        self.keys = [make_token(person) for person in self.people]
        self.acknowledged = 0
        self.under_way = asyncio.Event()

    def run(self, meanwhile=None):
        """Has all of them judge; `meanwhile` runs in a thread of its own once the first votes are in."""
        asyncio.run(self._all(meanwhile))

    async def _all(self, meanwhile):
        limit = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=limit) as self.http:
            work = [asyncio.ensure_future(self._one(key)) for key in self.keys]
            if meanwhile:
                await self.under_way.wait()
                await asyncio.to_thread(meanwhile)
            await asyncio.gather(*work)

    async def _one(self, key):
        while (batch := await self._post(key, f"studies/{self.study.slug}/batches")) is not None:
            for item in batch["items"]:
                if item["state"] == "held":
                    ok = item["position"] % 3 > 0
                    vote = {"ok": ok, "categories": [] if ok else ["attack"]}
                    await self._post(key, f"assignments/{item['assignment']}/vote", vote)
                    self.acknowledged += 1
                    if self.acknowledged == len(self.keys):
                        self.under_way.set()

    async def _post(self, key, path, body=None):
        """The answer; None where nothing is left. Asks again where the line breaks."""
        headers = {"Authorization": f"Bearer {key}"}
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                address = f"{self.stack.url}/api/v1/{path}"
                async with self.http.post(address, json=body, headers=headers) as answer:
                    found = await answer.json()
                    if answer.status == 200:
                        return found
                    assert found["error"] in {"nothing_left", "verification_closed"}, found
                    return None
            await asyncio.sleep(0.2)


def votes_are_whole(items, wanted=3):
    """Every item has exactly the votes wanted, of as many people."""
    assert Item.objects.count() == items
    assert set(Item.objects.values_list("votes_in", "free")) == {(wanted, 0)}
    assert set(Counter(Vote.objects.values_list("item", flat=True)).values()) == {wanted}
    assert Vote.objects.count() == Vote.objects.values("item", "verifier").distinct().count()
    assert not Batch.objects.filter(closed_at=None).exists()


def all_merged(items, *, seconds=60):
    wait_for(lambda: not Item.objects.filter(due_at__isnull=False).exists(), seconds=seconds, what="merging")
    assert Merged.objects.count() == RULES * items
    labels = Merged.objects.filter(rule="majority_verifiers").values_list("utterance", "label")
    for utterance, label in labels:
        votes = list(Vote.objects.filter(item__utterance=utterance).values_list("ok", flat=True))
        assert label == ("ok" if 2 * sum(votes) > len(votes) else "notok")


def test_a_hundred_verifiers_on_three_hundred_items(stack):
    study = StudyFactory()
    make_plan(study, batch_size=4, soft_limit=0)
    open_all(study, 300)

    Verifiers(stack, study, 100).run()

    votes_are_whole(300)
    all_merged(300)
    assert "Traceback" not in stack.log()


def test_the_web_process_is_killed_while_many_vote(stack):
    study = StudyFactory()
    make_plan(study, soft_limit=0)
    open_all(study, 100)
    verifiers = Verifiers(stack, study, 20)

    def fault():
        stack.kill("web")
        stack.start("web")

    verifiers.run(fault)

    votes_are_whole(100)
    assert set(Vote.objects.values_list("changes", flat=True)) == {0}
    all_merged(100)


def test_redis_is_away_while_many_vote(stack):
    study = StudyFactory()
    make_plan(study, soft_limit=0)
    open_all(study, 20)
    stack.kill("redis")

    Verifiers(stack, study, 6).run()

    votes_are_whole(20)
    assert Merged.objects.count() == 0
    stack.start("redis")
    all_merged(20)


def test_verification_is_closed_in_the_middle(stack):
    study = StudyFactory()
    make_plan(study, soft_limit=0)
    open_all(study, 200)
    verifiers = Verifiers(stack, study, 20)

    def close():
        console.close_study(study=study)
        make_plan(study, open=False)

    verifiers.run(close)

    votes = Counter(Vote.objects.values_list("item", flat=True))
    assert verifiers.acknowledged == votes.total()
    assert {item.pk: item.votes_in for item in Item.objects.filter(votes_in__gt=0)} == dict(votes)
    assert all(item.free + item.votes_in == 3 for item in Item.objects.all())
    assert not Batch.objects.filter(closed_at=None).exists()


def judged_items(count):
    """That many items with all their votes in, due to be merged."""
    study = StudyFactory()
    make_plan(study)
    open_all(study, count)
    people = [make_verifier(study) for _ in range(3)]
    now = timezone.now()
    keys = Item.objects.values_list("pk", flat=True)
    Vote.objects.bulk_create(
        Vote(item_id=key, verifier=person, ok=bool((key + n) % 3), other=not (key + n) % 3, at=now)
        for key in keys
        for n, person in enumerate(people)
    )
    Item.objects.update(votes_in=3, free=0, due_at=now)


def test_the_worker_is_killed_while_merging(stack):
    stack.kill("jobs")
    judged_items(500)
    stack.start("jobs")
    wait_for(lambda: Merged.objects.count() > 20, seconds=60, every=0.01, what="some labels")

    stack.kill("jobs")
    left = Item.objects.filter(due_at__isnull=False).count()
    stack.start("jobs")

    assert left > 0
    all_merged(500)


def test_the_worker_is_killed_while_opening_items(stack):
    stack.kill("jobs")
    make_chats(StudyFactory(), 150, utterances=6)
    stack.start("jobs")
    wait_for(lambda: Item.objects.count() > 20, seconds=60, every=0.01, what="some items")

    stack.kill("jobs")
    left = Dialogue.objects.filter(items_at=None).count()
    stack.start("jobs")

    assert left > 0
    wait_for(lambda: not Dialogue.objects.filter(items_at=None).exists(), seconds=60, what="the rest")
    assert Item.objects.count() == 900
    assert Item.objects.values("utterance").distinct().count() == 900


def test_beat_is_away_for_a_while(stack):
    study = StudyFactory()
    make_plan(study, votes_wanted=1, soft_limit=0)
    open_all(study, 20)
    stack.kill("beat")
    make_chats(study, 1)
    abandoned = Batch.objects.create(
        study=study, verifier=make_verifier(study), leased_until=timezone.now() - timedelta(minutes=1)
    )

    verifiers = Verifiers(stack, study, 2)
    verifiers.run()

    all_merged(20)  # each vote sends its item itself
    abandoned.refresh_from_db()
    assert (abandoned.closed_at, Item.objects.count()) == (None, 20)

    stack.start("beat")
    wait_for(lambda: Item.objects.count() == 30, seconds=60, what="the items of the last chat")
    wait_for(lambda: Batch.objects.filter(end_reason="expired").exists(), seconds=60, what="the lease")


def test_a_vote_sent_ten_times_at_once_is_one(stack):
    study = StudyFactory()
    make_plan(study, soft_limit=0)
    open_all(study, 10)
    verifiers = Verifiers(stack, study, 1)
    (key,) = verifiers.keys

    async def go():
        async with aiohttp.ClientSession() as verifiers.http:
            batch = await verifiers._post(key, f"studies/{study.slug}/batches")
            path = f"assignments/{batch['items'][0]['assignment']}/vote"
            return await asyncio.gather(*[verifiers._post(key, path, {"ok": True}) for _ in range(10)])

    answers = asyncio.run(go())

    assert [answer["changes"] for answer in answers] == [0] * 10
    assert Vote.objects.count() == 1
    assert Item.objects.filter(votes_in=1).count() == 1
