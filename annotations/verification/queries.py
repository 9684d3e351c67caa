"""A study's verifiers in figures, for its researchers."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from statistics import mean

from django.db import connection
from django.db.models import Count, F, Q

from annotations.people.models import User
from annotations.studies.models import Study
from annotations.verification.models import Assignment, Attempt, Item, Standing, Vote
from annotations.verification.quality import ATTEMPTS


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
    failed_test: bool


def verifier_rows(study: Study, *, rule: str) -> list[VerifierRow]:
    """The study's verifiers by name, with their figures against the labels of `rule`. Seven queries, however many."""
    people = User.objects.filter(memberships__study=study, memberships__role="verifier")
    totals, gold, skipped = _totals(study, rule), _gold(study), _skipped(study)
    standings = {row.verifier_id: row for row in Standing.objects.filter(study=study)}
    failed = _failed(study)
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
                failed_test=user.pk in failed and not (standing and standing.passed_at),
            )
        )
    return rows


def _failed(study: Study) -> set[int]:
    """Who has used up both attempts at the test."""
    over = Attempt.objects.filter(study=study, passed=False).order_by().values_list("verifier")
    return {pk for pk, count in over.annotate(Count("pk")) if count >= ATTEMPTS}


@dataclass
class _Total:
    """A verifier's votes on utterances; `halves`: how many took so many half seconds."""

    votes: int = 0
    notok: int = 0
    set_aside: int = 0
    changed: int = 0
    same: int = 0
    compared: int = 0
    newest: int = 0
    last_at: datetime | None = None
    halves: dict[float, int] = field(default_factory=dict)

    def median_seconds(self) -> float | None:
        """Seconds of the middle vote, to a half; of the two middle ones their mean."""
        timed = sum(self.halves.values())
        middle, passed = [], 0
        for half, count in sorted(self.halves.items()):
            reached = passed + count
            middle += [half / 2 for place in {(timed - 1) // 2, timed // 2} if passed <= place < reached]
            passed = reached
        return mean(middle) if middle else None


def _totals(study: Study, rule: str) -> dict[int, _Total]:
    """Each verifier's votes, in one walk over the study's: counted by how long they took, and put together here.

    Written out, since the ORM would walk by way of the utterances' table, which costs as much again.
    """
    query = """
        SELECT v.verifier_id, FLOOR(v.seconds * 2.0 + 0.5) AS halves, MAX(v.id), COUNT(*),
            COUNT(*) FILTER (WHERE NOT v.ok), COUNT(v.set_aside_at), COUNT(*) FILTER (WHERE v.changes > 0),
            COUNT(*) FILTER (WHERE v.set_aside_at IS NULL AND m.label = CASE WHEN v.ok THEN 'ok' ELSE 'notok' END),
            COUNT(*) FILTER (WHERE v.set_aside_at IS NULL AND m.label IN ('ok', 'notok'))
        FROM annotations_vote v JOIN annotations_item i ON i.id = v.item_id
            LEFT JOIN annotations_merged m ON m.utterance_id = i.utterance_id AND m.rule = %s
        WHERE i.study_id = %s AND i.kind = 'utterance'
        GROUP BY v.verifier_id, halves
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [rule, study.pk])
        rows = cursor.fetchall()
    found: dict[int, _Total] = defaultdict(_Total)
    for verifier, halves, newest, *counts in rows:
        total = found[verifier]
        for name, count in zip(_COUNTED, counts, strict=True):
            setattr(total, name, getattr(total, name) + count)
        total.newest = max(total.newest, newest)
        if halves is not None:
            total.halves[halves] = counts[0]
    times = dict(
        Vote.objects.filter(pk__in=[total.newest for total in found.values()]).values_list("pk", "at")
    )
    for total in found.values():
        total.last_at = times.get(total.newest)
    return found


_COUNTED = ("votes", "notok", "set_aside", "changed", "same", "compared")


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
