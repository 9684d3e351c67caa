import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve

from annotations.people.errors import Refused
from badcollect.views import refused


class ReferenceMiddleware:
    """Gives each request a short reference, shown on error pages and written to the log with the traceback."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.reference = reference()  # type: ignore[attr-defined]
        return self.get_response(request)


class RefusedMiddleware:
    """Shows what a page's service refused as an error page with its words."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return refused(request, exception) if isinstance(exception, Refused) else None


class StaleFormMiddleware:
    """Leads back to the page of a form whose address was opened, as sign-in does after a session has ended."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if (
            response.status_code != 405
            or request.method != "GET"
            or request.path.startswith(("/api/", "/bots/"))
        ):
            return response
        above = request.path.rstrip("/").rpartition("/")[0]
        return redirect(next((path for path in (above, f"{above}/") if path and _is_page(path)), "/"))


def _is_page(path: str) -> bool:
    try:
        resolve(path)
    except Resolver404:
        return False
    return True


def reference() -> str:
    """Two groups of four hexadecimal digits, as in 5d90-a1c7."""
    code = secrets.token_hex(4)
    return f"{code[:4]}-{code[4:]}"
