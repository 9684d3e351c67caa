import pytest
from django.utils import timezone

from annotations.models import Consent, Dialogue, Membership, User
from annotations.studies import services
from annotations.studies.views import safe_links
from tests.factories import StudyFactory, UserFactory, make_dialogue, make_researcher, make_worker

pytestmark = pytest.mark.django_db
NEW = {"username": "robin", "password": "another horse 9"}


def sign_in(client, user):
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return user


def said(response):
    return [str(message) for message in response.context["messages"]]


# -- joining ---------------------------------------------------------------------------------------------------


def test_an_invitation_tells_study_role_and_warning(client):
    invitation = services.invite(study=StudyFactory(name="Open questions"), role="verifier")

    response = client.get(f"/join/{invitation.code}")

    assert (response.context["role"], response.context["study"]) == ("verifier", invitation.study)
    assert response.context["warning"] == services.current_consent(invitation.study).warning


def test_signing_up_by_invitation_joins_and_signs_in(client):
    invitation = services.invite(study=StudyFactory(slug="s"), role="worker", uses=1)

    response = client.post(f"/join/{invitation.code}", NEW)

    user = User.objects.get(username="robin")
    invitation.refresh_from_db()
    assert response.url == "/studies/s/"
    assert client.session["_auth_user_id"] == str(user.pk)
    assert list(user.memberships.values_list("study__slug", "role")) == [("s", "worker")]
    assert (user.is_worker, invitation.uses_left) == (True, 0)


def test_somebody_signed_in_joins_with_one_button(client):
    invitation = services.invite(study=StudyFactory(), role="researcher")
    user = sign_in(client, UserFactory())

    response = client.post(f"/join/{invitation.code}")

    assert response.url == "/"
    assert user.memberships.get().role == "researcher"


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({**NEW, "username": ""}, "username", "Choose a user name."),
        ({**NEW, "password": ""}, "password", "Choose a password."),
        (
            {**NEW, "password": "qx7 zk"},
            "password",
            "This password is too short. It must contain at least 8 characters.",
        ),
    ],
)
def test_a_refused_sign_up_says_why_and_makes_nobody(client, values, field, words):
    invitation = services.invite(study=StudyFactory(), role="worker", uses=1)

    response = client.post(f"/join/{invitation.code}", values)

    invitation.refresh_from_db()
    assert (response.status_code, words) == (422, response.context["form"].errors[field][-1])
    assert (User.objects.count(), invitation.uses_left) == (0, 1)


def test_a_refused_name_is_kept_in_its_box(client):
    invitation = services.invite(study=StudyFactory(), role="worker")

    response = client.post(
        f"/join/{invitation.code}", {"username": "no spaces", "password": "another horse 9"}
    )

    assert response.context["form"]["username"].value() == "no spaces"


def test_a_link_that_does_not_exist_says_so(client):
    response = client.get("/join/nothing")

    assert response.status_code == 404
    assert response.context["text"] == "This link is not complete or was taken back. Ask for a new one."


def test_a_link_that_has_run_out_says_so(client):
    invitation = services.invite(study=StudyFactory(), role="worker", expires_at=timezone.now())

    response = client.get(f"/join/{invitation.code}")

    assert (response.status_code, response.context["title"]) == (410, "This link no longer works")


def test_a_blocked_person_joins_nothing(client):
    study = StudyFactory(open_signup=True)
    user = sign_in(client, UserFactory(blocked_at=timezone.now(), blocked_reason="Copied texts."))

    response = client.post(f"/studies/{study.slug}/join")

    assert response.status_code == 403
    assert response.context["text"] == "You cannot take part any more. Reason: Copied texts."
    assert user.memberships.count() == 0


def test_anybody_joins_an_open_study(client):
    study = StudyFactory(slug="s", open_signup=True)

    response = client.post("/studies/s/join", NEW)

    assert response.url == "/studies/s/"
    assert Membership.objects.get(study=study).role == "worker"


@pytest.mark.parametrize("values", [{"open_signup": False}, {"open_signup": True, "state": "paused"}])
def test_nobody_joins_a_study_that_is_not_open(client, values):
    StudyFactory(slug="s", **values)

    response = client.post("/studies/s/join", NEW)

    assert (response.status_code, User.objects.count()) == (404, 0)


# -- the study's page and its consent --------------------------------------------------------------------------


def test_before_the_first_chat_the_text_is_shown(client):
    study = StudyFactory(slug="s")
    user = sign_in(client, UserFactory())
    services.join(study=study, user=user, role="worker")

    response = client.get("/studies/s/")

    assert response.context["agreed"] is False
    assert response.context["text"] == services.current_consent(study)


def test_starting_agrees_to_the_text_and_keeps_the_veil(client):
    study = StudyFactory(slug="s")
    user = sign_in(client, UserFactory())
    services.join(study=study, user=user, role="worker")
    text = services.current_consent(study)

    response = client.post("/studies/s/start", {"text": text.pk, "veil": "on"})

    user.refresh_from_db()
    assert response.url == f"/chats/{Dialogue.objects.get(worker=user).pk}"
    assert (Consent.objects.get(user=user).text, user.veil) == (text, True)


def test_starting_without_agreeing_leads_to_the_text(client):
    study = StudyFactory(slug="s")
    user = sign_in(client, UserFactory())
    services.join(study=study, user=user, role="worker")

    response = client.post("/studies/s/start", follow=True)

    assert response.redirect_chain == [("/studies/s/", 302)]
    assert Dialogue.objects.count() == 0


def test_a_text_changed_meanwhile_is_shown_again(client):
    study = StudyFactory(slug="s")
    user = sign_in(client, UserFactory())
    services.join(study=study, user=user, role="worker")
    old = services.current_consent(study)
    services.revise_consent(study=study, warning="New.", task="New.", data_use="New.", stopping="New.")

    response = client.post("/studies/s/start", {"text": old.pk}, follow=True)

    assert said(response) == ["The text has changed since you opened it. Read it once more."]
    assert response.context["text"].version == 2


def test_whoever_agreed_sees_the_button_at_once(client):
    study = StudyFactory(slug="s")
    sign_in(client, make_worker(study))

    response = client.get("/studies/s/")

    assert (response.context["agreed"], response.context["place"].hindrance) == (True, "")


def test_an_open_study_leads_to_joining_it(client):
    StudyFactory(slug="s", open_signup=True)
    sign_in(client, UserFactory())

    assert client.get("/studies/s/").url == "/studies/s/join"


def test_another_study_looks_like_none(client):
    StudyFactory(slug="s")
    sign_in(client, UserFactory())

    there, none = client.get("/studies/s/"), client.get("/studies/nothing/")

    assert (there.status_code, none.status_code) == (404, 404)
    assert there.context["text"] == none.context["text"]


def test_a_paused_study_starts_nothing_and_says_so(client):
    study = StudyFactory(slug="s", state="paused")
    sign_in(client, make_worker(study))

    response = client.post("/studies/s/start", follow=True)

    assert said(response) == ["This study is paused. No chat can be started."]
    assert Dialogue.objects.count() == 0


# -- support ---------------------------------------------------------------------------------------------------


def test_support_shows_the_studys_own_links_to_its_people(client, settings):
    settings.CONTACT_EMAIL = "ask@example.org"
    study = StudyFactory(support=[["Call us", "tel:+4912345"], ["Bad", "javascript:alert(1)"]])
    sign_in(client, make_worker(study))

    response = client.get(f"/support?study={study.slug}")

    assert response.context["links"] == [("Call us", "tel:+4912345")]
    assert response.context["contact_email"] == "ask@example.org"


def test_support_tells_strangers_nothing_of_a_study(client):
    study = StudyFactory(name="Secret", support=[["Call us", "tel:+4912345"]])

    response = client.get(f"/support?study={study.slug}")

    assert response.context["study"] is None
    assert response.context["links"] == [("Find a helpline in your country", "https://findahelpline.com/")]


@pytest.mark.parametrize("slug", ["", "nothing", "a" * 500, "\x00", "%00"])
def test_support_is_there_whatever_is_asked(client, slug):
    assert client.get("/support", {"study": slug}).status_code == 200


@pytest.mark.parametrize(
    "support",
    [
        "text",
        [["only one"]],
        [[1, 2]],
        [["A", "http://[broken"]],
        [["A", "data:text/html,x"]],
        [["A", "//x"]],
    ],
)
def test_links_that_are_none_are_not_shown(support):
    assert safe_links(support) == []


# -- the start page --------------------------------------------------------------------------------------------


def test_the_way_back_to_a_left_chat_is_offered(client):
    dialogue = make_dialogue([f"Text {n}" for n in range(6)], ["0", "<10"])
    sign_in(client, dialogue.worker)

    client.post(f"/chats/{dialogue.pk}/leave")
    response = client.get("/")

    place = response.context["places"][0]
    assert (place.open, place.kept) == (dialogue, "Your six messages are kept.")
    assert place.open.left_at is not None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"state": "paused"}, "This study is paused. No chat can be started."),
        ({"chats_per_worker": 1}, "You have done every chat that this study asks of one person. Thank you."),
    ],
)
def test_what_hinders_is_said(client, values, words):
    study = StudyFactory(**values)
    worker = make_worker(study)
    make_dialogue(
        study=study, worker=worker, state="complete", end_reason="complete", ended_at=timezone.now()
    )
    sign_in(client, worker)

    response = client.get("/")

    assert [place.hindrance for place in response.context["places"]] == [words]


def test_a_blocked_worker_reads_the_reason(client):
    worker = make_worker(StudyFactory(), blocked_at=timezone.now(), blocked_reason="Copied <b>texts</b>.")
    sign_in(client, worker)

    page = client.get("/").content.decode()

    assert page.count("Reason: Copied &lt;b&gt;texts&lt;/b&gt;.") == 1
    assert page.count("Start a chat") == 0


def test_ones_own_finished_chats_only_are_listed(client):
    study = StudyFactory()
    mine = make_dialogue(study=study, state="partial", end_reason="idle", ended_at=timezone.now())
    make_dialogue(study=study, state="partial", end_reason="idle", ended_at=timezone.now())
    sign_in(client, mine.worker)

    assert client.get("/").context["finished"] == [mine]
    assert list(client.get("/chats").context["page"]) == [mine]


@pytest.mark.parametrize("count", [1, 3])
def test_the_start_page_takes_the_same_queries_however_many_rows(client, count, django_assert_num_queries):
    worker = sign_in(client, UserFactory())
    for _ in range(count):
        study = StudyFactory()
        services.join(study=study, user=worker, role="worker")
        make_dialogue(study=study, worker=worker)
        make_dialogue(study=study, worker=worker, state="partial", end_reason="idle", ended_at=timezone.now())

    with django_assert_num_queries(8):
        client.get("/")


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_of_chats_takes_the_same_queries_however_many_rows(client, count, django_assert_num_queries):
    study = StudyFactory()
    worker = sign_in(client, make_worker(study))
    for _ in range(count):
        make_dialogue(study=study, worker=worker, state="partial", end_reason="idle", ended_at=timezone.now())

    with django_assert_num_queries(4):
        client.get("/chats")


def test_each_role_is_told_where_its_work_is(client):
    study = StudyFactory()
    researcher = sign_in(client, make_researcher(study))
    services.join(study=study, user=researcher, role="verifier")

    page = client.get("/").content.decode()

    assert page.count("Your studies as a researcher") == 1
    assert page.count("There is nothing to verify now.") == 1
