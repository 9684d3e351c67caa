"""What a token may be used for. The browser's session may be used for everything its owner may do."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.http import HttpRequest

from annotations.people.errors import Refused
from annotations.people.models import ApiToken

F = TypeVar("F", bound=Callable[..., Any])


def needs(*scopes: str) -> Callable[[F], F]:
    """A REST operation for tokens with any of these scopes. `request.auth` is the token or, by session, the user.

    Raises Refused scope_missing.
    """

    def guard(operation: F) -> F:
        @wraps(operation)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            token = getattr(request, "auth", None)
            if isinstance(token, ApiToken) and not set(scopes) & set(token.scopes):
                words = " or ".join(scopes)
                raise Refused(
                    "scope_missing",
                    f"This token may not be used for that: it lacks the scope {words}. Make one that has it on the "
                    "account page.",
                    status=403,
                )
            return operation(request, *args, **kwargs)

        return cast("F", guarded)

    return guard
