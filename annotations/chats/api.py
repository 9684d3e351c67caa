"""REST for chats: start one, read one, list a study's. Talking goes over the socket."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from annotations.chats import services
from annotations.chats.answering import ahead
from annotations.chats.frames import chat_frame, utterances_after
from annotations.chats.models import Dialogue
from annotations.chats.queries import readable_chat
from annotations.people.models import User
from annotations.people.scopes import needs
from annotations.studies.models import Study
from annotations.studies.services import study_for_researcher

router = Router(tags=["chats"])


class Problem(Schema):
    error: str = Field(description="A code that does not change, for machines.")
    detail: str = Field(description="What was wrong and what to do, for people.")


class Started(Schema):
    id: int
    socket: str = Field(description="Where to connect, with the same Authorization header.")
    created: bool = Field(
        description="False where the worker had an open chat in the study: that one is given."
    )


class UtteranceOut(Schema):
    number: int = Field(description="From 1; odd: the worker's, even: the bot's.")
    speaker: str = Field(description="human or bot.")
    text: str
    at: str
    label: str | None = Field(description="The worker's bin: 0, <10, <50 or >=50; null where there is none.")


class ChatOut(Schema):
    id: int
    study: str
    state: str
    end_reason: str
    turn: str
    said: int
    wanted: int
    unsafe: int
    ahead: int
    instruction: str
    instruction_set: str | None
    chats_before: int
    started_at: str
    ended_at: str | None
    bot: str | None = Field(description="For the study's researchers only; null for the worker.")
    persona: list[str] | None = Field(description="For the study's researchers only; null for the worker.")
    worker: str | None = Field(description="For the study's researchers only; null for the worker.")
    utterances: list[UtteranceOut]


class Page(Schema):
    """Which part of a list is asked for, in the order of the rows' ids."""

    after: int = Field(0, ge=0, le=2**63 - 1, description="The id that the last page ended with.")
    limit: int = Field(50, ge=1, le=200, description="Rows at most.")


def page_of(rows: QuerySet[Any], wish: Page, show: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """The part of `rows` asked for, each as `show` gives it, and what to send as `after` for the next."""
    found = list(rows.filter(pk__gt=wish.after).order_by("pk")[: wish.limit + 1])
    shown = found[: wish.limit]
    return {"rows": [show(row) for row in shown], "next": shown[-1].pk if len(found) > wish.limit else None}


def researched(request: HttpRequest, slug: str) -> Study:
    """The study, for one of its researchers. Raises Refused no_such_study."""
    assert isinstance(request.user, User)  # noqa: S101 the router's auth has seen to it
    return study_for_researcher(user=request.user, slug=slug)


class ChatRow(Schema):
    id: int
    state: str
    end_reason: str
    worker: str = Field(description="User name. Exports hold pseudonyms instead.")
    bot: str
    instruction_set: str | None
    said: int
    labelled: int
    unsafe: int
    imported: bool
    split: str | None = Field(description="The split it is fixed to; null where it is free.")
    started_at: str
    ended_at: str | None


class ChatPage(Schema):
    rows: list[ChatRow]
    next: int | None = Field(description="What to send as `after` for the next page; null on the last.")


class ChatWish(Page):
    state: Literal["open", "complete", "partial", "dropped"] | None = None
    bot: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] | None = None
    split: Literal["train", "valid", "test"] | None = None


def socket_address(request: HttpRequest, dialogue_id: int) -> str:
    """The address of a chat's socket, as seen from where the request came."""
    scheme = "wss" if request.is_secure() else "ws"
    return f"{scheme}://{request.get_host()}/ws/chats/{dialogue_id}"


@router.post(
    "/studies/{slug:slug}/chats",
    response={200: Started, 201: Started, 403: Problem, 404: Problem, 409: Problem},
    summary="Start a chat, or come back to the open one",
)
@needs("chat")
def start(request: HttpRequest, slug: str) -> Any:
    assert isinstance(request.user, User)  # noqa: S101 the router's auth has seen to it
    dialogue, created = services.start_chat(worker=request.user, slug=slug)
    body = {"id": dialogue.pk, "socket": socket_address(request, dialogue.pk), "created": created}
    return Status(201 if created else 200, body)


@router.get(
    "/studies/{slug:slug}/chats",
    response={200: ChatPage, 403: Problem, 404: Problem},
    summary="Chats of a study, for its researchers",
)
@needs("read")
def chats(request: HttpRequest, slug: str, wish: Query[ChatWish]) -> Any:
    study = researched(request, slug)
    wanted = {"state": wish.state, "bot__slug": wish.bot, "split": wish.split}
    rows = Dialogue.objects.filter(study=study).select_related("worker", "bot", "instruction_set")
    return page_of(rows.filter(**{key: value for key, value in wanted.items() if value}), wish, _row)


def _row(dialogue: Dialogue) -> dict[str, Any]:
    return {
        "id": dialogue.pk,
        "state": dialogue.state,
        "end_reason": dialogue.end_reason,
        "worker": dialogue.worker.username,
        "bot": dialogue.bot.slug,
        "instruction_set": dialogue.instruction_set.slug if dialogue.instruction_set else None,
        "said": dialogue.said,
        "labelled": dialogue.labelled,
        "unsafe": dialogue.unsafe,
        "imported": dialogue.imported,
        "split": dialogue.split or None,
        "started_at": dialogue.started_at.isoformat(),
        "ended_at": dialogue.ended_at.isoformat() if dialogue.ended_at else None,
    }


@router.get(
    "/chats/{dialogue_id}", response={200: ChatOut, 403: Problem, 404: Problem}, summary="A whole chat"
)
@needs("chat", "read")
def chat(request: HttpRequest, dialogue_id: int) -> Any:
    assert isinstance(request.user, User)  # noqa: S101 the router's auth has seen to it
    dialogue, researching = readable_chat(user=request.user, dialogue_id=dialogue_id)
    return whole_chat(dialogue, researching=researching)


def whole_chat(dialogue: Dialogue, *, researching: bool) -> dict[str, Any]:
    """A chat with its utterances; what would tell the worker which bot it is, for researchers only."""
    return {
        **chat_frame(dialogue, ahead=ahead(dialogue)),
        "study": dialogue.study.slug,
        "instruction": dialogue.instruction,
        "instruction_set": dialogue.instruction_set.slug if dialogue.instruction_set else None,
        "chats_before": dialogue.chats_before,
        "started_at": dialogue.started_at.isoformat(),
        "ended_at": dialogue.ended_at.isoformat() if dialogue.ended_at else None,
        "bot": dialogue.bot.slug if researching else None,
        "persona": dialogue.persona if researching else None,
        "worker": dialogue.worker.username if researching else None,
        "utterances": utterances_after(dialogue, 0),
    }
