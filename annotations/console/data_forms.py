"""Input of the pages of exports and imports."""

from typing import Any

from django import forms

from annotations.console.forms import PlainWords, whole
from annotations.console.measures import RULES
from annotations.domain.rows import SPLITS
from annotations.domain.splits import SplitError, parse
from annotations.exports import queries
from annotations.exports.models import Export
from annotations.exports.services import HIGHEST_SEED
from annotations.studies.models import Study


class ExportForm(PlainWords, forms.Form):
    format_ = forms.ChoiceField(label="Format", choices=Export.Format.choices)
    rule = forms.ChoiceField(help_text="Whose merged labels.")
    splits = forms.CharField(
        max_length=60,
        initial="0.8,0.1,0.1",
        help_text="Train, valid, test: shares that add up to 1, or counts of chats.",
    )
    seed = whole(0, HIGHEST_SEED, "Seed", initial=0, help_text="The same seed draws the same splits.")
    mask = forms.BooleanField(required=False, label="Mask e-mail addresses and long numbers")
    partial = forms.BooleanField(required=False, initial=True, label="With partial chats")

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="export_%s", **kwargs)
        there = queries.rules(study) or [queries.planned_rule(study)]
        rule: Any = self.fields["rule"]
        rule.choices = [(name, RULES.get(name, name)) for name in there]

    def clean_splits(self) -> str:
        splits: str = self.cleaned_data["splits"]
        try:
            parse(splits)
        except SplitError as error:
            raise forms.ValidationError(str(error)) from error
        return splits


class ImportForm(PlainWords, forms.Form):
    file = forms.FileField(
        max_length=200,
        allow_empty_file=True,
        help_text="In the text format in which the paper's data was released.",
        widget=forms.ClearableFileInput({"accept": ".txt,text/plain"}),
        error_messages={"required": "Choose a file."},
    )
    split = forms.ChoiceField(
        required=False,
        choices=[("", "Drawn like any other"), *((name, name) for name in SPLITS)],
        help_text="Where its chats stand in every export.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="import_%s", **kwargs)
