"""Accounts for scripted workers and verifiers, made and let in by the same services as people's."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Count, Q

from annotations.models import Dialogue, Study, User
from annotations.people.services import make_token
from annotations.studies.services import consent, current_consent, join

PREFIX = "simulated-"
VERIFIERS = "verifying-"


@transaction.atomic
def hire(study: Study, chats: int, *, at_least: int) -> list[str]:
    """A token for each simulated worker needed: together they may do `chats` chats, and they are `at_least` many."""
    return list(_enough(study, chats, at_least))


def _enough(study: Study, chats: int, at_least: int) -> Iterator[str]:
    counted = Q(dialogues__study=study, dialogues__state__in=["open", "complete", "partial"])
    busy = Dialogue.objects.filter(study=study, state=Dialogue.State.OPEN).values("worker")
    known = User.objects.filter(username__startswith=PREFIX, blocked_at=None)
    free = known.annotate(done=Count("dialogues", filter=counted)).order_by("pk")
    room = people = 0
    for user in free.filter(done__lt=study.chats_per_worker).exclude(pk__in=busy):
        if room >= chats and people >= at_least:
            return
        room, people = room + study.chats_per_worker - user.done, people + 1
        yield _token(study, user, "worker")
    number = known.count()
    while room < chats or people < at_least:
        number += 1
        new, made = User.objects.get_or_create(username=f"{PREFIX}{number:04d}", defaults={"is_worker": True})
        if made:
            new.set_unusable_password()
            new.save(update_fields=["password"])
            room, people = room + study.chats_per_worker, people + 1
            yield _token(study, new, "worker")


@transaction.atomic
def hire_verifiers(study: Study, people: int) -> list[tuple[str, str]]:
    """Name and token of each of that many simulated verifiers."""
    return [_verifier(study, number) for number in range(1, people + 1)]


def _verifier(study: Study, number: int) -> tuple[str, str]:
    user, made = User.objects.get_or_create(
        username=f"{VERIFIERS}{number:03d}", defaults={"is_worker": False, "is_verifier": True}
    )
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user.username, _token(study, user, "verifier")


def _token(study: Study, user: User, role: str) -> str:
    join(study=study, user=user, role=role)
    consent(user=user, text=current_consent(study))
    user.tokens.filter(name="simulate").delete()
    return make_token(user=user, name="simulate")[1]
