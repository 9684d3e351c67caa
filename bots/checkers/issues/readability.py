"""CC by readability and rare words: see `bots.checkers.readability`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bots.checkers import readability
from bots.checkers.corpus import Speaker, Utterance
from bots.checkers.results import Finding, Part, Tally, refuse_unknown
from bots.checkers.words import cannot_judge, words

ISSUE = "CC"
TITLE = "Conversation complexity, by readability"
LIMITS = "English only. Names count as rare words; syllables are counted by hyphenation, which misses some."


@dataclass
class _Side:
    """One side's dialogues so far, and the counts of the one being read."""

    dialogs: Tally = field(default_factory=Tally)
    utterances: Tally = field(default_factory=Tally)
    dialogue: str | None = None
    words: int = 0
    rare: int = 0
    syllables: int = 0
    sentences: int = 0
    all_words: int = 0
    all_rare: int = 0


class Check:
    """CC = the mean score of the dialogues' words."""

    looks_first = False

    def __init__(self, settings: Mapping[str, str]) -> None:
        refuse_unknown(settings, (), "readability")
        self._sides: dict[Speaker, _Side] = {"bot": _Side(), "human": _Side()}

    def look(self, utterance: Utterance) -> None:
        """Nothing to look for beforehand."""

    def see(self, utterance: Utterance) -> None:
        side = self._sides[utterance.speaker]
        found = [] if cannot_judge(utterance.text) else words(utterance.text)
        if not found:
            side.utterances.refused += 1
            return
        if utterance.dialogue != side.dialogue:
            _close(side)
            side.dialogue = utterance.dialogue
        rare = [word for word in found if readability.is_rare(word)]
        side.words += len(found)
        side.rare += len(rare)
        side.syllables += readability.syllables_of(found)
        side.sentences += readability.sentences(utterance.text)
        share = len(rare) / len(found)
        side.utterances.add(share)
        if len(found) >= 5:
            side.utterances.show(utterance, share, ", ".join(dict.fromkeys(rare)))

    def finding(self) -> Finding:
        return Finding(
            issue=ISSUE,
            checker="readability",
            version=readability.VERSION,
            limits=LIMITS,
            state="tested",
            bot=_part(self._sides["bot"]),
            user=_part(self._sides["human"]),
        )


def _close(side: _Side) -> None:
    """Scores the dialogue that has been read to its end."""
    if side.words:
        ease = readability.ease(side.syllables, side.words, side.sentences)
        side.dialogs.add(readability.score(ease, side.rare / side.words))
        side.all_words += side.words
        side.all_rare += side.rare
    side.words = side.rare = side.syllables = side.sentences = 0


def _part(side: _Side) -> Part:
    _close(side)
    details = {
        "dialogues": side.dialogs.count,
        "rare_share": side.all_rare / side.all_words if side.all_words else None,
        "deviation": side.dialogs.sd,
    }
    shown = side.utterances
    return Part(side.dialogs.mean, side.dialogs.interval, shown.count, shown.refused, details, shown.worst)
