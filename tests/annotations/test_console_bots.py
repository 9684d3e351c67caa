import json
from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.console import health
from annotations.models import ReplyFailure, Trial
from bots.forms import read_config
from bots.models import Bot
from tests.factories import BotFactory, StudyFactory, make_dialogue, make_researcher

pytestmark = pytest.mark.django_db

URL = {"url": "https://example.org/v1/chat/completions", "model": "m"}


@pytest.fixture
def page(client):
    client.force_login(make_researcher())
    return client


def bot_values(**changes):
    return {"name": "Ada", "slug": "ada", "engine": "eliza", "config": "{}", "enabled": "on", **changes}


# -- settings ----------------------------------------------------------------------------------------------------


def test_a_bot_is_made(page):
    answer = page.post("/console/new-bot", bot_values(public="on"))

    made = Bot.objects.get()
    assert answer["Location"] == "/console/bots/ada"
    assert (made.name, made.engine, made.config, made.enabled, made.public) == (
        "Ada",
        "eliza",
        {},
        True,
        True,
    )


def test_a_bot_is_changed(page):
    bot = BotFactory(slug="old")

    answer = page.post(
        "/console/bots/old",
        bot_values(slug="new", engine="http", config=json.dumps(URL)),
    )

    bot.refresh_from_db()
    assert (answer["Location"], bot.engine, bot.config) == ("/console/bots/new", "http", URL)


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"name": ""}, {"name": ["Fill this in."]}),
        ({"slug": "a b"}, {"slug": ["Enter letters, digits and hyphens only."]}),
        ({"slug": "taken"}, {"slug": ["There is a bot with this short name already. Enter another."]}),
        ({"engine": "gpt"}, {"engine": ["Choose one of the list."]}),
        ({"config": '{"a": }'}, {"config": ["This is not JSON: line 1, column 7: Expecting value."]}),
        ({"config": "[]"}, {"config": ['Settings are one JSON object, as in {"name": "value"}.']}),
        (
            {"config": '{"mood": 1}'},
            {"config": ["There is no setting 'mood'. This engine has none: enter {}."]},
        ),
        (
            {"engine": "http", "public": "on", "config": json.dumps(URL)},
            {"public": ["Only scripted bots can answer at a public address. Switch this off."]},
        ),
    ],
)
def test_a_wrong_setting_is_told_at_its_field_and_nothing_is_saved(page, changes, problems):
    BotFactory(slug="taken")
    BotFactory(slug="ada", name="Before")

    answer = page.post("/console/bots/ada", bot_values(**changes))

    assert (answer.status_code, dict(answer.context["form"].errors)) == (422, problems)
    for name, value in changes.items():
        assert answer.context["form"][name].value() == (True if value == "on" else value)
    assert Bot.objects.get(slug="ada").name == "Before"


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\u0000"}',
        '{"a": "\\ud800"}',
        '{"a": %s}' % ("9" * 5000),
        '{"a": ' + "[" * 9000 + "]" * 9000 + "}",
    ],
)
def test_settings_that_no_database_holds_are_refused(text):
    with pytest.raises(ValueError, match="cannot be stored"):
        read_config(text)


def test_settings_of_any_length_are_refused():
    with pytest.raises(ValueError, match="over 20,000 characters"):
        read_config('{"a": "%s"}' % ("x" * 20_000))


def test_the_settings_in_force_tell_whose_they_are(page):
    BotFactory(slug="far", engine="http", config={**URL, "timeout_s": 5})

    shown = page.get("/console/bots/far").context["in_force"]

    assert {key: (value, own) for key, value, own in shown if key in ("model", "timeout_s", "retries")} == {
        "model": ("m", True),
        "timeout_s": (5, True),
        "retries": (2, False),
    }


def test_settings_that_cannot_be_used_any_more_say_why(page):
    BotFactory(slug="far", engine="http", config={})

    answer = page.get("/console/bots/far")

    assert (answer.status_code, answer.context["in_force"]) == (200, [])
    assert "The settings cannot be used." in answer.content.decode()


def test_a_bot_that_is_not_there_is_refused(page):
    answer = page.get("/console/bots/nobody")

    assert (answer.status_code, "There is no such bot." in answer.content.decode()) == (404, True)


# -- trying it ---------------------------------------------------------------------------------------------------


def test_a_scripted_bot_answers_at_once(page):
    BotFactory(slug="ada")

    answer = page.post("/console/bots/ada/try", {"text": " I am\nsad <b> "})

    trial = Trial.objects.get()
    body = page.get("/console/bots/ada/trials").content.decode()
    assert answer["Location"] == "/console/bots/ada#try"
    assert (trial.text, bool(trial.reply), trial.error) == ("I am sad <b>", True, "")
    assert (body.count("I am sad &lt;b&gt;"), body.count("hx-get")) == (1, 0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" \n", "There is nothing to send. Write at least one character."),
        ("x" * 2001, "The message is 1 characters too long. Shorten it to 2,000."),
    ],
)
def test_a_message_that_cannot_be_sent_is_told_and_kept(page, text, problem):
    BotFactory(slug="ada")

    answer = page.post("/console/bots/ada/try", {"text": text})

    form = answer.context["trial_form"]
    assert (answer.status_code, dict(form.errors), form["text"].value()) == (422, {"text": [problem]}, text)
    assert Trial.objects.count() == 0


def test_a_page_asks_for_a_reply_until_it_is_there_or_lost(page):
    bot = BotFactory(slug="far", engine="http", config=URL)
    researcher = make_researcher()
    trial = Trial.objects.create(bot=bot, user=researcher, text="Hello")
    waiting = page.get("/console/bots/far/trials").content.decode()
    Trial.objects.update(at=timezone.now() - timedelta(minutes=11))
    lost = page.get("/console/bots/far/trials").content.decode()

    trial.refresh_from_db()
    assert (waiting.count("hx-get"), waiting.count("Waiting for the reply…")) == (1, 1)
    assert (lost.count("hx-get"), lost.count("No reply came."), trial.error) == (0, 1, "")


def test_the_last_ten_trials_are_shown_the_newest_at_the_end(page):
    bot = BotFactory(slug="ada")
    me = make_researcher()
    Trial.objects.bulk_create(Trial(bot=bot, user=me, text=f"m{n}", reply="r") for n in range(12))

    shown = page.get("/console/bots/ada/trials").context["trials"]

    assert [trial.text for trial in shown] == [f"m{n}" for n in range(2, 12)]


# -- health ------------------------------------------------------------------------------------------------------


def test_health_counts_replies_waits_and_failures():
    bot = BotFactory()
    now = timezone.now()
    study = StudyFactory(bot=bot)
    chat = make_dialogue(["a", "b"] * 5, study=study)
    for number, (minutes, seconds) in enumerate([(1, 1.0), (2, 2.0), (20, 3.0), (50, 4.0), (90, 10.0)], 1):
        chat.utterances.filter(number=2 * number).update(at=now - timedelta(minutes=minutes), seconds=seconds)
    make_dialogue(["a"], study=study, asked_at=now)
    make_dialogue(["a"], study=study, asked_at=now, stalled_at=now)
    for hours in (1, 25):
        failure = ReplyFailure.objects.create(bot=bot, dialogue=chat, number=2, attempt=1, error="x")
        ReplyFailure.objects.filter(pk=failure.pk).update(at=now - timedelta(hours=hours))
    make_dialogue(["a", "b"])

    found = health.health(bot)

    assert found == health.Health(
        last_at=chat.utterances.get(number=2).at,
        per_minute_10=0.2,
        per_minute_60=4 / 60,
        timed=5,
        median_s=3.0,
        p95_s=10.0,
        waiting=1,
        stalled=1,
        failures=1,
    )


@pytest.mark.parametrize(("count", "rank"), [(1, 1), (19, 19), (20, 19), (21, 20), (100, 95)])
def test_the_95th_percentile_is_the_nearest_rank(count, rank):
    assert health.percentile_95([float(n) for n in range(1, count + 1)]) == rank


def test_failures_lead_only_to_chats_of_ones_own_studies(page):
    study = StudyFactory()
    mine, other = make_dialogue(study=study), make_dialogue()
    me = make_researcher(study)
    for chat in (mine, other):
        ReplyFailure.objects.create(
            bot=study.bots.get(), dialogue=chat, number=2, attempt=1, error="<i>x</i>"
        )
    page.force_login(me)

    body = page.get(f"/console/bots/{study.bots.get().slug}").content.decode()

    assert (body.count(f"/console/chats/{mine.pk}"), body.count(f"/console/chats/{other.pk}")) == (1, 0)
    assert (body.count("of another study"), body.count("&lt;i&gt;x&lt;/i&gt;")) == (1, 2)


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_as_often_for_three_bots_as_for_one(page, django_assert_num_queries, count):
    for _ in range(count):
        make_dialogue(["a"], study=StudyFactory())

    with django_assert_num_queries(3):
        page.get("/console/bots/")


@pytest.mark.parametrize("count", [1, 3])
def test_a_bot_asks_as_often_for_three_failures_as_for_one(page, django_assert_num_queries, count):
    chat = make_dialogue()
    me = make_researcher()
    for _ in range(count):
        ReplyFailure.objects.create(bot=chat.bot, dialogue=chat, number=2, attempt=1, error="x")
        Trial.objects.create(bot=chat.bot, user=me, text="a", reply="b")

    with django_assert_num_queries(11):
        page.get(f"/console/bots/{chat.bot.slug}")
