"""Rows as the dictionaries that sockets, pages and REST show. docs/protocol.md describes each key."""

from typing import Any

from annotations.chats.models import Dialogue, Label, Utterance
from annotations.domain.turns import whose_turn


def chat_frame(dialogue: Dialogue, *, ahead: int = 0) -> dict[str, Any]:
    """Where the chat stands."""
    turn: str = whose_turn(said=dialogue.said, labelled=dialogue.labelled, wanted=dialogue.wanted)
    if dialogue.state != Dialogue.State.OPEN:
        turn = "over"
    elif dialogue.stalled_at:
        turn = "stalled"
    return {
        "id": dialogue.pk,
        "state": dialogue.state,
        "end_reason": dialogue.end_reason,
        "turn": turn,
        "said": dialogue.said,
        "wanted": dialogue.wanted,
        "unsafe": dialogue.unsafe,
        "ahead": ahead,
    }


def utterance_frame(utterance: Utterance, label: Label | None = None) -> dict[str, Any]:
    """One utterance as its own worker may see it: nothing of the bot's name, engine or trace."""
    return {
        "number": utterance.number,
        "speaker": utterance.speaker,
        "text": utterance.text,
        "at": utterance.at.isoformat(),
        "label": label.bin if label else None,
    }


def utterances_after(dialogue: Dialogue, after: int) -> list[dict[str, Any]]:
    """The utterances numbered above `after`, in order, in one query."""
    rows = dialogue.utterances.filter(number__gt=after).select_related("label").order_by("number")
    return [utterance_frame(row, getattr(row, "label", None)) for row in rows]
