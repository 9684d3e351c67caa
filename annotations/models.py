"""Every table of the people and what they judge, on one page."""

from annotations.chats.models import Dialogue, Label, ReplyFailure, Trial, Utterance
from annotations.people.models import ApiToken, User
from annotations.studies.models import (
    Consent,
    ConsentText,
    InstructionSet,
    Invitation,
    Membership,
    Study,
    StudyBot,
)

__all__ = [
    "ApiToken",
    "Consent",
    "ConsentText",
    "Dialogue",
    "InstructionSet",
    "Invitation",
    "Label",
    "Membership",
    "ReplyFailure",
    "Study",
    "StudyBot",
    "Trial",
    "User",
    "Utterance",
]
