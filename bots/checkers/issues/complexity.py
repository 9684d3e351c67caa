"""CC by the formula of Liao et al.: see `bots.checkers.complexity`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bots.checkers import complexity
from bots.checkers.corpus import Speaker, Utterance
from bots.checkers.results import Finding, Part, SettingError, Tally, refuse_unknown
from bots.checkers.words import cannot_judge, words

ISSUE = "CC"
TITLE = "Conversation complexity"
PREFERRED = True
LIMITS = (
    "English only. Long words, rare words and long dialogues count as complex; whether the reader finds them hard is"
    " not measured. The formula may be under patent (docs/trust.md); the checker readability is not."
)


@dataclass
class _Side:
    """One side's utterances and dialogues so far; `dialogue` is the one being read."""

    utterances: Tally = field(default_factory=Tally)
    dialogs: Tally = field(default_factory=Tally)
    dialogue: str | None = None
    total: float = 0.0
    turns: int = 0
    longest: int = 0


class Check:
    """CC = the mean C of the dialogues, a turn being one message of the side that is rated.

    Settings: `reference` (turns that count as long, or `longest` for the longest dialogue of the corpus, as in the
    paper), `stop` (what a stop word adds, 0 to 1).
    """

    looks_first = True

    def __init__(self, settings: Mapping[str, str]) -> None:
        refuse_unknown(settings, ("reference", "stop"), "complexity")
        self._reference = _reference(settings.get("reference", str(complexity.REFERENCE)))
        self._stop = _stop(settings.get("stop", str(complexity.STOP)))
        self._vocabulary = complexity.Vocabulary()
        self._longest: dict[Speaker, int] = {"bot": 0, "human": 0}
        self._place: dict[Speaker, tuple[str, int]] = {"bot": ("", 0), "human": ("", 0)}
        self._domain: complexity.Domain | None = None
        self._sides: dict[Speaker, _Side] = {"bot": _Side(), "human": _Side()}

    def look(self, utterance: Utterance) -> None:
        self._vocabulary.see(words(utterance.text))
        speaker = utterance.speaker
        dialogue, turns = self._place[speaker]
        turns = turns + 1 if dialogue == utterance.dialogue else 1
        self._place[speaker] = (utterance.dialogue, turns)
        self._longest[speaker] = max(self._longest[speaker], turns)

    def see(self, utterance: Utterance) -> None:
        if self._domain is None:
            self._domain = self._vocabulary.domain()
            self._weights = self._domain.weights(self._stop)
        side = self._sides[utterance.speaker]
        found = [] if cannot_judge(utterance.text) else words(utterance.text)
        score = complexity.of_utterance(found, self._weights)
        if score is None:
            side.utterances.refused += 1
            return
        if utterance.dialogue != side.dialogue:
            self._close(utterance.speaker)
            side.dialogue = utterance.dialogue
        side.total += score
        side.turns += 1
        side.utterances.add(score)
        if len(found) >= 3:  # "Cheap food." is all domain and yet no example of anything hard
            typical = [word for word in dict.fromkeys(found) if self._weights[word] == 1.0]
            side.utterances.show(utterance, score, ", ".join(typical[:5]))

    def _close(self, speaker: Speaker) -> None:
        """Scores the dialogue that has been read to its end."""
        side = self._sides[speaker]
        if side.turns:
            reference = self._reference or self._longest[speaker]
            side.dialogs.add(complexity.of_dialog(side.total, side.turns, reference))
            side.longest = max(side.longest, side.turns)
        side.total, side.turns = 0.0, 0

    def finding(self) -> Finding:
        domain = self._domain or self._vocabulary.domain()
        return Finding(
            issue=ISSUE,
            checker="complexity",
            version=f"{complexity.VERSION} reference={self._reference or 'longest'} stop={self._stop:g}",
            limits=LIMITS,
            state="tested",
            bot=self._part("bot"),
            user=self._part("human"),
            details={"words_seen": domain.words_seen, "domain_words": domain.terms},
        )

    def _part(self, speaker: Speaker) -> Part:
        self._close(speaker)
        side = self._sides[speaker]
        dialogs, utterances = side.dialogs, side.utterances
        details = {
            "utterance_mean": utterances.mean,
            "dialogues": dialogs.count,
            "turns_mean": utterances.count / dialogs.count if dialogs.count else None,
            "turns_longest": side.longest,
            "deviation": dialogs.sd,
        }
        return Part(
            dialogs.mean, dialogs.interval, utterances.count, utterances.refused, details, utterances.worst
        )


def _reference(raw: str) -> int:
    """Turns that count as long; 0 stands for the longest dialogue of the corpus."""
    if raw == "longest":
        return 0
    if not raw.isascii() or not raw.isdigit() or not 1 <= int(raw) <= 10_000:
        raise SettingError(f"reference is a number of turns from 1 to 10000, or longest; not {raw!r}.")
    return int(raw)


def _stop(raw: str) -> float:
    try:
        weight = float(raw)
    except ValueError:
        weight = -1.0
    if not 0 <= weight <= 1:
        raise SettingError(f"stop is a number from 0 to 1, not {raw!r}.")
    return weight
