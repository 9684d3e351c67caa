"""How much of what hurts each person has read."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count, Q

from annotations.chats.models import Label
from annotations.people.models import User
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
