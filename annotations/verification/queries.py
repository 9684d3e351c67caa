"""A study's verifiers in figures, for its researchers."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from statistics import mean

from django.db.models import Count, F, FilteredRelation, Max, Q
from django.db.models.functions import Floor

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
    """The study's verifiers by name, with their figures against the labels of `rule`. Five queries, however many."""
    people = User.objects.filter(memberships__study=study, memberships__role="verifier")
    totals, gold, skipped = _totals(study, rule), _gold(study), _skipped(study)
    standings = {row.verifier_id: row for row in Standing.objects.filter(study=study)}
    rows = []
    for user in people.order_by("username"):
        total = totals.get(user.pk, _Total())
        right, of = gold.get(user.pk, (0, 0))
        standing = standings.get(user.pk)
        rows.append(
            VerifierRow(
                user=user,
                votes=total.votes,
                notok=total.notok,
                set_aside=total.set_aside,
                changed=total.changed,
                skipped=skipped.get(user.pk, 0),
                median_seconds=total.median_seconds(),
                gold_right=right,
                gold_of=of,
                agreement=total.same / total.compared if total.compared else None,
                compared=total.compared,
                last_at=total.last_at,
                paused_at=standing.paused_at if standing else None,
                paused_reason=standing.paused_reason if standing else "",
            )
        )
    return rows


@dataclass
class _Total:
    """A verifier's votes on utterances; `tenths`: how many took so many tenths of a second."""

    votes: int = 0
    notok: int = 0
    set_aside: int = 0
    changed: int = 0
    same: int = 0
    compared: int = 0
    last_at: datetime | None = None
    tenths: dict[float, int] = field(default_factory=dict)

    def median_seconds(self) -> float | None:
        """Seconds of the middle vote, to a tenth; of the two middle ones their mean."""
        timed = sum(self.tenths.values())
        middle, passed = [], 0
        for tenth, count in sorted(self.tenths.items()):
            reached = passed + count
            middle += [tenth / 10 for place in {(timed - 1) // 2, timed // 2} if passed <= place < reached]
            passed = reached
        return mean(middle) if middle else None


def _totals(study: Study, rule: str) -> dict[int, _Total]:
    """Each verifier's votes, in one walk over the study's: counted by how long they took, and put together here."""
    merged = "item__utterance__merged"
    same = Q(ok=True, by_rule__label="ok") | Q(ok=False, by_rule__label="notok")
    counts = Q(set_aside_at=None)
    rows = (
        Vote.objects.filter(item__study=study, item__kind=Item.Kind.UTTERANCE)
        .order_by()
        .annotate(by_rule=FilteredRelation(merged, condition=Q(**{f"{merged}__rule": rule})))
        .annotate(tenths=Floor(F("seconds") * 10.0 + 0.5))
        .values_list("verifier", "tenths")
        .annotate(
            n=Count("pk"),
            notok=Count("pk", filter=Q(ok=False)),
            set_aside=Count("set_aside_at"),
            changed=Count("pk", filter=Q(changes__gt=0)),
            same=Count("pk", filter=counts & same),
            compared=Count("pk", filter=counts & Q(by_rule__label__in=["ok", "notok"])),
            last_at=Max("at"),
        )
    )
    found: dict[int, _Total] = defaultdict(_Total)
    for verifier, tenths, votes, *others, last_at in rows:
        total = found[verifier]
        total.votes += votes
        for name, count in zip(("notok", "set_aside", "changed", "same", "compared"), others, strict=True):
            setattr(total, name, getattr(total, name) + count)
        total.last_at = max(total.last_at or last_at, last_at)
        if tenths is not None:
            total.tenths[tenths] = votes
    return found


def _gold(study: Study) -> dict[int, tuple[int, int]]:
    """For each verifier, how many gold items they got right, and of how many."""
    votes = Vote.objects.filter(
        item__study=study, item__kind=Item.Kind.GOLD, item__retired_at=None
    ).order_by()
    found = votes.values_list("verifier").annotate(
        right=Count("pk", filter=Q(ok=F("item__ok"))), of=Count("pk")
    )
    return {verifier: (right, of) for verifier, right, of in found}


def _skipped(study: Study) -> dict[int, int]:
    rows = Assignment.objects.filter(batch__study=study, state=Assignment.State.SKIPPED).order_by()
    return dict(rows.values_list("verifier").annotate(skipped=Count("pk")))
