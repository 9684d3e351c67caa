import pytest
from django.contrib import admin
from django.utils import timezone

from annotations.models import Attempt, Batch, Break, Consent, ReplyFailure, Study, User
from annotations.studies.services import invite
from annotations.verification import quality
from bots.models import Bot
from tests.factories import (
    BotFactory,
    StudyFactory,
    UserFactory,
    make_dialogue,
    make_merged,
    make_verifier,
    make_votes,
    make_worker,
)

pytestmark = pytest.mark.django_db

LISTS = [
    "annotations/user",
    "annotations/study",
    "annotations/invitation",
    "annotations/consenttext",
    "annotations/consent",
    "annotations/dialogue",
    "annotations/utterance",
    "annotations/label",
    "annotations/replyfailure",
    "annotations/plan",
    "annotations/item",
    "annotations/batch",
    "annotations/vote",
    "annotations/merged",
    "annotations/standing",
    "annotations/attempt",
    "annotations/break",
    "annotations/auditentry",
    "bots/bot",
]
JUDGED = ["plan", "item", "batch", "vote", "merged", "standing", "attempt", "break", "auditentry"]
READ_ONLY = ["consenttext", "consent", "dialogue", "utterance", "label", "replyfailure", *JUDGED]


@pytest.fixture
def staff(client):
    client.force_login(UserFactory(is_worker=False, is_staff=True, is_superuser=True))
    return client


def fill(count):
    """So many rows in every table."""
    for _ in range(count):
        study = StudyFactory()
        chat = make_dialogue(["a", "b"], ["<10"], study=study, worker=make_worker(study))
        ReplyFailure.objects.create(bot=chat.bot, dialogue=chat, number=2, attempt=1, error="x")
        invite(study=study, role="worker")
        judge(study)


def judge(study):
    """A row in every table of verification."""
    items = make_votes(study, [["ok"] * 3, ["hate"] * 3])
    make_merged(items[0].utterance.dialogue, ["ok", "notok"])
    verifier, now = make_verifier(study), timezone.now()
    Batch.objects.create(study=study, verifier=verifier, leased_until=now)
    Attempt.objects.create(study=study, verifier=verifier, number=1)
    Break.objects.create(study=study, user=verifier, at=now, until=now, upsetting=3)
    quality.pause(study=study, verifier=verifier, reason="x")


@pytest.mark.parametrize("table", LISTS)
def test_a_list_asks_as_often_for_three_rows_as_for_one(staff, table, django_assert_max_num_queries):
    counts = []
    for rows in (1, 2):
        fill(rows)
        with django_assert_max_num_queries(40) as asked:
            assert staff.get(f"/admin/{table}/").status_code == 200
        counts.append(len(asked))

    assert counts == [counts[0]] * 2


@pytest.mark.parametrize("table", READ_ONLY)
def test_what_people_did_is_neither_added_changed_nor_deleted(staff, table):
    fill(1)
    model = next(model for model in admin.site._registry if model._meta.model_name == table)
    row = model._default_manager.first()
    url = f"/admin/annotations/{table}/"

    codes = [
        staff.get(url + "add/").status_code,
        staff.post(f"{url}{row.pk}/change/", {"x": "y"}).status_code,
        staff.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code,
    ]

    assert (codes, staff.get(f"{url}{row.pk}/change/").status_code) == ([403, 403, 403], 200)


def test_a_chat_shows_its_utterances_and_labels_and_no_way_to_change_them(staff):
    chat = make_dialogue(["a <b>", "c"], ["<10"])

    body = staff.get(f"/admin/annotations/dialogue/{chat.pk}/change/").content.decode()

    assert (body.count("a &lt;b&gt;"), body.count("Under 10%"), body.count('name="_save"')) == (1, 1, 0)


@pytest.mark.parametrize("count", [1, 3])
def test_a_chat_asks_as_often_for_six_utterances_as_for_two(staff, django_assert_num_queries, count):
    chat = make_dialogue(["a", "b"] * count, ["0"] * count)
    url = f"/admin/annotations/dialogue/{chat.pk}/change/"
    staff.get(url)  # Django reads each content type once for a process

    with django_assert_num_queries(7):
        staff.get(url)


def study_values(study, **changes):
    row = study.study_bots.get()
    values = {
        "name": study.name,
        "slug": study.slug,
        "round": 1,
        "utterances": 14,
        "min_utterances": 6,
        "idle_minutes": 30,
        "chats_per_worker": 10,
        "personas": "",
        "support": "",
        "study_bots-TOTAL_FORMS": 1,
        "study_bots-INITIAL_FORMS": 1,
        "study_bots-0-id": row.pk,
        "study_bots-0-study": study.pk,
        "study_bots-0-bot": row.bot_id,
        "study_bots-0-chats_wanted": 7,
        "instruction_sets-TOTAL_FORMS": 0,
        "instruction_sets-INITIAL_FORMS": 0,
    }
    return values | changes


def test_a_study_is_edited_with_the_same_checks_as_in_the_console(staff):
    study = StudyFactory()
    url = f"/admin/annotations/study/{study.pk}/change/"

    wrong = staff.post(url, study_values(study, utterances="13", personas="a\nb\nc\nd"))
    right = staff.post(url, study_values(study, personas="none\n\nI work nights.", state="closed"))

    study.refresh_from_db()
    assert wrong.context["adminform"].form.errors == {
        "utterances": ["Enter an even number from 2 to 40."],
        "personas": ["Persona 1 has 4 lines. Shorten it to 3, or part it by a blank line."],
    }
    assert (right.status_code, study.personas, study.state) == (302, [[], ["I work nights."]], "open")
    assert study.study_bots.get().chats_wanted == 7


def test_a_study_is_not_made_or_deleted_here(staff):
    study = StudyFactory()

    codes = [
        staff.get("/admin/annotations/study/add/").status_code,
        staff.post(f"/admin/annotations/study/{study.pk}/delete/", {"post": "yes"}).status_code,
    ]

    assert (codes, Study.objects.count()) == ([403, 403], 1)


def test_a_bot_is_edited_with_its_engines_checks(staff):
    bot = BotFactory(slug="ada")
    url = f"/admin/bots/bot/{bot.pk}/change/"
    values = {"name": "Ada", "slug": "ada", "engine": "eliza", "enabled": "on"}

    wrong = staff.post(url, {**values, "config": '{"mood": 1}'})
    right = staff.post(url, {**values, "config": "{}"})

    assert wrong.context["adminform"].form.errors == {
        "config": ["There is no setting 'mood'. This engine has none: enter {}."]
    }
    assert (right.status_code, Bot.objects.get().name) == (302, "Ada")


def test_a_person_is_edited_but_not_blocked_here(staff):
    worker = make_worker(StudyFactory())
    values = {
        "username": worker.username,
        "is_worker": "on",
        "is_verifier": "on",
        "blocked_reason": "x",
        "blocked_at_0": "2026-01-01",
        "blocked_at_1": "10:00",
    }

    answer = staff.post(f"/admin/annotations/user/{worker.pk}/change/", values)

    worker.refresh_from_db()
    assert (answer.status_code, worker.is_verifier, worker.blocked_at, worker.blocked_reason) == (
        302,
        True,
        None,
        "",
    )


def test_a_person_with_chats_is_not_deleted(staff):
    chat = make_dialogue()

    staff.post(f"/admin/annotations/user/{chat.worker_id}/delete/", {"post": "yes"})

    assert (User.objects.filter(pk=chat.worker_id).count(), Consent.objects.count()) == (1, 1)


def test_searches_find_chats_and_people(staff):
    chat = make_dialogue(["What about trains?"])
    make_dialogue(["Nothing"])

    found = [
        [row.pk for row in staff.get(f"/admin/annotations/dialogue/?q={words}").context["cl"].result_list]
        for words in ("trains", chat.worker.username)
    ]

    assert found == [[chat.pk]] * 2


def test_the_policy_of_the_pages_holds_here_too(staff):
    policy = staff.get("/admin/").headers["Content-Security-Policy"]

    assert "script-src 'self';" in policy + ";"
    assert "unsafe" not in policy
