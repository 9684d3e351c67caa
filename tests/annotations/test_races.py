"""Real threads, each with a connection of its own, doing the same thing at the same moment."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from annotations.chats import answering, services
from annotations.console import services as console
from annotations.models import Dialogue, Label, StudyBot, Utterance
from annotations.people.errors import Refused
from annotations.studies import services as studies
from bots.replies import Reply
from tests.factories import BotFactory, StudyFactory, UserFactory, make_dialogue, make_researcher, make_worker

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*verbs):
    """What each verb gave, or the code it was refused with; all are let go at the same moment."""
    gate = threading.Barrier(len(verbs))

    def run(verb):
        gate.wait()
        try:
            return verb()
        except Refused as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(verbs)) as pool:
        return list(pool.map(run, verbs))


def starts(study, workers):
    return [lambda worker=worker: services.start_chat(worker=worker, slug=study.slug) for worker in workers]


def test_twenty_workers_starting_at_once_never_overshoot():
    study = StudyFactory(bot__wanted=7)
    StudyBot.objects.create(study=study, bot=BotFactory(), chats_wanted=6)
    workers = [make_worker(study) for _ in range(20)]

    results = at_once(*starts(study, workers))

    assert results.count("no_chats_needed") == 7
    assert sorted(Counter(Dialogue.objects.values_list("bot_id", flat=True)).values()) == [6, 7]


@pytest.mark.slow
def test_a_hundred_chats_opened_at_once_on_a_study_that_needs_sixty():
    study = StudyFactory(bot__wanted=60)
    workers = [make_worker(study) for _ in range(100)]

    results = at_once(*starts(study, workers))

    assert results.count("no_chats_needed") == 40
    assert Dialogue.objects.count() == 60


def test_one_worker_pressing_start_ten_times_has_one_chat():
    study = StudyFactory()
    worker = make_worker(study)

    results = at_once(*starts(study, [worker] * 10))

    assert len({dialogue.pk for dialogue, _ in results}) == 1
    assert [created for _, created in results].count(True) == 1


def test_the_same_message_sent_ten_times_at_once_is_stored_once():
    dialogue = make_dialogue()
    values = {
        "worker_id": dialogue.worker_id,
        "dialogue_id": dialogue.pk,
        "client_id": "k",
        "text": "Hello to you",
    }

    results = at_once(*[lambda: services.say(**values)] * 10)

    assert {result.ack["utterance"]["number"] for result in results} == {1}
    assert list(Utterance.objects.order_by("number").values_list("number", "speaker")) == [
        (1, "human"),
        (2, "bot"),
    ]


def test_of_ten_messages_sent_at_once_one_is_taken():
    dialogue = make_dialogue()
    who = {"worker_id": dialogue.worker_id, "dialogue_id": dialogue.pk}

    results = at_once(
        *[lambda n=n: services.say(**who, client_id=f"k{n}", text=f"Hello number {n}") for n in range(10)]
    )

    assert results.count("label_first") == 9
    assert Utterance.objects.count() == 2


def test_ten_labels_at_once_are_one_label_and_one_count():
    dialogue = make_dialogue(["Hi there you", "Go away."])
    who = {"worker_id": dialogue.worker_id, "dialogue_id": dialogue.pk, "number": 2}

    at_once(
        *[lambda bin_=bin_: services.label(**who, bin_=bin_) for bin_ in ["0", "<10", "<50", ">=50", "0"] * 2]
    )

    dialogue.refresh_from_db()
    label = Label.objects.get()
    assert (dialogue.labelled, dialogue.unsafe) == (1, int(label.bin != "0"))


def test_a_reply_made_by_two_processes_is_stored_once():
    bot = BotFactory(engine="http", config={"style": "rest", "url": "http://127.0.0.1:9/"})
    dialogue = make_dialogue(study=StudyFactory(bot=bot))
    services.say(worker_id=dialogue.worker_id, dialogue_id=dialogue.pk, client_id="k", text="Hello to you")
    replies = [Reply(text=f"Reply {n}", engine="http", seconds=0.1, settings={}) for n in range(8)]

    results = at_once(
        *[lambda r=r: answering.settle(dialogue_id=dialogue.pk, number=1, reply=r) for r in replies]
    )

    assert results.count(True) == 1
    assert dialogue.utterances.filter(speaker="bot").count() == 1


def test_a_worker_blocked_while_starting_is_left_with_no_open_chat():
    study = StudyFactory()
    workers = [make_worker(study) for _ in range(6)]
    researcher = make_researcher(study)
    blocks = [
        lambda w=w: console.block(study=study, worker_id=w.pk, by=researcher, reason="Copied texts.")
        for w in workers
    ]

    at_once(*starts(study, workers), *blocks)

    assert Dialogue.objects.filter(state="open").count() == 0


def test_an_invitation_for_three_lets_three_in():
    study = StudyFactory()
    invitation = studies.invite(study=study, role="worker", uses=3)
    people = [UserFactory() for _ in range(10)]

    results = at_once(
        *[lambda user=user: studies.accept_invitation(code=invitation.code, user=user) for user in people]
    )

    assert results.count("link_used_up") == 7
    assert study.memberships.count() == 3
