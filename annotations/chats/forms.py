"""What the chat's forms post, checked. Their words are the services' own."""

from django import forms


class SayForm(forms.Form):
    """`client_id` is made with the page, so that the same page sent twice says it once."""

    text = forms.CharField(required=False, strip=False)
    client_id = forms.CharField(max_length=64)


class LabelForm(forms.Form):
    utterance = forms.IntegerField(min_value=0, max_value=10_000)
    bin = forms.CharField(max_length=4)


class CommentForm(forms.Form):
    text = forms.CharField(required=False, strip=False)
