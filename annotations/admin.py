"""The tables, to browse and filter. What people wrote, labelled and agreed to is never edited here."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model
from django.http import HttpRequest

from annotations.console.forms import StudyForm
from annotations.exports.admin import CHAT_ACTIONS, STUDY_ACTIONS
from annotations.models import (
    Attempt,
    AuditEntry,
    Batch,
    Break,
    Consent,
    ConsentText,
    Dialogue,
    InstructionSet,
    Invitation,
    Item,
    Label,
    Merged,
    Plan,
    ReplyFailure,
    Standing,
    Study,
    StudyBot,
    User,
    Utterance,
    Vote,
)
from annotations.verification.models import CATEGORIES


class ReadOnly:
    """Admin mixin: to look at, not to add, change or delete."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False


# -- people --------------------------------------------------------------------------------------------------


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # the stubs' generic is none at run time
    """Accounts and roles. Blocking ends chats, so it is done in the console."""

    list_display = [
        "username",
        "email",
        "is_worker",
        "is_verifier",
        "is_researcher",
        "is_respondent",
        "blocked_at",
    ]
    list_filter = ["is_worker", "is_verifier", "is_researcher", "is_respondent", "is_active", "is_superuser"]
    readonly_fields = ["blocked_at", "blocked_reason", "blocked_by", "last_login", "date_joined"]
    fieldsets = [
        *(UserAdmin.fieldsets or ()),
        ("Roles", {"fields": ["is_worker", "is_verifier", "is_researcher", "is_respondent"]}),
        ("Pages", {"fields": ["theme", "single_keys", "veil"]}),
        ("Block", {"fields": ["blocked_at", "blocked_reason", "blocked_by"]}),
    ]


# -- studies -------------------------------------------------------------------------------------------------


class StudyBotInline(admin.TabularInline[StudyBot, Study]):
    model = StudyBot
    extra = 1
    can_delete = False


class InstructionSetInline(admin.StackedInline[InstructionSet, Study]):
    model = InstructionSet
    extra = 0
    can_delete = False


@admin.register(Study)
class StudyAdmin(admin.ModelAdmin[Study]):
    """Settings. A study is made, opened and closed in the console: each does more than set a column."""

    form = StudyForm
    list_display = ["name", "slug", "round", "state", "open_signup", "created_at"]
    list_filter = ["state", "open_signup"]
    search_fields = ["name", "slug"]
    readonly_fields = ["state", "created_at", "closed_at"]
    inlines = [StudyBotInline, InstructionSetInline]
    actions = STUDY_ACTIONS

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:  # noqa: ARG002
        return False


@admin.register(Invitation)
class InvitationAdmin(admin.ModelAdmin[Invitation]):
    list_display = ["study", "role", "code", "uses_left", "expires_at", "created_at"]
    list_filter = ["role", "study"]
    list_select_related = ["study"]
    search_fields = ["code", "study__name"]
    readonly_fields = ["study", "code", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False


@admin.register(ConsentText)
class ConsentTextAdmin(ReadOnly, admin.ModelAdmin[ConsentText]):
    list_display = ["study", "version", "created_at"]
    list_filter = ["study"]
    list_select_related = ["study"]


@admin.register(Consent)
class ConsentAdmin(ReadOnly, admin.ModelAdmin[Consent]):
    list_display = ["user", "text", "given_at"]
    list_filter = ["text__study"]
    list_select_related = ["user", "text__study"]
    search_fields = ["user__username"]
    date_hierarchy = "given_at"


# -- chats ---------------------------------------------------------------------------------------------------


class UtteranceInline(ReadOnly, admin.TabularInline[Utterance, Dialogue]):
    model = Utterance
    fields = ["number", "speaker", "text", "worker_label", "at", "engine", "seconds"]
    readonly_fields = ["worker_label"]
    extra = 0

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("label")

    @admin.display(description="label")
    def worker_label(self, utterance: Utterance) -> str:
        label = getattr(utterance, "label", None)
        return label.get_bin_display() if label else "none"


@admin.register(Dialogue)
class DialogueAdmin(ReadOnly, admin.ModelAdmin[Dialogue]):
    list_display = [
        "id",
        "study",
        "worker",
        "bot",
        "instruction_set",
        "state",
        "end_reason",
        "said",
        "unsafe",
        "last_at",
    ]
    list_filter = ["study", "bot", "state", "end_reason"]
    list_select_related = ["study", "worker", "bot", "instruction_set"]
    search_fields = ["=id", "worker__username", "utterances__text"]
    date_hierarchy = "started_at"
    inlines = [UtteranceInline]
    actions = CHAT_ACTIONS


@admin.register(Utterance)
class UtteranceAdmin(ReadOnly, admin.ModelAdmin[Utterance]):
    list_display = ["dialogue", "number", "speaker", "text", "at", "engine", "seconds"]
    list_filter = ["speaker", "engine", "dialogue__study"]
    list_select_related = ["dialogue"]
    search_fields = ["text"]


@admin.register(Label)
class LabelAdmin(ReadOnly, admin.ModelAdmin[Label]):
    list_display = ["utterance", "bin", "at", "changes"]
    list_filter = ["bin", "utterance__dialogue__study"]
    list_select_related = ["utterance"]


@admin.register(ReplyFailure)
class ReplyFailureAdmin(ReadOnly, admin.ModelAdmin[ReplyFailure]):
    list_display = ["at", "bot", "dialogue", "number", "attempt", "error"]
    list_filter = ["bot"]
    list_select_related = ["bot", "dialogue"]
    search_fields = ["error"]


# -- verification --------------------------------------------------------------------------------------------


@admin.register(Plan)
class PlanAdmin(ReadOnly, admin.ModelAdmin[Plan]):
    """How a study is verified. It is changed in the console, which puts it on the audit trail."""

    list_display = [
        "study",
        "open",
        "votes_wanted",
        "batch_size",
        "rule",
        "unsafe_from",
        "tie",
        "test",
        "gold_share",
    ]
    list_filter = ["open", "rule", "test"]
    list_select_related = ["study"]
    search_fields = ["study__name", "study__slug"]


@admin.register(Item)
class ItemAdmin(ReadOnly, admin.ModelAdmin[Item]):
    list_display = [
        "id",
        "study",
        "kind",
        "utterance",
        "wanted",
        "votes_in",
        "free",
        "ok",
        "opened_at",
        "retired_at",
    ]
    list_filter = ["kind", "study", "votes_in"]
    list_select_related = ["study", "utterance"]
    search_fields = ["=id", "text", "utterance__text"]


@admin.register(Batch)
class BatchAdmin(ReadOnly, admin.ModelAdmin[Batch]):
    list_display = ["id", "study", "verifier", "opened_at", "leased_until", "closed_at", "end_reason"]
    list_filter = ["study", "end_reason"]
    list_select_related = ["study", "verifier"]
    search_fields = ["=id", "verifier__username"]
    date_hierarchy = "opened_at"


@admin.register(Vote)
class VoteAdmin(ReadOnly, admin.ModelAdmin[Vote]):
    list_display = ["id", "item", "verifier", "ok", *CATEGORIES, "seconds", "at", "changes", "set_aside_at"]
    list_filter = [
        "ok",
        *CATEGORIES,
        ("set_aside_at", admin.EmptyFieldListFilter),
        "item__kind",
        "item__study",
    ]
    list_select_related = ["item", "verifier"]
    search_fields = ["=id", "verifier__username", "note"]
    date_hierarchy = "at"


@admin.register(Merged)
class MergedAdmin(ReadOnly, admin.ModelAdmin[Merged]):
    list_display = [
        "utterance",
        "rule",
        "label",
        "tie",
        "ok_votes",
        "notok_votes",
        *CATEGORIES,
        "probability",
        "at",
    ]
    list_filter = ["rule", "label", "tie", "study"]
    list_select_related = ["utterance"]
    search_fields = ["=utterance__dialogue__id", "utterance__text"]


@admin.register(Standing)
class StandingAdmin(ReadOnly, admin.ModelAdmin[Standing]):
    """Pauses. They are set and lifted in the console."""

    list_display = ["study", "verifier", "paused_at", "paused_reason", "passed_at"]
    list_filter = ["study", ("paused_at", admin.EmptyFieldListFilter)]
    list_select_related = ["study", "verifier"]
    search_fields = ["verifier__username"]


@admin.register(Attempt)
class AttemptAdmin(ReadOnly, admin.ModelAdmin[Attempt]):
    list_display = ["study", "verifier", "number", "right", "passed", "started_at", "finished_at"]
    list_filter = ["study", "passed"]
    list_select_related = ["study", "verifier"]
    search_fields = ["verifier__username"]


@admin.register(Break)
class BreakAdmin(ReadOnly, admin.ModelAdmin[Break]):
    list_display = ["study", "user", "at", "until", "binding", "upsetting"]
    list_filter = ["study", "binding"]
    list_select_related = ["study", "user"]
    search_fields = ["user__username"]
    date_hierarchy = "at"


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly, admin.ModelAdmin[AuditEntry]):
    list_display = ["at", "action", "study", "actor", "about", "detail"]
    list_filter = ["action", "study"]
    list_select_related = ["study", "actor", "about"]
    search_fields = ["actor__username", "about__username"]
    date_hierarchy = "at"
