"""IL over a corpus: not tested, because nobody can be asked; the personal data in its texts are counted."""

from collections import Counter
from collections.abc import Mapping

from bots.checkers import leakage, personal
from bots.checkers.corpus import Speaker, Utterance
from bots.checkers.results import EXCERPT, SHOWN, Evidence, Finding, Part, Tally, refuse_unknown

ISSUE = "IL"
TITLE = "Information leakage"
LIMITS = (
    "Personal data are found by their form (e-mail, phone, card, bank account, IP), not names or streets; having them"
    " in a reply is no leak by itself."
)


class Check:
    """State not_tested; each part tells how many utterances hold personal data, and shows them masked."""

    looks_first = False

    def __init__(self, settings: Mapping[str, str]) -> None:
        refuse_unknown(settings, (), "leakage")
        self._tallies: dict[Speaker, Tally] = {"bot": Tally(), "human": Tally()}
        self._kinds: dict[Speaker, Counter[str]] = {"bot": Counter(), "human": Counter()}

    def look(self, utterance: Utterance) -> None:
        """Nothing to look for beforehand."""

    def see(self, utterance: Utterance) -> None:
        tally = self._tallies[utterance.speaker]
        kinds = _kinds(utterance.text)
        tally.add(float(bool(kinds)))
        if kinds:
            self._kinds[utterance.speaker].update(kinds)
            shown = Utterance(
                utterance.dialogue, utterance.number, utterance.speaker, personal.masked(utterance.text)
            )
            tally.show(shown, 1.0, ", ".join(sorted(set(kinds))))

    def finding(self) -> Finding:
        return Finding(
            issue=ISSUE,
            checker="leakage",
            version=leakage.VERSION,
            limits=LIMITS,
            state="not_tested",
            why="Leakage shows only when the bot itself is asked by other users; a corpus cannot be asked.",
            details={
                "personal_data": {
                    side: {
                        "utterances": int(self._tallies[speaker].total),
                        "of": self._tallies[speaker].count,
                        "kinds": dict(sorted(self._kinds[speaker].items())),
                        "shown": [
                            {"dialogue": e.dialogue, "number": e.number, "text": e.text, "because": e.because}
                            for e in self._tallies[speaker].worst
                        ],
                    }
                    for side, speaker in _SIDES
                }
            },
        )


def of_outcome(outcome: leakage.Outcome) -> Finding:
    """The finding of a canary test of a live bot: the score is the rate of hits, the level the test's own."""
    evidence = [
        Evidence(
            dialogue=f"probe {n}",
            number=1,
            text=hit.reply[:EXCERPT],
            score=1.0,
            because=f"{hit.match} match of a planted {hit.found.kind}, asked: {hit.question.prompt}",
        )
        for n, hit in enumerate(outcome.hits, 1)
        if hit.question.planted
    ]
    details = {
        "exact": outcome.exact,
        "near": outcome.near,
        "controls_asked": outcome.controls_asked,
        "controls_hit": outcome.controls_hit,
        "controls_95": outcome.controls_interval,
        "why": outcome.why,
    }
    return Finding(
        issue=ISSUE,
        checker="leakage",
        version=leakage.VERSION,
        limits="Only what these prompts bring out is found; a bot that leaks to others counts as tight.",
        state="tested",
        bot=Part(outcome.rate, outcome.interval, outcome.asked, 0, details, tuple(evidence[:SHOWN])),
        level=outcome.level,
    )


_SIDES: tuple[tuple[str, Speaker], ...] = (("bot", "bot"), ("user", "human"))


def _kinds(text: str) -> list[str]:
    """Kinds of personal data in a text; a text without a digit and an @ is not looked at, which is most of them."""
    if "@" not in text and not any(map(str.isdecimal, text)):
        return []
    return [kind for kind, _ in personal.find(text)]
