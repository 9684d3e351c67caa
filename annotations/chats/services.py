"""The verbs of a chat. Each is one transaction; what others are told goes out after its commit."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from annotations.chats import answering, events, store
from annotations.chats.answering import ASKED, ahead, ask, bot_utterance, owe_nothing, own_chat
from annotations.chats.frames import chat_frame, utterance_frame, utterances_after
from annotations.chats.models import Dialogue, Label, Utterance
from annotations.domain.messages import MessageError, clean_message
from annotations.domain.sampling import draw, neediest
from annotations.domain.turns import BINS, Turn, is_unsafe, whose_turn
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies import breaks
from annotations.studies.models import Study
from annotations.studies.services import check_may_chat
from bots import replies
from bots.errors import EngineError
from bots.text import LONGEST, one_line

LABEL_GRACE = timedelta(minutes=5)
"""How long the last reply's label can still be changed. Our choice: no next message comes to end that time."""


@dataclass(frozen=True)
class Outcome:
    """What a verb did: `ack` for the one who asked, `frames` for every socket of the chat."""

    ack: dict[str, Any]
    frames: tuple[dict[str, Any], ...] = ()


# -- starting ------------------------------------------------------------------------------------------------


@transaction.atomic
def start_chat(*, worker: User, slug: str, rng: Random | None = None) -> tuple[Dialogue, bool]:
    """The worker's open chat in a study, or a new one; and whether it is new.

    The bot is the one with most chats still needed, open chats counted, with the study's row locked: however
    many start at once, no bot gets more chats than wanted. Instruction set and persona are drawn and kept.
    Raises Refused where the study, the worker, a break or the counts do not allow a chat.
    """
    rng = rng or Random()
    study = Study.objects.select_for_update(no_key=True).filter(slug=slug).first()
    # A block of this moment either sees the new chat and closes it, or is seen here.
    worker = User.objects.select_for_update(no_key=True).get(pk=worker.pk)
    study = check_may_chat(study=study, user=worker)
    mine = Dialogue.objects.filter(study=study, worker=worker)
    if existing := mine.filter(state=Dialogue.State.OPEN).first():
        return existing, False
    breaks.refuse_if_on_break(user_id=worker.pk, study_id=study.pk)
    refuse_if_done(study=study, counted=mine.counted().count())
    bot_id = _neediest_bot(study, rng)
    if bot_id is None:
        raise Refused(
            "no_chats_needed", "This study has all the chats it needs for now. Look in again later."
        )
    sets = list(study.instruction_sets.all())
    chosen = draw(sets, [item.weight for item in sets], rng)
    dialogue = Dialogue.objects.create(
        study=study,
        worker=worker,
        bot_id=bot_id,
        instruction_set=chosen,
        instruction=chosen.text if chosen else "",
        persona=rng.choice(study.personas) if study.personas else [],
        chats_before=Dialogue.objects.filter(worker=worker).count(),
        wanted=study.utterances,
        last_at=timezone.now(),
    )
    return dialogue, True


def refuse_if_done(*, study: Study, counted: int) -> None:
    """Raises Refused study_not_open, or enough_chats where the worker's `counted` chats are all the study asks for."""
    if study.state != Study.State.OPEN:
        raise Refused(
            "study_not_open", f"This study is {study.get_state_display().lower()}. No chat can be started."
        )
    if counted >= study.chats_per_worker:
        raise Refused(
            "enough_chats", "You have done every chat that this study asks of one person. Thank you."
        )


def _neediest_bot(study: Study, rng: Random) -> int | None:
    wanted = dict(study.study_bots.filter(bot__enabled=True).values_list("bot_id", "chats_wanted"))
    counts = study.dialogues.counted().order_by().values_list("bot_id").annotate(Count("id"))
    return neediest(wanted, dict(counts), rng)


# -- the worker's moves --------------------------------------------------------------------------------------


def _refuse_if_over(dialogue: Dialogue) -> None:
    if dialogue.state != Dialogue.State.OPEN:
        raise Refused("chat_over", f"This chat is closed: {dialogue.get_end_reason_display().lower()}.")


@transaction.atomic
def say(*, worker_id: int, dialogue_id: int, client_id: str, text: str, origin: str = "") -> Outcome:
    """Stores the worker's message, once per `client_id`, and has the bot answer it.

    A scripted bot's reply is stored in the same transaction; a slower one's is asked for after it. Raises
    Refused with the codes empty, too_long, label_first, not_your_move, id_reused, chat_over, no_such_chat.
    """
    try:
        text = clean_message(text)
    except MessageError as error:
        raise Refused(error.code, str(error), status=422) from error
    dialogue = own_chat(dialogue_id, worker_id)
    said = store.said_in(dialogue)
    for number, words, given in said:
        if given == client_id:
            return _repeat(dialogue, number, same=words == text)
    _refuse_if_over(dialogue)
    _refuse_unless_writing(dialogue)
    now = timezone.now()
    rows = [
        Utterance(
            dialogue=dialogue,
            number=dialogue.said + 1,
            speaker="human",
            text=text,
            at=now,
            client_id=client_id,
        )
    ]
    rows += _scripted_reply(dialogue, [*(words for _, words, _ in said), text])
    store.insert(rows)
    dialogue.said += len(rows)
    dialogue.last_at, dialogue.left_at = now, None
    changed = ["said", "last_at", "left_at"]
    if len(rows) == 1:
        ask(dialogue, now)
        changed += ASKED
    store.update(dialogue, changed)
    chat = chat_frame(dialogue, ahead=ahead(dialogue))
    shown = [{"event": "utterance", "utterance": utterance_frame(row), "chat": chat} for row in rows]
    events.announce(dialogue.pk, *shown, origin=origin)
    return Outcome({"utterance": shown[0]["utterance"], "chat": chat}, tuple(shown[1:]))


def _repeat(dialogue: Dialogue, number: int, *, same: bool) -> Outcome:
    """The same answer again, with the reply behind it where it is there: its event may have been missed."""
    if not same:
        raise Refused(
            "id_reused", "This id was used for another message. Send each message with an id of its own."
        )
    chat = chat_frame(dialogue, ahead=ahead(dialogue))
    first, *later = utterances_after(dialogue, number - 1)[:2]
    frames = tuple({"event": "utterance", "utterance": row, "chat": chat} for row in later)
    return Outcome({"utterance": first, "chat": chat}, frames)


def _refuse_unless_writing(dialogue: Dialogue) -> None:
    turn = whose_turn(said=dialogue.said, labelled=dialogue.labelled, wanted=dialogue.wanted)
    if turn is Turn.LABEL:
        raise Refused("label_first", "Label the reply, then write.")
    if turn is Turn.BOT:
        raise Refused("not_your_move", "The bot has not answered your last message yet.")


def _scripted_reply(dialogue: Dialogue, history: list[str]) -> list[Utterance]:
    """The reply of a scripted bot, unsaved; none of a slower bot, or when the script broke."""
    if not replies.is_scripted(dialogue.bot):
        return []
    try:
        reply = replies.reply(dialogue.bot, history, dialogue.persona)
    except EngineError:
        return []
    return [bot_utterance(dialogue, len(history) + 1, reply)]


@transaction.atomic
def label(*, worker_id: int, dialogue_id: int, number: int, bin_: str, origin: str = "") -> Outcome:
    """Sets the worker's label of the newest reply; the label of the last reply completes the chat.

    Raises Refused with the codes bad_bin, no_such_reply, too_late, chat_over, no_such_chat.
    """
    if bin_ not in BINS:
        raise Refused("bad_bin", f"A label is one of {', '.join(BINS)}.", status=422)
    dialogue = own_chat(dialogue_id, worker_id)
    now = timezone.now()
    if not _last_label_may_change(dialogue, now):
        _refuse_if_over(dialogue)
    if number % 2 or not 0 < number <= dialogue.said:
        raise Refused("no_such_reply", f"There is no reply number {number} in this chat.", status=422)
    if number != dialogue.said:
        raise Refused("too_late", "This label can no longer be changed: you have written since.")
    utterance = store.utterance_in(dialogue, number)
    stored, old = _store_label(utterance, bin_, now)
    dialogue.labelled += old is None
    dialogue.unsafe += is_unsafe(bin_) - (old is not None and is_unsafe(old))
    dialogue.last_at, dialogue.left_at = now, None
    changed = ["labelled", "unsafe", "last_at", "left_at"]
    if dialogue.state == Dialogue.State.OPEN and _is_whole(dialogue):
        end(dialogue, Dialogue.State.COMPLETE, Dialogue.End.COMPLETE, now)
        changed += _ENDED
    store.update(dialogue, changed)
    if is_unsafe(bin_) and bin_ != old:
        breaks.note(user_id=worker_id, study_id=dialogue.study_id)
    ack = {"utterance": utterance_frame(utterance, stored), "chat": chat_frame(dialogue)}
    events.announce(dialogue.pk, {"event": "label", **ack}, origin=origin)
    return Outcome(ack)


def _store_label(utterance: Utterance, bin_: str, now: datetime) -> tuple[Label, str | None]:
    """The label as stored, and the bin it had before."""
    new = Label(utterance=utterance, bin=bin_, at=now)
    if utterance.number // 2 > utterance.dialogue.labelled:
        store.insert([new])
        return new, None
    stored = Label.objects.get(utterance=utterance)
    old = stored.bin
    if old != bin_:
        stored.bin, stored.at, stored.changes = bin_, now, stored.changes + 1
        stored.save(update_fields=["bin", "at", "changes"])
    return stored, old


def _last_label_may_change(dialogue: Dialogue, now: datetime) -> bool:
    ended = dialogue.ended_at
    return dialogue.state == Dialogue.State.COMPLETE and ended is not None and now - ended < LABEL_GRACE


def _is_whole(dialogue: Dialogue) -> bool:
    return whose_turn(said=dialogue.said, labelled=dialogue.labelled, wanted=dialogue.wanted) is Turn.OVER


@transaction.atomic
def leave(*, worker_id: int, dialogue_id: int) -> Outcome:
    """Marks that the worker has left. The chat stays open, to be gone on with until it times out."""
    dialogue = own_chat(dialogue_id, worker_id)
    if dialogue.state == Dialogue.State.OPEN and dialogue.left_at is None:
        dialogue.left_at = timezone.now()
        store.update(dialogue, ["left_at"])
    return Outcome({"chat": chat_frame(dialogue, ahead=ahead(dialogue))})


def ask_again(*, worker_id: int, dialogue_id: int) -> Outcome:
    """The worker asks once more for a reply that is owed. Raises Refused no_such_chat, nothing_owed."""
    dialogue = answering.ask_again(worker_id=worker_id, dialogue_id=dialogue_id)
    return Outcome({"chat": chat_frame(dialogue, ahead=ahead(dialogue))})


def resume(*, worker_id: int, dialogue_id: int, after: int) -> Outcome:
    """What a socket lacks: the utterances numbered above `after`, and where the chat stands."""
    dialogue = read(worker_id=worker_id, dialogue_id=dialogue_id)
    if dialogue.left_at and dialogue.state == Dialogue.State.OPEN:  # back again
        Dialogue.objects.filter(pk=dialogue_id, state=Dialogue.State.OPEN).update(left_at=None)
    chat = chat_frame(dialogue, ahead=ahead(dialogue))
    return Outcome({"chat": chat, "utterances": utterances_after(dialogue, after)})


def read(*, worker_id: int, dialogue_id: int) -> Dialogue:
    """The worker's own chat. Raises Refused no_such_chat."""
    rows = Dialogue.objects.select_related("study", "bot")
    dialogue = rows.filter(pk=dialogue_id, worker_id=worker_id).first()
    if dialogue is None:
        raise Refused("no_such_chat", "This chat is not here, or it is not yours.", status=404)
    return dialogue


@transaction.atomic
def comment(*, worker_id: int, dialogue_id: int, text: str) -> Dialogue:
    """Keeps what the worker says of the chat as a whole: 0 to 2,000 characters. Raises Refused too_long."""
    text = "\n".join(one_line(line) for line in text.splitlines()).strip()
    if len(text) > LONGEST:
        raise Refused("too_long", f"Shorten the comment to {LONGEST:,} characters.", status=422)
    dialogue = own_chat(dialogue_id, worker_id)
    dialogue.comment = text
    store.update(dialogue, ["comment"])
    return dialogue


# -- ending --------------------------------------------------------------------------------------------------

_ENDED = ["state", "end_reason", "ended_at", *ASKED]


def end(dialogue: Dialogue, state: str, reason: str, now: datetime) -> None:
    """Sets, unsaved, that a chat is over. A reply still on its way will find it closed."""
    dialogue.state, dialogue.end_reason, dialogue.ended_at = state, reason, now
    owe_nothing(dialogue)


@transaction.atomic
def close(*, dialogue_id: int, reason: str, idle_since: datetime | None = None) -> bool:
    """Ends an open chat early: partial where it has enough utterances, else dropped. Whether it did.

    With `idle_since`, only where nothing has happened after that time.
    """
    rows = Dialogue.objects.select_for_update(of=("self",), no_key=True).select_related("study")
    dialogue = rows.filter(pk=dialogue_id, state=Dialogue.State.OPEN).first()
    if dialogue is None or (idle_since and not _is_idle(dialogue, idle_since)):
        return False
    if reason == Dialogue.End.IDLE and dialogue.left_at:
        reason = Dialogue.End.LEFT
    enough = dialogue.said >= dialogue.study.min_utterances
    end(dialogue, Dialogue.State.PARTIAL if enough else Dialogue.State.DROPPED, reason, timezone.now())
    store.update(dialogue, _ENDED)
    detail = f"This chat is closed: {dialogue.get_end_reason_display().lower()}."
    events.announce(dialogue.pk, {"event": "closed", "chat": chat_frame(dialogue), "detail": detail})
    return True


def _is_idle(dialogue: Dialogue, since: datetime) -> bool:
    """Nothing has happened after `since`, and the bot is not at work on a reply."""
    at_work = dialogue.leased_until is not None and dialogue.leased_until > timezone.now()
    return dialogue.last_at <= since and not at_work


def close_idle() -> int:
    """Closes every chat in which nothing has happened for its study's time. How many. Safe to run twice."""
    now = timezone.now()
    closed = 0
    rows = Dialogue.objects.filter(state=Dialogue.State.OPEN).order_by()
    for minutes in rows.values_list("study__idle_minutes", flat=True).distinct():
        since = now - timedelta(minutes=minutes)
        idle = rows.filter(study__idle_minutes=minutes, last_at__lte=since).values_list("pk", flat=True)
        for pk in idle[:1000]:
            closed += close(dialogue_id=pk, reason=Dialogue.End.IDLE, idle_since=since)
    return closed


def close_all(*, reason: str, **which: Any) -> int:
    """Closes every open chat that `which` selects (a study, a worker). How many."""
    keys = Dialogue.objects.filter(state=Dialogue.State.OPEN, **which).values_list("pk", flat=True)
    return sum(close(dialogue_id=pk, reason=reason) for pk in keys)
