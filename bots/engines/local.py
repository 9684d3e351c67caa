"""Engine `local`: a language model on this machine, by way of transformers.

Replies that different chats want at the same moment are generated as one batch. Each worker process has one
copy of a model, however many bots use it, and one thread that runs it; it is loaded at its first reply. Two
bots share a copy if `model` and `device` are written alike, and a batch if all that shapes a reply is alike.

torch takes a thread for each core and lets them wait for one another: where other work keeps a core busy,
replies slow down many times over. There, set OMP_NUM_THREADS for the worker to the cores that are left to it.
"""

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from bots.engines.batching import Batcher, Counts, Job
from bots.engines.generation import Model, Request
from bots.engines.presets import PRESETS, SETTINGS, check

__all__ = ["PRESETS", "SETTINGS", "at_once", "check", "counts", "submit"]

_APART = ("preset", "max_batch", "timeout_s")
"""Settings in which chats of one batch may differ."""

_batchers: dict[tuple[str, str, str], Batcher] = {}
_lock = threading.Lock()


def submit(config: Mapping[str, Any], history: Sequence[str], persona: Sequence[str]) -> Future[str]:
    """A future of the reply to `history` (utterances, oldest first, the person's last), at once.

    It fails with EngineError, and nothing else: when the model cannot be loaded (then the next call tries
    again), when generating fails, or when the reply waited for its turn longer than `timeout_s`. A reply
    being generated is waited for. Raises ConfigError for settings that `check` refuses.
    """
    settings = check(config)
    shared = tuple((name, value) for name, value in settings.items() if name not in _APART)
    request = Request(settings, tuple(history), tuple(persona))
    return _batcher(settings).submit(
        Job(request, shared, limit=settings["max_batch"], timeout_s=settings["timeout_s"])
    )


def at_once(config: Mapping[str, Any]) -> int:
    """How many replies are generated at the same time, at most: a whole batch."""
    return int(check(config)["max_batch"])


def counts(config: Mapping[str, Any]) -> Counts:
    """What the model of these settings has done in this process: batches, rows, tokens, the largest batch."""
    return _batcher(check(config)).counts()


def _batcher(settings: Mapping[str, Any]) -> Batcher:
    family = "seq2seq" if settings["kind"] == "seq2seq" else "causal"
    model, device = settings["model"], settings["device"]
    with _lock:
        if (model, family, device) not in _batchers:
            _batchers[model, family, device] = Batcher(lambda: Model(model, family, device))
        return _batchers[model, family, device]


def _forget() -> None:
    """After a fork: threads stay behind in the parent, so the child begins with none."""
    global _lock  # noqa: PLW0603 another thread of the parent may have held it at the fork
    _lock = threading.Lock()
    _batchers.clear()


os.register_at_fork(after_in_child=_forget)
