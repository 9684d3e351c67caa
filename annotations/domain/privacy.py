"""What keeps names out of a dataset: pseudonyms, and marks over addresses and numbers in texts."""

import hashlib
import hmac
import re

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_NUMBER = re.compile(r"\+?\d(?:[ ./()-]{0,2}\d){5,30}")


def derived_key(secret: str, *parts: object) -> str:
    """A key of 64 hexadecimal digits that cannot be guessed without `secret`; the same parts give the same."""
    words = "\x1f".join(map(str, parts))
    return hmac.new(secret.encode(), words.encode(), hashlib.sha256).hexdigest()


class Pseudonyms:
    """Names of 16 hexadecimal digits, by HMAC-SHA256 under the export's key (64 bits: none will be alike)."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()
        self._known: dict[tuple[str, int], str] = {}

    def of(self, kind: str, number: int) -> str:
        """The pseudonym of the `kind` (chat, person, bot) with this key in the database."""
        found = self._known.get((kind, number))
        if found is None:
            found = hmac.new(self._key, f"{kind} {number}".encode(), hashlib.sha256).hexdigest()[:16]
            self._known[kind, number] = found
        return found


def has_email(text: str) -> bool:
    return "@" in text and _EMAIL.search(text) is not None


def has_number(text: str) -> bool:
    """Whether `text` holds six digits or more in a row, marks such as a space or a hyphen between them or not.

    Our choice: years, prices and ages stay, telephone and account numbers do not.
    """
    return _NUMBER.search(text) is not None


def masked(text: str) -> str:
    """`text` with [email] and [number] in the place of what the two functions above find."""
    return _NUMBER.sub("[number]", _EMAIL.sub("[email]", text))
