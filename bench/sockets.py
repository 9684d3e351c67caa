"""Memory of the web process, empty and with 1,000 idle chats, and its start-up; the floor is a bare uvicorn."""

import argparse
import asyncio
import os
import subprocess
import sys
import time

import aiohttp
import database
import turns as turns_bench


def memory_mb(pid) -> float:
    import psutil

    root = psutil.Process(pid)
    return sum(process.memory_full_info().uss for process in [root, *root.children(recursive=True)]) / 2**20


async def hold(url, chats, measure):
    """Opens a socket for each chat, has it resume, lets them idle and measures."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:

        async def one(pk, key):
            socket = await http.ws_connect(f"{url}/ws/chats/{pk}", headers={"Authorization": f"Bearer {key}"})
            await socket.send_str('{"id":"r","do":"resume","after":0}')
            await socket.receive()
            return socket

        sockets = []
        for start in range(0, len(chats), 50):
            sockets += await asyncio.gather(*(one(*chat) for chat in chats[start : start + 50]))
        await asyncio.sleep(2)
        found = measure()
        await asyncio.gather(*(socket.close() for socket in sockets))
    return found


def floor():
    from tests.stack import ROOT, free_port, wait_for

    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "floor:application", "--app-dir", str(ROOT / "bench")]
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--port", str(port), "--log-level", "warning"],
        env={**os.environ, "DATABASE_URL": database.URL},
    )
    try:
        wait_for(lambda: turns_bench._open(port), every=0.01)
        return time.perf_counter() - started, memory_mb(process.pid)
    finally:
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=1000)
    options = parser.parse_args()
    database.make()
    from tests.stack import Stack

    bare_s, bare_mb = floor()
    stack = Stack(database.URL, web=1, bots=0, beat=False)
    stack.start("redis")
    started = time.perf_counter()
    stack.start("web")
    start_s = time.perf_counter() - started
    try:
        pid = stack.processes["web"].pid
        empty = memory_mb(pid)
        chats = database.chats(options.chats)
        full = asyncio.run(hold(stack.url, chats, lambda: memory_mb(pid)))
    finally:
        stack.__exit__()
    print(
        f"sockets: start-up {start_s:.1f} s (aim under 3), {start_s / bare_s:.1f} times a bare uvicorn's {bare_s:.1f} s"
    )
    print(
        f"   empty {empty:.0f} MB (aim under 150), {empty / bare_mb:.1f} times a bare uvicorn's {bare_mb:.0f} MB"
    )
    print(
        f"   with {options.chats} idle chats {full:.0f} MB (aim under 350), {1024 * (full - empty) / options.chats:.0f} KB a chat"
    )


if __name__ == "__main__":
    main()
