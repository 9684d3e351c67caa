"""Merged labels as rows: what a rule found, in the columns it is stored in."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from annotations.domain.merging import CATEGORIES, Outcome
from annotations.verification.models import Merged

MADE = (
    "version",
    "label",
    "tie",
    "ok_votes",
    "notok_votes",
    *CATEGORIES,
    "category_ties",
    "probability",
)
"""The columns that a merging makes; `at` is when they last changed."""


@lru_cache(maxsize=8192)
def columns(version: str, outcome: Outcome, probability: float | None = None) -> tuple[object, ...]:
    """The values of MADE for an outcome of a rule in this version."""
    return (
        version,
        outcome.label,
        outcome.tie,
        outcome.ok_votes,
        outcome.notok_votes,
        *(category in outcome.categories for category in CATEGORIES),
        ",".join(category for category in CATEGORIES if category in outcome.category_ties),
        probability,
    )


def row(*, study_id: int, utterance_id: int, rule: str, made: Sequence[object], now: datetime) -> Merged:
    """The merged label, unsaved, with these values of MADE."""
    label = Merged(study_id=study_id, utterance_id=utterance_id, rule=rule, at=now)
    for name, value in zip(MADE, made, strict=True):
        setattr(label, name, value)
    return label


def store(rows: Sequence[Merged]) -> None:
    """Writes the labels, over those of the same utterance and rule. The items they come from are locked."""
    Merged.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["utterance", "rule"], update_fields=[*MADE, "at"]
    )
