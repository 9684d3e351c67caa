"""The replies this process is making: their claims kept alive, their results stored."""

import atexit
import logging
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache

from django.conf import settings

from annotations.chats import answering, store, trials
from bots.errors import EngineError
from bots.replies import Reply

log = logging.getLogger(__name__)

BEAT_S = 2.5
"""Seconds between two renewals: a claim outlives three that fail."""


class Desk:
    """Holds the chats whose reply is under way. A reply in the making keeps no thread and no connection."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="settle")
        self._under_way: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        threading.Thread(target=self._beat, name="renew", daemon=True).start()
        atexit.register(self.close)

    def take(self, dialogue_id: int, number: int) -> None:
        """Has the reply to utterance `number` made and stored, unless it is another's. Returns at once."""
        self._pool.submit(self._begin, dialogue_id, number)

    def _begin(self, dialogue_id: int, number: int) -> None:
        try:
            future = store.safely(answering.claim, dialogue_id=dialogue_id, number=number)
        except Exception:
            log.exception(
                "the reply to chat %d could not be claimed; it will be asked for again", dialogue_id
            )
            return
        if future is None:
            return
        with self._lock:
            self._under_way[dialogue_id] += 1
        future.add_done_callback(lambda done: self._submit(dialogue_id, number, done))

    def close(self) -> None:
        """Gives back what is not done, so that another process takes it at once."""
        self._stop.set()
        with self._lock:
            left = list(self._under_way)
        if left:
            store.safely(answering.give_back, dialogue_ids=left)

    def _submit(self, dialogue_id: int, number: int, done: "Future[Reply]") -> None:
        with suppress(RuntimeError):  # the process is on its way out: its claims are given back
            if not self._stop.is_set():
                self._pool.submit(self._finish, dialogue_id, number, done)

    def try_out(self, trial_id: int) -> None:
        """Has the reply of a researcher's trial made and stored. Returns at once."""
        self._pool.submit(self._try, trial_id)

    def _try(self, trial_id: int) -> None:
        future = store.safely(trials.begin, trial_id=trial_id)
        if future:
            future.add_done_callback(lambda done: self._tried(trial_id, done))

    def _tried(self, trial_id: int, done: "Future[Reply]") -> None:
        with suppress(RuntimeError):
            self._pool.submit(store.safely, trials.settle, trial_id=trial_id, done=done)

    def _finish(self, dialogue_id: int, number: int, done: "Future[Reply]") -> None:
        try:
            store.safely(_store, dialogue_id=dialogue_id, number=number, done=done)
        except Exception:
            log.exception("the reply to chat %d could not be stored; it will be asked for again", dialogue_id)
        finally:
            with self._lock:
                self._under_way[dialogue_id] -= 1
                self._under_way += Counter()  # without those that have come to nothing

    def _beat(self) -> None:
        while not self._stop.wait(BEAT_S):
            with self._lock:
                ids = list(self._under_way)
            try:
                if ids:
                    store.safely(answering.renew, dialogue_ids=ids)
            except Exception:
                log.exception("claims could not be renewed")


def _store(*, dialogue_id: int, number: int, done: "Future[Reply]") -> None:
    error = done.exception()
    if error is None:
        answering.settle(dialogue_id=dialogue_id, number=number, reply=done.result())
    else:
        shown = error if isinstance(error, EngineError) else EngineError(f"{type(error).__name__}: {error}")
        answering.fail(dialogue_id=dialogue_id, number=number, error=shown)


@cache
def desk() -> Desk:
    """The one desk of this process."""
    return Desk(settings.BOT_THREADS)
