"""The Hostaway pack from a shell: with an account, without one, in the sandbox, and a call at a time."""

import json
import re
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from brimgate.sandboxes.hostaway import sandbox
from tests.config.running import BRIMGATE, environment, gateway
from tests.hostaway.asking import SMALL
from tests.http.serving import PATIENCE, exchange, serve, wait_until
from tests.systems.hostaway import config_of

ACCOUNT = {"HOSTAWAY_ACCOUNT_ID": "61148", "HOSTAWAY_API_KEY": "sandbox-secret"}


def brimgate(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*BRIMGATE, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        env=environment(**variables),
    )


def test_with_credentials_in_the_environment_it_talks_to_the_api() -> None:
    with (
        sandbox(**SMALL) as api,
        serve("--pack", "hostaway", command=(), env={**ACCOUNT, "HOSTAWAY_API_URL": api.url}) as serving,
    ):
        assert serving.get("/api/v1/listings?limit=1").json["meta"]["totalCount"] == 12
        other = serving.client()
        other.initialize()
        told = other.call("list_reservations")["result"]
        assert told["_meta"]["brimgate/result"]["total"]["items"] == 130


def test_without_credentials_it_says_what_to_set() -> None:
    done = brimgate("serve", "--pack", "hostaway", "--port", "0")
    assert done.returncode == 2
    assert "HOSTAWAY_ACCOUNT_ID" in done.stderr and "HOSTAWAY_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_credentials_are_told_at_the_call_and_not_repeated() -> None:
    wrong = {"HOSTAWAY_ACCOUNT_ID": "61148", "HOSTAWAY_API_KEY": "not-the-secret"}
    with (
        sandbox(**SMALL) as api,
        serve("--pack", "hostaway", command=(), env={**wrong, "HOSTAWAY_API_URL": api.url}) as serving,
    ):
        answer = serving.get("/api/v1/listings")
        assert answer.status == 502 and "HOSTAWAY_API_KEY" in answer.json["error"]["message"]
        assert b"not-the-secret" not in answer.body and "not-the-secret" not in "".join(serving.lines)


def test_the_sandbox_needs_no_account() -> None:
    with serve("--pack", "hostaway", "--sandbox", command=()) as serving:
        serving.wait_for_line("/api/v1/docs")
        first = serving.get("/api/v1/bookings").json
        assert first["meta"] | {"pageSize": 0} | {"totalCount": 2_000} == first["meta"] | {"pageSize": 0}
        wait_until(lambda: serving.get("/health").json["status"] == "healthy", "a health check")


def test_the_sandbox_behind_stdio() -> None:
    with gateway("--pack", "hostaway", "--sandbox", command=[]) as client:
        client.greet()
        told = client.call("list_reservations")["result"]
        assert "items #0-49 of 2,000" in told["content"][0]["text"]
        cursor = told["_meta"]["brimgate/result"]["nextCursor"]
        more = client.call("brimgate_read", cursor=cursor)
        assert "items #50-99 of 2,000" in more["result"]["content"][0]["text"]
        calls = [
            {
                "jsonrpc": "2.0",
                "id": f"b{at}",
                "method": "tools/call",
                "params": {"name": tool, "arguments": {}},
            }
            for at, tool in enumerate(("get_analytics", "nothing"))
        ]
        client.send(calls)
        assert client.answer_to("b0")["result"]["content"] and client.answer_to("b1")["error"]


def test_what_is_asked_last_is_answered_though_the_input_has_ended() -> None:
    """As a pipe is used: all that is asked, then the end."""
    asked = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_reservations", "arguments": {}}},
    ]  # fmt: skip
    done = subprocess.run(
        [*BRIMGATE, "run", "--pack", "hostaway", "--sandbox"],
        input="".join(json.dumps(one) + "\n" for one in asked).encode(),
        capture_output=True,
        timeout=PATIENCE,
        env=environment(),
    )
    answers = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert "items #0-49 of 2,000" in answers[1]["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("serve", "--sandbox"), "--pack hostaway"),
        (("serve", "--sandbox", "--pack", "graphiti", "--upstream", "http://127.0.0.1:9/mcp"), "no REST API"),
        (("serve", "--pack", "graphiti"), "declares no API"),
        (("run", "--pack", "graphiti"), "declares no API"),
        (("serve", "--pack", "nobodys"), "there is no pack nobodys"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(arguments: tuple[str, ...], says: str) -> None:
    done = brimgate(*arguments)
    assert done.returncode == 2 and says in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_call_from_a_shell_and_reading_on_in_another_process(tmp_path: Path) -> None:
    with sandbox(**SMALL) as api:
        config = str(config_of(tmp_path, api))
        home = {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
        listed = brimgate("tools", "hostaway", "--config", config, **home)
        assert listed.returncode == 0 and "list_reservations" in listed.stdout
        done = brimgate("call", "hostaway", "get_reservation_guest", "999", "--config", config, **home)
        assert done.returncode == 1 and "not find" in done.stderr
        done = brimgate("call", "hostaway", "list_reservations", "--config", config, **home)
        assert done.returncode == 0
        found = re.search(r"items #0-49 of 130.* brimgate read ([\w-]+)", done.stdout + done.stderr)
        assert found, done
        more = brimgate("read", found[1], **home)
        assert more.returncode == 0 and "items #50-99 of 130" in more.stdout + more.stderr
        whole = brimgate(
            "call", "hostaway", "list_reservations", "limit=3", "--json", "--config", config, **home
        )
        assert len(json.loads(whole.stdout)["items"]) == 3


def test_a_file_of_ones_own_declares_an_api(tmp_path: Path) -> None:
    declared = {
        "name": "homes",
        "base_url": "http://127.0.0.1:9/v1",
        "auth": {
            "kind": "oauth_client_credentials",
            "token_path": "/accessTokens",
            "client_id": {"env": "HOMES_ID"},
            "client_secret": {"env": "HOMES_KEY"},
            "scope": "general",
        },
        "tools": {
            "homes": {
                "description": "all homes",
                "path": "/listings",
                "routes": ["/homes"],
                "answer": {"items": "/result"},
                "paging": {
                    "style": "offset", "limit": "limit", "offset": "offset", "size": 5, "total": "/count", "key": "id",
                },
            }
        },
    }  # fmt: skip
    (tmp_path / "homes.json").write_text(json.dumps(declared))
    with sandbox(**SMALL) as api:
        homes = {"api": "homes.json", "base_url": api.url}  # beside the file that names it
        homes["env"] = {"HOMES_ID": "61148", "HOMES_KEY": "sandbox-secret"}  # type: ignore[assignment]
        (tmp_path / "brimgate.yaml").write_text(json.dumps({"upstreams": {"homes": homes}}))
        checked = brimgate("check", str(tmp_path / "brimgate.yaml"))
        assert checked.returncode == 0 and "sandbox-secret" not in checked.stdout + checked.stderr
        (tmp_path / "broken.yaml").write_text("name: homes\nbase_url: http://x\ntool: {}\n")
        wrong = {"upstreams": {"homes": {"api": str(tmp_path / "broken.yaml")}}}
        (tmp_path / "wrong.yaml").write_text(json.dumps(wrong))
        checked = brimgate("check", str(tmp_path / "wrong.yaml"))
        assert checked.returncode == 2 and "broken.yaml:3: tool: unknown key" in checked.stderr
        with serve("--config", str(tmp_path / "brimgate.yaml"), command=()) as serving:
            first = serving.get("/api/v1/homes?limit=2").json
            assert len(first["items"]) <= 2 and first["meta"]["totalCount"] == 12


def test_a_declaration_that_changes_says_that_it_needs_a_restart(tmp_path: Path) -> None:
    with sandbox(**SMALL) as api, serve("--config", str(config_of(tmp_path, api)), command=()) as serving:
        serving.wait_for_line("serving http")
        declared = json.loads((tmp_path / "api.yaml").read_text())
        declared["title"] = "Another"
        (tmp_path / "api.yaml").write_text(json.dumps(declared))
        line = serving.wait_for_line("config_needs_restart")
        assert "upstreams.hostaway.api" in line


def test_check_tells_rules_that_match_nothing(tmp_path: Path) -> None:
    rules = {
        "tools": {"list_listing": {"enabled": False}, "list_*": {"rollout": 100}},
        "endpoints": {"/api/v1/booking": {"enabled": False}, "*/bookings/{id}": {"enabled": True}},
    }
    path = tmp_path / "brimgate.yaml"
    own = {"get_lising": {"enabled": False}}
    upstreams = {"hostaway": {"pack": "hostaway", "tools": own}}
    path.write_text(json.dumps({"upstreams": upstreams, "context_protection": rules}))
    done = brimgate("check", str(path), **ACCOUNT)
    assert done.returncode == 0
    told = [line for line in done.stderr.splitlines() if "matches it" in line]
    assert len(told) == 3
    for key in ("tools.list_listing", "endpoints./api/v1/booking", "upstreams.hostaway.tools.get_lising"):
        assert any(key + ":" in line for line in told), (key, told)


def test_headers_of_callers_are_not_forwarded_to_an_api_of_one_account(tmp_path: Path) -> None:
    path = tmp_path / "brimgate.yaml"
    hostaway = {"pack": "hostaway", "forward_headers": ["Authorization"]}
    path.write_text(json.dumps({"upstreams": {"hostaway": hostaway}}))
    for command in (("check", str(path)), ("serve", "--config", str(path), "--port", "0")):
        done = brimgate(*command, **ACCOUNT)
        assert done.returncode == 2 and "upstreams.hostaway.forward_headers" in done.stderr
        assert "every caller gets the data of the one account" in done.stderr


class Maker(BaseHTTPRequestHandler):
    """An API that makes what it is sent."""

    def do_POST(self) -> None:  # as the library names it
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(201)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_what_an_api_has_made_is_told_as_made(tmp_path: Path) -> None:
    name = {"name": {"schema": {"type": "string"}}}
    make = {"path": "/things", "routes": ["/things"], "method": "POST", "parameters": name}
    with ThreadingHTTPServer(("127.0.0.1", 0), Maker) as api:
        Thread(target=api.serve_forever, daemon=True).start()
        base_url = f"http://127.0.0.1:{api.server_port}"
        declared = {"name": "things", "base_url": base_url, "tools": {"make_thing": make}}
        (tmp_path / "things.yaml").write_text(json.dumps(declared))
        (tmp_path / "brimgate.yaml").write_text(json.dumps({"upstreams": {"things": {"api": "things.yaml"}}}))
        with serve("--config", str(tmp_path / "brimgate.yaml"), command=()) as serving:
            answer = exchange(serving.connect(), "POST", "/api/v1/things", {"name": "oak"}, {})
        api.shutdown()
    assert answer.status == 201 and answer.json == {"name": "oak"}
