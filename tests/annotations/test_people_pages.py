import re

import pytest
from django.urls import reverse

from annotations.models import ApiToken, User
from annotations.people.services import make_token, user_of_token
from tests.factories import PASSWORD, StudyFactory, UserFactory, make_worker

pytestmark = pytest.mark.django_db


def text_of(response, start, end="<"):
    page = response.content.decode()
    return page.partition(start)[2].partition(end)[0].strip()


def test_signing_in_leads_to_where_one_wanted_to_go(client):
    UserFactory(username="robin")

    response = client.post("/login", {"username": "robin", "password": PASSWORD, "next": "/account"})

    assert (response.status_code, response.url) == (302, "/account")


def test_signing_in_never_leads_to_another_site(client):
    UserFactory(username="robin")

    response = client.post(
        "/login", {"username": "robin", "password": PASSWORD, "next": "https://example.com/"}
    )

    assert response.url == "/"


def test_a_wrong_password_is_said_in_words_and_the_name_kept(client):
    UserFactory(username="robin")

    response = client.post("/login", {"username": "robin", "password": "wrong"})

    assert (
        text_of(response, 'id="problem">')
        == "That name and password do not go together. Check both and try again."
    )
    assert response.context["form"]["username"].value() == "robin"


def test_too_many_tries_are_told_how_long_to_wait(client):
    UserFactory(username="robin")

    for _ in range(5):
        response = client.post("/login", {"username": "robin", "password": "wrong"})
    right = client.post("/login", {"username": "robin", "password": PASSWORD})

    assert (response.status_code, right.status_code) == (429, 429)
    words = "The password was wrong too often. Wait 10 minutes, then sign in again. The account is safe."
    assert response.context["text"] == words


def test_whoever_is_signed_in_is_not_asked_again(client):
    client.force_login(UserFactory(), backend="django.contrib.auth.backends.ModelBackend")

    assert client.get("/login").url == "/"


def test_signing_out_wants_a_post(client):
    client.force_login(UserFactory(), backend="django.contrib.auth.backends.ModelBackend")

    assert client.get("/logout").url == "/"
    assert client.get("/").status_code == 200
    assert client.post("/logout").url == "/login"
    assert client.get("/").url == "/login?next=/"


@pytest.fixture
def me(client):
    user = UserFactory()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return user


def test_preferences_are_kept_and_shown(client, me):
    client.post("/account", {"theme": "dark", "veil": "on"})

    me.refresh_from_db()
    assert (me.theme, me.single_keys, me.veil) == ("dark", False, True)
    page = client.get("/account").content.decode()
    assert re.search(r"<html[^>]*>", page).group() == '<html lang="en" data-theme="dark">'
    assert re.search(r"<body[^>]*>", page).group() == '<body class="" data-single-keys="off">'


def test_an_unknown_theme_is_refused_and_nothing_kept(client, me):
    response = client.post("/account", {"theme": "pink", "veil": "on"})

    me.refresh_from_db()
    assert (response.status_code, me.theme, me.veil) == (422, "", False)


def test_changing_the_password_keeps_this_session(client, me):
    response = client.post("/account/password", {"old": PASSWORD, "new": "another horse 9"})

    me.refresh_from_db()
    assert response.url == "/account"
    assert me.check_password("another horse 9")
    assert client.get("/account").status_code == 200


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        ("wrong", "another horse 9", {"old": ["This is not the password you have now. Try again."]}),
        (PASSWORD, "", {"new": ["Choose a password."]}),
        (PASSWORD, "password", {"new": ["This password is too common."]}),
    ],
)
def test_a_refused_password_says_why(client, me, old, new, errors):
    response = client.post("/account/password", {"old": old, "new": new})

    me.refresh_from_db()
    assert (response.status_code, response.context["password"].errors) == (422, errors)
    assert me.check_password(PASSWORD)


def test_a_token_is_shown_once_and_works(client, me):
    response = client.post("/account/tokens", {"name": "pilot", "scopes": ["read", "chat"]})

    key = response.context["new_key"]
    assert text_of(response, 'id="key" value="', '"') == key
    assert user_of_token(key) == me
    assert me.tokens.get().scopes == ["chat", "read"]
    assert "no-store" in response["Cache-Control"]
    assert "new_key" not in client.get("/account").context


def test_a_token_without_a_name_is_refused(client, me):
    response = client.post("/account/tokens", {"name": " "})

    assert (response.status_code, response.context["token"].errors["name"]) == (
        422,
        ["Give the token a name."],
    )
    assert ApiToken.objects.count() == 0


@pytest.mark.parametrize(
    ("scopes", "words"),
    [([], "Choose at least one thing it may be used for."), (["everything"], "Choose from the list.")],
)
def test_a_token_for_nothing_is_refused(client, me, scopes, words):
    response = client.post("/account/tokens", {"name": "pilot", "scopes": scopes})

    assert (response.status_code, response.context["token"].errors["scopes"]) == (422, [words])
    assert ApiToken.objects.count() == 0


def test_the_twenty_first_token_is_refused_in_words(client, me):
    for number in range(20):
        make_token(user=me, name=str(number))

    response = client.post("/account/tokens", {"name": "one more", "scopes": ["chat"]})

    assert response.status_code == 409
    assert response.context["token"].errors["name"] == [
        "You have 20 tokens. Delete one that you no longer use."
    ]


def test_one_deletes_ones_own_tokens_only(client, me):
    mine, _ = make_token(user=me, name="mine")
    other, _ = make_token(user=UserFactory(), name="other")

    client.post(reverse("delete_token", args=[mine.pk]))
    client.post(reverse("delete_token", args=[other.pk]))

    assert list(ApiToken.objects.all()) == [other]


@pytest.mark.parametrize("count", [1, 3])
def test_the_account_page_takes_the_same_queries_however_many_tokens(
    client, me, count, django_assert_num_queries
):
    for number in range(count):
        make_token(user=me, name=str(number))

    with django_assert_num_queries(3):
        client.get("/account")


@pytest.mark.parametrize("path", ["/", "/account", "/chats", "/chats/1", "/studies/x/"])
def test_pages_of_ones_own_want_one_to_sign_in(client, path):
    assert client.get(path).url == f"/login?next={path}"


@pytest.mark.parametrize("path", ["/account/password", "/account/tokens", "/account/tokens/1/delete"])
def test_verbs_want_a_post(client, me, path):
    tokens = me.tokens.count()

    assert client.get(path).status_code == 302
    assert me.tokens.count() == tokens


def test_signing_up_is_refused_for_a_name_in_other_letters(client):
    study = StudyFactory(open_signup=True)
    make_worker(study, username="robin")

    response = client.post(
        f"/studies/{study.slug}/join", {"username": "Robin", "password": "another horse 9"}
    )

    assert response.context["form"].errors["username"] == ["This name is taken. Choose another."]
    assert User.objects.count() == 1
