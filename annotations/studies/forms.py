"""What is posted with a consent, checked."""

from django import forms

from annotations.studies.models import ConsentText


class ConsentForm(forms.Form):
    """Agreement to one version of a study's text; `text` is empty where the person agreed earlier."""

    text = forms.ModelChoiceField(ConsentText.objects.select_related("study"), required=False)
    veil = forms.BooleanField(required=False)
