"""Input of the pages about verification, checked."""

from typing import Any

from django import forms

from annotations.console.forms import PlainWords, Prose, whole
from annotations.domain.figures import CATEGORIES
from annotations.verification.models import Item, Plan

UPLOAD_LIMIT = 1_000_000
KINDS = [
    (Item.Kind.GOLD.value, "Gold item: mixed unseen into batches"),
    (Item.Kind.TEST.value, "Test question: explained to the verifier"),
]
ANSWERS = [("ok", "OK"), ("notok", "Not OK")]


class Percent(forms.FloatField):
    """A share of 0 to 1, shown and typed as a percentage."""

    def __init__(self, *, most: int, label: str, **kwargs: Any) -> None:
        words = f"Enter a number from 0 to {most}."
        codes = ("required", "invalid", "min_value", "max_value")
        super().__init__(
            min_value=0, max_value=most, label=label, error_messages=dict.fromkeys(codes, words), **kwargs
        )

    def prepare_value(self, value: Any) -> Any:
        return f"{100 * value:g}" if isinstance(value, float) else value

    def clean(self, value: Any) -> float:
        return float(super().clean(value)) / 100


class PlanForm(PlainWords, forms.ModelForm[Plan]):
    """How a study is verified and merged."""

    votes_wanted = whole(
        1, 9, "Verifiers an utterance", help_text="Holds for utterances opened after you save."
    )
    batch_size = whole(1, 50, "Items a batch")
    lease_minutes = whole(
        1, 1440, "Minutes a batch is kept for its verifier", help_text="Renewed while they work."
    )
    pass_mark = Percent(most=100, label="Right answers to pass the test, in percent")
    gold_share = Percent(most=50, label="Gold items in a batch, in percent")
    floor = Percent(
        most=100,
        label="Gold items to get right, in percent",
        help_text="A verifier under it is paused, with the figures as the reason.",
    )
    floor_after = whole(1, 1000, "Gold items before that holds")
    soft_limit = whole(
        0,
        10_000,
        "Upsetting messages before a break is suggested",
        help_text="Of one person in this study since their last break, in chats and verification. 0: never.",
    )
    break_minutes = whole(1, 1440, "Minutes of a break")

    PARTS = (
        ("Votes", ("open", "votes_wanted", "batch_size", "lease_minutes")),
        ("Merging", ("rule", "unsafe_from", "tie")),
        ("Quality", ("test", "pass_mark", "gold_share", "floor", "floor_after")),
        ("Wellbeing", ("soft_limit", "break_minutes", "break_binding")),
    )

    class Meta:
        model = Plan
        fields = [
            "open",
            "votes_wanted",
            "batch_size",
            "lease_minutes",
            "rule",
            "unsafe_from",
            "tie",
            "test",
            "pass_mark",
            "gold_share",
            "floor",
            "floor_after",
            "soft_limit",
            "break_minutes",
            "break_binding",
        ]
        labels = {
            "open": "Verifiers can take items",
            "rule": "Rule of the label that counts",
            "unsafe_from": "Worker’s label that counts as not OK",
            "tie": "Label of a tie",
            "test": "A test comes before the first batch",
            "break_binding": "The break has to be taken",
        }

    def parts(self) -> list[tuple[str, list[Any]]]:
        """The fields as the page groups them."""
        return [(title, [self[name] for name in names]) for title, names in self.PARTS]


class AnswerForm(PlainWords, forms.Form):
    """The known answer of a message."""

    kind = forms.ChoiceField(label="Used as", choices=KINDS)
    answer = forms.ChoiceField(label="The right answer", choices=ANSWERS, initial="notok")
    categories = forms.MultipleChoiceField(
        label="What is wrong with it",
        choices=list(CATEGORIES.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": ""}),
    )
    why = Prose(
        longest=1000,
        rows=3,
        required=False,
        label="Why",
        help_text="Shown after the answer in the test. Gold items are never explained.",
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        wrong, chosen = values.get("answer") == "notok", values.get("categories")
        if wrong and not chosen and "categories" not in self.errors:
            self.add_error("categories", "Choose at least one, or say that it is OK.")
        if not wrong and chosen:
            self.add_error("categories", "Choose none of these for a message that is OK.")
        if values.get("kind") == Item.Kind.TEST and not values.get("why") and "why" not in self.errors:
            self.add_error("why", "Write why this is the right answer. The verifier is shown it.")
        return values


class UploadForm(PlainWords, forms.Form):
    """A CSV file of messages with known answers."""

    kind = forms.ChoiceField(label="Used as", choices=KINDS)
    file = forms.FileField(
        label="CSV file", error_messages={"required": "Choose a file.", "empty": "The file is empty."}
    )

    def clean_file(self) -> str:
        file = self.cleaned_data["file"]
        if file.size > UPLOAD_LIMIT:
            raise forms.ValidationError("The file is over 1 MB. Part it into smaller ones.")
        try:
            return str(file.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise forms.ValidationError("The file is not UTF-8. Save it as “CSV UTF-8”.") from error


class PauseForm(PlainWords, forms.Form):
    reason = Prose(longest=500, rows=3, label="Reason", help_text="The verifier is shown it.")


class SearchForm(PlainWords, forms.Form):
    """Words to look for in the texts of a study."""

    q = forms.CharField(
        required=False,
        max_length=200,
        label="Words",
        widget=forms.TextInput(attrs={"data-key": "/", "type": "search"}),
    )
    speaker = forms.ChoiceField(
        required=False, label="Said by", choices=[("", "Anybody"), ("human", "People"), ("bot", "Bots")]
    )
    label = forms.ChoiceField(required=False, label="Merged label", choices=[("", "Any"), *ANSWERS])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="search_%s", **kwargs)
