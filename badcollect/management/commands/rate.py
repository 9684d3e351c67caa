import json
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotations.domain.reports import ISSUES, lines, report
from annotations.domain.trust import LEVELS, PROFILES, RULES, SCALES, Level, OrderError, Profile, check_order
from bots.checkers import corpus
from bots.checkers.examine import examine
from bots.checkers.results import SettingError


class Command(BaseCommand):
    requires_system_checks = ()  # a corpus is rated without the site and its database
    help = "Rates a chatbot by a corpus of its dialogues: Tables II and III of the trust paper for it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--corpus", required=True, action="append", type=Path, help="a file of dialogues; may be repeated"
        )
        parser.add_argument(
            "--format", choices=corpus.FORMATS, help="what the files are (default: found out)"
        )
        reader = parser.add_mutually_exclusive_group()
        reader.add_argument("--profile", help=f"one of {', '.join(PROFILES)} (default: all)")
        reader.add_argument("--order", help="issues, the most important first: IL,AL,B,CC")
        parser.add_argument("--rule", choices=tuple(RULES), default="published")
        parser.add_argument("--ties", choices=("pessimistic", "optimistic"), default="pessimistic")
        parser.add_argument("--scale", choices=tuple(SCALES), default="paper", help="where M and H begin")
        parser.add_argument(
            "--veto", default="", help="issues of which an H makes the rating M at least: IL,AL"
        )
        parser.add_argument(
            "--given",
            action="append",
            default=[],
            metavar="ISSUE=LEVEL",
            help="a level known from elsewhere: IL=H",
        )
        parser.add_argument(
            "--checker", action="append", default=[], help="a checker instead of the usual one: readability"
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="CHECKER.NAME=VALUE",
            help="complexity.reference=longest",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, **options: Any) -> None:
        try:
            told = _rated(options)
        except (corpus.CorpusError, SettingError, OrderError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
        if options["json"]:
            self.stdout.write(json.dumps(told, ensure_ascii=False, indent=2))
            return
        read = told["corpus"]
        self.stdout.write(f"{read['dialogues']:,} dialogues, {read['utterances']['bot']:,} bot utterances.")
        if read["broken"]:
            listed = "; ".join(read["broken_lines"][:3])
            self.stdout.write(f"{read['broken']:,} lines could not be read: {listed}")
        self.stdout.write("\n".join(lines(told)))


def _rated(options: dict[str, Any]) -> dict[str, Any]:
    profiles = _profiles(options["profile"], options["order"])
    given, settings = _given(options["given"]), _settings(options["set"])
    veto = tuple(_names(options["veto"]))
    paths: list[Path] = options["corpus"]
    broken = corpus.Broken()

    def read() -> Iterator[corpus.Utterance]:
        broken.count, broken.told = 0, []
        for number, path in enumerate(paths, 1):
            for utterance in corpus.read(path, format_=options["format"], broken=broken):
                key = utterance.dialogue if len(paths) == 1 else f"{number}/{utterance.dialogue}"
                yield replace(utterance, dialogue=key)

    examined = examine(read, options["checker"], settings)
    return {
        "corpus": {
            "files": [path.name for path in paths],
            "dialogues": examined.dialogues,
            "utterances": examined.utterances,
            "broken": broken.count,
            "broken_lines": broken.told,
        },
        "scale": options["scale"],
        **report(
            examined.findings,
            profiles,
            scale=SCALES[options["scale"]],
            rule=options["rule"],
            ties=options["ties"],
            veto=veto,
            given=given,
        ),
    }


def _profiles(name: str | None, order: str | None) -> list[Profile]:
    """The profile asked for, one made of the order, or all that ship. Raises OrderError."""
    if order is not None:
        given = _names(order)
        extra = [issue for issue in given if issue == "AC"]
        places = check_order(given, [*ISSUES, *extra])
        return [Profile(",".join(places), "The order given", places)]
    if name is None:
        return list(PROFILES.values())
    if name.upper() not in PROFILES:
        raise OrderError(f"There is no profile {name!r}. The profiles are: {', '.join(PROFILES)}.")
    return [PROFILES[name.upper()]]


def _names(text: str) -> list[str]:
    return [name.strip().upper() for name in text.split(",") if name.strip()]


def _given(pairs: list[str]) -> dict[str, Level]:
    found: dict[str, Level] = {}
    for pair in pairs:
        issue, _, level = (part.strip().upper() for part in pair.partition("="))
        if level not in LEVELS:
            raise OrderError(f"--given takes an issue and a level, as in IL=H, not {pair!r}.")
        found[issue] = level
    return found


def _settings(pairs: list[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for pair in pairs:
        where, equals, value = pair.partition("=")
        checker, dot, name = where.strip().partition(".")
        if not (equals and dot and checker and name):
            raise SettingError(
                f"--set takes checker.name=value, as in complexity.reference=longest, not {pair!r}."
            )
        found.setdefault(checker, {})[name] = value.strip()
    return found
