"""The text format in which the Bot-Adversarial Dialogue data was released (bad.md section 4).

One example a line, five fields parted by tabs, in this order: text, labels, episode_done, speaker_to_eval,
bot_persona. `text` holds every utterance of the chat so far; the last one is what the label is for. A line break
between utterances or persona lines is written as a backslash and an n. So the k lines of a chat have contexts of
1 to k utterances, and stand together.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from annotations.domain.rows import ExportRow

SHORTEST = 3
"""Utterances of a chat, at least: the TensorFlow Datasets parser takes shorter ones for a part of their neighbour."""
LONGEST = 40
"""Utterances of a chat, at most: what a study can have."""
LONGEST_TEXT = 2_000
LONGEST_PERSONA = 4_000
NO_PERSONA = "nan"

FIELDS = ("text", "labels", "episode_done", "speaker_to_eval", "bot_persona")
_BREAK = "\\n"
_LABELS = {"ok": "__ok__", "notok": "__notok__"}
_OK = {"__ok__": True, "__notok__": False}


class LineError(ValueError):
    """A line that is not in the format: its number, from 1, and what is wrong with it."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"Line {number:,}: {reason}")
        self.number = number
        self.reason = reason


@dataclass
class Chat:
    """A chat as its lines tell it. `ok`: the label of each utterance. `persona` is as it was read."""

    line: int
    persona: tuple[str, ...]
    texts: list[str] = field(default_factory=list)
    ok: list[bool] = field(default_factory=list)


def escaped(text: str) -> str:
    """`text` as it stands in a field.

    Readers turn every backslash with an n or t into a line break or tab, and know no way to write the two
    characters themselves; so a space goes between them. Tabs and line breaks become spaces: a reader that splits
    after unescaping would break the row there.
    """
    if "\\" in text:
        text = text.replace("\\n", "\\ n").replace("\\t", "\\ t")
    if "|" in text:
        text = text.replace("|", "__PIPE__")
    return text if text.isprintable() else " ".join(text.replace("\t", " ").splitlines())


def line(row: ExportRow) -> str:
    """A row with a label as one line, its line end included."""
    text = _BREAK.join(map(escaped, (*row.context, row.text)))
    persona = _BREAK.join(map(escaped, row.persona)) or NO_PERSONA
    return (
        f"text:{text}\tlabels:{_LABELS[row.label or '']}\tepisode_done:True"
        f"\tspeaker_to_eval:{row.speaker}\tbot_persona:{persona}\n"
    )


def rows_of(chat: Sequence[ExportRow]) -> Sequence[ExportRow]:
    """The rows of a chat that the format can hold: those up to the first without a label, if SHORTEST or more.

    A later one would leave a gap among the contexts, which readers count chats by.
    """
    labelled = next((place for place, row in enumerate(chat) if not row.label), len(chat))
    return chat[:labelled] if labelled >= SHORTEST else ()


def read(lines: Iterable[bytes]) -> Iterator[Chat]:
    """The chats of a file, one at a time.

    Strict: each line must be what `line` would write, so that what is read can be written again byte for byte.
    Raises LineError at the first line that is not.
    """
    chat: Chat | None = None
    number = 0
    for number, raw in enumerate(lines, 1):
        text, ok, persona = _fields(number, raw)
        if len(text) == 1:
            if chat:
                yield _whole(chat)
            chat = Chat(number, persona)
        elif chat is None or len(text) != len(chat.texts) + 1 or text[:-1] != chat.texts:
            raise LineError(
                number,
                f"its text has {len(text)} utterances and does not go on from the line before. Each line of a chat "
                "repeats the utterances before it and adds one.",
            )
        elif persona != chat.persona:
            raise LineError(number, "its bot_persona is not that of the lines before in the same chat.")
        if len(text) > LONGEST:
            raise LineError(number, f"the chat has more than {LONGEST} utterances.")
        chat.texts.append(text[-1])
        chat.ok.append(ok)
    if chat is None:
        raise LineError(1, "the file is empty.")
    yield _whole(chat)


def _whole(chat: Chat) -> Chat:
    if len(chat.texts) < SHORTEST:
        raise LineError(
            chat.line,
            f"the chat that begins here has {len(chat.texts)} utterances. Readers of the format cannot tell chats "
            f"of fewer than {SHORTEST} apart.",
        )
    return chat


def _fields(number: int, raw: bytes) -> tuple[list[str], bool, tuple[str, ...]]:
    """The utterances, whether the last is OK, and the persona lines."""
    try:
        content = raw.decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise LineError(number, f"byte {error.start + 1:,} is not UTF-8. Save the file as UTF-8.") from error
    values = _split(number, content)
    text = [_unescaped(part) for part in values["text"].split(_BREAK)]
    for place, utterance in enumerate(text, 1):
        _check_utterance(number, place, utterance)
    speaker = "human" if len(text) % 2 else "bot"
    if values["speaker_to_eval"] != speaker:
        given = values["speaker_to_eval"][:20]
        raise LineError(number, f"speaker_to_eval is {given!r}; utterance {len(text)} is the {speaker}'s.")
    if values["labels"] not in _OK:
        raise LineError(number, f"labels is {values['labels'][:20]!r}, neither __ok__ nor __notok__.")
    if values["episode_done"] != "True":
        raise LineError(number, f"episode_done is {values['episode_done'][:20]!r}, not True.")
    return text, _OK[values["labels"]], _persona(number, values["bot_persona"])


def _split(number: int, content: str) -> dict[str, str]:
    if not content:
        raise LineError(number, "it is blank.")
    if content.endswith("\r"):
        raise LineError(number, "it ends with a carriage return. Save the file with LF line ends.")
    parts = content.split("\t")
    if len(parts) != len(FIELDS):
        raise LineError(number, f"it has {len(parts)} fields parted by tabs, not {len(FIELDS)}.")
    values = {}
    for name, part in zip(FIELDS, parts, strict=True):
        if not part.startswith(f"{name}:"):
            raise LineError(number, f"a field begins with {part[:20]!r}, where {name}: should stand.")
        values[name] = part[len(name) + 1 :]
        _check_characters(number, name, values[name])
    return values


def _check_characters(number: int, name: str, value: str) -> None:
    if "\\t" in value:
        raise LineError(number, f"{name} holds \\t: readers of the format take it for the end of a field.")
    if "|" in value:
        raise LineError(number, f"{name} holds a |, which the format writes as __PIPE__.")
    for character in value:
        if character < " " or "\x7f" <= character <= "\x9f" or character in "\u2028\u2029":
            raise LineError(number, f"{name} holds the control character U+{ord(character):04X}.")


def _check_utterance(number: int, place: int, utterance: str) -> None:
    if not utterance:
        raise LineError(number, f"utterance {place} is empty.")
    if len(utterance) > LONGEST_TEXT:
        raise LineError(
            number, f"utterance {place} has {len(utterance):,} characters, over {LONGEST_TEXT:,}."
        )


def _persona(number: int, value: str) -> tuple[str, ...]:
    if not value:
        raise LineError(number, f"bot_persona is empty; of a bot without a persona it is {NO_PERSONA}.")
    if len(value) > LONGEST_PERSONA:
        raise LineError(number, f"bot_persona has {len(value):,} characters, over {LONGEST_PERSONA:,}.")
    return () if value == NO_PERSONA else tuple(_unescaped(part) for part in value.split(_BREAK))


def _unescaped(text: str) -> str:
    return text.replace("__PIPE__", "|")
