from typing import Any

from django.db import models
from django.db.models import Q


class Bot(models.Model):
    """Something that talks: an engine and its settings. Holds no chat and no secret."""

    class Engine(models.TextChoices):
        ELIZA = "eliza", "Eliza (Weizenbaum 1966)"
        TRAINS = "trains", "Train delay assistant"
        HOSPITALS = "hospitals", "Hospital finder"
        LOCAL = "local", "Model on this machine (transformers)"
        HTTP = "http", "Model behind a web address"
        IMPORTED = "imported", "Speaks only in imported dialogues"

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=100)
    engine = models.CharField(max_length=16, choices=Engine.choices)
    config: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict, blank=True)
    enabled = models.BooleanField(default=True)
    public = models.BooleanField(
        "answers at /bots/<slug>/reply",
        default=False,
        help_text="Anybody who has the address can talk to it. Only scripted bots can be switched on.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                name="bot_engine_known",
                condition=Q(engine__in=["eliza", "trains", "hospitals", "local", "http", "imported"]),
            )
        ]

    def __str__(self) -> str:
        return self.name
