"""Steps and looks that the tests in a browser share."""

from axe_playwright_python.sync_playwright import Axe

from annotations.chats import answering
from bots.replies import Reply
from tests.factories import BotFactory, make_dialogue


def texts(dialogue, speaker="human"):
    return list(dialogue.utterances.filter(speaker=speaker).order_by("number").values_list("text", flat=True))


def slow_chat(**values):
    """A chat with a bot that answers when the test says so."""
    bot = BotFactory(engine="http", config={"url": "http://127.0.0.1:9/v1/chat/completions", "model": "none"})
    return make_dialogue(bot=bot, **values)


def answer(dialogue, text):
    dialogue.refresh_from_db()
    reply = Reply(text=text, engine="http", seconds=1.0, settings={})
    assert answering.settle(dialogue_id=dialogue.pk, number=dialogue.said, reply=reply)


def serious(page):
    violations = Axe().run(page).response["violations"]
    return [
        (v["id"], [n["target"] for n in v["nodes"]])
        for v in violations
        if v["impact"] in ("serious", "critical")
    ]


def shown(page):
    """The texts of the conversation as they stand on the page."""
    return page.locator("[data-slot=log] .turn .text").all_inner_texts()


def send(page, text):
    page.wait_for_load_state("networkidle")  # before its scripts are there, Enter is a line break
    page.locator("#say:enabled").fill(text)
    page.keyboard.press("Enter")
