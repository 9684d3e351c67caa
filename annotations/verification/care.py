"""Looking after people who read what hurts: what they would rather not see, breaks, how much each has read."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from annotations.chats.models import Label
from annotations.domain.harms import ALL
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.people.services import set_preferences
from annotations.studies import breaks
from annotations.studies.models import Break, Study
from annotations.verification.models import Vote


@dataclass
class Exposure:
    """What one person has read in a study. Upsetting: what they themselves found not OK."""

    user: User
    judged: int = 0
    labelled: int = 0
    upsetting_votes: int = 0
    upsetting_labels: int = 0
    breaks: int = 0

    @property
    def upsetting(self) -> int:
        return self.upsetting_votes + self.upsetting_labels

    @property
    def read(self) -> int:
        """Messages judged or labelled."""
        return self.judged + self.labelled


def upsetting(*, user: User, study: Study, since: datetime) -> int:
    """How many messages of the study the person has found not OK since then, in chats and in verification."""
    return breaks.upsetting(user_id=user.pk, study_id=study.pk, since=since)


def due_break(*, user: User, study: Study) -> Break | None:
    """The break that is running for this person in this study: suggested, or to be taken (`binding`)."""
    return breaks.current(user_id=user.pk, study_id=study.pk)


def on_break(*, user: User, study: Study) -> Break | None:
    """The break that has to be taken now, if there is one."""
    running = due_break(user=user, study=study)
    return running if running and running.binding else None


def choose(*, user: User, avoid: int, veil: bool) -> None:
    """Keeps which kinds of harm the person does not want to be given (a sum of bits of harms.KINDS), and the veil.

    Raises Refused bad_choice.
    """
    if avoid & ~ALL or avoid < 0:
        raise Refused("bad_choice", "Choose among the kinds that are listed.", status=422)
    set_preferences(user=user, avoid=avoid, veil=veil)


def exposure(study: Study) -> list[Exposure]:
    """What each person of the study has read, those who read most that upsets first."""
    rows: dict[int, Exposure] = defaultdict(lambda: Exposure(User()))
    votes = Vote.objects.filter(item__study=study).order_by().values_list("verifier")
    for user, read, bad in votes.annotate(read=Count("pk"), bad=Count("pk", filter=Q(ok=False))):
        rows[user].judged, rows[user].upsetting_votes = read, bad
    labels = Label.objects.filter(utterance__dialogue__study=study).order_by()
    by_worker = labels.values_list("utterance__dialogue__worker")
    for user, read, bad in by_worker.annotate(read=Count("pk"), bad=Count("pk", filter=~Q(bin="0"))):
        rows[user].labelled, rows[user].upsetting_labels = read, bad
    taken = Break.objects.filter(study=study).order_by().values_list("user").annotate(taken=Count("pk"))
    for user, count in taken:
        rows[user].breaks = count
    for user, person in User.objects.in_bulk(rows).items():
        rows[user].user = person
    return sorted(rows.values(), key=lambda row: (-row.upsetting, row.user.username))
