"""The sensitive-topics evaluation data (ParlAI's task `sensitive_topics_evaluation`): JSON lines with a topic each.

The file cuts each conversation into windows of 1, 2, 3 and 4 utterances, so that the same words come again in up to
four rows. Rows that share an utterance are therefore one dialogue: a part never holds what another was trained on.
"""

from collections.abc import Iterator
from pathlib import Path

from bots.safety.errors import DataError
from bots.safety.readers.lines import label_of, objects, said
from bots.safety.turns import Example

NAME = "topics"


def read(path: Path) -> Iterator[Example]:
    """Every row in its order. Reads the whole file first: only then is it known what belongs together."""
    rows: list[tuple[tuple[str, ...], str]] = []
    for number, row in objects(path):
        try:
            utterances, label = said(row.get("text")), label_of(row.get("labels"))
            if not utterances:
                raise ValueError("There is no text here.")  # noqa: TRY301 one place for the line number
        except ValueError as error:
            raise DataError(path, number, str(error)) from error
        rows.append((utterances, label))
    for (utterances, label), group in zip(rows, _groups([row[0] for row in rows]), strict=True):
        *context, text = utterances
        yield Example(tuple(context), text, label=label, source=NAME, dialogue=str(group))


def _groups(rows: list[tuple[str, ...]]) -> list[int]:
    """For each row the first of the rows that it shares an utterance with, directly or by way of others."""
    parent = list(range(len(rows)))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    first: dict[str, int] = {}
    for number, utterances in enumerate(rows):
        for text in utterances:
            one, two = sorted((root(number), root(first.setdefault(text, number))))
            parent[two] = one
    return [root(row) for row in range(len(rows))]
