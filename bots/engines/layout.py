"""How a history and a persona are written down for a model, as it was trained to read them.

A history is utterances, oldest first, the person's last; the two speakers take turns.

- `blenderbot` (facebook/blenderbot-400M-distill, -1B-distill, -3B): the persona as lines "your persona: ...",
  a newline, the first utterance; between utterances two spaces and the space every utterance begins with; the
  end token. So wrote ParlAI, which trained it (delimiter of two spaces, ParlAI issues 4476, 4511 and 3949),
  and so did transformers' own conversations (`BlenderbotTokenizer._build_conversation_input_ids`).
- `blenderbot_small` (facebook/blenderbot_small-90M): the same lines joined by newlines, which its tokenizer
  turns into `__newln__` as ParlAI's did; no end token, which that tokenizer adds none of either.
- `dialogpt`: each utterance closed by the end token (model card of microsoft/DialoGPT-medium). It never saw a
  persona in training, so the persona is left out.
- `transcript`: for plain language models, "A: ..." and "B: ..." lines, the persona before them, and "B:" for
  the model to go on from; its reply ends with the line. Our choice: the paper does not say how it asked
  GPT-2.
- `chat`: the tokenizer's chat template, the persona as system text, or at the head of the first message where
  the template knows no system text (our choice).
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from bots.errors import EngineError

PERSONA = "your persona: "
"""What a persona line begins with in the data BlenderBot learned from."""


def encode(
    layout: str,
    tokenizer: Any,
    history: Sequence[str],
    persona: Sequence[str],
    *,
    limit: int,
    system: str = "",
) -> list[int]:
    """The tokens to give the model: at most `limit`, the persona whole, the history without its oldest
    utterances where it is too long (and, at worst, the end of its last one).

    Raises EngineError if there is nothing to answer, or if even the persona is too long.
    """
    special = _special(tokenizer)
    said = [_plain(text, special) for text in history]
    about = [line for line in (_plain(text, special) for text in persona) if line]
    if not said or not said[-1]:
        raise EngineError("There is nothing to answer.", retry=False)

    def build(utterances: Sequence[str]) -> list[int]:
        return _BUILDERS[layout](tokenizer, utterances, about, system)

    for start in range(len(said)):
        if layout == "chat" and (len(said) - start) % 2 == 0:
            continue  # many templates refuse a conversation that the assistant opens
        ids = build(said[start:])
        if len(ids) <= limit:
            return ids
    return _end_of(said[-1], build, limit)


def finish(layout: str, text: str) -> str:
    """The reply in what a model wrote (special tokens already gone)."""
    text = text.strip()
    return text.split("\n", 1)[0].strip() if layout == "transcript" else text


def stop_tokens(layout: str, tokenizer: Any) -> list[int]:
    """The tokens that end a reply besides the model's own: for `transcript` all that hold a newline."""
    if layout != "transcript":
        return []
    marks = ("\n", "\u010a", "<0x0A>")  # plain, in byte-level BPE, in SentencePiece with byte fallback
    return sorted(number for token, number in tokenizer.get_vocab().items() if any(m in token for m in marks))


def _special(tokenizer: Any) -> re.Pattern[str] | None:
    added = (token.content for token in tokenizer.added_tokens_decoder.values() if token.special)
    tokens = sorted({*added, *tokenizer.all_special_tokens}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, tokens))) if tokens else None


def _plain(text: str, special: re.Pattern[str] | None) -> str:
    """One line without special tokens: nobody may end a turn or begin another's by typing its marker."""
    return " ".join((special.sub(" ", text) if special else text).split())


def _end_of(text: str, build: Callable[[Sequence[str]], list[int]], limit: int) -> list[int]:
    """The longest end of `text` that fits. The search halves: counting tokens is the slow part."""
    best: list[int] = []
    low, high = 1, len(text)
    while low <= high:
        kept = (low + high) // 2
        ids = build([text[-kept:]])
        if len(ids) <= limit:
            best, low = ids, kept + 1
        else:
            high = kept - 1
    if not best:
        raise EngineError(f"The persona does not fit in the {limit} tokens of context.", retry=False)
    return best


def _ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def _persona_lines(persona: Sequence[str]) -> list[str]:
    """Lines with their mark. A persona that has marks keeps lines without: in BST the third, a topic, has
    none.
    """
    marked = any(line.startswith(PERSONA) for line in persona)
    return [line if marked else PERSONA + line for line in persona]


def _blenderbot(tokenizer: Any, said: Sequence[str], persona: Sequence[str], _system: str) -> list[int]:
    first, *rest = said
    opening = "\n".join([*_persona_lines(persona), first])
    return [*_ids(tokenizer, " " + "   ".join([opening, *rest])), tokenizer.eos_token_id]


def _blenderbot_small(tokenizer: Any, said: Sequence[str], persona: Sequence[str], _system: str) -> list[int]:
    return _ids(tokenizer, "\n".join([*_persona_lines(persona), *said]))


def _dialogpt(tokenizer: Any, said: Sequence[str], _persona: Sequence[str], _system: str) -> list[int]:
    return [number for text in said for number in (*_ids(tokenizer, text), tokenizer.eos_token_id)]


def _transcript(tokenizer: Any, said: Sequence[str], persona: Sequence[str], _system: str) -> list[int]:
    about = [f"About B: {line.removeprefix(PERSONA)}" for line in persona]
    names = ("A", "B") if len(said) % 2 else ("B", "A")
    lines = [f"{names[place % 2]}: {text}" for place, text in enumerate(said)]
    return _ids(tokenizer, "\n".join([*about, *lines, "B:"]))


def _chat(tokenizer: Any, said: Sequence[str], persona: Sequence[str], system: str) -> list[int]:
    about = "\n".join(line.removeprefix(PERSONA) for line in persona)
    told = "\n\n".join(filter(None, (system, f"You are this person:\n{about}" if about else "")))
    messages = [
        {"role": "assistant" if place % 2 else "user", "content": text} for place, text in enumerate(said)
    ]
    if not told:
        return _ids(tokenizer, _template(tokenizer, messages))
    try:
        text = _template(tokenizer, [{"role": "system", "content": told}, *messages])
    except EngineError:
        text = ""
    if told not in text:  # refused, or left out without a word
        head = {"role": "user", "content": f"{told}\n\n{said[0]}"}
        text = _template(tokenizer, [head, *messages[1:]])
    return _ids(tokenizer, text)


def _template(tokenizer: Any, messages: list[dict[str, str]]) -> str:
    try:
        return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
    except Exception as error:  # a template is a program of the model's maker and may raise anything
        raise EngineError(f"The model's chat template failed: {error}"[:300], retry=False) from error


_BUILDERS: dict[str, Callable[[Any, Sequence[str], Sequence[str], str], list[int]]] = {
    "blenderbot": _blenderbot,
    "blenderbot_small": _blenderbot_small,
    "dialogpt": _dialogpt,
    "transcript": _transcript,
    "chat": _chat,
}
