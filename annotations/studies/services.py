"""The verbs about studies: who is in, what they agreed to, how a study begins and ends."""

import secrets
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.people.services import sign_up
from annotations.studies import texts
from annotations.studies.models import Consent, ConsentText, InstructionSet, Invitation, Membership, Study

CONSENT_FIELDS = ("warning", "task", "data_use", "stopping")


def check_may_chat(*, study: Study | None, user: User) -> Study:
    """The study, if `user` may chat in it. Raises Refused no_such_study, blocked, not_a_member, consent_first.

    A study one is no member of looks like one that is not there, unless anybody may join it.
    """
    refuse_if_blocked(user)
    if study is None:
        raise Refused("no_such_study", "There is no such study, or you have no access to it.", status=404)
    if not study.memberships.filter(user=user, role="worker").exists():
        if study.open_signup and study.state == Study.State.OPEN:
            raise Refused("not_a_member", "Join the study first.", status=403)
        raise Refused("no_such_study", "There is no such study, or you have no access to it.", status=404)
    if not has_consented(study=study, user=user):
        raise Refused("consent_first", "Read and accept what the study asks of you first.", status=403)
    return study


def refuse_if_blocked(user: User) -> None:
    """Raises Refused blocked, with the researcher's reason."""
    if user.blocked_at:
        raise Refused("blocked", f"You cannot take part any more. Reason: {user.blocked_reason}", status=403)


@transaction.atomic
def create_study(*, owner: User | None, **values: Any) -> Study:
    """A new study with the two instruction sets and the consent text to start from."""
    study = Study.objects.create(**{"support": texts.SUPPORT, **values})
    InstructionSet.objects.bulk_create(
        InstructionSet(study=study, slug=slug, text=text) for slug, text in texts.INSTRUCTIONS.items()
    )
    ConsentText.objects.create(
        study=study,
        version=1,
        warning=texts.WARNING,
        task=texts.TASK,
        data_use=texts.DATA_USE,
        stopping=texts.STOPPING,
    )
    if owner:
        join(study=study, user=owner, role="researcher")
    return study


def current_consent(study: Study) -> ConsentText:
    """The newest version of what the study's people agree to."""
    return study.consent_texts.order_by("-version")[0]


@transaction.atomic
def revise_consent(*, study: Study, **words: str) -> ConsentText:
    """A new version where the words differ from the current one; everybody is asked again."""
    Study.objects.select_for_update().get(pk=study.pk)
    current = current_consent(study)
    if all(getattr(current, field) == words[field] for field in CONSENT_FIELDS):
        return current
    return ConsentText.objects.create(study=study, version=current.version + 1, **words)


def has_consented(*, study: Study, user: User) -> bool:
    """Whether the person agreed to the newest version."""
    newest = ConsentText.objects.filter(study=study).order_by("-version").values("pk")[:1]
    return Consent.objects.filter(user=user, text__in=newest).exists()


def consent(*, user: User, text: ConsentText) -> None:
    """Stores that `user` agrees to `text`, with the time. Twice is once. Raises Refused outdated."""
    if text != current_consent(text.study):
        raise Refused("outdated", "The text has changed since you opened it. Read it once more.")
    Consent.objects.get_or_create(user=user, text=text)


@transaction.atomic
def join(*, study: Study, user: User, role: str) -> None:
    """Gives a person a role, in the study and on the site. Twice is once."""
    Membership.objects.get_or_create(study=study, user=user, role=role)
    if not getattr(user, f"is_{role}"):
        setattr(user, f"is_{role}", True)
        user.save(update_fields=[f"is_{role}"])


def invite(*, study: Study, role: str, uses: int | None = None, expires_at: Any = None) -> Invitation:
    """A link that lets people join."""
    return Invitation.objects.create(
        study=study, code=secrets.token_urlsafe(16), role=role, uses_left=uses, expires_at=expires_at
    )


def usable_invitation(code: str) -> Invitation:
    """The invitation behind a link. Raises Refused with what is wrong with it."""
    found = Invitation.objects.select_related("study").filter(code=code).first()
    if found is None:
        raise Refused(
            "no_such_link", "This link is not complete or was taken back. Ask for a new one.", status=404
        )
    if found.expires_at and found.expires_at < timezone.now():
        raise Refused(
            "link_expired", "This link has run out. Ask the person who sent it for a new one.", status=410
        )
    if found.uses_left == 0:
        raise Refused(
            "link_used_up",
            "This link has been used up. Ask the person who sent it for a new one.",
            status=410,
        )
    if found.study.state == Study.State.CLOSED:
        raise Refused("study_closed", "This study has ended. Thank you for wanting to take part.", status=410)
    return found


@transaction.atomic
def accept_invitation(*, code: str, user: User) -> Study:
    """Joins the study behind a link, using up one of its uses unless the person is in already."""
    refuse_if_blocked(user)
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # one person's two clicks use it up once
    found = usable_invitation(code)
    if not found.study.memberships.filter(user=user, role=found.role).exists():
        free = Invitation.objects.filter(Q(uses_left=None) | Q(uses_left__gt=0), pk=found.pk)
        if not free.update(uses_left=F("uses_left") - 1):
            raise Refused("link_used_up", "This link has been used up. Ask for a new one.", status=410)
        join(study=found.study, user=user, role=found.role)
    return found.study


def join_openly(*, study: Study, user: User) -> None:
    """Joins, as a worker, a study that anybody may join. Raises Refused no_such_study, blocked."""
    refuse_if_blocked(user)
    refuse_unless_open_signup(study)
    join(study=study, user=user, role="worker")


def refuse_unless_open_signup(study: Study) -> None:
    """Raises Refused no_such_study where not everybody may join."""
    if not (study.open_signup and study.state == Study.State.OPEN):
        raise Refused("no_such_study", "There is no such study, or you need an invitation.", status=404)


@transaction.atomic
def sign_up_and_enter(*, enter: Callable[..., object], username: str, password: str) -> User:
    """A new account that is in a study by `enter`; no account where that refuses. Raises Refused."""
    user = sign_up(username=username, password=password)
    enter(user=user)
    return user


def studies_of(user: User, role: str) -> Any:
    """The studies in which `user` has `role`; for a superuser as researcher, all."""
    if role == "researcher" and user.is_superuser:
        return Study.objects.all()
    return Study.objects.filter(memberships__user=user, memberships__role=role)


def study_for_researcher(*, user: User, slug: str) -> Study:
    """A study the person runs. Raises Refused no_such_study, in the same words for one that is not there."""
    study: Study | None = studies_of(user, "researcher").filter(slug=slug).first()
    if study is None:
        raise Refused(
            "no_such_study",
            "You have no access to this study. Ask the person who sent you the link.",
            status=404,
        )
    return study
