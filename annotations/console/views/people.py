"""Workers of a study: what they did, and blocking."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.console import forms, queries, services
from annotations.console.access import page_of, person, researchers_only
from annotations.people.errors import Refused
from annotations.studies.models import AuditEntry
from annotations.studies.services import study_for_researcher
from annotations.verification import care
from annotations.verification.services import plan_of


@require_GET
@researchers_only
def study_people(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    page = page_of(request, queries.workers_of(study))
    workers = list(page.object_list)
    shown = queries.signals_by_worker(study, workers)
    rows = [
        {
            "worker": worker,
            "per_chat": worker.unsafe / worker.chats if worker.chats else None,
            "signals": [shown.get(worker.pk, {}).get(name, 0) for name in forms.SIGNALS],
        }
        for worker in workers
    ]
    values = {
        "tab": "people",
        "part": "workers",
        "study": study,
        "page": page,
        "rows": rows,
        "signals": forms.SIGNALS.values(),
    }
    return render(request, "console/people.html", values)


@require_http_methods(["GET", "POST"])
@researchers_only
def worker_block(request: HttpRequest, slug: str, worker_id: int) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    worker = services.worker_of(study=study, worker_id=worker_id)
    form = forms.BlockForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            ended = services.block(
                study=study, worker_id=worker.pk, by=person(request), reason=form.cleaned_data["reason"]
            )
        except Refused as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, f"{worker.username} is blocked. Chats ended: {ended}.")
            return redirect("study_people", slug)
    under_way = worker.dialogues.filter(state="open").count()
    values = {"tab": "people", "study": study, "worker": worker, "form": form, "under_way": under_way}
    return render(request, "console/block.html", values, status=422 if form.errors else 200)


@require_POST
@researchers_only
def worker_unblock(request: HttpRequest, slug: str, worker_id: int) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    worker = services.lift_block(study=study, worker_id=worker_id, by=person(request))
    messages.success(request, f"{worker.username} can take part again.")
    return redirect("study_people", slug)


@require_GET
@researchers_only
def study_exposure(request: HttpRequest, slug: str) -> HttpResponse:
    """How much of what hurts each person has read."""
    study = study_for_researcher(user=person(request), slug=slug)
    page = page_of(request, care.exposure(study))
    values = {"tab": "people", "part": "exposure", "study": study, "plan": plan_of(study), "page": page}
    return render(request, "console/exposure.html", values)


@require_GET
@researchers_only
def study_audit(request: HttpRequest, slug: str) -> HttpResponse:
    """What was done to people's work, and by whom."""
    study = study_for_researcher(user=person(request), slug=slug)
    page = page_of(request, study.audit.select_related("actor", "about"))
    rows = [
        (entry, ACTIONS.get(entry.action, entry.action.replace("_", " ")), _told(entry)) for entry in page
    ]
    values = {"tab": "people", "part": "audit", "study": study, "page": page, "rows": rows}
    return render(request, "console/audit.html", values)


ACTIONS = {
    "plan_changed": "Verification settings changed",
    "gold_added": "Known answer added",
    "gold_retired": "Known answer taken out of use",
    "person_blocked": "Person blocked",
    "block_lifted": "Block lifted",
    "verifier_paused": "Verifier paused",
    "verifier_let_in_again": "Pause lifted",
    "votes_set_aside": "Votes set aside",
    "let_in_without_test": "Let in without the test",
    "imported_sent_to_verification": "Imported chats sent to verification",
    "remerge_asked": "Merged anew",
    "vote_changed": "Vote changed",
    "imported": "Chats imported",
    "export_asked": "Export asked for",
    "export_cancelled": "Export stopped",
    "export_published": "Export published",
}
"""Entries of the audit trail in words; others are shown by their name."""


def _told(entry: AuditEntry) -> list[str]:
    """What an entry holds, a line each."""
    changed = entry.detail.get("changed")
    if isinstance(changed, dict):
        return [f"{name}: {_plain(before)} → {_plain(after)}" for name, (before, after) in changed.items()]
    return [f"{name}: {_plain(value)}" for name, value in sorted(entry.detail.items(), key=_place)]


def _place(named: tuple[str, object]) -> tuple[bool, int, str]:
    """Short names first, what came after last: PostgreSQL keeps no order of keys."""
    name, _ = named
    return name == "after", len(name), name


def _plain(value: object) -> object:
    """A value of an entry, or of a vote in it, as people write it."""
    if isinstance(value, dict):
        return ", ".join(
            f"{name} {_plain(part)}" for name, part in sorted(value.items(), key=_place) if part != ""
        )
    words = {True: "yes", False: "no", "": "none"}
    return words[value] if isinstance(value, bool | str) and value in words else value
