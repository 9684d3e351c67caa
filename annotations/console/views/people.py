"""Workers of a study: what they did, and blocking."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.console import forms, queries, services
from annotations.console.access import page_of, person, researchers_only
from annotations.people.errors import Refused
from annotations.studies.services import study_for_researcher


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
    values = {"tab": "people", "study": study, "page": page, "rows": rows, "signals": forms.SIGNALS.values()}
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
    worker = services.lift_block(study=study, worker_id=worker_id)
    messages.success(request, f"{worker.username} can take part again.")
    return redirect("study_people", slug)
