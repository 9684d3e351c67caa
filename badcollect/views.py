import logging
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone

from annotations.people.errors import Refused

log = logging.getLogger(__name__)


def health(_request: HttpRequest) -> JsonResponse:
    """Whether the web process can do its work: 200 and the database's answer, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        log.warning("health: %s", error)
        return JsonResponse({"ok": False, "database": "The database does not answer."}, status=503)
    return JsonResponse({"ok": True})


def _page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    values = {"status": status, "title": title, "text": text, "now": timezone.now()}
    return render(request, "error.html", values, status=status)


def bad_request(request: HttpRequest, exception: Any = None) -> HttpResponse:  # noqa: ARG001
    return _page(
        request,
        400,
        "That could not be read",
        "The address or the form was not as expected. Nothing changed.",
    )


def forbidden(request: HttpRequest, exception: Any = None) -> HttpResponse:  # noqa: ARG001
    text = "Your account has no access to this page. Ask the person who sent you the link."
    return _page(request, 403, "You have no access to this page", text)


def not_found(request: HttpRequest, exception: Any = None) -> HttpResponse:  # noqa: ARG001
    text = (
        "The chat may have been closed, or the address may be missing a letter. "
        "Nothing you wrote is lost: your open chats are on your start page."
    )
    if _is_rest(request):
        return JsonResponse({"error": "not_found", "detail": "There is nothing at this address."}, status=404)
    return _page(request, 404, "This page is not here", text)


def refused(request: HttpRequest, refusal: Refused) -> HttpResponse:
    """The words of a service that refused, under a heading of their kind."""
    titles = {403: "This is not open to you", 404: "This page is not here", 410: "This link no longer works"}
    title = titles.get(refusal.status, "That cannot be done now")
    return _page(request, refusal.status, title, refusal.detail)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    log.info("csrf: %s", reason)
    return _page(
        request, 403, "This form had gone stale", "Go back, load the page again and send it once more."
    )


def broken(request: HttpRequest) -> HttpResponse:
    """The page of a fault of ours. It asks the database nothing: that may be what broke."""
    reference = getattr(request, "reference", "")
    log.error("reference %s: %s %r broke", reference, request.method, request.path)
    text = f"Something broke on our side. It is recorded as {reference}. What was stored before is safe."
    if _is_rest(request):
        return JsonResponse({"error": "server_error", "detail": text}, status=500)
    values = {"text": text, "contact_email": settings.CONTACT_EMAIL, "reference": reference}
    return HttpResponse(render_to_string("broken.html", values), status=500)


def _is_rest(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
