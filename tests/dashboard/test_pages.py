"""The dashboard in a real browser: what it shows, live, to whom, on which screen, and without a mouse."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from brimgate.watch.exhibit import Exhibit
from brimgate.watch.record import Record
from brimgate.watch.record_store import RecordBatch, RecordStore
from tests.conftest import ROOT
from tests.dashboard.browser import Visit, visit
from tests.dashboard.test_access import KEYS
from tests.dashboard.test_access import gate as guarded
from tests.http.serving import DEMO, Serving, serve, wait_until
from tests.test_one_event import OUTCOMES, ask_all
from tests.test_records import recorded
from tests.watch.made_records import LARGE, record

pytestmark = pytest.mark.slow  # a browser takes seconds; what it asks for is tested in test_access.py too
AXE = ROOT / "tests" / "node" / "node_modules" / "axe-core" / "axe.min.js"
LATEST = 'section[aria-labelledby="latest"]'
SECRET = {"webhook_secret": "canary-of-a-secret"}
HOSTILE = "<img src=x onerror=alert(1)>\"'&lt;script>alert(2)</script>"


@contextmanager
def gate(folder: Path, **telemetry: Any) -> Iterator[tuple[Serving, str]]:
    """A gateway with records of its own in front of the demo server, and the address of its dashboard."""
    path = folder / "brimgate.yaml"
    upstream = {"command": DEMO[0], "args": DEMO[1:]}
    kept = {"file": str(folder / "records.db"), **telemetry}
    path.write_text(json.dumps({"upstreams": {"demo": upstream}, "telemetry": kept}))
    with serve("--config", str(path), command=()) as serving:
        yield serving, f"http://127.0.0.1:{serving.port}/dashboard"


def called(serving: Serving, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    client = serving.client()
    client.initialize()
    client.request("tools/list")
    return [client.call(name, **arguments) for name, arguments in calls]


def keep(
    folder: Path, records: list[Record], *exhibits: Exhibit, catalogs: dict[str, dict[str, int]] | None = None
) -> None:
    with closing(RecordStore(folder / "records.db", LARGE, 365)) as store:
        store.add(RecordBatch(records, catalogs or {}, exhibits=list(exhibits)))


def rows(seen: Visit, section: str) -> list[list[str]]:
    """The cells of a table that a person sees."""
    return seen.page.eval_on_selector_all(
        f'section[aria-labelledby="{section}"] tbody tr',
        "lines => lines.map(line => [...line.cells].map(cell => cell.innerText.trim()))",
    )


def test_an_empty_dashboard_says_what_to_do_next(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path) as (_, url), visit(browser, url) as seen:
        assert "No answers yet" in seen.text()
        assert f"claude mcp add --transport http demo {url.removesuffix('/dashboard')}/mcp" in seen.text()


def test_a_call_appears_by_itself(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path) as (serving, url), visit(browser, url) as seen:
        seen.wait_for("live", "#live-state")
        called(serving, ("list_bookings", {}))
        seen.page.wait_for_selector("#latest")
        assert "demo/list_bookings" in rows(seen, "latest")[0][0]
        assert "tools answered with" in seen.text("h1")
        called(serving, ("read_log", {}))
        seen.wait_for("demo/read_log", LATEST)


def test_the_largest_answer_leads_to_its_arguments_and_to_what_was_sent(tmp_path: Path, browser: Any) -> None:
    """SC-006: from "the agent overflowed" to the tool and the arguments that did it."""
    with gate(tmp_path) as (serving, url), visit(browser, url) as seen:
        called(
            serving,
            ("get_booking", {"id": 5400000}),
            ("read_log", {"name": "app"}),
        )
        seen.page.reload()
        largest = rows(seen, "largest")
        assert "demo/read_log" in largest[0][0]
        seen.page.click('section[aria-labelledby="largest"] tbody tr:first-child a')
        seen.page.wait_for_selector("#arguments")
        assert '"name": "app"' in seen.text()
        assert "[brimgate] lines 1-" in seen.text() and 'cursor="•••"' in seen.text()
        held = seen.page.inner_text('pre[aria-label="What is still held"]')
        assert held.count("\n") > 100
        seen.page.click("text=further →")
        seen.wait_for("Part 2 of")
        assert seen.page.inner_text('pre[aria-label="What is still held"]') != held


def test_filters_are_in_the_url_and_survive_what_is_new(tmp_path: Path, browser: Any) -> None:
    now = time.time()
    keep(
        tmp_path,
        [
            record(time=now - 10, upstream="crm", tool="list", original_tokens=5_000),
            record(time=now - 9, upstream="git", tool="log", original_tokens=7_000, client="codex 1"),
            record(time=now - 40 * 86_400, upstream="old", tool="gone"),
        ],
    )
    with gate(tmp_path) as (serving, url), visit(browser, url) as seen:
        assert {line[0] for line in rows(seen, "tools")} == {"crm/list", "git/log"}
        seen.page.select_option("select[name=tool]", "log")
        seen.page.click("text=Apply")
        seen.page.wait_for_url("**/dashboard?since=24h&tool=log")
        assert [line[0] for line in rows(seen, "tools")] == ["git/log"]
        called(serving, ("list_bookings", {}))
        wait_until(
            lambda: seen.page.evaluate("performance.getEntriesByType('resource').length") > 5, "a new page"
        )
        assert [line[0] for line in rows(seen, "tools")] == ["git/log"]
        seen.page.goto(f"{url}?since=all")
        assert "old/gone" in {line[0] for line in rows(seen, "tools")}
        seen.page.click('section[aria-labelledby="tools"] a:text-is("git/log")')
        seen.page.wait_for_url("**/dashboard?since=all&tool=log&upstream=git")
        seen.page.goto(f"{url}?tool=none")
        assert "Nothing matches" in seen.text()
        seen.page.goto(f"{url}?client=codex")
        assert [line[0] for line in rows(seen, "tools")] == ["git/log"]


@pytest.mark.parametrize("query", ["since=yesterday", "outcome=odd", "since=1h&until=2h"])
def test_a_wrong_filter_is_explained_on_a_page(tmp_path: Path, browser: Any, query: str) -> None:
    keep(tmp_path, [record(time=time.time())])
    with gate(tmp_path) as (serving, _):
        answer = serving.get(f"/dashboard?{query}")
        assert answer.status == 400 and b"This cannot be shown" in answer.body
        assert b"Traceback" not in answer.body and b'<a href="/dashboard">' in answer.body


def test_hostile_names_and_values_stay_text(tmp_path: Path, browser: Any) -> None:
    now = time.time()
    odd = [
        HOSTILE,
        "\u202egnp.exe",
        "a\nb",
        "tab\tx",
        "\x1b[31mred",
        "x" * 100,
        "{{7*7}}",
        "${x}",
        "../../etc",
        "é漢字🙂",
    ]
    made = [
        record(
            time=now - at,
            upstream=name,
            tool=name,
            client=name,
            principal=name,
            original_tokens=5_000 + at,
            answer=at,
        )
        for at, name in enumerate(odd)
    ]
    exhibit = Exhibit(
        made[0].time,
        5_000,
        int(now // 3_600),
        HOSTILE,
        HOSTILE,
        HOSTILE,
        f'{{"q": "{HOSTILE[:20]}"}}',
        HOSTILE,
    )
    keep(tmp_path, made, exhibit, catalogs={HOSTILE: {HOSTILE: 10}})
    with gate(tmp_path) as (serving, url), visit(browser, url) as seen:
        called(serving, (HOSTILE, {"shape": HOSTILE}))
        seen.page.reload()
        assert (
            seen.page.evaluate("document.querySelectorAll('img, script:not([src]), iframe, object').length")
            == 0
        )
        assert HOSTILE[:28] in seen.text() and "\u202e" not in seen.page.content()
        for one in seen.page.eval_on_selector_all("#live a", "links => links.map(link => link.href)"):
            assert one.startswith(url), one
        assert "{{7*7}}" in seen.text() and "49" not in seen.text("#tools ~ div")
        seen.page.goto(f"{url}?tool={HOSTILE}&since=all")
        assert seen.page.evaluate("document.querySelectorAll('img').length") == 0


def test_a_hostile_exhibit_stays_text(tmp_path: Path, browser: Any, here: Any) -> None:
    with (
        dashboard(tmp_path, [record(time=1_795_000_000.25, original_tokens=4_321)]) as url,
        visit(browser, url) as seen,
    ):
        keep(
            tmp_path,
            [],
            Exhibit(1_795_000_000.25, 4_321, 498_611, "local", "crm", "list", HOSTILE, HOSTILE * 3),
        )
        seen.page.goto(f"{url.partition('?')[0]}/answer?at=1795000000.25&tokens=4321")
        assert seen.page.inner_text('pre[aria-label="Arguments"]') == HOSTILE
        assert seen.page.inner_text('pre[aria-label="What was sent"]') == HOSTILE * 3
        assert seen.page.evaluate("document.querySelectorAll('img').length") == 0


@contextmanager
def dashboard(folder: Path, records: list[Record]) -> Iterator[str]:
    """`brimgate dashboard` over a file of its own."""
    import subprocess

    from tests.config.running import BRIMGATE, environment

    if records:
        keep(folder, records)
    command = [*BRIMGATE, "dashboard", "--port", "0", "--file", str(folder / "records.db")]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, env=environment(BRIMGATE_STATE_DIR=str(folder / "state"))
    ) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline().decode()
            found = re.search(r"http://\S+", line)
            assert found, line
            yield found[0]
        finally:
            process.terminate()
            process.wait(60)


def test_the_command_shows_the_records_of_run(tmp_path: Path, browser: Any) -> None:
    from tests.config.running import gateway

    state = {"BRIMGATE_STATE_DIR": str(tmp_path / "state")}
    given = ["--set", f"telemetry.file={tmp_path / 'records.db'}"]
    with gateway(*given, command=DEMO, env=state) as client:
        client.greet()
        client.call("list_bookings", limit=499)
        with dashboard(tmp_path, []) as url, visit(browser, url) as seen:
            assert seen.page.url.endswith("/dashboard"), "the key is not in the address any more"
            seen.page.wait_for_selector("#largest")
            seen.page.click('section[aria-labelledby="largest"] tbody a')
            seen.page.wait_for_selector("#arguments")
            assert '"limit": 499' in seen.text() and "[brimgate] items #0-" in seen.text()
            assert "The whole answer of" in seen.text(), "it is held in the user's folder"
        client.close()


def test_nobody_sees_the_command_s_dashboard_without_its_key(tmp_path: Path, browser: Any) -> None:
    with dashboard(tmp_path, [record(tool="of_ann")]) as url:
        place = url.partition("?")[0]
        for wrong in (
            place,
            f"{place}?key=",
            f"{place}?key={'A' * 32}",
            f"{place}/answer?at=1&tokens=1",
            f"{place}/events",
        ):
            with visit(browser, wrong, is_refused=True) as seen:
                assert (
                    "Open the address that `brimgate dashboard` has printed" in seen.text()
                    and "of_ann" not in seen.page.content()
                )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1_280, 900), (390, 844)], ids=["desk", "phone"])
def test_axe_finds_nothing(tmp_path: Path, browser: Any, scheme: str, size: tuple[int, int]) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed (npm)")
    with gate(tmp_path) as (serving, url):
        client = serving.client()
        client.initialize()
        client.call("list_bookings")
        client.call("read_log")
        client.call("fail")
        options = {
            "color_scheme": scheme,
            "viewport": {"width": size[0], "height": size[1]},
            "bypass_csp": True,
        }
        with visit(browser, url, **options) as seen:
            link = seen.page.get_attribute('section[aria-labelledby="largest"] tbody a', "href")
            assert link
            for page in ("/dashboard", link, "/dashboard/system", "/dashboard?tool=none"):
                seen.page.goto(url.removesuffix("/dashboard") + page)
                assert violations(seen) == [], page


def violations(seen: Visit) -> list[str]:
    seen.page.add_script_tag(path=str(AXE))
    found = seen.page.evaluate("axe.run().then(result => result.violations)")
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found]


def test_a_phone_shows_no_page_wider_than_itself(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path) as (serving, url):
        called(serving, ("list_bookings", {}), ("read_log", {}))
        with visit(browser, url, viewport={"width": 360, "height": 740}) as seen:
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_in_print_there_are_figures_and_no_controls(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path) as (serving, url):
        called(serving, ("list_bookings", {}))
        with visit(browser, url, color_scheme="dark") as seen:
            seen.page.emulate_media(media="print")
            assert not seen.page.is_visible(".filters") and not seen.page.is_visible("nav")
            assert seen.page.is_visible("#tools")
            assert (
                seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            )


def test_a_filter_that_is_not_applied_yet_survives_news(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path) as (serving, url):
        called(serving, ("list_bookings", {}), ("read_log", {}))
        with visit(browser, url) as seen:
            seen.wait_for("demo/read_log")
            seen.page.select_option('.filters [name="tool"]', "read_log")
            seen.page.focus(".filters button")
            called(serving, ("list_tasks", {}))
            seen.wait_for("demo/list_tasks")
            assert seen.page.input_value('.filters [name="tool"]') == "read_log"


def test_a_keyboard_is_enough(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path) as (serving, url):
        called(serving, ("list_bookings", {}), ("read_log", {}))
        with visit(browser, url) as seen:
            seen.wait_for("demo/read_log")
            keys = seen.page.keyboard
            keys.press("Tab")
            assert focused(seen) == "Skip to the figures"
            keys.press("Enter")
            while not focused(seen).startswith("all tools"):
                keys.press("Tab")
            keys.press("r")  # read_log
            while focused(seen) != "Apply":
                keys.press("Tab")
            keys.press("Enter")
            seen.page.wait_for_url("**tool=read_log**")
            for _ in range(60):
                keys.press("Tab")
                if focused(seen).endswith(" demo/read_log"):
                    break
            keys.press("Enter")
            seen.page.wait_for_selector("#arguments")


def focused(seen: Visit) -> str:
    """What the keyboard acts on, without the regions that only scroll."""
    shown = "one => one.role === 'region' ? '' : (one.innerText || '').trim()"
    return seen.page.evaluate(f"({shown})(document.activeElement)")


def test_what_a_reader_has_unfolded_stays_so(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path) as (serving, url):
        called(serving, ("list_bookings", {}))
        with visit(browser, url) as seen:
            seen.page.click("summary")
            seen.page.focus("summary")
            called(serving, ("read_log", {}))
            seen.wait_for("demo/read_log", LATEST)
            assert seen.page.evaluate("document.getElementById('chart-table').open")


def is_drawn(seen: Visit) -> bool:
    seen.page.wait_for_selector(".chart canvas")
    box = seen.page.locator(".chart canvas").bounding_box()
    return bool(box) and box["width"] > 500 and box["height"] > 100


def test_the_chart_is_drawn(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path) as (serving, url):
        called(serving, ("list_bookings", {}))
        with visit(browser, url) as seen:
            wait_until(lambda: is_drawn(seen), "a chart")  # news may just be putting another in its place
            times, before, after = json.loads(seen.page.get_attribute(".chart", "data-series") or "")
            assert len(times) == len(before) == len(after) and sum(before) > sum(after) > 0


def test_the_page_agrees_with_the_statistics(tmp_path: Path, browser: Any) -> None:
    """As do `/health`, `/api/stats`, `stats` and `/metrics`: see tests/test_records.py."""
    options, _ = recorded(tmp_path)
    with serve(*options, command=()) as serving:
        client = serving.client()
        client.initialize()
        ask_all(client, 13)
        url = f"http://127.0.0.1:{serving.port}/dashboard"
        with visit(browser, url) as seen:
            told = serving.get("/api/stats").json
            total = told["total"]
            outcomes = {line[0]: int(line[1].replace(",", "")) for line in rows(seen, "outcomes")}
            assert outcomes == total["outcomes"] and set(outcomes) == set(OUTCOMES)
            headline = seen.text("h1")
            assert f"{total['tokensBefore']:,}" in headline and f"{total['tokensAfter']:,}" in headline
            cursors = {line[0]: int(line[1].replace(",", "")) for line in rows(seen, "cursors")}
            names = ("cursorsIssued", "cursorsFollowed", "cursorsNeverFollowed", "cursorsExpired")
            assert [cursors[one] for one in ("issued", "followed", "abandoned", "expired")] == [
                total[one] for one in names
            ]
            shown = {
                line[0]: [int(one.replace(",", "")) for one in line[1:4]] for line in rows(seen, "tools")
            }
            assert shown == {
                one["name"]: [one["calls"], one["tokensBefore"], one["tokensAfter"]] for one in told["rows"]
            }


def test_the_system_page_shows_health_and_the_configuration_without_secrets(
    tmp_path: Path, browser: Any
) -> None:
    with (
        gate(tmp_path, **SECRET) as (serving, url),
        visit(browser, f"{url}/system") as seen,
    ):
        called(serving, ("list_bookings", {}))
        seen.page.reload()
        assert "This gateway is healthy" in seen.text("h1")
        seen.page.click("text=In force now, with secrets masked")
        assert "webhook_secret:" in seen.text() and "canary" not in seen.page.content()
        assert rows(seen, "sessions")[0][0] == "demo"


def test_alerts_are_on_top(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path, alert_least_answers=1) as (serving, url), visit(browser, url) as seen:
        called(serving, ("list_bookings", {}), ("read_log", {}))
        seen.page.wait_for_selector(".alerts")
        assert "oversized share" in seen.text(".alerts")


def test_records_that_are_switched_off_are_told(tmp_path: Path, browser: Any) -> None:
    with gate(tmp_path, enabled=False) as (_, url), visit(browser, url) as seen:
        assert "telemetry.enabled" in seen.text()


def test_a_damaged_file_is_told_on_a_page(tmp_path: Path, browser: Any) -> None:
    with dashboard(tmp_path, [record()]) as url:
        (tmp_path / "records.db").write_bytes(b"this is no database" * 1_000)
        with visit(browser, url) as seen:
            seen.troubles.clear()  # the browser logs that it got 503
            assert "Not now" in seen.text() and "cannot be read" in seen.text()


def test_a_person_logs_in_with_a_key_and_out_again(tmp_path: Path, browser: Any) -> None:
    """Browsers tell where a form is from: what no script of ours would show."""
    with guarded(tmp_path) as serving:
        url = f"http://127.0.0.1:{serving.port}/dashboard"
        with visit(browser, f"{url}?since=7d&tool=rows&utm_source=chat", is_refused=True) as seen:
            seen.page.fill('input[name="token"]', "no-key-of-anybody")
            seen.page.press('input[name="token"]', "Enter")
            seen.wait_for("Log in")
            seen.page.fill('input[name="token"]', KEYS.key["ann"])
            seen.page.press('input[name="token"]', "Enter")
            seen.page.wait_for_selector("#largest")
            assert "since=7d&tool=rows" in seen.page.url
            seen.page.click('section[aria-labelledby="largest"] tbody tr:first-child a')
            seen.page.wait_for_selector("#arguments")
            seen.page.click("text=← Overview")
            seen.page.wait_for_selector("#largest")
            assert "since=7d" in seen.page.url and "tool=rows" in seen.page.url
            seen.page.click("text=Log out")
            seen.page.wait_for_selector('input[name="token"]')
            seen.page.goto(url)
            assert "Log in" in seen.text("h1")


def test_who_has_no_answers_yet_is_told_how_to_get_some(tmp_path: Path, browser: Any) -> None:
    with guarded(tmp_path) as serving, visit(browser, is_refused=True) as seen:
        seen.page.goto(f"http://127.0.0.1:{serving.port}/dashboard")
        seen.page.fill('input[name="token"]', KEYS.key["carol"])
        seen.page.press('input[name="token"]', "Enter")
        seen.wait_for("No answers yet")
