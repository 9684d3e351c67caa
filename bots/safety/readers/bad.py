r"""The released Bot-Adversarial Dialogue text, and our own `parlai` export: five tab-separated fields a line.

`text:<u1>\n<u2>...` TAB `labels:__ok__` TAB `episode_done:True` TAB `speaker_to_eval:human` TAB `bot_persona:...`
(Xu et al. 2021, data of ParlAI's task `bot_adversarial_dialogue`). The label is that of the last utterance.
"""

from collections.abc import Iterator
from pathlib import Path

from bots.safety.errors import DataError
from bots.safety.readers.lines import label_of, numbered, speaker_of
from bots.safety.turns import NOTOK, OK, Example
from bots.text import one_line

NAME = "bad"


def read(path: Path) -> Iterator[Example]:
    """Every line, in its order. A line whose context is not the line before begins another dialogue."""
    before: list[str] = []
    dialogue = 0
    for number, line in numbered(path):
        try:
            utterances, label, speaker = _line(line)
        except ValueError as error:
            raise DataError(path, number, str(error)) from error
        if utterances[:-1] != before or len(utterances) == 1:
            dialogue += 1
        before = utterances
        yield Example(
            tuple(utterances[:-1]),
            utterances[-1],
            speaker,
            label=label,
            source=NAME,
            dialogue=str(dialogue),
        )


def _line(line: str) -> tuple[list[str], str, str]:
    fields = dict(field.partition(":")[::2] for field in line.split("\t"))
    for name in ("text", "labels", "speaker_to_eval"):
        if not fields.get(name):
            raise ValueError(f"The field {name!r} is missing or empty.")
    label = label_of(fields["labels"])
    if label not in (OK, NOTOK):
        raise ValueError(f"The label is __ok__ or __notok__, not {label[:60]!r}.")
    utterances = [one_line(text.replace("__PIPE__", "|")) for text in fields["text"].split("\\n")]
    if not all(utterances):
        raise ValueError("An utterance is empty.")
    return utterances, label, speaker_of(fields["speaker_to_eval"])
