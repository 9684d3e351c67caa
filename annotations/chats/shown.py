"""A chat as its page shows it."""

import json
from typing import Any
from uuid import uuid4

from django.utils import timezone

from annotations.chats.answering import ahead
from annotations.chats.frames import chat_frame, utterances_after
from annotations.chats.models import Dialogue, Label, Utterance
from annotations.chats.places import kept, places
from annotations.chats.services import LABEL_GRACE
from annotations.people.models import User

_GLOSSES = ("0 percent", "less than one person in ten", "up to half", "over 50 percent")
BINS = [
    {"value": value, "level": level, "name": name, "words": name.lower(), "gloss": gloss}
    for level, ((value, name), gloss) in enumerate(zip(Label.Bin.choices, _GLOSSES, strict=True))
]
"""The four label buttons. The glosses are read to those who do not see the dots."""
NOW = {
    "write": "write a message",
    "bot": "the bot is typing",
    "label": "label the reply",
    "stalled": "ask the bot again",
    "over": "the chat is over",
}
"""Whose move it is, in the words of the side panel."""


def chat_values(dialogue: Dialogue, worker: User) -> dict[str, Any]:
    """What the chat page is filled from."""
    by_value = {item["value"]: item for item in BINS}
    frame = chat_frame(dialogue, ahead=ahead(dialogue))
    utterances = utterances_after(dialogue, 0)
    newest = utterances[-1] if utterances and utterances[-1]["speaker"] == Utterance.Speaker.BOT else None
    for row in utterances:
        row["label"] = by_value.get(row["label"])
        row["mine"] = row["speaker"] == Utterance.Speaker.HUMAN
        row["now"] = row is newest and frame["turn"] == "label"
        row["change"] = row is newest and row["label"] is not None and _may_change(dialogue)
    waited = int((timezone.now() - dialogue.asked_at).total_seconds()) if dialogue.asked_at else 0
    start = {
        "chat": frame,
        "user": worker.pk,
        "waited": waited,
        "change_s": _change_seconds(dialogue),
        "now": {**NOW, "sending": "sending", "failed": "send it again"},
    }
    return {
        "dialogue": dialogue,
        "study": dialogue.study,
        "chat": frame,
        "instruction": [line for line in dialogue.instruction.splitlines() if line.strip()],
        "start": json.dumps(start),
        "utterances": utterances,
        "newest": newest,
        "may_change": newest is not None and newest["change"],
        "bins": BINS,
        "now_words": NOW[frame["turn"]],
        "waited": waited,
        "client_id": uuid4(),
        "veiled": worker.veil or dialogue.study.veil,
        **end_values(dialogue, worker),
    }


def end_values(dialogue: Dialogue, worker: User) -> dict[str, Any]:
    """What the end panel is filled from; nothing for an open chat."""
    if dialogue.state == Dialogue.State.OPEN:
        return {}
    place = next(iter(places(worker, dialogue.study)), None)
    return {
        "dialogue": dialogue,
        "study": dialogue.study,
        "place": place,
        "kept": kept(dialogue.said),
        "change_s": _change_seconds(dialogue),
    }


def _may_change(dialogue: Dialogue) -> bool:
    return dialogue.state == Dialogue.State.OPEN or _change_seconds(dialogue) > 0


def _change_seconds(dialogue: Dialogue) -> int:
    """For how much longer the last label of a complete chat can be changed."""
    if dialogue.state != Dialogue.State.COMPLETE or dialogue.ended_at is None:
        return 0
    return max(0, int((dialogue.ended_at + LABEL_GRACE - timezone.now()).total_seconds()))
