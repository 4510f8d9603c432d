"""The report in a real browser: `make test_page`. Skipped where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Script
from contextkit.base import ledger
from contextkit.base.layout import Layout
from test_search import finding

sync_api: Any = pytest.importorskip("playwright.sync_api", reason="run by `make test_page`")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), "")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")

WIDTHS = (360, 1024, 1920)
_SHAPES = (
    "<script>{}</script>", "<img src=x onerror={}>", "</script><script>{}</script>",
    "<svg onload={}>",
    "\"><script>{}</script>", "';{};//", "javascript:{}", "<iframe srcdoc='<script>{}</script>'>",
    "<a href=\"javascript:{}\">x</a>", "<body onload={}>", "<!--<script>{}</script>-->",
    "<style>@import 'http://example.org/x'</style>{}", "<link rel=stylesheet href=//example.org>{}",
    "<meta http-equiv=refresh content='0;url=http://example.org'>{}", "${{{}}}", "{{{{{}}}}}",
    "<object data='data:text/html,<script>{}</script>'>", "<math><mi xlink:href='javascript:{}'>",
    "<input autofocus onfocus={}>", "<details open ontoggle={}>",
)  # fmt: skip
_CALLS = ("window.evil=1", "alert(1)", "fetch('http://example.org')", "document.title='evil'",
          "new Image().src='http://example.org'")  # fmt: skip
PAYLOADS = [shape.format(call) for shape in _SHAPES for call in _CALLS]


@pytest.fixture
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


class Opened:
    """The page in a browser, and what it said and asked for."""

    def __init__(self, browser: Any, width: int) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 900})
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self.refuse)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"file://{Path('.contextkit/report.html').absolute()}")

    def refuse(self, dialog: Any) -> None:
        self.said.append(dialog.message)
        dialog.dismiss()


@pytest.fixture
def stored(repo: Path, run: Script) -> None:
    """A little of everything, with a hundred hostile texts in its fields."""
    assert len(PAYLOADS) >= 100
    layout = Layout()
    for number, text in enumerate(PAYLOADS):
        finding(f"a{number}_20251001T000000", f"# {text}\n")
        ref = f"finding:a{number}_20251001T000000"
        ledger.note(layout, "stored", ref, tokens=100, session=text, agent=text, to=text)
    for text in PAYLOADS[:20]:
        run("remember_later", f"--message={text}")
        run("handoff", "write", "--from=a", "--to=b", "--no-story", f"--next-action={text}")
        run("verdict", "write", "--agent=a", "--status=FAILED", f"--summary={text}")
    finding("plain_20251002T000000", "# A plain one\n")
    assert run("context", "report") == 0


@pytest.mark.usefixtures("stored")
def test_hostile_texts_run_nothing(browser: Any) -> None:
    opened = Opened(browser, 1024)
    opened.page.fill("#find", "<script>")
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith("file:")] == []
    assert len(opened.asked) == 1
    assert opened.page.evaluate("window.evil === undefined")
    assert opened.page.title() == "contextkit: what was carried"
    assert opened.page.locator("main script, main img, main iframe, main object").count() == 0
    assert "<script>alert(1)</script>" in opened.page.inner_text("main")


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(browser: Any, width: int) -> None:
    opened = Opened(browser, width)
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    picture = opened.page.screenshot(full_page=True)
    assert len(picture) > 10_000  # something is drawn


@pytest.mark.usefixtures("stored")
def test_filters_and_links_work(browser: Any) -> None:
    page = Opened(browser, 1024).page
    page.fill("#find", "plain one")
    assert page.inner_text("[role=status]").startswith("1 of ")
    assert page.locator("#documents ~ div table tbody tr").count() == 1
    page.fill("#find", "")
    page.select_option("#kind", "reminder")
    assert page.inner_text("[role=status]").startswith("20 of ")
    page.select_option("#kind", "")
    for link in page.locator("nav a").all():
        link.click()
        assert page.locator(str(link.get_attribute("href"))).is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement !== document.body")


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1024])
def test_it_can_be_read_by_everybody(browser: Any, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    # The policy lets nothing in: axe-core comes as the browser's own tool would, past it.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme,
                                  viewport={"width": width, "height": 900})  # fmt: skip
    page = context.new_page()
    page.goto(f"file://{Path('.contextkit/report.html').absolute()}")
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    found = axe.Axe().run(page, options={"runOnly": {"type": "tag", "values": rules}})
    assert found.violations_count == 0, found.generate_report()


def test_a_page_of_nothing_is_a_page(repo: Path, run: Script, browser: Any) -> None:
    assert run("context", "report") == 0
    opened = Opened(browser, 1024)
    assert opened.said == []
    assert "Nothing is open." in opened.page.inner_text("main")
    assert os.path.getsize(".contextkit/report.html") < 60_000
