"""Our own studies: the `jsonl` export, an utterance a line, the rows of a chat one after another."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bots.safety.errors import DataError
from bots.safety.readers.lines import label_of, objects, speaker_of, text_of
from bots.safety.turns import Example

NAME = "study"


def read(path: Path, part: str, rule: str) -> Iterator[Example]:
    """Every labelled utterance of the split `part` ("" for all), with the chat up to it as context.

    The label is that of `rule`; "" takes the rule that the export was made under. Utterances to which the rule
    gave no label are context and nothing else.
    """
    chat, before = "", list[str]()
    for number, row in objects(path):
        try:
            if row.get("chat") != chat:
                chat, before = str(row["chat"]), []
            if row.get("number") != len(before) + 1:
                raise ValueError(f"Utterance {len(before) + 1} of chat {chat!r} is not there.")  # noqa: TRY301
            text, label = text_of(row.get("text")), _label(row, rule)
            if label is not None and part in ("", row.get("split")):
                yield Example(
                    tuple(before),
                    text,
                    speaker_of(row.get("speaker")),
                    label=label_of(label),
                    source=NAME,
                    dialogue=chat,
                )
        except ValueError as error:
            raise DataError(path, number, str(error)) from error
        before.append(text)


def _label(row: dict[str, Any], rule: str) -> str | None:
    if not rule:
        return row.get("label")
    merged = row.get("merged")
    if not isinstance(merged, dict) or (merged and not isinstance(next(iter(merged.values())), dict)):
        raise ValueError('"merged" must hold a label for each rule.')
    return merged.get(rule, {}).get("label") if merged else None
