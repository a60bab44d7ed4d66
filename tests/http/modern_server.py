"""A server of 2026-07-28 on stdio, in raw lines: answers out of order, logs, subscriptions, arguments in headers.

`python modern_server.py JOURNAL`: every start and every cancellation is a line in the journal.
"""

import json
import os
import sys
import threading
import time
from typing import Any

JOURNAL = sys.argv[1]
META_LEVEL = "io.modelcontextprotocol/logLevel"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_lock = threading.Lock()
_listening: list[Any] = []


def note(text: str) -> None:
    with open(JOURNAL, "a", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text + "\n")


def send(message: dict[str, Any]) -> None:
    with _lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        sys.stdout.flush()


def text(content: str) -> dict[str, Any]:
    return {"resultType": "complete", "content": [{"type": "text", "text": content}]}


TOOLS = [
    {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {
        "name": "city",
        "inputSchema": {
            "type": "object",
            "properties": {"city": {"type": "string", "x-mcp-header": "City"}},
        },
    },
]


def call(key: Any, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    time.sleep(arguments.get("delay", 0))
    for step in range(arguments.get("steps", 0)):
        params = {"progressToken": meta.get("progressToken"), "progress": step, "message": arguments["text"]}
        send({"method": "notifications/progress", "params": params})
    if META_LEVEL in meta:
        for _ in range(3):
            send(
                {
                    "method": "notifications/message",
                    "params": {"level": "info", "data": arguments.get("text")},
                }
            )
    match name:
        case "echo":
            send({"id": key, "result": text(arguments.get("text", "ok") * arguments.get("times", 1))})
        case "pid":
            send({"id": key, "result": text(str(os.getpid()))})
        case "city":
            send({"id": key, "result": text(arguments["city"])})
        case "die":
            os._exit(3)
        case "hang":
            return
        case "says":
            _lock.acquire()
            sys.stdout.write(arguments["line"].replace("$ID", json.dumps(key)) + "\n")
            sys.stdout.flush()
            _lock.release()
        case "change":
            for listen in _listening:
                params = {"_meta": {META_SUBSCRIPTION: listen}}
                send({"method": "notifications/tools/list_changed", "params": params})
            send({"id": key, "result": text("changed")})
        case _:
            send({"id": key, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})


def answer(message: dict[str, Any]) -> None:
    key, params = message.get("id"), message.get("params") or {}
    lists = {"resultType": "complete", "ttlMs": 1_000, "cacheScope": "public"}
    match message["method"]:
        case "server/discover":
            told = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
            send({"id": key, "result": lists | told})
        case "tools/list":
            note("list")
            send({"id": key, "result": lists | {"tools": TOOLS}})
        case "tools/call":
            work = (key, params["name"], params.get("arguments") or {}, params.get("_meta") or {})
            threading.Thread(target=call, args=work, daemon=True).start()
        case "subscriptions/listen":
            _listening.append(key)
            acknowledged = {"_meta": {META_SUBSCRIPTION: key}, "notifications": {}}
            send({"method": "notifications/subscriptions/acknowledged", "params": acknowledged})
        case "notifications/custom":
            note(f"custom {json.dumps(message)}")
        case "notifications/cancelled":
            note(f"cancelled {params['requestId']}")
            if params["requestId"] in _listening:
                _listening.remove(params["requestId"])
        case _:
            send({"id": key, "error": {"code": -32601, "message": "Method not found"}})


def main() -> None:
    note(f"start {os.getpid()}")
    for line in sys.stdin:
        answer(json.loads(line))


if __name__ == "__main__":
    main()
