"""The REST root: /api/v1, its page at /api/v1/docs."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import HttpBearer, SessionAuth

from annotations.chats.api import router as chats
from annotations.exports.api import router as data
from annotations.people.errors import Refused
from annotations.people.services import token_of
from annotations.verification.api import router as verifying


class Token(HttpBearer):
    def authenticate(self, request: HttpRequest, token: str) -> Any:
        found = token_of(token)
        if found is None:
            raise AuthenticationError
        request.user = found.user
        return found


class Session(SessionAuth):
    """The browser's session; who is not signed in is told so, rather than that a CSRF token is missing."""

    def __call__(self, request: HttpRequest) -> Any:
        if not request.user.is_authenticated:
            raise AuthenticationError
        return super().__call__(request)


api = NinjaAPI(
    title="badcollect",
    version="1",
    urls_namespace="api-1",
    auth=[Token(), Session(csrf=True)],
    docs_url="/docs",
    description=(
        "Send `Authorization: Bearer <token>`. Tokens are made on the account page, each with scopes: `chat` to chat "
        "and read one's own chats, `read` to read the data of studies one runs, `export` to make and download "
        "exports of them. Lists come in pages: send the `next` of a page as `after` for the one behind it."
    ),
)
api.add_router("", chats)
api.add_router("", verifying)
api.add_router("", data)


@api.exception_handler(Refused)
def refused(request: HttpRequest, error: Refused) -> HttpResponse:
    return api.create_response(request, {"error": error.code, "detail": error.detail}, status=error.status)


@api.exception_handler(AuthenticationError)
def not_signed_in(request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
    detail = (
        "Send a token that is still there: Authorization: Bearer <token>. They are made on the account page."
    )
    return api.create_response(request, {"error": "not_signed_in", "detail": detail}, status=401)


@api.exception_handler(HttpError)
def turned_away(request: HttpRequest, error: HttpError) -> HttpResponse:
    return api.create_response(request, {"error": "refused", "detail": str(error)}, status=error.status_code)


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    first = error.errors[0]
    where = ".".join(str(part) for part in first["loc"])
    return api.create_response(
        request, {"error": "invalid", "detail": f"{where}: {first['msg']}."}, status=422
    )
