"""Tables of verification: what is asked of whom, the votes, and the labels merged from them."""

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from annotations.chats.models import Utterance
from annotations.domain import merging
from annotations.studies.jobs import Job
from annotations.studies.models import Study

CATEGORIES = merging.CATEGORIES

_NO_CATEGORY = Q(hate=False, attack=False, profanity=False, other=False)


class Plan(models.Model):
    """How a study's utterances are verified and merged."""

    class Rule(models.TextChoices):
        MAJORITY_VERIFIERS = "majority_verifiers", "Majority of the verifiers"
        MAJORITY_ALL = "majority_all", "Majority, the worker's label counted as a vote"
        ANY = "any", "Not OK where anybody says so"
        UNANIMOUS = "unanimous", "Not OK where everybody says so"

    class UnsafeFrom(models.TextChoices):
        UNDER_10 = "<10", "Under 10% and up"
        UNDER_50 = "<50", "10–50% and up"
        MOST = ">=50", "More than half"

    class Tie(models.TextChoices):
        UNSAFE = "notok", "Not OK"
        SAFE = "ok", "OK"
        OPEN = "", "No label"

    study = models.OneToOneField(Study, models.CASCADE, primary_key=True, related_name="plan")
    open = models.BooleanField("verifiers can take items", default=True)
    votes_wanted = models.PositiveSmallIntegerField("annotators an utterance", default=3)
    batch_size = models.PositiveSmallIntegerField("items a batch", default=10)
    lease_minutes = models.PositiveSmallIntegerField("minutes a batch is kept for its verifier", default=20)
    seed = models.PositiveIntegerField(default=0)
    verify_imported = models.BooleanField("imported chats are verified too", default=False)

    rule = models.CharField(max_length=24, choices=Rule.choices, default=Rule.MAJORITY_VERIFIERS)
    unsafe_from = models.CharField(
        "lowest live bin that counts as not OK",
        max_length=4,
        choices=UnsafeFrom.choices,
        default=UnsafeFrom.UNDER_10,
    )
    tie = models.CharField(
        "label of a tie", max_length=5, choices=Tie.choices, default=Tie.UNSAFE, blank=True
    )

    test = models.BooleanField("a test comes before the first batch", default=False)
    pass_mark = models.FloatField(
        "share of the test to get right",
        default=0.75,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    gold_share = models.FloatField(
        "share of gold items in a batch",
        default=0.0,
        validators=[MinValueValidator(0), MaxValueValidator(0.5)],
    )
    floor = models.FloatField(
        "share of gold items to get right",
        default=0.6,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="A verifier under it is paused.",
    )
    floor_after = models.PositiveSmallIntegerField("gold items before the floor holds", default=5)

    soft_limit = models.PositiveSmallIntegerField(
        "upsetting messages before a break is suggested",
        default=15,
        help_text="Of one person in this study since the last break, in chats and verification. 0: never.",
    )
    break_minutes = models.PositiveSmallIntegerField("minutes of a break", default=10)
    break_binding = models.BooleanField("the break has to be taken", default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="plan_votes_1_to_9", condition=Q(votes_wanted__gte=1, votes_wanted__lte=9)
            ),
            models.CheckConstraint(
                name="plan_batch_1_to_50", condition=Q(batch_size__gte=1, batch_size__lte=50)
            ),
            models.CheckConstraint(name="plan_lease_from_1", condition=Q(lease_minutes__gte=1)),
            models.CheckConstraint(
                name="plan_shares",
                condition=Q(
                    pass_mark__gte=0,
                    pass_mark__lte=1,
                    gold_share__gte=0,
                    gold_share__lte=0.5,
                    floor__gte=0,
                    floor__lte=1,
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"Verification of {self.study}"


class Item(models.Model):
    """One utterance to be judged by `wanted` people; or a gold item or test question, whose answer is known.

    `free` is how many more people may be given it: wanted, less the leases and counted votes it has. The database
    keeps it from going below 0, which is what keeps an item from more votes than asked for.
    """

    class Kind(models.TextChoices):
        UTTERANCE = "utterance", "Utterance"
        GOLD = "gold", "Gold item"
        TEST = "test", "Test question"

    study = models.ForeignKey(Study, models.CASCADE, related_name="items")
    kind = models.CharField(max_length=9, choices=Kind.choices, default=Kind.UTTERANCE)
    utterance = models.ForeignKey(Utterance, models.PROTECT, null=True, blank=True, related_name="items")
    draw = models.PositiveIntegerField(
        help_text="Its place in the seeded order of the study, 0 to 2,147,483,647."
    )
    wanted = models.PositiveSmallIntegerField(default=0)
    free = models.PositiveSmallIntegerField(default=0)
    votes_in = models.PositiveSmallIntegerField("votes that count", default=0)
    harms = models.PositiveSmallIntegerField("kinds of harm its words point to", default=0)
    opened_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField("to be merged from then on", null=True, blank=True)

    # of gold items and test questions: what is shown, and the right answer with its reason
    context: "models.JSONField[list[dict[str, str]], list[dict[str, str]]]" = models.JSONField(
        default=list, blank=True
    )
    text = models.CharField(max_length=2000, blank=True)
    speaker = models.CharField(max_length=5, choices=Utterance.Speaker.choices, blank=True)
    ok = models.BooleanField(null=True, blank=True)
    hate = models.BooleanField(default=False)
    attack = models.BooleanField(default=False)
    profanity = models.BooleanField(default=False)
    other = models.BooleanField(default=False)
    why = models.CharField(max_length=1000, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(
                name="item_free", fields=["study", "draw"], condition=Q(free__gt=0, kind="utterance")
            ),
            models.Index(name="item_due", fields=["due_at"], condition=Q(due_at__isnull=False)),
            models.Index(name="item_known", fields=["study", "kind"], condition=~Q(kind="utterance")),
        ]
        constraints = [
            models.UniqueConstraint(
                name="item_once_an_utterance", fields=["utterance"], condition=Q(kind="utterance")
            ),
            models.CheckConstraint(
                name="item_never_too_many_votes",
                condition=Q(free__gte=0, votes_in__gte=0, votes_in__lte=F("wanted") - F("free"))
                | ~Q(kind="utterance"),
            ),
            models.CheckConstraint(
                name="item_known_answer",
                condition=Q(kind="utterance", utterance__isnull=False, ok=None)
                | (~Q(kind="utterance") & Q(ok__isnull=False, free=0) & ~Q(text="")),
            ),
        ]

    def __str__(self) -> str:
        return f"Item {self.pk}"


class Batch(models.Model):
    """Items given to one verifier at a time, for a while."""

    class End(models.TextChoices):
        NONE = "", "Under way"
        DONE = "done", "All judged"
        LEFT = "left", "Given back"
        EXPIRED = "expired", "Ran out"
        PAUSED = "paused", "The verifier was paused or blocked"

    study = models.ForeignKey(Study, models.CASCADE, related_name="batches")
    verifier = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="batches")
    opened_at = models.DateTimeField(auto_now_add=True)
    leased_until = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=7, choices=End.choices, blank=True, default=End.NONE)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "batches"
        indexes = [
            models.Index(name="batch_open", fields=["leased_until"], condition=Q(closed_at=None)),
        ]
        constraints = [
            models.UniqueConstraint(
                name="batch_one_open", fields=["study", "verifier"], condition=Q(closed_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"Batch {self.pk}"


class Assignment(models.Model):
    """An item given to a verifier. Once, unless it was given back untouched: then it may be given anew."""

    class State(models.TextChoices):
        HELD = "held", "Held"
        VOTED = "voted", "Voted"
        SKIPPED = "skipped", "Skipped"
        RETURNED = "returned", "Given back untouched"

    batch = models.ForeignKey(Batch, models.CASCADE, related_name="assignments")
    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    verifier = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="assignments")
    position = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.HELD)
    shown_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["batch", "position"]
        constraints = [
            models.UniqueConstraint(name="assignment_once", fields=["item", "verifier"]),
            models.UniqueConstraint(name="assignment_position_once", fields=["batch", "position"]),
        ]

    def __str__(self) -> str:
        return f"Item {self.item_id} with {self.verifier}"


class Vote(models.Model):
    """A verifier's judgement of one item. Kept for ever; one set aside no longer counts."""

    item = models.ForeignKey(Item, models.PROTECT, related_name="votes", db_index=False)
    verifier = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="votes")
    ok = models.BooleanField("OK")
    hate = models.BooleanField("hate speech", default=False)
    attack = models.BooleanField("personal attack", default=False)
    profanity = models.BooleanField(default=False)
    other = models.BooleanField("other offensive", default=False)
    note = models.CharField(max_length=500, blank=True)
    seconds = models.FloatField("seconds from shown to voted", null=True, blank=True)
    at = models.DateTimeField()
    changed_at = models.DateTimeField(null=True, blank=True)
    changes = models.PositiveSmallIntegerField(default=0)
    set_aside_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(name="vote_of_verifier", fields=["verifier", "at"])]
        constraints = [
            models.UniqueConstraint(name="vote_once", fields=["item", "verifier"]),
            models.CheckConstraint(
                name="vote_category_where_not_ok",
                condition=(Q(ok=True) & _NO_CATEGORY) | (Q(ok=False) & ~_NO_CATEGORY),
            ),
        ]

    def __str__(self) -> str:
        return f"Vote {self.pk}"


class Merged(models.Model):
    """The one label a rule makes of an utterance's label and votes. Derived: it can be made again.

    The keys to other tables stand first in an index below: an index more for each would cost a third of the time
    that labels take to be written.
    """

    class Label(models.TextChoices):
        OK = "ok", "OK"
        NOTOK = "notok", "Not OK"
        NONE = "", "No label"

    study = models.ForeignKey(Study, models.CASCADE, related_name="merged", db_index=False)
    utterance = models.ForeignKey(Utterance, models.PROTECT, related_name="merged", db_index=False)
    rule = models.CharField(max_length=24)
    version = models.CharField(max_length=120, help_text="Of the rule, with its settings.")
    label = models.CharField(max_length=5, choices=Label.choices, blank=True)
    tie = models.BooleanField(default=False)
    ok_votes = models.PositiveSmallIntegerField(default=0)
    notok_votes = models.PositiveSmallIntegerField(default=0)
    hate = models.BooleanField(default=False)
    attack = models.BooleanField(default=False)
    profanity = models.BooleanField(default=False)
    other = models.BooleanField(default=False)
    category_ties = models.CharField(max_length=40, blank=True, help_text="Categories half of them named.")
    probability = models.FloatField("of not OK, by a model of the verifiers", null=True, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        verbose_name = "merged label"
        indexes = [models.Index(name="merged_study_rule", fields=["study", "rule", "label"])]
        constraints = [models.UniqueConstraint(name="merged_once_a_rule", fields=["utterance", "rule"])]

    def __str__(self) -> str:
        return f"{self.label or 'no label'} by {self.rule}"


class Standing(models.Model):
    """A verifier in a study: paused or not, and why."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="standings")
    verifier = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="standings")
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_reason = models.CharField(max_length=500, blank=True)
    gold_from = models.DateTimeField(
        "gold items before this no longer count against the floor", null=True, blank=True
    )
    passed_at = models.DateTimeField("passed the test", null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="standing_once", fields=["study", "verifier"]),
            models.CheckConstraint(
                name="standing_pause_has_reason", condition=Q(paused_at=None) | ~Q(paused_reason="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verifier} in {self.study}"


class Attempt(models.Model):
    """A go at the onboarding test: two at most."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="attempts")
    verifier = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    answers: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict, blank=True)
    questions: "models.JSONField[list[int], list[int]]" = models.JSONField(default=list)
    right = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    passed = models.BooleanField(null=True, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(name="attempt_number_once", fields=["study", "verifier", "number"]),
            models.CheckConstraint(name="attempt_twice_at_most", condition=Q(number__gte=1, number__lte=2)),
        ]

    def __str__(self) -> str:
        return f"Attempt {self.number} of {self.verifier}"


class Merging(Job):
    """A study's merged labels made anew under one rule."""

    rule = models.CharField(max_length=24)

    class Meta(Job.Meta):
        verbose_name = "merging"
