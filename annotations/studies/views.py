"""Coming in: invitation links, open studies, and whom to turn to."""

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth import login
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from annotations.people.errors import Refused
from annotations.people.forms import SignUpForm
from annotations.people.models import User
from annotations.studies import services, texts
from annotations.studies.models import ROLES, Study

MAY_LINK = {"http", "https", "tel", "mailto"}
"""Schemes of support links that are shown: a researcher's typing slip must not become a script."""


@never_cache
def join(request: HttpRequest, code: str) -> HttpResponse:
    """An invitation link: what it is to, and joining it with a new account or the one signed in."""
    invitation = services.usable_invitation(code)
    enter = partial(services.accept_invitation, code=code)
    return _join(request, invitation.study, invitation.role, enter)


@never_cache
def join_study(request: HttpRequest, slug: str) -> HttpResponse:
    """The same for a study that anybody may join."""
    study = get_object_or_404(Study, slug=slug)
    services.refuse_unless_open_signup(study)
    return _join(request, study, "worker", partial(services.join_openly, study=study))


def _join(request: HttpRequest, study: Study, role: str, enter: Callable[..., object]) -> HttpResponse:
    form = SignUpForm(request.POST or None)
    if request.method == "POST" and _entered(request, form, enter):
        return redirect("study", study.slug) if role == "worker" else redirect("home")
    values = {
        "study": study,
        "role": dict(ROLES)[role].lower(),
        "form": form,
        "warning": services.current_consent(study).warning,
    }
    return render(request, "studies/join.html", values, status=422 if request.method == "POST" else 200)


def _entered(request: HttpRequest, form: SignUpForm, enter: Callable[..., object]) -> bool:
    """Whether the person, newly signed up where need be, is in the study now; else the form says why not."""
    if request.user.is_authenticated:
        enter(user=request.user)
        return True
    if not form.is_valid():
        return False
    try:
        user = services.sign_up_and_enter(enter=enter, **form.cleaned_data)
    except Refused as refusal:
        if refusal.code != "name_taken":
            raise
        form.add_error("username", refusal.detail)
        return False
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return True


def support(request: HttpRequest) -> HttpResponse:
    """What one may get to read, whom to talk to, how to stop: in a study's own words for who may see it."""
    study = _seen(request.user, request.GET.get("study", ""))
    text = services.current_consent(study) if study else None
    values = {
        "study": study,
        "warning": text.warning if text else texts.WARNING,
        "stopping": text.stopping if text else texts.STOPPING,
        "links": safe_links(study.support if study else texts.SUPPORT),
    }
    return render(request, "studies/support.html", values)


def _seen(user: User | AnonymousUser, slug: str) -> Study | None:
    study = Study.objects.filter(slug=slug[:60]).first() if slug.isprintable() else None
    if study is None or (study.open_signup and study.state == Study.State.OPEN):
        return study
    return study if user.is_authenticated and study.memberships.filter(user=user).exists() else None


def safe_links(support: Any) -> list[tuple[str, str]]:
    """The pairs of label and address that can be shown as links."""
    pairs = [
        item for item in support if isinstance(item, list) and [type(part) for part in item] == [str, str]
    ]
    return [(label, url) for label, url in pairs if _scheme(url) in MAY_LINK]


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""
