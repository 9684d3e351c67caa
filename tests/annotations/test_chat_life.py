"""A chat from start to end: who gets which bot, leaving, timing out."""

from collections import Counter
from datetime import timedelta
from random import Random

import pytest
from django.utils import timezone

from annotations.chats import services
from annotations.models import Dialogue, StudyBot
from annotations.people.errors import Refused
from annotations.studies import services as studies
from tests.factories import BotFactory, StudyFactory, UserFactory, make_dialogue, make_worker

pytestmark = pytest.mark.django_db


def start(study, worker=None):
    return services.start_chat(worker=worker or make_worker(study), slug=study.slug, rng=Random(7))


def refused(study, worker):
    with pytest.raises(Refused) as refusal:
        start(study, worker)
    return refusal.value.code


def test_a_chat_keeps_what_was_drawn():
    study = StudyFactory(personas=[["your persona: i bake."]])

    dialogue, created = start(study)

    assert created
    assert dialogue.persona == ["your persona: i bake."]
    assert dialogue.instruction == dialogue.instruction_set.text
    assert (dialogue.wanted, dialogue.chats_before, dialogue.state) == (14, 0, "open")


def test_instruction_sets_are_drawn_by_weight():
    study = StudyFactory()
    study.instruction_sets.filter(slug="goad").update(weight=0)

    drawn = {start(study)[0].instruction_set.slug for _ in range(8)}

    assert drawn == {"probe"}


def test_the_neediest_bot_is_next_and_none_gets_too_many():
    study = StudyFactory(bot__wanted=3)
    StudyBot.objects.create(study=study, bot=BotFactory(), chats_wanted=1)

    bots = [start(study)[0].bot_id for _ in range(4)]

    assert sorted(Counter(bots).values()) == [1, 3]
    assert refused(study, make_worker(study)) == "no_chats_needed"


def test_a_dropped_chat_gives_its_place_back():
    study = StudyFactory(bot__wanted=1)
    dialogue, _ = start(study)
    services.close(dialogue_id=dialogue.pk, reason="idle")

    _, created = start(study)

    assert created


def test_a_second_start_is_the_open_chat():
    study = StudyFactory()
    worker = make_worker(study)
    first, _ = start(study, worker)

    second, created = start(study, worker)

    assert (second.pk, created) == (first.pk, False)


def test_who_may_not_start():
    study = StudyFactory(chats_per_worker=1)
    done = make_worker(study)
    make_dialogue(study=study, worker=done, state="complete", end_reason="complete", ended_at=timezone.now())
    blocked = make_worker(study, blocked_at=timezone.now(), blocked_reason="Copied texts.")
    uninvited = UserFactory()
    undecided = UserFactory()
    studies.join(study=study, user=undecided, role="worker")

    codes = [refused(study, worker) for worker in (done, blocked, uninvited, undecided)]

    assert codes == ["enough_chats", "blocked", "no_such_study", "consent_first"]


def test_a_new_consent_text_asks_again():
    study = StudyFactory()
    worker = make_worker(study)
    words = {name: f"new {name}" for name in studies.CONSENT_FIELDS}

    text = studies.revise_consent(study=study, **words)

    assert text.version == 2
    assert refused(study, worker) == "consent_first"


@pytest.mark.parametrize("state", ["draft", "paused", "closed"])
def test_a_study_that_is_not_open_starts_no_chat(state):
    study = StudyFactory(state=state)

    assert refused(study, make_worker(study)) == "study_not_open"


def test_a_left_chat_can_be_gone_on_with():
    dialogue = make_dialogue()
    who = {"worker_id": dialogue.worker_id, "dialogue_id": dialogue.pk}
    services.leave(**who)

    services.say(**who, client_id="k1", text="Here again I am")

    dialogue.refresh_from_db()
    assert (dialogue.state, dialogue.left_at, dialogue.said) == ("open", None, 2)


@pytest.mark.parametrize(
    ("said", "left", "state", "reason"),
    [(6, False, "partial", "idle"), (6, True, "partial", "left"), (4, False, "dropped", "idle")],
)
def test_an_idle_chat_is_closed(said, left, state, reason):
    old = timezone.now() - timedelta(minutes=31)
    dialogue = make_dialogue(["word one two", "reply"] * (said // 2), left_at=old if left else None)
    Dialogue.objects.filter(pk=dialogue.pk).update(last_at=old)

    assert (services.close_idle(), services.close_idle()) == (1, 0)

    dialogue.refresh_from_db()
    assert (dialogue.state, dialogue.end_reason) == (state, reason)


def test_a_chat_in_use_is_not_closed():
    dialogue = make_dialogue(["word one two", "reply"])

    services.close_idle()

    dialogue.refresh_from_db()
    assert dialogue.state == "open"
