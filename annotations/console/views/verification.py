"""Verification as a researcher runs it: how far it is, its plan, known answers, verifiers, merging."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, F, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.chats.models import Utterance
from annotations.console import agreements, measures, verification_forms, verifiers, verifying
from annotations.console.access import page_of, person, researchers_only
from annotations.console.goldfile import COLUMNS, BadFile
from annotations.console.views.statistics import pending, slots
from annotations.domain import figures
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.models import Study
from annotations.studies.services import study_for_researcher
from annotations.verification import quality, remerging
from annotations.verification.models import Item, Merging, Vote
from annotations.verification.services import plan_of, send_to_verification

MERGINGS_SHOWN = 8


@require_GET
@researchers_only
def study_verification(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    plan = plan_of(study)
    progress = measures.progress(study)
    votes = figures.votes_a_day(progress.days, last_is_over=False)
    there = measures.rules_merged(study)
    values = {
        "tab": "verification",
        "part": "progress",
        "study": study,
        "plan": plan,
        "progress": progress,
        "paused": study.standings.filter(paused_at__isnull=False).count(),
        "imported": study.dialogues.filter(imported=True, items_at=None).count(),
        "rules": [row for row in measures.RULES.items() if row[0] != measures.IMPORTED],
        "merged": [(measures.RULES[name], count) for name, count in there.items()],
        **_mergings(study),
        **slots(study, [votes]),
    }
    if there:
        found = agreements.ask(study=study, rule=measures.chosen_rule(plan, list(there), ""))
        values["agreement"] = found
        values["pending"] = [*values["pending"], *pending([found])]
    return render(request, "console/verification.html", values)


def _mergings(study: Study) -> dict[str, Any]:
    jobs = list(study.mergings.select_related("asked_by")[:MERGINGS_SHOWN])
    under_way = any(job.state in (Merging.State.WAITING, Merging.State.RUNNING) for job in jobs)
    rows = [(job, measures.RULES[job.rule]) for job in jobs]
    return {"study": study, "mergings": rows, "merging_now": under_way}


@require_GET
@researchers_only
def study_mergings(request: HttpRequest, slug: str) -> HttpResponse:
    """How far the mergings are."""
    study = study_for_researcher(user=person(request), slug=slug)
    return render(request, "console/_mergings.html", _mergings(study))


@require_POST
@researchers_only
def study_remerge(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    rule = request.POST.get("rule", "")
    try:
        remerging.ask(study=study, rule=rule, actor=person(request))
    except Refused as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(
            request, f"Merging anew by this rule: {measures.RULES[rule]}. How far it is stands below."
        )
    return redirect(reverse("study_verification", args=[slug]) + "#merging")


@require_POST
@researchers_only
def study_remerge_stop(request: HttpRequest, slug: str, merging_id: int) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    if remerging.cancel(study=study, merging_id=merging_id):
        messages.success(request, "Stopped. Labels made so far stay.")
    return redirect(reverse("study_verification", args=[slug]) + "#merging")


@require_POST
@researchers_only
def study_send_imported(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    waiting = send_to_verification(study=study, actor=person(request))
    messages.success(request, f"{waiting:,} imported chats are being opened for verification.")
    return redirect("study_verification", slug)


# -- the plan ------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@researchers_only
def study_plan(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    form = verification_forms.PlanForm(request.POST or None, instance=plan_of(study))
    if request.method == "POST" and form.is_valid():
        changed = verifying.save_plan(study=study, actor=person(request), values=form.cleaned_data)
        told = "Saved." if changed else "Nothing was changed."
        if {"unsafe_from", "tie"} & set(changed):
            told += " Labels there are keep how they were made: merge anew to bring them up to date."
        messages.success(request, told)
        return redirect("study_plan", slug)
    values = {"tab": "verification", "part": "plan", "study": study, "form": form}
    return render(request, "console/plan.html", values, status=422 if form.errors else 200)


# -- known answers -------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@researchers_only
def study_gold(request: HttpRequest, slug: str) -> HttpResponse:
    """The list, and a file of more."""
    study = study_for_researcher(user=person(request), slug=slug)
    form = verification_forms.UploadForm(request.POST or None, request.FILES or None)
    problems: list[str] = []
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            added = verifying.add_gold_file(
                study=study, actor=person(request), kind=values["kind"], content=values["file"]
            )
        except BadFile as error:
            problems = error.problems
        else:
            messages.success(request, f"{added:,} added." if added else "Every line is in use already.")
            return redirect("study_gold", slug)
    page = page_of(request, _known(study))
    values = {
        "tab": "verification",
        "part": "gold",
        "study": study,
        "plan": plan_of(study),
        "form": form,
        "problems": problems,
        "columns": COLUMNS,
        "page": page,
        "rows": [(item, _wrong(item)) for item in page.object_list],
    }
    return render(request, "console/gold.html", values, status=422 if problems or form.errors else 200)


def _known(study: Study) -> Any:
    """Known answers, those in use first, each with how often it was answered and how often as expected."""
    rows = Item.objects.filter(study=study).exclude(kind=Item.Kind.UTTERANCE)
    right = Count("votes", filter=Q(votes__ok=F("ok")))
    return rows.annotate(answered=Count("votes"), right=right).order_by(
        F("retired_at").asc(nulls_first=True), "-pk"
    )


def _wrong(item: Item | Vote) -> list[str]:
    """The categories, in words."""
    return [words for name, words in figures.CATEGORIES.items() if getattr(item, name)]


@require_http_methods(["GET", "POST"])
@researchers_only
def gold_new(request: HttpRequest, slug: str, utterance_id: int) -> HttpResponse:
    """A known answer made of a message of the study."""
    study = study_for_researcher(user=person(request), slug=slug)
    utterance = Utterance.objects.filter(dialogue__study=study, pk=utterance_id).first()
    if utterance is None:
        raise Refused("no_such_utterance", "There is no such message in this study.", status=404)
    form = verification_forms.AnswerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            quality.add_gold(
                study=study,
                actor=person(request),
                utterance=utterance,
                kind=values["kind"],
                ok=values["answer"] == "ok",
                categories=values["categories"],
                why=values["why"],
            )
        except Refused as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, "Added to the known answers.")
            return redirect("study_gold", slug)
    before = list(utterance.dialogue.utterances.filter(number__lt=utterance.number).order_by("number"))
    values = {
        "tab": "verification",
        "part": "gold",
        "study": study,
        "utterance": utterance,
        "before": before,
        "form": form,
    }
    return render(request, "console/gold_new.html", values, status=422 if form.errors else 200)


@require_POST
@researchers_only
def gold_retire(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    quality.retire_gold(study=study, actor=person(request), item_id=item_id)
    messages.success(request, "Taken out of use. Answers to it no longer count.")
    return redirect("study_gold", slug)


# -- verifiers -----------------------------------------------------------------------------------------------


@require_GET
@researchers_only
def study_verifiers(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    plan = plan_of(study)
    rule = measures.chosen_rule(plan, measures.rules_of(study), request.GET.get("rule", ""))
    page = page_of(request, verifiers.verifiers_of(study, plan, rule))
    values = {
        "tab": "people",
        "part": "verifiers",
        "study": study,
        "plan": plan,
        "page": page,
        "rule_words": measures.RULES[rule],
    }
    return render(request, "console/verifiers.html", values)


def _verifier(study: Study, verifier_id: int) -> User:
    found = User.objects.filter(
        memberships__study=study, memberships__role="verifier", pk=verifier_id
    ).first()
    if found is None:
        raise Refused("no_such_verifier", "There is no such verifier in this study.", status=404)
    return found


@require_http_methods(["GET", "POST"])
@researchers_only
def verifier_pause(request: HttpRequest, slug: str, verifier_id: int) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    verifier = _verifier(study, verifier_id)
    form = verification_forms.PauseForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        quality.pause(study=study, verifier=verifier, reason=reason, actor=person(request))
        messages.success(request, f"{verifier.username} is paused. What they held is given to others.")
        return redirect("study_verifiers", slug)
    values = {"tab": "people", "study": study, "verifier": verifier, "form": form}
    return render(request, "console/pause.html", values, status=422 if form.errors else 200)


@require_POST
@researchers_only
def verifier_lift(request: HttpRequest, slug: str, verifier_id: int) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    verifier = _verifier(study, verifier_id)
    quality.lift(study=study, verifier=verifier, actor=person(request))
    messages.success(request, f"{verifier.username} can go on. Earlier gold items no longer count.")
    return redirect("study_verifiers", slug)


@require_POST
@researchers_only
def verifier_let_in(request: HttpRequest, slug: str, verifier_id: int) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    verifier = _verifier(study, verifier_id)
    quality.let_in(study=study, verifier=verifier, actor=person(request))
    messages.success(request, f"{verifier.username} can verify without the test.")
    return redirect("study_verifiers", slug)


@require_http_methods(["GET", "POST"])
@researchers_only
def verifier_set_aside(request: HttpRequest, slug: str, verifier_id: int) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    verifier = _verifier(study, verifier_id)
    if request.method == "POST":
        count = quality.set_aside(study=study, verifier=verifier, actor=person(request))
        messages.success(
            request, f"{count:,} votes of {verifier.username} no longer count. Their items are open again."
        )
        return redirect("study_verifiers", slug)
    counted = Vote.objects.filter(
        item__study=study, item__kind="utterance", verifier=verifier, set_aside_at=None
    )
    values = {"tab": "people", "study": study, "verifier": verifier, "votes": counted.count()}
    return render(request, "console/set_aside.html", values)
