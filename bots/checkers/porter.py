"""The stem of an English word, after M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980,
130-137, DOI 10.1108/eb046814. His five steps and nothing else; NLTK's stemmer adds rules of its own.
"""

from functools import lru_cache
from itertools import pairwise

_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "abli": "able",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = {
    **dict.fromkeys(("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"), ""),
    **dict.fromkeys(("ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"), ""),
}


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a word in lower case; a word of one or two letters stays as it is."""
    if len(word) < 3:
        return word
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _replaced(_replaced(word, _STEP_2, 0), _STEP_3, 0)
    return _step_5(_replaced(word, _STEP_4, 1))


def _consonant(word: str, at: int) -> bool:
    if word[at] == "y":
        return at == 0 or not _consonant(word, at - 1)
    return word[at] not in "aeiou"


def _measure(stem_: str) -> int:
    """Porter's m: how often a vowel is followed by a consonant."""
    kinds = [_consonant(stem_, at) for at in range(len(stem_))]
    return sum(not before and after for before, after in pairwise(kinds))


def _has_vowel(stem_: str) -> bool:
    return any(not _consonant(stem_, at) for at in range(len(stem_)))


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _consonant(word, len(word) - 1)


def _short_end(word: str) -> bool:
    """Porter's *o: consonant, vowel, consonant, the last of which is not w, x or y."""
    at = len(word) - 1
    return (
        at >= 2
        and _consonant(word, at)
        and not _consonant(word, at - 1)
        and _consonant(word, at - 2)
        and word[-1] not in "wxy"
    )


def _step_1a(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step_1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return _mended(rest) if _has_vowel(rest) else word
    return word


def _mended(rest: str) -> str:
    """What is left when -ed or -ing is gone, as a word again."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _doubled(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _short_end(rest) else rest


def _step_1c(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _replaced(word: str, suffixes: dict[str, str], above: int) -> str:
    """The word with its longest suffix of the table replaced, where what is before it measures more than `above`."""
    for length in range(min(7, len(word)), 1, -1):
        suffix = word[-length:]
        if suffix in suffixes:
            rest = word[:-length]
            if _measure(rest) > above and (suffix != "ion" or rest.endswith(("s", "t"))):
                return rest + suffixes[suffix]
            return word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _short_end(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
