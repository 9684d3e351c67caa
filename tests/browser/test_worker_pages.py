"""The pages of a worker at three widths."""

import pytest

from annotations.chats import services
from tests.browser.conftest import PHONE
from tests.browser.steps import serious
from tests.factories import StudyFactory, make_dialogue, make_worker

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NARROW = {**PHONE, "viewport": {"width": 320, "height": 640}}


@pytest.mark.parametrize("options", [{}, PHONE, NARROW], ids=["desktop", "phone", "narrow"])
def test_axe_finds_nothing_serious_and_nothing_scrolls_sideways(open_context, shot, options, request):
    where = request.node.callspec.id
    study = StudyFactory(completion_code="7QK-42F")
    worker = make_worker(study)
    done = make_dialogue([f"Text {n}" for n in range(14)], ["0"] * 7, study=study, worker=worker)
    services.close(dialogue_id=done.pk, reason="idle")
    left = make_dialogue(["Do you like cats?", "Sometimes."], study=study, worker=worker)
    services.leave(worker_id=worker.pk, dialogue_id=left.pk)
    context = open_context(worker, **options)
    page = context.new_page()
    paths = {
        "start": "/",
        "study": f"/studies/{study.slug}/",
        "account": "/account",
        "support": f"/support?study={study.slug}",
        "chats": "/chats",
        "chat": f"/chats/{left.pk}",
        "chat-closed": f"/chats/{done.pk}",
        "error": "/chats/0",
    }
    found = {}

    for name, path in paths.items():
        page.goto(path)
        shot(page, f"{where}-{name}")
        found[name] = (serious(page), page.evaluate("document.documentElement.scrollWidth"))

    width = page.viewport_size["width"]
    assert found == dict.fromkeys(paths, ([], width))
