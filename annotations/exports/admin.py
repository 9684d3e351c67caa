"""Exports and imports in the admin: to look at; asked for by an action on studies."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join

from annotations.exports import making, services
from annotations.exports.models import Export, Import
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.models import Study


class LookOnly:
    """Admin mixin: jobs are asked for and stopped in the console."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(Export)
class ExportAdmin(LookOnly, admin.ModelAdmin[Export]):
    list_display = [
        "id",
        "study",
        "format",
        "rule",
        "state",
        "percent",
        "asked_by",
        "asked_at",
        "published_at",
    ]
    list_filter = ["state", "format", "rule", "study"]
    list_select_related = ["study", "asked_by"]
    date_hierarchy = "asked_at"
    exclude = ["key", "folder"]
    readonly_fields = ["download"]

    @admin.display(description="files")
    def download(self, export: Export) -> str:
        names = [file["name"] for file in export.manifest.get("files", ())]
        links = ((f"/console/exports/{export.pk}/files/{name}", name) for name in [*names, "manifest.json"])
        return format_html_join(", ", '<a href="{}">{}</a>', links) if names else "none yet"


@admin.register(Import)
class ImportAdmin(LookOnly, admin.ModelAdmin[Import]):
    list_display = ["id", "study", "name", "split", "state", "percent", "asked_by", "asked_at"]
    list_filter = ["state", "study"]
    list_select_related = ["study", "asked_by"]
    date_hierarchy = "asked_at"
    exclude = ["path"]


def export_action(format_: str, words: str) -> Any:
    """An action on studies that asks for an export of each, with the settings that are usual."""

    @admin.action(description=f"Export as {words}", permissions=["view"])
    def ask(_model_admin: Any, request: HttpRequest, studies: Any) -> None:
        assert isinstance(request.user, User)  # noqa: S101 the admin has seen to it
        study: Study
        for study in studies:
            try:
                export = services.ask(study=study, actor=request.user, format_=format_)
            except Refused as refusal:
                messages.error(request, f"{study}: {refusal.detail}")
            else:
                messages.success(request, f"{study}: export {export.pk} is being made.")

    ask.__name__ = f"export_{format_}"
    return ask


@admin.action(description="Download as JSON lines", permissions=["view"])
def download_chats(_model_admin: Any, request: HttpRequest, chats: Any) -> HttpResponse | None:
    """The chosen chats, open ones too, as rows without a split."""
    try:
        lines = making.lines_of(list(chats.values_list("pk", flat=True)))
    except Refused as refusal:
        messages.error(request, refusal.detail)
        return None
    headers = {"Content-Disposition": 'attachment; filename="chats.jsonl"'}
    return HttpResponse(lines, content_type="application/jsonl", headers=headers)


CHAT_ACTIONS = [download_chats]
STUDY_ACTIONS = [export_action(value, str(words)) for value, words in Export.Format.choices]
