"""Personal data in a text, by its form: e-mail, phone, card, bank account, US social security and IP numbers."""

import re
from collections.abc import Callable

_EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}\b")
_CARD = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w.]?\d)")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_SSN = re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")
_PHONE = re.compile(
    r"(?<![\w.@:/-])(?:\+|00)?\(?\d{1,4}\)?(?: ?\(0\) ?)?(?:[ -]?\(?\d{2,5}\)?){2,5}(?![\w@:/.-]?\d)(?![\w@])"
)
_IP = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)")


def find(text: str) -> list[tuple[str, str]]:
    """What was found, as (kind, the text itself), from the left; no character belongs to two finds.

    It knows forms only: a name or a street is not found, and a number of another use may be taken for a phone's.
    """
    kinds: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
        ("e-mail", _EMAIL, lambda _: True),
        ("card", _CARD, _is_card),
        ("bank account", _IBAN, _is_iban),
        ("social security", _SSN, lambda _: True),
        ("ip address", _IP, lambda found: all(int(part) < 256 for part in found.split("."))),
        ("phone", _PHONE, _is_phone),
    )
    taken: list[tuple[int, int, str, str]] = []
    for kind, pattern, holds in kinds:
        for match in pattern.finditer(text):
            free = all(match.end() <= start or match.start() >= end for start, end, _, _ in taken)
            if free and holds(match[0]):
                taken.append((*match.span(), kind, match[0]))
    return [(kind, found) for _, _, kind, found in sorted(taken)]


def masked(text: str) -> str:
    """The text with the middle of everything found made unreadable, so that evidence does not leak it again."""
    for _, found in find(text):
        text = text.replace(found, found[:1] + "…" + found[-1:])
    return text


def _digits(text: str) -> list[int]:
    return [int(c) for c in text if c.isdecimal()]


def _is_card(found: str) -> bool:
    """H. P. Luhn's check digit, US patent 2,950,048."""
    digits = _digits(found)
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def _is_iban(found: str) -> bool:
    """ISO 13616: the letters as numbers, the first four characters last, leave 1 when divided by 97."""
    plain = found.replace(" ", "")
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _is_phone(found: str) -> bool:
    """Nine digits or more: eight are a date as often as not."""
    return 9 <= len(_digits(found)) <= 15
