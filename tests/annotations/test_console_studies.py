from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.console.queries import figures
from annotations.models import Dialogue, Study, StudyBot
from tests.factories import BotFactory, StudyFactory, make_dialogue, make_researcher, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return StudyFactory(name="Open questions", slug="open")


@pytest.fixture
def page(client, study):
    client.force_login(make_researcher(study))
    return client


# -- the list, and a new one -----------------------------------------------------------------------------------


def test_the_list_tells_chats_done_of_those_wanted(page, study):
    StudyBot.objects.create(study=study, bot=BotFactory(), chats_wanted=20)
    for state in ("complete", "partial", "dropped"):
        make_dialogue(study=study, bot=BotFactory(), state=state, end_reason="left", ended_at=timezone.now())
    make_dialogue(study=study, bot=BotFactory())

    (row,) = page.get("/console/").context["page"].object_list

    assert (row.finished, row.under_way, row.wanted) == (2, 1, 70)


def test_the_list_holds_only_my_studies(page, study):
    StudyFactory()

    assert [row.slug for row in page.get("/console/").context["page"]] == ["open"]


def test_an_empty_list_says_how_to_begin(client):
    client.force_login(make_researcher())

    assert "No studies yet" in client.get("/console/").content.decode()


def test_a_new_study_is_a_draft_of_mine(client):
    researcher = make_researcher()
    client.force_login(researcher)

    answer = client.post("/console/new-study", {"name": "Round two", "slug": "two", "round": "2"})

    made = Study.objects.get()
    assert (answer["Location"], made.state, made.round) == ("/console/studies/two/edit", "draft", 2)
    assert list(made.memberships.values_list("user", "role")) == [(researcher.pk, "researcher")]
    assert made.instruction_sets.count() == 2


def test_a_new_study_with_a_name_taken_keeps_what_was_typed(page, study):
    answer = page.post("/console/new-study", {"name": "Again", "slug": "open", "round": "0"})

    form = answer.context["form"]
    assert answer.status_code == 422
    assert dict(form.errors) == {
        "slug": ["There is a study with this short name already. Enter another."],
        "round": ["Enter a whole number from 1 to 1,000."],
    }
    assert (form["name"].value(), form["slug"].value()) == ("Again", "open")


# -- opening, pausing, closing -----------------------------------------------------------------------------------


def states(page, *verbs):
    found = []
    for verb in verbs:
        page.post(f"/console/studies/open/{verb}")
        found.append(Study.objects.get(slug="open").state)
    return found


def test_a_study_is_opened_paused_closed_and_opened_again(page, study):
    Study.objects.update(state="draft")

    found = states(page, "open", "open", "pause", "pause", "open", "close", "close", "open")

    assert found == ["open", "open", "paused", "paused", "open", "closed", "closed", "open"]
    study.refresh_from_db()
    assert study.closed_at is None


@pytest.mark.parametrize("wanted", [None, 0])
def test_a_study_without_a_bot_to_chat_with_is_not_opened(page, study, wanted):
    Study.objects.update(state="draft")
    study.study_bots.all().delete()
    if wanted is not None:
        StudyBot.objects.create(study=study, bot=BotFactory(), chats_wanted=wanted)

    answer = page.post("/console/studies/open/open", follow=True)

    assert Study.objects.get().state == "draft"
    assert [str(message) for message in answer.context["messages"]] == [
        "Add a bot that is switched on and wanted for at least one chat, then open the study."
    ]


def test_a_draft_is_neither_paused_nor_closed(page, study):
    Study.objects.update(state="draft")

    assert states(page, "pause", "close") == ["draft", "draft"]


def test_closing_ends_the_chats_under_way_and_no_others(page, study):
    short, long = make_dialogue(study=study), make_dialogue(["a", "b"] * 3, study=study)
    other = make_dialogue()

    answer = page.post("/console/studies/open/close", follow=True)

    study.refresh_from_db()
    assert [str(message) for message in answer.context["messages"]] == [
        "The study is closed. Chats ended: 2."
    ]
    assert timezone.now() - study.closed_at < timedelta(minutes=1)
    assert list(Dialogue.objects.order_by("pk").values_list("pk", "state", "end_reason")) == [
        (short.pk, "dropped", "study_closed"),
        (long.pk, "partial", "study_closed"),
        (other.pk, "open", ""),
    ]


def test_the_question_before_closing_says_how_many_chats_end(page, study):
    make_dialogue(study=study)
    make_dialogue(study=study)

    body = page.get("/console/studies/open/close").content.decode()

    assert body.count("Close the study and end 2 open chats?") == 1
    assert body.count("Close the study, end 2 chats") == 1


# -- links -------------------------------------------------------------------------------------------------------


def test_a_link_is_made_shown_and_taken_back(page, study):
    page.post("/console/studies/open/links", {"role": "verifier", "uses": "3", "days": "2"})
    made = study.invitations.get()
    shown = page.get("/console/studies/open/").context["links"]
    page.post(f"/console/studies/open/links/{made.pk}/delete")

    assert (made.role, made.uses_left) == ("verifier", 3)
    assert timedelta(days=1, hours=23) < made.expires_at - timezone.now() < timedelta(days=2)
    assert shown == [(made, f"http://testserver/join/{made.code}")]
    assert study.invitations.count() == 0


def test_a_link_of_another_study_is_not_taken_back(page, study):
    other = StudyFactory()
    page.post("/console/studies/open/links", {"role": "worker"})
    made = study.invitations.get()
    page.logout()
    page.force_login(make_researcher(other))

    page.post(f"/console/studies/{other.slug}/links/{made.pk}/delete")

    assert study.invitations.count() == 1


def test_a_wrong_link_is_told(page, study):
    answer = page.post("/console/studies/open/links", {"role": "king", "uses": "0", "days": "soon"})

    assert (answer.status_code, dict(answer.context["form"].errors)) == (
        422,
        {
            "role": ["Choose one of the list."],
            "uses": ["Enter a whole number from 1 to 1,000,000."],
            "days": ["Enter a whole number from 1 to 3,650."],
        },
    )


def test_the_public_address_is_shown_where_anybody_may_join(page, study):
    address = "http://testserver/studies/open/join"
    before = page.get("/console/studies/open/").content.decode().count(address)
    Study.objects.update(open_signup=True)

    assert (before, page.get("/console/studies/open/").content.decode().count(address)) == (0, 1)


# -- figures -----------------------------------------------------------------------------------------------------


def test_figures_count_chats_by_state_and_labels_of_those_that_count(study):
    goad = study.instruction_sets.get(slug="goad")
    over = {"ended_at": timezone.now(), "end_reason": "left"}
    make_dialogue(["a", "b"] * 2, ["0", "<10"], study=study, instruction_set=goad)
    make_dialogue(["a", "b"] * 2, [">=50", "<50"], study=study, state="partial", **over)
    make_dialogue(["a", "b"], ["<10"], study=study, state="dropped", **over)

    found = figures(study)

    whole, (line,) = found.whole, found.bots
    assert (whole.wanted, whole.open, whole.finished, whole.partial, whole.dropped) == (50, 1, 1, 1, 1)
    assert (whole.share.hits, whole.share.total, whole.share.percent) == (3, 4, 75)
    assert (round(whole.share.low, 1), round(whole.share.high, 1)) == (30.1, 95.4)
    assert (line.key, line.wanted, line.share) == (study.bots.get().slug, 50, whole.share)
    assert [(row.name, row.open, row.share.hits, row.share.total) for row in found.instruction_sets] == [
        ("goad", 1, 1, 2),
        ("probe", 0, 0, 0),
        ("none", 0, 2, 2),
    ]


def test_the_figures_of_a_study_without_bots_or_chats(page, study):
    study.study_bots.all().delete()

    body = page.get("/console/studies/open/figures").content.decode()

    assert ("No bots yet." in body, "no reply labelled yet" in body) == (True, True)


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_as_often_for_three_studies_as_for_one(client, django_assert_num_queries, count):
    researcher = make_researcher()
    client.force_login(researcher)
    for _ in range(count):
        study = StudyFactory()
        study.memberships.create(user=researcher, role="researcher")
        make_dialogue(study=study)

    with django_assert_num_queries(4):
        client.get("/console/")


@pytest.mark.parametrize("count", [1, 3])
def test_the_overview_asks_as_often_for_three_of_each_as_for_one(
    page, study, django_assert_num_queries, count
):
    for _ in range(count):
        bot = BotFactory()
        StudyBot.objects.create(study=study, bot=bot)
        make_dialogue(study=study, bot=bot, worker=make_worker(study))
        page.post("/console/studies/open/links", {"role": "worker"})

    with django_assert_num_queries(8):
        page.get("/console/studies/open/")
