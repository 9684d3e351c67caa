"""Every state of the chat page, one at a time."""

import json
import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotations.chats import answering
from annotations.models import Label, Utterance
from bots.errors import EngineError
from tests.browser.steps import answer, send, shown, slow_chat, texts
from tests.factories import make_dialogue

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_message_that_the_server_could_not_take_can_be_tried_again(open_context, shot):
    dialogue = make_dialogue()
    page = open_context(dialogue.worker).new_page()
    broken = [True, True]

    def gate(ws):
        server = ws.connect_to_server()

        def pass_on(message):
            frame = json.loads(message)
            if frame["do"] == "say" and broken:
                broken.pop()
                ws.send(
                    json.dumps({"re": frame["id"], "error": "server_error", "detail": "Something broke."})
                )
            else:
                server.send(message)

        ws.on_message(pass_on)

    page.route_web_socket(re.compile("/ws/chats/"), gate)
    page.goto(f"/chats/{dialogue.pk}")

    send(page, "Do you like cats?")
    expect(page.locator(".turn.failed .meta")).to_have_text(re.compile("Not sent. *Try again *Edit"))
    shot(page, "chat-failed")
    page.get_by_role("button", name="Edit").click()
    expect(page.locator("#say")).to_have_value("Do you like cats?")
    send(page, "Do you like cats a lot?")
    page.get_by_role("button", name="Try again").click()

    expect(page.locator(".turn.now")).to_be_visible()
    assert texts(dialogue) == ["Do you like cats a lot?"]
    expect(page.locator(".turn")).to_have_count(2)


def test_a_slow_bot_types_then_still_works_then_can_be_asked_again(open_context, shot):
    dialogue = slow_chat()
    page = open_context(dialogue.worker).new_page()
    page.clock.install()
    page.goto(f"/chats/{dialogue.pk}")

    send(page, "Do you like cats?")
    expect(page.locator(".turn:has(.typing) .meta")).to_have_text("The bot is typing")
    shot(page, "chat-typing")
    page.locator("#say").fill("My next thought")
    page.clock.run_for(10_000)
    expect(page.get_by_text(re.compile(r"Still working, \d+ seconds so far"))).to_be_visible()
    page.clock.run_for(12_000)
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text(re.compile("Asked again"))).to_be_visible()
    shot(page, "chat-still-working")
    answer(dialogue, "Very much.")
    page.clock.run_for(2_000)

    expect(page.locator("[data-number='2'].now")).to_have_text(re.compile("Very much"))
    assert shown(page) == ["Do you like cats?", "Very much."]
    assert page.locator("#say").input_value() == "My next thought"


def test_a_bot_that_fails_is_said_to_and_can_be_asked_again(open_context, shot):
    dialogue = slow_chat()
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")
    send(page, "Do you like cats?")
    expect(page.locator(".typing")).to_be_visible()

    answering.fail(dialogue_id=dialogue.pk, number=1, error=EngineError("No.", retry=False))
    expect(page.get_by_text("The bot did not answer. Nothing is lost.")).to_be_visible()
    shot(page, "chat-stalled")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".typing")).to_be_visible()
    answer(dialogue, "Very much.")

    expect(page.locator("[data-number='2'].now")).to_be_visible()


def test_the_chats_ahead_are_told(open_context, shot):
    dialogue = slow_chat()
    dialogue.bot.config |= {"max_in_flight": 1}
    dialogue.bot.save()
    for _ in range(3):
        make_dialogue(["Hello there"], study=dialogue.study, bot=dialogue.bot, asked_at=timezone.now())
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")

    send(page, "Do you like cats?")

    expect(page.locator("[data-slot=ahead-words]")).to_have_text("Three chats are ahead of yours.")
    shot(page, "chat-ahead")


def test_a_veiled_reply_is_with_nobody_until_asked_for(open_context, shot):
    dialogue = make_dialogue()
    dialogue.worker.veil = True
    dialogue.worker.save()
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")

    send(page, "Do you like cats?")
    expect(page.get_by_text("Show message")).to_be_visible()
    shot(page, "chat-veil")
    hidden = page.locator(".turn.now .text").is_visible()
    page.keyboard.press("b")
    expect(page.locator(".turn.now .text")).to_be_visible()
    page.keyboard.press("b")

    assert hidden is False
    expect(page.locator(".turn.now .text")).to_be_hidden()


def test_single_keys_can_be_off(open_context):
    dialogue = make_dialogue(["Do you like cats?", "Sometimes."])
    dialogue.worker.single_keys = False
    dialogue.worker.save()
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")
    expect(page.locator(".turn.now")).to_be_visible()

    page.keyboard.press("2")
    page.keyboard.press("?")
    page.wait_for_timeout(300)

    assert Label.objects.count() == 0
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_digit_typed_on_while_the_reply_comes_is_no_label(open_context):
    dialogue = slow_chat()
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")
    send(page, "Do you like cats?")
    expect(page.locator(".typing")).to_be_visible()

    page.keyboard.type("I have ")
    answer(dialogue, "Very much.")
    expect(page.locator(".turn.now")).to_be_visible()
    page.keyboard.type("4 cats", delay=20)
    page.wait_for_timeout(200)

    assert Label.objects.count() == 0


def test_the_question_mark_lists_the_keys(open_context):
    dialogue = make_dialogue(["Do you like cats?", "Sometimes."])
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")
    expect(page.locator(".turn.now")).to_be_visible()

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys of this page")).to_be_visible()
    page.keyboard.press("2")
    page.keyboard.press("Escape")

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert Label.objects.count() == 0


def test_too_long_a_message_stays_in_the_box(open_context):
    dialogue = make_dialogue()
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")

    page.locator("#say").fill("a" * 1800)
    expect(page.locator("[data-slot=count]")).to_have_text("1,800 of 2,000 characters")
    send(page, "a" * 2004)

    expect(page.locator("#say-problem")).to_have_text("4 characters too many. Shorten the message to 2,000.")
    expect(page.locator("#say")).to_have_value("a" * 2004)
    assert Utterance.objects.count() == 0


def test_hostile_texts_are_shown_as_texts(open_context):
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script> \u202egnp.exe"
    dialogue = slow_chat()
    page = open_context(dialogue.worker).new_page()
    page.goto(f"/chats/{dialogue.pk}")

    send(page, hostile)
    expect(page.locator("[data-number='1']")).to_be_visible()
    answer(dialogue, hostile)
    expect(page.locator("[data-number='2']")).to_be_visible()

    assert page.locator("[data-slot=log] img, [data-slot=log] script").count() == 0
    assert page.locator("[data-number='2'] .text").text_content() == hostile
