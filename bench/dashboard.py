"""The bars on the dashboard: how long a page takes with 100,000 records, and when a call is seen.

`python -m bench dashboard` (needs Debian's chromium: a real browser waits).
"""

import json
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.report import Row
from bench.telemetry import fill
from tests.dashboard.browser import chromium, visit
from tests.dashboard.test_pages import called
from tests.http.serving import DEMO, serve

RECORDS = 100_000
MOST_PAGE_SECONDS = 1.0
MOST_SEEN_SECONDS = 2.0
LOOKS = 7
PAGES = ("", "?since=all", "?since=7d&tool=tool_7", "?since=all&outcome=page", "/system")


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        file = Path(folder) / "records.db"
        fill(file, RECORDS)
        config = Path(folder) / "brimgate.yaml"
        upstream = {"command": DEMO[0], "args": DEMO[1:]}
        config.write_text(json.dumps({"upstreams": {"demo": upstream}, "telemetry": {"file": str(file)}}))
        with serve("--config", str(config), command=()) as serving:
            url = f"http://127.0.0.1:{serving.port}/dashboard"
            found = [_page(browser, url, page) for page in PAGES]
            called(serving, ("list_bookings", {}))
            return [*found, _seen(browser, url, serving)]


def _page(browser: object, url: str, page: str) -> Row:
    """From asking for a page to its `load` event, in a browser that has its files."""
    with visit(browser, url + page) as seen:
        took: list[float] = []
        for _ in range(LOOKS):
            began = time.perf_counter()
            seen.page.goto(url + page)
            took.append(time.perf_counter() - began)
    what = f"`/dashboard{page}` with {RECORDS:,} records, until it is loaded".replace("|", "\\|")
    found = median(took)
    return Row(what, f"≤ {MOST_PAGE_SECONDS:g} s", f"{found:.2f} s", found <= MOST_PAGE_SECONDS)


def _seen(browser: object, url: str, serving: object) -> Row:
    """From the moment a client has its answer to the moment a person sees it on the page."""
    took: list[float] = []
    with visit(browser, f"{url}?since=1h") as seen:
        seen.wait_for("live", "#live-state")
        for at in range(LOOKS):
            tool = ("get_booking", "read_document")[at % 2]
            called(serving, (tool, {}))  # type: ignore[arg-type]
            began = time.perf_counter()
            first = 'section[aria-labelledby="latest"] tbody tr:first-child'
            while tool not in seen.page.inner_text(first):
                assert time.perf_counter() - began < 30
                seen.page.evaluate("new Promise(requestAnimationFrame)")
            took.append(time.perf_counter() - began)
    found = max(took)
    return Row(
        f"a call is seen on the page, the slowest of {LOOKS}",
        f"≤ {MOST_SEEN_SECONDS:g} s",
        f"{found:.2f} s",
        found <= MOST_SEEN_SECONDS,
    )
