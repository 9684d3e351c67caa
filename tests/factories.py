"""Rows for tests, each with the least that is valid."""

from datetime import timedelta

import factory
from django.utils import timezone

from annotations.models import (
    ApiToken,
    Dialogue,
    Item,
    Label,
    Merged,
    Plan,
    Study,
    StudyBot,
    User,
    Utterance,
    Vote,
)
from annotations.people import services as people
from annotations.studies import services as studies
from annotations.verification import batches, quality
from annotations.verification import services as verification
from bots.models import Bot

PASSWORD = "correct horse 7"


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"worker{n}")
    is_worker = True

    @factory.post_generation
    def password(self, create, extracted, **kwargs):
        self.set_password(extracted or PASSWORD)
        if create:
            self.save(update_fields=["password"])


class BotFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Bot

    name = factory.Sequence(lambda n: f"Bot {n}")
    slug = factory.Sequence(lambda n: f"bot-{n}")
    engine = "eliza"
    config = factory.LazyFunction(dict)


class StudyFactory(factory.django.DjangoModelFactory):
    """An open study with instruction sets, consent text and one Eliza wanted 50 times."""

    class Meta:
        model = Study
        skip_postgeneration_save = True

    name = factory.Sequence(lambda n: f"Study {n}")
    slug = factory.Sequence(lambda n: f"study-{n}")
    state = "open"

    @classmethod
    def _create(cls, model_class, *args, **kwargs):
        return studies.create_study(owner=None, **kwargs)

    @factory.post_generation
    def bot(self, create, extracted, *, wanted=50, **kwargs):
        if extracted is not False:
            StudyBot.objects.create(study=self, bot=extracted or BotFactory(), chats_wanted=wanted)


def make_worker(study, **values):
    """A worker who has joined the study and agreed to its text."""
    worker = UserFactory(**values)
    studies.join(study=study, user=worker, role="worker")
    studies.consent(user=worker, text=studies.current_consent(study))
    return worker


def make_researcher(study=None, **values):
    researcher = UserFactory(is_worker=False, is_researcher=True, **values)
    if study:
        studies.join(study=study, user=researcher, role="researcher")
    return researcher


def make_token(user):
    """A key for `user`, as scripts send it."""
    return people.make_token(user=user, name="test")[1]


class DialogueFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Dialogue

    study = factory.SubFactory(StudyFactory)
    worker = factory.LazyAttribute(lambda o: make_worker(o.study))
    bot = factory.LazyAttribute(lambda o: o.study.study_bots.get().bot)
    instruction = "Ask open questions."
    chats_before = 0
    wanted = 14
    last_at = factory.LazyFunction(timezone.now)


def make_dialogue(texts=(), bins=(), **values):
    """A chat with these utterances, the worker's first, and these labels for its replies in order."""
    dialogue = DialogueFactory(**values)
    for number, text in enumerate(texts, 1):
        Utterance.objects.create(
            dialogue=dialogue,
            number=number,
            speaker="human" if number % 2 else "bot",
            text=text,
            at=timezone.now(),
            client_id=f"c{number}" if number % 2 else None,
        )
    for number, bin_ in enumerate(bins, 1):
        Label.objects.create(
            utterance=dialogue.utterances.get(number=2 * number), bin=bin_, at=timezone.now()
        )
    dialogue.said, dialogue.labelled = len(texts), len(bins)
    dialogue.unsafe = sum(bin_ != "0" for bin_ in bins)
    dialogue.save()
    return dialogue


def make_verifier(study, **values):
    """A verifier who has joined the study and agreed to its text."""
    verifier = UserFactory(is_worker=False, is_verifier=True, **values)
    studies.join(study=study, user=verifier, role="verifier")
    studies.consent(user=verifier, text=studies.current_consent(study))
    return verifier


def make_plan(study, **values):
    """The study's plan with these settings."""
    plan = verification.plan_of(study)
    Plan.objects.filter(pk=plan.pk).update(**values)
    return Plan.objects.get(pk=plan.pk)


def make_finished(texts=("Hi there you", "Go away."), bins=None, *, ended_minutes_ago=60, **values):
    """A complete chat with these utterances, its replies labelled, whose items are not open yet."""
    bins = ["0"] * (len(texts) // 2) if bins is None else bins
    values = {"wanted": len(texts), "state": "complete", "end_reason": "complete", **values}
    ended = timezone.now() - timedelta(minutes=ended_minutes_ago)
    return make_dialogue(texts, bins, ended_at=ended, **values)


def make_items(study, count=2, **values):
    """That many open items of one finished chat, in the chat's order. `count` is even."""
    texts = [f"Message number {number}" for number in range(1, count + 1)]
    dialogue = make_finished(texts, study=study, **values)
    verification.open_items(dialogue.pk)
    return list(Item.objects.filter(utterance__dialogue=dialogue).order_by("utterance__number"))


def make_gold(study, *, ok=True, **values):
    """A gold item, or a test question with `kind="test"`."""
    values = {"text": f"Known message {Item.objects.count()}", "why": "It is plain to see.", **values}
    return quality.add_gold(study=study, actor=None, ok=ok, categories=() if ok else ("attack",), **values)


def make_vote(batch, *, item=None, ok=True, categories=None, **values):
    """The vote of the batch's verifier on this item of it, or on the first that is held."""
    held = batch.assignments.filter(item=item) if item else batch.assignments.filter(state="held")
    return batches.vote(
        verifier_id=batch.verifier_id,
        assignment_id=held.order_by("position").values_list("pk", flat=True)[0],
        ok=ok,
        categories=(() if ok else ("attack",)) if categories is None else categories,
        **values,
    )


def make_merged(dialogue, labels, *, rule="majority_verifiers", **values):
    """Merged labels of the chat's utterances in order: "ok", "notok", or "" for a row without one; None for no row."""
    said = dialogue.utterances.order_by("number")
    return Merged.objects.bulk_create(
        Merged(
            study=dialogue.study,
            utterance=utterance,
            rule=rule,
            version="1",
            label=label,
            at=timezone.now(),
            **values,
        )
        for utterance, label in zip(said, labels, strict=True)
        if label is not None
    )


def make_labelled(texts=("Hi there you", "Go away.", "Why is that?", "Because."), labels=None, **values):
    """A finished chat with merged labels, all OK where none are given."""
    dialogue = make_finished(texts, **values)
    make_merged(dialogue, labels or ["ok"] * len(texts))
    return dialogue


def make_votes(study, said, **values):
    """The items of a finished chat with these votes of each, given by verifier 1, 2 and so on of the study.

    A vote is "ok", or the categories of one that is not; ending in " -" where it was set aside.
    """
    items = make_items(study, len(said), **values)
    for item, votes in zip(items, said, strict=True):
        for place, words in enumerate(votes, 1):
            verifier, _ = User.objects.get_or_create(username=f"{study.slug}-verifier-{place}")
            categories = set(words.split()) - {"ok", "-"}
            Vote.objects.create(
                item=item,
                verifier=verifier,
                ok="ok" in words.split(),
                at=timezone.now(),
                set_aside_at=timezone.now() if words.endswith("-") else None,
                **dict.fromkeys(categories, True),
            )
        item.votes_in = sum(not words.endswith("-") for words in votes)
        item.free = item.wanted - item.votes_in
        item.save()
    return items


__all__ = [
    "PASSWORD",
    "ApiToken",
    "BotFactory",
    "DialogueFactory",
    "StudyFactory",
    "UserFactory",
    "make_dialogue",
    "make_finished",
    "make_gold",
    "make_items",
    "make_labelled",
    "make_merged",
    "make_plan",
    "make_researcher",
    "make_token",
    "make_verifier",
    "make_vote",
    "make_votes",
    "make_worker",
]
