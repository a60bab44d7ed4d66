"""That Brimgate does its work on the way: a relay that rewrites nothing passes the suite as well."""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from tests.conformance.processes import PATIENCE_SECONDS
from tests.conformance.suite import MODERN
from tests.conformance.tools import LARGE_LIST

_READ: Final = "brimgate_read"
_TASKS: Final = "io.modelcontextprotocol/tasks"
_PAUSE_SECONDS: Final = 0.1
_CLIENT: Final = {"name": "conformance-run", "version": "1"}


class Talk:
    """A client of one revision, on raw HTTP. Each request has a connection of its own."""

    def __init__(self, url: str, revision: str, **extensions: Any) -> None:
        self._address, self.revision = urlsplit(url), revision
        self._capabilities = {"extensions": extensions} if extensions else {}
        self._session: str | None = None
        self._ids = 0

    def begin(self) -> None:
        if self.revision != MODERN:
            hello = {"protocolVersion": self.revision, "capabilities": {}, "clientInfo": _CLIENT}
            self.request("initialize", hello)
            self._exchange("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})

    def end(self) -> None:
        if self._session:
            self._exchange("DELETE", None)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result; raises when there is none."""
        self._ids += 1
        if self.revision == MODERN:
            params = params | {
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": self.revision,
                    "io.modelcontextprotocol/clientInfo": _CLIENT,
                    "io.modelcontextprotocol/clientCapabilities": self._capabilities,
                }
            }
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        answer = self._exchange("POST", message)
        if "result" not in answer:
            raise RuntimeError(f"{method} was answered with {json.dumps(answer)[:300]}")
        return answer["result"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def _headers(self, message: dict[str, Any] | None) -> dict[str, str]:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": self.revision,
        }
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        if message and self.revision == MODERN:
            headers["Mcp-Method"] = message["method"]
            if name := message["params"].get("name") or message["params"].get("taskId"):
                headers["Mcp-Name"] = name
        return headers

    def _exchange(self, verb: str, message: dict[str, Any] | None) -> dict[str, Any]:
        body = json.dumps(message).encode() if message else None
        address = self._address
        connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=PATIENCE_SECONDS
        )
        try:
            connection.request(verb, address.path, body, self._headers(message))
            response = connection.getresponse()
            self._session = response.getheader("Mcp-Session-Id") or self._session
            return _answer(response, message.get("id") if message else None)
        finally:
            connection.close()


def _answer(response: http.client.HTTPResponse, key: int | None) -> dict[str, Any]:
    if "text/event-stream" in (response.getheader("Content-Type") or ""):
        return next((event for event in _events(response) if event.get("id") == key), {})
    text = response.read()
    with suppress(ValueError):
        return json.loads(text) if text else {}
    return {"status": response.status, "text": text.decode("utf-8", "replace")}


def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    data = b""
    for line in response:
        field, _, value = line.rstrip(b"\r\n").partition(b":")
        if field == b"data":
            data += value.removeprefix(b" ") + b"\n"
        elif not field and data.strip():
            yield json.loads(data)
            data = b""


def examine(url: str, revision: str) -> dict[str, str]:
    """What Brimgate has to do, each with what is wrong about it; empty if nothing."""
    talk = Talk(url, revision)
    talk.begin()
    tools = {tool["name"]: tool for tool in talk.request("tools/list", {})["tools"]}
    first = talk.call(LARGE_LIST)
    found = {
        "listed": "" if _READ in tools else f"there is no {_READ}",
        "schema dropped": "the outputSchema is there" if "outputSchema" in tools[LARGE_LIST] else "",
        "reduced": _wrong_with_reply(first),
        "read on": _wrong_with_reading(talk.call, first),
    }
    talk.end()
    return found | (_examine_task(url, revision) if revision == MODERN else {})


def _examine_task(url: str, revision: str) -> dict[str, str]:
    """Reads the large answer as the result of a task, where the server has tasks."""
    talk = Talk(url, revision, **{_TASKS: {}})
    offered = talk.request("server/discover", {})["capabilities"].get("extensions", {})
    if _TASKS not in offered:
        return {}
    task = talk.call(LARGE_LIST)
    if task.get("resultType") != "task":
        return {"run as a task": f"answered with {json.dumps(task)[:300]}"}
    result = _finished(talk, task["taskId"])
    return {
        "reduced in a task": _wrong_with_reply(result),
        "read on from a task": _wrong_with_reading(talk.call, result),
    }


def _finished(talk: Talk, task: str) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        told = talk.request("tasks/get", {"taskId": task})
        if told["status"] != "working":
            return told.get("result", {})
        time.sleep(_PAUSE_SECONDS)
    raise RuntimeError(f"the task is not done after {PATIENCE_SECONDS:.0f} s")


def _record(result: dict[str, Any]) -> dict[str, Any]:
    return result.get("_meta", {}).get("brimgate/result", {})


def _wrong_with_reply(result: dict[str, Any]) -> str:
    if not _record(result):
        return "there is no record in _meta"
    if "structuredContent" in result:
        return "structuredContent is there"
    return ""


def _wrong_with_reading(call: Callable[..., dict[str, Any]], first: dict[str, Any]) -> str:
    cursor = _record(first).get("nextCursor")
    if not cursor:
        return "there is no nextCursor"
    second = call(_READ, cursor=cursor)
    if second.get("isError"):
        return f"answered with an error: {json.dumps(second)[:300]}"
    if second["content"] == first["content"]:
        return "answered with the same again"
    return _wrong_with_reply(second)
