"""Who comes in: researchers, and only to the studies they run."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from annotations.people.errors import Refused
from annotations.people.models import User

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def person(request: HttpRequest) -> User:
    """Who asks; only behind `researchers_only`."""
    assert isinstance(request.user, User)  # noqa: S101 `researchers_only` has seen to it
    return request.user


def researchers_only(view: View[P]) -> View[P]:
    """A view for researchers; others get the page of an address that is not there.

    Raises Refused not_a_researcher.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        user = request.user
        if not user.is_authenticated:
            if request.headers.get("HX-Request"):
                # A part asked for by an open page must not be filled with the sign-in page.
                return HttpResponse(headers={"HX-Refresh": "true"})
            return redirect_to_login(request.get_full_path())
        _refuse_others(user)
        return view(request, *args, **kwargs)

    return guarded  # type: ignore[return-value]  # mypy keeps the name of the first argument


def _refuse_others(user: User) -> None:
    if not (user.is_researcher or user.is_superuser):
        detail = "Your account has no access to this page. Ask the person who sent you the link."
        raise Refused("not_a_researcher", detail, status=404)


def page_of(request: HttpRequest, rows: Any, size: int = 50) -> Page[Any]:
    """The page of `rows` that the address asks for; the nearest one where it asks for none there is."""
    return Paginator(rows, size).get_page(request.GET.get("page"))
