"""Chats with a bot behind the http engine that takes 0.5 s: turns a second with 200 at once, added wait with 1,000."""

import argparse
import subprocess
import sys

import database
import load

DELAY_S = 0.5


def memory_mb(stack) -> float:
    """Resident memory of all processes of the stack, what they share counted once each (PSS)."""
    import psutil

    roots = [psutil.Process(process.pid) for process in stack.processes.values()]
    every = {child for root in roots for child in [root, *root.children(recursive=True)]}
    return sum(process.memory_full_info().pss for process in every) / 2**20


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument(
        "--thinkers", type=int, default=1000, help="people who think for 10 s; 0 to leave them out"
    )
    parser.add_argument("--web", type=int, default=2)
    parser.add_argument("--bots", type=int, default=1)
    options = parser.parse_args()
    database.make()
    from tests.stack import ROOT, Stack

    command = [sys.executable, "-m", "tests.bots.fake_server", "--port", "0", "--delay", str(DELAY_S)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    rest_url = server.stdout.readline().split()[2]
    config = {"style": "rest", "url": rest_url, "max_in_flight": 512}
    try:
        with Stack(database.URL, web=options.web, bots=options.bots) as stack:
            chats = database.chats(options.at_once, engine="http", config=config)
            warm = load.run(stack.url, chats[:4], at_once=4, turns=2)
            assert warm.turns == 8
            chats = database.chats(options.at_once, engine="http", config=config)
            measured = load.run(stack.url, chats, at_once=options.at_once)
            ideal = options.at_once / DELAY_S
            print(
                f"remote: {options.at_once} chats at once, a bot that takes {DELAY_S} s, {options.web} web, {options.bots} bots"
            )
            print(
                f"   {measured.rate:.0f} turns/s, {measured.rate / ideal:.2f} of the ideal {ideal:.0f} (aim 200 turns/s)"
            )
            print(
                f"   say to reply p50 {measured.percentile(50):.0f} ms, p95 {measured.percentile(95):.0f} ms"
            )
            print(f"   memory of all processes {memory_mb(stack):.0f} MB")
            if options.thinkers:
                chats = database.chats(options.thinkers, engine="http", config=config)
                measured = load.run(stack.url, chats, at_once=options.thinkers, turns=4, think_s=10)
                added = measured.percentile(95) - 1000 * DELAY_S
                print(f"   {options.thinkers} people who think for 10 s: {measured.rate:.0f} turns/s,")
                print(
                    f"   our part of the wait p50 {measured.percentile(50) - 1000 * DELAY_S:.0f} ms, p95 {added:.0f} ms (aim under 300)"
                )
                print(f"   memory of all processes {memory_mb(stack):.0f} MB")
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
