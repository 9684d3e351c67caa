"""Tables of what comes in and goes out: exports with their manifests, imports with their reports."""

from typing import Any

from django.db import models

from annotations.studies.jobs import Job


class Export(Job):
    """A study's dataset as files, with what is needed to make the same bytes again."""

    class Format(models.TextChoices):
        PARLAI = "parlai", "ParlAI text, as the paper's data was released"
        JSONL = "jsonl", "JSON lines, with everything"
        CSV = "csv", "CSV"
        PARQUET = "parquet", "Parquet"
        HF = "hf", "A folder for datasets.load_dataset"

    format = models.CharField(max_length=8, choices=Format.choices)
    rule = models.CharField(max_length=24)
    splits = models.CharField(max_length=60, default="0.8,0.1,0.1")
    seed = models.PositiveIntegerField(default=0)
    mask = models.BooleanField("mask e-mail addresses and numbers in texts", default=False)
    partial = models.BooleanField("partial chats too", default=True)
    key = models.CharField("key of the pseudonyms", max_length=64)
    published_at = models.DateTimeField(null=True, blank=True)
    folder = models.CharField(max_length=300, blank=True)
    manifest: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict, blank=True)


class Import(Job):
    """A file in the released text format, read into a study. The same file twice is once."""

    name = models.CharField("file", max_length=200)
    sha256 = models.CharField(max_length=64)
    split = models.CharField(max_length=5, blank=True)
    path = models.CharField(max_length=300, blank=True)
    report: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict, blank=True)

    class Meta(Job.Meta):
        constraints = [
            models.UniqueConstraint(
                name="import_once", fields=["study", "sha256"], condition=models.Q(state="done")
            )
        ]
