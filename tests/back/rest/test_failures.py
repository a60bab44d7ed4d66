"""Whatever an API does, its caller gets one bounded sentence that says what to do and gives nothing away."""

import asyncio
import gzip
import json

import pytest

from brimgate.back.rest.api import RestApi
from brimgate.back.rest.declaration import read_api
from brimgate.back.rest.errors import ApiError, Failures
from brimgate.errors import UpstreamError
from brimgate.sandboxes.hostaway.faults import LEAK
from tests.back.rest.declared import PATIENCE, TOOLS, Ground, opened
from tests.back.rest.listing_server import respond
from tests.back.scripted import Peer, Server, always

SECRET = "hunter2-hunter2"  # noqa: S105  # there is nothing behind it
ONE = """
name: one
title: One
base_url: http://127.0.0.1:1
timeout_seconds: 5
max_answer_bytes: 1000
auth: {kind: bearer, token: {env: ONE_TOKEN}}
errors: {message: /error/message}
tools:
  look: {path: /look, answer: {item: /result}}
  change: {method: POST, path: /change, parameters: {what: {}}, answer: {item: /result}}
  remove: {method: DELETE, path: /change, answer: {item: /result}}
  report: {method: POST, path: /report, annotations: {readOnlyHint: true}, answer: {item: /result}}
  export: {method: POST, path: /export, answer: {text: true}}
"""


def failure_of(ground: Ground, tool: str, extra: str = "", **arguments: object) -> ApiError:
    async def main() -> ApiError:
        async with opened(ground.url, extra) as api:
            with pytest.raises(ApiError) as failed:
                await api.run(tool, arguments)
            return failed.value

    return asyncio.run(main())


def assert_clean(error: ApiError) -> None:
    shown = f"{error} {error.detail} {error!r}"
    for leak in (LEAK, "hunter2", "10.0.3.7", "Traceback", "<h1>", "nginx", "sandbox-secret", "elsewhere"):
        assert leak not in shown
    assert len(str(error)) <= 500
    assert str(error).isprintable()
    assert error.__cause__ is None


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ("html500", "unavailable", 502),
        ("stack_trace", "unavailable", 502),
        ("redirect", "broken", 502),
        ("wrong_type", "broken", 502),
        ("truncated", "broken", 502),
        ("cut", "unavailable", 502),
        ("drop", "unavailable", 502),
    ],
)
@pytest.mark.parametrize("path", ["/reservations", "/accessTokens"])
def test_each_fault_is_told_in_a_clean_sentence(
    ground: Ground, fault: str, kind: str, status: int, path: str
) -> None:
    # The connection is the one of the token: a GET that is dropped on it goes out once more, on a new one.
    repeats = 1 if (path, fault) == ("/reservations", "drop") else 0
    ground.fault(path, fault, times=1 + repeats)
    error = failure_of(ground, "list_reservations")
    assert (error.kind, error.status) == (kind, status)
    assert_clean(error)
    assert len(ground.asked(path)) == 1 + repeats


def test_what_hangs_is_given_up(ground: Ground) -> None:
    ground.fault("/accessTokens", "hang")
    error = failure_of(ground, "list_reservations", "timeout_seconds: 0.05")
    assert (error.kind, error.status) == ("timeout", 504)
    assert "within 0.05 s" in str(error)
    assert_clean(error)


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"])
@pytest.mark.parametrize(("tool", "said"), [("look", "try again"), ("change", "may have done")])
def test_an_answer_that_does_not_come_or_stops_is_given_up(beginning: bytes, tool: str, said: str) -> None:
    error = failure_after(
        beginning, tool, declared=ONE.replace("timeout_seconds: 5", "timeout_seconds: 0.05")
    )
    assert (error.kind, error.status) == ("timeout", 504)
    assert said in str(error)


def test_what_is_not_found_or_refused_comes_with_the_words_of_the_api(ground: Ground) -> None:
    missing = failure_of(ground, "get_reservation", reservation_id=1)
    assert (missing.kind, missing.status) == ("not_found", 404)
    assert "Reservation not found" in str(missing)
    tool = TOOLS.replace("format: date", "maxLength: 99")

    async def main() -> ApiError:
        async with opened(ground.url, tools=tool) as api:
            with pytest.raises(ApiError) as failed:
                await api.run("list_reservations", {"arrival": "soon"})
            return failed.value

    refused = asyncio.run(main())
    assert (refused.kind, refused.status) == ("invalid", 422)
    assert "arrivalStartDate must be a date" in str(refused)


async def failed_at(server: Server, tool: str = "look", declared: str = ONE) -> ApiError:
    async with asyncio.timeout(PATIENCE):
        api = RestApi(
            read_api(declared.encode(), "x"), base_url=f"{server.url}/v1", variables={"ONE_TOKEN": SECRET}
        )
        assert SECRET not in repr(vars(api)) + repr(api.api)
        try:
            with pytest.raises(ApiError) as failed:
                await api.run(tool, {})
        finally:
            await api.close()
        assert SECRET not in f"{failed.value} {failed.value.detail}"
        return failed.value


def failure_after(answer: bytes, tool: str = "look", declared: str = ONE) -> ApiError:
    async def main() -> ApiError:
        async with Server(always(answer)) as server:
            return await failed_at(server, tool, declared)

    return asyncio.run(main())


def saying(message: object, status: str = "422 Unprocessable") -> bytes:
    return respond(json.dumps({"error": {"message": message}}).encode(), status)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("no such thing", '"no such thing"'),
        (f"token {SECRET} is wrong", '"token *** is wrong"'),
        ("<b>bold</b>\n  at Foo.java:12\n  at Bar", '"bold"'),
        ("&lt;script&gt;alert(1)", '"alert(1)"'),
        (f"cannot connect to {LEAK} now", '"cannot connect to (address) now"'),
        ("db at 10.0.3.7:3306 and localhost:8 down", '"db at (address) and (address) down"'),
        ("a\x00b\x1b[31mc\u202ed", '"a b [31mc d"'),
        ("x" * 900, "x" * 299 + "…"),
        (["a", "list"], "change the arguments"),
        (7, "change the arguments"),
        ("", "refuses the call (422): change"),
    ],
)
def test_the_words_of_an_api_are_cut_cleaned_and_masked(message: object, said: str) -> None:
    error = failure_after(saying(message))
    assert said in str(error)
    assert_clean(error)


@pytest.mark.parametrize(
    ("answer", "kind", "status"),
    [
        (saying("secret inner words", "500 Oops"), "unavailable", 502),
        (saying("secret inner words", "401 No"), "unauthorized", 502),
        (saying("x", "403 No"), "unauthorized", 502),
        (saying("x", "400 Bad"), "invalid", 400),
        (saying("x", "409 Conflict"), "invalid", 422),
        (saying("x", "410 Gone"), "not_found", 404),
        (saying("x", "408 Late"), "timeout", 504),
        (respond(b"", "301 Moved", "Location: /v1/look\r\n"), "broken", 502),
        (respond(b'{"result":{}}', "399 What"), "broken", 502),
        (respond(b"<html>", "404 No", "Content-Type: text/html\r\n"), "not_found", 404),
        (respond(b"<html>hi", headers="Content-Type: text/html\r\n"), "broken", 502),
        (respond(b'{"result":[]}'), "broken", 502),
        (respond(b'{"other":{}}'), "broken", 502),
        (respond(b'{"result":{},"result":{}}'), "broken", 502),
        (respond(b'{"result":{"a":NaN}}'), "broken", 502),
        (respond(b'{"result":{"a":"\xff"}}'), "broken", 502),
        (respond(b"[" * 3_00 + b"]" * 3_00), "broken", 502),
        (respond(b""), "broken", 502),
        (respond(b'{"result":{"a":"' + b"x" * 1_000 + b'"}}'), "broken", 502),
        (respond(gzip.compress(b'{"result":{}}', mtime=0), headers="Content-Encoding: gzip\r\n"), "broken", 502),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", "broken", 502),
    ],
)  # fmt: skip
def test_each_bad_answer_has_its_kind(answer: bytes, kind: str, status: int) -> None:
    error = failure_after(answer)
    assert (error.kind, error.status) == (kind, status)
    assert_clean(error)
    assert "secret inner words" not in str(error)


def test_unauthorized_says_which_variable_to_check() -> None:
    assert "check ONE_TOKEN" in str(failure_after(saying("", "401 No")))


def test_a_post_is_sent_once_and_its_failure_says_that_it_may_have_run() -> None:
    async def cut(peer: Peer) -> None:
        await peer.request()
        peer.cut()

    async def main() -> None:
        async with Server(cut) as server:
            error = await failed_at(server, "change")
            assert error.kind == "unavailable"
            assert "may have done what it was asked to" in str(error)
            assert server.accepted == 1

    asyncio.run(main())


_UNUSABLE = [
    respond(b"", "500 Oops"),
    respond(b"", "503 Busy"),
    respond(b'{"result":{"a":"' + b"x" * 1_000 + b'"}}'),
    respond(b'{"result":[]}'),
    respond(b'{"result":{},"result":{}}'),
    respond(b"<html>hi", headers="Content-Type: text/html\r\n"),
    respond(b"", headers="Content-Encoding: gzip\r\n"),
    b"SSH-2.0-OpenSSH_9\r\n\r\n",
]


@pytest.mark.parametrize("answer", _UNUSABLE)
@pytest.mark.parametrize("tool", ["change", "remove", "export"])
def test_what_may_have_run_is_not_told_to_be_tried_again(answer: bytes, tool: str) -> None:
    said = str(failure_after(answer, tool))
    assert "may have done what it was asked to; look before" in said
    assert "try again" not in said.lower()


@pytest.mark.parametrize("answer", _UNUSABLE)
@pytest.mark.parametrize("tool", ["look", "report"])
def test_what_only_reads_may_be_tried_again_whatever_its_method(answer: bytes, tool: str) -> None:
    said = str(failure_after(answer, tool))
    assert "try again" in said or "narrow the query" in said
    assert "may have done" not in said


@pytest.mark.parametrize("fault", ["html500", "wrong_type", "truncated", "cut"])
def test_a_call_that_got_no_token_did_not_run(ground: Ground, fault: str) -> None:
    ground.fault("/accessTokens", fault)
    said = str(failure_of(ground, "standard_report"))
    assert "try again" in said
    assert "may have done" not in said


@pytest.mark.parametrize("where", ["query", "header", "body"])
def test_constants_from_the_environment_are_masked_in_what_an_api_echoes(where: str) -> None:
    constants = "{key: {env: ECHO_KEY}, plain: {env: ECHO_PLAIN, default: default-text}, kind: written-text}"
    declared = f"""
name: echo
base_url: {{env: ECHO_URL}}
errors: {{message: /error/message}}
tools:
  look: {{method: POST, path: /look, body: form, fixed: {{{where}: {constants}}}}}
"""

    async def echo(peer: Peer) -> None:
        head, body = await peer.request()
        lines = (head + body).decode().split("\r\n")
        echoed = [line for line in lines if "hunter2" in line or "-text" in line]
        await peer.say(saying(" ".join(echoed), "400 Bad"))

    async def main() -> str:
        async with asyncio.timeout(PATIENCE), Server(echo) as server:
            variables = {"ECHO_KEY": f"{SECRET} 1", "ECHO_URL": server.url}
            api = RestApi(read_api(declared.encode(), "x"), variables=variables)
            with pytest.raises(ApiError) as failed:
                await api.run("look", {})
            await api.close()
            return f"{failed.value} {failed.value.detail}"

    said = asyncio.run(main())
    assert "hunter2" not in said
    assert "***" in said
    assert "default-text" in said
    assert "written-text" in said


def test_nobody_listening_is_told_without_the_address() -> None:
    async def main() -> None:
        async with Server(always(b"")) as server:
            url = server.url
        api = RestApi(read_api(ONE.encode(), "x"), base_url=url, variables={"ONE_TOKEN": SECRET})
        for ask in (api.reach, lambda: api.run("look", {})):
            with pytest.raises(UpstreamError, match="One cannot be reached") as failed:
                await ask()
            assert isinstance(failed.value, ApiError)
            assert "127.0.0.1" not in str(failed.value)
            assert "127.0.0.1" in failed.value.detail
        await api.close()

    asyncio.run(main())


def test_reaching_asks_nothing(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            await api.reach()

    asyncio.run(main())
    assert ground.asked() == []


def test_an_error_is_one_bounded_line_whatever_it_is_made_of() -> None:
    error = ApiError("broken", "a\nb\x00" * 10_000, detail="c\r\n" * 10_000)
    assert max(len(str(error)), len(error.detail)) <= 500
    assert str(error).isprintable()
    assert len(str(Failures("t" * 9_000).broken("x" * 9_000, may_run=True))) <= 500
