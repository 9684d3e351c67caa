"""A study's data: what is exported from it and what is brought in."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.console import data_forms
from annotations.console.access import page_of, person, researchers_only
from annotations.exports import importing, queries, services
from annotations.exports.download import Download
from annotations.exports.models import Export, Import
from annotations.people.errors import Refused
from annotations.studies.jobs import Job
from annotations.studies.models import Study
from annotations.studies.services import study_for_researcher


@require_GET
@researchers_only
def study_data(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    return _page(request, study)


def _page(request: HttpRequest, study: Study, *, status: int = 200, **forms: Any) -> HttpResponse:
    values = {
        "tab": "data",
        "study": study,
        "page": page_of(request, queries.exports_of(study), 20),
        "imports": queries.imports_of(study)[:20],
        "export_form": data_forms.ExportForm(study=study),
        "import_form": data_forms.ImportForm(),
        "limit": settings.IMPORT_MAX_MB,
        **forms,
    }
    return render(request, "exports/data.html", values, status=status)


# -- exports -------------------------------------------------------------------------------------------------


@require_POST
@researchers_only
def export_ask(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    form = data_forms.ExportForm(request.POST, study=study)
    if form.is_valid():
        try:
            export = services.ask(study=study, actor=person(request), **form.cleaned_data)
        except Refused as refusal:
            form.add_error(None, refusal.detail)
        else:
            return redirect("export_page", export.pk)
    return _page(request, study, status=422, export_form=form)


def _under_way(job: Job) -> bool:
    return job.state in (Job.State.WAITING, Job.State.RUNNING)


def _export(export: Export) -> dict[str, Any]:
    return {"tab": "data", "study": export.study, "export": export, "under_way": _under_way(export)}


@require_GET
@researchers_only
def export_page(request: HttpRequest, export_id: int) -> HttpResponse:
    export = services.export_for(user=person(request), export_id=export_id)
    return render(request, "exports/export.html", _export(export))


@require_GET
@researchers_only
def export_progress(request: HttpRequest, export_id: int) -> HttpResponse:
    export = services.export_for(user=person(request), export_id=export_id)
    return render(request, "exports/_export.html", _export(export))


@require_GET
@researchers_only
def export_file(request: HttpRequest, export_id: int, name: str) -> HttpResponse | Download:
    export = services.export_for(user=person(request), export_id=export_id)
    return Download(services.file_of(export=export, name=name), name=services.download_name(export, name))


@require_POST
@researchers_only
def export_cancel(request: HttpRequest, export_id: int) -> HttpResponse:
    export = services.export_for(user=person(request), export_id=export_id)
    try:
        services.cancel(export=export, actor=person(request))
    except Refused as refusal:
        messages.error(request, refusal.detail)
    return redirect("export_page", export_id)


@require_http_methods(["GET", "POST"])
@researchers_only
def export_publish(request: HttpRequest, export_id: int) -> HttpResponse:
    export = services.export_for(user=person(request), export_id=export_id)
    if request.method == "GET":
        chats = sum(export.manifest.get("chats", {}).values())
        return render(request, "exports/publish.html", {**_export(export), "chats": chats})
    try:
        services.publish(export=export, actor=person(request))
    except Refused as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, "The export is published. Its chats keep their splits from now on.")
    return redirect("export_page", export_id)


# -- imports -------------------------------------------------------------------------------------------------


@require_POST
@researchers_only
def import_ask(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    form = data_forms.ImportForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            found = importing.ask_upload(
                study=study,
                actor=person(request),
                upload=form.cleaned_data["file"],
                split=form.cleaned_data["split"],
            )
        except Refused as refusal:
            form.add_error("file", refusal.detail)
        else:
            return redirect("import_page", found.pk)
    return _page(request, study, status=422, import_form=form)


def _import(found: Import) -> dict[str, Any]:
    lengths = sorted((int(length), count) for length, count in found.report.get("lengths", {}).items())
    values = {"tab": "data", "study": found.study, "found": found, "under_way": _under_way(found)}
    return {**values, "lengths": lengths}


@require_GET
@researchers_only
def import_page(request: HttpRequest, import_id: int) -> HttpResponse:
    found = importing.import_for(user=person(request), import_id=import_id)
    return render(request, "exports/import.html", _import(found))


@require_GET
@researchers_only
def import_progress(request: HttpRequest, import_id: int) -> HttpResponse:
    found = importing.import_for(user=person(request), import_id=import_id)
    return render(request, "exports/_import.html", _import(found))
