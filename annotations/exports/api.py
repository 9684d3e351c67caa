"""REST for a study's researchers: its items, votes, merged labels and exports."""

from typing import Annotated, Any, Literal

from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from annotations.chats.api import Page, Problem, page_of, researched
from annotations.exports import queries, services
from annotations.exports.download import Download
from annotations.exports.models import Export
from annotations.people.models import User
from annotations.people.scopes import needs
from annotations.verification.models import CATEGORIES, Item, Merged, Vote

router = Router(tags=["data"])

Key = Annotated[int, Field(ge=1, le=2**63 - 1)]
RuleName = Annotated[
    str, Field(pattern=r"^[a-z_]{0,24}$", description="Such as majority_verifiers, or imported.")
]
Categories = Annotated[list[str], Field(description="Of hate, attack, profanity, other.")]
Studies = "/studies/{slug:slug}"
Answers = {401: Problem, 403: Problem, 404: Problem, 422: Problem}


# -- items ---------------------------------------------------------------------------------------------------


class ItemOut(Schema):
    id: int
    kind: str = Field(description="utterance, gold or test.")
    chat: int | None = Field(description="The chat of the utterance; null where there is none behind it.")
    number: int | None = Field(description="The utterance's place in the chat.")
    wanted: int = Field(description="How many people are to judge it.")
    votes_in: int = Field(description="Votes that count.")
    held: int = Field(description="How many people hold it and have not voted yet.")
    opened_at: str


class ItemPage(Schema):
    rows: list[ItemOut]
    next: int | None = Field(description="What to send as `after` for the next page; null on the last.")


class ItemWish(Page):
    kind: Literal["utterance", "gold", "test"] | None = None
    chat: Key | None = None
    state: Literal["waiting", "judged"] | None = Field(None, description="judged: it has all its votes.")


@router.get(Studies + "/items", response={200: ItemPage, **Answers}, summary="Items for verification")
@needs("read")
def items(request: HttpRequest, slug: str, wish: Query[ItemWish]) -> Any:
    rows = Item.objects.filter(study=researched(request, slug)).select_related("utterance")
    rows = _kept(rows, kind=wish.kind, utterance__dialogue=wish.chat)
    if wish.state == "waiting":
        rows = rows.filter(kind="utterance", votes_in__lt=F("wanted"))
    elif wish.state == "judged":
        rows = rows.filter(kind="utterance", votes_in=F("wanted"))
    return page_of(rows, wish, _item)


def _item(item: Item) -> dict[str, Any]:
    is_utterance = item.kind == Item.Kind.UTTERANCE
    return {
        "id": item.pk,
        "kind": item.kind,
        "chat": item.utterance.dialogue_id if item.utterance else None,
        "number": item.utterance.number if item.utterance else None,
        "wanted": item.wanted,
        "votes_in": item.votes_in,
        "held": item.wanted - item.free - item.votes_in if is_utterance else 0,
        "opened_at": item.opened_at.isoformat(),
    }


# -- votes ---------------------------------------------------------------------------------------------------


class VoteOut(Schema):
    id: int
    item: int
    kind: str = Field(description="Of the item: utterance, gold or test.")
    chat: int | None
    number: int | None
    verifier: str = Field(description="User name. Exports hold pseudonyms instead.")
    ok: bool
    categories: Categories
    note: str
    seconds: float | None = Field(description="From shown to voted.")
    at: str
    changes: int
    counts: bool = Field(description="False where a researcher has set it aside.")


class VotePage(Schema):
    rows: list[VoteOut]
    next: int | None


class VoteWish(Page):
    verifier: Annotated[str, Field(pattern=r"^[\w.@+-]{1,150}$")] | None = None
    item: Key | None = None
    chat: Key | None = None
    ok: bool | None = None


@router.get(Studies + "/votes", response={200: VotePage, **Answers}, summary="Verifiers' votes")
@needs("read")
def votes(request: HttpRequest, slug: str, wish: Query[VoteWish]) -> Any:
    rows = Vote.objects.filter(item__study=researched(request, slug)).select_related(
        "item__utterance", "verifier"
    )
    rows = _kept(
        rows,
        verifier__username=wish.verifier,
        item=wish.item,
        item__utterance__dialogue=wish.chat,
        ok=wish.ok,
    )
    return page_of(rows, wish, _vote)


def _vote(vote: Vote) -> dict[str, Any]:
    said = vote.item.utterance
    return {
        "id": vote.pk,
        "item": vote.item_id,
        "kind": vote.item.kind,
        "chat": said.dialogue_id if said else None,
        "number": said.number if said else None,
        "verifier": vote.verifier.username,
        "ok": vote.ok,
        "categories": _categories(vote),
        "note": vote.note,
        "seconds": vote.seconds,
        "at": vote.at.isoformat(),
        "changes": vote.changes,
        "counts": vote.set_aside_at is None,
    }


def _categories(row: Vote | Merged) -> list[str]:
    return [name for name in CATEGORIES if getattr(row, name)]


def _kept(rows: QuerySet[Any], **wanted: Any) -> QuerySet[Any]:
    """Without the wishes that are None."""
    return rows.filter(**{name: value for name, value in wanted.items() if value is not None})


# -- merged labels -------------------------------------------------------------------------------------------


class MergedOut(Schema):
    id: int
    chat: int
    number: int
    rule: str
    version: str = Field(description="Of the rule, with its settings.")
    label: str | None = Field(description="ok or notok; null where the rule gave none.")
    tie: bool
    ok_votes: int
    notok_votes: int
    categories: Categories
    probability: float | None = Field(description="Of not OK, where the rule is a model of the verifiers.")


class MergedPage(Schema):
    rows: list[MergedOut]
    next: int | None


class MergedWish(Page):
    rule: RuleName | None = None
    label: Literal["ok", "notok", "none"] | None = None
    chat: Key | None = None


@router.get(Studies + "/merged", response={200: MergedPage, **Answers}, summary="Merged labels")
@needs("read")
def merged(request: HttpRequest, slug: str, wish: Query[MergedWish]) -> Any:
    rows = Merged.objects.filter(study=researched(request, slug)).select_related("utterance")
    label = "" if wish.label == "none" else wish.label
    rows = _kept(rows, rule=wish.rule or None, label=label, utterance__dialogue=wish.chat)
    return page_of(rows, wish, _merged)


def _merged(row: Merged) -> dict[str, Any]:
    return {
        "id": row.pk,
        "chat": row.utterance.dialogue_id,
        "number": row.utterance.number,
        "rule": row.rule,
        "version": row.version,
        "label": row.label or None,
        "tie": row.tie,
        "ok_votes": row.ok_votes,
        "notok_votes": row.notok_votes,
        "categories": _categories(row),
        "probability": row.probability,
    }


# -- exports -------------------------------------------------------------------------------------------------


class ExportIn(Schema):
    format: Literal["parlai", "jsonl", "csv", "parquet", "hf"]
    rule: RuleName = Field("", description="Whose labels; empty: the rule of the study's plan.")
    splits: str = Field(
        "0.8,0.1,0.1",
        pattern=r"^[0-9., ]{5,60}$",
        description="train, valid, test: shares that add up to 1, or counts of chats that add up to all of them.",
    )
    seed: int = Field(0, ge=0, le=services.HIGHEST_SEED)
    mask: bool = Field(False, description="Mask e-mail addresses and long numbers in texts.")
    partial: bool = Field(True, description="With the chats that ended early with enough in them.")


class FileOut(Schema):
    name: str
    split: str
    rows: int
    bytes: int
    sha256: str


class ExportOut(Schema):
    id: int
    study: str
    format: str
    rule: str
    splits: str
    seed: int
    mask: bool
    partial: bool
    state: str = Field(description="waiting, running, done, failed or cancelled.")
    percent: int
    problem: str
    asked_by: str | None
    asked_at: str
    published_at: str | None
    files: list[FileOut] = Field(description="Empty until it is done.")


class ExportPage(Schema):
    rows: list[ExportOut]
    next: int | None


class ExportWish(Page):
    state: Literal["waiting", "running", "done", "failed", "cancelled"] | None = None


@router.get(Studies + "/exports", response={200: ExportPage, **Answers}, summary="Exports of a study")
@needs("read", "export")
def exports(request: HttpRequest, slug: str, wish: Query[ExportWish]) -> Any:
    rows = queries.exports_of(researched(request, slug)).select_related("study")
    return page_of(_kept(rows, state=wish.state), wish, _export)


@router.post(
    Studies + "/exports",
    response={202: ExportOut, **Answers},
    summary="Ask for an export",
    description="It is made by a job: look at it again until its state is done. The same asked for twice is one.",
)
@needs("export")
def ask(request: HttpRequest, slug: str, wish: ExportIn) -> Any:
    export = services.ask(
        study=researched(request, slug),
        actor=_user(request),
        format_=wish.format,
        **wish.dict(exclude={"format"}),
    )
    return Status(202, _export(export))


@router.get("/exports/{export_id}", response={200: ExportOut, **Answers}, summary="One export")
@needs("read", "export")
def export(request: HttpRequest, export_id: Key) -> Any:
    return _export(services.export_for(user=_user(request), export_id=export_id))


@router.get(
    "/exports/{export_id}/files/{path:name}",
    response={200: bytes, 410: Problem, **Answers},
    summary="A file of an export",
    description="One of its files by the name it has there, or manifest.json.",
)
@needs("export")
def file(request: HttpRequest, export_id: Key, name: str) -> HttpResponse | Download:
    found = services.export_for(user=_user(request), export_id=export_id)
    return Download(services.file_of(export=found, name=name), name=services.download_name(found, name))


def _export(row: Export) -> dict[str, Any]:
    plain = ("format", "rule", "splits", "seed", "mask", "partial", "state", "percent", "problem")
    return {
        "id": row.pk,
        "study": row.study.slug,
        **{name: getattr(row, name) for name in plain},
        "asked_by": row.asked_by.username if row.asked_by else None,
        "asked_at": row.asked_at.isoformat(),
        "published_at": row.published_at.isoformat() if row.published_at else None,
        "files": row.manifest.get("files", []),
    }


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101 the router's auth has seen to it
    return request.user
