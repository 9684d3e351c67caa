"""A micro-batcher: requests that wait at the same moment are worked off together, by one thread.

A language model answers eight chats in hardly more time than one, so a batch is what makes many chats on one
machine bearable. Our choice over continuous batching (rows joining a batch under way): it needs nothing but
`generate`, and replies are short.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from bots.errors import EngineError

log = logging.getLogger(__name__)

COMPANY_S = 0.005
"""Seconds an idle model waits for company after the first request: requests of one moment arrive in a burst,
and without this the first would be generated alone while all others wait for it."""


class TooBigError(Exception):
    """A batch does not fit in memory: a smaller one may."""


@dataclass(frozen=True, eq=False)
class Job:
    """One request. Only jobs of the same `group` share a batch; `limit` is how many at most."""

    payload: Any
    group: Hashable
    limit: int
    timeout_s: float
    answer: Future[str] = field(default_factory=Future)
    queued: float = field(default_factory=time.monotonic)

    def is_late(self) -> bool:
        return time.monotonic() > self.queued + self.timeout_s


@dataclass(frozen=True)
class Result:
    """What came of one row: the text and its length in tokens, or the error of this row alone."""

    text: str = ""
    tokens: int = 0
    error: EngineError | None = None


@dataclass
class Counts:
    """What a batcher has done so far: batches, rows and tokens generated, and the largest batch."""

    batches: int = 0
    rows: int = 0
    tokens: int = 0
    largest: int = 0


Runner = Callable[[Sequence[Any]], Sequence[Result]]
"""The model: payloads of one batch in, one result for each out. Raises TooBigError when memory runs out."""


class Batcher:
    """A queue and the one thread that empties it. Any thread may `submit`.

    `load` gives the runner; it is called in the batcher's thread, at the first request, and again at the next
    one after it has failed.
    """

    def __init__(self, load: Callable[[], Runner]) -> None:
        self._load = load
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._most: int | None = None
        self._counts = Counts()

    def submit(self, job: Job) -> Future[str]:
        """Queues the job and gives its future, at once. The future fails with EngineError and nothing
        else.
        """
        with self._changed:
            self._jobs.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="batcher", daemon=True)
                self._thread.start()
            self._changed.notify()
        return job.answer

    def counts(self) -> Counts:
        """A copy of the counts."""
        return replace(self._counts)

    def _work(self) -> None:
        runner: Runner | None = None
        while True:
            self._wait()
            if runner is None:
                runner = self._loaded()
            if runner is not None:
                batch = self._take()
                if batch:
                    self._run(runner, batch)

    def _wait(self) -> None:
        """Until there is a job; if the queue was empty, a moment more for its company."""
        with self._changed:
            if self._jobs:
                return
            while not self._jobs:
                self._changed.wait()
            until = time.monotonic() + COMPANY_S
            while len(self._jobs) < self._jobs[0].limit and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def _loaded(self) -> Runner | None:
        """The runner; or None, and everything queued has failed with the reason."""
        try:
            return self._load()
        except EngineError as error:
            problem = error
        except Exception as error:
            log.exception("a model could not be loaded")
            problem = EngineError(_line("The model could not be loaded", error), retry=False)
        with self._changed:
            jobs = list(self._jobs)
            self._jobs.clear()
        _fail(jobs, problem)
        return None

    def _take(self) -> list[Job]:
        """The oldest job and those that can share its batch. Those too late, or given up, are none of
        them.
        """
        with self._changed:
            late = [job for job in self._jobs if job.is_late()]
            waiting = [job for job in self._jobs if job not in late]
            alike = [job for job in waiting if job.group == waiting[0].group]
            batch = alike[: min(alike[0].limit, self._most or alike[0].limit)] if alike else []
            self._jobs = deque(job for job in waiting if job not in batch)
        _fail(late, EngineError("The deadline of this reply passed while it waited for its turn."))
        return [job for job in batch if job.answer.set_running_or_notify_cancel()]

    def _run(self, runner: Runner, jobs: list[Job]) -> None:
        try:
            results = runner([job.payload for job in jobs])
        except TooBigError:
            self._run_halves(runner, jobs)
        except EngineError as error:
            _fail(jobs, error)
        except Exception as error:
            log.exception("a batch of %s failed", len(jobs))
            _fail(jobs, EngineError(_line("The model failed", error)))
        else:
            self._count(results)
            for job, result in zip(jobs, results, strict=True):
                if result.error is None:
                    job.answer.set_result(result.text)
                else:
                    job.answer.set_exception(result.error)

    def _run_halves(self, runner: Runner, jobs: list[Job]) -> None:
        if len(jobs) == 1:
            _fail(jobs, EngineError("The model's memory did not suffice for this reply."))
            return
        half = len(jobs) // 2
        self._most = half  # the next batch of this size would fail as well, and cost the time again
        self._run(runner, jobs[:half])
        self._run(runner, jobs[half:])

    def _count(self, results: Sequence[Result]) -> None:
        counts = self._counts
        counts.batches += 1
        counts.rows += len(results)
        counts.tokens += sum(result.tokens for result in results)
        counts.largest = max(counts.largest, len(results))


def _fail(jobs: Sequence[Job], error: EngineError) -> None:
    for job in jobs:
        if job.answer.running() or job.answer.set_running_or_notify_cancel():
            # one object each: raising it in several threads would mix up their tracebacks
            job.answer.set_exception(EngineError(str(error), retry=error.retry))


def _line(what: str, error: Exception) -> str:
    said = " ".join(str(error).split())
    return f"{what}: {type(error).__name__}: {said}"[:300]
