import asyncio
import json
import os
import sys
import time
from typing import Any

import aiohttp
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exports import services as exports
from annotations.models import Export, Plan, Study
from badcollect.simulation.people import hire, hire_verifiers
from badcollect.simulation.run import Tally, simulate
from badcollect.simulation.truth import manners
from badcollect.simulation.verifying import PATIENCE_S, Left, plant_gold, quality_report, verify, wait_merged
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
    help = (
        "Scripted workers chat and label in a study over the real socket, on a bad line; with --verifiers, "
        "scripted verifiers then judge every message; with --export, the dataset is made. What is planted can "
        "be found again: each message is OK or not by its words alone."
    )

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
        parser.add_argument("--verifiers", type=int, default=0, help="how many people verify what was said")
        parser.add_argument("--careless", type=float, default=0.2, help="share of them that guesses")
        parser.add_argument("--biased", type=float, default=0.1, help="share that nearly always says OK")
        parser.add_argument(
            "--slow", type=float, default=0.1, help="share that is slow and leaves in the middle"
        )
        parser.add_argument(
            "--gold", type=int, default=0, help="gold items to plant: one in five is then gold"
        )
        parser.add_argument("--export", default="", help="format of the dataset to make at the end")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, **options: Any) -> None:
        _refuse_bad(options)
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            slugs = ", ".join(Study.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"There is no study {options['study']!r}. There are: {slugs}.")
        self.last_shown = 0.0
        summary: dict[str, Any] = {}
        problems: list[str] = []
        if options["chats"]:
            if study.state != Study.State.OPEN:
                raise CommandError(f"The study is {study.state}. Open it first.")
            keys = hire(study, options["chats"], at_least=min(options["concurrency"], options["chats"]))
            tally = self._run(options, keys)
            summary |= tally.summary()
            problems += self._problems(tally)
        if options["verifiers"]:
            summary["verification"] = self._verify(study, options)
            if summary["verification"]["votes_missing"] or summary["verification"]["unmerged"]:
                problems.append(
                    "Not every message was judged and merged. Are there three verifiers left for it?"
                )
        if options["export"]:
            summary["export"] = self._export(study, options["export"])
        self._report(summary, as_json=options["json"])
        if problems:
            raise CommandError(" ".join(problems))

    def _verify(self, study: Study, options: dict[str, Any]) -> dict[str, Any]:
        if options["gold"]:
            plant_gold(study, options["gold"], options["seed"])
            Plan.objects.update_or_create(study=study, defaults={"gold_share": 0.2})
        hired = hire_verifiers(study, options["verifiers"])
        planted = manners(len(hired), **{name: options[name] for name in ("careless", "biased", "slow")})
        judged = asyncio.run(
            verify(
                url=options["url"].rstrip("/"),
                study=study,
                people=[(*who, manner) for who, manner in zip(hired, planted, strict=True)],
                line=Line(think_s=options["think"], repeat=options["drop"] / 2),
                seed=options["seed"],
                tick=self._tick_votes,
            )
        )
        wait_merged(study, PATIENCE_S)
        return quality_report(study, judged)

    def _tick_votes(self, now: Left) -> None:
        if time.monotonic() - self.last_shown < 5:
            return
        self.last_shown = time.monotonic()
        self.stderr.write(f"{now.votes:,} votes to come, {now.unmerged:,} messages to merge")

    def _export(self, study: Study, format_: str) -> dict[str, Any]:
        """Asks for the dataset as the console does, and waits for the worker that makes it."""
        export = exports.ask(study=study, actor=None, format_=format_)
        until = time.monotonic() + PATIENCE_S
        while export.state in (Export.State.WAITING, Export.State.RUNNING) and time.monotonic() < until:
            time.sleep(0.5)
            export.refresh_from_db()
        if export.state != Export.State.DONE:
            raise CommandError(f"The export is {export.state} after {PATIENCE_S:.0f} s. {export.problem}")
        return {"id": export.pk, "rows": export.manifest["rows"]}

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

    def _problems(self, tally: Tally) -> list[str]:
        for words in sorted(set(tally.trouble)):
            self.stderr.write(f"Not done: {words}")
        summary = tally.summary()
        bad = {key: summary[key] for key in ("lost", "doubled", "crossed") if summary[key]}
        if not bad and tally.chats == tally.wanted:
            return []
        told = ", ".join(f"{count} {key}" for key, count in bad.items()) or "nothing lost, doubled or crossed"
        return [f"{tally.chats} of {tally.wanted} chats were done; {told}."]

    def _report(self, summary: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(summary))
            return
        for key, value in summary.items():
            for name, figure in value.items() if isinstance(value, dict) else ((key, value),):
                self.stdout.write(f"{WORDS.get(name, name.replace('_', ' ')):>20}  {figure}")


def _refuse_bad(options: dict[str, Any]) -> None:
    if options["chats"] < (0 if options["verifiers"] else 1) or options["concurrency"] < 1:
        raise CommandError("--chats and --concurrency are whole numbers from 1.")
    shares = [options[name] for name in ("careless", "biased", "slow")]
    if min(shares) < 0 or sum(shares) > 1 or options["verifiers"] < 0 or options["gold"] < 0:
        raise CommandError("--careless, --biased and --slow are shares from 0 that come to at most 1.")
    if options["export"] and options["export"] not in Export.Format.values:
        raise CommandError(f"--export is one of {', '.join(Export.Format.values)}.")
    if options["think"] < 0 or not 0 <= options["drop"] <= 0.9:
        raise CommandError("--think is seconds from 0, --drop a share from 0 to 0.9.")
