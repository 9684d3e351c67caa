"""A researcher tries a bot outside any study."""

from concurrent.futures import Future
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotations.chats.models import Trial
from annotations.domain.messages import MessageError, clean_message
from annotations.people.errors import Refused
from annotations.people.models import User
from bots import replies
from bots.models import Bot
from bots.replies import Reply

MANY = 5
PATIENCE = timedelta(minutes=10)
"""A trial unanswered for longer is taken for lost; its page stops asking then too."""


def start(*, bot: Bot, user: User, text: str) -> Trial:
    """Sends one message to a bot; a scripted one has answered on return, others answer later.

    Raises Refused for a message no worker could send either, and trials_waiting.
    """
    try:
        text = clean_message(text)
    except MessageError as error:
        raise Refused(error.code, str(error), status=422) from error
    waiting = Trial.objects.filter(bot=bot, reply="", error="", at__gt=timezone.now() - PATIENCE)
    if waiting.count() >= MANY:
        detail = f"{MANY} messages wait for this bot already. Try again when it has answered."
        raise Refused("trials_waiting", detail)
    trial = Trial.objects.create(bot=bot, user=user, text=text)
    if replies.is_scripted(bot):
        settle(trial_id=trial.pk, done=replies.submit(bot, [text]))
        trial.refresh_from_db()
        return trial

    def send() -> None:
        from annotations.chats.tasks import try_bot_task

        try:
            try_bot_task.delay(trial.pk)
        except try_bot_task.OperationalError:
            Trial.objects.filter(pk=trial.pk).update(error="The queue cannot be reached. Is Redis running?")

    transaction.on_commit(send)
    return trial


def begin(*, trial_id: int) -> "Future[Reply] | None":
    """Starts the reply of a trial that has none; None where it has. Safe to run twice."""
    trial = Trial.objects.select_related("bot").filter(pk=trial_id, reply="", error="").first()
    return replies.submit(trial.bot, [trial.text]) if trial else None


def settle(*, trial_id: int, done: "Future[Reply]") -> None:
    """Stores what came of a trial's reply."""
    trial = Trial.objects.filter(pk=trial_id)
    if error := done.exception():
        trial.update(error=str(error)[:500])
    else:
        reply = done.result()
        trial.update(reply=reply.text, seconds=round(reply.seconds, 4))
