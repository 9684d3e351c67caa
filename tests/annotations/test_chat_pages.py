import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.chats import services
from annotations.models import Dialogue, Label
from tests.factories import BotFactory, StudyFactory, UserFactory, make_dialogue, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client):
    """Makes a chat whose worker is signed in; gives the chat and its address."""

    def make(*args, **values):
        dialogue = make_dialogue(*args, **values)
        client.force_login(dialogue.worker, backend="django.contrib.auth.backends.ModelBackend")
        return dialogue, f"/chats/{dialogue.pk}"

    return make


def finished(**values):
    texts = [f"Text {n}" for n in range(14)]
    now = timezone.now()
    return {
        "texts": texts,
        "bins": ["0"] * 7,
        "state": "complete",
        "end_reason": "complete",
        "ended_at": now,
        **values,
    }


def form_of(response, name):
    return re.search(rf'<form[^>]*data-form="{name}"[^>]*>', response.content.decode())


def hidden(response, name):
    return "hidden" in form_of(response, name).group()


# -- reading ---------------------------------------------------------------------------------------------------


def test_a_new_chat_lets_one_write(client, page):
    _, url = page()

    response = client.get(url)

    assert response.context["chat"]["turn"] == "write"
    assert hidden(response, "label")
    assert response.content.decode().count("You write first.") == 1


def test_a_reply_wants_its_label_first(client, page):
    _, url = page(["Hello there", "Hello."])

    response = client.get(url)

    assert not hidden(response, "label")
    assert response.content.decode().count("Waiting for your label") == 1


def test_the_labels_are_told_and_the_last_can_be_changed(client, page):
    _, url = page(["Hello there", "Hello.", "And now?", "Well."], ["0", "<50"])

    response = client.get(url)
    again = client.get(f"{url}?change=1")

    content = response.content.decode()
    assert re.findall(r"You said: ([^<]*[\w%])", content) == ["nearly nobody", "10\u201350%"]
    assert re.findall(r'href="(\?change=1#q)"', content) == ["?change=1#q"]
    assert (hidden(response, "label"), hidden(again, "label")) == (True, False)
    assert re.findall(r'value="([^"]+)"[^>]*aria-pressed="true"', again.content.decode()) == ["&lt;50"]


def test_hostile_texts_are_escaped(client, page):
    _, url = page(['<script>alert("1")</script>', "<img src=x onerror=alert(2)>"])

    content = client.get(url).content.decode()

    assert content.count("<script>alert") == 0
    assert content.count("<img") == 0
    assert re.findall(r'<p class="bubble text" dir="auto">(&lt;img.*?)</p>', content) == [
        "&lt;img src=x onerror=alert(2)&gt;"
    ]


def test_a_veiled_reply_stands_in_a_closed_fold(client, page):
    dialogue, url = page(["Hello there", "Hello."])
    dialogue.worker.veil = True
    dialogue.worker.save()

    content = client.get(url).content.decode()

    assert re.findall(
        r'<details class="veil bubble">.*<p class="text" dir="auto">(.+)</p></details>', content
    ) == ["Hello."]


def test_nothing_on_the_page_tells_the_bot(client, page):
    _, url = page(
        ["Hello there", "Hello."], bot=BotFactory(name="Blenderbot", slug="blender"), persona=["i like tea."]
    )

    content = client.get(url).content.decode()

    assert (content.lower().count("blender"), content.count("i like tea")) == (0, 0)


def test_the_policy_holds_for_what_stands_on_the_page(client, page):
    _, url = page(["Hello there", "Hello."])

    content = client.get(url).content.decode()

    assert re.findall(r"<script(?![^>]*src=)", content) == []
    assert re.findall(r"\sstyle=|\son\w+=", content) == []


@pytest.mark.parametrize("verb", ["", "/end"])
def test_anothers_chat_looks_like_none(client, page, verb):
    _, url = page()
    client.force_login(UserFactory(), backend="django.contrib.auth.backends.ModelBackend")

    there, none = client.get(url + verb), client.get(f"/chats/999999{verb}")

    assert (there.status_code, none.status_code) == (404, 404)
    assert there.context["text"] == none.context["text"] == "This chat is not here, or it is not yours."


@pytest.mark.parametrize("verb", ["say", "label", "ask", "leave", "comment"])
def test_nobody_acts_in_anothers_chat(client, page, verb):
    dialogue, url = page(["Hello there", "Hello."])
    client.force_login(UserFactory(), backend="django.contrib.auth.backends.ModelBackend")

    response = client.post(f"{url}/{verb}", {"text": "Mine", "client_id": "a", "utterance": 2, "bin": "0"})

    dialogue.refresh_from_db()
    assert (response.status_code, dialogue.said, dialogue.labelled, dialogue.comment, dialogue.left_at) == (
        404,
        2,
        0,
        "",
        None,
    )


@pytest.mark.parametrize("turns", [1, 3])
def test_a_chat_takes_the_same_queries_however_long_it_is(client, page, turns, django_assert_num_queries):
    _, url = page(["Hello there", "Hello."] * turns, ["0"] * turns)

    with django_assert_num_queries(4):
        client.get(url)


# -- without script --------------------------------------------------------------------------------------------


def test_a_whole_chat_goes_without_script(client):
    study = StudyFactory(slug="s", utterances=4, min_utterances=2, completion_code="7QK-42F")
    client.force_login(make_worker(study), backend="django.contrib.auth.backends.ModelBackend")

    url = client.post("/studies/s/start").url
    for number in (1, 2):
        response = client.get(url)
        values = {"text": f"Message {number}", "client_id": response.context["client_id"]}
        client.post(f"{url}/say", values)
        client.post(f"{url}/label", {"utterance": 2 * number, "bin": "<10"})
    end = client.get(url)

    dialogue = Dialogue.objects.get()
    assert (dialogue.state, dialogue.said, dialogue.unsafe) == ("complete", 4, 2)
    assert re.findall(r'<output id="code" class="code">([^<]+)<', end.content.decode()) == ["7QK-42F"]


def test_a_page_sent_twice_says_it_once(client, page):
    dialogue, url = page()
    values = {"text": "Hello there", "client_id": client.get(url).context["client_id"]}

    first, second = client.post(f"{url}/say", values), client.post(f"{url}/say", values)

    assert (first.url, second.url) == (url, url)
    assert dialogue.utterances.filter(speaker="human").count() == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" ", "There is nothing to send. Write at least one character."),
        ("a" * 2003, "The message is 3 characters too long. Shorten it to 2,000."),
    ],
)
def test_a_refused_message_stays_in_the_box(client, page, text, words):
    dialogue, url = page()

    response = client.post(f"{url}/say", {"text": text, "client_id": "a"})

    assert (response.status_code, response.context["problem"], response.context["typed"]) == (
        422,
        words,
        text,
    )
    assert dialogue.utterances.count() == 0


def test_writing_past_the_label_is_refused_and_kept(client, page):
    _, url = page(["Hello there", "Hello."])

    response = client.post(f"{url}/say", {"text": "And now?", "client_id": "z"})

    assert (response.status_code, response.context["problem"]) == (409, "Label the reply, then write.")
    assert re.findall(r"<textarea[^>]*>(And now\?)</textarea>", response.content.decode()) == ["And now?"]


@pytest.mark.parametrize(
    ("verb", "values"),
    [("say", {"text": "Hi"}), ("label", {"utterance": "x", "bin": "0"}), ("label", {"utterance": 2})],
)
def test_a_form_that_cannot_be_read_changes_nothing(client, page, verb, values):
    _, url = page(["Hello there", "Hello."])

    response = client.post(f"{url}/{verb}", values, follow=True)

    assert [str(item) for item in response.context["messages"]] == [
        "That could not be read. Nothing changed."
    ]
    assert Label.objects.count() == 0


def test_an_unknown_bin_is_refused_in_words(client, page):
    _, url = page(["Hello there", "Hello."])

    response = client.post(f"{url}/label", {"utterance": 2, "bin": "many"})

    assert (response.status_code, response.context["problem"]) == (
        422,
        "A label is one of 0, <10, <50, >=50.",
    )


def test_a_stalled_bot_can_be_asked_again(client, page):
    now = timezone.now()
    dialogue, url = page(
        ["Hello there"], bot=BotFactory(engine="http", config={}), asked_at=now, stalled_at=now
    )

    response = client.post(f"{url}/ask", follow=True)

    dialogue.refresh_from_db()
    assert dialogue.stalled_at is None
    assert response.context["chat"]["turn"] == "bot"


def test_leaving_is_one_post_and_asks_nothing(client, page):
    dialogue, url = page(["Hello there", "Hello."])

    response = client.post(f"{url}/leave")

    dialogue.refresh_from_db()
    assert (response.url, dialogue.state, dialogue.left_at is not None) == ("/", "open", True)


@pytest.mark.parametrize("verb", ["say", "label", "ask", "leave", "comment"])
def test_verbs_want_a_post(client, page, verb):
    dialogue, url = page()

    answer = client.get(f"{url}/{verb}")

    assert (answer.status_code, answer.url) == (302, url)
    assert dialogue.utterances.count() == 0


# -- the end ---------------------------------------------------------------------------------------------------


def heading(response):
    return re.findall(r'id="the-end".*?<h2>(.*?)</h2>', response.content.decode(), re.DOTALL)


def test_a_complete_chat_thanks_and_shows_the_code(client, page):
    _, url = page(**finished(study=StudyFactory(completion_code="7QK-42F")))

    for response in (client.get(url), client.get(f"{url}/end")):
        assert heading(response) == ["That was the last one. Thank you."]
        assert response.content.decode().count("7QK-42F") == 1
        assert response.content.decode().count("Start another chat") == 1


def test_a_partial_chat_says_what_happened_and_shows_no_code(client, page):
    _, url = page(
        ["Hello there", "Hello."] * 3,
        study=StudyFactory(completion_code="7QK-42F"),
        state="partial",
        end_reason="idle",
        ended_at=timezone.now(),
    )

    response = client.get(url)

    assert heading(response) == ["This chat is closed, because nothing happened for 30 minutes."]
    assert response.content.decode().count("7QK-42F") == 0
    assert response.content.decode().count("Your six messages are kept.") == 1


def test_a_chat_closed_with_its_study_says_so(client, page):
    closed = timezone.now().replace(month=5, day=3)
    study = StudyFactory(state="closed", closed_at=closed)
    _, url = page(["Hello there"], study=study, state="dropped", end_reason="study_closed", ended_at=closed)

    response = client.get(url)

    assert heading(response) == ["This chat is closed, because the study ended on 3 May."]
    assert response.content.decode().count("This study is closed. No chat can be started.") == 1


def test_the_end_of_an_open_chat_is_empty(client, page):
    _, url = page()

    assert heading(client.get(url)) == []


@pytest.mark.parametrize(("minutes", "links"), [(4, 1), (6, 0)])
def test_the_last_label_can_be_changed_for_five_minutes(client, page, minutes, links):
    _, url = page(**finished(ended_at=timezone.now() - timedelta(minutes=minutes)))

    response = client.get(url)

    assert response.content.decode().count("?change=1#q") == links
    assert (response.context["change_s"] > 0) == bool(links)


def test_a_comment_is_kept_and_can_be_changed(client, page):
    dialogue, url = page(**finished())

    response = client.post(f"{url}/comment", {"text": "The bot was\nrude."}, follow=True)

    dialogue.refresh_from_db()
    assert dialogue.comment == "The bot was\nrude."
    assert [str(item) for item in response.context["messages"]] == ["Thank you. Your comment is kept."]


def test_a_comment_too_long_is_refused_and_kept_in_its_box(client, page):
    dialogue, url = page(**finished())

    response = client.post(f"{url}/comment", {"text": "a" * 2001})

    dialogue.refresh_from_db()
    assert (response.status_code, dialogue.comment) == (422, "")
    assert response.context["comment_problem"] == "Shorten the comment to 2,000 characters."
    assert response.context["comment_typed"] == "a" * 2001


def test_a_blocked_worker_reads_why_the_chat_was_closed(client, page):
    dialogue, url = page(["Hello there", "Hello."])
    dialogue.worker.blocked_at, dialogue.worker.blocked_reason = timezone.now(), "Copied texts."
    dialogue.worker.save()
    services.close(dialogue_id=dialogue.pk, reason="blocked")

    response = client.get(url)

    assert heading(response) == ["This chat is closed."]
    assert response.content.decode().count("You cannot take part any more. Reason: Copied texts.") == 1
    assert response.content.decode().count("Start another chat") == 0
