"""Door 1 of the bots: a history goes in, a reply comes out. Nothing else talks to an engine.

No engine keeps the state of a chat: whatever it needs to go on, it works out from the history it is given.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from bots.errors import ConfigError, EngineError
from bots.models import Bot
from bots.text import LONGEST, one_line

log = logging.getLogger(__name__)

SCRIPTED = ("eliza", "trains", "hospitals")
"""Engines that answer in about a millisecond, inside the request that asked."""
REMOTE = ("local", "http")
"""Engines that take their time: `submit` gives a future, many can be under way at once."""


@dataclass(frozen=True)
class Reply:
    """What a bot said: `text` (1 to 2,000 characters, one line), who said it and how long it took."""

    text: str
    engine: str
    seconds: float
    settings: Mapping[str, Any]
    trace: Mapping[str, Any] = field(default_factory=dict)


def engine_module(name: str) -> ModuleType:
    """The module of an engine. Raises ConfigError for a name that is none, or that of imported chats."""
    if name == Bot.Engine.IMPORTED:
        raise ConfigError("This bot stands for those of imported chats. It cannot answer.")
    if name not in SCRIPTED + REMOTE:
        raise ConfigError(f"There is no engine {name!r}. Choose one of: {', '.join(SCRIPTED + REMOTE)}.")
    return import_module(f"bots.engines.{name}")


def is_scripted(bot: Bot) -> bool:
    return bot.engine in SCRIPTED


def at_once(bot: Bot) -> int:
    """How many replies of this bot are made at the same time; those beyond wait. At least 1."""
    if is_scripted(bot):
        return 1
    try:
        return max(1, int(engine_module(bot.engine).at_once(bot.config)))
    except ConfigError:  # stored by an earlier version; the reply itself will say so
        return 1


def check_config(engine: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every default filled in. Raises ConfigError with what to change."""
    checked: dict[str, Any] = engine_module(engine).check(config)
    return checked


def reply(bot: Bot, history: Sequence[str], persona: Sequence[str] = ()) -> Reply:
    """One reply to `history` (utterances, oldest first, the person's last), waiting for it.

    Raises EngineError when there is none.
    """
    return submit(bot, history, persona).result()


def submit(bot: Bot, history: Sequence[str], persona: Sequence[str] = ()) -> Future[Reply]:
    """The same door without waiting: a future of the reply, or of the EngineError.

    A scripted engine's future is already done.
    """
    started = time.monotonic()
    answer: Future[Reply] = Future()

    def settle(done: "Future[str]") -> None:
        try:
            answer.set_result(_reply(bot, done.result(), time.monotonic() - started))
        except EngineError as error:
            answer.set_exception(error)
        except ConfigError as error:
            answer.set_exception(EngineError(str(error)[:300], retry=False))
        except CancelledError:
            answer.set_exception(EngineError("The process that made the reply was stopped."))
        except Exception as error:
            log.exception("engine %s of bot %s broke", bot.engine, bot.slug)
            answer.set_exception(EngineError(f"The engine broke: {type(error).__name__}: {error}"[:300]))

    try:
        module = engine_module(bot.engine)
        if is_scripted(bot):
            text: Future[str] = Future()
            text.set_result(module.reply(bot.config, history, persona))
        else:
            text = module.submit(bot.config, history, persona)
    except Exception as error:  # noqa: BLE001 an engine may fail in any way; each becomes a stored failure
        text = Future()
        text.set_exception(error)
    text.add_done_callback(settle)
    return answer


def _reply(bot: Bot, raw: str, seconds: float) -> Reply:
    text = one_line(raw)[:LONGEST].strip()
    if not text:
        raise EngineError("The engine gave an empty reply.")
    return Reply(text=text, engine=bot.engine, seconds=seconds, settings=check_config(bot.engine, bot.config))
