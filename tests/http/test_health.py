"""`GET /health` tells what checks in the background have shown, and keeps nobody waiting (T-R6)."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from brimgate.app.health import Probe, UpstreamHealth
from brimgate.sandboxes.hostaway import sandbox
from brimgate.watch.log import Log
from tests.hostaway.asking import SMALL
from tests.http.processes import children
from tests.http.raw_upstream import Called, raw_upstream
from tests.http.serving import FAULTY, PATIENCE, PATIENT, Answer, Serving, modern, serve, text_of, wait_until
from tests.http.wire import ask, request

OFTEN = ("--set", "health_interval_seconds=0.1")


def health_of(serving: Serving, status: str) -> Answer:
    """The first answer with this status."""

    def asked() -> Answer | None:
        answer = serving.get("/health")
        return answer if answer.json["status"] == status else None

    return wait_until(asked, f"{status} in {serving.lines}")


def check_of(answer: Answer) -> dict[str, Any]:
    [check] = answer.json["checks"].values()
    return check


def test_a_command_that_does_not_exist_is_told_at_the_start_and_noticed_when_it_comes(tmp_path: Path) -> None:
    command = tmp_path / "server"
    with serve(*OFTEN, command=[str(command)]) as serving:
        assert "there is no such command" in serving.wait_for_line("WARNING unhealthy")
        answer = serving.get("/health")
        assert (answer.status, answer.json["status"]) == (503, "unhealthy")
        assert "there is no such command" in check_of(answer)["error"]
        command.write_text(f"#!/bin/sh\nexec {FAULTY[0]} {FAULTY[1]}\n")
        assert "not executable" in health_until(serving, "not executable")
        command.chmod(0o755)
        healthy = health_of(serving, "healthy")
        assert healthy.status == 200 and check_of(healthy)["latency"] > 0
        assert "INFO healthy" in serving.wait_for_line("INFO healthy")


def health_until(serving: Serving, words: str) -> str:
    return wait_until(
        lambda: next(
            (text for text in [check_of(serving.get("/health")).get("error", "")] if words in text), ""
        ),
        words,
    )


def test_a_command_is_not_started_before_somebody_asks(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    with serve(command=PATIENT, env={"PATIENT_STARTS": str(starts)}) as serving:
        assert serving.port
        assert not starts.exists()
        first = serving.get("/health")
        assert (first.status, first.json["status"]) == (200, "not_started")
        assert check_of(first) == {"status": "not_started"}
        health_of(serving, "healthy")
        wait_until(lambda: not children(serving.process.pid), "the end of the server that was started for it")
        assert len(starts.read_text().split()) == 1


def test_a_command_that_worked_is_not_started_for_every_check(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    with serve(*OFTEN, command=PATIENT, env={"PATIENT_STARTS": str(starts)}) as serving:
        client = serving.client()
        client.initialize()
        assert serving.get("/health").json["status"] == "healthy"  # the client has shown it
        for _ in range(50):
            assert serving.get("/health").json["status"] == "healthy"
            assert text_of(client.call("echo")) == "ok"
        assert len(starts.read_text().split()) == 1


def test_credentials_that_fail_in_a_command_are_told(tmp_path: Path) -> None:
    there = tmp_path / "there"
    script = (
        f"import os, sys; os.path.exists({str(there)!r}) or sys.exit('denied (--token s3cr3t-word)');"
        f"exec(open({FAULTY[1]!r}).read())"
    )
    with serve(*OFTEN, command=[FAULTY[0], "-c", script]) as serving:
        answer = health_of(serving, "unhealthy")
        assert answer.status == 503
        assert "denied" in check_of(answer)["error"] and b"s3cr3t-word" not in answer.body
        there.touch()
        assert health_of(serving, "healthy").status == 200


def test_the_handshake_of_a_client_is_a_check_too(tmp_path: Path) -> None:
    there = tmp_path / "there"
    script = (
        f"import os, sys; os.path.exists({str(there)!r}) or sys.exit(4); exec(open({FAULTY[1]!r}).read())"
    )
    with serve("--set", "health_interval_seconds=3600", command=[FAULTY[0], "-c", script]) as serving:
        assert serving.client().initialize().status == 503
        answer = serving.get("/health")
        assert (answer.status, answer.json["status"]) == (503, "unhealthy")
        assert "exited with code 4" in check_of(answer)["error"]
        there.touch()
        assert serving.client().initialize().status == 200
        assert serving.get("/health").status == 200


def test_a_server_that_dies_of_the_probe_of_a_modern_client_is_unhealthy() -> None:
    command = [FAULTY[0], "-c", "import sys; sys.stdin.readline(); sys.exit('boom')"]
    with serve("--set", "health_interval_seconds=3600", command=command) as serving:
        assert modern(serving, "server/discover").status in (404, 503)
        answer = serving.get("/health")
        assert (answer.status, answer.json["status"]) == (503, "unhealthy")
        assert "boom" in check_of(answer)["error"] or "exited" in check_of(answer)["error"]


def refuse(called: Called) -> bool:
    return called.answer(b'{"error":"who are you?"}', status="401 Unauthorized")


def test_a_server_that_refuses_our_credentials_is_unhealthy() -> None:
    with (
        raw_upstream({"initialize": refuse, "server/discover": refuse}) as upstream,
        serve(*OFTEN, "--upstream", upstream.url, command=()) as serving,
    ):
        answer = health_of(serving, "unhealthy")
        assert answer.status == 503 and "401" in check_of(answer)["error"]
        upstream.scripts.clear()
        assert check_of(health_of(serving, "healthy"))["latency"] > 0


def test_where_callers_bring_their_credentials_a_refusal_of_ours_says_nothing(tmp_path: Path) -> None:
    with raw_upstream({"initialize": refuse, "server/discover": refuse}) as upstream:
        path = tmp_path / "brimgate.yaml"
        one = {"url": upstream.url, "forward_headers": ["Authorization"]}
        path.write_text(json.dumps({"upstreams": {"one": one}}))
        with serve("--config", str(path), command=()) as serving:
            assert health_of(serving, "healthy").status == 200


def test_a_server_without_tools_is_healthy() -> None:
    def unknown(called: Called) -> bool:
        error = {"code": -32601, "message": "no such method"}
        return called.answer(called.message(error=error))

    with (
        raw_upstream({"tools/list": unknown}) as upstream,
        serve("--upstream", upstream.url, command=()) as serving,
    ):
        assert health_of(serving, "healthy").status == 200


def test_whoever_asks_does_not_wait_for_a_server_that_hangs() -> None:
    with (
        raw_upstream({"initialize": Called.wait_for_end}) as upstream,
        serve("--upstream", upstream.url, command=()) as serving,
    ):
        upstream.last("initialize")
        answer = serving.get("/health")
        assert (answer.status, answer.json["status"]) == (200, "not_started")


def test_one_of_several_that_is_down_is_no_outage(tmp_path: Path) -> None:
    path = tmp_path / "brimgate.yaml"
    with raw_upstream({}) as gone:
        url = gone.url
    upstreams = {"here": {"command": FAULTY[0], "args": FAULTY[1:]}, "gone": {"url": url}}
    path.write_text(json.dumps({"upstreams": upstreams}))
    with serve("--config", str(path), command=()) as serving:
        answer = health_of(serving, "degraded")
        assert answer.status == 200
        assert "is the server running?" in answer.json["checks"]["gone"]["error"]
        assert {"version", "timestamp", "uptime", "sessions"} < set(answer.json)


@pytest.mark.parametrize(
    "header", [b"Forwarded: for=192.0.2.1", b"X-Forwarded-For: 192.0.2.1", b"Via: 1.1 proxy"]
)
def test_details_are_for_this_machine_only(header: bytes) -> None:
    with serve(command=["/nonexistent/server"]) as serving:
        answer = ask(serving, request(b"GET /health", header))
        assert (answer.status, answer.json) == (503, {"status": "unhealthy"})


def test_an_api_is_checked_by_the_request_that_its_declaration_names() -> None:
    account = {"HOSTAWAY_ACCOUNT_ID": "61148", "HOSTAWAY_API_KEY": "not-the-secret"}
    with (
        sandbox(**SMALL) as api,
        serve("--pack", "hostaway", command=(), env={**account, "HOSTAWAY_API_URL": api.url}) as serving,
    ):
        answer = health_of(serving, "unhealthy")
        assert answer.status == 503 and "HOSTAWAY_API_KEY" in check_of(answer)["error"]
        assert b"not-the-secret" not in answer.body


def test_an_api_without_such_a_request_is_checked_by_a_connection(tmp_path: Path) -> None:
    declared = tmp_path / "api.yaml"
    with raw_upstream({}) as upstream:
        base = f"http://127.0.0.1:{upstream.port}"
        declared.write_text(f"name: things\nbase_url: {base}\ntools: {{list_things: {{path: /things}}}}\n")
        path = tmp_path / "brimgate.yaml"
        path.write_text(json.dumps({"upstreams": {"things": {"api": "api.yaml"}}}))
        with serve("--config", str(path), command=()) as serving:
            health_of(serving, "healthy")
            assert not upstream.calls


def test_a_health_request_must_be_a_path(tmp_path: Path) -> None:
    declared = tmp_path / "api.yaml"
    declared.write_text(
        "name: things\nbase_url: http://127.0.0.1:1\nhealth: things/{id}\ntools: {list_things: {path: /things}}\n"
    )
    path = tmp_path / "brimgate.yaml"
    path.write_text(json.dumps({"upstreams": {"things": {"api": "api.yaml"}}}))
    with serve("--config", str(path), command=()) as serving:
        assert serving.process.wait(60) == 2
    assert "api.yaml:3: health: must be a path under base_url" in "".join(serving.all_lines())


def test_a_check_that_is_under_way_leaves_nothing_behind() -> None:
    hanging = [sys.executable, "-c", "import time; time.sleep(600)"]
    with serve(command=hanging) as serving:
        serving.get("/health")
        [pid] = wait_until(lambda: children(serving.process.pid), "the start for a check")
        assert serving.stop() == 0
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), "its end")


@pytest.mark.parametrize("turns", range(6))
def test_a_check_that_ends_while_we_end_holds_nothing_up(turns: int) -> None:
    """Whichever turn of the event loop it is: the check is over, but who waits for it may not know yet."""

    async def main() -> None:
        answered = asyncio.Event()

        async def check() -> None:
            await answered.wait()

        health = UpstreamHealth("x", Probe(check, PATIENCE), Log("error"), lambda: 10 * PATIENCE)
        health.start()
        for _ in range(6):
            await asyncio.sleep(0)
        answered.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            await health.end()

    asyncio.run(main())
