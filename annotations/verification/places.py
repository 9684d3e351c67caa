"""Where a verifier stands in the studies."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.models import Study
from annotations.studies.services import studies_of
from annotations.verification import batches, quality
from annotations.verification.models import Assignment, Batch, Plan, Standing
from annotations.verification.services import plan_of


@dataclass(frozen=True)
class Place:
    """A verifier's place in a study: whether messages wait for them, how far an open batch is."""

    study: Study
    paused: bool
    batch: Batch | None
    done: int
    total: int
    waiting: bool
    size: int


def waiting(verifier: User) -> Exists:
    """Whether a study, in a query over studies, has a message that could be given to this person now."""
    return Exists(batches.givable(OuterRef("pk"), verifier))


def places(verifier: User) -> list[Place]:
    """The verifier's places, newest study first; in five queries however many."""
    if not verifier.is_verifier:
        return []
    studies = list(studies_of(verifier, "verifier").annotate(waiting=waiting(verifier)))
    plans = Plan.objects.in_bulk([study.pk for study in studies])
    paused = set(
        Standing.objects.filter(verifier=verifier, paused_at__isnull=False).values_list("study", flat=True)
    )
    under_way = {row.study_id: row for row in Batch.objects.filter(verifier=verifier, closed_at=None)}
    held = Assignment.objects.filter(batch__in=under_way.values())
    states = Counter(held.values_list("batch", "state"))
    return [
        _place(
            study,
            plans.get(study.pk) or Plan(study=study),
            under_way.get(study.pk),
            states,
            paused=study.pk in paused,
        )
        for study in studies
    ]


def _place(
    study: Study, plan: Plan, batch: Batch | None, states: Counter[tuple[int, str]], *, paused: bool
) -> Place:
    total = done = 0
    if batch:
        total = sum(states[batch.pk, state] for state in Assignment.State.values)
        done = total - states[batch.pk, Assignment.State.HELD]
    return Place(
        study=study,
        paused=paused,
        batch=batch,
        done=done,
        total=total,
        waiting=plan.open and study.waiting,  # type: ignore[attr-defined]  # annotated above
        size=plan.batch_size,
    )


def hindrance(*, verifier: User, study: Study) -> Refused | None:
    """What would keep the person from taking a batch now. It takes none."""
    try:
        _refuse_if_hindered(verifier, study)
    except Refused as refusal:
        return refusal
    return None


def _refuse_if_hindered(verifier: User, study: Study) -> None:
    """Refuses what `batches.take` would, in its order."""
    plan = plan_of(study)
    quality.refuse_if_paused(study=study, verifier=verifier)
    batches.refuse_a_new_one(plan=plan, verifier=verifier)
    if not Study.objects.filter(waiting(verifier), pk=study.pk).exists():
        raise Refused("nothing_left", batches.NOTHING_LEFT)
