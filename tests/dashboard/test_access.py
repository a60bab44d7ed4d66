"""Who sees what on the dashboard: callers their own answers, admins those of all, strangers nothing."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.http.callers import Keys, serving_for
from tests.http.serving import PATIENCE, Answer, Serving

KEYS = Keys("ann", "bob", "root", "carol")
LINK = re.compile(rb"/dashboard/answer\?at=[\d.]+&amp;tokens=\d+")


@contextmanager
def gate(folder: Path, **telemetry: Any) -> Iterator[Serving]:
    """A gateway for three callers, one of whom is an admin; ann and bob have each made a large call."""
    kept = {"file": str(folder / "records.db"), **telemetry}
    with serving_for(folder, KEYS.auth(admins=["root"]), telemetry=kept) as serving:
        for name in ("ann", "bob"):
            client = serving.client(**KEYS.of(name))
            client.initialize()
            client.call("rows", count=200 + len(name), note=f"of {name}", password=f"canary of {name}")
        yield serving


def ask(
    serving: Serving, method: str, path: str, headers: dict[str, str], body: bytes | None = None
) -> Answer:
    with closing(HTTPConnection("127.0.0.1", serving.port, timeout=PATIENCE)) as connection:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return Answer(
            answer.status, {name.lower(): text for name, text in answer.getheaders()}, answer.read()
        )


def seen_by(serving: Serving, name: str, path: str = "/dashboard") -> Answer:
    return ask(serving, "GET", path, {**KEYS.of(name), "accept": "text/html"})


def answers_of(serving: Serving, name: str) -> list[str]:
    found = LINK.findall(seen_by(serving, name).body)
    return list(dict.fromkeys(one.decode().replace("&amp;", "&") for one in found))


def test_callers_see_their_own_answers_and_admins_those_of_all(tmp_path: Path) -> None:
    with gate(tmp_path) as serving:
        links = {name: answers_of(serving, name) for name in ("ann", "bob", "root")}
        assert len(links["ann"]) == len(links["bob"]) == 1 and links["ann"] != links["bob"]
        assert set(links["root"]) == {*links["ann"], *links["bob"]}
        for name, other in (("ann", "bob"), ("bob", "ann")):
            own = seen_by(serving, name, links[name][0])
            assert own.status == 200 and f"of {name}".encode() in own.body
            foreign = seen_by(serving, name, links[other][0])
            assert foreign.status == 400 and f"of {other}".encode() not in foreign.body
            assert seen_by(serving, "root", links[other][0]).status == 200
        assert b"canary" not in seen_by(serving, "root", links["ann"][0]).body


def test_an_answer_shows_what_was_sent_and_is_held_to_whom_it_belongs(tmp_path: Path) -> None:
    with gate(tmp_path) as serving:
        (link,) = answers_of(serving, "ann")
        for name in ("ann", "root"):
            page = seen_by(serving, name, link).body
            assert b"[brimgate] items" in page and b"The whole answer of" in page
        assert not [one for one in (tmp_path / "records.db").read_bytes().split(b"\0") if b"of ann" in one]


@pytest.mark.parametrize(
    ("content", "has_call", "has_sent"), [("arguments", True, False), ("off", False, False)]
)
def test_what_is_kept_of_the_largest_is_configured(
    tmp_path: Path, content: str, has_call: bool, has_sent: bool
) -> None:
    with gate(tmp_path, exhibits=content) as serving:
        page = seen_by(serving, "ann", answers_of(serving, "ann")[0]).body
        assert (b"of ann" in page) is has_call and (b"[brimgate] items" in page) is has_sent
        assert b"telemetry.exhibits" in page


def test_what_an_operator_names_is_masked_everywhere(tmp_path: Path) -> None:
    with gate(tmp_path, redact=["Guest [0-9]+", "of an[a-z]"]) as serving:
        page = seen_by(serving, "root", answers_of(serving, "ann")[0]).body
        assert b"of ann" not in page and re.search(rb"Guest [0-9]", page) is None


PAGES = (
    "/dashboard",
    "/dashboard/",
    "/dashboard/system",
    "/dashboard/answer?at=1&tokens=1",
    "/dashboard/events",
)


@pytest.mark.parametrize("path", PAGES)
def test_strangers_are_asked_to_log_in(tmp_path: Path, path: str) -> None:
    with gate(tmp_path) as serving:
        for headers in (
            {},
            {"authorization": "Bearer nobody-knows-this-key-0123456789"},
            {"cookie": "brimgate_dashboard=x"},
        ):
            answer = ask(serving, "GET", path, {**headers, "accept": "text/html"})
            assert answer.status == 401 and b"Log in" in answer.body and b"rows" not in answer.body
            plain = ask(serving, "GET", path, {**headers, "accept": "application/json"})
            assert plain.status == 401 and plain.json["error"]


def test_only_admins_see_the_system(tmp_path: Path) -> None:
    with gate(tmp_path) as serving:
        assert b"Configuration" in seen_by(serving, "root", "/dashboard/system").body
        refused = seen_by(serving, "ann", "/dashboard/system")
        assert refused.status == 404 and b"Configuration" not in refused.body
        page = seen_by(serving, "ann").body
        assert b"Lists of tools" not in page and b"caller" not in page and b"System" not in page


def test_a_key_is_kept_in_a_cookie_that_only_the_dashboard_gets(tmp_path: Path) -> None:
    with gate(tmp_path) as serving:
        answer = log_in(serving, KEYS.key["ann"])
        assert answer.headers["referrer-policy"] == "same-origin"
        assert (answer.status, answer.headers["location"]) == (303, "/dashboard")
        given = answer.headers["set-cookie"]
        (cookie,) = SimpleCookie(given).values()
        assert cookie.key == f"brimgate_dashboard_{serving.port}"  # browsers mix those of all ports
        assert cookie["path"] == "/dashboard" and cookie["httponly"] and cookie["samesite"] == "Lax"
        shown = {"cookie": f"{cookie.key}={cookie.value}", "accept": "text/html"}
        assert ask(serving, "GET", "/dashboard", shown).status == 200
        for path in ("/api/stats", "/metrics", "/mcp"):
            assert ask(serving, "GET", path, shown).status == 401, path
        out = ask(serving, "POST", "/dashboard/logout", shown)
        assert "Max-Age=0" in out.headers["set-cookie"]


@pytest.mark.parametrize(
    ("page", "follows"),
    [
        ("/dashboard?tool=rows&since=7d", "/dashboard?tool=rows&since=7d"),
        ("/dashboard/answer?at=1.5&tokens=9", "/dashboard/answer?at=1.5&tokens=9"),
        ("https://evil.example/", "/dashboard"),
        ("//evil.example/dashboard", "/dashboard"),
        ("/dashboard/../mcp", "/dashboard"),
        ("/dashboard\r\nx: y", "/dashboard"),
        ("/dashboard?a=\r\nset-cookie: b=c", "/dashboard"),
        ("/dashboard/logout", "/dashboard"),
        ("", "/dashboard"),
    ],
)
def test_after_logging_in_follows_the_page_that_was_asked_for_and_no_other(
    tmp_path: Path, page: str, follows: str
) -> None:
    with gate(tmp_path) as serving:
        answer = log_in(serving, KEYS.key["ann"], page)
        assert (answer.status, answer.headers["location"]) == (303, follows)


@pytest.mark.parametrize("token", ["", "two words", "x" * 9_000, "é", "a\r\nset-cookie: b=c"])
def test_what_is_no_token_gets_no_cookie(tmp_path: Path, token: str) -> None:
    with gate(tmp_path) as serving:
        answer = log_in(serving, token)
        assert (
            answer.status == 401
            and "set-cookie" not in answer.headers
            and b"check what you have pasted" in answer.body
        )


def log_in(serving: Serving, token: str, page: str = "") -> Answer:
    form = urlencode({"token": token, "page": page}).encode()
    return ask(
        serving, "POST", "/dashboard/login", {"content-type": "application/x-www-form-urlencoded"}, form
    )


def test_another_site_cannot_log_anybody_in(tmp_path: Path) -> None:
    with gate(tmp_path) as serving:
        form = urlencode({"token": KEYS.key["ann"]}).encode()
        headers = {"content-type": "application/x-www-form-urlencoded", "origin": "https://evil.example"}
        assert ask(serving, "POST", "/dashboard/login", headers, form).status == 403


@pytest.mark.parametrize("path", [*PAGES[:4], "/dashboard/assets/dashboard.js", "/dashboard/nothing"])
def test_every_page_forbids_foreign_scripts_and_frames(tmp_path: Path, path: str) -> None:
    with gate(tmp_path) as serving:
        headers = seen_by(serving, "root", path).headers
        policy = headers["content-security-policy"]
        assert (
            "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        )
        assert headers["x-content-type-options"] == "nosniff"
        kept = "immutable" if "assets" in path else "no-store"
        assert kept in headers["cache-control"]


@pytest.mark.parametrize(
    "name",
    ["../page_frame.py", "uplot-LICENSE.txt", "", "%2e%2e/overview.py", "dashboard.js/", "nothing.css"],
)
def test_there_are_no_other_files(tmp_path: Path, name: str) -> None:
    with gate(tmp_path) as serving:
        assert seen_by(serving, "root", f"/dashboard/assets/{name}").status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_pages_are_only_read(tmp_path: Path, method: str) -> None:
    with gate(tmp_path) as serving:
        assert ask(serving, method, "/dashboard", {**KEYS.of("root"), "accept": "text/html"}).status == 405


def test_a_key_that_is_withdrawn_sees_nothing_more(tmp_path: Path) -> None:
    import json

    from tests.http.serving import wait_until

    with gate(tmp_path) as serving:
        assert seen_by(serving, "bob").status == 200
        path = tmp_path / "brimgate.yaml"
        document = json.loads(path.read_text())
        del document["auth"]["keys"]["bob"]
        path.write_text(json.dumps(document))
        wait_until(lambda: seen_by(serving, "bob").status == 401, "the key is refused")


def test_looking_counts_as_no_request(tmp_path: Path) -> None:
    """A page that is fetched every second must not use up what its caller may ask for, nor be taken for an attack."""
    with gate(tmp_path) as serving:
        assert {seen_by(serving, "ann").status for _ in range(80)} == {200}
        assert serving.client(**KEYS.of("ann")).initialize().status == 200
