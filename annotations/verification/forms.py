"""What the verifier's forms post, checked. Their words are the services' own."""

from django import forms

from annotations.verification.models import CATEGORIES

_CHOICES = [(category, category) for category in CATEGORIES]


class JudgementForm(forms.Form):
    """A judgement of one message: OK, not OK with what is wrong, or none, where it is skipped."""

    item = forms.IntegerField(min_value=0)
    vote = forms.ChoiceField(choices=[("ok", "ok"), ("not_ok", "not_ok"), ("skip", "skip")])
    category = forms.MultipleChoiceField(choices=_CHOICES, required=False)
    note = forms.CharField(required=False, strip=False)


class TestForm(JudgementForm):
    """An answer to a question of the test."""

    __test__ = False  # not one of pytest's

    attempt = forms.IntegerField(min_value=0)


class BatchForm(forms.Form):
    batch = forms.IntegerField(min_value=0)
