"""What has to be so before anything is started. Each check raises Problem: one line that says what to do."""

import errno
import fcntl
import ipaddress
import os
import re
import socket
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from django.core.management import call_command
from django.db import DatabaseError, connection

from badcollect import redis


class Problem(Exception):
    """Why the start was given up, in one line, with what to do about it."""


def check_dependencies(requirements: Path) -> None:
    """Every package named in `requirements` is installed."""
    lines = requirements.read_text().splitlines() if requirements.exists() else []
    named = [found.group() for line in lines if (found := re.match(r"[A-Za-z][\w.-]*", line))]
    missing = [name for name in named if not _installed(name)]
    if missing:
        raise Problem(f"Not installed here: {', '.join(missing)}. Run `make install`.")


def _installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def lock(folder: Path, address: str) -> IO[str]:
    """A lock on the folder, held for as long as what is returned is kept open."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "up.lock").open("a+")
    except OSError as error:
        raise Problem(
            f"{folder} cannot be written ({error.strerror}). Set VAR_DIR to a folder that can."
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        with file:
            file.seek(0)
            holder = file.read().strip() or "just starting"
        raise Problem(
            f"badcollect already runs from {folder} ({holder}). "
            "Stop that one first, or set VAR_DIR to another folder."
        ) from error
    file.seek(0)
    file.truncate()
    file.write(f"process {os.getpid()}, {address}")
    file.flush()
    return file


def check_port(host: str, port: int) -> None:
    """`port` of `host` is free, and may be used by us."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise Problem(
            f"HOST={host} cannot be looked up. Set HOST to 127.0.0.1, or to 0.0.0.0 for all networks."
        ) from error
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(where)
        except OSError as error:
            raise Problem(_port_fault(host, port, error.errno)) from error


def _port_fault(host: str, port: int, number: int | None) -> str:
    if number == errno.EADDRINUSE:
        return (
            f"Port {port} is in use. Stop what uses it, or take another one: PORT={port % 65535 + 1} make run"
        )
    if number == errno.EACCES:
        return f"Port {port} is not for this account to use. Take one above 1023: PORT=8000 make run"
    return (
        f"HOST={host} is no address of this machine. Set HOST to 127.0.0.1, or to 0.0.0.0 for all networks."
    )


def check_redis(url: str) -> None:
    """A Redis answers at `url`."""
    if fault := redis.fault(url):
        parts = urlsplit(url)
        shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        raise Problem(
            f"No Redis answers at {shown} ({fault.splitlines()[0]}). Start it, or correct REDIS_URL; "
            "without REDIS_URL, badcollect starts one of its own."
        )


def check_database() -> None:
    """The database answers. PostgreSQL has 3 s for it; without a limit, a host that is gone takes minutes."""
    if connection.vendor != "postgresql":
        return
    import psycopg

    values = connection.get_connection_params()
    known = {
        key: values[key]
        for key in ("dbname", "host", "port", "user", "password", "sslmode", "service")
        if key in values
    }
    try:
        psycopg.connect(**known, connect_timeout=3).close()
    except psycopg.Error as error:
        why = " ".join(str(error).split())
        raise Problem(
            f"The database does not answer ({why}). Start PostgreSQL, or correct DATABASE_URL."
        ) from error


def migrate() -> None:
    """Brings the database up to date, and sees to it that SQLite keeps its write-ahead log."""
    try:
        call_command("migrate", interactive=False, verbosity=0)
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                mode = cursor.execute("PRAGMA journal_mode").fetchone()[0]
            if mode != "wal":
                raise Problem(
                    f"SQLite cannot keep a write-ahead log here (it says {mode!r}). "
                    "Set VAR_DIR to a folder on a local disk."
                )
    except DatabaseError as error:
        why = " ".join(str(error).split())
        raise Problem(
            f"The database cannot be brought up to date ({why}). "
            "Correct DATABASE_URL, or VAR_DIR for SQLite's file."
        ) from error


def is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def names_of(host: str) -> list[str]:
    """What people may type to reach a server on `host`; for all networks, the names of this machine."""
    if is_loopback(host):
        return []
    if host not in ("0.0.0.0", "::"):  # noqa: S104 compared with, not bound to
        return [f"[{host}]" if ":" in host else host]
    found = {socket.gethostname()}
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Connecting a datagram socket sends nothing; it only picks the address that leads outwards.
        probe.connect(("192.0.2.1", 9))
        found.add(probe.getsockname()[0])
    return sorted(found)
