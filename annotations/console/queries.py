"""What the console's pages show of studies, chats and people."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, IntegerField, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotations.chats.models import Dialogue, Utterance
from annotations.domain.figures import Share
from annotations.domain.messages import signals
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.models import Study
from annotations.studies.services import studies_of

FINISHED = ("complete", "partial")
"""States of a chat that is over and counts."""


# -- studies -------------------------------------------------------------------------------------------------


def my_studies(user: User) -> QuerySet[Study]:
    """The studies the person runs, newest first, each with the chats `finished`, `under_way` and `wanted`."""
    chats = Dialogue.objects.filter(study=OuterRef("pk")).order_by().values("study")
    bots = Study.objects.filter(pk=OuterRef("pk")).order_by().values("pk")
    found: QuerySet[Study] = studies_of(user, "researcher")
    return found.annotate(
        finished=_number(chats.filter(state__in=FINISHED).values(n=Count("pk"))),
        under_way=_number(chats.filter(state="open").values(n=Count("pk"))),
        wanted=_number(bots.values(n=Sum("study_bots__chats_wanted"))),
    )


def _number(rows: QuerySet[Any, Any]) -> Coalesce:
    return Coalesce(Subquery(rows, output_field=IntegerField()), 0)


Key = tuple[str | None, str | None]
"""Short name and name of a bot or set; None where a chat has no set."""


@dataclass(frozen=True)
class Line:
    """One bot, one instruction set, or the whole study: its chats by state, and its replies not OK."""

    name: str
    key: str
    wanted: int
    open: int
    complete: int
    partial: int
    dropped: int
    share: Share

    @property
    def finished(self) -> int:
        return self.complete + self.partial


@dataclass(frozen=True)
class Figures:
    whole: Line
    bots: list[Line]
    instruction_sets: list[Line]


def figures(study: Study) -> Figures:
    """Where a study stands. Labels of dropped chats are left out of the shares, as those chats are."""
    wanted: dict[Key, int] = {
        (row.bot.slug, row.bot.name): row.chats_wanted
        for row in study.study_bots.select_related("bot").order_by("bot__name")
    }
    sets: dict[Key, int] = {(slug, slug): 0 for slug in study.instruction_sets.values_list("slug", flat=True)}
    bots = _lines(wanted, _tally(study, "bot__slug", "bot__name"))
    whole = _line(("", "All"), sum(wanted.values()), _sum(bots))
    return Figures(whole, bots, _lines(sets, _tally(study, "instruction_set__slug", "instruction_set__slug")))


def _tally(study: Study, slug: str, name: str) -> dict[Key, dict[str, int]]:
    counts = {state: Count("pk", filter=Q(state=state)) for state in Dialogue.State.values}
    kept = ~Q(state=Dialogue.State.DROPPED)
    rows = study.dialogues.order_by().values_list(slug, name)
    tallied = rows.annotate(hits=Sum("unsafe", filter=kept), total=Sum("labelled", filter=kept), **counts)
    names = ("hits", "total", *counts)
    return {
        (row[0], row[1]): {name: value or 0 for name, value in zip(names, row[2:], strict=True)}
        for row in tallied
    }


def _lines(wanted: Mapping[Key, int], tallies: Mapping[Key, Mapping[str, int]]) -> list[Line]:
    """A line for each key that is wanted, then for each that only has chats."""
    keys = [*wanted, *(key for key in tallies if key not in wanted)]
    return [_line(key, wanted.get(key, 0), tallies.get(key, {})) for key in keys]


def _line(key: Key, wanted: int, tally: Mapping[str, int]) -> Line:
    states = {state: tally.get(state, 0) for state in Dialogue.State.values}
    share = Share(tally.get("hits", 0), tally.get("total", 0))
    return Line(name=key[1] or "none", key=key[0] or "", wanted=wanted, share=share, **states)


def _sum(lines: Iterable[Line]) -> dict[str, int]:
    found = dict.fromkeys((*Dialogue.State.values, "hits", "total"), 0)
    for line in lines:
        for state in Dialogue.State.values:
            found[state] += getattr(line, state)
        found["hits"] += line.share.hits
        found["total"] += line.share.total
    return found


# -- chats ---------------------------------------------------------------------------------------------------


def chats_of(study: Study, wanted: Mapping[str, Any]) -> QuerySet[Dialogue]:
    """The chats of a study, newest first: of the state, bot, set and worker that `wanted` names."""
    fields = {"state": "state", "bot": "bot", "instructions": "instruction_set", "worker": "worker__username"}
    chosen = {fields[name]: value for name, value in wanted.items() if name in fields and value}
    return Dialogue.objects.filter(study=study, **chosen).order_by("-pk")


def with_signal(chats: QuerySet[Dialogue], signal: str) -> list[int]:
    """Of `chats`, newest first, the keys of those with a message that shows `signal` ("any": whichever).

    Signals are worked out from the words of every chat asked for: about two seconds for 100,000 messages,
    and nothing stored to go stale when a check is made better.
    """
    rows = Utterance.objects.filter(dialogue__in=chats.order_by(), speaker="human")
    found = []
    for key, messages in _by_chat(rows).items():
        shown = frozenset().union(*signals(messages))
        if shown if signal == "any" else signal in shown:
            found.append(key)
    return sorted(found, reverse=True)


def signals_of(keys: Iterable[int]) -> dict[int, dict[str, int]]:
    """By chat, how many of its messages show each signal."""
    rows = Utterance.objects.filter(dialogue__in=list(keys), speaker="human")
    return {key: _count(signals(messages)) for key, messages in _by_chat(rows).items()}


def _by_chat(rows: QuerySet[Utterance]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for key, text in rows.order_by("dialogue", "number").values_list("dialogue_id", "text").iterator(2000):
        found.setdefault(key, []).append(text)
    return found


def _count(shown: Iterable[frozenset[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for names in shown:
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    return counts


def chat_for_researcher(*, user: User, dialogue_id: int) -> Dialogue:
    """A chat of a study the person runs. Raises Refused no_such_chat."""
    rows = Dialogue.objects.select_related("study", "bot", "worker", "instruction_set")
    found = rows.filter(study__in=studies_of(user, "researcher"), pk=dialogue_id).first()
    if found is None:
        raise Refused(
            "no_such_chat", "This chat is not here, or it is of a study you have no access to.", status=404
        )
    return found


def neighbours(chats: QuerySet[Dialogue], dialogue: Dialogue, signal: str) -> tuple[int | None, int | None]:
    """The chats before and after `dialogue` in the list it was opened from, newest first."""
    if signal:
        keys = with_signal(chats, signal)
        newer, older = [k for k in keys if k > dialogue.pk], [k for k in keys if k < dialogue.pk]
        return (newer[-1] if newer else None), (older[0] if older else None)
    keys_of = chats.values_list("pk", flat=True)
    return (
        keys_of.filter(pk__gt=dialogue.pk).order_by("pk").first(),
        keys_of.filter(pk__lt=dialogue.pk).order_by("-pk").first(),
    )


def messages_with(study: Study, rule: str, wanted: Mapping[str, Any]) -> QuerySet[Utterance]:
    """The study's messages that hold the words `q`, by `speaker`, with the merged `label`; newest chats first."""
    rows = Utterance.objects.filter(dialogue__study=study).select_related("dialogue")
    if words := wanted.get("q"):
        rows = rows.filter(text__icontains=words)
    if speaker := wanted.get("speaker"):
        rows = rows.filter(speaker=speaker)
    if label := wanted.get("label"):
        rows = rows.filter(merged__rule=rule, merged__label=label)
    return rows.order_by("-dialogue_id", "number")


# -- people --------------------------------------------------------------------------------------------------


def workers_of(study: Study) -> QuerySet[User]:
    """The study's workers, the last seen first, with their `chats`, `labelled`, `unsafe` and `seen` in it."""
    here = Q(dialogues__study=study)
    found = User.objects.filter(memberships__study=study, memberships__role="worker").annotate(
        chats=Count("dialogues", filter=here),
        under_way=Count("dialogues", filter=here & Q(dialogues__state="open")),
        labelled=Coalesce(Sum("dialogues__labelled", filter=here), 0),
        unsafe=Coalesce(Sum("dialogues__unsafe", filter=here), 0),
        seen=Max("dialogues__last_at", filter=here),
    )
    return found.order_by(F("seen").desc(nulls_last=True), "pk")


def signals_by_worker(study: Study, workers: Iterable[User]) -> dict[int, dict[str, int]]:
    """By worker, how many of their messages in the study show each signal."""
    chats = dict(study.dialogues.filter(worker__in=list(workers)).values_list("pk", "worker_id"))
    rows = Utterance.objects.filter(
        dialogue__study=study, dialogue__worker__in=list(workers), speaker="human"
    )
    found: dict[int, dict[str, int]] = {}
    for key, messages in _by_chat(rows).items():
        mine = found.setdefault(chats[key], {})
        for name, count in _count(signals(messages)).items():
            mine[name] = mine.get(name, 0) + count
    return found
