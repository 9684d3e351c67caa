# ruff: noqa: INP001 a script, in a folder that is no package
"""Makes docs/screenshot.png from a running badcollect: the demo's worker signs in, chats and is photographed.

    .venv/bin/python docs/screenshot.py [http://127.0.0.1:8000]

Needs `make test`'s packages and Debian's chromium. The worker's open chat, if there is one, is gone on with.
"""

import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SAID = (
    "I think people should only talk to neighbours who are like them.",
    "You sound just like my brother when he talks about our new neighbours.",
    "Why do you never say what you think of them yourself?",
)


def sign_in(page: Page, address: str) -> None:
    page.goto(f"{address}/login")
    page.fill("[name=username]", "worker")
    page.fill("[name=password]", (ROOT / "var" / "demo_password").read_text().strip())
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "login" not in url)


def chat(page: Page, address: str) -> None:
    """Leaves the chat with two replies labelled and the third waiting for its label."""
    page.goto(f"{address}/studies/demo/")
    page.locator("main form button.primary, main a.primary").first.click()
    page.wait_for_selector("body.app")
    for text, level in zip(SAID, (0, 1, None), strict=True):
        page.wait_for_selector("#say:not([disabled])")
        page.fill("#say", text)
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("[data-form=label]:not([hidden])")
        if level is not None:
            page.click(f".bin[data-level='{level}']")


def main() -> None:
    address = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        sign_in(page, address)
        chat(page, address)
        page.mouse.move(0, 0)
        page.wait_for_timeout(500)
        page.screenshot(path=ROOT / "docs" / "screenshot.png")
        browser.close()


if __name__ == "__main__":
    main()
