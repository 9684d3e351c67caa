from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Mod

from bots.models import Bot

ROLES = [
    ("worker", "Worker"),
    ("verifier", "Verifier"),
    ("researcher", "Researcher"),
    ("respondent", "Respondent"),
]


class Study(models.Model):
    """One round of collection."""

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60, unique=True)
    round = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=6, choices=State.choices, default=State.DRAFT)
    open_signup = models.BooleanField("anybody may join", default=False)

    utterances = models.PositiveSmallIntegerField("utterances a chat", default=14)
    min_utterances = models.PositiveSmallIntegerField("utterances for a partial chat to count", default=6)
    idle_minutes = models.PositiveSmallIntegerField("minutes before an idle chat is closed", default=30)
    chats_per_worker = models.PositiveIntegerField("chats a worker may do", default=10)
    veil = models.BooleanField("hide each message until it is asked for", default=False)
    personas: "models.JSONField[list[list[str]], list[list[str]]]" = models.JSONField(
        default=list, blank=True
    )

    support: "models.JSONField[list[list[str]], list[list[str]]]" = models.JSONField(
        "support links", default=list, blank=True
    )
    completion_code = models.CharField(max_length=64, blank=True)

    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    bots: "models.ManyToManyField[Bot, Any]" = models.ManyToManyField(Bot, through="StudyBot")

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                name="study_utterances_even_2_to_40",
                condition=Q(utterances__gte=2, utterances__lte=40)
                & Q(utterances=F("utterances") - Mod(F("utterances"), 2)),
            ),
            models.CheckConstraint(name="study_min_fits", condition=Q(min_utterances__lte=F("utterances"))),
            models.CheckConstraint(name="study_idle_minutes", condition=Q(idle_minutes__gte=1)),
            models.CheckConstraint(name="study_round_from_1", condition=Q(round__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.name}, round {self.round}"


class StudyBot(models.Model):
    """A bot in a study, with the number of chats wanted from it."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="study_bots")
    bot = models.ForeignKey(Bot, models.PROTECT, related_name="study_bots")
    chats_wanted = models.PositiveIntegerField(default=50)

    class Meta:
        constraints = [models.UniqueConstraint(name="study_bot_once", fields=["study", "bot"])]

    def __str__(self) -> str:
        return f"{self.bot} in {self.study}"


class InstructionSet(models.Model):
    """What a worker is told to do. Drawn for each chat by weight; a chat keeps the words it was shown."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="instruction_sets")
    slug = models.SlugField(max_length=40)
    text = models.TextField(max_length=2000)
    weight = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["slug"]
        constraints = [models.UniqueConstraint(name="instruction_slug_once", fields=["study", "slug"])]

    def __str__(self) -> str:
        return self.slug


class ConsentText(models.Model):
    """What people agree to before their first chat. Never edited: a change is a new version."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="consent_texts")
    version = models.PositiveIntegerField()
    warning = models.TextField(max_length=2000)
    task = models.TextField(max_length=2000)
    data_use = models.TextField(max_length=4000)
    stopping = models.TextField(max_length=2000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(name="consent_version_once", fields=["study", "version"])]

    def __str__(self) -> str:
        return f"Consent {self.version} of {self.study}"


class Consent(models.Model):
    """A person's agreement to one version of the text, and when."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="consents")
    text = models.ForeignKey(ConsentText, models.PROTECT, related_name="consents")
    given_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(name="consent_once", fields=["user", "text"])]

    def __str__(self) -> str:
        return f"{self.user} agreed to {self.text}"


class Membership(models.Model):
    """A person's place in a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=ROLES)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(name="membership_once", fields=["study", "user", "role"])]

    def __str__(self) -> str:
        return f"{self.user}, {self.role} in {self.study}"


class Invitation(models.Model):
    """A link that lets people join a study in one role."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="invitations")
    code = models.CharField(max_length=32, unique=True)
    role = models.CharField(max_length=10, choices=ROLES, default="worker")
    uses_left = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: as many as come.")
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.role} link of {self.study}"


class Break(models.Model):
    """A break suggested to a worker or verifier after a stretch of upsetting messages."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="breaks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="breaks")
    at = models.DateTimeField()
    until = models.DateTimeField()
    binding = models.BooleanField(default=False)
    upsetting = models.PositiveIntegerField("upsetting messages since the last one")

    class Meta:
        ordering = ["-at"]
        indexes = [models.Index(name="break_of_user", fields=["study", "user", "at"])]

    def __str__(self) -> str:
        return f"Break of {self.user}"


class AuditEntry(models.Model):
    """Something done to people's work that others may have to answer for. Never edited."""

    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="audit")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    about = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    action = models.CharField(max_length=40)
    detail: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "audit trail"

    def __str__(self) -> str:
        return self.action
