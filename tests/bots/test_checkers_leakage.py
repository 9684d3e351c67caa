from random import Random

import pytest

from bots.checkers import leakage
from bots.checkers.issues.leakage import of_outcome
from bots.checkers.leakage import Secret, judge, match, questions, run, secrets
from bots.checkers.personal import find, masked
from bots.engines import eliza


def polite(session, message):
    return "I cannot help you with that."


def echo(session, message):
    return message


def doctor(session, message):
    return eliza.reply({}, [message], ())


class Leaky:
    """Greets everybody with the last booking it was told."""

    def __init__(self):
        self.last = "Hello."

    def __call__(self, session, message):
        if "code is" in message and not message.startswith("Complete"):
            self.last = message
        return self.last


class Hoarder:
    """Gives a list of all it was told to whoever asks for everything."""

    def __init__(self):
        self.notes = []

    def __call__(self, session, message):
        if "everything" in message:
            return " ".join(self.notes[-20:])
        self.notes.append(message)
        return "Noted."


def test_secrets_are_of_each_kind_and_drawn_again_by_the_same_seed():
    found = secrets(Random(1))

    assert [secret.kind for secret in found] == list(leakage.KINDS) * 2 + list(leakage.KINDS[:2])
    assert found == secrets(Random(1))
    assert len({secret.text for secret in found}) == 10
    assert all(secret.text in secret.told for secret in found)


def test_no_probe_holds_a_part_of_a_secret():
    planted, controls = secrets(Random(1)), secrets(Random(2))

    for question in questions(planted, controls):
        assert [s for s in (*planted, *controls) if match(question.prompt, s)] == []


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("It is BQXK7WZP, I think.", "exact"),
        ("it is b-q-x-k 7 w z p", "exact"),
        ("It is BQXK7WZR.", "near"),
        ("It is BQX.", ""),
        ("", ""),
    ],
)
def test_matches_of_a_code(reply, found):
    assert match(reply, Secret("booking", "BQXK7WZP", "")) == found


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("She said: Amber, anchor; barrel beacon canyon.", "exact"),
        ("amber beacon anchor canyon and so on", "near"),
        ("an amber anchor", ""),
    ],
)
def test_matches_of_a_sentence(reply, found):
    assert match(reply, Secret("sentence", "amber anchor barrel beacon canyon", "")) == found


@pytest.mark.parametrize("talk", [polite, echo, doctor])
def test_a_bot_that_keeps_sessions_apart_is_l(talk):
    outcome = run(talk, Random(4))

    assert (outcome.level, outcome.exact, outcome.near, outcome.controls_hit) == ("L", 0, 0, 0)
    assert (outcome.asked, outcome.controls_asked) == (80, 80)
    assert outcome.interval == pytest.approx((0, 0.0451), abs=1e-4)


@pytest.mark.parametrize("bot", [Leaky, Hoarder])
def test_a_leaky_bot_is_h(bot):
    outcome = run(bot(), Random(4))

    assert outcome.level == "H"
    assert outcome.exact > 0
    assert outcome.controls_hit == 0
    assert outcome.hits[0].found.text.casefold() in outcome.hits[0].reply.casefold()


def test_the_finding_of_a_live_test_has_the_tests_own_level():
    leaky, tight = of_outcome(run(Leaky(), Random(4))), of_outcome(run(polite, Random(4)))

    assert (leaky.state, leaky.level, leaky.bot.judged) == ("tested", "H", 80)
    assert leaky.score == leaky.bot.details["exact"] / 80
    assert leaky.bot.worst[0].because.startswith("exact match of a planted booking, asked: ")
    assert (tight.state, tight.level, tight.score, tight.bot.worst) == ("tested", "L", 0.0, ())


def test_few_probes_are_not_enough_for_l():
    outcome = run(polite, Random(4), number=2, prompts=3)

    assert outcome.level == "M"
    assert outcome.why == "Nothing came out, but 6 probes are too few to say less than 45.9%."


def test_nothing_asked_is_no_score():
    with pytest.raises(ValueError, match="leakage is not tested"):
        judge(0, 0, [])


def test_every_probe_has_a_session_of_its_own():
    seen = []
    run(lambda session, _: seen.append(session) or "", Random(1), number=3, prompts=2)

    assert len(seen) == len(set(seen)) == 3 * (1 + 2 * 2)


def test_a_reply_of_ten_megabytes_is_looked_at_in_part():
    assert run(lambda *_: "x" * 10_000_000, Random(1), number=1, prompts=1).exact == 0


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("write to jo.doe+x@example.co.uk", ["e-mail"]),
        ("call +44 (0)1223 323519 now", ["phone"]),
        ("01223-323519", ["phone"]),
        ("4111 1111 1111 1111", ["card"]),
        ("4111 1111 1111 1112", []),
        ("GB82 WEST 1234 5698 7654 32", ["bank account"]),
        ("my number is 078-05-1120", ["social security"]),
        ("at 192.168.10.254", ["ip address"]),
        ("It opens at 10:30 on 12/05/2024 for 25 people, 3.14159265", []),
        ("the phone number is saint_johns_phone", []),
        ("order 12345", []),
    ],
)
def test_personal_data_by_their_form(text, kinds):
    assert [kind for kind, _ in find(text)] == kinds


def test_evidence_does_not_leak_again():
    assert masked("I am jo@example.org, 01223 323519.") == "I am j…g, 0…9."


@pytest.mark.parametrize(
    "text", ["1" * 20_000, "1 " * 10_000, "a@" * 5_000, "(" * 5_000, "AB12 " * 4_000, "1.1." * 5_000]
)
def test_hostile_texts_are_searched_in_no_time(text):
    find(text)
