"""How a bot is doing."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotations.chats.models import Dialogue, ReplyFailure, Trial, Utterance
from annotations.people.models import User
from annotations.studies.services import studies_of
from bots.models import Bot

FAILURES_SHOWN, REPLIES_TIMED, TRIALS_SHOWN = 20, 100, 10
TRIAL_PATIENCE = timedelta(minutes=10)
"""A trial without a reply for this long has lost its worker: the slowest engine gives up before."""


@dataclass(frozen=True)
class Health:
    """Replies of a bot in chats, trials left out."""

    last_at: datetime | None
    per_minute_10: float
    per_minute_60: float
    timed: int
    median_s: float | None
    p95_s: float | None
    waiting: int
    stalled: int
    failures: int


def health(bot: Bot) -> Health:
    """How the bot is doing now; seconds are those of its newest replies, at most 100."""
    now = timezone.now()
    replies = Utterance.objects.filter(dialogue__bot=bot, speaker="bot")
    newest = list(replies.order_by("-at").values_list("at", "seconds")[:REPLIES_TIMED])
    seconds = sorted(taken for _, taken in newest if taken is not None)
    recent = replies.filter(at__gte=now - timedelta(hours=1)).aggregate(
        ten=Count("pk", filter=Q(at__gte=now - timedelta(minutes=10))), hour=Count("pk")
    )
    return Health(
        last_at=newest[0][0] if newest else None,
        per_minute_10=recent["ten"] / 10,
        per_minute_60=recent["hour"] / 60,
        timed=len(seconds),
        median_s=median(seconds) if seconds else None,
        p95_s=percentile_95(seconds) if seconds else None,
        waiting=Dialogue.objects.waiting().filter(bot=bot).count(),
        stalled=Dialogue.objects.filter(bot=bot, state="open", stalled_at__isnull=False).count(),
        failures=bot.failures.filter(at__gte=now - timedelta(days=1)).count(),
    )


def percentile_95(ordered: list[float]) -> float:
    """The smallest value that at least 95% of `ordered` do not exceed (nearest rank)."""
    return ordered[-(-95 * len(ordered) // 100) - 1]


def failures(bot: Bot, user: User) -> QuerySet[ReplyFailure]:
    """The newest failures of the last day; `mine` is the chat where the person may open it."""
    mine = Dialogue.objects.filter(pk=OuterRef("dialogue"), study__in=studies_of(user, "researcher"))
    rows = bot.failures.filter(at__gte=timezone.now() - timedelta(days=1))
    return rows.annotate(mine=Subquery(mine.values("pk")))[:FAILURES_SHOWN]


def trials(bot: Bot) -> tuple[list[Trial], bool]:
    """The newest trials, the oldest of them first, and whether a reply to one may still come."""
    found = list(bot.trials.select_related("user").order_by("-pk")[:TRIALS_SHOWN])[::-1]
    since = timezone.now() - TRIAL_PATIENCE
    for trial in found:
        if not trial.reply and not trial.error and trial.at < since:
            # Shown, not stored: should the reply come after all, it is taken.
            trial.error = "No reply came. Is the worker of the queue bots running?"
    return found, any(not trial.reply and not trial.error for trial in found)


def all_bots() -> QuerySet[Bot]:
    """Every bot by name, with the replies `waiting` for it and its `failed` ones of the last day."""
    chats = Dialogue.objects.waiting().filter(bot=OuterRef("pk")).order_by().values("bot")
    since = timezone.now() - timedelta(days=1)
    failed = ReplyFailure.objects.filter(bot=OuterRef("pk"), at__gte=since).order_by().values("bot")
    return Bot.objects.annotate(
        waiting=Coalesce(Subquery(chats.values(n=Count("pk")), output_field=IntegerField()), 0),
        failed=Coalesce(Subquery(failed.values(n=Count("pk")), output_field=IntegerField()), 0),
    )
