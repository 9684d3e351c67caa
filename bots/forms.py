"""The form of a bot, for the console and the admin."""

import json
from typing import Any, NoReturn

from django import forms

from bots.errors import ConfigError
from bots.models import Bot
from bots.replies import SCRIPTED, check_config

LONGEST_CONFIG = 20_000


def read_config(text: str) -> dict[str, Any]:
    """The JSON object in `text`, one that every database can hold. Raises ValueError with what to change."""
    if len(text) > LONGEST_CONFIG:
        raise ValueError(f"The settings are over {LONGEST_CONFIG:,} characters long. Shorten them.")
    try:
        config = json.loads(text.strip() or "{}", parse_constant=_no_such_number)
        plain = json.dumps(config, ensure_ascii=False, allow_nan=False)
        plain.encode()
    except json.JSONDecodeError as error:
        raise ValueError(
            f"This is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ValueError("This holds a number, a character or a depth that cannot be stored.") from error
    if not isinstance(config, dict):
        raise ValueError('Settings are one JSON object, as in {"name": "value"}.')  # noqa: TRY004 one kind for the form
    if "\\u0000" in plain:
        raise ValueError("This holds a number, a character or a depth that cannot be stored.")
    return config


def _no_such_number(_name: str) -> NoReturn:
    raise ValueError


class BotForm(forms.ModelForm[Bot]):
    """A bot's settings; `config` is checked by its engine, whose words are shown at the field."""

    config = forms.CharField(
        label="Settings (JSON)",
        required=False,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text=(
            "One JSON object; what you leave out has the engine's default. Never a key or a password: "
            "only the name of the environment variable that holds it."
        ),
    )

    class Meta:
        model = Bot
        fields = ["name", "slug", "engine", "config", "enabled", "public"]
        labels = {"slug": "Short name", "enabled": "Switched on", "public": "Answers at a public address"}
        help_texts = {
            "slug": "Letters, digits and hyphens. It is part of the bot's addresses.",
            "enabled": "New chats are given to bots that are switched on.",
            "public": "Anybody who has the address can talk to it. Only scripted bots can do so.",
        }
        error_messages = {
            "slug": {
                "unique": "There is a bot with this short name already. Enter another.",
                "invalid": "Enter letters, digits and hyphens only.",
            }
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        engine: Any = self.fields["engine"]
        unfit = {Bot.Engine.IMPORTED} - {self.instance.engine}
        offered = [choice for choice in Bot.Engine.choices if choice[0] not in unfit]
        engine.choices = [("", "Choose an engine"), *offered]
        self.initial["config"] = json.dumps(self.instance.config, indent=2, ensure_ascii=False)

    def clean_config(self) -> dict[str, Any]:
        try:
            return read_config(self.cleaned_data["config"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        engine = values.get("engine")
        if engine and "config" in values:
            try:
                check_config(engine, values["config"])
            except ConfigError as error:
                self.add_error("config", str(error))
        if engine and values.get("public") and engine not in SCRIPTED:
            self.add_error("public", "Only scripted bots can answer at a public address. Switch this off.")
        return values
