"""Which chat goes into train, valid or test: whole chats, seeded, test balanced over the bots."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from annotations.domain.rows import SPLITS


class SplitError(ValueError):
    """Splits that cannot be made. The message says what to change."""


class Candidate(NamedTuple):
    """A chat: its key, its bot's, and the split it is fixed to ("" where it is free)."""

    chat: int
    bot: int
    split: str


_HOW = "Write three shares that add up to 1, as in 0.8,0.1,0.1, or three counts, as in 5080,513,191."


def parse(text: str) -> tuple[float, float, float] | tuple[int, int, int]:
    """Shares (floats that add up to 1) or counts (ints) of train, valid and test. Raises SplitError."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != len(SPLITS):
        raise SplitError(_HOW)
    if all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        counts = tuple(map(int, parts))
        if counts not in {(1, 0, 0), (0, 1, 0), (0, 0, 1)}:
            return counts  # type: ignore[return-value]  # three of them, as checked
    try:
        train, valid, test = map(float, parts)
    except ValueError as error:
        raise SplitError(_HOW) from error
    if not (min(train, valid, test) >= 0 and abs(train + valid + test - 1) < 1e-6):
        raise SplitError(_HOW)
    return train, valid, test


def assign(candidates: Sequence[Candidate], splits: str, seed: int) -> dict[int, str]:
    """The split of each chat, in the order given; the same chats, splits and seed give the same answer.

    A fixed chat keeps its split and counts towards it. Test is filled next, one chat at a time from the bot that
    has fewest in it (the paper samples its test set over its many bots); then valid, then train, both drawn from
    what is left. Where fixed chats overfill a split, the others get less, train first.
    Raises SplitError: unreadable, or counts that do not add up to the number of chats.
    """
    wanted = _wanted(parse(splits), len(candidates))
    found = {candidate.chat: candidate.split for candidate in candidates}
    rng = Random(seed)
    free = [candidate for candidate in candidates if not candidate.split]
    rng.shuffle(free)
    have = [sum(candidate.split == name for candidate in candidates) for name in SPLITS]
    for chat in _balanced(free, [c.bot for c in candidates if c.split == "test"], wanted[2] - have[2]):
        found[chat] = "test"
    rest = [candidate.chat for candidate in free if not found[candidate.chat]]
    valid = max(0, wanted[1] - have[1])
    for place, chat in enumerate(rest):
        found[chat] = "valid" if place < valid else "train"
    return found


def _wanted(asked: tuple[float, float, float] | tuple[int, int, int], total: int) -> tuple[int, int, int]:
    """Chats wanted in train, valid and test. Shares are rounded, train takes what rounding leaves."""
    if isinstance(asked[0], int):
        if sum(asked) != total:
            raise SplitError(
                f"The counts add up to {sum(asked):,}, and there are {total:,} chats to export. "
                "Make them add up, or write shares, as in 0.8,0.1,0.1."
            )
        return asked  # type: ignore[return-value]  # all three are of one type
    valid, test = round(asked[1] * total), round(asked[2] * total)
    return total - valid - test, valid, test


def _balanced(free: Sequence[Candidate], fixed: Sequence[int], count: int) -> list[int]:
    """`count` chats (fewer if there are not as many), each from the bot with fewest so far, `fixed` included."""
    queues: dict[int, list[int]] = defaultdict(list)
    for candidate in reversed(free):
        queues[candidate.bot].append(candidate.chat)
    taken: dict[int, int] = {bot: fixed.count(bot) for bot in queues}
    chosen: list[int] = []
    while len(chosen) < count and queues:
        bot = min(queues, key=lambda key: (taken[key], key))
        chosen.append(queues[bot].pop())
        taken[bot] += 1
        if not queues[bot]:
            del queues[bot]
    return chosen
