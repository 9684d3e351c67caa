"""The processes of an installation on one machine, as `up` starts them."""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from django.conf import settings

from badcollect import redis
from badcollect.celery import app
from badcollect.supervisor import Service

QUEUES = ("bots", "jobs", "long")
"""`long` has a worker of its own, so that an export of minutes keeps no merging waiting."""
BOT_TASKS = 8
"""Tasks a bots worker does at once. They only start replies; a researcher's trial waits in one."""


def web_command(host: str, port: int, *, processes: int = 1, reload: bool = False) -> list[str]:
    """The web server.

    Sockets are not compressed: it takes some 30 kB for each, and chat messages are short. A frame of
    over 64 KiB closes its socket; a lost browser is noticed within 40 s.
    """
    command = [
        *(
            sys.executable,
            "-m",
            "uvicorn",
            "badcollect.asgi:application",
            "--host",
            host,
            "--port",
            str(port),
        ),
        *("--lifespan", "off", "--log-level", "warning", "--no-access-log", "--no-server-header"),
        *("--ws-max-size", "65536", "--ws-ping-interval", "20", "--ws-ping-timeout", "20"),
        *("--ws-per-message-deflate", "false", "--timeout-graceful-shutdown", "5"),
    ]
    if reload:
        folders = (str(settings.BASE_DIR / name) for name in ("annotations", "badcollect", "bots"))
        return [*command, "--reload", *(word for folder in folders for word in ("--reload-dir", folder))]
    return [*command, "--workers", str(processes)] if processes > 1 else command


def worker_command(queue: str, name: str) -> list[str]:
    """A Celery worker: threads for `bots`, whose tasks start replies; a process for what computes."""
    pool = ("-P", "threads", "-c", str(BOT_TASKS)) if queue == "bots" else ("-P", "prefork", "-c", "1")
    quiet = ("--without-gossip", "--without-mingle", "-l", settings.LOG_LEVEL)
    return [*_celery("worker"), "-Q", queue, "-n", name, *pool, *quiet]


def beat_command() -> list[str]:
    return [*_celery("beat"), "-s", settings.CELERY_BEAT_SCHEDULE_FILENAME, "-l", settings.LOG_LEVEL]


def _celery(verb: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "celery", "-q", "-A", "badcollect.celery:app", verb)


def services(host: str, port: int, *, processes: int, embedded: Path | None) -> list[list[Service]]:
    """What to start, in stages. `embedded` is the socket of the Redis to start; None: one answers already."""
    nodes = {queue: f"{queue}@{socket.gethostname()}-{port}" for queue in QUEUES}
    web = web_command(host, port, processes=processes, reload=settings.DEBUG)
    rest = [
        Service("web", web, partial(_web_answers, host, port)),
        *(
            Service(queue, worker_command(queue, node), _in_thread(_pongs, node))
            for queue, node in nodes.items()
        ),
        Service("beat", beat_command(), _is_alive),
    ]
    if embedded is None:
        return [rest]
    return [
        [Service("redis", redis.command(embedded), _in_thread(redis.answers, f"unix://{embedded}"))],
        rest,
    ]


def _in_thread(question: Callable[[str], bool], about: str) -> Callable[[], Awaitable[bool]]:
    return lambda: asyncio.to_thread(question, about)


def _pongs(node: str) -> bool:
    """Whether the Celery worker of this name takes orders."""
    try:
        return bool(app.control.ping(destination=[node], timeout=0.5))
    except (OSError, app.connection_for_write().connection_errors):
        return False


async def _is_alive() -> bool:
    """Beat answers nobody; should it end, it is started again like the others."""
    return True


async def _web_answers(host: str, port: int) -> bool:
    """Whether GET /health says 200."""
    where = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 where a server on all networks is asked
    try:
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_connection(where, port)
            try:
                writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return b" 200 " in await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
