"""From the invitation to the completion code, in a browser, with a real worker, a real Redis and a killed process."""

import pytest

from annotations.models import Dialogue, User
from annotations.studies import services as studies
from tests.bots.fake_server import FakeServer
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.steps import send, serious, shown
from tests.factories import BotFactory, StudyFactory
from tests.stack import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def study():
    with FakeServer(delay=0.5) as server:
        bot = BotFactory(engine="http", config={"style": "rest", "url": server.rest_url})
        yield StudyFactory(bot=bot, utterances=4, min_utterances=2, completion_code="7QK-42F")


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_from_the_invitation_to_the_completion_code(browser, stack, study, device):
    code = studies.invite(study=study, role="worker", uses=1).code
    context = browser.new_context(base_url=stack.url, **device)
    page = context.new_page()

    page.goto(f"/join/{code}")
    page.get_by_label("User name").fill("robin")
    page.get_by_label("Password", exact=True).fill("a long one with words")
    page.get_by_role("button", name="Join").click()
    page.get_by_role("button", name="Start the chat").click()
    send(page, "Do you like cats?")
    page.get_by_role("button", name="Nearly nobody").click()
    send(page, "And what of dogs?")
    stack.kill("bots")
    stack.start("bots")
    page.get_by_role("button", name="Under 10%").click(timeout=45_000)
    page.get_by_text("7QK-42F").wait_for(timeout=10_000)

    worker = User.objects.get(username="robin")
    dialogue = Dialogue.objects.get(worker=worker)
    assert shown(page) == [
        "Do you like cats?",
        "You said: Do you like cats?",
        "And what of dogs?",
        "You said: And what of dogs?",
    ]
    assert (dialogue.state, dialogue.unsafe, dialogue.utterances.count()) == ("complete", 1, 4)
    assert serious(page) == []
    context.close()


def test_the_page_comes_back_by_itself_after_the_web_process_was_killed(browser, stack, study):
    code = studies.invite(study=study, role="worker").code
    context = browser.new_context(base_url=stack.url)
    page = context.new_page()
    page.goto(f"/join/{code}")
    page.get_by_label("User name").fill("robin")
    page.get_by_label("Password", exact=True).fill("a long one with words")
    page.get_by_role("button", name="Join").click()
    page.get_by_role("button", name="Start the chat").click()
    page.wait_for_load_state("networkidle")

    stack.kill("web")
    send(page, "Is anybody there?")
    page.get_by_text("No connection. Your words are kept here.").wait_for()
    stack.start("web")

    page.get_by_text("You said: Is anybody there?").wait_for(timeout=45_000)
    wait_for(lambda: Dialogue.objects.get().said == 2, what="the reply")
    assert Dialogue.objects.get().utterances.filter(speaker="human").count() == 1
    context.close()


def test_the_rest_pages_scripts_run_under_the_policy(open_context):
    page = open_context().new_page()

    page.goto("/api/v1/docs")

    page.get_by_text("Start a chat, or come back to the open one").wait_for()
