from django.contrib.auth.models import AbstractUser
from django.db import models

SCOPES = ("chat", "read", "export")
"""What a token may be used for: chats of one's own; reading a study's data; asking for exports of it."""


def all_scopes() -> list[str]:
    return list(SCOPES)


class User(AbstractUser):
    """A person. May hold several roles; `is_superuser` sees every study."""

    class Theme(models.TextChoices):
        SYSTEM = "", "As my device says"
        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    is_worker = models.BooleanField("worker", default=False)
    is_verifier = models.BooleanField("verifier", default=False)
    is_researcher = models.BooleanField("researcher", default=False)
    is_respondent = models.BooleanField("respondent", default=False)

    theme = models.CharField(max_length=5, choices=Theme.choices, blank=True, default=Theme.SYSTEM)
    single_keys = models.BooleanField("single keys work as shortcuts", default=True)
    veil = models.BooleanField("hide each message until I ask for it", default=False)

    avoid = models.PositiveSmallIntegerField("kinds of harm not to be shown", default=0)

    blocked_at = models.DateTimeField(null=True, blank=True)
    blocked_reason = models.CharField(max_length=500, blank=True)
    blocked_by = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                name="user_block_has_reason",
                condition=models.Q(blocked_at=None) | ~models.Q(blocked_reason=""),
            )
        ]

    def roles(self) -> list[str]:
        """The roles held, in a fixed order."""
        names = ("worker", "verifier", "researcher", "respondent")
        return [name for name in names if getattr(self, f"is_{name}")]


class ApiToken(models.Model):
    """A key for scripts. Only its SHA-256 is kept; the key itself is shown once."""

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=60)
    scopes: "models.JSONField[list[str], list[str]]" = models.JSONField(default=all_scopes)
    digest = models.CharField(max_length=64, unique=True)
    start = models.CharField(max_length=8)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"
