import asyncio
import threading

import pytest

from badcollect.simulation.people import hire
from badcollect.simulation.run import simulate
from badcollect.simulation.worker import Line
from tests.bots.fake_server import FakeServer
from tests.factories import BotFactory, StudyFactory


@pytest.fixture
def slow_bot():
    """A bot behind the http engine that takes half a second and says back what it was told."""
    with FakeServer(delay=0.5) as server:
        yield BotFactory(engine="http", config={"style": "rest", "url": server.rest_url})


class Workers:
    """Scripted workers going through chats in a thread; `finish` waits for them and gives the tally's figures."""

    def __init__(self, stack, study, *, chats, at_once, drop=0.0, think_s=0.1, give_up_s=90):
        keys = hire(study, chats, at_least=at_once)
        line = Line(think_s=think_s, drop=drop, reload=drop / 2, repeat=drop, give_up_s=give_up_s)
        self.tally = None
        self.done = 0
        arguments = {
            "url": stack.url,
            "slug": study.slug,
            "keys": keys,
            "chats": chats,
            "concurrency": at_once,
            "line": line,
            "seed": 1,
            "tick": self._tick,
        }
        self.thread = threading.Thread(target=lambda: self._run(arguments), daemon=True)
        self.thread.start()

    def _run(self, arguments):
        self.tally = asyncio.run(simulate(**arguments))

    def _tick(self, tally):
        self.done = len(tally.found)

    def finish(self):
        self.thread.join(timeout=110)
        assert self.tally is not None, "the workers did not come to an end"
        assert self.tally.trouble == []
        summary = self.tally.summary()
        return {key: summary[key] for key in ("chats", "turns", "lost", "doubled", "crossed")}


@pytest.fixture
def study(slow_bot):
    """Six utterances a chat, so that a fault falls into many of them; half Eliza, half the slow bot."""
    study = StudyFactory(bot=slow_bot, bot__wanted=500, utterances=6, min_utterances=2, chats_per_worker=100)
    study.study_bots.create(bot=BotFactory(), chats_wanted=500)
    return study
