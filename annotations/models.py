"""Every table of the people and what they judge, on one page."""

from annotations.chats.models import Dialogue, Label, ReplyFailure, Trial, Utterance
from annotations.console.models import Figure
from annotations.exports.models import Export, Import
from annotations.people.models import ApiToken, User
from annotations.studies.models import (
    AuditEntry,
    Break,
    Consent,
    ConsentText,
    InstructionSet,
    Invitation,
    Membership,
    Study,
    StudyBot,
)
from annotations.verification.models import (
    Assignment,
    Attempt,
    Batch,
    Item,
    Merged,
    Merging,
    Plan,
    Standing,
    Vote,
)

__all__ = [
    "ApiToken",
    "Assignment",
    "Attempt",
    "AuditEntry",
    "Batch",
    "Break",
    "Consent",
    "ConsentText",
    "Dialogue",
    "Export",
    "Figure",
    "Import",
    "InstructionSet",
    "Invitation",
    "Item",
    "Label",
    "Membership",
    "Merged",
    "Merging",
    "Plan",
    "ReplyFailure",
    "Standing",
    "Study",
    "StudyBot",
    "Trial",
    "User",
    "Utterance",
    "Vote",
]
