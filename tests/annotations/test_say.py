import pytest

from annotations.chats import services
from annotations.models import Utterance
from annotations.people.errors import Refused
from tests.factories import BotFactory, StudyFactory, make_dialogue, make_worker

pytestmark = pytest.mark.django_db


def say(dialogue, text="Do you like cats?", client_id="k1"):
    return services.say(worker_id=dialogue.worker_id, dialogue_id=dialogue.pk, client_id=client_id, text=text)


def rows(dialogue):
    return list(dialogue.utterances.values_list("number", "speaker", "text"))


def test_a_scripted_bot_answers_at_once():
    dialogue = make_dialogue()

    outcome = say(dialogue, "  Do you like\tcats?\n")

    assert outcome.ack["utterance"]["text"] == "Do you like cats?"
    assert outcome.ack["chat"]["turn"] == "label"
    assert [(number, speaker) for number, speaker, _ in rows(dialogue)] == [(1, "human"), (2, "bot")]
    reply = dialogue.utterances.get(number=2)
    assert outcome.frames[0]["utterance"]["text"] == reply.text
    assert (reply.engine, reply.settings) == ("eliza", {})


def test_the_same_id_and_text_again_is_the_same_answer():
    dialogue = make_dialogue()
    first = say(dialogue)

    again = say(dialogue)

    assert again.ack["utterance"] == first.ack["utterance"]
    assert len(rows(dialogue)) == 2


def test_an_id_stands_for_one_message():
    dialogue = make_dialogue()
    say(dialogue)

    with pytest.raises(Refused) as refusal:
        say(dialogue, text="Something else")

    assert refusal.value.code == "id_reused"
    assert len(rows(dialogue)) == 2


def test_a_message_past_an_unlabelled_reply_is_refused():
    dialogue = make_dialogue(["Hi there you", "Hello."])

    with pytest.raises(Refused) as refusal:
        say(dialogue)

    assert refusal.value.code == "label_first"
    assert len(rows(dialogue)) == 2


def test_a_message_while_the_bot_owes_a_reply_is_refused():
    dialogue = make_dialogue(["Hi there you"])

    with pytest.raises(Refused) as refusal:
        say(dialogue)

    assert refusal.value.code == "not_your_move"


@pytest.mark.parametrize(("text", "code"), [("", "empty"), (" \t\n\x00 ", "empty"), ("x" * 2001, "too_long")])
def test_what_is_no_message_is_refused_with_words(text, code):
    dialogue = make_dialogue()

    with pytest.raises(Refused) as refusal:
        say(dialogue, text=text)

    assert refusal.value.code == code
    assert rows(dialogue) == []


def test_anothers_chat_looks_like_none():
    dialogue = make_dialogue()
    other = make_worker(dialogue.study)

    with pytest.raises(Refused) as refusal:
        services.say(worker_id=other.pk, dialogue_id=dialogue.pk, client_id="k", text="Hi")

    assert (refusal.value.code, refusal.value.status) == ("no_such_chat", 404)


@pytest.mark.django_db(transaction=True)
def test_a_slow_bots_reply_is_owed():
    bot = BotFactory(engine="http", config={"url": "http://127.0.0.1:9/", "style": "rest"})
    dialogue = make_dialogue(study=StudyFactory(bot=bot))

    outcome = say(dialogue)

    dialogue.refresh_from_db()
    assert outcome.ack["chat"]["turn"] == "bot"
    assert outcome.frames == ()
    assert dialogue.asked_at is not None
    assert dialogue.said == 1


def test_hostile_text_is_kept_as_it_was_written():
    dialogue = make_dialogue()
    text = "<script>alert(1)</script> \u202eabc =1+1 {{ 7*7 }} %s"

    say(dialogue, text=text)

    assert Utterance.objects.get(dialogue=dialogue, number=1).text == text


def test_the_cost_of_a_turn_does_not_grow_with_the_chat(django_assert_num_queries):
    short = make_dialogue()
    long = make_dialogue(["a b c", "d"] * 3, ["0"] * 3)

    with django_assert_num_queries(6):  # begin, lock, utterances, insert, update, commit
        say(short)
    with django_assert_num_queries(6):
        say(long)
