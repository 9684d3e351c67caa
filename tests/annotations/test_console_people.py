import pytest

from annotations.chats import services as chats
from annotations.console import services
from annotations.models import AuditEntry, Dialogue
from annotations.people.errors import Refused
from tests.factories import StudyFactory, make_dialogue, make_researcher, make_verifier, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return StudyFactory(slug="open")


@pytest.fixture
def page(client, study):
    client.force_login(make_researcher(study))
    return client


def test_workers_are_listed_with_what_they_did_here(page, study):
    idle = make_worker(study)
    busy = make_worker(study)
    make_dialogue(["hi", "b", "hi", "d"], ["<10", "0"], study=study, worker=busy)
    make_dialogue(["hi", "b"], ["<10"], worker=busy)

    rows = page.get("/console/studies/open/people").context["rows"]

    assert [
        (row["worker"].pk, row["worker"].chats, row["worker"].labelled, row["per_chat"], row["signals"])
        for row in rows
    ] == [(busy.pk, 1, 2, 1.0, [2, 2, 0, 1]), (idle.pk, 0, 0, None, [0, 0, 0, 0])]


def test_no_workers_say_how_they_come(page):
    assert "No workers yet" in page.get("/console/studies/open/people").content.decode()


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_as_often_for_three_workers_as_for_one(page, study, django_assert_num_queries, count):
    for _ in range(count):
        make_dialogue(["a"], study=study)

    with django_assert_num_queries(7):
        page.get("/console/studies/open/people")


def test_a_block_needs_a_reason(page, study):
    worker = make_worker(study)

    answer = page.post(f"/console/studies/open/people/{worker.pk}/block", {"reason": " \n "})

    worker.refresh_from_db()
    assert (answer.status_code, dict(answer.context["form"].errors)) == (422, {"reason": ["Fill this in."]})
    assert worker.blocked_at is None


def test_a_long_reason_is_told_and_kept(page, study):
    worker = make_worker(study)

    answer = page.post(f"/console/studies/open/people/{worker.pk}/block", {"reason": "x" * 501})

    form = answer.context["form"]
    assert dict(form.errors) == {"reason": ["Shorten this to 500 characters."]}
    assert form["reason"].value() == "x" * 501


def test_a_block_ends_every_open_chat_and_is_lifted_again(page, study):
    worker = make_worker(study)
    here, elsewhere = make_dialogue(study=study, worker=worker), make_dialogue(worker=worker)
    another = make_dialogue(study=study)
    url = f"/console/studies/open/people/{worker.pk}/"

    question = page.get(url + "block").content.decode()
    told = page.post(url + "block", {"reason": "Pasted.\r\nAgain."}, follow=True).context["messages"]

    worker.refresh_from_db()
    assert question.count(f"Block {worker.username} and end 2 open chats?") == 1
    assert [str(message) for message in told] == [f"{worker.username} is blocked. Chats ended: 2."]
    assert (worker.blocked_reason, worker.blocked_by) == (
        "Pasted.\nAgain.",
        study.memberships.get(role="researcher").user,
    )
    assert dict(Dialogue.objects.values_list("pk", "end_reason")) == {
        here.pk: "blocked",
        elsewhere.pk: "blocked",
        another.pk: "",
    }
    with pytest.raises(Refused, match="Reason: Pasted"):
        chats.start_chat(worker=worker, slug="open")

    page.post(url + "unblock")

    worker.refresh_from_db()
    assert (worker.blocked_at, worker.blocked_reason, worker.blocked_by) == (None, "", None)
    assert chats.start_chat(worker=worker, slug="open")[1] is True


def test_nobody_blocks_themselves(page, study):
    me = study.memberships.get(role="researcher").user
    study.memberships.create(user=me, role="worker")

    answer = page.post(f"/console/studies/open/people/{me.pk}/block", {"reason": "Tired."})

    me.refresh_from_db()
    assert me.blocked_at is None
    assert list(answer.context["form"].non_field_errors()) == [
        "This is your own account. Ask another researcher to block it."
    ]


def test_the_verb_itself_refuses_an_empty_reason(study):
    worker = make_worker(study)

    with pytest.raises(Refused) as refusal:
        services.block(study=study, worker_id=worker.pk, by=make_researcher(study), reason="  ")

    assert refusal.value.code == "no_reason"


def test_a_verifier_can_be_blocked_too_and_it_is_on_the_audit_trail(study):
    researcher, verifier = make_researcher(study), make_verifier(study)

    services.block(study=study, worker_id=verifier.pk, by=researcher, reason="Clicks without reading.")
    services.lift_block(study=study, worker_id=verifier.pk, by=researcher)
    services.lift_block(study=study, worker_id=verifier.pk, by=researcher)

    trail = AuditEntry.objects.filter(about=verifier).order_by("pk").values_list("action", "detail__reason")
    assert list(trail) == [
        ("person_blocked", "Clicks without reading."),
        ("block_lifted", "Clicks without reading."),
    ]
