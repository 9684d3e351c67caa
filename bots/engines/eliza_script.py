"""The script of Eliza as objects: reads `eliza_script.txt`, whose head says how a script is written."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

Piece = int | frozenset[str]
"""One element of a pattern: exactly so many words, or one word out of these."""
Parts = tuple[str | int, ...]
"""A text to fill in: strings as they are, numbers for the parts of the decomposition."""


@dataclass(frozen=True)
class Reassembly:
    kind: Literal["say", "link", "newkey", "pre"]
    parts: Parts = ()
    link: str = ""


@dataclass(frozen=True)
class Decomposition:
    """A pattern, cut at its zeros: the first segment starts the message, the last one ends it."""

    number: int
    segments: tuple[tuple[Piece, ...], ...]
    reassemblies: tuple[Reassembly, ...]


@dataclass(frozen=True)
class Rule:
    """What a word of the script does. With a decomposition it is a keyword."""

    substitute: tuple[str, ...] = ()
    rank: int = 0
    decompositions: tuple[Decomposition, ...] = ()


@dataclass
class Script:
    opening: str = ""
    none: tuple[str, ...] = ()
    memory_key: str = ""
    memory: tuple[Decomposition, ...] = ()
    words: dict[str, frozenset[str]] = field(default_factory=dict)
    rules: dict[str, Rule] = field(default_factory=dict)


@dataclass
class Block:
    """A line of the script without indent, and the patterns and texts below it."""

    head: list[str]
    patterns: list[tuple[str, list[str]]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [text for _, texts in self.patterns for text in texts]


@lru_cache(maxsize=1)
def load() -> Script:
    """The script of `eliza_script.txt`, ready to use."""
    return parse(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))


def parse(text: str) -> Script:
    """A script from its text.

    Raises ValueError for a line that cannot be read and for a link to a word that is no keyword.
    """
    blocks = _blocks(text)
    tags = _tags(blocks)
    script, number = Script(), 0
    for block in blocks:
        built = tuple(
            Decomposition(number + n, _segments(pattern, tags), tuple(map(_reassembly, texts)))
            for n, (pattern, texts) in enumerate(block.patterns, start=1)
        )
        number += len(built)
        _add(script, block, built)
    _check_links(script)
    return script


def _blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    for line in text.splitlines():
        depth, content = len(line) - len(line.lstrip()), line.strip()
        if not content or content.startswith("#"):
            continue
        if depth == 0:
            blocks.append(Block(content.split()))
        elif depth == 2 and blocks:
            blocks[-1].patterns.append((content, []))
        elif depth == 4 and blocks:
            if not blocks[-1].patterns:
                blocks[-1].patterns.append(("0", []))
            blocks[-1].patterns[-1][1].append(content)
        else:
            raise ValueError(f"Cannot read this line of the script: {line!r}")
    return blocks


def _add(script: Script, block: Block, built: tuple[Decomposition, ...]) -> None:
    match block.head:
        case ["key", word, *rest]:
            script.rules[word] = _rule(rest, built)
        case ["words", name]:
            script.words[name] = frozenset(" ".join(block.texts).split())
        case ["memory", word]:
            script.memory_key, script.memory = word, built
        case ["none"]:
            script.none = tuple(block.texts)
        case ["opening"]:
            script.opening = block.texts[0]
        case _:
            raise ValueError(f"Cannot read this line of the script: {' '.join(block.head)!r}")


def _tags(blocks: Iterable[Block]) -> dict[str, frozenset[str]]:
    members: dict[str, set[str]] = {}
    for block in blocks:
        for tag in block.head[2:]:
            if tag.startswith("/"):
                members.setdefault(tag, set()).add(block.head[1])
    return {tag: frozenset(found) for tag, found in members.items()}


def _rule(rest: Sequence[str], built: tuple[Decomposition, ...]) -> Rule:
    """A rule from what stands behind its word: `= WORDS`, a rank, tags."""
    rank = next((int(item) for item in rest if item.isdigit()), 0)
    substitute = tuple(item for item in rest if item != "=" and not item.isdigit() and item[0] != "/")
    return Rule(substitute=substitute, rank=rank, decompositions=built)


def _segments(pattern: str, tags: Mapping[str, frozenset[str]]) -> tuple[tuple[Piece, ...], ...]:
    segments: list[list[Piece]] = [[]]
    for item in pattern.split():
        if item == "0":
            segments.append([])
        elif item.isdigit():
            segments[-1].append(int(item))
        elif item in tags:
            segments[-1].append(tags[item])
        else:
            segments[-1].append(frozenset(item.lower().split("|")))
    return tuple(map(tuple, segments))


def _reassembly(line: str) -> Reassembly:
    if line == "newkey":
        return Reassembly("newkey")
    if line.startswith("= "):
        return Reassembly("link", link=line[2:])
    if line.startswith("pre "):
        text, _, link = line[4:].partition(" = ")
        return Reassembly("pre", _parts(text), link)
    return Reassembly("say", _parts(line))


def _parts(text: str) -> Parts:
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"\((\d)\)", text) if part)


def _check_links(script: Script) -> None:
    for link in _links(script):
        if link not in script.rules or not script.rules[link].decompositions:
            raise ValueError(f"The script links to {link!r}, which is no keyword.")


def _links(script: Script) -> Iterator[str]:
    for rule in script.rules.values():
        for decomposition in rule.decompositions:
            yield from (each.link for each in decomposition.reassemblies if each.link)
