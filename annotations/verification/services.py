"""How a study is verified: its plan, the items of its finished chats, and who may judge them."""

from random import Random

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotations.chats.models import Dialogue
from annotations.domain.harms import kinds_of
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.audit import record
from annotations.studies.models import Study
from annotations.studies.services import has_consented, refuse_if_blocked
from annotations.verification.models import Item, Plan

FINISHED = (Dialogue.State.COMPLETE, Dialogue.State.PARTIAL)


def plan_of(study: Study) -> Plan:
    """The study's plan; one with the usual settings where it has none yet."""
    return Plan.objects.get_or_create(study=study)[0]


def study_for_verifier(*, verifier: User, slug: str) -> Study:
    """The study, if the person verifies in it. Raises Refused blocked, no_such_study, consent_first.

    A study one does not verify in looks like one that is not there.
    """
    refuse_if_blocked(verifier)
    mine = Study.objects.filter(memberships__user=verifier, memberships__role="verifier")
    study: Study | None = mine.filter(slug=slug).first()
    if study is None:
        raise Refused("no_such_study", "There is no such study, or you have no access to it.", status=404)
    if not has_consented(study=study, user=verifier):
        raise Refused("consent_first", "Read and accept what the study asks of you first.", status=403)
    return study


# -- items ---------------------------------------------------------------------------------------------------


def _to_open() -> Q:
    """Finished chats whose utterances wait to become items; imported ones where the study wants them verified."""
    wanted = Q(imported=False) | Q(study__plan__verify_imported=True)
    return Q(items_at=None, state__in=FINISHED) & wanted


@transaction.atomic
def open_items(dialogue_id: int) -> int:
    """Makes an item of each utterance of a finished chat, human and bot. How many; 0 where it was done before.

    Safe to run at any time and any number of times: the chat's row is locked, and notes that it was done.
    """
    rows = Dialogue.objects.select_for_update(of=("self",), no_key=True).select_related("study")
    dialogue = rows.filter(_to_open(), pk=dialogue_id).first()
    if dialogue is None:
        return 0
    plan = plan_of(dialogue.study)
    items, harms = [], 0
    for utterance in dialogue.utterances.order_by("number"):
        harms |= kinds_of([utterance.text])  # what came before is shown with it
        items.append(
            Item(
                study_id=dialogue.study_id,
                utterance=utterance,
                draw=Random(f"{plan.seed}:{utterance.pk}").getrandbits(31),
                wanted=plan.votes_wanted,
                free=plan.votes_wanted,
                harms=harms,
            )
        )
    Item.objects.bulk_create(items)
    dialogue.items_at = timezone.now()
    dialogue.save(update_fields=["items_at"])
    return len(items)


def open_finished(limit: int = 200) -> int:
    """Opens the items of up to `limit` finished chats, the longest finished first. How many chats it came to."""
    waiting = Dialogue.objects.filter(_to_open()).order_by("ended_at")
    keys = list(waiting.values_list("pk", flat=True)[:limit])
    for pk in keys:
        open_items(pk)
    return len(keys)


@transaction.atomic
def send_to_verification(*, study: Study, actor: User) -> int:
    """Has the study's imported chats verified too, those that are imported later included. How many wait now.

    Their items are opened by the beat, 200 chats every few seconds.
    """
    plan = Plan.objects.select_for_update().get(pk=plan_of(study).pk)
    if not plan.verify_imported:
        plan.verify_imported = True
        plan.save(update_fields=["verify_imported"])
        record(action="imported_sent_to_verification", study=study, actor=actor)
    return Dialogue.objects.filter(_to_open(), study=study).count()
