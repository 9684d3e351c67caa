"""Signing in and out, and one's own account."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotations.people import services
from annotations.people.errors import Refused
from annotations.people.forms import PasswordForm, PreferencesForm, SignInForm, TokenForm
from annotations.people.models import User


class SignedIn(HttpRequest):
    """A request that has passed `login_required`."""

    user: User


sign_in = LoginView.as_view(
    template_name="people/login.html", authentication_form=SignInForm, redirect_authenticated_user=True
)


def locked_out(
    request: HttpRequest, _response: Any = None, _credentials: Any = None, *_: Any
) -> HttpResponse:
    """What somebody sees whose name was tried too often: how long to wait. Called by axes."""
    minutes = round(settings.AXES_COOLOFF_TIME * 60)
    wait = "a minute" if minutes == 1 else f"{minutes} minutes"
    values = {
        "status": 429,
        "title": "Too many tries",
        "text": f"The password was wrong too often. Wait {wait}, then sign in again. The account is safe.",
        "now": timezone.now(),
    }
    return render(request, "error.html", values, status=429)


def _account(request: SignedIn, status: int = 200, **values: Any) -> HttpResponse:
    forms: dict[str, BaseForm] = {
        "preferences": PreferencesForm(instance=request.user),
        "password": PasswordForm(user=request.user),
        "token": TokenForm(),
    }
    values = {**forms, "tokens": request.user.tokens.all(), **values}
    return render(request, "people/account.html", values, status=status)


@login_required
@never_cache
def account(request: SignedIn) -> HttpResponse:
    """The account page; posted to, it keeps how the person wants the pages."""
    if request.method != "POST":
        return _account(request)
    # A copy, so that a choice refused by the form does not colour the page that says so.
    form = PreferencesForm(request.POST, instance=User(pk=request.user.pk, username=request.user.username))
    if not form.is_valid():
        return _account(request, 422, preferences=form)
    services.set_preferences(user=request.user, **form.cleaned_data)
    messages.success(request, "Your choices are saved.")
    return redirect("account")


@login_required
@require_POST
def change_password(request: SignedIn) -> HttpResponse:
    form = PasswordForm(request.POST, user=request.user)
    if not form.is_valid():
        return _account(request, 422, password=form)
    services.set_password(user=request.user, password=form.cleaned_data["new"])
    update_session_auth_hash(request, request.user)
    messages.success(request, "Your password is changed. Everywhere else you are signed out.")
    return redirect("account")


@login_required
@require_POST
@never_cache
def make_token(request: SignedIn) -> HttpResponse:
    """Shows the new key in the answer itself, so that it is stored nowhere."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _account(request, 422, token=form)
    try:
        _, key = services.make_token(user=request.user, **form.cleaned_data)
    except Refused as refusal:
        form.add_error("name", refusal.detail)
        return _account(request, refusal.status, token=form)
    return _account(request, new_key=key)


@login_required
@require_POST
def delete_token(request: SignedIn, token_id: int) -> HttpResponse:
    services.delete_token(user=request.user, token_id=token_id)
    messages.success(request, "The token is deleted. Scripts that send it are turned away.")
    return redirect("account")
