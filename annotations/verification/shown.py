"""What a verifier is shown of an item: the chat up to it, and nothing that could sway them.

Not shown, here and in the REST answers made of this: what came later, the worker's label, other people's votes,
the bot's name, the persona, and whether an item's answer is known.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from annotations.chats.models import Utterance
from annotations.chats.places import in_words
from annotations.people.models import User
from annotations.studies.models import Study
from annotations.verification.batches import UNDO
from annotations.verification.models import CATEGORIES, Assignment, Batch, Item, Vote

NAMES = dict(zip(CATEGORIES, ("Hate speech", "Personal attack", "Profanity", "Other offensive"), strict=True))
PICKS = [{"value": value, "name": name, "key": key} for key, (value, name) in enumerate(NAMES.items(), 2)]
"""The four boxes, each with its key."""

State = Assignment.State


@dataclass(frozen=True)
class Card:
    """One message to judge. `context`: what was said before it, oldest first, each with `speaker` and `text`."""

    id: int
    position: int
    state: str
    speaker: str
    text: str
    context: list[dict[str, str]]


@dataclass(frozen=True)
class Progress:
    """Messages of a batch that are judged or skipped, all of them, and those judged today in any study."""

    done: int
    total: int
    today: int


def cards(assignments: Sequence[Assignment]) -> list[Card]:
    """The messages to judge, each with what was said before it, in two queries however many."""
    items = Item.objects.select_related("utterance").in_bulk({row.item_id for row in assignments})
    spoken = _before([item.utterance for item in items.values() if _of_chat(item)])
    return [_card(row, items[row.item_id], spoken) for row in assignments]


def _of_chat(item: Item) -> bool:
    return item.kind == Item.Kind.UTTERANCE


def _before(utterances: Collection[Utterance | None]) -> dict[int, list[Utterance]]:
    """The chats of these utterances, each up to the last of them, by the chat's key."""
    last: dict[int, int] = {}
    for row in utterances:
        assert row is not None  # noqa: S101 an item of a chat has one: the database sees to it
        last[row.dialogue_id] = max(row.number, last.get(row.dialogue_id, 0))
    found: dict[int, list[Utterance]] = defaultdict(list)
    rows = Utterance.objects.filter(dialogue__in=last).order_by("dialogue", "number")
    for row in rows.only("dialogue", "number", "speaker", "text"):
        if row.number <= last[row.dialogue_id]:
            found[row.dialogue_id].append(row)
    return found


def _card(row: Assignment, item: Item, spoken: dict[int, list[Utterance]]) -> Card:
    if not _of_chat(item):
        return Card(row.pk, row.position, row.state, item.speaker, item.text, item.context)
    assert item.utterance is not None  # noqa: S101 an item of a chat has one: the database sees to it
    number = item.utterance.number
    context = [
        {"speaker": said.speaker, "text": said.text}
        for said in spoken[item.utterance.dialogue_id]
        if said.number < number
    ]
    return Card(row.pk, row.position, row.state, item.utterance.speaker, item.utterance.text, context)


def question_card(item: Item, position: int) -> Card:
    """A question of the test, shown as any other message."""
    return Card(item.pk, position, State.HELD, item.speaker, item.text, item.context)


def next_held(batch: Batch) -> Assignment | None:
    """The message of a batch that is to be judged next."""
    return batch.assignments.filter(state=State.HELD).order_by("position").first()


def last_done(batch: Batch, before: int | None = None) -> int | None:
    """The newest judged or skipped message of a batch, before a position where one is given; None: none to undo.

    A batch that ended a while ago has none: its votes can no longer be changed.
    """
    if batch.closed_at and timezone.now() - batch.closed_at > UNDO:
        return None
    rows = batch.assignments.filter(state__in=[State.VOTED, State.SKIPPED])
    if before is not None:
        rows = rows.filter(position__lt=before)
    return rows.order_by("-position").values_list("pk", flat=True).first()


def progress_of(batch: Batch) -> Progress:
    states = list(batch.assignments.exclude(state=State.RETURNED).values_list("state", flat=True))
    done = sum(state != State.HELD for state in states)
    return Progress(done, len(states), judged_today(batch.verifier_id))


def judged_today(verifier_id: int) -> int:
    """How many messages the person has judged since midnight."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    return Vote.objects.filter(verifier=verifier_id, at__gte=midnight).count()


def categories_of(vote: Vote | Item) -> list[str]:
    """What a vote, or the answer of a question, says is wrong."""
    return [category for category in CATEGORIES if getattr(vote, category)]


def words_of(*, ok: bool | None, categories: Collection[str]) -> str:
    """A judgement in words, as in: not OK: personal attack, profanity."""
    return "OK" if ok else f"not OK: {', '.join(NAMES[name].lower() for name in categories)}"


# -- between batches -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Desk:
    """What stands on the page between batches. `take`: a batch can be taken; `ask`: the researchers can help."""

    title: str
    lines: list[str]
    take: bool = False
    ask: bool = False


def _kept(batch: Batch) -> str:
    count = batch.assignments.filter(state=State.VOTED).count()
    if not count:
        return "You had judged none of it, and nothing is lost."
    return f"Your {in_words(count)} judgement{'s are' if count > 1 else ' is'} kept."


def desk_of(*, study: Study, verifier: User, code: str, detail: str) -> Desk:
    """The page for somebody without a batch; `code` and `detail`: why they cannot take one, empty where they can."""
    last = Batch.objects.filter(study=study, verifier=verifier, closed_at__isnull=False).first()
    ended = _ending(last) if last and _recent(last.closed_at) else None
    if code == "paused":
        return Desk("You are paused here", [detail, *([_kept(last)] if last else [])], ask=True)
    if code == "verification_closed":
        return Desk("Verification is closed", [detail, *(ended.lines if ended else [])])
    if code == "nothing_left":
        lines = [*(ended.lines if ended else []), detail]
        return Desk(ended.title if ended else "There is nothing to verify now", lines)
    if ended:
        return Desk(ended.title, ended.lines, take=True)
    line = "You read a chat up to one message and say whether that message is OK. You can stop after any of them."
    return Desk("Verify messages", [line], take=True)


def _recent(closed_at: datetime | None) -> bool:
    """An hour: who comes back later begins anew."""
    return closed_at is not None and (timezone.now() - closed_at).total_seconds() < 3600


def _ending(batch: Batch) -> Desk:
    """How a batch ended, in the words of the next page."""
    kept = _kept(batch)
    if batch.end_reason == Batch.End.LEFT:
        return Desk("You have left", [f"{kept} The rest went back, for somebody else. Thank you."])
    if batch.end_reason == Batch.End.EXPIRED:
        text = (
            "Nothing came from you for a while, so that the rest of your batch went back, for somebody else."
        )
        return Desk("Your batch ran out", [f"{text} {kept}"])
    if batch.end_reason == Batch.End.PAUSED:
        return Desk("Verify messages", [kept])
    return Desk("That was the last of this batch. Thank you.", [kept])


def batch_frame(batch: Batch) -> dict[str, Any]:
    """A batch with its messages, as scripts get it."""
    rows = list(batch.assignments.exclude(state=State.RETURNED).order_by("position"))
    return {
        "id": batch.pk,
        "study": batch.study.slug,
        "open": batch.closed_at is None,
        "leased_until": batch.leased_until.isoformat(),
        "items": [
            {
                "assignment": card.id,
                "position": card.position,
                "state": card.state,
                "speaker": card.speaker,
                "text": card.text,
                "context": card.context,
            }
            for card in cards(rows)
        ],
    }
