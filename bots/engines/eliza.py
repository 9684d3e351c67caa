"""Eliza after J. Weizenbaum, "ELIZA - A Computer Program For the Study of Natural Language Communication
Between Man And Machine", Communications of the ACM 9(1), 36-45, 1966. DOI 10.1145/365153.365168.

The machinery is that of 1966; the sentences are ours and stand in `eliza_script.txt`.

1. The message is scanned from the left. A word with a substitution is replaced on the spot. A keyword goes
   on top of the stack if its rank is higher than that of the top, else to the bottom. At a comma, a full stop
   or "but" (ours: also at ; : ! ? and at a dash between spaces) the scan ends if there is a keyword; else the
   words so far are dropped.
2. The decompositions of the top keyword are tried in their order, 0 standing for the fewest words that do.
   The first that fits gives one of its reassemblies, in turn: a sentence, a link to another keyword, NEWKEY
   (the next keyword of the stack) or PRE (other words in place of the message, then a link).
3. A message with the keyword of MEMORY also lays down a sentence for later. A counter, LIMIT, runs through 1
   to 4; when it is at 4 and a message has no keyword, the oldest such sentence is the reply.
4. With nothing left, the reply is one of NONE, in turn.

Where we differ: 1966 chose the MEMORY rule by a hash of the last word in the code of its machine; we take the
CRC-32 of that word. A keyword of which no decomposition fits gives way to the next one. 1966 wrote capitals;
we keep the person's spelling, and mend "I are", "you was" and a closing "I" where an echo would have them.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bots.engines.common import MAX_REPLY, refuse_unknown
from bots.engines.eliza_script import Decomposition, Parts, Piece, Rule, Script, load

CLAUSE = 150
"""Words read of a clause: our choice, so that a message of 2,000 characters takes about as long as any."""
STEPS = 20
"""Keywords and links tried for one message: our guard, should a script link in a circle."""

_WORD = re.compile(r"(?:[^\s,.;:!?()\"\u201c\u201d]|[.,:](?=\d))+|[,.;:!?]")
_DELIMITERS = frozenset({",", ".", ";", ":", "!", "?", "-", "\u2013", "\u2014", "but"})
_PAIRS = {
    ("i", "are"): ("I", "am"),
    ("are", "i"): ("am", "I"),
    ("i", "aren't"): ("I", "am not"),
    ("i", "were"): ("I", "was"),
    ("were", "i"): ("was", "I"),
    ("you", "was"): ("you", "were"),
    ("was", "you"): ("were", "you"),
    ("you", "wasn't"): ("you", "weren't"),
}


@dataclass
class Chat:
    """What Eliza knows while she reads one history. It is gone when the reply is given."""

    script: Script
    turns: dict[int, int] = field(default_factory=dict)
    memory: list[str] = field(default_factory=list)
    limit: int = 1

    def turn(self, number: int, count: int) -> int:
        """Which of `count` texts is next for the decomposition `number`: they take turns."""
        turn = self.turns.get(number, 0)
        self.turns[number] = turn + 1
        return turn % count


def check(config: Mapping[str, Any]) -> dict[str, Any]:
    """Eliza has no settings: gives {} back. Raises ConfigError when there is a key."""
    refuse_unknown(config, ())
    return {}


def reply(config: Mapping[str, Any], history: Sequence[str], persona: Sequence[str]) -> str:  # noqa: ARG001
    """Eliza's reply to the last of `history`, whose even indices are the person's; 1 to 2,000 characters.

    The earlier messages are read again from the start, so the counters and the memory are the history's own.
    Without a history she opens the chat. Source: Weizenbaum 1966; see the head of this module.
    """
    chat = Chat(load())
    said = chat.script.opening
    for message in history[::2]:
        said = answer(chat, message)
    return said[:MAX_REPLY]


def answer(chat: Chat, message: str) -> str:
    """The reply to one message; moves the counters and the memory of `chat` on."""
    script = chat.script
    chat.limit = chat.limit % 4 + 1
    words, stack = scan(script, message)
    if not stack and chat.limit == 4 and chat.memory:
        return chat.memory.pop(0)
    for _ in range(STEPS):
        if not stack:
            break
        key = stack.pop(0)
        _memorise(chat, key, words)
        said, words, link = _transform(chat, script.rules[key], words)
        if said:
            return said
        if link:
            stack.insert(0, link)
    return script.none[chat.turn(0, len(script.none))]


def scan(script: Script, message: str) -> tuple[list[str], list[str]]:
    """The first clause that has a keyword, with its substitutions made; and its keywords, the top first."""
    found = _WORD.findall(_readable(message))
    words: list[str] = []
    stack: list[str] = []
    for at, word in enumerate(found):
        lower = word.lower()
        if lower in _DELIMITERS:
            if stack:
                break
            words.clear()
            continue
        if len(words) >= CLAUSE:
            break
        rule = script.rules.get(lower)
        if rule is not None and rule.substitute:
            words.extend(rule.substitute)
        else:
            words.append(word if words else _in_sentence(script, word, found[at + 1 : at + 2]))
        if rule is not None and rule.decompositions:
            higher = not stack or rule.rank > script.rules[stack[0]].rank
            stack.insert(0 if higher else len(stack), lower)
    return words, stack


def _readable(message: str) -> str:
    """The message with typed apostrophes and without what cannot be seen; one all in capitals is lowered."""
    text = message.replace("\u2019", "'")
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == "\u200d" else " " for c in text)
    return text.lower() if text.isupper() and " " in text else text


def _in_sentence(script: Script, word: str, following: Sequence[str]) -> str:
    """The first word of a message as it is written inside a sentence: a name keeps its capital."""
    lower = word.lower()
    if lower in script.words["starts"] or lower in script.rules:
        return lower
    plural = following and following[0].lower() in script.words["plural"]
    return lower if plural and word[1:].islower() else word


def _memorise(chat: Chat, key: str, words: list[str]) -> None:
    """Lays a sentence down for later when `key` is that of MEMORY."""
    rules = chat.script.memory
    if key != chat.script.memory_key or not words:
        return
    lowered = [word.lower() for word in words]
    rule = rules[zlib.crc32(lowered[-1].encode(errors="replace")) % len(rules)]
    parts = decompose(rule, words, lowered)
    if parts is not None:
        chat.memory.append(say(chat.script, rule.reassemblies[0].parts, parts))


def _transform(chat: Chat, rule: Rule, words: list[str]) -> tuple[str, list[str], str]:
    """The sentence said, or else the words to go on with and the keyword linked to ('' for the next one)."""
    lowered = [word.lower() for word in words]
    for decomposition in rule.decompositions:
        parts = decompose(decomposition, words, lowered)
        if parts is None:
            continue
        choice = chat.turn(decomposition.number, len(decomposition.reassemblies))
        chosen = decomposition.reassemblies[choice]
        if chosen.kind == "say":
            return say(chat.script, chosen.parts, parts), words, ""
        if chosen.kind == "pre":
            return "", _replaced(chosen.parts, parts), chosen.link
        return "", words, chosen.link
    return "", words, ""


def _replaced(text: Parts, parts: list[list[str]]) -> list[str]:
    return [word for part in text for word in (part.split() if isinstance(part, str) else parts[part - 1])]


def decompose(rule: Decomposition, words: list[str], lowered: list[str]) -> list[list[str]] | None:
    """The words of each element of the pattern, or None where it does not fit; `lowered` is in lower case.

    Each segment between two zeros is put at the leftmost place where it fits: that is the split with the
    fewest words for each 0 from the left, as in 1966, and needs no backtracking.
    """
    parts: list[list[str]] = []
    at = 0
    for n, segment in enumerate(rule.segments):
        start = _place(segment, lowered, at, first=n == 0, last=n == len(rule.segments) - 1)
        if start < at:
            return None
        if n:
            parts.append(words[at:start])
        at = start
        for piece in segment:
            size = piece if isinstance(piece, int) else 1
            parts.append(words[at : at + size])
            at += size
    return parts if at == len(words) else None


def _place(segment: Sequence[Piece], lowered: list[str], at: int, *, first: bool, last: bool) -> int:
    """Where `segment` starts, not before `at`; -1 for nowhere."""
    latest = len(lowered) - sum(piece if isinstance(piece, int) else 1 for piece in segment)
    earliest = max(at, latest) if last and not first else at
    for place in range(earliest, min(0, latest) + 1 if first else latest + 1):
        if _fits(segment, lowered, place):
            return place
    return -1


def _fits(segment: Sequence[Piece], lowered: list[str], at: int) -> bool:
    for piece in segment:
        if isinstance(piece, int):
            at += piece
        elif lowered[at] in piece:
            at += 1
        else:
            return False
    return True


def say(script: Script, text: Parts, parts: list[list[str]]) -> str:
    """The sentence of a reassembly with the person's words filled in."""
    filled = [part if isinstance(part, str) else mend(script, parts[part - 1]) for part in text]
    line = " ".join(" ".join(filled).split())
    for mark in ".,:?":
        line = line.replace(f" {mark}", mark)
    return line[:1].upper() + line[1:]


def mend(script: Script, words: list[str]) -> str:
    """The words of an echo with the verb forms and the "me" that substitution by single words cannot give."""
    fixed = list(words)
    for n in range(len(fixed) - 1):
        pair = _PAIRS.get((fixed[n].lower(), fixed[n + 1].lower()))
        if pair:
            fixed[n], fixed[n + 1] = pair
    for n in range(1, len(fixed)):
        if fixed[n] == "I" and _is_object(script, fixed[n - 1], fixed[n + 1 : n + 2]):
            fixed[n] = "me"
    return " ".join(fixed)


def _is_object(script: Script, before: str, after: Sequence[str]) -> bool:
    return not after or before in script.words["before-me"] or after[0] in script.words["after-me"]
