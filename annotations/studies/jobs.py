"""What every long job of a study has in common: a row that tells how far it is."""

from django.conf import settings
from django.db import models

from annotations.studies.models import Study


class Job(models.Model):
    """A long job, done by Celery, that can be followed, cancelled, and started again after a crash."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    study = models.ForeignKey(Study, models.CASCADE, related_name="%(class)ss")
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    asked_at = models.DateTimeField(auto_now_add=True)
    alive_at = models.DateTimeField("last sign of life", null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"

    @property
    def percent(self) -> int:
        """0 to 100."""
        return 100 * self.done // self.total if self.total else 0
