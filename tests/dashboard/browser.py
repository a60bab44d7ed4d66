"""A real Chromium that looks at the dashboard. It notes every error on its console and every foreign request."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.http.serving import wait_until

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
PATIENCE_MS = 60_000


@dataclass
class Visit:
    """One page in the browser, and what went wrong on it."""

    page: Any
    troubles: list[str] = field(default_factory=list)

    def note(self, kind: str, text: str) -> None:
        self.troubles.append(f"{kind}: {text}")

    def text(self, selector: str = "main") -> str:
        return self.page.inner_text(selector)

    def wait_for(self, text: str, selector: str = "main") -> None:
        """Wait until a person reads it. Not by Playwright's own waiting, which our policy on scripts forbids."""
        wait_until(
            lambda: text in (self.page.text_content(selector) or ""),
            f"{text!r} in {self.page.inner_text('body')[:500]}",
        )


@contextmanager
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visit(browser: Any, url: str = "", *, is_refused: bool = False, **options: Any) -> Iterator[Visit]:
    """Open a page. At the end nothing may have gone wrong on it, but for a refusal that is expected."""
    context = browser.new_context(**{"viewport": {"width": 1_280, "height": 900}, **options})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    seen = Visit(page)
    page.on(
        "console", lambda one: seen.note("console", one.text) if one.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda one: seen.note("error", str(one)))
    page.on("request", lambda one: None if is_ours(one.url) else seen.note("foreign", one.url))
    page.on("dialog", lambda one: (seen.note("dialog", one.message), one.dismiss()))
    try:
        if url:
            page.goto(url)
        yield seen
        expected = [one for one in seen.troubles if is_refused and "401" in one]
        assert [one for one in seen.troubles if one not in expected] == []
    finally:
        context.close()


def is_ours(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "data:", "about:", "blob:"))
