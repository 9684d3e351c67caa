"""Values from the environment, each with a loud error when it cannot be used."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str = "") -> str:
    """The value as it is; one that is empty counts as not set, as in every function here."""
    return os.environ.get(name) or default


def one_of(name: str, default: str, choices: tuple[str, ...]) -> str:
    """One of `choices`. Raises ImproperlyConfigured for anything else."""
    value = text(name, default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name}={value!r} is none of {', '.join(choices)}.")
    return value


def flag(name: str, *, default: bool = False) -> bool:
    """`1` or `0`. Raises ImproperlyConfigured for anything else."""
    raw = text(name)
    if not raw:
        return default
    if raw not in ("0", "1"):
        raise ImproperlyConfigured(f"{name}={raw!r} is neither 0 nor 1. Set it to 1 for yes, 0 for no.")
    return raw == "1"


def number(name: str, default: int, *, low: int = 1, high: int = 1_000_000) -> int:
    """A whole number from `low` to `high`. Raises ImproperlyConfigured for anything else."""
    raw = text(name, str(default))
    if not raw.isascii() or not raw.isdigit() or not low <= int(raw) <= high:
        raise ImproperlyConfigured(f"{name}={raw!r} is not a whole number from {low} to {high}.")
    return int(raw)


def names(name: str, default: str = "") -> list[str]:
    """Values parted by commas."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def secret(name: str, file: Path) -> str:
    """The value of `name`, else that of `file`, which is made (readable by its owner only) on first use.

    Our choice: one machine needs no set-up, and no default secret exists that could leak.
    Raises ImproperlyConfigured where the file cannot be written, or is empty.
    """
    if value := text(name):
        return value
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            _make(file)
        value = file.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{file} cannot be used ({error.strerror}). "
            f"Make {file.parent} writable, or set VAR_DIR to a folder that is."
        ) from error
    if not value:
        raise ImproperlyConfigured(f"{file} is empty. Delete it, and it is made anew; or set {name}.")
    return value


def _make(file: Path) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as handle:
        handle.write(secrets.token_urlsafe(50))
