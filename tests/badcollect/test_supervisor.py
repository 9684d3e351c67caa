"""The supervisor with small processes of every kind."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from badcollect import supervisor
from badcollect.supervisor import Service, Supervisor
from tests.stack import wait_for

pytestmark = pytest.mark.slow

STAYS = "print('here', flush=True); ready(); time.sleep(60)"
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN); ready(); time.sleep(60)"
ENDS = "ready(); raise SystemExit(3)"
WITH_CHILD = "print(subprocess.Popen(['sleep', '60']).pid, flush=True); ready(); time.sleep(60)"
BEFORE = "import signal, subprocess, sys, time; ready = lambda: open(sys.argv[1], 'w').close(); "


@pytest.fixture
def service(tmp_path):
    """Makes a service of a program; it is healthy once the program has called `ready`."""

    def make(name, program):
        file = tmp_path / name

        async def answers():
            return file.exists()

        return Service(name, [sys.executable, "-c", BEFORE + program, str(file)], answers)

    return make


def run(*stages, after=lambda: os.kill(os.getpid(), signal.SIGINT)):
    """Runs until ready, then does `after`. Gives the reason for the end and the seconds it took."""
    began = time.monotonic()
    reason = asyncio.run(Supervisor(stages, os.environ).run(after))
    return reason, time.monotonic() - began


def alive(pid):
    """Whether a process runs; one that has ended and waits to be collected does not."""
    file = Path(f"/proc/{pid}/stat")
    return file.exists() and file.read_text().rpartition(")")[2].split()[0] != "Z"


def test_ctrl_c_stops_all_with_their_lines_under_their_names(capsys, service):
    reason, seconds = run([service("one", STAYS)], [service("two", STAYS)])
    lines = capsys.readouterr().out.splitlines()
    assert (reason, seconds < 4) == ("", True)
    assert {line for line in lines if line.endswith("here")} == {"one   | here", "two   | here"}


def test_what_does_not_end_is_killed(capsys, monkeypatch, service):
    monkeypatch.setattr(supervisor, "STOP_S", 0.5)
    reason, seconds = run([service("one", STUBBORN)])
    assert (reason, seconds < 4) == ("", True)
    assert "one   | -- did not end within 0.5 s; killed --" in capsys.readouterr().out.splitlines()


def test_a_second_ctrl_c_stops_at_once(service):
    def twice():
        os.kill(os.getpid(), signal.SIGINT)
        asyncio.get_running_loop().call_later(0.3, os.kill, os.getpid(), signal.SIGINT)

    assert run([service("one", STUBBORN)], after=twice)[1] < 4


def test_what_ends_too_often_is_given_up(capsys, service):
    reason, _ = run([service("one", ENDS)], [service("two", STAYS)], after=lambda: None)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("one   | -- ended")]
    assert reason == "one ended 5 times within a minute, last with exit code 3. Its lines above say why."
    assert lines == [
        f"one   | -- ended with exit code 3; starting it again in {delay} s --"
        for delay in ("0.5", "1", "2", "4")
    ]


def test_what_never_answers_is_given_up(monkeypatch, service):
    monkeypatch.setattr(supervisor, "START_S", 0.5)
    assert (
        run([service("one", "time.sleep(60)")])[0]
        == "one did not answer within 0.5 s. Its lines above say why."
    )


def test_a_program_that_is_not_there_is_told():
    async def answers():
        return False

    reason, _ = run([Service("one", ["/no/such/program"], answers)])
    assert reason == "one cannot be started: [Errno 2] No such file or directory: '/no/such/program'."


def test_what_a_process_started_goes_with_it(capsys, service):
    run([service("one", WITH_CHILD)])
    pid = int(next(line for line in capsys.readouterr().out.splitlines() if line[8:].isdigit())[8:])
    wait_for(lambda: not alive(pid), seconds=5, what=f"the end of {pid}")
