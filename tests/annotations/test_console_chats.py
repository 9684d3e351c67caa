import pytest
from django.utils import timezone

from annotations.models import Dialogue, InstructionSet, Label, ReplyFailure, Vote
from tests.factories import (
    BotFactory,
    StudyFactory,
    make_dialogue,
    make_labelled,
    make_merged,
    make_researcher,
    make_votes,
    make_worker,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return StudyFactory(slug="open")


@pytest.fixture
def page(client, study):
    client.force_login(make_researcher(study))
    return client


def listed(page, query=""):
    return [chat.pk for chat, _ in page.get(f"/console/studies/open/chats{query}").context["rows"]]


# -- the list ----------------------------------------------------------------------------------------------------


def test_chats_are_listed_newest_first_with_their_signals(page, study):
    first = make_dialogue(["hi", "b", "HI", "d", "NO WAY MAN"], study=study)
    second = make_dialogue(["Do you like old people?"], study=study)
    make_dialogue()

    rows = page.get("/console/studies/open/chats").context["rows"]

    signals = ["under three words: 2", "greeting only: 2", "capitals only: 1", "repeated: 1"]
    assert [(chat.pk, words) for chat, words in rows] == [(second.pk, []), (first.pk, signals)]


def test_no_chats_say_when_they_come(page):
    body = page.get("/console/studies/open/chats").content.decode()

    assert "They appear here as soon as the first worker starts." in body


def test_chats_are_found_by_each_filter(page, study):
    bot, sets = BotFactory(), InstructionSet.objects.get(slug="probe")
    plain = make_dialogue(["What is your favourite city?"], study=study)
    over = {"state": "partial", "end_reason": "left", "ended_at": timezone.now()}
    marked = make_dialogue(["STOP IT NOW"], study=study, bot=bot, instruction_set=sets, **over)

    found = {
        query: listed(page, query)
        for query in (
            "?state=partial",
            "?state=open",
            f"?worker={marked.worker.username}",
            "?instructions=probe",
            "?signal=any",
            "?signal=capitals",
            "?signal=repeat",
            "?signal=any&state=open",
        )
    }

    assert found == {
        "?state=partial": [marked.pk],
        "?state=open": [plain.pk],
        f"?worker={marked.worker.username}": [marked.pk],
        "?instructions=probe": [marked.pk],
        "?signal=any": [marked.pk],
        "?signal=capitals": [marked.pk],
        "?signal=repeat": [],
        "?signal=any&state=open": [],
    }


def test_chats_of_a_bot(page, study):
    other = BotFactory(slug="other")
    study.study_bots.create(bot=other, chats_wanted=1)
    make_dialogue(study=study, bot=study.bots.exclude(slug="other").get())
    wanted = make_dialogue(study=study, bot=other)

    assert listed(page, "?bot=other") == [wanted.pk]


def test_chats_of_a_bot_that_has_no_place_in_the_study_are_found(page, study):
    make_dialogue(study=study, bot=study.bots.get())
    imported = make_dialogue(study=study, bot=BotFactory(slug="imported"))

    assert listed(page, "?bot=imported") == [imported.pk]


def test_a_filter_that_finds_nothing_says_so(page, study):
    make_dialogue(study=study)

    body = page.get("/console/studies/open/chats?worker=nobody").content.decode()

    assert ("No chat is like that" in body, "No chats yet" in body) == (True, False)


def test_a_filter_that_is_none_is_told_and_every_chat_is_listed(page, study):
    chat = make_dialogue(study=study)

    answer = page.get("/console/studies/open/chats?state=happy&bot=nobody&worker=%00&page=minus")

    assert (answer.status_code, [row.pk for row, _ in answer.context["rows"]]) == (422, [chat.pk])
    assert dict(answer.context["form"].errors) == {
        "state": ["Choose one of the list."],
        "bot": ["Choose one of the list."],
        "worker": ["This holds a character that cannot be stored."],
    }


def test_the_list_has_pages_that_keep_the_filter(page, study):
    worker = make_worker(study)
    over = {"state": "partial", "end_reason": "left", "ended_at": timezone.now()}
    chats = [make_dialogue(["ok"], study=study, worker=worker, **over).pk for _ in range(51)]

    first = page.get("/console/studies/open/chats?state=partial&signal=short").content.decode()

    assert first.count('href="?state=partial&amp;signal=short&amp;page=2"') == 1
    assert listed(page, "?state=partial&signal=short&page=2") == chats[:1]
    assert listed(page, "?state=partial&page=2") == chats[:1]


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_as_often_for_three_chats_as_for_one(page, study, django_assert_num_queries, count):
    for _ in range(count):
        make_dialogue(["a", "b"], study=study, instruction_set=InstructionSet.objects.get(slug="goad"))

    with django_assert_num_queries(9):
        page.get("/console/studies/open/chats")


# -- one chat ----------------------------------------------------------------------------------------------------


def test_a_chat_shows_everything_recorded_of_it(page, study):
    chat = make_dialogue(
        ["ok", "<b>I & you</b>"],
        ["<50"],
        study=study,
        persona=["I work nights."],
        comment="Odd.\n<i>",
        chats_before=4,
    )
    chat.utterances.filter(number=2).update(engine="eliza", seconds=0.25)
    Label.objects.update(changes=2)
    ReplyFailure.objects.create(bot=chat.bot, dialogue=chat, number=2, attempt=1, error="It took too long.")

    body = page.get(f"/console/chats/{chat.pk}").content.decode()

    wanted = {
        '<p dir="auto">&lt;b&gt;I &amp; you&lt;/b&gt;</p>': 1,
        '<span class="tens b2" aria-hidden="true"></span>': 1,
        "changed 2 times": 1,
        "Under three words": 1,
        '<span class="entry" dir="auto">I work nights.</span>': 1,
        "Odd.<br>&lt;i&gt;": 1,
        "Ask open questions.": 1,
        "0.25": 1,
        "It took too long.": 1,
    }
    assert {words: body.count(words) for words in wanted} == wanted


def test_a_chat_leads_to_its_neighbours_in_the_list_it_was_opened_from(page, study):
    worker = make_worker(study)
    over = {"state": "partial", "end_reason": "left", "ended_at": timezone.now(), "worker": worker}
    texts = ["ok", "Tell me about your day, will you?", "ok", "ok"]
    old, plain, chat, new = [make_dialogue([text], study=study, **over).pk for text in texts]
    make_dialogue(["ok"], worker=worker)

    found = {
        query: tuple(page.get(f"/console/chats/{chat}{query}").context[name] for name in ("newer", "older"))
        for query in ("", "?state=partial", "?signal=short", "?state=open")
    }

    assert found == {
        "": (new, plain),
        "?state=partial": (new, plain),
        "?signal=short": (new, old),
        "?state=open": (None, None),
    }


def test_keys_are_told_unless_they_are_switched_off(page, study):
    first, _ = make_dialogue(study=study), make_dialogue(study=study)
    researcher = study.memberships.get(role="researcher").user
    before = page.get(f"/console/chats/{first.pk}").content.decode().count('aria-keyshortcuts="K"')
    researcher.single_keys = False
    researcher.save()

    assert (before, page.get(f"/console/chats/{first.pk}").content.decode().count("aria-keyshortcuts")) == (
        1,
        0,
    )


@pytest.mark.parametrize("count", [1, 3])
def test_a_chat_asks_as_often_for_six_utterances_as_for_two(page, study, django_assert_num_queries, count):
    chat = make_dialogue(["a", "b"] * count, ["0"] * count, study=study)
    page.get(f"/console/chats/{chat.pk}")

    with django_assert_num_queries(10):
        page.get(f"/console/chats/{chat.pk}")


def test_a_chat_that_has_not_begun_says_so(page, study):
    chat = make_dialogue(study=study)

    assert "Nothing has been said yet." in page.get(f"/console/chats/{chat.pk}").content.decode()
    assert Dialogue.objects.get().state == "open"


def test_a_chat_shows_every_vote_and_the_labels_of_every_rule(page, study):
    items = make_votes(study, [["ok", "ok", "hate profanity -"], ["attack", "ok", "other"]])
    chat = items[0].utterance.dialogue
    Vote.objects.filter(ok=True).update(note="Fine <by> me", seconds=2.25)
    make_merged(chat, ["ok", "notok"], ok_votes=2, notok_votes=1)
    make_merged(chat, ["ok", ""], rule="any", tie=True)

    body = page.get(f"/console/chats/{chat.pk}").content.decode()

    wanted = {
        '<span class="vote no aside">Hate speech, Profanity</span>': 1,
        "not OK, hate speech, profanity": 1,
        "<strong>set aside</strong>": 1,
        "“Fine &lt;by&gt; me”": 3,
        "after 2.3 s": 3,
        '<span dir="auto">open-verifier-2</span>': 2,
        "Majority of the verifiers: <strong>Not OK</strong>, 2 for OK and 1 against": 1,
        "Not OK where anybody says so: <strong>No label</strong>, a tie": 1,
        '<span class="soft">merged:</span> <strong>Not OK</strong>': 1,
    }
    assert {words: body.count(words) for words in wanted} == wanted


@pytest.mark.parametrize("count", [1, 3])
def test_a_judged_chat_asks_as_often_for_six_utterances_as_for_two(
    page, study, django_assert_num_queries, count
):
    items = make_votes(study, [["ok", "hate", "ok"], ["attack", "ok", "other"]] * count)
    chat = items[0].utterance.dialogue
    make_merged(chat, ["ok", "notok"] * count)
    page.get(f"/console/chats/{chat.pk}")

    with django_assert_num_queries(10):
        page.get(f"/console/chats/{chat.pk}")


# -- search ------------------------------------------------------------------------------------------------------


def found(page, query):
    return [(row.text, merged and merged.label) for row, merged in page.get(SEARCH + query).context["rows"]]


SEARCH = "/console/studies/open/search"


def test_messages_are_found_by_words_speaker_and_label(page, study):
    make_labelled(
        ["Cats 100% rule", "I like DOGS", "Dogs bite", "No."], ["notok", "ok", "ok", "notok"], study=study
    )
    make_dialogue(["dogs elsewhere"])

    assert {query: found(page, query) for query in ("?q=dogs", "?q=%25", "?q=_", "?q=dogs&speaker=bot")} == {
        "?q=dogs": [("I like DOGS", "ok"), ("Dogs bite", "ok")],
        "?q=%25": [("Cats 100% rule", "notok")],
        "?q=_": [],
        "?q=dogs&speaker=bot": [("I like DOGS", "ok")],
    }
    assert found(page, "?label=notok") == [("Cats 100% rule", "notok"), ("No.", "notok")]


def test_nothing_asked_finds_nothing(page, study):
    make_labelled(study=study)

    answer = page.get(SEARCH)

    assert (answer.context["rows"], "Looks for the letters" in answer.content.decode()) == ([], True)


def test_a_search_that_cannot_be_is_told(page):
    answer = page.get(SEARCH + "?q=%00&speaker=alien&label=x")

    assert (answer.status_code, set(answer.context["form"].errors)) == (422, {"q", "speaker", "label"})


def test_what_is_found_is_escaped_and_leads_to_its_place(page, study):
    chat = make_dialogue(["a <script>b</script>", "c"], study=study)

    body = page.get(SEARCH + "?q=script").content.decode()

    assert body.count("a &lt;script&gt;b&lt;/script&gt;") == 1
    assert body.count(f'href="/console/chats/{chat.pk}#message-1"') == 1


@pytest.mark.parametrize("count", [1, 3])
def test_a_search_asks_as_often_for_three_chats_as_for_one(page, study, django_assert_num_queries, count):
    for _ in range(count):
        make_labelled(study=study)
    page.get(SEARCH + "?q=a")

    with django_assert_num_queries(8):
        page.get(SEARCH + "?q=a")
