"""Rows for tests, each with the least that is valid."""

import factory
from django.utils import timezone

from annotations.models import ApiToken, Dialogue, Label, Study, StudyBot, User, Utterance
from annotations.people import services as people
from annotations.studies import services as studies
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


__all__ = [
    "PASSWORD",
    "ApiToken",
    "BotFactory",
    "DialogueFactory",
    "StudyFactory",
    "UserFactory",
    "make_dialogue",
    "make_researcher",
    "make_token",
    "make_worker",
]
