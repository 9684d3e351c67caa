"""The verbs of a researcher: a study's life and settings, its links, its workers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Protocol

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotations.chats import services as chats
from annotations.chats.models import Dialogue
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies import services as studies
from annotations.studies.audit import record
from annotations.studies.models import ConsentText, Invitation, Study
from annotations.verification import batches


class Saves(Protocol):
    """Checked rows of a form that can be stored."""

    def save(self) -> object: ...


# -- a study -------------------------------------------------------------------------------------------------


@transaction.atomic
def save_study(
    *, study: Study, fields: Sequence[str], rows: Iterable[Saves], consent: Mapping[str, str]
) -> ConsentText:
    """Stores the named fields of a study, its rows of bots and instruction sets, and its consent text.

    Only the named fields, so that a study opened or closed meanwhile stays so. Gives the consent text now in
    force: a new version where the words differ. Raises Refused meanwhile, with nothing stored, where somebody
    else's change or a new chat stands against a row.
    """
    try:
        with transaction.atomic():
            study.save(update_fields=fields)
            for row in rows:
                row.save()
    except IntegrityError as error:
        detail = "Something here was used or changed by others meanwhile. Load the page again and repeat it."
        raise Refused("meanwhile", detail) from error
    return studies.revise_consent(study=study, **consent)


def open_study(*, study: Study) -> None:
    """Lets chats start, in a new study, a paused one or a closed one. Raises Refused no_bots, no_instructions."""
    with transaction.atomic():
        locked = _locked(study)
        if not locked.study_bots.filter(bot__enabled=True, chats_wanted__gt=0).exists():
            raise Refused(
                "no_bots",
                "Add a bot that is switched on and wanted for at least one chat, then open the study.",
            )
        if not locked.instruction_sets.filter(weight__gt=0).exists():
            raise Refused("no_instructions", "Give an instruction set a weight above 0, then open the study.")
        _set_state(locked, Study.State.OPEN)


def pause_study(*, study: Study) -> None:
    """Lets no new chat start; those under way go on. Raises Refused not_open."""
    with transaction.atomic():
        locked = _locked(study)
        if locked.state not in (Study.State.OPEN, Study.State.PAUSED):
            raise Refused("not_open", "This study is not open, so it cannot be paused.")
        _set_state(locked, Study.State.PAUSED)


def close_study(*, study: Study) -> int:
    """Ends a study and every chat under way in it. How many chats. Raises Refused not_open.

    The chats are ended one by one after the study is closed: none can start meanwhile, and closing once more
    ends whatever an interruption left open.
    """
    with transaction.atomic():
        locked = _locked(study)
        if locked.state == Study.State.DRAFT:
            raise Refused("not_open", "This study has not been opened yet, so it cannot be closed.")
        _set_state(locked, Study.State.CLOSED)
    return chats.close_all(reason=Dialogue.End.CLOSED, study=study)


def _locked(study: Study) -> Study:
    return Study.objects.select_for_update(no_key=True).get(pk=study.pk)


def _set_state(study: Study, state: str) -> None:
    if study.state == state:
        return
    study.state = state
    study.closed_at = timezone.now() if state == Study.State.CLOSED else None
    study.save(update_fields=["state", "closed_at"])


# -- its links -----------------------------------------------------------------------------------------------


def invite(*, study: Study, role: str, uses: int | None, days: int | None) -> Invitation:
    """A link that lets people join, usable so often and for so long; None: without end."""
    expires_at = timezone.now() + timedelta(days=days) if days else None
    return studies.invite(study=study, role=role, uses=uses, expires_at=expires_at)


def take_back(*, study: Study, invitation_id: int) -> None:
    """Ends a link of the study. Who has joined by it stays. Twice is once."""
    study.invitations.filter(pk=invitation_id).delete()


# -- its workers ---------------------------------------------------------------------------------------------


def worker_of(*, study: Study, worker_id: int) -> User:
    """A worker or verifier of the study. Raises Refused no_such_worker."""
    people = User.objects.filter(memberships__study=study, memberships__role__in=["worker", "verifier"])
    worker = people.filter(pk=worker_id).first()
    if worker is None:
        raise Refused("no_such_worker", "There is no such worker in this study.", status=404)
    return worker


def block(*, study: Study, worker_id: int, by: User, reason: str) -> int:
    """Blocks a worker or verifier of the study, in every study: ends their open chats, gives their items to others.

    How many chats. The person is shown the reason. Raises Refused no_such_worker, yourself, no_reason.
    """
    worker = worker_of(study=study, worker_id=worker_id)
    if worker == by:
        raise Refused("yourself", "This is your own account. Ask another researcher to block it.")
    if not reason.strip():
        raise Refused("no_reason", "Enter the reason. The worker is shown it.", status=422)
    worker.blocked_at, worker.blocked_reason, worker.blocked_by = timezone.now(), reason.strip()[:500], by
    worker.save(update_fields=["blocked_at", "blocked_reason", "blocked_by"])
    record(action="person_blocked", study=study, actor=by, about=worker, reason=worker.blocked_reason)
    batches.end_all(verifier=worker)
    return chats.close_all(reason=Dialogue.End.BLOCKED, worker=worker)


def lift_block(*, study: Study, worker_id: int, by: User) -> User:
    """Lets a blocked person take part again. Twice is once. Raises Refused no_such_worker."""
    worker = worker_of(study=study, worker_id=worker_id)
    if worker.blocked_at:
        record(action="block_lifted", study=study, actor=by, about=worker, reason=worker.blocked_reason)
    worker.blocked_at, worker.blocked_reason, worker.blocked_by = None, "", None
    worker.save(update_fields=["blocked_at", "blocked_reason", "blocked_by"])
    return worker
