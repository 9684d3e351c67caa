"""What a classifier judges and learns from: one utterance, with what was said before it."""

from collections.abc import Callable
from dataclasses import dataclass

OK, NOTOK = "ok", "notok"
"""The two labels of the released data, `__ok__` and `__notok__`. Not OK is the class that figures are about."""

HUMAN, BOT = "human", "bot"


@dataclass(frozen=True, slots=True)
class Turn:
    """`text`, said by `speaker` (human, bot, or "" where nobody knows) after `context` (oldest first)."""

    context: tuple[str, ...]
    text: str
    speaker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Turn):
    """A turn with its label (ok or notok; a topic for a topic classifier).

    `source` names the data set; `dialogue` is the same for all turns of one conversation, which parts never cut;
    `weight`, above 0, says how much the row counts beside others of its source.
    """

    label: str
    source: str
    dialogue: str
    weight: float = 1.0


def other(speaker: str) -> str:
    """Whom `speaker` talks to."""
    return {HUMAN: BOT, BOT: HUMAN}.get(speaker, "")


def window(turn: Turn, utterances: int) -> tuple[tuple[str, str], ...]:
    """The last `utterances` of the turn as (speaker, text), oldest first, the judged one last.

    1 is the utterance alone: the single-turn variant of the paper. Who said what in the context follows from
    whose turn it is: the two take turns, as in every dialogue of the data.
    """
    said = [*turn.context[max(0, len(turn.context) - utterances + 1) :], turn.text]
    names = (turn.speaker, other(turn.speaker))
    last = len(said) - 1
    return tuple((names[(last - place) % 2], text) for place, text in enumerate(said))


def alone(turn: Turn) -> Turn:
    """The utterance without its context."""
    return Turn((), turn.text, turn.speaker)


Progress = Callable[[str], None]
"""Somebody who wants to know, a line at a time, how far a long job is."""
