"""Stored turns a second (say, reply, label) with Eliza, 100 chats at once, against a bare ASGI and psycopg floor."""

import argparse
import os
import subprocess
import sys

import database
import load


def floor(chats, at_once, workers):
    from tests.stack import ROOT, free_port, wait_for

    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "floor:application", "--app-dir", str(ROOT / "bench")]
    options = ["--port", str(port), "--log-level", "warning", "--workers", str(workers), "--no-access-log"]
    process = subprocess.Popen([*command, *options], env={**os.environ, "DATABASE_URL": database.URL})
    try:
        wait_for(lambda: _open(port), what="the floor")
        return load.run(f"http://127.0.0.1:{port}", chats, at_once=at_once)
    finally:
        process.terminate()
        process.wait()


def _open(port):
    import socket

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ours(chats, at_once, workers):
    from tests.stack import Stack

    with Stack(database.URL, web=workers, bots=0, beat=False) as stack:
        return load.run(stack.url, chats, at_once=at_once)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=600)
    parser.add_argument("--at-once", type=int, default=100)
    parser.add_argument("--web", type=int, default=3, help="web processes, ours and the floor's")
    options = parser.parse_args()
    database.make()
    print(f"turns: {options.chats} chats of 7 turns, {options.at_once} at once, {options.web} web processes")
    results = {}
    for name, path in (("floor", floor), ("badcollect", ours)):
        measured = path(database.chats(options.chats), options.at_once, options.web)
        results[name] = measured
        p50, p95 = measured.percentile(50), measured.percentile(95)
        print(f"{name:>12}: {measured.rate:7.1f} turns/s   say to reply p50 {p50:6.1f} ms  p95 {p95:6.1f} ms")
    print(
        f"{'ratio':>12}: {results['badcollect'].rate / results['floor'].rate:.2f} of the floor (aim 0.50, and 450 turns/s)"
    )


if __name__ == "__main__":
    main()
