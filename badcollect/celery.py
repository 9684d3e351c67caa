import os
import warnings
from typing import Any

from celery import Celery
from celery.exceptions import CPendingDeprecationWarning
from celery.signals import setup_logging

# Said at each start by root. In a container there is nobody else, and our messages are JSON.
warnings.filterwarnings("ignore", r"\s*You're running the worker with superuser")

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "badcollect.settings")

app = Celery("badcollect")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(
    ["annotations.chats", "annotations.verification", "annotations.exports", "annotations.console", "bots"]
)


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_logging(**_values: Any) -> None:
    """Having a receiver is what counts: Celery then leaves the logging that the settings have set up alone.

    What it would say at each loss of Redis is said here for good: no task of ours is cancelled then, and one
    that runs twice does nothing the second time.
    """
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)
