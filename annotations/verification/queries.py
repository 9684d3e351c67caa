"""A study's verifiers in figures, for its researchers."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from statistics import mean
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from annotations.people.models import User
from annotations.studies.models import Study
from annotations.verification.models import Assignment, Item, Standing, Vote


@dataclass(frozen=True)
class VerifierRow:
    """A verifier in a study. `agreement`: of `compared` votes, the share that is as the merged label; None of none."""

    user: User
    votes: int
    notok: int
    set_aside: int
    changed: int
    skipped: int
    median_seconds: float | None
    gold_right: int
    gold_of: int
    agreement: float | None
    compared: int
    last_at: datetime | None
    paused_at: datetime | None
    paused_reason: str


def verifier_rows(study: Study, *, rule: str) -> list[VerifierRow]:
    """The study's verifiers by name, with their figures against the labels of `rule`. Six queries, however many."""
    people = User.objects.filter(memberships__study=study, memberships__role="verifier")
    votes = Vote.objects.filter(item__study=study).order_by()
    totals, medians, agreements = _totals(votes), _medians(votes), _agreements(votes, rule)
    skipped = _skipped(study)
    standings = {row.verifier_id: row for row in Standing.objects.filter(study=study)}
    rows = []
    for user in people.order_by("username"):
        total = totals.get(user.pk, {})
        same, compared = agreements.get(user.pk, (0, 0))
        standing = standings.get(user.pk)
        rows.append(
            VerifierRow(
                user=user,
                votes=total.get("votes", 0),
                notok=total.get("notok", 0),
                set_aside=total.get("set_aside", 0),
                changed=total.get("changed", 0),
                skipped=skipped.get(user.pk, 0),
                median_seconds=medians.get(user.pk),
                gold_right=total.get("gold_right", 0),
                gold_of=total.get("gold_of", 0),
                agreement=same / compared if compared else None,
                compared=compared,
                last_at=total.get("last_at"),
                paused_at=standing.paused_at if standing else None,
                paused_reason=standing.paused_reason if standing else "",
            )
        )
    return rows


def _totals(votes: QuerySet[Vote]) -> dict[int, dict[str, Any]]:
    counted = Q(item__kind=Item.Kind.UTTERANCE)
    gold = Q(item__kind=Item.Kind.GOLD, item__retired_at=None)
    found = votes.values("verifier").annotate(
        votes=Count("pk", filter=counted),
        notok=Count("pk", filter=counted & Q(ok=False)),
        set_aside=Count("pk", filter=Q(set_aside_at__isnull=False)),
        changed=Count("pk", filter=Q(changes__gt=0)),
        gold_of=Count("pk", filter=gold),
        gold_right=Count("pk", filter=gold & Q(ok=F("item__ok"))),
        last_at=Max("at"),
    )
    return {row["verifier"]: dict(row) for row in found}


def _medians(votes: QuerySet[Vote]) -> dict[int, float]:
    """Seconds of each verifier's middle vote; of the two middle ones their mean. Worked out by the database."""
    ranked = votes.filter(seconds__isnull=False).annotate(
        rank=Window(RowNumber(), partition_by="verifier", order_by="seconds"),
        among=Window(Count("pk"), partition_by="verifier"),
    )
    middle = ranked.annotate(twice=F("rank") * 2).filter(twice__gte=F("among"), twice__lte=F("among") + 2)
    seconds: dict[int, list[float]] = defaultdict(list)
    for verifier, value in middle.values_list("verifier", "seconds"):
        seconds[verifier].append(float(value or 0))
    return {verifier: mean(values) for verifier, values in seconds.items()}


def _agreements(votes: QuerySet[Vote], rule: str) -> dict[int, tuple[int, int]]:
    """For each verifier, how many of their votes are as the merged label, and of how many."""
    label = "item__utterance__merged__label"
    merged = votes.filter(
        **{"set_aside_at": None, "item__utterance__merged__rule": rule, f"{label}__in": ["ok", "notok"]}
    )
    same = Q(**{"ok": True, label: "ok"}) | Q(**{"ok": False, label: "notok"})
    found = merged.values("verifier").annotate(agreed=Count("pk", filter=same), compared=Count("pk"))
    return {row["verifier"]: (row["agreed"], row["compared"]) for row in found}


def _skipped(study: Study) -> dict[int, int]:
    rows = Assignment.objects.filter(batch__study=study, state=Assignment.State.SKIPPED).order_by()
    return dict(rows.values_list("verifier").annotate(skipped=Count("pk")))
