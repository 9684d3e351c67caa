"""REST: start a chat, read it back, be refused in words."""

import pytest

from tests.factories import StudyFactory, UserFactory, make_dialogue, make_researcher, make_token, make_worker

pytestmark = pytest.mark.django_db


def headers(user):
    return {"Authorization": f"Bearer {make_token(user)}"}


def test_a_worker_starts_a_chat_and_comes_back_to_it(client):
    study = StudyFactory()
    authorization = headers(make_worker(study))

    first = client.post(f"/api/v1/studies/{study.slug}/chats", headers=authorization)
    second = client.post(f"/api/v1/studies/{study.slug}/chats", headers=authorization)

    chat_id = study.dialogues.get().pk
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == {"id": chat_id, "socket": f"ws://testserver/ws/chats/{chat_id}", "created": True}
    assert second.json() == {**first.json(), "created": False}


def test_the_worker_reads_the_chat_without_what_tells_the_bot(client):
    dialogue = make_dialogue(["Hello to you", "Go away."], [">=50"])

    body = client.get(f"/api/v1/chats/{dialogue.pk}", headers=headers(dialogue.worker)).json()

    assert (body["bot"], body["persona"], body["worker"]) == (None, None, None)
    assert (body["study"], body["turn"], body["unsafe"]) == (dialogue.study.slug, "write", 1)
    assert [(row["number"], row["speaker"], row["text"], row["label"]) for row in body["utterances"]] == [
        (1, "human", "Hello to you", None),
        (2, "bot", "Go away.", ">=50"),
    ]


def test_the_studys_researcher_reads_which_bot_it_was(client):
    dialogue = make_dialogue(["Hello to you", "Go away."])
    researcher = make_researcher(dialogue.study)

    body = client.get(f"/api/v1/chats/{dialogue.pk}", headers=headers(researcher)).json()

    assert (body["bot"], body["worker"]) == (dialogue.bot.slug, dialogue.worker.username)


def test_a_researcher_who_chats_in_their_own_study_is_a_researcher(client):
    study = StudyFactory()
    worker = make_worker(study, is_researcher=True)
    study.memberships.create(user=worker, role="researcher")
    dialogue = make_dialogue(study=study, worker=worker)

    body = client.get(f"/api/v1/chats/{dialogue.pk}", headers=headers(worker)).json()

    assert body["bot"] == dialogue.bot.slug


def test_what_is_not_yours_is_refused_as_if_it_were_not_there(client):
    dialogue = make_dialogue(["Hello to you"])
    strangers = [UserFactory(), make_researcher(StudyFactory())]

    answers = [client.get(f"/api/v1/chats/{dialogue.pk}", headers=headers(user)) for user in strangers]
    nothing = client.get("/api/v1/chats/999999", headers=headers(strangers[0]))

    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].json() == answers[1].json() == nothing.json()


@pytest.mark.parametrize(
    "authorization", [{}, {"Authorization": "Bearer bc_wrong"}, {"Authorization": "Basic eA=="}]
)
def test_without_a_token_there_is_nothing(client, authorization):
    dialogue = make_dialogue()

    answers = [
        client.get(f"/api/v1/chats/{dialogue.pk}", headers=authorization),
        client.post(f"/api/v1/studies/{dialogue.study.slug}/chats", headers=authorization),
    ]

    assert [answer.status_code for answer in answers] == [401, 401]


def test_a_session_without_a_csrf_token_changes_nothing(db):
    from django.test import Client

    study = StudyFactory()
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_worker(study), backend="django.contrib.auth.backends.ModelBackend")

    answer = client.post(f"/api/v1/studies/{study.slug}/chats")

    assert answer.status_code == 403
    assert study.dialogues.count() == 0


def test_refusals_have_a_code_and_words(client):
    study = StudyFactory(state="paused")

    answer = client.post(f"/api/v1/studies/{study.slug}/chats", headers=headers(make_worker(study)))

    assert answer.status_code == 409
    assert answer.json() == {
        "error": "study_not_open",
        "detail": "This study is paused. No chat can be started.",
    }


def test_a_malformed_id_is_told_so(client):
    answer = client.get("/api/v1/chats/abc", headers=headers(UserFactory()))

    assert (answer.status_code, answer.json()["error"]) == (422, "invalid")


def test_the_openapi_page_names_both_routes(client):
    paths = client.get("/api/v1/openapi.json").json()["paths"]

    assert list(paths)[:2] == ["/api/v1/studies/{slug}/chats", "/api/v1/chats/{dialogue_id}"]
    assert sorted(paths["/api/v1/studies/{slug}/chats"]) == ["get", "post"]
    assert client.get("/api/v1/docs").status_code == 200


def test_reading_a_chat_costs_the_same_however_long(client, django_assert_max_num_queries):
    long = make_dialogue(["a b c", "d"] * 6, ["0"] * 6)
    authorization = headers(long.worker)

    with django_assert_max_num_queries(6):  # token, its use, chat, is it researched, utterances with labels
        client.get(f"/api/v1/chats/{long.pk}", headers=authorization)
