"""Who gets what: draws that a study's balance rests on."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def neediest(wanted: Mapping[int, int], taken: Mapping[int, int], rng: Random) -> int | None:
    """The key with most chats still needed (`wanted` less `taken`), or None when nobody needs any.

    Ties are drawn. The released chat task pairs so too (worlds.py, bad.md section 1), but counts a chat only
    when it is finished; `taken` must hold the open ones, or a burst of starts overshoots.
    """
    need = {key: count - taken.get(key, 0) for key, count in wanted.items()}
    most = max(need.values(), default=0)
    if most <= 0:
        return None
    return rng.choice(sorted(key for key, count in need.items() if count == most))


def draw(items: Sequence[T], weights: Sequence[int], rng: Random) -> T | None:
    """One item by weight, or None where every weight is zero."""
    if not any(weights):
        return None
    return rng.choices(items, weights)[0]
