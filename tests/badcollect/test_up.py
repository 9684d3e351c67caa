"""`manage.py up` as a person meets it: real processes, SQLite and the embedded Redis, in a folder of their own."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from tests.stack import free_port, wait_for

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent.parent
NOT_OURS = ("DATABASE_URL", "REDIS_URL", "REDIS_PREFIX", "ALLOWED_HOSTS", "FRAMES_A_SECOND", "HOST")


def environ(folder, port, **values):
    kept = {key: value for key, value in os.environ.items() if key not in NOT_OURS}
    ours = {"DJANGO_SETTINGS_MODULE": "badcollect.settings", "VAR_DIR": str(folder), "PORT": str(port)}
    return kept | ours | values


class Up:
    """A running `up`, with what it has printed so far."""

    def __init__(self, folder, port):
        self.port = port
        self.lines = []
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env=environ(folder, port),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def said(self, pattern):
        return [found for line in list(self.lines) if (found := re.fullmatch(pattern, line))]

    def until(self, pattern, *, times=1):
        wait_for(lambda: len(self.said(pattern)) >= times, seconds=60, what=f"{pattern!r} in {self.lines}")

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return answer.status, answer.headers.get_content_type()

    def child(self, name):
        """The id of the process that does the work of `name`."""
        words = {"bots": "-Q bots", "web": "uvicorn", "redis": "redis-server"}[name]
        listed = subprocess.run(
            ["ps", "-wwo", "pid=,args=", "--ppid", str(self.process.pid)],
            capture_output=True,
            text=True,
            check=True,
        )
        return next(int(line.split()[0]) for line in listed.stdout.splitlines() if words in line)

    def end(self, number=signal.SIGINT):
        """Sends the signal; gives the exit code and the seconds it took."""
        began = time.monotonic()
        with suppress(ProcessLookupError):
            self.process.send_signal(number)
        code = self.process.wait(timeout=30)
        took = time.monotonic() - began
        self._reader.join(timeout=10)
        self.process.stdout.close()
        return code, took


def living(folder):
    """The processes that have `folder` as their VAR_DIR."""
    mark = f"VAR_DIR={folder}".encode()
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in file.read_bytes().split(b"\0"):
                found.append(int(file.parent.name))
    return found


def refused(folder, port, **values):
    """What `up` says and exits with where it does not start."""
    done = subprocess.run(
        [sys.executable, "manage.py", "up"],
        cwd=ROOT,
        env=environ(folder, port, **values),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="badcollect-up-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@pytest.fixture
def up(folder):
    running = Up(folder, free_port())
    try:
        running.until(r"Ctrl-C stops everything\.")
        yield running
    finally:
        running.end(signal.SIGINT)
        for pid in living(folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_it_starts_serves_tells_who_can_sign_in_and_stops_on_ctrl_c(up, folder):
    password = (folder / "demo_password").read_text()
    address = f"http://127.0.0.1:{up.port}"

    pages = [
        up.get(path) for path in ("/health", "/login", "/static/css/app.css", "/static/admin/css/base.css")
    ]
    told = up.lines[up.lines.index(f"badcollect is ready at {address}") + 1 :][:4]
    code, took = up.end(signal.SIGINT)

    assert pages == [(200, "application/json"), (200, "text/html"), (200, "text/css"), (200, "text/css")]
    assert told == [
        f"  Chat:     {address}/studies/demo/",
        f"  Research: {address}/console/",
        f"  Accounts: worker, verifier, researcher, admin. Password: {password}",
        "Ctrl-C stops everything.",
    ]
    assert (code, took < 10, living(folder)) == (0, True, [])
    assert [line for line in up.lines if "Traceback" in line or "Error" in line] == []


def test_it_starts_again_what_dies(up):
    for name in ("redis", "bots", "web"):
        os.kill(up.child(name), signal.SIGKILL)
        up.until(rf"{name:<5} \| -- ended with SIGKILL; starting it again in 0\.5 s --")
    up.until(r"bots  \| .* ready\.", times=2)
    wait_for(lambda: _answers(up), what="the web server")
    assert up.get("/health") == (200, "application/json")


def _answers(up):
    with suppress(OSError):
        return up.get("/health")
    return None


def test_a_second_one_on_the_same_folder_is_refused_and_the_first_goes_on_until_sigterm(up, folder):
    code, out, err = refused(folder, free_port())
    assert (code, out) == (1, "")
    assert err == (
        f"badcollect already runs from {folder} (process {up.process.pid}, http://127.0.0.1:{up.port}). "
        "Stop that one first, or set VAR_DIR to another folder.\n"
    )
    assert up.get("/health") == (200, "application/json")
    assert (up.end(signal.SIGTERM)[0], living(folder)) == (0, [])


def test_its_processes_go_with_it_when_it_is_killed(up, folder):
    assert up.end(signal.SIGKILL)[0] == -signal.SIGKILL
    wait_for(lambda: living(folder) == [], seconds=15, what="the end of all processes")


def test_a_port_in_use_is_one_line(folder):
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"], stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: refused(folder, port)[2].startswith("Port"), every=0.5)
        assert refused(folder, port) == (
            1,
            "",
            f"Port {port} is in use. Stop what uses it, or take another one: PORT={port + 1} make run\n",
        )
    finally:
        server.kill()
        server.wait()


def test_a_dead_redis_is_one_line(folder):
    gone = free_port()
    assert refused(folder, free_port(), REDIS_URL=f"redis://127.0.0.1:{gone}") == (
        1,
        "",
        (
            f"No Redis answers at redis://127.0.0.1:{gone} (Error 111 connecting to 127.0.0.1:{gone}. Connection "
            "refused.). Start it, or correct REDIS_URL; without REDIS_URL, badcollect starts one of its own.\n"
        ),
    )


def test_a_dead_database_is_one_line(folder):
    code, out, err = refused(
        folder, free_port(), DATABASE_URL=f"postgres://me:secret@127.0.0.1:{free_port()}/x"
    )
    assert (code, out, err.count("\n"), "secret" in err) == (1, "", 1, False)
    assert err.startswith("The database does not answer (")
    assert err.endswith("Start PostgreSQL, or correct DATABASE_URL.\n")


def test_a_folder_that_cannot_be_written_is_one_line():
    assert refused(Path("/dev/null/var"), free_port()) == (
        1,
        "",
        (
            "/dev/null/var/secret_key cannot be used (Not a directory). Make /dev/null/var writable, "
            "or set VAR_DIR to a folder that is.\n"
        ),
    )


def test_a_package_that_is_not_installed_is_one_line(folder):
    hidden = folder / "hidden"
    hidden.mkdir()
    (hidden / "csp.py").write_text("raise ModuleNotFoundError(\"No module named 'csp'\", name='csp')\n")
    assert refused(folder, free_port(), PYTHONPATH=str(hidden)) == (
        1,
        "",
        "csp is not installed here. Run `make install`, then use .venv/bin/python manage.py.\n",
    )
