"""Take the pictures of the docs: `python -m tools.screenshots` (needs Debian's chromium). It writes docs/images.

A gateway with the demo server is called as an agent would, after a day of made-up calls of a team, and a real browser
looks at its dashboard.
"""

import random
import sys
import tempfile
import time
from math import pi, sin
from pathlib import Path

from brimgate.watch.record import Record
from tests.dashboard.browser import chromium, visit
from tests.dashboard.test_pages import called, gate, keep

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
CALLS = (
    ("list_bookings", {"limit": 499}),
    ("read_log", {"name": "app"}),
    ("get_booking", {"id": 5400000}),
    ("search_knowledge", {"query": "deposits"}),
    ("read_document", {}),
    ("fail", {}),
)
TOOLS = {
    ("bookings", "list_reservations"): (40_000, 0.6, 3.0),
    ("bookings", "get_listing"): (1_800, 0.5, 4.0),
    ("github", "list_issues"): (22_000, 0.7, 2.0),
    ("github", "get_file_contents"): (5_000, 1.2, 4.0),
    ("cluster", "get_pods"): (9_000, 0.8, 3.0),
    ("cluster", "read_logs"): (60_000, 0.9, 1.0),
}
"""For each tool of the team: the median of its tokens, how they vary, and how often it is called."""
CLIENTS = ("claude-code", "cursor", "codex-mcp-client")
BUDGET = 4_000
DAY = 86_400
MOST_CALLS = 60
"""In an hour at noon; at night there are none."""


def day_of_a_team() -> list[Record]:
    """Make up the calls of the day that has passed, fewer at night."""
    draw, now = random.Random(7), time.time()  # noqa: S311  # no secret
    times = [now - DAY + 3_600 * hour + draw.random() * 3_600 for hour in range(23)
             for _ in range(round(MOST_CALLS * max(sin(pi * (hour - 4) / 16), 0.02)))]  # fmt: skip
    return [one for at, moment in enumerate(sorted(times)) for one in _call(draw, moment, at)]


def _call(draw: random.Random, moment: float, at: int) -> list[Record]:
    """Make up a call and, after a third of those that were shortened, a read."""
    (upstream, tool), (median, spread, _) = draw.choices(
        list(TOOLS.items()), [one[2] for one in TOOLS.values()]
    )[0]
    before = int(median * draw.lognormvariate(0, spread))
    kind = "text" if tool in ("read_logs", "get_file_contents") else "list"
    is_over = before > BUDGET
    outcome = (
        ("chunk" if kind == "text" else "page") if is_over else draw.choices(("passed", "error"), (30, 1))[0]
    )
    client = draw.choice(CLIENTS)

    def record(later: float, outcome: str, before: int, after: int, *, issued: bool) -> Record:
        return Record(
            moment + later, upstream, tool, client, "local", outcome, "protected", kind, "", before, after, 0,
            3 * before, 3 * after, 100, 30, draw.randrange(40_000, 900_000), 12_000, issued, outcome == "read", False,
            is_over and outcome != "read", 0, draw.randrange(4) if is_over else 0, at + 1,
        )  # fmt: skip

    first = record(0, outcome, before, min(before, draw.randrange(3_300, 3_950)), issued=is_over)
    return (
        [first, record(20, "read", 0, draw.randrange(200, 3_900), issued=False)]
        if is_over and not at % 3
        else [first]
    )


def main() -> int:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser, gate(Path(folder)) as (serving, url):
        keep(Path(folder), day_of_a_team())
        called(serving, *CALLS)
        with visit(browser, url, viewport={"width": 1_280, "height": 860}) as seen:
            seen.page.wait_for_selector(".chart canvas")
            seen.page.screenshot(path=str(IMAGES / "dashboard.png"))
            seen.page.click('section[aria-labelledby="largest"] tbody tr:first-child a')
            seen.page.wait_for_selector("#arguments")
            seen.page.screenshot(path=str(IMAGES / "dashboard-answer.png"))
        phone = {"width": 390, "height": 844}
        with visit(browser, url, viewport=phone, color_scheme="dark") as seen:
            seen.page.wait_for_selector(".chart canvas")
            seen.page.screenshot(path=str(IMAGES / "dashboard-phone.png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
