"""The whole application as real processes over one database and one Redis, each of which can be killed."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

from badcollect import redis

ROOT = Path(__file__).resolve().parent.parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def database_url():
    """The address of the test database, for other processes."""
    from django.db import connection

    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    user, password, host = (quote(values[key], safe="") for key in ("USER", "PASSWORD", "HOST"))
    return f"postgres://{user}:{password}@{host}:{values['PORT'] or 5432}/{values['NAME']}"


def wait_for(condition, *, seconds=30.0, every=0.05, what="it"):
    until = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > until:
            raise TimeoutError(f"{what} did not come about within {seconds:.0f} s")
        time.sleep(every)
    return found


class Stack:
    """`with Stack(database_url) as stack:` gives web, bots, jobs and beat (and `long`) with a Redis of their own."""

    def __init__(self, database_url, *, web=1, bots=1, beat=True, long=False, **env):
        self.folder = Path(tempfile.mkdtemp(prefix="badcollect-stack-"))
        self.socket = self.folder / "redis.sock"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.counts = {"web": web, "bots": bots, "jobs": int(beat), "long": int(long), "beat": int(beat)}
        self.processes = {}
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "badcollect.settings",
            "DATABASE_URL": database_url,
            "REDIS_URL": f"unix://{self.socket}",
            "REDIS_PREFIX": "stack",
            "VAR_DIR": str(self.folder),
            "SECRET_KEY": "only for the processes of one test",
            "ALLOWED_HOSTS": "127.0.0.1,localhost",
            "BADCOLLECT_ALLOW_INTERNAL_BOTS": "1",
            "FRAMES_A_SECOND": "500",
            "LOG_LEVEL": "WARNING",
            **{key: str(value) for key, value in env.items()},
        }

    def command(self, name):
        celery = [sys.executable, "-m", "celery", "-A", "badcollect"]
        worker = [*celery, "worker", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
        return {
            "web": [
                *(sys.executable, "-m", "uvicorn", "badcollect.asgi:application", "--port", str(self.port)),
                *("--ws-max-size", "65536", "--no-access-log", "--log-level", "warning"),
                *("--workers", str(self.counts["web"])),
            ],
            "bots": [
                *worker,
                "-Q",
                "bots",
                "-P",
                "threads",
                "-c",
                "8",
                "-n",
                f"bots{len(self.processes)}@%h",
            ],
            "jobs": [*worker, "-Q", "jobs", "-c", "1", "-n", "jobs@%h"],
            "long": [*worker, "-Q", "long", "-c", "1", "-n", "long@%h"],
            "beat": [*celery, "beat", "--loglevel", "WARNING"],
        }[name]

    def start(self, name, *, number=0):
        if name == "redis":
            self.processes["redis"] = redis.start(self.socket)
            return
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name + str(number or "")] = subprocess.Popen(
                self.command(name), env=self.env, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )
        if name == "web":
            wait_for(self.healthy, what="the web process")

    def kill(self, name):
        """kill -9 of a process and all its children."""
        process = self.processes.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if name != "redis" else process.kill()
        process.wait()

    def healthy(self):
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def log(self):
        return "\n".join(file.read_text() for file in sorted(self.folder.glob("*.log")))

    def __enter__(self):
        self.start("redis")
        for name, count in self.counts.items():
            for number in range(1 if name == "web" else count):
                self.start(name, number=number)
        return self

    def __exit__(self, *_):
        for name in list(self.processes):
            self.kill(name)
