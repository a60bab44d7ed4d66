"""The workflow for n8n: it has no secret, and what its nodes send really works against `brimgate serve`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.http.serving import Answer, exchange
from tests.vikunja.team import Team, team

WORKFLOW = Path(__file__).parents[2] / "examples" / "n8n" / "vikunja-team.json"
KINDS = {
    "n8n-nodes-base.scheduleTrigger",
    "n8n-nodes-base.manualTrigger",
    "n8n-nodes-base.httpRequest",
    "@n8n/n8n-nodes-langchain.agent",
    "@n8n/n8n-nodes-langchain.lmChatOpenAi",
    "@n8n/n8n-nodes-langchain.mcpClient",
    "@n8n/n8n-nodes-langchain.mcpClientTool",
}
_SECRET = re.compile(r"tk_[0-9a-f]{8}|eyJ|sk-|[Bb]earer [A-Za-z0-9]|[0-9a-f]{40}")


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    return json.loads(WORKFLOW.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def our() -> Iterator[Team]:
    with team() as one:
        yield one


def node(workflow: dict[str, Any], kind: str) -> dict[str, Any]:
    (found,) = [one for one in workflow["nodes"] if one["type"].endswith(f".{kind}")]
    return found


def send(workflow: dict[str, Any], our: Team, token: str) -> Answer:
    """Send what the HTTP Request node sends, with the credential that n8n adds."""
    told = node(workflow, "httpRequest")["parameters"]
    headers = {one["name"]: one["value"] for one in told["headerParameters"]["parameters"]}
    headers |= {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    path = urlsplit(told["url"]).path
    return exchange(our.serving.connect(), told["method"], path, told["jsonBody"].encode(), headers)


def test_its_parts_belong_together(workflow: dict[str, Any]) -> None:
    names = [one["name"] for one in workflow["nodes"]]
    assert len(set(names)) == len(names)
    assert {one["type"] for one in workflow["nodes"]} == KINDS
    for source, outputs in workflow["connections"].items():
        assert source in names
        targets = [to for ways in outputs.values() for way in ways for to in way]
        assert targets and all(to["node"] in names for to in targets)


def test_it_has_credentials_by_name_and_no_secret(workflow: dict[str, Any]) -> None:
    assert not _SECRET.findall(WORKFLOW.read_text(encoding="utf-8"))
    given = [held for one in workflow["nodes"] for held in one.get("credentials", {}).values()]
    assert given and all(held["id"] is None and held["name"] for held in given)


def test_the_request_over_plain_http_gets_plain_json(workflow: dict[str, Any], our: Team) -> None:
    for name, marker in our.standin.running.settings.markers.items():
        answer = send(workflow, our, our.tokens[name])
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("application/json")
        assert not answer.json["result"].get("isError")
        assert (
            marker
            in answer.json["result"]["content"][0]["text"] + answer.json["result"]["content"][-1]["text"]
        )


def test_a_wrong_token_gets_401_and_a_reason(workflow: dict[str, Any], our: Team) -> None:
    answer = send(workflow, our, "tk_wrong")
    assert answer.status == 401
    assert "token" in answer.json["error"]["message"]


def test_the_mcp_client_calls_a_tool_that_is_there(workflow: dict[str, Any], our: Team) -> None:
    told = node(workflow, "mcpClient")["parameters"]
    alice = our.member("alice")
    assert "Heliotrope" in alice.call(told["tool"]["value"], **json.loads(told["jsonInput"]))
    listed = {one["name"] for one in alice.client.request("tools/list")["result"]["tools"]}
    assert set(node(workflow, "mcpClientTool")["parameters"]["includeTools"]) <= listed


def test_a_call_beyond_the_limit_is_told_when_to_come_back(workflow: dict[str, Any]) -> None:
    with team(env={"BRIMGATE_LIMITS_REQUESTS": "2"}) as few:
        statuses = [send(workflow, few, few.tokens["alice"]) for _ in range(3)]
        assert [one.status for one in statuses] == [200, 200, 429]
        assert int(statuses[-1].headers["retry-after"]) > 0
        assert send(workflow, few, few.tokens["bob"]).status == 200
