"""An MCP server that waits for a file to appear before it answers. Of the older era, or of both; quick to start."""

import json
import os
import sys
import threading
import time

STARTS = os.environ.get("PATIENT_STARTS", "")
"""A file that gets a line for every start."""
IS_MODERN = "--modern" in sys.argv
_SENDING = threading.Lock()


def send(**message: object) -> None:
    with _SENDING:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        sys.stdout.flush()


def answer_when_told(key: object, path: str, size: int) -> None:
    while not os.path.exists(path):  # noqa: PTH110
        time.sleep(0.01)
    answer(key, "x" * size or "at last")


def answer(key: object, text: str) -> None:
    send(id=key, result={"resultType": "complete", "content": [{"type": "text", "text": text}]})


def call(key: object, name: str, arguments: dict[str, object]) -> None:
    match name:
        case "wait":
            given = (key, str(arguments["path"]), int(str(arguments.get("bytes", 0))))
            threading.Thread(target=answer_when_told, args=given, daemon=True).start()
        case "pid":
            answer(key, str(os.getpid()))
        case "die":
            os._exit(3)
        case _:
            answer(key, str(arguments.get("text", "ok")))


def take(message: dict[str, object]) -> None:
    key, params = message.get("id"), message.get("params") or {}
    if key is None or "method" not in message or not isinstance(params, dict):
        return
    who = {"serverInfo": {"name": "patient", "version": "1"}, "capabilities": {"tools": {}}}
    match message["method"]:
        case "initialize":
            send(id=key, result=who | {"protocolVersion": "2025-11-25"})
        case "server/discover" if IS_MODERN:
            send(id=key, result=who | {"resultType": "complete", "supportedVersions": ["2026-07-28"]})
        case "subscriptions/listen" if IS_MODERN:
            meta = {"io.modelcontextprotocol/subscriptionId": key}
            send(
                method="notifications/subscriptions/acknowledged",
                params={"_meta": meta, "notifications": {}},
            )
        case "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("wait", "pid", "echo")]
            send(id=key, result={"resultType": "complete", "tools": tools})
        case "tools/call":
            call(key, str(params["name"]), params.get("arguments") or {})
        case "ping":
            send(id=key, result={})
        case _:
            send(id=key, error={"code": -32601, "message": "Method not found"})


def main() -> None:
    if STARTS:
        with open(STARTS, "a") as file:  # noqa: PTH123
            file.write(f"{os.getpid()}\n")
    for line in sys.stdin:
        take(json.loads(line))


if __name__ == "__main__":
    main()
