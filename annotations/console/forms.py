"""Input of the console's pages, checked, with what is wrong said in our words."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.validators import MaxLengthValidator
from django.db.models import Exists, OuterRef, Q

from annotations.chats.models import Dialogue
from annotations.console import lines
from annotations.studies.models import ROLES, ConsentText, InstructionSet, Study, StudyBot
from annotations.studies.services import CONSENT_FIELDS
from bots.forms import BotForm
from bots.models import Bot

EVEN = "Enter an even number from 2 to 40."
SIGNALS = {
    "short": "Under three words",
    "greeting": "Greeting only",
    "capitals": "Capitals only",
    "repeat": "Repeated",
}


class PlainWords:
    """Form mixin: our words for what is missing or too long, our classes, the first wrong field in focus."""

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.error_messages = {
                **field.error_messages,
                "required": field.error_messages["required"]
                if field.error_messages["required"] != "This field is required."
                else "Fill this in.",
                "max_length": "Shorten this to %(limit_value)d characters.",
                "invalid_choice": "Choose one of the list.",
                "null_characters_not_allowed": "This holds a character that cannot be stored.",
            }
            if not isinstance(field.widget, forms.CheckboxInput):
                field.widget.attrs.setdefault("class", "input")

    def full_clean(self) -> None:
        super().full_clean()  # type: ignore[misc]
        wrong = next((name for name in self.fields if name in self.errors), None)  # type: ignore[attr-defined]
        if wrong:
            self.fields[wrong].widget.attrs["autofocus"] = True


def whole(low: int, high: int, label: str, *, words: str = "", **kwargs: Any) -> forms.IntegerField:
    """A field for a whole number, with one message for everything else."""
    words = words or f"Enter a whole number from {low:,} to {high:,}."
    codes = ("required", "invalid", "min_value", "max_value")
    return forms.IntegerField(
        min_value=low, max_value=high, label=label, error_messages=dict.fromkeys(codes, words), **kwargs
    )


class Prose(forms.CharField):
    """Text of several lines. A browser's line ends become ours, so that unchanged words compare as equal."""

    def __init__(self, *, longest: int, rows: int = 4, **kwargs: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), **kwargs)
        # No maxlength attribute: a browser would cut pasted text without a word.
        self.validators.append(MaxLengthValidator(longest))

    def to_python(self, value: Any) -> str:
        return "\n".join(str(value or "").splitlines()).strip()


# -- a study -------------------------------------------------------------------------------------------------

_SLUG = {
    "unique": "There is a study with this short name already. Enter another.",
    "invalid": "Enter letters, digits and hyphens only.",
}


class NewStudyForm(PlainWords, forms.ModelForm[Study]):
    round = whole(1, 1000, "Round", initial=1)

    class Meta:
        model = Study
        fields = ["name", "slug", "round"]
        labels = {"slug": "Short name"}
        help_texts = {
            "name": "Workers see it.",
            "slug": "Letters, digits and hyphens. It is part of the study's addresses.",
        }
        error_messages = {"slug": _SLUG}


class StudyForm(PlainWords, forms.ModelForm[Study]):
    """The settings of a study."""

    round = whole(1, 1000, "Round")
    utterances = whole(
        2,
        40,
        "Utterances a chat",
        words=EVEN,
        help_text="The worker's and the bot's together: an even number.",
    )
    min_utterances = whole(
        1,
        40,
        "Utterances for a partial chat to count",
        help_text="A chat that ends early with fewer is dropped, and its place is given to another.",
    )
    idle_minutes = whole(1, 10_080, "Minutes before an idle chat is closed")
    chats_per_worker = whole(1, 1_000_000, "Chats a worker may do")
    personas = Prose(
        longest=100_000,
        rows=8,
        required=False,
        label="Personas",
        help_text=(
            "Who the bot is to be: up to 3 lines each, personas parted by a blank line, the word none for a "
            "bot without one. One is drawn for each chat and given to the bot only, never to the worker. "
            "Scripted bots take no notice."
        ),
    )
    support = Prose(
        longest=10_000,
        required=False,
        label="Support links",
        help_text="One a line: words | address. The address begins with https://, tel: or mailto:.",
    )

    class Meta:
        model = Study
        fields = [
            "name",
            "slug",
            "round",
            "open_signup",
            "utterances",
            "min_utterances",
            "idle_minutes",
            "chats_per_worker",
            "veil",
            "completion_code",
            "personas",
            "support",
        ]
        labels = {
            "slug": "Short name",
            "open_signup": "Anybody with the address may join",
            "veil": "Hide each message until it is asked for",
        }
        help_texts = {
            "veil": "For everybody in the study, in chats and in verification. Each person can wish it for themselves.",
            "slug": "Part of the study's addresses: a change breaks those you have given out.",
            "completion_code": "Shown when a chat is whole. Empty: none.",
        }
        error_messages = {"slug": _SLUG}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["personas"] = lines.show_personas(self.instance.personas)
        self.initial["support"] = lines.show_support(self.instance.support)

    def clean_utterances(self) -> int:
        utterances: int = self.cleaned_data["utterances"]
        if utterances % 2:
            raise forms.ValidationError(EVEN)
        return utterances

    def clean_personas(self) -> list[list[str]]:
        return _read(lines.read_personas, self.cleaned_data["personas"])

    def clean_support(self) -> list[list[str]]:
        return _read(lines.read_support, self.cleaned_data["support"])

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        utterances, least = values.get("utterances"), values.get("min_utterances")
        if utterances and least and least > utterances:
            self.add_error(
                "min_utterances", f"Enter a whole number from 1 to {utterances}, the utterances a chat."
            )
        return values


def _read(reader: Any, text: str) -> list[list[str]]:
    try:
        found: list[list[str]] = reader(text)
    except ValueError as error:
        raise forms.ValidationError(str(error)) from error
    return found


class StudyBotForm(PlainWords, forms.ModelForm[StudyBot]):
    """A bot of a study. Which bot it is cannot be changed, only how many chats it is wanted for."""

    chats_wanted = whole(0, 1_000_000, "Chats wanted", initial=50)

    class Meta:
        model = StudyBot
        fields = ["bot", "chats_wanted"]

    def __init__(self, *args: Any, bots: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            del self.fields["bot"]
        else:
            _choose_from(self.fields["bot"], bots, "Choose a bot to add")


class InstructionSetForm(PlainWords, forms.ModelForm[InstructionSet]):
    """One set of instructions."""

    text = Prose(longest=2000, rows=5, label="What the worker reads")
    weight = whole(
        0, 1000, "Weight", initial=1, help_text="Drawn so often compared with the others. 0: never."
    )

    class Meta:
        model = InstructionSet
        fields = ["slug", "text", "weight"]
        labels = {"slug": "Short name"}
        error_messages = {"slug": {"invalid": "Enter letters, digits and hyphens only."}}


def _choose_from(field: Any, rows: Any, nothing: str) -> None:
    field.queryset, field.empty_label = rows, nothing


class Rows(forms.BaseInlineFormSet[Any, Study, Any]):
    """Rows of a study that can be added, changed and, where no chat has used them, removed.

    `in_use` counts the chats by the key of a row that has any.
    """

    default_error_messages = {
        "missing_management_form": "This part of the form did not arrive whole. Load the page again.",
    }

    def __init__(self, *args: Any, in_use: Mapping[int, int], **kwargs: Any) -> None:
        self.in_use = in_use
        super().__init__(*args, **kwargs)

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        form.chats = self.in_use.get(form.instance.pk, 0)

    def clean(self) -> None:
        super().clean()
        used = [str(form.instance) for form in self.deleted_forms if form.chats]
        if used:
            names = ", ".join(used)
            raise forms.ValidationError(f"Kept, because chats used it: {names}. Set its number to 0 instead.")

    def get_unique_error_message(self, unique_check: Any) -> str:  # noqa: ARG002 Django's signature
        return "Two rows are alike. Choose another bot, or another short name."


StudyBots: Any = forms.inlineformset_factory(Study, StudyBot, form=StudyBotForm, formset=Rows, extra=1)
InstructionSets: Any = forms.inlineformset_factory(
    Study, InstructionSet, form=InstructionSetForm, formset=Rows, extra=1
)


class ConsentForm(PlainWords, forms.ModelForm[ConsentText]):
    """The words people agree to."""

    warning = Prose(longest=2000, label="Content warning")
    task = Prose(longest=2000, label="What the task is")
    data_use = Prose(longest=4000, label="How the data is used")
    stopping = Prose(longest=2000, label="How to stop")

    class Meta:
        model = ConsentText
        fields = CONSENT_FIELDS


class InviteForm(PlainWords, forms.Form):
    role = forms.ChoiceField(choices=ROLES, initial="worker")
    uses = whole(1, 1_000_000, "People who can use it", required=False, help_text="Empty: as many as come.")
    days = whole(1, 3650, "Days it works", required=False, help_text="Empty: until you take it back.")


# -- chats and people ----------------------------------------------------------------------------------------


class ChatFilter(PlainWords, forms.Form):
    """Which chats of a study to list."""

    state = forms.ChoiceField(required=False, choices=[("", "Any"), *Dialogue.State.choices])
    bot = forms.ModelChoiceField(Bot.objects.none(), required=False, to_field_name="slug")
    instructions = forms.ModelChoiceField(InstructionSet.objects.none(), required=False, to_field_name="slug")
    worker = forms.CharField(
        required=False, max_length=150, widget=forms.TextInput(attrs={"data-key": "/", "type": "search"})
    )
    signal = forms.ChoiceField(
        required=False,
        label="With a message",
        choices=[("", "Any"), ("any", "With any signal"), *SIGNALS.items()],
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="filter_%s", **kwargs)
        has_chats = Dialogue.objects.filter(
            study=study, bot=OuterRef("pk")
        )  # imported ones have no place in it
        _choose_from(
            self.fields["bot"], Bot.objects.filter(Q(pk__in=study.bots.all()) | Exists(has_chats)), "Any"
        )
        _choose_from(self.fields["instructions"], study.instruction_sets.all(), "Any")


class BlockForm(PlainWords, forms.Form):
    reason = Prose(longest=500, rows=3, label="Reason", help_text="The worker is shown it.")


# -- bots ----------------------------------------------------------------------------------------------------


class ConsoleBotForm(PlainWords, BotForm):
    pass


class TrialForm(PlainWords, forms.Form):
    text = forms.CharField(label="Your message", required=False, max_length=10_000)
