"""What people type about themselves, checked."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundWidget

from annotations.domain.harms import KINDS, Kind
from annotations.people.models import User

NAME_ATTRS = {"class": "input", "autocapitalize": "none", "spellcheck": "false"}


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "That name and password do not go together. Check both and try again.",
        "inactive": "This account is closed. Ask the researchers.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name, password = self.fields["username"], self.fields["password"]
        name.label = "User name"
        name.widget.attrs |= NAME_ATTRS
        password.widget.attrs["class"] = "input"
        if self.is_bound:
            del name.widget.attrs["autofocus"]
        name.error_messages["required"] = "Write your user name."
        password.error_messages["required"] = "Write your password."

    def get_invalid_login_error(self) -> ValidationError:
        """Either may be the wrong one, so both boxes are marked."""
        for field in self.fields.values():
            field.widget.attrs |= {"aria-invalid": "true", "aria-describedby": "problem"}
        return super().get_invalid_login_error()


def _new_password(label: str) -> forms.CharField:
    return forms.CharField(
        label=label,
        strip=False,
        max_length=128,
        help_text="At least 8 characters, not one of the common ones, and not like your user name.",
        widget=forms.PasswordInput({"class": "input", "autocomplete": "new-password", "data-show": ""}),
        error_messages={"required": "Choose a password."},
    )


def _check_password(form: forms.Form, field: str, user: User) -> None:
    """Adds to `form` what the password rules have against the value of `field`."""
    if value := form.cleaned_data.get(field):
        try:
            validate_password(value, user)
        except ValidationError as error:
            form.add_error(field, error)


class SignUpForm(forms.Form):
    username = UsernameField(
        label="User name",
        max_length=150,
        validators=[User.username_validator],
        help_text="Letters, digits and . + - _ @ only. Choose one that does not tell who you are.",
        widget=forms.TextInput({**NAME_ATTRS, "autocomplete": "username"}),
        error_messages={"required": "Choose a user name."},
    )
    password = _new_password("Password")

    def clean(self) -> None:
        _check_password(self, "password", User(username=self.cleaned_data.get("username", "")))


class PasswordForm(forms.Form):
    """The password now and the new one. The new one is asked for once, since it can be shown."""

    old = forms.CharField(
        label="Password now",
        strip=False,
        max_length=128,
        widget=forms.PasswordInput({"class": "input", "autocomplete": "current-password"}),
        error_messages={"required": "Write the password you have now."},
    )
    new = _new_password("New password")

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_old(self) -> str:
        old: str = self.cleaned_data["old"]
        if not self.user.check_password(old):
            raise ValidationError("This is not the password you have now. Try again.")
        return old

    def clean(self) -> None:
        _check_password(self, "new", self.user)


class PreferencesForm(forms.ModelForm[User]):
    """How the person wants the pages, and the kinds of harm they do not want to be given."""

    avoid = forms.TypedMultipleChoiceField(
        choices=[(kind.bit, kind.title) for kind in KINDS],
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = User
        fields = ["theme", "single_keys", "veil", "avoid"]
        labels = {"theme": "Colours"}
        widgets = {"theme": forms.Select({"class": "input"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["avoid"] = [kind.bit for kind in KINDS if kind.bit & self.instance.avoid]

    def clean_avoid(self) -> int:
        """The sum of the bits."""
        return sum(set(self.cleaned_data["avoid"]))

    def kinds(self) -> list[tuple[BoundWidget, Kind]]:
        """Each box with what to say of it."""
        return list(zip(self["avoid"], KINDS, strict=True))


class TokenForm(forms.Form):
    name = forms.CharField(
        label="Name of the token",
        max_length=60,
        help_text="What it is for, so that you know later which one to delete.",
        widget=forms.TextInput({"class": "input", "autocomplete": "off"}),
        error_messages={"required": "Give the token a name."},
    )
    scopes = forms.MultipleChoiceField(
        label="What it may be used for",
        choices=[
            ("chat", "Chat, verify, and read my own chats"),
            ("read", "Read the data of studies I run"),
            ("export", "Make and download exports of studies I run"),
        ],
        initial=["chat"],
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one thing it may be used for.",
            "invalid_choice": "Choose from the list.",
        },
    )
