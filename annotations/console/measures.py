"""Counts behind the statistics: each page's in one or two statements, whatever the size of the study."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Exists, F, Max, OuterRef, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotations.console.queries import FINISHED
from annotations.domain import crowds, merging
from annotations.domain.figures import Cell
from annotations.studies.models import Study
from annotations.verification.models import CATEGORIES, Item, Merged, Plan, Vote

IMPORTED = "imported"
RULES = {
    **{name: rule.title for name, rule in merging.RULES.items()},
    **crowds.MODELS,
    IMPORTED: "Labels as they were imported",
}
"""Every rule that merged labels can be of, in the page's words."""
DAYS = 14
"""How many days of votes are drawn."""


def rules_of(study: Study) -> list[str]:
    """The rules under which the study has merged labels, in the order of `RULES`."""
    mine = Merged.objects.filter(study=OuterRef("pk"))
    there = {f"by_{rule}": Exists(mine.filter(rule=rule)) for rule in RULES}
    found = Study.objects.filter(pk=study.pk).annotate(**there).values_list(*there).get()
    return [rule for rule, is_there in zip(RULES, found, strict=True) if is_there]


def rules_merged(study: Study) -> dict[str, int]:
    """The rules under which the study has merged labels, in the order of `RULES`, each with how many."""
    found: dict[str, int] = dict(study.merged.order_by().values_list("rule").annotate(Count("pk")))
    return {rule: found[rule] for rule in RULES if rule in found}


def chosen_rule(plan: Plan, there: Sequence[str], asked: str) -> str:
    """The rule asked for; else the plan's, or what else there is where nothing is merged under that."""
    if asked in there:
        return asked
    return plan.rule if plan.rule in there or not there else there[0]


def cells(study: Study, rule: str) -> list[Cell]:
    """The study's merged labels under `rule`, counted by all that the figures are made from."""
    chat = "utterance__dialogue__"
    names = dict(study.dialogues.order_by().values_list("bot_id", "bot__name").distinct())
    sets: dict[int | None, str] = {None: "", **dict(study.instruction_sets.values_list("pk", "slug"))}
    rows = (
        study.merged.filter(rule=rule)
        .order_by()
        .values_list(
            f"{chat}split", f"{chat}bot_id", f"{chat}instruction_set_id", "utterance__number", "label"
        )
        .annotate(Count("pk"), **{f"in_{name}": Count("pk", filter=Q(**{name: True})) for name in CATEGORIES})
    )
    return [
        Cell(split, names[bot], sets[instructions], number, label, *counts)
        for split, bot, instructions, number, label, *counts in rows
    ]


def unsafe_messages(study: Study, rule: str) -> dict[int, int]:
    """How many dialogues have so many human messages that are not OK."""
    by_chat = (
        study.merged.filter(rule=rule, utterance__speaker="human")
        .order_by()
        .values_list("utterance__dialogue")
        .annotate(bad=Count("pk", filter=Q(label=Merged.Label.NOTOK)))
        .values_list("bad", flat=True)
    )
    found: dict[int, int] = {}
    for bad in by_chat:
        found[bad] = found.get(bad, 0) + 1
    return found


@dataclass(frozen=True)
class Progress:
    """How far a study is: chats, then their verification. `days`: votes of the last two weeks, today the last.

    `hours_left`: at the speed of the last day; None where nobody voted in it.
    """

    chats: int
    chats_wanted: int
    items: int
    finished: int
    votes: int
    wanted: int
    last_hour: int
    last_day: int
    days: list[tuple[str, int]]

    @property
    def waiting(self) -> int:
        return self.items - self.finished

    @property
    def missing(self) -> int:
        return self.wanted - self.votes

    @property
    def hours_left(self) -> float | None:
        if not self.missing:
            return 0.0
        return 24 * self.missing / self.last_day if self.last_day else None

    @property
    def time_left(self) -> str:
        """In words."""
        hours = self.hours_left
        if hours is None or not self.items:
            return "–"
        for length, unit in ((24 * 7, "week"), (24, "day"), (1, "hour")):
            if hours >= 2 * length:
                return f"{hours / length:.0f} {unit}s"
        return "under 2 hours" if hours else "done"


def progress(study: Study, now: datetime | None = None) -> Progress:
    """Where the study's verification stands at `now`."""
    now = timezone.localtime(now)
    items = Item.objects.filter(study=study, kind="utterance").aggregate(
        items=Count("pk"),
        finished=Count("pk", filter=Q(votes_in__gte=F("wanted"))),
        votes=Sum("votes_in", default=0),
        wanted=Sum("wanted", default=0),
    )
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS - 1)
    votes = Vote.objects.filter(item__study=study, item__kind="utterance", at__gte=since).order_by()
    rows = votes.values_list(TruncDate("at")).annotate(
        n=Count("pk"),
        last_day=Count("pk", filter=Q(at__gt=now - timedelta(days=1))),
        last_hour=Count("pk", filter=Q(at__gt=now - timedelta(hours=1))),
    )
    by_day = {day: counts for day, *counts in rows}
    days = [(now - timedelta(days=back)).date() for back in range(DAYS - 1, -1, -1)]
    return Progress(
        chats=study.dialogues.filter(state__in=FINISHED).count(),
        chats_wanted=study.study_bots.aggregate(n=Sum("chats_wanted", default=0))["n"],
        **items,
        last_day=sum(counts[1] for counts in by_day.values()),
        last_hour=sum(counts[2] for counts in by_day.values()),
        days=[(f"{day.day} {day:%b}", by_day.get(day, [0])[0]) for day in days],
    )


def stamp(study: Study, rule: str) -> list[str]:
    """Changes whenever merged labels or workers' labels do: what is worked out from them is then old."""
    merged = study.merged.filter(rule=rule).aggregate(Count("pk"), Max("at"))
    labels = study.dialogues.aggregate(Sum("labelled"), Sum("unsafe"), Max("last_at"))
    return [str(value) for row in (merged, labels) for value in row.values()]
