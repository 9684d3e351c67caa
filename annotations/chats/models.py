from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Mod

from annotations.studies.models import InstructionSet, Study
from bots.models import Bot


class DialogueQuerySet(models.QuerySet["Dialogue"]):
    def counted(self) -> "DialogueQuerySet":
        """Chats that fill a place of their bot: under way, finished, or partial with enough in them."""
        return self.filter(state__in=["open", "complete", "partial"])

    def waiting(self) -> "DialogueQuerySet":
        """Chats whose last message waits for the bot's reply."""
        return self.filter(state="open", asked_at__isnull=False, stalled_at=None)


class Dialogue(models.Model):
    """A stored conversation of a worker with a bot."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        COMPLETE = "complete", "Complete"
        PARTIAL = "partial", "Partial"
        DROPPED = "dropped", "Too short to count"

    class End(models.TextChoices):
        NONE = "", "Not ended"
        COMPLETE = "complete", "Every message written and labelled"
        IDLE = "idle", "Nothing happened for too long"
        LEFT = "left", "The worker left and did not come back"
        BLOCKED = "blocked", "The worker was blocked"
        CLOSED = "study_closed", "The study was closed"
        IMPORTED = "imported", "Came in from a file"

    study = models.ForeignKey(Study, models.PROTECT, related_name="dialogues")
    worker = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="dialogues")
    bot = models.ForeignKey(Bot, models.PROTECT, related_name="dialogues")
    instruction_set = models.ForeignKey(InstructionSet, models.PROTECT, null=True, related_name="dialogues")
    instruction = models.TextField()
    persona: "models.JSONField[list[str], list[str]]" = models.JSONField(default=list)
    chats_before = models.PositiveIntegerField()
    wanted = models.PositiveSmallIntegerField()

    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    end_reason = models.CharField(max_length=12, choices=End.choices, blank=True, default=End.NONE)
    said = models.PositiveSmallIntegerField(default=0)
    labelled = models.PositiveSmallIntegerField(default=0)
    unsafe = models.PositiveSmallIntegerField(default=0)

    started_at = models.DateTimeField(auto_now_add=True)
    last_at = models.DateTimeField()
    left_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    comment = models.TextField(max_length=2000, blank=True)
    imported = models.BooleanField(default=False)
    split = models.CharField(
        max_length=5,
        choices=[("train", "train"), ("valid", "valid"), ("test", "test")],
        blank=True,
        help_text="Fixed by a published export, or by the file it was imported from.",
    )
    items_at = models.DateTimeField("opened for verification", null=True, blank=True)

    # the reply being waited for, if any
    asked_at = models.DateTimeField(null=True, blank=True)
    queued_at = models.DateTimeField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    stalled_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    objects = DialogueQuerySet.as_manager()

    class Meta:
        ordering = ["-started_at"]
        indexes = [
            models.Index(
                name="dialogue_waiting", fields=["bot", "asked_at"], condition=Q(asked_at__isnull=False)
            ),
            models.Index(
                name="dialogue_to_verify",
                fields=["ended_at"],
                condition=Q(items_at=None, state__in=["complete", "partial"]),
            ),
            models.Index(name="dialogue_study_bot", fields=["study", "bot", "state"]),
        ]
        constraints = [
            models.UniqueConstraint(
                name="dialogue_one_open_a_worker", fields=["study", "worker"], condition=Q(state="open")
            ),
            models.CheckConstraint(name="dialogue_said_fits", condition=Q(said__lte=F("wanted"))),
            models.CheckConstraint(name="dialogue_labels_fit", condition=Q(labelled__lte=F("said") / 2)),
            models.CheckConstraint(name="dialogue_unsafe_fits", condition=Q(unsafe__lte=F("labelled"))),
            models.CheckConstraint(
                name="dialogue_end_told",
                condition=Q(state="open", ended_at=None, end_reason="")
                | (~Q(state="open") & Q(ended_at__isnull=False) & ~Q(end_reason="")),
            ),
        ]

    def __str__(self) -> str:
        return f"Chat {self.pk}"

    def is_waiting(self) -> bool:
        """What DialogueQuerySet.waiting selects."""
        return self.state == self.State.OPEN and self.asked_at is not None and self.stalled_at is None


class Utterance(models.Model):
    """One message. Odd numbers are the worker's, even ones the bot's."""

    class Speaker(models.TextChoices):
        HUMAN = "human", "Human"
        BOT = "bot", "Bot"

    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="utterances")
    number = models.PositiveSmallIntegerField()
    speaker = models.CharField(max_length=5, choices=Speaker.choices)
    text = models.CharField(max_length=2000)
    at = models.DateTimeField()
    client_id = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 null keeps bot rows out of the unique rule
    engine = models.CharField(max_length=16, blank=True)
    settings: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    trace: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["dialogue", "number"]
        indexes = [models.Index(name="utterance_replies", fields=["at"], condition=Q(speaker="bot"))]
        constraints = [
            models.UniqueConstraint(name="utterance_number_once", fields=["dialogue", "number"]),
            models.UniqueConstraint(name="utterance_client_id_once", fields=["dialogue", "client_id"]),
            models.CheckConstraint(name="utterance_not_empty", condition=~Q(text="")),
            models.CheckConstraint(
                name="utterance_speaker_by_number",
                condition=Q(number__gte=1)
                & (
                    (Q(speaker="human") & ~Q(number=F("number") - Mod(F("number"), 2)))
                    | (Q(speaker="bot") & Q(number=F("number") - Mod(F("number"), 2)))
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number} of chat {self.dialogue_id}"


class Label(models.Model):
    """The worker's bin for a bot utterance: how many people would find it not OK."""

    class Bin(models.TextChoices):
        NOBODY = "0", "Nearly nobody"
        UNDER_10 = "<10", "Under 10%"
        UNDER_50 = "<50", "10–50%"
        MOST = ">=50", "More than half"

    utterance = models.OneToOneField(Utterance, models.PROTECT, primary_key=True, related_name="label")
    bin = models.CharField(max_length=4, choices=Bin.choices)
    at = models.DateTimeField()
    changes = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(name="label_bin_known", condition=Q(bin__in=["0", "<10", "<50", ">=50"]))
        ]

    def __str__(self) -> str:
        return self.bin


class ReplyFailure(models.Model):
    """A reply that did not come, kept for the researcher."""

    bot = models.ForeignKey(Bot, models.PROTECT, related_name="failures")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, null=True, related_name="failures")
    number = models.PositiveSmallIntegerField("utterance that was to be written")
    attempt = models.PositiveSmallIntegerField()
    error = models.CharField(max_length=500)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.error


class Trial(models.Model):
    """A message tried on a bot by a researcher, outside any study."""

    bot = models.ForeignKey(Bot, models.CASCADE, related_name="trials")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="trials")
    text = models.CharField(max_length=2000)
    reply = models.CharField(max_length=2000, blank=True)
    error = models.CharField(max_length=500, blank=True)
    seconds = models.FloatField(null=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.text[:40]
