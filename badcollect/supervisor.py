"""Keeps the processes of one installation running, and stops them all together."""

import asyncio
import ctypes
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

START_S = 60.0
"""Seconds after which a process that does not answer has failed."""
STOP_S = 8.0
"""Seconds a process has to end by itself: enough to finish a request, and to wait for at a keyboard."""
DEATHS = 5
WITHIN_S = 60.0
"""So many deaths within so many seconds, and it is given up."""
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Service:
    """One process: its name, what starts it, and whether it does its work (asked again until it says so)."""

    name: str
    command: Sequence[str]
    healthy: Callable[[], Awaitable[bool]]


def say(name: str, line: str) -> None:
    """One line of the common log. A reader that has gone away ends nothing."""
    with suppress(OSError):
        sys.stdout.write(f"{name:<5} | {line}\n")
        sys.stdout.flush()


class Child:
    """A service's process, started again whenever it ends."""

    def __init__(self, service: Service, environ: Mapping[str, str]) -> None:
        self.service = service
        self._environ = environ
        self._process: Process | None = None
        self._stopping = asyncio.Event()

    async def keep(self) -> str:
        """Runs until `stop`, or until the process has ended too often; then says so. Else returns ''."""
        name = self.service.name
        deaths: list[float] = []
        while not self._stopping.is_set():
            self._process = await self._start()
            if self._stopping.is_set():  # asked for while it was being started
                self.kill()
            code = await self._pass_on(self._process)
            if self._stopping.is_set():
                break
            now = time.monotonic()
            deaths = [*(then for then in deaths if now - then < WITHIN_S), now]
            if len(deaths) == DEATHS:
                last = _how(code)
                return (
                    f"{name} ended {DEATHS} times within a minute, last with {last}. Its lines above say why."
                )
            delay = 0.5 * 2 ** (len(deaths) - 1)
            say(name, f"-- ended with {_how(code)}; starting it again in {delay:g} s --")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), delay)
        return ""

    async def stop(self) -> None:
        """Asks the process to end, and ends it where it does not."""
        self._stopping.set()
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(_ended(process), STOP_S)
        except TimeoutError:
            say(self.service.name, f"-- did not end within {STOP_S:g} s; killed --")
            self.kill()
            await _ended(process)

    def kill(self) -> None:
        """Ends the process, and whatever it has started, at once."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _start(self) -> Process:
        # A session of its own: the terminal's Ctrl-C is for us, who stop things in their order.
        return await asyncio.create_subprocess_exec(
            *self.service.command,
            env=dict(self._environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            limit=2**20,
            start_new_session=True,
            preexec_fn=_die_with_parent if _libc else None,
        )

    async def _pass_on(self, process: Process) -> int:
        """Writes the process's lines to the common log until it has ended; gives its exit code."""
        lines = asyncio.create_task(self._read(process))
        code = await _ended(process)
        self.kill()  # what it has left behind in its group, which holds the pipe open
        with suppress(TimeoutError):
            await asyncio.wait_for(lines, 1)
        return code

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None  # noqa: S101 for the type checker: it is PIPE
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:
                line = b"(a line of over 1 MiB was left out)\n"
            if not line:
                return
            say(self.service.name, line.decode(errors="replace").rstrip())


class Supervisor:
    """Starts services in their order, keeps them up, and stops them in the opposite order of their stages."""

    def __init__(self, stages: Sequence[Sequence[Service]], environ: Mapping[str, str]) -> None:
        self._stages = [[Child(service, environ) for service in stage] for stage in stages]
        self._end: asyncio.Future[str] | None = None

    async def run(self, ready: Callable[[], None]) -> str:
        """Calls `ready` once every service is healthy. Returns '' when asked to stop, else why it gave up."""
        loop = asyncio.get_running_loop()
        self._end = loop.create_future()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._asked_to_stop)
        keepers: list[asyncio.Task[None]] = []
        starting = asyncio.create_task(self._start(keepers, ready))
        starting.add_done_callback(self._started)
        try:
            return await self._end
        finally:
            starting.cancel()
            for stage in reversed(self._stages):
                await asyncio.gather(*(child.stop() for child in stage))
            await asyncio.gather(*keepers)

    async def _start(self, keepers: list["asyncio.Task[None]"], ready: Callable[[], None]) -> None:
        for stage in self._stages:
            keepers += [asyncio.create_task(self._keep(child)) for child in stage]
            await asyncio.gather(*(self._until_healthy(child.service) for child in stage))
        ready()

    def _started(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()):
            self._finish(str(error))

    async def _keep(self, child: Child) -> None:
        try:
            reason = await child.keep()
        except OSError as error:
            reason = f"{child.service.name} cannot be started: {error}."
        if reason:
            self._finish(reason)

    async def _until_healthy(self, service: Service) -> None:
        began = time.monotonic()
        while not await service.healthy():
            if time.monotonic() - began > START_S:
                raise TimeoutError(
                    f"{service.name} did not answer within {START_S:g} s. Its lines above say why."
                )
            await asyncio.sleep(0.1)
        say(service.name, f"-- up after {time.monotonic() - began:.1f} s --")

    def _asked_to_stop(self) -> None:
        if self._end is not None and self._end.done():
            for child in (child for stage in self._stages for child in stage):
                child.kill()
            return
        say("up", "Stopping. Press Ctrl-C again to stop at once.")
        self._finish("")

    def _finish(self, reason: str) -> None:
        if self._end is not None and not self._end.done():
            self._end.set_result(reason)


async def _ended(process: Process) -> int:
    """Waits for the process itself: `process.wait` also waits for whatever else holds its output open."""
    while process.returncode is None:  # noqa: ASYNC110 there is no event for it
        await asyncio.sleep(0.05)
    return process.returncode


def _how(code: int) -> str:
    if code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"


def _load_libc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    return ctypes.CDLL(None)


_libc = _load_libc()


def _die_with_parent() -> None:
    """Between fork and exec: the kernel is to stop the child should we be killed. One call, loaded before."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
