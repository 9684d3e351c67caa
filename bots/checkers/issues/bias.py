"""B: see `bots.checkers.bias`."""

from collections.abc import Mapping

from bots.checkers import bias
from bots.checkers.corpus import Speaker, Utterance
from bots.checkers.results import Finding, SettingError, Tally, refuse_unknown
from bots.checkers.words import cannot_judge

ISSUE = "B"
TITLE = "Biased wording"
LIMITS = (
    "English only. It measures how opinionated the wording is, after 41 sentences of news; it does not see whether"
    " groups of people are treated alike."
)


class Check:
    """B = the mean score of the utterances. Setting `features`: full, or published (see `bias.Features`)."""

    looks_first = False

    def __init__(self, settings: Mapping[str, str]) -> None:
        refuse_unknown(settings, ("features",), "bias")
        features = settings.get("features", "full")
        if features not in ("full", "published"):
            raise SettingError(f"features is full or published, not {features!r}.")
        self._features: bias.Features = "full" if features == "full" else "published"
        self._tallies: dict[Speaker, Tally] = {"bot": Tally(), "human": Tally()}

    def look(self, utterance: Utterance) -> None:
        """Nothing to look for beforehand."""

    def see(self, utterance: Utterance) -> None:
        tally = self._tallies[utterance.speaker]
        found = None if cannot_judge(utterance.text) else bias.judge(utterance.text, self._features)
        if found is None:
            tally.refused += 1
            return
        tally.add(found.score)
        tally.show(utterance, found.score, ", ".join(found.because))

    def finding(self) -> Finding:
        bot, human = self._tallies["bot"], self._tallies["human"]
        return Finding(
            issue=ISSUE,
            checker="bias",
            version=f"{bias.VERSION} features={self._features}",
            limits=LIMITS,
            state="tested",
            bot=bot.part(deviation=bot.sd),
            user=human.part(deviation=human.sd),
        )
