"""Reads of chats that are more than one lookup."""

from django.db.models import Q

from annotations.chats.models import Dialogue
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.services import studies_of


def readable_chat(*, user: User, dialogue_id: int) -> tuple[Dialogue, bool]:
    """A chat the person may read, and whether as its study's researcher. Raises Refused no_such_chat."""
    rows = Dialogue.objects.select_related("study", "bot", "worker", "instruction_set")
    researched = Q(study__in=studies_of(user, "researcher"))
    dialogue = rows.filter(Q(worker=user) | researched, pk=dialogue_id).first()
    if dialogue is None:
        raise Refused("no_such_chat", "This chat is not here, or it is not yours.", status=404)
    return dialogue, dialogue.worker_id != user.pk or studies_of(user, "researcher").filter(
        pk=dialogue.study_id
    ).exists()
