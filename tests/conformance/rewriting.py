"""That Brimgate does its work on the way: a relay that rewrites nothing passes the suite as well."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from tests.conformance.processes import PATIENCE_SECONDS
from tests.conformance.suite import REVISIONS
from tests.conformance.tools import LARGE_LIST

_READ: Final = "brimgate_read"
_LEGACY, _MODERN = REVISIONS
_CLIENT: Final = {"name": "conformance-run", "version": "1"}


class Talk:
    """A client of one revision, on raw HTTP. Each request has a connection of its own."""

    def __init__(self, url: str, revision: str) -> None:
        self._address, self.revision = urlsplit(url), revision
        self._session: str | None = None
        self._ids = 0

    def begin(self) -> None:
        if self.revision == _LEGACY:
            hello = {"protocolVersion": self.revision, "capabilities": {}, "clientInfo": _CLIENT}
            self.request("initialize", hello)
            self._exchange("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})

    def end(self) -> None:
        if self._session:
            self._exchange("DELETE", None)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result; raises when there is none."""
        self._ids += 1
        if self.revision == _MODERN:
            params = params | {
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": self.revision,
                    "io.modelcontextprotocol/clientInfo": _CLIENT,
                    "io.modelcontextprotocol/clientCapabilities": {},
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
        if message and self.revision == _MODERN:
            headers["Mcp-Method"] = message["method"]
            if "name" in message["params"]:
                headers["Mcp-Name"] = message["params"]["name"]
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
    return found


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
