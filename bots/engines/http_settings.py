"""The settings of a bot behind a web address."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from bots.engines.addresses import check_url
from bots.errors import ConfigError

Check = Callable[[str, Any], Any]

_ENV_NAME = re.compile(r"([A-Z][A-Z0-9_]{0,90}_)?(KEY|TOKEN)")
_NOT_FOR_BOTS = re.compile(r"SECRET|PASSW|^DJANGO_|^BADCOLLECT_|^AWS_|^HF_TOKEN$|^GITHUB_|^CI_")


def check(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every default filled in. Raises ConfigError that says what to enter.

    Our choices: `max_tokens` 128, a long turn of a chat; `temperature` left to the server unless set, since
    each model has its own; 30 s and 2 retries because a person waits at the other end.
    """
    style = _one_of("chat", "rest")("style", config.get("style", "chat"))
    known = _KNOWN | (_CHAT if style == "chat" else _REST)
    unknown = sorted(str(key) for key in config if key not in known)
    if unknown:
        raise ConfigError(
            f"Unknown setting {', '.join(unknown)} for style {style!r}. Known ones: {', '.join(known)}."
        )
    checked = {key: test(key, config.get(key, default)) for key, (default, test) in known.items()}
    if style == "chat" and urlsplit(checked["url"]).path.rstrip("/") in {"", "/v1"}:
        raise ConfigError(
            "url: enter the full address of the endpoint; most servers' ends in /v1/chat/completions."
        )
    return checked


def _one_of(*choices: str) -> Check:
    def test(key: str, value: Any) -> str:
        if value not in choices:
            raise ConfigError(f"{key}: enter one of {', '.join(choices)}.")
        return str(value)

    return test


def _number(low: float, high: float, *, whole: bool = False, empty: bool = False) -> Check:
    def test(key: str, value: Any) -> float | None:
        if value is None and empty:
            return None
        kinds = int if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
            kind = "a whole number" if whole else "a number"
            leave = ", or leave it out for the server's own" if empty else ""
            raise ConfigError(f"{key}: enter {kind} from {low:g} to {high:g}{leave}.")
        return value

    return test


def _text(longest: int, *, required: str = "") -> Check:
    def test(key: str, value: Any) -> str:
        if not isinstance(value, str) or len(value) > longest:
            raise ConfigError(f"{key}: enter text of at most {longest} characters.")
        if required and not value.strip():
            raise ConfigError(f"{key}: {required}")
        return value.strip()

    return test


def _url(_key: str, value: Any) -> str:
    return check_url(value)


def _env_name(key: str, value: Any) -> str:
    """The value is never repeated in the message, since it may be a key entered by mistake.

    Names that are likely to hold the site's own secrets are refused: the settings of a bot decide where
    the key is sent.
    """
    if value in ("", None):
        return ""
    if not isinstance(value, str) or not _ENV_NAME.fullmatch(value) or _NOT_FOR_BOTS.search(value):
        raise ConfigError(
            f"{key}: enter the name of an environment variable, never the key itself: capital letters,"
            " ending in _KEY or _TOKEN, and none of the site's own (SECRET, PASSWORD, DJANGO_, BADCOLLECT_,"
            " AWS_). For example VLLM_API_KEY."
        )
    return value


_KNOWN: dict[str, tuple[Any, Check]] = {
    "style": ("chat", _one_of("chat", "rest")),
    "url": ("", _url),
    "key_env": ("", _env_name),
    "timeout_s": (30, _number(0.1, 600)),
    "retries": (2, _number(0, 10, whole=True)),
    "max_in_flight": (256, _number(1, 512, whole=True)),
}
_CHAT: dict[str, tuple[Any, Check]] = {
    "model": ("", _text(200, required="enter the model's name as the server lists it.")),
    "system": ("", _text(8000)),
    "max_tokens": (128, _number(1, 32768, whole=True, empty=True)),
    "temperature": (None, _number(0, 2, empty=True)),
}
_REST: dict[str, tuple[Any, Check]] = {
    "bot_id": ("", _text(200)),
    "encoding": ("json", _one_of("json", "form")),
}
