from django.contrib import admin
from django.http import HttpRequest

from bots.forms import BotForm
from bots.models import Bot


@admin.register(Bot)
class BotAdmin(admin.ModelAdmin[Bot]):
    form = BotForm
    list_display = ["name", "slug", "engine", "enabled", "public", "created_at"]
    list_filter = ["engine", "enabled", "public"]
    search_fields = ["name", "slug"]

    def has_delete_permission(self, request: HttpRequest, obj: Bot | None = None) -> bool:  # noqa: ARG002
        # A bot is switched off instead: its chats name it, and its trials would go with it.
        return False
