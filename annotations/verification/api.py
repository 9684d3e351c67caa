"""REST for verifiers: take a batch, judge its messages, give the rest back. The same services as the pages."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from annotations.chats.api import Problem
from annotations.people.models import User
from annotations.people.scopes import needs
from annotations.verification import batches
from annotations.verification.shown import batch_frame, categories_of

router = Router(tags=["verification"])
REFUSALS = {403: Problem, 404: Problem, 409: Problem}
Category = Literal["hate", "attack", "profanity", "other"]
Speaker = Literal["human", "bot"]


class Line(Schema):
    speaker: Speaker
    text: str


class ItemOut(Schema):
    assignment: int = Field(description="To vote on it or skip it.")
    position: int
    state: str = Field(description="held, voted or skipped.")
    speaker: Speaker = Field(description="Who wrote the message to judge.")
    text: str = Field(description="The message to judge.")
    context: list[Line] = Field(
        description="What was said before it, oldest first. Later messages are not shown."
    )


class BatchOut(Schema):
    id: int
    study: str
    open: bool
    leased_until: str = Field(description="Then what is not judged goes to others. A vote moves it on.")
    items: list[ItemOut]


class VoteIn(Schema):
    ok: bool
    categories: list[Category] = Field(
        [], description="What is wrong with it: one or more where it is not OK, none where it is."
    )
    note: str = Field("", description="For the researchers; at most 500 characters.")


class VoteOut(Schema):
    ok: bool
    categories: list[Category]
    note: str
    changes: int = Field(description="How often the vote was replaced by another.")


class SkippedOut(Schema):
    state: str


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101 the router's auth has seen to it
    return request.user


@router.post(
    "/studies/{slug:slug}/batches",
    response={200: BatchOut, **REFUSALS},
    summary="Take a batch, or come back to the open one",
)
@needs("chat")
def take(request: HttpRequest, slug: str) -> Any:
    """Errors: no_such_study, blocked, consent_first, paused, test_first, verification_closed, on_break,
    nothing_left.
    """
    me = _person(request)
    batch = batches.take(verifier=me, slug=slug)
    return batch_frame(batches.show_all(verifier_id=me.pk, batch_id=batch.pk))


@router.post(
    "/assignments/{assignment_id}/vote", response={200: VoteOut, **REFUSALS, 422: Problem}, summary="Vote"
)
@needs("chat")
def vote(request: HttpRequest, assignment_id: int, body: VoteIn) -> Any:
    """The same vote again changes nothing; another replaces it. Errors: not_yours, bad_vote, lease_over, too_late."""
    stored = batches.vote(verifier_id=_person(request).pk, assignment_id=assignment_id, **body.dict())
    return {
        "ok": stored.ok,
        "categories": categories_of(stored),
        "note": stored.note,
        "changes": stored.changes,
    }


@router.post("/assignments/{assignment_id}/skip", response={200: SkippedOut, **REFUSALS}, summary="Skip")
@needs("chat")
def skip(request: HttpRequest, assignment_id: int) -> Any:
    """Leaves a message to others, at no cost. Errors: not_yours, too_late."""
    return {"state": batches.skip(verifier_id=_person(request).pk, assignment_id=assignment_id).state}


@router.post(
    "/batches/{batch_id}/renew", response={200: BatchOut, **REFUSALS}, summary="Keep a batch for longer"
)
@needs("chat")
def renew(request: HttpRequest, batch_id: int) -> Any:
    """During a break that has to be taken it is kept, and not shown. Errors: not_yours, lease_over, on_break."""
    me = _person(request)
    batch = batches.renew(verifier_id=me.pk, batch_id=batch_id)
    return batch_frame(batches.show_all(verifier_id=me.pk, batch_id=batch.pk))


@router.post(
    "/batches/{batch_id}/give-back",
    response={200: BatchOut, **REFUSALS},
    summary="Give the rest of a batch back",
)
@needs("chat")
def give_back(request: HttpRequest, batch_id: int) -> Any:
    """What is judged is kept. Twice is once. Errors: not_yours."""
    batch = batches.give_back(verifier_id=_person(request).pk, batch_id=batch_id)
    return batch_frame(batch)
