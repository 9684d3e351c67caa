import asyncio
import json
import os
import sys
import time
from typing import Any

import aiohttp
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.models import Study
from badcollect.simulation.people import hire
from badcollect.simulation.run import Tally, simulate
from badcollect.simulation.worker import Line, NoChatError

BAR = 30
WORDS = {
    "chats": "chats done",
    "turns": "turns",
    "turns_per_s": "turns a second",
    "ack_p50_ms": "ack, p50 ms",
    "ack_p95_ms": "ack, p95 ms",
    "reply_p50_ms": "reply, p50 ms",
    "reply_p95_ms": "reply, p95 ms",
    "lost": "lost",
    "doubled": "doubled",
    "crossed": "crossed",
}


class Command(BaseCommand):
    help = "Scripted workers chat and label in a study over the real socket, on a bad line."

    def add_arguments(self, parser: CommandParser) -> None:
        host, port = os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8000")
        parser.add_argument("--study", required=True, help="slug of the study")
        parser.add_argument("--chats", type=int, default=50)
        parser.add_argument("--concurrency", type=int, default=20, help="chats at the same time")
        parser.add_argument("--url", default=f"http://{host}:{port}", help="where the server is")
        parser.add_argument(
            "--think", type=float, default=0.3, help="mean seconds a worker thinks before each step"
        )
        parser.add_argument(
            "--drop", type=float, default=0.05, help="share of steps at which the line goes dead"
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, **options: Any) -> None:
        if options["chats"] < 1 or options["concurrency"] < 1:
            raise CommandError("--chats and --concurrency are whole numbers from 1.")
        if options["think"] < 0 or not 0 <= options["drop"] <= 0.9:
            raise CommandError("--think is seconds from 0, --drop a share from 0 to 0.9.")
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            slugs = ", ".join(Study.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"There is no study {options['study']!r}. There are: {slugs}.")
        if study.state != Study.State.OPEN:
            raise CommandError(f"The study is {study.state}. Open it first.")
        keys = hire(study, options["chats"], at_least=options["concurrency"])
        self.last_shown = 0.0
        tally = self._run(options, keys)
        self._report(tally, as_json=options["json"])

    def _run(self, options: dict[str, Any], keys: list[str]) -> Tally:
        line = Line(
            think_s=options["think"],
            drop=options["drop"],
            reload=options["drop"] / 2,
            repeat=options["drop"] / 2,
        )
        try:
            return asyncio.run(
                simulate(
                    url=options["url"].rstrip("/"),
                    slug=options["study"],
                    keys=keys,
                    chats=options["chats"],
                    concurrency=options["concurrency"],
                    line=line,
                    seed=options["seed"],
                    tick=self._tick,
                )
            )
        except* (aiohttp.ClientError, NoChatError) as group:
            raise CommandError(
                f"The server at {options['url']} cannot be used ({group.exceptions[0]}). "
                "Start it with `make run`, or give its address with --url."
            ) from None

    def _tick(self, tally: Tally) -> None:
        done, live = len(tally.found), sys.stderr.isatty()
        if not live and time.monotonic() - self.last_shown < 5 and done < tally.wanted:
            return
        self.last_shown = time.monotonic()
        filled = BAR * done // tally.wanted
        bar = f"[{'#' * filled}{'.' * (BAR - filled)}] {done} of {tally.wanted} chats, {tally.turns()} turns"
        self.stderr.write(("\r" if live else "") + bar, ending="" if live and done < tally.wanted else "\n")

    def _report(self, tally: Tally, *, as_json: bool) -> None:
        summary = tally.summary()
        if as_json:
            self.stdout.write(json.dumps(summary))
        else:
            for key, words in WORDS.items():
                self.stdout.write(f"{words:>16}  {summary[key]}")
        for words in sorted(set(tally.trouble)):
            self.stderr.write(f"Not done: {words}")
        bad = {key: summary[key] for key in ("lost", "doubled", "crossed") if summary[key]}
        if bad or tally.chats < tally.wanted:
            told = (
                ", ".join(f"{count} {key}" for key, count in bad.items())
                or "nothing lost, doubled or crossed"
            )
            raise CommandError(f"{tally.chats} of {tally.wanted} chats were done; {told}.")
