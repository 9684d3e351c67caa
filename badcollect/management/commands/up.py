import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand
from django.db import connections

from badcollect import env, preflight, redis
from badcollect.preflight import Problem
from badcollect.processes import services
from badcollect.seed import PEOPLE, password, password_holds, seed
from badcollect.supervisor import Supervisor


class Command(BaseCommand):
    help = "Runs everything on this machine: Redis, web server, workers. Ctrl-C stops it all."
    requires_system_checks = ()

    def handle(self, **_options: Any) -> None:
        try:
            reason = self._run()
        except (Problem, ImproperlyConfigured, redis.NoRedis) as problem:
            reason = str(problem)
        except KeyboardInterrupt:
            reason = "Stopped before everything was up."
        if reason:
            sys.exit(reason)

    def _run(self) -> str:
        host, port = env.text("HOST", "127.0.0.1"), env.number("PORT", 8000, high=65535)
        processes = env.number("WEB_PROCESSES", 1, high=64)
        demo = env.flag("DEMO", default=True)
        preflight.check_dependencies(settings.BASE_DIR / "requirements.txt")
        address = f"http://{_shown(host)}:{port}"
        with preflight.lock(settings.VAR_DIR, address):
            preflight.check_port(host, port)
            socket = self._redis_to_start()
            preflight.check_database()
            preflight.migrate()
            if demo:
                seed()
            told = _told(address) if demo else ""
            connections.close_all()
            stages = services(host, port, processes=processes, embedded=socket)
            supervisor = Supervisor(stages, _environ(host))
            return asyncio.run(supervisor.run(lambda: self._ready(address, told)))

    def _redis_to_start(self) -> Path | None:
        """The socket of the Redis to start; None where one answers already."""
        socket: Path = settings.REDIS_SOCKET
        if env.text("REDIS_URL"):
            preflight.check_redis(settings.REDIS_URL)
            return None
        if redis.answers(settings.REDIS_URL):
            self.stdout.write(f"A Redis answers at {socket} already; using that one.")
            return None
        return socket

    def _ready(self, address: str, told: str) -> None:
        self.stdout.write(f"\nbadcollect is ready at {address}\n{told}Ctrl-C stops everything.\n")
        self.stdout.flush()


def _told(address: str) -> str:
    """Where the demo is, and who can sign in with what."""
    names = ", ".join(name for name, _ in PEOPLE)
    word = f"Password: {password()}" if password_holds() else "Their passwords were changed since."
    return (
        f"  Chat:     {address}/studies/demo/\n  Research: {address}/console/\n  Accounts: {names}. {word}\n"
    )


def _shown(host: str) -> str:
    """The host as people type it."""
    names = preflight.names_of(host)
    if names:
        return names[0]
    return f"[{host}]" if ":" in host else host


def _environ(host: str) -> dict[str, str]:
    """What the processes get: ours, with the names this machine answers to, and bots on it allowed."""
    # The loopback names stay allowed: the health check asks for one, and the address that is told is one.
    hosts = [*settings.ALLOWED_HOSTS, "localhost", "127.0.0.1", "[::1]", *preflight.names_of(host)]
    return {
        "BADCOLLECT_ALLOW_INTERNAL_BOTS": "1",
        **os.environ,
        "ALLOWED_HOSTS": ",".join(dict.fromkeys(hosts)),
        "PYTHONUNBUFFERED": "1",
    }
