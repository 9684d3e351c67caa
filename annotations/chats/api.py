"""REST for chats: start one, read one. Talking goes over the socket."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from annotations.chats import services
from annotations.chats.answering import ahead
from annotations.chats.frames import chat_frame, utterances_after
from annotations.chats.models import Dialogue
from annotations.chats.queries import readable_chat
from annotations.people.models import User

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


def socket_address(request: HttpRequest, dialogue_id: int) -> str:
    """The address of a chat's socket, as seen from where the request came."""
    scheme = "wss" if request.is_secure() else "ws"
    return f"{scheme}://{request.get_host()}/ws/chats/{dialogue_id}"


@router.post(
    "/studies/{slug:slug}/chats",
    response={200: Started, 201: Started, 403: Problem, 404: Problem, 409: Problem},
    summary="Start a chat, or come back to the open one",
)
def start(request: HttpRequest, slug: str) -> Any:
    assert isinstance(request.user, User)  # noqa: S101 the router's auth has seen to it
    dialogue, created = services.start_chat(worker=request.user, slug=slug)
    body = {"id": dialogue.pk, "socket": socket_address(request, dialogue.pk), "created": created}
    return Status(201 if created else 200, body)


@router.get("/chats/{dialogue_id}", response={200: ChatOut, 404: Problem}, summary="A whole chat")
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
