"""A real server in a process of its own, and Debian's chromium looking at it."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.conf import settings

from tests.stack import database_url, free_port

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
RESULTS = Path(__file__).parents[2] / "test-results"
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
EXPECTED = re.compile(r"WebSocket connection|ERR_INTERNET_DISCONNECTED|status of 4\d\d|^htmx:")


@pytest.fixture(scope="session")
def live(django_db_setup):
    """The address of a running server that has the test database and the test's Redis."""
    port = free_port()
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": database_url()}
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "badcollect.asgi:application",
        "--port",
        str(port),
        "--log-level",
        "warning",
    ]
    with subprocess.Popen(command, cwd=settings.BASE_DIR, env=env) as server:
        address = f"http://localhost:{port}"
        for _ in range(150):
            try:
                urlopen(f"{address}/health", timeout=2).close()
                break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        yield address
        server.terminate()


@pytest.fixture(scope="module")
def browser():
    """Chromium. Closed with the module, since an open one keeps an event loop that other tests would meet."""
    if not CHROMIUM.exists():
        pytest.skip("There is no /usr/bin/chromium. Install it: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    # Playwright runs its loop in this very thread, where Django would refuse to touch the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield chromium
        chromium.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_context(browser, live, transactional_db, client):
    """Makes browser contexts, signed in as a user if one is given. None may complain in the console."""
    complaints = []
    contexts = []

    def note(message):
        if message.type == "error" and not EXPECTED.search(message.text):
            complaints.append(message.text)

    def watch(page):
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))

    def make(user=None, **options):
        context = browser.new_context(base_url=live, reduced_motion="reduce", **{**DESKTOP, **options})
        context.set_default_timeout(10_000)
        context.on("page", watch)
        if user:
            client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
            value = client.cookies[settings.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": live}])
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def shot():
    """Keeps how a page looks, light and dark, under test-results/."""
    RESULTS.mkdir(exist_ok=True)

    def take(page, name):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=RESULTS / f"{name}-{scheme}.png")
        page.emulate_media(color_scheme="light")

    return take
