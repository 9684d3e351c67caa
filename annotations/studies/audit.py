"""The audit trail: who did what to whose work."""

from typing import Any

from annotations.people.models import User
from annotations.studies.models import AuditEntry, Study


def record(
    *,
    action: str,
    study: Study | None = None,
    actor: User | None = None,
    about: User | None = None,
    **detail: Any,
) -> None:
    """Adds an entry, in the caller's transaction. `actor` None: the system. `detail`: JSON values."""
    AuditEntry.objects.create(study=study, actor=actor, about=about, action=action, detail=detail)
