"""The verbs about people: accounts, tokens."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotations.people.errors import Refused
from annotations.people.models import SCOPES, ApiToken, User

TOKENS_EACH = 20


def sign_up(*, username: str, password: str) -> User:
    """A new account with no role yet. Raises Refused name_taken, whatever the case of the letters."""
    username = User.normalize_username(username)
    if not User.objects.filter(username__iexact=username).exists():
        try:
            with transaction.atomic():
                return User.objects.create_user(username, password=password)
        except IntegrityError:
            pass  # somebody took it since the look
    raise Refused("name_taken", "This name is taken. Choose another.")


def set_preferences(*, user: User, **choices: str | int) -> None:
    """Keeps how the person wants the pages: any of `theme`, `single_keys`, `veil`, `avoid`."""
    for name, value in choices.items():
        setattr(user, name, value)
    user.save(update_fields=list(choices))


def set_password(*, user: User, password: str) -> None:
    """Replaces the password; every session signed in with the old one ends."""
    user.set_password(password)
    user.save(update_fields=["password"])


def digest(key: str) -> str:
    """What is stored of a key: its SHA-256. A key has 256 random bits, so no slow hash is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


@transaction.atomic
def make_token(*, user: User, name: str, scopes: Collection[str] = SCOPES) -> tuple[ApiToken, str]:
    """A new token and its key, which is not kept. Raises Refused too_many_tokens, bad_scopes."""
    if not scopes or set(scopes) - set(SCOPES):
        raise Refused(
            "bad_scopes", f"Choose what the token may be used for: {', '.join(SCOPES)}.", status=422
        )
    if user.tokens.select_for_update().count() >= TOKENS_EACH:
        raise Refused("too_many_tokens", f"You have {TOKENS_EACH} tokens. Delete one that you no longer use.")
    key = "bc_" + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name.strip()[:60] or "token",
        scopes=[scope for scope in SCOPES if scope in scopes],
        digest=digest(key),
        start=key[:7],
    )
    return token, key


def token_of(key: str) -> ApiToken | None:
    """The token with this key, of an account in use, or None. Notes, at most once a minute, that it was used."""
    token = ApiToken.objects.select_related("user").filter(digest=digest(key), user__is_active=True).first()
    if token is None:
        return None
    now = timezone.now()
    if token.used_at is None or now - token.used_at > timedelta(minutes=1):
        ApiToken.objects.filter(pk=token.pk).update(used_at=now)
    return token


def user_of_token(key: str, *, scope: str = "") -> User | None:
    """Whose key it is, or None; with a `scope`, None also for a token without it."""
    token = token_of(key)
    return token.user if token and (not scope or scope in token.scopes) else None


def still_welcome(*, user_id: int, digest_: str | None) -> bool:
    """Whether the account is in use, and the token with this digest, where one was sent, not deleted."""
    if digest_ is not None:
        return ApiToken.objects.filter(digest=digest_, user_id=user_id, user__is_active=True).exists()
    return User.objects.filter(pk=user_id, is_active=True).exists()


def delete_token(*, user: User, token_id: int) -> None:
    """Ends a token of one's own; of another's, nothing happens."""
    user.tokens.filter(pk=token_id).delete()
