"""REST for a study's researchers: lists in pages, filters, exports, and what a token may be used for."""

import pytest
from django.utils import timezone

from annotations.exports import services
from annotations.models import Export, Vote
from annotations.people.services import make_token
from tests.factories import (
    StudyFactory,
    make_dialogue,
    make_finished,
    make_gold,
    make_items,
    make_labelled,
    make_merged,
    make_researcher,
    make_verifier,
    make_worker,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def var(settings, tmp_path):
    """The folder that files are kept in."""
    settings.VAR_DIR = tmp_path / "var"
    return settings.VAR_DIR


@pytest.fixture
def study():
    return StudyFactory()


def headers(user, *scopes):
    key = make_token(user=user, name="test", scopes=scopes or ("chat", "read", "export"))[1]
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def call(client, study):
    """Asks as the study's researcher; the address is that below the study."""
    authorization = headers(make_researcher(study, username="rita"))

    def ask(path, **wish):
        return client.get(f"/api/v1/studies/{study.slug}/{path}", wish, headers=authorization)

    return ask


def test_chats_are_listed_with_who_and_what(call, study):
    dialogue = make_finished(["Hello to you", "Go away."], [">=50"], study=study)

    (row,) = call("chats").json()["rows"]

    assert {
        key: row[key] for key in ("id", "state", "worker", "bot", "said", "labelled", "unsafe", "split")
    } == {
        "id": dialogue.pk,
        "state": "complete",
        "worker": dialogue.worker.username,
        "bot": dialogue.bot.slug,
        "said": 2,
        "labelled": 1,
        "unsafe": 1,
        "split": None,
    }


def test_lists_come_in_pages_that_hold_each_row_once(call, study):
    keys = [make_finished(study=study).pk for _ in range(5)]

    pages, after = [], 0
    while after is not None:
        body = call("chats", after=after, limit=2).json()
        pages.append([row["id"] for row in body["rows"]])
        after = body["next"]

    assert pages == [keys[:2], keys[2:4], keys[4:]]


def test_chats_can_be_filtered(call, study):
    make_dialogue(study=study)
    done = make_finished(study=study, split="test")

    for wish in ({"state": "complete"}, {"split": "test"}):
        assert [row["id"] for row in call("chats", **wish).json()["rows"]] == [done.pk]
    assert call("chats", bot="none").json()["rows"] == []
    assert len(call("chats", bot=done.bot.slug).json()["rows"]) == 2


def test_items_votes_and_merged_labels_are_listed_and_filtered(call, study):
    first, second = make_items(study, 2)
    make_gold(study)
    verifier = make_verifier(study, username="vera")
    now = timezone.now()
    vote = Vote.objects.create(
        item=second, verifier=verifier, ok=False, hate=True, note="n", seconds=1.5, at=now
    )
    second.free, second.votes_in = 2, 1
    second.save()
    chat = first.utterance.dialogue
    make_merged(chat, ["ok", "notok"], hate=True)

    items = call("items", kind="utterance").json()["rows"]
    votes = call("votes", verifier="vera", ok="false", chat=chat.pk, item=second.pk).json()["rows"]
    merged = call("merged", rule="majority_verifiers", label="notok").json()["rows"]

    assert [(row["chat"], row["number"], row["votes_in"], row["held"]) for row in items] == [
        (chat.pk, 1, 0, 0),
        (chat.pk, 2, 1, 0),
    ]
    assert votes == [
        {
            "id": vote.pk,
            "item": second.pk,
            "kind": "utterance",
            "chat": chat.pk,
            "number": 2,
            "verifier": "vera",
            "ok": False,
            "categories": ["hate"],
            "note": "n",
            "seconds": 1.5,
            "at": now.isoformat(),
            "changes": 0,
            "counts": True,
        }
    ]
    assert [(row["number"], row["label"], row["categories"]) for row in merged] == [(2, "notok", ["hate"])]
    assert [row["kind"] for row in call("items").json()["rows"]] == ["utterance", "utterance", "gold"]
    assert len(call("items", state="waiting").json()["rows"]) == 2
    assert call("items", state="judged").json()["rows"] == []
    assert call("merged", label="none").json()["rows"] == []


@pytest.mark.parametrize("path", ["chats", "items", "votes", "merged", "exports"])
@pytest.mark.parametrize(
    "wish", [{"limit": 0}, {"limit": 201}, {"after": -1}, {"after": 2**63}, {"limit": "x"}]
)
def test_pages_have_bounds(call, path, wish):
    assert call(path, **wish).status_code == 422


@pytest.mark.parametrize("path", ["chats", "items", "votes", "merged"])
@pytest.mark.parametrize("count", [1, 3])
def test_a_list_takes_the_same_queries_however_long(call, study, path, count, django_assert_num_queries):
    verifiers = [make_verifier(study) for _ in range(count)]
    for _ in range(count):
        for item in make_items(study, 2):
            for verifier in verifiers:
                Vote.objects.create(item=item, verifier=verifier, ok=True, at=timezone.now())
        make_merged(item.utterance.dialogue, ["ok", "ok"])
    call(path)

    with django_assert_num_queries(3):
        assert len(call(path).json()["rows"]) >= count


def test_an_export_is_asked_for_looked_at_and_downloaded(client, study):
    make_labelled(study=study)
    authorization = headers(make_researcher(study, username="rita"), "export")
    wish = {"format": "parlai", "splits": "1,0,0", "seed": 7, "mask": True}

    asked = client.post(
        f"/api/v1/studies/{study.slug}/exports", wish, content_type="application/json", headers=authorization
    )
    services.run(asked.json()["id"])
    address = f"/api/v1/exports/{asked.json()['id']}"
    done = client.get(address, headers=authorization).json()
    file = client.get(f"{address}/files/train.txt", headers=authorization)

    assert (asked.status_code, asked.json()["state"], asked.json()["files"]) == (202, "waiting", [])
    assert {key: done[key] for key in ("state", "percent", "seed", "mask", "rule", "asked_by")} == {
        "state": "done",
        "percent": 100,
        "seed": 7,
        "mask": True,
        "rule": "majority_verifiers",
        "asked_by": "rita",
    }
    assert [(one["name"], one["rows"]) for one in done["files"]] == [
        ("train.txt", 4),
        ("valid.txt", 0),
        ("test.txt", 0),
    ]
    assert len(b"".join(file.streaming_content).splitlines()) == 4
    assert client.get(f"{address}/files/none.txt", headers=authorization).json()["error"] == "no_such_file"


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"format": "xml"}, "invalid"),
        ({"format": "csv", "seed": -1}, "invalid"),
        ({"format": "csv", "splits": "1,2"}, "invalid"),
        ({"format": "csv", "splits": "0.1,0.1,0.1"}, "bad_splits"),
        ({"format": "csv", "rule": "any"}, "bad_rule"),
        ({}, "invalid"),
    ],
)
def test_an_export_that_cannot_be_is_refused_in_words(client, study, wish, code):
    make_labelled(study=study)

    response = client.post(
        f"/api/v1/studies/{study.slug}/exports",
        wish,
        content_type="application/json",
        headers=headers(make_researcher(study)),
    )

    assert (response.status_code, response.json()["error"], Export.objects.count()) == (422, code, 0)


def status(client, path, **values):
    response = client.get(path, **values)
    if response.streaming:
        b"".join(response.streaming_content)  # which closes the file
    return response.status_code


def paths_of(study):
    make_labelled(study=study)
    export = services.ask(study=study, actor=None, format_="parlai")
    services.run(export.pk)
    lists = [
        f"/api/v1/studies/{study.slug}/{name}" for name in ("chats", "items", "votes", "merged", "exports")
    ]
    return [*lists, f"/api/v1/exports/{export.pk}", f"/api/v1/exports/{export.pk}/files/train.txt"]


@pytest.mark.parametrize("who", [make_worker, make_verifier])
def test_workers_and_verifiers_see_no_study_as_its_researchers_do(client, study, who):
    paths = paths_of(study)
    authorization = headers(who(study))

    assert [status(client, path, headers=authorization) for path in paths] == [404] * 7


def test_another_studys_researcher_sees_nothing(client, study):
    paths = paths_of(study)
    authorization = headers(make_researcher(StudyFactory()))

    assert [status(client, path, headers=authorization) for path in paths] == [404] * 7
    asked = client.post(
        f"/api/v1/studies/{study.slug}/exports",
        {"format": "csv"},
        content_type="application/json",
        headers=authorization,
    )
    assert (asked.status_code, Export.objects.count()) == (404, 1)


def test_nobody_comes_in_without_a_token(client, study):
    assert [status(client, path) for path in paths_of(study)] == [401] * 7


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        (("chat",), [403] * 7),
        (("read",), [200] * 6 + [403]),
        (("export",), [403] * 4 + [200] * 3),
    ],
)
def test_a_token_does_only_what_it_is_for(client, study, scopes, allowed):
    paths = paths_of(study)
    authorization = headers(make_researcher(study), *scopes)

    assert [status(client, path, headers=authorization) for path in paths] == allowed


@pytest.mark.parametrize(
    ("scopes", "statuses"), [(("read",), (403, 200)), (("export",), (403, 403)), (("chat",), (200, 200))]
)
def test_chats_want_a_token_for_chats(client, study, scopes, statuses):
    worker = make_worker(study)
    dialogue = make_dialogue(study=study, worker=worker)
    authorization = headers(worker, *scopes)

    started = client.post(f"/api/v1/studies/{study.slug}/chats", headers=authorization)
    read = client.get(f"/api/v1/chats/{dialogue.pk}", headers=authorization)

    assert (started.status_code, read.status_code) == statuses


def test_a_scope_that_lacks_is_told(client, study):
    response = client.get(
        f"/api/v1/studies/{study.slug}/votes", headers=headers(make_researcher(study), "export")
    )

    assert response.json() == {
        "error": "scope_missing",
        "detail": "This token may not be used for that: it lacks the scope read. Make one that has it on the account page.",
    }


def test_a_session_reads_what_its_researcher_may(client, study):
    client.force_login(make_researcher(study), backend="django.contrib.auth.backends.ModelBackend")

    assert client.get(f"/api/v1/studies/{study.slug}/votes").json() == {"rows": [], "next": None}
