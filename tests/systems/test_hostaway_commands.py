"""The Hostaway pack from a shell: with an account, without one, in the sandbox, and a call at a time."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from brimgate.sandboxes.hostaway import sandbox
from tests.config.running import BRIMGATE, environment, gateway
from tests.hostaway.asking import SMALL
from tests.http.serving import PATIENCE, serve, wait_until
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
        assert serving.get("/api/v1/listings?limit=1").json["count"] == 12
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
        assert len(json.loads(whole.stdout)["result"]) == 3


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
