"""Studies: the list, a new one, settings, overview, links, opening and closing."""

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.console import forms, queries, services
from annotations.console.access import page_of, person, researchers_only
from annotations.people.errors import Refused
from annotations.studies.models import Study
from annotations.studies.services import CONSENT_FIELDS, create_study, current_consent, study_for_researcher
from bots.models import Bot


@require_GET
@researchers_only
def console(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "console/studies.html",
        {"tab": "studies", "page": page_of(request, queries.my_studies(person(request)))},
    )


@require_http_methods(["GET", "POST"])
@researchers_only
def study_new(request: HttpRequest) -> HttpResponse:
    form = forms.NewStudyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        study = create_study(owner=person(request), **form.cleaned_data)
        messages.success(request, "The study is a draft. Add its bots below, then open it.")
        return redirect("study_edit", study.slug)
    return render(
        request,
        "console/study_new.html",
        {"tab": "studies", "form": form},
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
@researchers_only
def study_edit(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    consent = current_consent(study)
    parts = _parts(request, study, {name: getattr(consent, name) for name in CONSENT_FIELDS})
    status = 200
    if request.method == "POST":
        # Each is asked, so that every problem is shown at once.
        if all([part.is_valid() for part in parts.values()]):  # noqa: C419
            try:
                return _save(request, parts, consent.version)
            except Refused as refusal:
                parts["form"].add_error(None, refusal.detail)
        status = 422
    return render(
        request,
        "console/study_edit.html",
        {"tab": "settings", "study": study, "consent": consent, **parts},
        status=status,
    )


def _parts(request: HttpRequest, study: Study, words: dict[str, str]) -> dict[str, Any]:
    """The four parts of the settings page. The form changes a copy: the page's head shows what is stored."""
    data = request.POST if request.method == "POST" else None
    rows = study.study_bots.order_by("bot__name")
    bot_chats = rows.filter(bot__dialogues__study=study).order_by().values_list("pk")
    set_chats = study.instruction_sets.filter(dialogues__study=study).order_by().values_list("pk")
    return {
        "form": forms.StudyForm(data, instance=Study.objects.get(pk=study.pk)),
        "bots": forms.StudyBots(
            data,
            instance=study,
            queryset=rows.select_related("bot"),
            in_use=dict(bot_chats.annotate(Count("bot__dialogues"))),
            form_kwargs={"bots": Bot.objects.exclude(study_bots__study=study).exclude(engine="imported")},
        ),
        "sets": forms.InstructionSets(
            data, instance=study, in_use=dict(set_chats.annotate(Count("dialogues")))
        ),
        "words": forms.ConsentForm(data, prefix="consent", initial=words),
    }


def _save(request: HttpRequest, parts: dict[str, Any], version: int) -> HttpResponse:
    form = parts["form"]
    stored = services.save_study(
        study=form.instance,
        fields=list(form.fields),
        rows=[parts["bots"], parts["sets"]],
        consent=parts["words"].cleaned_data,
    )
    told = "Saved."
    if stored.version != version:
        told = f"Saved. The consent text is now version {stored.version}: everybody is asked again."
    messages.success(request, told)
    return redirect("study_edit", form.instance.slug)


@require_GET
@researchers_only
def study_overview(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    return render(request, "console/overview.html", _overview(request, study, forms.InviteForm()))


@require_GET
@researchers_only
def study_figures(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    values = {"study": study, "figures": queries.figures(study), "now": timezone.now()}
    return render(request, "console/_figures.html", values)


def _overview(request: HttpRequest, study: Study, form: forms.InviteForm) -> dict[str, Any]:
    links = [
        (invitation, request.build_absolute_uri(reverse("join", args=[invitation.code])))
        for invitation in study.invitations.all()
    ]
    return {
        "tab": "overview",
        "study": study,
        "figures": queries.figures(study),
        "now": timezone.now(),
        "links": links,
        "form": form,
        "public_address": request.build_absolute_uri(reverse("join_study", args=[study.slug])),
    }


@require_POST
@researchers_only
def study_invite(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    form = forms.InviteForm(request.POST)
    if not form.is_valid():
        return render(request, "console/overview.html", _overview(request, study, form), status=422)
    services.invite(study=study, **form.cleaned_data)
    return redirect(reverse("study_overview", args=[slug]) + "#links")


@require_POST
@researchers_only
def study_uninvite(request: HttpRequest, slug: str, invitation_id: int) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    services.take_back(study=study, invitation_id=invitation_id)
    messages.success(request, "The link is taken back. Who has joined by it stays.")
    return redirect(reverse("study_overview", args=[slug]) + "#links")


@require_POST
@researchers_only
def study_open(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    return _change(request, study, services.open_study, "The study is open. Workers can start chats.")


@require_POST
@researchers_only
def study_pause(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    return _change(
        request, study, services.pause_study, "The study is paused. Chats under way go on; none can start."
    )


@require_http_methods(["GET", "POST"])
@researchers_only
def study_close(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    if request.method == "POST":
        return _change(request, study, services.close_study, "The study is closed.")
    return render(
        request,
        "console/study_close.html",
        {"tab": "overview", "study": study, "under_way": _under_way(study)},
    )


def _under_way(study: Study) -> int:
    return study.dialogues.filter(state="open").count()


def _change(request: HttpRequest, study: Study, verb: Any, told: str) -> HttpResponse:
    try:
        ended = verb(study=study)
    except Refused as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, f"{told} Chats ended: {ended}." if ended else told)
    return redirect("study_overview", study.slug)
