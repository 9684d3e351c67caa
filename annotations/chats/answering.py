"""Replies that take their time: asked for in the worker's transaction, claimed by one process, stored once.

The queue only wakes somebody up. What is owed stands in the database, so a lost queue, a killed process or a
message delivered twice costs time and nothing else.
"""

import logging
from concurrent.futures import Future
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotations.chats import events, store
from annotations.chats.frames import chat_frame, utterance_frame
from annotations.chats.models import Dialogue, ReplyFailure, Utterance
from annotations.people.errors import Refused
from bots import replies
from bots.errors import EngineError
from bots.replies import Reply

log = logging.getLogger(__name__)

QUEUE_PATIENCE = timedelta(seconds=10)
"""A reply still unclaimed after this long was lost on its way and is queued again."""
LEASE = timedelta(seconds=10)
"""A claim not renewed for this long belongs to a process that is gone; another may take it over."""
ATTEMPTS = 3
ASKED = ["asked_at", "queued_at", "leased_until", "stalled_at", "attempts"]
"""The columns of Dialogue that say what reply is owed."""


def own_chat(dialogue_id: int, worker_id: int) -> Dialogue:
    """The worker's chat, its row locked. Another's chat is refused in the same words as one that is not there."""
    dialogue = store.locked(dialogue_id, worker_id=worker_id)
    if dialogue is None:
        raise Refused("no_such_chat", "This chat is not here, or it is not yours.", status=404)
    return dialogue


def ask(dialogue: Dialogue, now: datetime, *, since: datetime | None = None) -> None:
    """Notes, unsaved, that the bot's reply is owed (since then, or from now), and queues it after the commit."""
    dialogue.asked_at, dialogue.queued_at = since or now, now
    dialogue.leased_until = dialogue.stalled_at = None
    dialogue.attempts = 0
    _queue(dialogue.pk, dialogue.said)


def owe_nothing(dialogue: Dialogue) -> None:
    """Notes, unsaved, that no reply is owed: it is there, or the chat is over."""
    dialogue.asked_at = dialogue.queued_at = dialogue.leased_until = dialogue.stalled_at = None
    dialogue.attempts = 0


def _queue(dialogue_id: int, number: int, *, delay: float = 0) -> None:
    def send() -> None:
        from annotations.chats.tasks import reply_task

        try:
            reply_task.apply_async((dialogue_id, number), countdown=delay or None)
        except reply_task.OperationalError as error:
            log.warning("reply to chat %d could not be queued, the sweep will: %s", dialogue_id, error)

    transaction.on_commit(send)


def ahead(dialogue: Dialogue) -> int:
    """How many chats this one's reply has to wait for: those who asked its bot earlier, less what it does at once."""
    if dialogue.asked_at is None or dialogue.stalled_at:
        return 0
    return max(0, store.waiting_before(dialogue) + 1 - replies.at_once(dialogue.bot))


def claim(*, dialogue_id: int, number: int) -> "Future[Reply] | None":
    """Starts the reply to utterance `number`, or gives None where it is answered, claimed or no longer wanted."""
    now = timezone.now()
    dialogue = store.claimed(dialogue_id, number=number, now=now, until=now + LEASE)
    if dialogue is None:
        return None
    history = [text for _, text, _ in store.said_in(dialogue)]
    return replies.submit(dialogue.bot, history[:number], dialogue.persona)


def renew(dialogue_ids: list[int]) -> None:
    """Says that this process still works on these chats' replies."""
    Dialogue.objects.waiting().filter(pk__in=dialogue_ids, leased_until__isnull=False).update(
        leased_until=timezone.now() + LEASE
    )


def give_back(dialogue_ids: list[int]) -> None:
    """Lets others take over at once what this process will not finish."""
    rows = Dialogue.objects.waiting().filter(pk__in=dialogue_ids)
    rows.update(leased_until=None, queued_at=timezone.now() - QUEUE_PATIENCE)


@transaction.atomic
def settle(*, dialogue_id: int, number: int, reply: Reply) -> bool:
    """Stores the reply to utterance `number`, unless the chat has moved on. Whether it did."""
    dialogue = _owing(dialogue_id, number)
    if dialogue is None:
        return False
    utterance = bot_utterance(dialogue, number + 1, reply)
    store.insert([utterance])
    dialogue.said = number + 1
    dialogue.last_at = utterance.at
    owe_nothing(dialogue)
    store.update(dialogue, ["said", "last_at", *ASKED])
    frame = {"event": "utterance", "utterance": utterance_frame(utterance), "chat": chat_frame(dialogue)}
    events.announce(dialogue_id, frame)
    return True


@transaction.atomic
def fail(*, dialogue_id: int, number: int, error: EngineError) -> None:
    """Stores that no reply came; tries again while that may help, else tells the worker, who can ask again."""
    dialogue = _owing(dialogue_id, number)
    if dialogue is None:
        return
    dialogue.attempts += 1
    ReplyFailure.objects.create(
        bot_id=dialogue.bot_id,
        dialogue=dialogue,
        number=number + 1,
        attempt=dialogue.attempts,
        error=str(error)[:500],
    )
    dialogue.leased_until = None
    now = timezone.now()
    if error.retry and dialogue.attempts < ATTEMPTS:
        delay = 2**dialogue.attempts
        dialogue.queued_at = now + timedelta(seconds=delay)
        _queue(dialogue_id, number, delay=delay)
    else:
        dialogue.stalled_at = now
        detail = "The bot did not answer. Nothing is lost."
        events.announce(dialogue_id, {"event": "stalled", "detail": detail, "chat": chat_frame(dialogue)})
    store.update(dialogue, ASKED)


def _owing(dialogue_id: int, number: int) -> Dialogue | None:
    dialogue = store.locked(dialogue_id, said=number)
    return dialogue if dialogue and dialogue.is_waiting() else None


@transaction.atomic
def ask_again(*, worker_id: int, dialogue_id: int) -> Dialogue:
    """The worker asks once more for a reply that is owed. One that is being worked on is left alone.

    Raises Refused with the codes no_such_chat and nothing_owed.
    """
    dialogue = own_chat(dialogue_id, worker_id)
    if dialogue.asked_at is None or dialogue.state != Dialogue.State.OPEN:
        raise Refused("nothing_owed", "The bot has answered already.")
    now = timezone.now()
    dialogue.last_at = now
    changed = ["last_at"]
    if dialogue.stalled_at or _is_lost(dialogue, now):
        ask(dialogue, now, since=None if dialogue.stalled_at else dialogue.asked_at)
        changed += ASKED
    store.update(dialogue, changed)
    return dialogue


def _is_lost(dialogue: Dialogue, now: datetime) -> bool:
    """Whether nobody works on a reply that is owed: what the sweep selects."""
    if dialogue.leased_until:
        return dialogue.leased_until < now
    return dialogue.queued_at is not None and dialogue.queued_at < now - QUEUE_PATIENCE


def sweep() -> int:
    """Queues again every owed reply that nobody works on: lost queue, killed process. How many. Safe to run twice."""
    now = timezone.now()
    lost = Q(leased_until=None, queued_at__lt=now - QUEUE_PATIENCE) | Q(leased_until__lt=now)
    rows = Dialogue.objects.waiting().filter(lost).order_by("asked_at")
    found = list(rows.values_list("pk", "said")[:5000])
    with transaction.atomic():
        keys = [pk for pk, _ in found]
        Dialogue.objects.filter(pk__in=keys).filter(lost).update(queued_at=now, leased_until=None)
        for pk, said in found:
            _queue(pk, said)
    return len(found)


def bot_utterance(dialogue: Dialogue, number: int, reply: Reply) -> Utterance:
    """A reply as a row, unsaved."""
    return Utterance(
        dialogue=dialogue,
        number=number,
        speaker="bot",
        text=reply.text,
        at=timezone.now(),
        engine=reply.engine,
        settings=dict(reply.settings),
        seconds=round(reply.seconds, 4),
        trace=dict(reply.trace),
    )
