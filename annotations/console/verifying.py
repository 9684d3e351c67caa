"""The verbs of a researcher about verification: its plan, known answers from a file."""

from typing import Any

from django.db import transaction

from annotations.console import goldfile
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.audit import record
from annotations.studies.models import Study
from annotations.verification import quality
from annotations.verification.models import Item, Plan
from annotations.verification.services import plan_of


@transaction.atomic
def save_plan(*, study: Study, actor: User, values: dict[str, Any]) -> dict[str, list[Any]]:
    """Stores the settings that differ and puts them on the audit trail. Those, each with its old and new value."""
    plan = Plan.objects.select_for_update().get(pk=plan_of(study).pk)
    changed = {
        name: [getattr(plan, name), value] for name, value in values.items() if getattr(plan, name) != value
    }
    for name, (_, value) in changed.items():
        setattr(plan, name, value)
    if changed:
        plan.save(update_fields=list(changed))
        record(action="plan_changed", study=study, actor=actor, changed=changed)
    return changed


def add_gold_file(*, study: Study, actor: User, kind: str, content: str) -> int:
    """Adds every message of the file, or none. How many are new. Raises BadFile with every problem by its line."""
    lines = goldfile.read(content)
    there = Item.objects.filter(study=study, kind=kind, retired_at=None)
    problems = []
    with transaction.atomic():
        before = there.count()
        for line in lines:
            try:
                quality.add_gold(
                    study=study,
                    actor=actor,
                    kind=kind,
                    text=line.text,
                    speaker=line.speaker,
                    context=line.context,
                    ok=line.ok,
                    categories=line.categories,
                    why=line.why,
                )
            except Refused as refusal:
                problems.append(f"Line {line.line}: {refusal.detail}")
        if problems:
            transaction.set_rollback(True)
            added = 0
        else:
            added = there.count() - before
    if problems:
        raise goldfile.BadFile(problems)
    return added
