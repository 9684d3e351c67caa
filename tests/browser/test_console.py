"""The console in a real browser, against a real server."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import expect

from annotations.models import Dialogue, ReplyFailure, Study, Trial, User
from annotations.studies.services import invite
from tests.browser.conftest import DESKTOP, PHONE
from tests.factories import BotFactory, StudyFactory, make_dialogue, make_researcher, make_worker

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NASTY = "<img src=x onerror=alert(1)> \u202e and " + "x" * 300


def serious(page):
    violations = Axe().run(page).response["violations"]
    return [
        (v["id"], [n["target"] for n in v["nodes"]])
        for v in violations
        if v["impact"] in ("serious", "critical")
    ]


@pytest.fixture
def study(transactional_db):
    study = StudyFactory(
        slug="open", name="Open questions", open_signup=True, bot=BotFactory(slug="ada", name="Ada")
    )
    over = {"state": "partial", "end_reason": "left", "ended_at": timezone.now(), "comment": NASTY}
    for _ in range(2):
        chat = make_dialogue(["hello", NASTY, NASTY, "Yes?"], ["<50"], study=study, **over)
    make_dialogue(["ok"], study=study)
    ReplyFailure.objects.create(bot=chat.bot, dialogue=chat, number=2, attempt=1, error=NASTY)
    invite(study=study, role="worker")
    return study


def pages(study):
    chat = Dialogue.objects.filter(state="partial").first()
    base = f"/console/studies/{study.slug}/"
    worker = chat.worker_id
    ends = ("", "edit", "close", "chats", "chats?signal=any", "people", f"people/{worker}/block")
    general = ["/console/", "/console/new-study", "/console/bots/", "/console/bots/ada", "/console/new-bot"]
    return [*general, *(base + end for end in ends), f"/console/chats/{chat.pk}"]


@pytest.mark.parametrize(
    ("device", "scheme"),
    [(DESKTOP, "light"), (PHONE, "dark"), ({"viewport": {"width": 320, "height": 640}}, "light")],
)
def test_every_page_is_accessible_and_fits(open_context, study, device, scheme):
    page = open_context(make_researcher(study), color_scheme=scheme, **device).new_page()

    found = {}
    for url in pages(study):
        page.goto(url)
        sideways = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        found[url] = (serious(page), sideways, page.locator("h1").count())

    assert found == dict.fromkeys(found, ([], False, 1))


def test_closing_asks_with_the_count_and_the_safe_answer_first(open_context, study):
    page = open_context(make_researcher(study)).new_page()
    page.goto("/console/studies/open/")

    page.get_by_role("link", name="Close…").click()
    dialog = page.get_by_role("dialog", name="Close the study and end 1 open chat?")
    expect(dialog.get_by_role("link", name="Do not close")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("link", name="Close…")).to_be_focused()
    before = Study.objects.get().state
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Close the study, end 1 chat").click()
    expect(page.get_by_role("status")).to_have_text("The study is closed. Chats ended: 1.")

    assert (before, Study.objects.get().state, Dialogue.objects.filter(state="open").count()) == (
        "open",
        "closed",
        0,
    )


def test_closing_and_blocking_work_without_scripts(open_context, study):
    page = open_context(make_researcher(study), java_script_enabled=False).new_page()
    page.goto("/console/studies/open/people")
    worker = User.objects.get(dialogues__state="open")

    page.get_by_role("row", name=worker.username).get_by_role("link", name="Block…").click()
    page.get_by_label("Reason").fill("Pasted.")
    page.get_by_role("button", name="Block, end 1 chat").click()
    expect(page.get_by_role("status")).to_have_text(f"{worker.username} is blocked. Chats ended: 1.")
    page.goto("/console/studies/open/")
    page.get_by_role("link", name="Close…").click()
    page.get_by_role("button", name="Close the study").click()
    expect(page.get_by_role("status")).to_have_text("The study is closed.")

    worker.refresh_from_db()
    assert worker.blocked_reason == "Pasted."


def test_the_figures_follow_what_happens(open_context, study):
    context = open_context(make_researcher(study))
    page = context.new_page()
    page.clock.install()
    page.goto("/console/studies/open/")
    finished = page.locator(".stat", has_text="Chats finished").locator("dd").first
    expect(finished).to_have_text("2 of 50")

    Dialogue.objects.filter(state="open").update(state="partial", end_reason="left", ended_at=timezone.now())
    page.clock.run_for(11_000)

    expect(finished).to_have_text("3 of 50")


def test_keys_go_through_the_chats_and_to_the_search(open_context, study):
    page = open_context(make_researcher(study)).new_page()
    new, old = Dialogue.objects.filter(state="partial").order_by("-pk").values_list("pk", flat=True)
    page.goto("/console/studies/open/chats?state=partial")

    page.keyboard.press("/")
    expect(page.get_by_label("Worker")).to_be_focused()
    page.keyboard.type("jk")
    expect(page.get_by_label("Worker")).to_have_value("jk")
    heading = page.get_by_role("heading", level=1)
    page.get_by_role("link", name=f"Chat {new}").click()
    expect(heading).to_have_text(f"Chat {new}")
    for key, chat in (("j", old), ("k", new)):
        page.wait_for_load_state()
        page.keyboard.press(key)
        expect(heading).to_have_text(f"Chat {chat}")
    page.wait_for_load_state()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys of the console")).to_be_visible()


def test_keys_can_be_switched_off(open_context, study):
    page = open_context(make_researcher(study, single_keys=False)).new_page()
    chat = Dialogue.objects.filter(state="partial").order_by("-pk").first()
    page.goto(f"/console/chats/{chat.pk}")

    page.keyboard.press("j")
    page.wait_for_timeout(300)

    expect(page.get_by_role("heading", level=1)).to_have_text(f"Chat {chat.pk}")


def test_a_wrong_setting_keeps_what_was_typed_and_has_the_focus(open_context, study):
    page = open_context(make_researcher(study)).new_page()
    page.goto("/console/studies/open/edit")

    page.get_by_label("Name", exact=True).fill("Renamed")
    page.get_by_label("Utterances a chat").fill("13")
    page.get_by_role("button", name="Save the settings").click()

    expect(page.get_by_label("Utterances a chat")).to_be_focused()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Renamed")
    expect(page.locator(".problem")).to_have_text("Enter an even number from 2 to 40.")


def test_a_study_is_made_filled_and_opened(open_context, study):
    BotFactory(name="Eve")
    page = open_context(make_researcher(study)).new_page()
    page.goto("/console/")

    page.get_by_role("link", name="New study").click()
    page.get_by_label("Name", exact=True).fill("Second round")
    page.get_by_label("Short name").fill("second")
    page.get_by_role("button", name="Make the study").click()
    page.get_by_label("Bot", exact=True).select_option("Eve")
    page.get_by_role("button", name="Save the settings").click()
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("The study is open. Workers can start chats.")

    assert Study.objects.get(slug="second").study_bots.get().chats_wanted == 50


def test_a_slow_bots_reply_appears_by_itself(open_context, study):
    config = {"url": "http://127.0.0.1:9/v1/chat/completions", "model": "none"}
    bot = BotFactory(slug="slow", engine="http", config=config)
    page = open_context(make_researcher(study)).new_page()
    page.goto("/console/bots/slow")

    page.get_by_label("Your message").fill("Hello")
    page.get_by_role("button", name="Send to the bot").click()
    expect(page.locator("#trials")).to_contain_text("Waiting for the reply…")
    Trial.objects.filter(bot=bot).update(reply=NASTY, seconds=1.5)

    expect(page.locator("#trials .bubble").last).to_have_text(NASTY)


def test_a_link_is_copied(open_context, study):
    context = open_context(make_researcher(study))
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/console/studies/open/")

    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.evaluate("location.origin") + "/studies/open/join"


def test_the_admin_works_under_the_policy(open_context, study):
    admin = make_worker(study, is_staff=True, is_superuser=True)
    page = open_context(admin).new_page()
    chat = Dialogue.objects.first()

    titles = []
    for table in ("study", "dialogue", "user"):
        page.goto(f"/admin/annotations/{table}/")
        titles.append(page.locator("h1").last.inner_text())
    page.goto(f"/admin/annotations/dialogue/{chat.pk}/change/")

    assert titles == ["Select study to change", "Select dialogue to view", "Select user to change"]
    expect(page.locator("#utterances-group tbody tr.has_original").first).to_be_visible()
