"""Bots: the list, one with its settings, its health and a box to try it, a new one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.chats import trials
from annotations.console import forms, health
from annotations.console.access import person, researchers_only
from annotations.people.errors import Refused
from bots.errors import ConfigError
from bots.models import Bot
from bots.replies import SCRIPTED, check_config


@require_GET
@researchers_only
def bots(request: HttpRequest) -> HttpResponse:
    return render(request, "console/bots.html", {"tab": "bots", "bots": health.all_bots()})


def _bot(slug: str) -> Bot:
    found = Bot.objects.filter(slug=slug).first()
    if found is None:
        raise Refused("no_such_bot", "There is no such bot. It may have another short name now.", status=404)
    return found


@require_http_methods(["GET", "POST"])
@researchers_only
def bot_new(request: HttpRequest) -> HttpResponse:
    form = forms.ConsoleBotForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        stored = form.save()
        messages.success(request, "Saved. Try the bot below, then add it to a study.")
        return redirect("bot", stored.slug)
    return render(
        request, "console/bot_new.html", {"tab": "bots", "form": form}, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "POST"])
@researchers_only
def bot(request: HttpRequest, slug: str) -> HttpResponse:
    stored = _bot(slug)
    form = forms.ConsoleBotForm(request.POST if request.method == "POST" else None, instance=_bot(slug))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved. It holds from the bot's next reply on.")
        return redirect("bot", form.instance.slug)
    return _page(request, stored, form, forms.TrialForm(), status=422 if form.errors else 200)


def _page(
    request: HttpRequest, stored: Bot, form: Any, trial_form: Any, *, status: int = 200
) -> HttpResponse:
    rows, pending = health.trials(stored)
    values = {
        "tab": "bots",
        "bot": stored,
        "form": form,
        "trial_form": trial_form,
        "trials": rows,
        "pending": pending,
        "health": health.health(stored),
        "failures": health.failures(stored, person(request)),
        "public_address": request.build_absolute_uri(reverse("bot_reply", args=[stored.slug])),
        "scripted": stored.engine in SCRIPTED,
        **_in_force(stored),
    }
    return render(request, "console/bot.html", values, status=status)


def _in_force(stored: Bot) -> dict[str, Any]:
    """The settings with the engine's defaults, each with whether it was set; or why they cannot be used."""
    try:
        checked = check_config(stored.engine, stored.config)
    except (ConfigError, ImportError) as error:
        return {"in_force": [], "config_problem": str(error)}
    return {
        "in_force": [(key, value, key in stored.config) for key, value in checked.items()],
        "config_problem": "",
    }


@require_POST
@researchers_only
def bot_try(request: HttpRequest, slug: str) -> HttpResponse:
    stored = _bot(slug)
    form = forms.TrialForm(request.POST)
    if form.is_valid():
        try:
            trials.start(bot=stored, user=person(request), text=form.cleaned_data["text"])
        except Refused as refusal:
            form.add_error("text", refusal.detail)
        else:
            return redirect(reverse("bot", args=[slug]) + "#try")
    return _page(request, stored, forms.ConsoleBotForm(instance=_bot(slug)), form, status=422)


@require_GET
@researchers_only
def bot_trials(request: HttpRequest, slug: str) -> HttpResponse:
    stored = _bot(slug)
    rows, pending = health.trials(stored)
    return render(request, "console/_trials.html", {"bot": stored, "trials": rows, "pending": pending})
