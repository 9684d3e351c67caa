"""Verification in a browser: keys, thumbs, no script at all, lost lines, and the whole way to a merged label."""

import re

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import expect

from annotations.models import Assignment, Batch, Dialogue, Item, Merged, Plan, User, Vote
from annotations.studies import services as studies
from annotations.verification import batches, services
from tests.browser.conftest import PHONE
from tests.browser.steps import serious
from tests.factories import (
    BotFactory,
    StudyFactory,
    make_finished,
    make_gold,
    make_items,
    make_plan,
    make_verifier,
    make_vote,
    make_worker,
)
from tests.stack import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.browser]
SMALL = {**PHONE, "viewport": {"width": 320, "height": 568}}


def batch_of(count=4, **verifier):
    """A verifier with a batch of that many messages of one chat, which come in its order."""
    study = StudyFactory(slug="s")
    make_items(study, count)
    make_plan(study, batch_size=count)
    verifier = make_verifier(study, **verifier)
    return batches.take(verifier=verifier, slug="s")


def open_page(context, url="/verify/s"):
    page = context.new_page()
    page.goto(url)
    page.wait_for_load_state("networkidle")  # before its scripts are there, keys do nothing
    return page


def judged(page):
    """The text of the message to judge."""
    return page.locator("#judged p").last


def votes():
    """What was said of each message, in the chat's order."""
    rows = Vote.objects.order_by("item__utterance__number")
    return [(row.item.utterance.number, row.ok, row.attack) for row in rows]


# -- keys and thumbs -------------------------------------------------------------------------------------------


def test_a_batch_is_judged_with_keys_alone(open_context, shot):
    batch = batch_of(4)
    page = open_page(open_context(batch.verifier))
    shot(page, "verify")

    page.keyboard.press("1")
    expect(judged(page)).to_have_text("Message number 2")
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator("[data-slot=status]")).to_have_text("Saved as OK. Next message. Done: 1 of 4")
    page.keyboard.press("3")
    page.keyboard.press("5")
    page.keyboard.press("5")
    page.keyboard.press("n")
    page.keyboard.type("s1 u2")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(judged(page)).to_have_text("Message number 3")
    page.keyboard.press("u")
    expect(page.get_by_text("You said: not OK: personal attack.")).to_be_visible()
    shot(page, "verify-undo")
    page.keyboard.press("1")
    expect(page.get_by_text("Changed to OK").first).to_be_visible()
    page.keyboard.press("s")
    expect(judged(page)).to_have_text("Message number 4")
    page.keyboard.press("3")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="That was the last of this batch.")).to_be_visible()
    assert votes() == [(1, True, False), (2, True, False), (4, False, True)]
    assert Vote.objects.get(item__utterance__number=2).note == "s1 u2"


def test_the_keys_are_listed_and_do_nothing_where_they_are_off(open_context):
    batch = batch_of(2, single_keys=False)
    page = open_page(open_context(batch.verifier))

    for key in ("1", "s", "3", "Enter", "?"):
        page.keyboard.press(key)

    expect(page.locator("#keys")).to_be_hidden()
    expect(page.locator("kbd").first).to_be_hidden()
    assert page.locator(":checked").count() == 0
    assert Assignment.objects.filter(state="held").count() == 2


def test_enter_alone_says_nothing(open_context):
    batch = batch_of(2)
    page = open_page(open_context(batch.verifier))

    page.keyboard.press("Enter")

    expect(page.get_by_text("Tick what is wrong with it, then save.")).to_be_visible()
    assert Vote.objects.count() == 0


@pytest.mark.parametrize("device", [PHONE, SMALL], ids=["390", "320"])
def test_thumbs_do_the_same(open_context, shot, device):
    batch = batch_of(4)
    page = open_page(open_context(batch.verifier, **device))
    shot(page, f"verify-phone-{device['viewport']['width']}")

    page.get_by_role("button", name="Yes, it is OK").tap()
    expect(page.locator("#where")).to_have_text("2 of 4")
    page.get_by_text("Personal attack").tap()
    page.get_by_role("button", name="Save as not OK").tap()
    expect(judged(page)).to_have_text("Message number 3")
    page.get_by_role("button", name="I would rather skip this").tap()
    expect(judged(page)).to_have_text("Message number 4")

    assert page.evaluate("document.documentElement.scrollWidth") == device["viewport"]["width"]
    expect(judged(page)).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Save as not OK")).to_be_in_viewport(ratio=1)
    assert serious(page) == []
    page.get_by_role("button", name="Leave").tap()
    expect(page.get_by_role("heading", name="You have left")).to_be_visible()
    assert votes() == [(1, True, False), (2, False, True)]
    assert Assignment.objects.get(item__utterance__number=4).state == "returned"


def test_without_script_everything_goes_by_forms(open_context):
    batch = batch_of(4)
    page = open_context(batch.verifier, java_script_enabled=False).new_page()
    page.goto("/verify/s")

    page.get_by_role("button", name="Yes, it is OK").click()
    page.get_by_label("Personal attack").check()
    page.get_by_text("Note for the researchers").click()
    page.locator("textarea").fill("Hm")
    page.get_by_role("button", name="Save as not OK").click()
    page.get_by_role("link", name="Undo").click()
    page.get_by_role("button", name="Save as not OK").click()
    page.get_by_role("button", name="I would rather skip this").click()
    page.get_by_role("button", name="Save as not OK").click()
    expect(page.get_by_text("Say that the message is OK, or choose what is wrong with it")).to_be_visible()
    page.get_by_role("button", name="Leave").click()

    expect(page.get_by_text("Your two judgements are kept.")).to_be_visible()
    assert votes() == [(1, True, False), (2, False, True)]
    assert (Vote.objects.get(ok=False).note, Vote.objects.get(ok=False).changes) == ("Hm", 0)


def test_veiled_texts_are_with_nobody_until_asked_for(open_context, shot):
    batch = batch_of(2, veil=True)
    page = open_page(open_context(batch.verifier))
    page.keyboard.press("1")
    expect(page.locator("details.veil")).to_have_count(2)

    seen = page.locator("main").aria_snapshot()
    shot(page, "verify-veil")
    page.keyboard.press("b")
    expect(judged(page)).to_be_visible()
    page.keyboard.press("b")

    assert seen.count("Message number") == 0
    expect(judged(page)).to_be_hidden()
    assert serious(page) == []


# -- what goes wrong -------------------------------------------------------------------------------------------


def test_a_vote_that_could_not_be_sent_stays_and_is_sent_once_when_the_line_is_back(open_context, shot):
    batch = batch_of(4)
    context = open_context(batch.verifier)
    page = open_page(context)

    context.set_offline(True)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Not saved. Your judgement is kept here.")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Not saved. Your judgement is kept here.")).to_be_visible()
    shot(page, "verify-offline")
    ticked = page.get_by_label("Personal attack").is_checked()
    context.set_offline(False)
    expect(judged(page)).to_have_text("Message number 2")

    assert ticked is True
    expect(page.locator("[data-slot=unsaved]")).to_be_hidden()
    assert votes() == [(1, False, True)]


def test_two_quick_clicks_are_one_vote(open_context):
    batch = batch_of(4)
    page = open_page(open_context(batch.verifier))

    page.get_by_role("button", name="Yes, it is OK").dblclick()
    expect(page.locator("#where")).to_have_text("2 of 4")

    assert votes() == [(1, True, False)]


def test_two_tabs_agree(open_context):
    batch = batch_of(4)
    context = open_context(batch.verifier)
    one, two = open_page(context), open_page(context)

    one.keyboard.press("1")
    expect(judged(one)).to_have_text("Message number 2")
    two.keyboard.press("1")
    expect(judged(two)).to_have_text("Message number 2")
    two.keyboard.press("1")
    expect(judged(two)).to_have_text("Message number 3")
    one.get_by_role("button", name="Leave").click()
    expect(one.get_by_text("Your two judgements are kept.")).to_be_visible()

    assert votes() == [(1, True, False), (2, True, False)]


def test_a_batch_that_ran_out_is_told_in_plain_words(open_context, shot):
    batch = batch_of(4)
    page = open_page(open_context(batch.verifier))
    page.keyboard.press("1")
    expect(judged(page)).to_have_text("Message number 2")
    Batch.objects.update(leased_until=timezone.now())
    batches.expire()
    Item.objects.filter(utterance__number=2).update(free=0)

    page.keyboard.press("1")

    expect(page.get_by_role("heading", name="Your batch ran out")).to_be_visible()
    expect(page.get_by_text("others have judged it since")).to_be_visible()
    expect(page.get_by_text("Your one judgement is kept.")).to_be_visible()
    shot(page, "verify-ran-out")
    assert votes() == [(1, True, False)]


def test_a_page_in_use_keeps_its_batch(open_context):
    batch = batch_of(4)
    page = open_context(batch.verifier).new_page()
    page.clock.install()
    page.goto("/verify/s")
    page.wait_for_load_state("networkidle")
    soon = timezone.now()
    Batch.objects.update(leased_until=soon)

    page.keyboard.press("Tab")
    with page.expect_response("**/verify/s/renew") as answer:
        page.clock.run_for(5 * 60_000)

    assert answer.value.status == 204
    assert Batch.objects.get().leased_until > soon


def test_who_is_signed_out_is_told_so(open_context, shot):
    batch = batch_of(4)
    page = open_page(open_context(batch.verifier))
    Session.objects.all().delete()

    page.keyboard.press("1")

    expect(page.get_by_text("You are signed out. This judgement is not saved.")).to_be_visible()
    expect(judged(page)).to_have_text("Message number 1")
    assert Vote.objects.count() == 0


def test_a_binding_break_takes_the_page_and_gives_it_back(open_context, shot):
    batch = batch_of(4)
    Plan.objects.update(soft_limit=1, break_binding=True)
    page = open_page(open_context(batch.verifier))
    page.keyboard.press("3")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Time for a break")).to_be_visible()
    expect(page.get_by_text("That is in 10 minutes.")).to_be_visible()
    shot(page, "verify-break")
    assert serious(page) == []
    assert page.content().count("Message number") == 0


# -- the whole way ---------------------------------------------------------------------------------------------


@pytest.fixture
def study():
    """A study with a test of one question and two finished chats that nobody has opened for verification yet."""
    bot = BotFactory(name="Blenderbot", slug="blender")
    study = StudyFactory(slug="s", bot=bot)
    worker = make_worker(study, username="first-worker")
    for chat in ("red", "blue"):
        texts = [f"The {chat} message {number}." for number in (1, 2, 3, 4)]
        persona = ["i like green tea."]
        make_finished(texts, [">=50", "<10"], study=study, worker=worker, bot=bot, persona=persona)
    make_plan(study, test=True, pass_mark=1.0, batch_size=8)
    make_gold(study, ok=False, kind="test", text="Get lost.", why="It sends somebody away.")
    return study


def read(page):
    """What the page holds of the chats: the chat and the number of the message to judge. Checks what it must not."""
    html = page.content()
    chat, number = re.fullmatch(r"The (\w+) message (\d)\.", judged(page).text_content()).groups()
    held = sorted(set(re.findall(r"The (\w+) message (\d)\.", html)))
    assert held == [(chat, str(earlier)) for earlier in range(1, int(number) + 1)]
    assert (
        re.findall(r"Blenderbot|blender|first-worker|green tea|&gt;=50|&lt;10|over 50|under 10", html) == []
    )
    return chat, int(number)


def test_from_the_invitation_to_merged_labels_though_the_web_process_is_killed(browser, stack, study):
    for _ in range(2):
        services.open_finished()
    for _ in range(2):
        other = batches.take(verifier=_passed(study), slug="s")
        for _ in range(8):
            make_vote(other, ok=False)
    code = studies.invite(study=study, role="verifier", uses=1).code
    context = browser.new_context(base_url=stack.url)
    page = context.new_page()

    page.goto(f"/join/{code}")
    page.get_by_label("User name").fill("robin")
    page.get_by_label("Password", exact=True).fill("a long one with words")
    page.get_by_role("button", name="Join").click()
    page.get_by_role("button", name="Verify messages of").click()
    page.get_by_role("button", name="I agree, go on").click()
    page.get_by_role("button", name="Start the test").click()
    page.get_by_label("Personal attack").check()
    page.get_by_role("button", name="Save as not OK").click()
    expect(page.get_by_text("It sends somebody away.")).to_be_visible()
    page.get_by_role("link", name="How it went").click()
    page.get_by_role("button", name="Verify 8 messages").click()
    page.wait_for_load_state("networkidle")
    seen = []
    for number in range(8):
        expect(page.locator("#where")).to_have_text(f"{number + 1} of 8")
        seen.append(read(page))
        if number == 3:
            stack.kill("web")
        page.keyboard.press("3")
        page.keyboard.press("Enter")
        if number == 3:
            page.get_by_text("Not saved. Your judgement is kept here.").wait_for()
            stack.start("web")
            page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="That was the last of this batch.").wait_for()

    robin = User.objects.get(username="robin")
    assert sorted(seen) == [(chat, number) for chat in ("blue", "red") for number in (1, 2, 3, 4)]
    assert Vote.objects.filter(verifier=robin, ok=False, attack=True).count() == 8
    merged = Merged.objects.filter(rule="majority_verifiers")
    wait_for(lambda: merged.count() == 8, what="the merged labels")
    assert set(merged.values_list("label", "ok_votes", "notok_votes", "attack")) == {("notok", 0, 3, True)}
    assert serious(page) == []
    context.close()


def _passed(study):
    """A verifier who has passed the study's test."""
    verifier = make_verifier(study)
    study.standings.create(verifier=verifier, passed_at=timezone.now())
    return verifier


def test_the_real_workers_open_what_a_finished_chat_holds(stack, study):
    wait_for(lambda: Item.objects.filter(kind="utterance").count() == 8, what="the items")

    assert Dialogue.objects.filter(items_at=None).count() == 0
