"""The chat as pages and forms. chat.js does the same over the socket, quicker."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotations.chats import answering, services
from annotations.chats.forms import CommentForm, LabelForm, SayForm
from annotations.chats.models import Dialogue
from annotations.chats.places import places
from annotations.chats.shown import chat_values, end_values
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.people.services import set_preferences
from annotations.people.views import SignedIn
from annotations.studies.forms import ConsentForm
from annotations.studies.models import Study
from annotations.studies.services import check_may_chat, consent, current_consent
from annotations.studies.views import safe_links

CHATS_A_PAGE = 50
CHATS_AT_HOME = 5


def home_values(request: SignedIn) -> dict[str, Any]:
    """What the start page tells of chats: the studies one chats in, those one may join, the chats done."""
    user = request.user
    may_join = Study.objects.filter(open_signup=True, state=Study.State.OPEN)
    finished = list(_finished(request)[: CHATS_AT_HOME + 1])
    return {
        "places": places(user),
        "may_join": may_join.exclude(memberships__user=user, memberships__role="worker"),
        "finished": finished[:CHATS_AT_HOME],
        "more": len(finished) > CHATS_AT_HOME,
    }


@login_required
@never_cache
def my_chats(request: SignedIn) -> HttpResponse:
    """Every finished chat of one's own, newest first."""
    page = Paginator(_finished(request), CHATS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "chats/my_chats.html", {"page": page})


def _finished(request: SignedIn) -> Any:
    rows = Dialogue.objects.filter(worker=request.user).exclude(state=Dialogue.State.OPEN)
    return rows.select_related("study").order_by("-ended_at", "-pk")


@never_cache
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """What a study asks of one, before the first chat; later the button that starts the next."""
    found = Study.objects.filter(slug=slug).first()
    if not request.user.is_authenticated:
        may_join = found and found.open_signup and found.state == Study.State.OPEN
        return redirect("join_study", slug) if may_join else redirect_to_login(request.get_full_path())
    assert isinstance(request.user, User)  # noqa: S101 for the type checker
    try:
        agreed = bool(check_may_chat(study=found, user=request.user))
    except Refused as refusal:
        if refusal.code == "not_a_member":
            return redirect("join_study", slug)
        if refusal.code != "consent_first" or found is None:
            raise
        agreed = False
    assert found is not None  # noqa: S101 check_may_chat refuses what is not there
    values = {
        "study": found,
        "text": current_consent(found),
        "agreed": agreed,
        "place": places(request.user, found)[0],
        "links": safe_links(found.support),
    }
    return render(request, "chats/study.html", values)


@login_required
@require_POST
def start_chat(request: SignedIn, slug: str) -> HttpResponse:
    """Starts a chat, or goes back to the open one; agrees to the study's text where that is posted too."""
    form = ConsentForm(request.POST)
    try:
        if form.is_valid() and (text := form.cleaned_data["text"]):
            consent(user=request.user, text=text)
            set_preferences(user=request.user, veil=form.cleaned_data["veil"])
        dialogue, _ = services.start_chat(worker=request.user, slug=slug)
    except Refused as refusal:
        if refusal.status == 404:
            raise
        if refusal.code != "consent_first":
            messages.warning(request, refusal.detail)
        at_study = refusal.status == 403 or refusal.code == "outdated"
        return redirect("study", slug) if at_study else redirect("home")
    return redirect("chat", dialogue.pk)


@login_required
@never_cache
def chat(request: SignedIn, dialogue_id: int) -> HttpResponse:
    return _chat_page(request, dialogue_id)


def _chat_page(request: SignedIn, dialogue_id: int, status: int = 200, **values: Any) -> HttpResponse:
    dialogue = services.read(worker_id=request.user.pk, dialogue_id=dialogue_id)
    shown = chat_values(dialogue, request.user)
    shown["relabel"] = shown["may_change"] and "change" in request.GET
    return render(request, "chats/chat.html", shown | values, status=status)


@login_required
@never_cache
def chat_end(request: SignedIn, dialogue_id: int) -> HttpResponse:
    """The end panel alone, for a page whose chat has just ended."""
    dialogue = services.read(worker_id=request.user.pk, dialogue_id=dialogue_id)
    if dialogue.state == Dialogue.State.OPEN:
        return redirect("chat", dialogue_id)
    return render(request, "chats/_end.html", end_values(dialogue, request.user))


def _done(
    request: SignedIn, dialogue_id: int, verb: Callable[..., Any], typed: str = "", **given: Any
) -> HttpResponse:
    """Runs one verb of the chat and shows the chat again; what was refused in words, with what was typed."""
    try:
        verb(worker_id=request.user.pk, dialogue_id=dialogue_id, **given)
    except Refused as refusal:
        return _chat_page(request, dialogue_id, refusal.status, problem=refusal.detail, typed=typed)
    return redirect("chat", dialogue_id)


def _unread(request: HttpRequest, dialogue_id: int) -> HttpResponse:
    messages.warning(request, "That could not be read. Nothing changed.")
    return redirect("chat", dialogue_id)


@login_required
@require_POST
def say(request: SignedIn, dialogue_id: int) -> HttpResponse:
    form = SayForm(request.POST)
    if not form.is_valid():
        return _unread(request, dialogue_id)
    text, client_id = form.cleaned_data["text"], form.cleaned_data["client_id"]
    return _done(request, dialogue_id, services.say, typed=text, text=text, client_id=client_id)


@login_required
@require_POST
def label(request: SignedIn, dialogue_id: int) -> HttpResponse:
    form = LabelForm(request.POST)
    if not form.is_valid():
        return _unread(request, dialogue_id)
    number, bin_ = form.cleaned_data["utterance"], form.cleaned_data["bin"]
    return _done(request, dialogue_id, services.label, number=number, bin_=bin_)


@login_required
@require_POST
def ask_again(request: SignedIn, dialogue_id: int) -> HttpResponse:
    return _done(request, dialogue_id, answering.ask_again)


@login_required
@require_POST
def leave_chat(request: SignedIn, dialogue_id: int) -> HttpResponse:
    """Leaves without a question; the start page offers the way back."""
    services.leave(worker_id=request.user.pk, dialogue_id=dialogue_id)
    return redirect("home")


@login_required
@require_POST
def comment(request: SignedIn, dialogue_id: int) -> HttpResponse:
    form = CommentForm(request.POST)
    if not form.is_valid():
        return _unread(request, dialogue_id)
    text = form.cleaned_data["text"]
    try:
        services.comment(worker_id=request.user.pk, dialogue_id=dialogue_id, text=text)
    except Refused as refusal:
        values = {"comment_problem": refusal.detail, "comment_typed": text}
        return _chat_page(request, dialogue_id, refusal.status, **values)
    messages.success(request, "Thank you. Your comment is kept.")
    return redirect("chat", dialogue_id)
