"""Who opens a socket: a token in the Authorization header, or the browser's session from our own origin."""

from collections.abc import Awaitable, Callable
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from channels.security.websocket import AllowedHostsOriginValidator
from django.contrib.auth.models import AnonymousUser

from annotations.people.services import digest, user_of_token

App = Callable[[dict[str, Any], Any, Any], Awaitable[Any]]


class TokenOrSession:
    """A token needs no check of the origin: no browser sends it by itself. A cookie does."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.by_session = AuthMiddlewareStack(app)
        self.by_browser = AllowedHostsOriginValidator(self.by_session)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        headers = dict(scope["headers"])
        given = headers.get(b"authorization")
        if given is None:
            # every browser says where it comes from, so what says nothing is a script and rides on no cookie of others
            app = self.by_browser if b"origin" in headers else self.by_session
            return await app(scope, receive, send)
        kind, _, key = given.decode("latin1").partition(" ")
        user = None
        if kind.lower() == "bearer":
            user = await database_sync_to_async(user_of_token)(key.strip(), scope="chat")
        known = {"user": user or AnonymousUser(), "token": digest(key.strip())}
        return await self.app({**scope, **known}, receive, send)
