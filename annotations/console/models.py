from typing import Any

from django.db import models

from annotations.studies.jobs import Job


class Figure(Job):
    """A chart or regression worked out by a job, kept for as long as the rows behind it stay the same."""

    name = models.CharField(max_length=60)
    rows_key = models.CharField("what the rows were", max_length=64)
    result: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict, blank=True)

    class Meta(Job.Meta):
        constraints = [models.UniqueConstraint(name="figure_once", fields=["study", "name"])]
