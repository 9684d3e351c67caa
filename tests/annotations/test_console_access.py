import pytest

from annotations.models import Dialogue
from tests.factories import BotFactory, StudyFactory, UserFactory, make_dialogue, make_researcher, make_worker

pytestmark = pytest.mark.django_db

NOT_YOURS = "You have no access to this study. Ask the person who sent you the link."


def study_pages(study, worker):
    base = f"/console/studies/{study.slug}/"
    return {
        "get": [
            base + end
            for end in (
                *("", "figures", "edit", "close", "chats", "people", f"people/{worker.pk}/block"),
                *("statistics", "statistics/table-1.csv", "regression", "charts", "search", "exposure"),
                *("audit", "verification", "verification/plan", "verification/mergings", "gold", "verifiers"),
            )
        ],
        "post": [
            base + end
            for end in (
                "edit",
                "open",
                "pause",
                "close",
                "links",
                "links/1/delete",
                f"people/{worker.pk}/block",
                f"people/{worker.pk}/unblock",
                "verification/plan",
                "verification/imported",
                "verification/remerge",
                "verification/remerge/1/stop",
                "gold",
                "gold/from/1",
                "gold/1/retire",
                f"verifiers/{worker.pk}/pause",
                f"verifiers/{worker.pk}/lift",
                f"verifiers/{worker.pk}/set-aside",
            )
        ],
    }


def general_pages(bot):
    return {
        "get": [
            "/console/",
            "/console/new-study",
            "/console/bots/",
            "/console/new-bot",
            f"/console/bots/{bot.slug}",
            f"/console/bots/{bot.slug}/trials",
        ],
        "post": [
            "/console/new-study",
            "/console/new-bot",
            f"/console/bots/{bot.slug}",
            f"/console/bots/{bot.slug}/try",
        ],
    }


def answers(client, pages):
    return {(verb, url): getattr(client, verb)(url) for verb, urls in pages.items() for url in urls}


def test_nobody_gets_in_without_signing_in(client):
    study = StudyFactory()
    worker = make_worker(study)
    pages = {**general_pages(BotFactory())}
    found = answers(client, pages) | answers(client, study_pages(study, worker))

    assert {(verb, url): answer.get("Location") for (verb, url), answer in found.items()} == {
        (verb, url): f"/login?next={url}" for verb, url in found
    }


def test_a_part_of_a_page_asked_for_after_signing_out_reloads_the_page(client):
    study = StudyFactory()

    answer = client.get(f"/console/studies/{study.slug}/figures", headers={"HX-Request": "true"})

    assert (answer.headers["HX-Refresh"], answer.content) == ("true", b"")


def test_a_worker_finds_no_console(client):
    study = StudyFactory()
    worker = make_worker(study)
    client.force_login(worker)

    found = answers(client, study_pages(study, worker)) | answers(client, general_pages(BotFactory()))

    assert {answer.status_code for answer in found.values()} == {404}


def test_a_researcher_has_no_access_to_anothers_study(client):
    study = StudyFactory()
    worker = make_worker(study)
    chat = make_dialogue(study=study, worker=worker)
    client.force_login(make_researcher(StudyFactory()))

    found = answers(client, study_pages(study, worker))

    assert {answer.status_code for answer in found.values()} == {404}
    assert [url for (_, url), answer in found.items() if NOT_YOURS not in answer.content.decode()] == []
    assert client.get(f"/console/chats/{chat.pk}").status_code == 404
    study.refresh_from_db()
    worker.refresh_from_db()
    assert (study.state, worker.blocked_at, Dialogue.objects.get().state) == ("open", None, "open")


def test_a_study_that_is_not_there_is_refused_in_the_same_words(client):
    client.force_login(make_researcher())

    answer = client.get("/console/studies/nowhere/")

    assert (answer.status_code, NOT_YOURS in answer.content.decode()) == (404, True)


def test_a_researcher_who_left_the_role_is_out(client):
    study = StudyFactory()
    client.force_login(UserFactory(is_worker=False))

    assert client.get(f"/console/studies/{study.slug}/").status_code == 404


def test_a_superuser_sees_every_study(client):
    study = StudyFactory()
    worker = make_worker(study)
    client.force_login(UserFactory(is_worker=False, is_superuser=True))

    found = answers(client, {"get": study_pages(study, worker)["get"]})

    assert {answer.status_code for answer in found.values()} == {200}


def test_a_worker_of_another_study_is_nobodys_business(client):
    study = StudyFactory()
    stranger = make_worker(StudyFactory())
    client.force_login(make_researcher(study))
    url = f"/console/studies/{study.slug}/people/{stranger.pk}/"

    codes = [client.get(url + "block").status_code, client.post(url + "block", {"reason": "x"}).status_code]

    stranger.refresh_from_db()
    assert (codes, client.post(url + "unblock").status_code, stranger.blocked_at) == ([404, 404], 404, None)


def test_addresses_that_only_act_refuse_a_visit(client):
    study = StudyFactory()
    client.force_login(make_researcher(study))

    overview = f"/console/studies/{study.slug}/"

    led_to = [client.get(f"{overview}{verb}").url for verb in ("open", "pause", "links")]

    assert led_to == [overview] * 3


@pytest.mark.parametrize("number", [0, 10**30])
def test_a_number_of_nothing_is_refused(client, number):
    study = StudyFactory()
    client.force_login(make_researcher(study))
    base = f"/console/studies/{study.slug}/"

    codes = [
        client.get(f"/console/chats/{number}").status_code,
        client.get(f"{base}people/{number}/block").status_code,
        client.post(f"{base}people/{number}/unblock").status_code,
        client.post(f"{base}links/{number}/delete").status_code,
        client.get(f"{base}chats?page={number}").status_code,
    ]

    assert codes == [404, 404, 404, 302, 200]
