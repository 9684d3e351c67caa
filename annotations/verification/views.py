"""The start page, and verification as pages and forms. verify.js swaps the main part instead, quicker."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.messages import get_messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotations.chats.views import home_values
from annotations.people.errors import Refused
from annotations.people.services import set_preferences
from annotations.people.views import SignedIn
from annotations.studies import breaks
from annotations.studies.forms import ConsentForm
from annotations.studies.models import Study
from annotations.studies.services import consent, current_consent
from annotations.studies.views import safe_links
from annotations.verification import batches, quality, shown
from annotations.verification.forms import BatchForm, JudgementForm, TestForm
from annotations.verification.models import Assignment, Batch, Item, Vote
from annotations.verification.places import hindrance, places
from annotations.verification.services import plan_of, study_for_verifier

UNREAD = "That could not be read. Nothing changed."


@login_required
@never_cache
def home(request: SignedIn) -> HttpResponse:
    """Where everybody starts: the studies one is in, and what can be done in each."""
    return render(request, "chats/home.html", {**home_values(request), "desks": places(request.user)})


# -- judging -------------------------------------------------------------------------------------------------


@login_required
@never_cache
def verify(request: SignedIn, slug: str) -> HttpResponse:
    """The message to judge next, or `?item=` once more; where there is none, what comes instead, in words."""
    try:
        study = study_for_verifier(verifier=request.user, slug=slug)
    except Refused as refusal:
        if refusal.code != "consent_first":
            raise
        return _consent(request, slug)
    asked = request.GET.get("item", "")[:20]  # no key is longer, and Python reads no number of 5,000 digits
    if asked.isdecimal() and not _to_come(request, int(asked)):
        return _shown(request, study, int(asked))
    return _onward(request, study)


def _to_come(request: SignedIn, assignment_id: int) -> bool:
    """Whether it is still to be judged: those are shown in their order, since a later one gives away an earlier."""
    held = Assignment.objects.filter(verifier=request.user, state=Assignment.State.HELD)
    return held.filter(pk=assignment_id).exists()


def _onward(request: SignedIn, study: Study) -> HttpResponse:
    """The next message; between batches, the page that says what can be done."""
    batch = batches.current(verifier=request.user, slug=study.slug)
    held = shown.next_held(batch) if batch else None
    if held is None:
        return _elsewhere(request, study) or _between(request, study)
    return _shown(request, study, held.pk)


def _elsewhere(request: SignedIn, study: Study) -> HttpResponse | None:
    """Where the main part alone is asked for, the way to the whole page."""
    if not request.headers.get("HX-Request"):
        return None
    return HttpResponse(headers={"HX-Redirect": reverse("verify", args=[study.slug])})


def _shown(
    request: SignedIn, study: Study, assignment_id: int, status: int = 200, **given: Any
) -> HttpResponse:
    """One message with its question; the main part alone for verify.js."""
    try:
        assignment = batches.show(verifier_id=request.user.pk, assignment_id=assignment_id)
    except Refused as refusal:
        if refusal.code == "on_break":
            return _elsewhere(request, study) or _break_page(request, study)
        if refusal.code != "lease_over":
            raise
        messages.warning(request, refusal.detail)
        return _elsewhere(request, study) or redirect("verify", study.slug)
    if assignment.batch.study_id != study.pk:
        raise Refused("not_yours", batches.NOT_YOURS, status=404)
    values = {**_card_values(request, study, assignment), **_told(request), **given}
    if request.headers.get("HX-Request"):
        part = {**values, "swapped": True}
        response = render(request, "verification/_judge.html", part, status=status)
        response["X-Part"] = "1"
        return response
    return render(request, "verification/judge.html", values, status=status)


def _card_values(request: SignedIn, study: Study, assignment: Assignment) -> dict[str, Any]:
    """What the page of one message is filled from."""
    plan, batch = plan_of(study), assignment.batch
    vote = Vote.objects.filter(item=assignment.item_id, verifier=request.user).first()
    past = ""
    if assignment.state == Assignment.State.SKIPPED:
        past = "You skipped this one."
    elif vote:
        past = f"You said: {shown.words_of(ok=vote.ok, categories=shown.categories_of(vote))}."
    return {
        **_question_values(study, request),
        "plan": plan,
        "batch": batch,
        "card": shown.cards([assignment])[0],
        "progress": shown.progress_of(batch),
        "vote": vote,
        "past": past,
        "ticked": shown.categories_of(vote) if vote else [],
        "undo": shown.last_done(batch, assignment.position),
        "pause": _suggested(request, study),
        "renew_every": max(15, plan.lease_minutes * 60 // 5),
        "action": reverse("verify_judge", args=[study.slug]),
        "quick": True,
    }


def _question_values(study: Study, request: SignedIn) -> dict[str, Any]:
    return {
        "study": study,
        "here": reverse("verify", args=[study.slug]),
        "veiled": request.user.veil or study.veil,
        "categories": shown.PICKS,
    }


def _suggested(request: SignedIn, study: Study) -> Any:
    """The break that is suggested to the person, unless they have taken it."""
    running = breaks.current(user_id=request.user.pk, study_id=study.pk)
    return running if running and request.session.get("rested") != running.pk else None


def _told(request: SignedIn) -> dict[str, Any]:
    """What the last action has left to say: `said` of a vote that is stored, `warnings` of one that is not."""
    told = list(get_messages(request))
    good = [str(message) for message in told if message.level_tag not in ("warn", "bad")]
    return {
        "said": " ".join(good),
        "warnings": [message for message in told if message.level_tag in ("warn", "bad")],
    }


@login_required
@require_POST
def judge(request: SignedIn, slug: str) -> HttpResponse:
    """Stores what was said of one message, and shows the next; a judgement that is none, with the reason."""
    form = JudgementForm(request.POST)
    try:
        study = study_for_verifier(verifier=request.user, slug=slug)
        if not form.is_valid():
            messages.warning(request, UNREAD)
        else:
            messages.success(request, _judge(request, **form.cleaned_data))
    except Refused as refusal:
        if refusal.code == "bad_vote":
            given = {"problem": refusal.detail, "ticked": form.cleaned_data["category"]}
            return _shown(request, study, form.cleaned_data["item"], refusal.status, **given)
        if refusal.status == 404:
            raise
        messages.warning(request, refusal.detail)
    if request.headers.get("HX-Request"):
        return _onward(request, study)
    return redirect(reverse("verify", args=[slug]) + "#judged")


def _judge(request: SignedIn, *, item: int, vote: str, category: list[str], note: str) -> str:
    """Votes or skips; what was done, in words."""
    me = request.user.pk
    if vote == "skip":
        batches.skip(verifier_id=me, assignment_id=item)
        return "Skipped"
    categories = [] if vote == "ok" else category
    stored = batches.vote(
        verifier_id=me, assignment_id=item, ok=vote == "ok", categories=categories, note=note
    )
    words = shown.words_of(ok=stored.ok, categories=shown.categories_of(stored))
    return f"Changed to {words}" if stored.changes else f"Saved as {words}"


@login_required
@require_POST
def renew(request: SignedIn, slug: str) -> HttpResponse:
    """Keeps the batch of a page in use: 204, or 409 where it has ended."""
    form = BatchForm(request.POST)
    if not form.is_valid():
        return HttpResponse(UNREAD, status=422, content_type="text/plain")
    study_for_verifier(verifier=request.user, slug=slug)
    try:
        batches.renew(verifier_id=request.user.pk, batch_id=form.cleaned_data["batch"])
    except Refused as refusal:
        return HttpResponse(refusal.detail, status=refusal.status, content_type="text/plain")
    return HttpResponse(status=204)


# -- before, between and after batches -------------------------------------------------------------------------


def _consent(request: SignedIn, slug: str) -> HttpResponse:
    study = get_object_or_404(Study, slug=slug)
    values = {
        "study": study,
        "plan": plan_of(study),
        "text": current_consent(study),
        "links": safe_links(study.support),
    }
    return render(request, "verification/consent.html", values)


@login_required
@require_POST
def take(request: SignedIn, slug: str) -> HttpResponse:
    """Takes a batch; agrees to the study's text first, where that is posted too."""
    form = ConsentForm(request.POST)
    try:
        if form.is_valid() and (text := form.cleaned_data["text"]):
            consent(user=request.user, text=text)
            set_preferences(user=request.user, veil=form.cleaned_data["veil"])
        batches.take(verifier=request.user, slug=slug)
    except Refused as refusal:
        if refusal.status == 404:
            raise
        if refusal.code == "nothing_left":
            return _between(request, study_for_verifier(verifier=request.user, slug=slug), refusal)
        if refusal.code == "outdated":
            messages.warning(request, refusal.detail)
    return redirect("verify", slug)


def _between(request: SignedIn, study: Study, refusal: Refused | None = None) -> HttpResponse:
    """The page of somebody without a batch: the next one, or why there is none."""
    refusal = refusal or hindrance(verifier=request.user, study=study)
    code = refusal.code if refusal else ""
    if code == "test_first":
        return redirect("verify_test", study.slug)
    if code == "on_break":
        return _break_page(request, study)
    detail = refusal.detail if refusal else ""
    last = Batch.objects.filter(study=study, verifier=request.user).first()
    values = {
        "study": study,
        "plan": plan_of(study),
        "desk": shown.desk_of(study=study, verifier=request.user, code=code, detail=detail),
        "undo": shown.last_done(last) if last and code != "paused" else None,
        "today": shown.judged_today(request.user.pk),
    }
    return render(request, "verification/desk.html", values)


@login_required
@require_POST
def leave(request: SignedIn, slug: str) -> HttpResponse:
    """Gives the rest of the batch back without a question; the next page says what is kept."""
    batch = batches.current(verifier=request.user, slug=slug)
    if batch:
        batches.give_back(verifier_id=request.user.pk, batch_id=batch.pk)
    return redirect("verify", slug)


@login_required
@never_cache
def take_break(request: SignedIn, slug: str) -> HttpResponse:
    """The page of a break; posted to, the place is kept for as long as a batch is."""
    study = study_for_verifier(verifier=request.user, slug=slug)
    if request.method != "POST":
        return _break_page(request, study)
    if running := breaks.current(user_id=request.user.pk, study_id=study.pk):
        request.session["rested"] = running.pk
    if batch := batches.current(verifier=request.user, slug=slug):
        batches.renew(verifier_id=request.user.pk, batch_id=batch.pk)
    return redirect("verify_break", slug)


def _break_page(request: SignedIn, study: Study) -> HttpResponse:
    running = breaks.current(user_id=request.user.pk, study_id=study.pk)
    binding = running if running and running.binding else None
    batch = batches.current(verifier=request.user, slug=study.slug)
    values = {
        "study": study,
        "count": running.upsetting if running else 0,
        "until": binding.until if binding else None,
        "left": max(0, round((binding.until - timezone.now()).total_seconds())) if binding else 0,
        "kept_until": batch.leased_until if batch else None,
        "links": safe_links(study.support),
    }
    return render(request, "verification/break.html", values)


# -- the test ------------------------------------------------------------------------------------------------


@login_required
@never_cache
def test(request: SignedIn, slug: str) -> HttpResponse:
    """The study's test: its first page, the question that is next, `?answered=` explained, or how it went."""
    study = study_for_verifier(verifier=request.user, slug=slug)
    answered = request.GET.get("answered", "")
    if answered.isdecimal() and (page := _explained(request, study, answered)):
        return page
    state = quality.test_state(study=study, verifier=request.user)
    if state.attempt and not state.passed:
        return _question(request, study, state.attempt)
    if not state.needed:
        return redirect("verify", slug)
    plan = plan_of(study)
    last = study.attempts.filter(verifier=request.user, finished_at__isnull=False).order_by("-number").first()
    values = {"study": study, "plan": plan, "state": state, "last": last, "mark": round(100 * plan.pass_mark)}
    return render(request, "verification/test.html", values)


test.__test__ = False  # type: ignore[attr-defined]  # not one of pytest's


def _question(request: SignedIn, study: Study, attempt: Any, problem: str = "") -> HttpResponse:
    """The first question that is not answered yet."""
    left = [pk for pk in attempt.questions if str(pk) not in attempt.answers]
    item = Item.objects.get(pk=left[0])
    total = len(attempt.questions)
    values = {
        **_question_values(study, request),
        "attempt": attempt,
        "card": shown.question_card(item, total - len(left) + 1),
        "progress": shown.Progress(total - len(left), total, 0),
        "action": reverse("verify_test_answer", args=[study.slug]),
        "problem": problem,
    }
    return render(request, "verification/question.html", values, status=422 if problem else 200)


def _explained(request: SignedIn, study: Study, answered: str) -> HttpResponse | None:
    """An answered question with the right answer and its reason; None where the person has not answered it."""
    attempts = study.attempts.filter(verifier=request.user).order_by("-number")
    attempt = next((row for row in attempts if answered in row.answers), None)
    if attempt is None:
        return None
    item, mine = Item.objects.get(pk=int(answered)), attempt.answers[answered]
    place = attempt.questions.index(item.pk) + 1
    values = {
        **_question_values(study, request),
        "card": shown.question_card(item, place),
        "progress": shown.Progress(len(attempt.answers), len(attempt.questions), 0),
        "right": mine["right"],
        "mine": shown.words_of(ok=mine["ok"], categories=mine["categories"]),
        "expected": shown.words_of(ok=item.ok, categories=shown.categories_of(item)),
        "why": item.why,
        "over": attempt.finished_at is not None,
    }
    return render(request, "verification/explained.html", values)


@login_required
@require_POST
def start_test(request: SignedIn, slug: str) -> HttpResponse:
    try:
        quality.start_test(verifier=request.user, slug=slug)
    except Refused as refusal:
        if refusal.status == 404:
            raise
    return redirect("verify_test", slug)


@login_required
@require_POST
def answer_test(request: SignedIn, slug: str) -> HttpResponse:
    """Keeps an answer and shows the right one."""
    study = study_for_verifier(verifier=request.user, slug=slug)
    form = TestForm(request.POST)
    if not form.is_valid():
        messages.warning(request, UNREAD)
        return redirect("verify_test", slug)
    given = form.cleaned_data
    ok = given["vote"] == "ok"
    try:
        quality.answer_test(
            verifier_id=request.user.pk,
            attempt_id=given["attempt"],
            item_id=given["item"],
            ok=ok,
            categories=[] if ok else given["category"],
        )
    except Refused as refusal:
        state = quality.test_state(study=study, verifier=request.user)
        if refusal.code != "bad_vote" or state.attempt is None:
            raise
        return _question(request, study, state.attempt, refusal.detail)
    return redirect(f"{reverse('verify_test', args=[slug])}?answered={given['item']}")
