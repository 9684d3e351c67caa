"""Whether a verifier's votes can be relied on: a test, gold items, a floor, pausing, setting votes aside."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random

from django.db import transaction
from django.db.models import Count, F, Q
from django.utils import timezone

from annotations.chats.models import Utterance
from annotations.domain.harms import kinds_of
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies.audit import record
from annotations.studies.models import Study
from annotations.verification.holds import CHUNK, close_open, lock_items, lock_verifier
from annotations.verification.merging import forget
from annotations.verification.models import CATEGORIES, Attempt, Batch, Item, Plan, Standing, Vote
from annotations.verification.services import plan_of, study_for_verifier
from bots.text import LONGEST, one_line

ATTEMPTS = 2
"""Goes at the test: one, and one more."""
LONGEST_CONTEXT = 40
"""Messages before the one to judge: as many as the longest chat has."""


@dataclass(frozen=True)
class GoldScore:
    """Gold items a verifier got right, of those judged."""

    right: int
    of: int

    @property
    def share(self) -> float | None:
        """0 to 1; None where none was judged."""
        return self.right / self.of if self.of else None


@dataclass(frozen=True)
class TestState:
    """Where a verifier stands with a study's test.

    `needed`: it has to be passed before the first batch. `attempt`: the one under way. `used`: those finished.
    """

    needed: bool
    passed: bool
    attempt: Attempt | None
    used: int

    @property
    def failed(self) -> bool:
        """No attempt is left."""
        return self.needed and not self.passed and self.used >= ATTEMPTS


@dataclass(frozen=True)
class TestAnswer:
    """What becomes of an answer: `question` holds the right one and its reason (`ok`, categories, `why`)."""

    question: Item
    right: bool
    attempt: Attempt


# -- gold items and test questions ---------------------------------------------------------------------------


@transaction.atomic
def add_gold(
    *,
    study: Study,
    actor: User | None,
    ok: bool,
    categories: Collection[str] = (),
    text: str = "",
    speaker: str = "human",
    context: Sequence[dict[str, str]] = (),
    why: str = "",
    kind: str = Item.Kind.GOLD,
    utterance: Utterance | None = None,
) -> Item:
    """A message whose right answer is known: a gold item, or a question of the test (`kind`).

    Of an utterance of the study, text, speaker and context are the chat's own; else `context` holds what came
    before, each with `speaker` and `text`. One that is there already is given back as it is. Raises Refused
    bad_gold, no_such_utterance, known_otherwise (it is there with another answer).
    """
    if utterance is not None:
        text, speaker, context = _from_chat(study, utterance)
    item = Item(
        study=study,
        kind=kind,
        utterance=utterance,
        draw=0,
        text=one_line(text),
        speaker=speaker,
        context=[{"speaker": line["speaker"], "text": one_line(line["text"])} for line in context],
        ok=ok,
        why=one_line(why),
        **{category: category in categories for category in CATEGORIES},
    )
    _refuse_bad_gold(item, categories)
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # the same file uploaded twice at once
    known = Item.objects.filter(study=study, kind=kind, text=item.text, speaker=speaker, retired_at=None)
    for there in known:
        if there.context == item.context:
            if _answer(there) != _answer(item):
                raise Refused("known_otherwise", "It is there with another answer. Retire that one first.")
            return there
    item.harms = kinds_of([*(line["text"] for line in item.context), item.text])
    item.save()
    record(action="gold_added", study=study, actor=actor, item=item.pk, kind=str(kind), ok=ok)
    return item


def _answer(item: Item) -> list[object]:
    """The known answer: OK or not, and what is wrong with it."""
    return [getattr(item, name) for name in ("ok", *CATEGORIES)]


def _from_chat(study: Study, utterance: Utterance) -> tuple[str, str, list[dict[str, str]]]:
    if utterance.dialogue.study_id != study.pk:
        raise Refused("no_such_utterance", "There is no such message in this study.", status=404)
    before = Utterance.objects.filter(dialogue=utterance.dialogue_id, number__lt=utterance.number)
    lines = [{"speaker": row.speaker, "text": row.text} for row in before.order_by("number")]
    return utterance.text, utterance.speaker, lines


def _refuse_bad_gold(item: Item, categories: Collection[str]) -> None:
    speakers = Utterance.Speaker.values
    problem = ""
    if item.kind not in (Item.Kind.GOLD, Item.Kind.TEST):
        problem = "The kind is gold or test."
    elif not 0 < len(item.text) <= LONGEST:
        problem = f"Write the message, in 1 to {LONGEST:,} characters."
    elif any(
        speaker not in speakers for speaker in [item.speaker, *(line["speaker"] for line in item.context)]
    ):
        problem = f"The speaker of each message is {' or '.join(speakers)}."
    elif len(item.context) > LONGEST_CONTEXT or any(
        not 0 < len(line["text"]) <= LONGEST for line in item.context
    ):
        problem = f"Give at most {LONGEST_CONTEXT} messages before it, each of 1 to {LONGEST:,} characters."
    elif item.ok == bool(categories) or not set(categories) <= set(CATEGORIES):
        problem = f"Say that it is OK, or what is wrong with it: one or more of {', '.join(CATEGORIES)}."
    elif len(item.why) > 1000:
        problem = "Shorten the reason to 1,000 characters."
    elif item.kind == Item.Kind.TEST and not item.why:
        problem = "Write why this is the right answer. The verifier is shown it."
    if problem:
        raise Refused("bad_gold", problem, status=422)


@transaction.atomic
def retire_gold(*, study: Study, actor: User, item_id: int) -> Item:
    """Takes a gold item or test question out of use; what was answered no longer counts against the floor.

    Twice is once. Raises Refused no_such_item.
    """
    rows = Item.objects.select_for_update(no_key=True).filter(study=study).exclude(kind=Item.Kind.UTTERANCE)
    item = rows.filter(pk=item_id).first()
    if item is None:
        raise Refused("no_such_item", "There is no such item in this study.", status=404)
    if item.retired_at is None:
        item.retired_at = timezone.now()
        item.save(update_fields=["retired_at"])
        record(action="gold_retired", study=study, actor=actor, item=item.pk)
    return item


def gold_score(*, study: Study, verifier: User) -> GoldScore:
    """How the verifier did on the study's gold items, since they were last let in again."""
    standing = Standing.objects.filter(study=study, verifier=verifier).first()
    rows = Vote.objects.filter(
        item__study=study, item__kind=Item.Kind.GOLD, item__retired_at=None, verifier=verifier
    )
    if standing and standing.gold_from:
        rows = rows.filter(at__gte=standing.gold_from)
    found = rows.aggregate(of=Count("pk"), right=Count("pk", filter=Q(ok=F("item__ok"))))
    return GoldScore(right=found["right"], of=found["of"])


def hold_to_floor(*, study: Study, verifier: User) -> None:
    """Pauses a verifier who gets too few gold items right. In the transaction of a vote on one."""
    plan = plan_of(study)
    score = gold_score(study=study, verifier=verifier)
    if score.share is not None and score.of >= plan.floor_after and score.share < plan.floor:
        pause(
            study=study,
            verifier=verifier,
            reason=f"You judged {score.right} of {score.of} messages with a known answer as expected;"
            f" this study asks for {plan.floor:.0%}.",
        )


# -- pausing -------------------------------------------------------------------------------------------------


@transaction.atomic
def pause(*, study: Study, verifier: User, reason: str, actor: User | None = None) -> Standing:
    """Gives the verifier no more items in this study, and others what they hold. The verifier can read the reason.

    `actor` None: the floor did it. One who is paused stays so, with the reason of then. Raises Refused no_reason.
    """
    reason = one_line(reason)[:500]
    if not reason:
        raise Refused("no_reason", "Enter the reason. The verifier is shown it.", status=422)
    verifier = lock_verifier(verifier.pk)
    standing, _ = Standing.objects.get_or_create(study=study, verifier=verifier)
    if standing.paused_at is None:
        standing.paused_at, standing.paused_reason = timezone.now(), reason
        standing.save(update_fields=["paused_at", "paused_reason"])
        close_open(verifier=verifier, study=study, reason=Batch.End.PAUSED)
        record(action="verifier_paused", study=study, actor=actor, about=verifier, reason=reason)
    return standing


@transaction.atomic
def lift(*, study: Study, verifier: User, actor: User) -> Standing:
    """Lets a paused verifier go on. Gold items before now no longer count against the floor. Twice is once."""
    verifier = lock_verifier(verifier.pk)
    standing, _ = Standing.objects.get_or_create(study=study, verifier=verifier)
    if standing.paused_at:
        record(
            action="verifier_let_in_again",
            study=study,
            actor=actor,
            about=verifier,
            reason=standing.paused_reason,
        )
        standing.paused_at, standing.paused_reason, standing.gold_from = None, "", timezone.now()
        standing.save(update_fields=["paused_at", "paused_reason", "gold_from"])
    return standing


@transaction.atomic
def let_in(*, study: Study, verifier: User, actor: User) -> Standing:
    """Counts the test as passed for a verifier, such as one who has failed it twice. Twice is once."""
    verifier = lock_verifier(verifier.pk)
    standing, _ = Standing.objects.get_or_create(study=study, verifier=verifier)
    if standing.passed_at is None:
        standing.passed_at = timezone.now()
        standing.save(update_fields=["passed_at"])
        record(action="let_in_without_test", study=study, actor=actor, about=verifier)
    return standing


def refuse_if_paused(*, study: Study, verifier: User) -> None:
    """Raises Refused paused, with the reason."""
    paused = Standing.objects.filter(study=study, verifier=verifier, paused_at__isnull=False).first()
    if paused:
        detail = f"You are paused in this study. Reason: {paused.paused_reason} Ask the researchers."
        raise Refused("paused", detail, status=403)


# -- setting aside -------------------------------------------------------------------------------------------


@transaction.atomic
def set_aside(*, study: Study, verifier: User, actor: User) -> int:
    """Stops counting every vote of this verifier in the study; their items are open again. How many votes.

    The votes are kept, the labels made with them are not. Nobody is given an item twice: others judge these.
    """
    verifier = lock_verifier(verifier.pk)  # no vote of theirs comes in meanwhile
    counted = Vote.objects.filter(
        verifier=verifier, item__study=study, item__kind=Item.Kind.UTTERANCE, set_aside_at=None
    )
    keys = list(counted.order_by("item").values_list("item", flat=True))
    now = timezone.now()
    for start in range(0, len(keys), CHUNK):
        part = [item.pk for item in lock_items(keys[start : start + CHUNK])]
        counted.filter(item__in=part).update(set_aside_at=now)
        Item.objects.filter(pk__in=part).update(votes_in=F("votes_in") - 1, free=F("free") + 1, due_at=None)
        forget(part)
    if keys:
        record(action="votes_set_aside", study=study, actor=actor, about=verifier, votes=len(keys))
    return len(keys)


# -- the test ------------------------------------------------------------------------------------------------


def test_state(*, study: Study, verifier: User) -> TestState:
    """Where the verifier stands with the study's test."""
    passed = Standing.objects.filter(study=study, verifier=verifier, passed_at__isnull=False).exists()
    attempts = list(Attempt.objects.filter(study=study, verifier=verifier))
    under_way = next((attempt for attempt in attempts if attempt.finished_at is None), None)
    needed = plan_of(study).test and (under_way is not None or bool(_questions(study, verifier)))
    return TestState(needed, passed, under_way, sum(attempt.finished_at is not None for attempt in attempts))


def _questions(study: Study, verifier: User) -> list[int]:
    """The test's questions for this person: none with words of a kind they avoid."""
    rows = Item.objects.filter(study=study, kind=Item.Kind.TEST, retired_at=None).order_by("pk")
    return [pk for pk, harms in rows.values_list("pk", "harms") if not harms & verifier.avoid]


def refuse_if_untested(*, plan: Plan, verifier: User) -> None:
    """Raises Refused test_first where the study's test has to be passed before."""
    if not plan.test:
        return
    state = test_state(study=plan.study, verifier=verifier)
    if state.needed and not state.passed:
        raise Refused(
            "test_first", "Pass the short test first. It shows what this study asks of you.", status=403
        )


@transaction.atomic
def start_test(*, verifier: User, slug: str) -> Attempt:
    """The attempt under way, or a new one, its questions in an order of its own.

    Raises Refused no_such_study, blocked, consent_first, no_test (none is needed, or it is passed), test_failed.
    """
    verifier = lock_verifier(verifier.pk)
    study = study_for_verifier(verifier=verifier, slug=slug)
    state = test_state(study=study, verifier=verifier)
    if state.passed or not state.needed:
        raise Refused("no_test", "You need no test here. Go on to the messages.")
    if state.attempt:
        return state.attempt
    if state.failed:
        raise Refused(
            "test_failed", "You have used both attempts at the test. Ask the researchers.", status=403
        )
    questions = _questions(study, verifier)
    number = state.used + 1
    Random(f"{plan_of(study).seed}:{verifier.pk}:{number}").shuffle(questions)
    return Attempt.objects.create(study=study, verifier=verifier, number=number, questions=questions)


@transaction.atomic
def answer_test(
    *, verifier_id: int, attempt_id: int, item_id: int, ok: bool, categories: Collection[str] = ()
) -> TestAnswer:
    """Keeps an answer and explains the right one. It is right where OK or not OK is; the last one ends the attempt.

    The first answer to a question stands. Raises Refused not_yours, bad_vote.
    """
    if ok == bool(categories) or not set(categories) <= set(CATEGORIES):
        raise Refused("bad_vote", "Say that it is OK, or choose what is wrong with it.", status=422)
    lock_verifier(verifier_id)
    rows = Attempt.objects.select_related("study").filter(verifier=verifier_id)
    attempt = rows.filter(pk=attempt_id).first()
    if attempt is None or item_id not in attempt.questions:
        raise Refused("not_yours", "This question is not here, or it is not yours.", status=404)
    question = Item.objects.get(pk=item_id)
    key = str(item_id)
    if key not in attempt.answers and attempt.finished_at is None:
        right = ok == question.ok
        attempt.answers[key] = {"ok": ok, "categories": sorted(categories), "right": right}
        attempt.right += right
        if len(attempt.answers) == len(attempt.questions):
            _finish(attempt)
        attempt.save()
    return TestAnswer(question, right=bool(attempt.answers[key]["right"]), attempt=attempt)


def _finish(attempt: Attempt) -> None:
    """Ends, unsaved, an attempt whose every question is answered."""
    now = timezone.now()
    attempt.finished_at = now
    attempt.passed = attempt.right >= plan_of(attempt.study).pass_mark * len(attempt.questions)
    if attempt.passed:
        Standing.objects.update_or_create(
            study=attempt.study, verifier=attempt.verifier, defaults={"passed_at": now}
        )
