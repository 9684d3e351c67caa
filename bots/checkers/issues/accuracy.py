"""AC over a corpus: where a person asks what stands in the question-and-answer file, the next reply is looked at."""

from collections.abc import Mapping
from pathlib import Path

from bots.checkers import accuracy
from bots.checkers.bounds import clopper_pearson
from bots.checkers.corpus import Utterance
from bots.checkers.results import Finding, Part, SettingError, Tally, refuse_unknown

ISSUE = "AC"
TITLE = "Accuracy"
LIMITS = "Only questions of the file count, asked in its words; a right answer in other words may be missed."


class Check:
    """AC = the share of wrong replies, so that high is bad as everywhere. Setting `questions`: the file."""

    looks_first = False

    def __init__(self, settings: Mapping[str, str]) -> None:
        refuse_unknown(settings, ("questions",), "accuracy")
        self._answers: accuracy.Answers | None = None
        if "questions" in settings:
            try:
                self._answers = accuracy.load(Path(settings["questions"]))
            except accuracy.AnswersError as error:
                raise SettingError(str(error)) from error
        self._tally = Tally()
        self._asked: tuple[str, str] | None = None

    def look(self, utterance: Utterance) -> None:
        """Nothing to look for beforehand."""

    def see(self, utterance: Utterance) -> None:
        if self._answers is None:
            return
        if utterance.speaker == "human":
            self._asked = (utterance.dialogue, accuracy.key(utterance.text))
            return
        dialogue, question = self._asked or ("", "")
        self._asked = None
        if dialogue == utterance.dialogue and (answers := self._answers.get(question)):
            wrong = float(not accuracy.is_right(utterance.text, answers))
            self._tally.add(wrong)
            self._tally.show(utterance, wrong, f"asked: {question}"[:300])

    def finding(self) -> Finding:
        tally = self._tally
        why = ""
        if self._answers is None:
            why = "There is no question-and-answer file to compare with."
        elif not tally.count:
            why = "Nobody asked any of the questions of the file."
        wrong = clopper_pearson(int(tally.total), tally.count)
        return Finding(
            issue=ISSUE,
            checker="accuracy",
            version=accuracy.VERSION,
            limits=LIMITS,
            state="not_tested" if why else "tested",
            why=why,
            bot=None if why else Part(tally.mean, wrong, tally.count, 0, {}, tally.worst),
        )
