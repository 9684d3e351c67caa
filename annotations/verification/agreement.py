"""How far a study's verifiers agree with each other, and its workers with what was merged.

The database counts alike utterances together, so that the figures are worked out from some dozens of rows however
large the study is. The intervals need numpy: a page asks a job for them, or does with `resamples` 0.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count

from annotations.chats.models import Label, Utterance
from annotations.domain import agreement, crowds
from annotations.domain.agreement import Agreement, Patterns
from annotations.domain.merging import CATEGORIES, RULES, is_unsafe_from
from annotations.studies.models import Study
from annotations.verification.models import Merged
from annotations.verification.services import plan_of

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class ByVerifiers:
    """The verifiers among each other: on OK or not OK, of all, people's and bots' utterances; and on each category.

    Of a category: whether it was named, over all votes, those for OK included. `votes` counts all that count, with
    those of utterances that only one verifier has judged.
    """

    votes: int
    overall: Agreement
    speakers: dict[str, Agreement]
    categories: dict[str, Agreement]


@dataclass(frozen=True, slots=True)
class WorkerAgainstMerged:
    """The worker's bin, taken as OK or not OK, against the merged label of the same bot utterance, as two raters.

    The four counts say which was which, the worker's first. `counts_worker`: the rule counts the bin as a vote, so
    that the two agree more than they would by themselves. Utterances without a label are left out.
    """

    both_ok: int
    both_notok: int
    ok_notok: int
    notok_ok: int
    counts_worker: bool
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class _Row:
    """Utterances judged in the same way: how many, whose, with what votes."""

    speaker: str
    ok: int
    notok: int
    named: tuple[int, ...]
    utterances: int


def by_verifiers(study: Study, *, resamples: int = RESAMPLES, seed: int = 0) -> ByVerifiers:
    """The agreement of the study's verifiers, in one query. `resamples` 0: without intervals."""
    rows = _alike(study)

    def of(patterns: Iterable[tuple[tuple[int, ...], int]]) -> Agreement:
        summed: Counter[tuple[int, ...]] = Counter()
        for pattern, count in patterns:
            summed[pattern] += count
        return agreement.agreement(summed, resamples=resamples, seed=seed)

    return ByVerifiers(
        votes=sum((row.ok + row.notok) * row.utterances for row in rows),
        overall=of(((row.ok, row.notok), row.utterances) for row in rows),
        speakers={
            speaker: of(((row.ok, row.notok), row.utterances) for row in rows if row.speaker == speaker)
            for speaker in Utterance.Speaker.values
        },
        categories={
            category: of(
                ((row.ok + row.notok - row.named[place], row.named[place]), row.utterances) for row in rows
            )
            for place, category in enumerate(CATEGORIES)
        },
    )


def worker_against_merged(
    study: Study, *, rule: str, resamples: int = RESAMPLES, seed: int = 0
) -> WorkerAgainstMerged:
    """The agreement of the workers' bins with the labels under `rule`, in one query beside the plan."""
    unsafe_from = plan_of(study).unsafe_from
    # All in one filter: an exclude would look at the labels under other rules too.
    rows = Label.objects.filter(
        utterance__merged__study=study,
        utterance__merged__rule=rule,
        utterance__merged__label__in=[Merged.Label.OK, Merged.Label.NOTOK],
    )
    counts: Counter[tuple[bool, bool]] = Counter()
    grouped = rows.order_by().values_list("bin", "utterance__merged__label").annotate(Count("pk"))
    for bin_, label, count in grouped:
        counts[is_unsafe_from(bin_, unsafe_from), label == Merged.Label.NOTOK] += count
    split = counts[False, True] + counts[True, False]
    patterns: Patterns = {(2, 0): counts[False, False], (1, 1): split, (0, 2): counts[True, True]}
    return WorkerAgainstMerged(
        both_ok=counts[False, False],
        both_notok=counts[True, True],
        ok_notok=counts[False, True],
        notok_ok=counts[True, False],
        counts_worker=rule in crowds.MODELS or (rule in RULES and RULES[rule].worker),
        agreement=agreement.agreement(patterns, resamples=resamples, seed=seed),
    )


def _alike(study: Study) -> list[_Row]:
    """The study's utterances with counted votes, alike ones together: counts of counts, which the ORM has not."""
    counted = "COUNT(*) FILTER (WHERE v.{0}) AS n_{0}"
    columns = [f"n_{name}" for name in ("ok", "notok", *CATEGORIES)]
    query = f"""
        SELECT u.speaker, {", ".join(columns)}, COUNT(*)
        FROM (
            SELECT i.utterance_id, COUNT(*) FILTER (WHERE v.ok) AS n_ok,
                COUNT(*) FILTER (WHERE NOT v.ok) AS n_notok,
                {", ".join(counted.format(name) for name in CATEGORIES)}
            FROM annotations_item i JOIN annotations_vote v ON v.item_id = i.id
            WHERE i.study_id = %s AND i.kind = 'utterance' AND v.set_aside_at IS NULL
            GROUP BY i.utterance_id
        ) votes
        JOIN annotations_utterance u ON u.id = votes.utterance_id
        GROUP BY u.speaker, {", ".join(columns)}
        ORDER BY u.speaker, {", ".join(columns)}
    """  # noqa: S608 names of our own columns
    with connection.cursor() as cursor:
        cursor.execute(query, [study.pk])
        return [
            _Row(speaker, ok, notok, tuple(named), utterances)
            for speaker, ok, notok, *named, utterances in cursor.fetchall()
        ]
