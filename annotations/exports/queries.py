"""What of a study can be exported, what has been, and its rows for scripts."""

from django.db.models import QuerySet

from annotations.chats.models import Dialogue
from annotations.domain.splits import Candidate
from annotations.exports.models import Export, Import
from annotations.studies.models import Study
from annotations.verification.models import Merged, Plan

IMPORTED = "imported"
"""The rule of labels that came in with a file."""


def finished(study: Study, *, partial: bool) -> QuerySet[Dialogue]:
    """The study's chats that are over and count; without the partial ones if not `partial`."""
    return Dialogue.objects.filter(
        study=study, state__in=["complete", "partial"] if partial else ["complete"]
    )


def candidates(study: Study, *, partial: bool) -> list[Candidate]:
    """The chats that splits are drawn from, in the order they were stored."""
    rows = finished(study, partial=partial).order_by("pk").values_list("pk", "bot_id", "split")
    return [Candidate(*row) for row in rows]


def labelled_chats(study: Study, rule: str) -> set[int]:
    """Keys of the chats in which at least one utterance has a label under the rule."""
    rows = Merged.objects.filter(study=study, rule=rule).exclude(label="").order_by()
    return set(rows.values_list("utterance__dialogue_id", flat=True).distinct())


def versions(study: Study, rule: str) -> list[str]:
    """Which versions of the rule made the study's labels."""
    rows = Merged.objects.filter(study=study, rule=rule).order_by("version")
    return list(rows.values_list("version", flat=True).distinct())


def rules(study: Study) -> list[str]:
    """The rules under which the study has merged labels, that of its plan first."""
    found = set(Merged.objects.filter(study=study).order_by().values_list("rule", flat=True).distinct())
    planned = planned_rule(study)
    return sorted(found, key=lambda rule: (rule != planned, rule))


def planned_rule(study: Study) -> str:
    """The rule the study's plan names; the default where it has no plan yet."""
    rule: str = (Plan.objects.filter(study=study).first() or Plan()).rule
    return rule


def default_rule(study: Study) -> str:
    """The rule of an export that names none: that of the plan, if it has made labels; else one that has."""
    there = rules(study)
    return there[0] if there else planned_rule(study)


def exports_of(study: Study) -> QuerySet[Export]:
    """The study's exports, newest first."""
    return Export.objects.filter(study=study).select_related("asked_by")


def imports_of(study: Study) -> QuerySet[Import]:
    """The files read into the study, newest first."""
    return Import.objects.filter(study=study).select_related("asked_by")
