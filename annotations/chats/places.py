"""Where a worker stands in the studies."""

from dataclasses import dataclass

from django.db.models import Count

from annotations.chats.models import Dialogue
from annotations.chats.services import refuse_if_done
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies import breaks
from annotations.studies.models import Break, Study
from annotations.studies.services import studies_of


@dataclass(frozen=True)
class Place:
    """A worker's place in a study: the open chat, the chats done, what hinders the next one, in words.

    `pause`: the break that is suggested now, or has to be taken.
    """

    study: Study
    open: Dialogue | None
    done: int
    hindrance: str
    pause: Break | None = None

    @property
    def kept(self) -> str:
        return kept(self.open.said) if self.open else ""


def kept(said: int) -> str:
    """What has become of the messages of a chat that is left or ended early."""
    if not said:
        return "Nothing was written in it yet."
    return f"Your {in_words(said)} message{'s are' if said > 1 else ' is'} kept."


def in_words(number: int) -> str:
    """A number from 1 as it stands in a sentence: one to nine as words."""
    digits = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return digits[number - 1] if number <= len(digits) else str(number)


def places(worker: User, study: Study | None = None) -> list[Place]:
    """The worker's places, newest study first, or the one in `study`; in four queries however many."""
    studies = studies_of(worker, "worker")
    rows = Dialogue.objects.filter(worker=worker)
    if study:
        studies, rows = studies.filter(pk=study.pk), rows.filter(study=study)
    counts = rows.counted().order_by().values_list("study_id").annotate(Count("id"))
    counted = dict(counts)
    still_open = {dialogue.study_id: dialogue for dialogue in rows.filter(state=Dialogue.State.OPEN)}
    pauses = breaks.running(user_id=worker.pk)
    return [
        _place(item, still_open.get(item.pk), counted.get(item.pk, 0), pauses.get(item.pk))
        for item in studies
    ]


def _place(study: Study, dialogue: Dialogue | None, counted: int, pause: Break | None) -> Place:
    try:
        breaks.refuse_during(pause)
        refuse_if_done(study=study, counted=counted)
        hindrance = ""
    except Refused as refusal:
        hindrance = refusal.detail
    return Place(study, dialogue, counted - bool(dialogue), hindrance, pause)
