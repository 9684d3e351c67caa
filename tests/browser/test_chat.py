"""Whole chats in a real browser, against a real server, with what may come between."""

import re

import pytest
from playwright.sync_api import expect

from annotations.chats import services
from annotations.models import Dialogue, Label
from tests.browser.conftest import PHONE
from tests.browser.steps import send, serious, shown, texts
from tests.factories import PASSWORD, StudyFactory, UserFactory, make_dialogue, make_worker

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MESSAGES = [
    f"Tell me about street {word}" for word in ("one", "two", "three", "four", "five", "six", "seven")
]


def test_a_whole_chat_by_keyboard(open_context, shot):
    study = StudyFactory(completion_code="7QK-42F", open_signup=True)
    UserFactory(username="robin")
    page = open_context().new_page()

    page.goto(f"/studies/{study.slug}/join")
    shot(page, "join")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("User name").fill("robin")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(re.compile("do not go together"))
    shot(page, "login")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Join as a worker").press("Enter")
    expect(page.get_by_role("heading", name="What you do")).to_be_visible()
    shot(page, "study")
    page.get_by_role("button", name="Start the chat").press("Enter")
    expect(page.get_by_text("You write first.")).to_be_visible()
    shot(page, "chat-first")
    for _ in range(20):
        if page.evaluate("document.activeElement.id") == "say":
            break
        page.keyboard.press("Tab")
    for number, message in enumerate(MESSAGES, 1):
        page.keyboard.type(message)
        page.keyboard.press("Enter")
        expect(page.locator(f"[data-number='{2 * number}'].now")).to_be_visible()
        if number == 3:
            shot(page, "chat-label")
        page.keyboard.press(str((number - 1) % 4 + 1))
        if number < len(MESSAGES):
            expect(page.locator("#say")).to_be_focused()
        if number == 3:
            shot(page, "chat-labelled")
    expect(page.get_by_text("Your code is")).to_be_visible()
    page.wait_for_timeout(300)
    shot(page, "chat-end")

    dialogue = Dialogue.objects.get(worker__username="robin")
    assert (dialogue.state, dialogue.said, dialogue.labelled) == ("complete", 14, 7)
    assert texts(dialogue) == MESSAGES
    bins = Label.objects.filter(utterance__dialogue=dialogue).order_by("utterance__number")
    assert list(bins.values_list("bin", flat=True)) == ["0", "<10", "<50", ">=50", "0", "<10", "<50"]
    assert serious(page) == []


def test_a_chat_on_a_phone_by_taps(open_context, shot):
    study = StudyFactory(utterances=4, min_utterances=2, completion_code="7QK-42F")
    worker = make_worker(study)
    page = open_context(worker, **PHONE).new_page()

    page.goto("/")
    shot(page, "phone-home")
    page.get_by_role("button", name="Start a chat").tap()
    page.get_by_role("button", name="Task").tap()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    shot(page, "phone-task")
    page.get_by_role("button", name="Back to the chat").tap()
    for number in (1, 2):
        page.locator("#say").fill(f"Message {number} about the people on my new street")
        page.get_by_role("button", name="Send").tap()
        expect(page.locator(f"[data-number='{2 * number}'].now")).to_be_visible()
        shot(page, f"phone-label-{number}")
        page.get_by_role("button", name="Under 10%").tap()
        if number == 1:
            page.get_by_role("button", name="Change").tap()
            page.get_by_role("button", name="More than half").tap()
            expect(page.locator("#say")).to_be_enabled()
            expect(page.get_by_text("You said: more than half")).to_be_visible()
            shot(page, "phone-labelled")
    expect(page.get_by_text("Your code is")).to_be_visible()
    page.wait_for_timeout(300)
    shot(page, "phone-end")

    dialogue = Dialogue.objects.get(worker=worker)
    assert (dialogue.state, dialogue.unsafe) == ("complete", 2)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert serious(page) == []


def test_what_was_typed_survives_a_reload_and_leaving(open_context):
    dialogue = make_dialogue()
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")

    page.locator("#say").fill("Half a thought")
    page.reload()
    expect(page.locator("#say")).to_have_value("Half a thought")
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_text("You have left the chat.")).to_be_visible()
    page.get_by_role("link", name="Go back to it").click()

    expect(page.locator("#say")).to_have_value("Half a thought")


def test_a_message_whose_answer_was_lost_is_stored_once(open_context):
    dialogue = make_dialogue()
    services.say(
        worker_id=dialogue.worker_id, dialogue_id=dialogue.pk, client_id="lost-1", text="Do you like cats?"
    )
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")
    key = f"badcollect:{dialogue.worker_id}:{dialogue.pk}:pending"
    page.evaluate(
        "([key, value]) => localStorage.setItem(key, value)",
        [key, '{"id":"lost-1","text":"Do you like cats?"}'],
    )

    page.reload()
    expect(page.locator(".turn.sending")).to_have_count(0)

    assert shown(page) == ["Do you like cats?", *texts(dialogue, "bot")]
    assert texts(dialogue) == ["Do you like cats?"]
    assert page.evaluate("key => localStorage.getItem(key)", key) is None


def test_a_second_tab_sees_everything(open_context):
    dialogue = make_dialogue()
    context = open_context(dialogue.worker)
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(f"/chats/{dialogue.pk}")

    send(first, "Do you like cats?")
    expect(second.locator(".turn.now")).to_be_visible()
    second.get_by_role("button", name="10\u201350%").click()
    expect(first.get_by_text("You said: 10\u201350%")).to_be_visible()
    send(second, "And dogs?")
    expect(first.locator("[data-number='4'].now")).to_be_visible()
    send_refused = first.get_by_role("button", name="Send")

    assert shown(first) == shown(second)
    assert len(shown(first)) == 4
    expect(send_refused).to_be_disabled()


def test_two_tabs_write_at_once_and_one_gets_its_words_back(open_context):
    dialogue = make_dialogue()
    context = open_context(dialogue.worker)
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(f"/chats/{dialogue.pk}")
        page.locator("#say").fill(f"From tab {1 if page is first else 2}")

    first.locator("#say").evaluate("box => box.form.requestSubmit()")
    second.locator("#say").evaluate("box => box.form.requestSubmit()")
    expect(first.locator(".turn.now")).to_be_visible()
    expect(second.locator(".turn.now")).to_be_visible()
    expect(second.locator(".turn.sending")).to_have_count(0)

    assert len(texts(dialogue)) == 1
    assert shown(first) == shown(second)
    lost = {"From tab 1", "From tab 2"} - set(texts(dialogue))
    assert {first.locator("#say").input_value(), second.locator("#say").input_value()} == {"", *lost}


def test_offline_and_back_sends_once(open_context, shot):
    dialogue = make_dialogue(["Do you like cats?", "Sometimes."], ["0"])
    context = open_context(dialogue.worker)
    page = context.new_page()
    blocked = []
    sockets = []

    def gate(ws):
        if blocked:
            ws.close()
            return
        sockets.append(ws)
        ws.connect_to_server()

    page.route_web_socket(re.compile("/ws/chats/"), gate)
    page.goto(f"/chats/{dialogue.pk}")
    page.wait_for_timeout(300)

    blocked.append(True)
    context.set_offline(True)
    for ws in sockets:
        ws.close()
    send(page, "And dogs?")
    expect(page.get_by_text("No connection. Your words are kept here.")).to_be_visible()
    expect(page.get_by_text("Sending…")).to_be_visible()
    shot(page, "chat-offline")
    assert texts(dialogue) == ["Do you like cats?"]
    blocked.clear()
    context.set_offline(False)

    expect(page.locator("[data-number='4'].now")).to_be_visible()
    expect(page.locator("[data-slot=offline]")).to_be_hidden()
    assert texts(dialogue) == ["Do you like cats?", "And dogs?"]
    assert shown(page) == ["Do you like cats?", "Sometimes.", "And dogs?", texts(dialogue, "bot")[1]]


def test_a_signed_out_page_says_so_and_keeps_the_words(open_context, shot):
    dialogue = make_dialogue()
    context = open_context(dialogue.worker)
    page = context.new_page()
    sockets = []
    page.route_web_socket(re.compile("/ws/chats/"), lambda ws: sockets.append(ws) or ws.connect_to_server())
    page.goto(f"/chats/{dialogue.pk}")
    page.locator("#say").fill("Half a thought")

    context.clear_cookies()
    sockets[0].close()
    expect(page.get_by_text("You are signed out. Your words are kept here.")).to_be_visible()
    shot(page, "chat-signed-out")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("User name").fill(dialogue.worker.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")

    expect(page.locator("#say")).to_have_value("Half a thought")
