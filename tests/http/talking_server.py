"""An MCP server of both eras that tells what it was told, and talks as much as it is asked to. Raw lines, no SDK."""

import json
import os
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

IS_OLD = "--old" in sys.argv
_sending = threading.Lock()
_heard: deque[str] = deque(maxlen=40)
"""The last lines that came, as they came."""


def send(**message: Any) -> None:
    with _sending:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        sys.stdout.flush()


def answer(key: Any, text: str) -> None:
    send(id=key, result={"resultType": "complete", "content": [{"type": "text", "text": text}]})


def pour(key: Any, arguments: dict[str, Any], token: Any) -> None:
    """Speaks of its progress, at length; a file tells how far it has come."""
    for step in range(arguments["count"]):
        said = {"progressToken": token, "progress": step, "message": "x" * arguments["bytes"]}
        send(method="notifications/progress", params=said)
        if step % 16 == 0 and "path" in arguments:
            Path(arguments["path"]).write_text(str(step), encoding="utf-8")
    if "path" in arguments:
        Path(arguments["path"]).write_text("done", encoding="utf-8")
    answer(key, "poured")


def wait(key: Any, arguments: dict[str, Any], _: Any) -> None:
    while not Path(arguments["path"]).exists():
        time.sleep(0.01)
    answer(key, "at last")


def call(key: Any, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    token = meta.get("progressToken")
    if "io.modelcontextprotocol/logLevel" in meta:
        send(method="notifications/message", params={"level": "info", "data": name})
    match name:
        case "pour" | "wait":
            work = pour if name == "pour" else wait
            threading.Thread(target=work, args=(key, arguments, token), daemon=True).start()
        case "heard":
            answer(key, json.dumps(list(_heard)))
        case "progress":
            for step in range(arguments.get("steps", 1)):
                send(method="notifications/progress", params={"progressToken": token, "progress": step})
            answer(key, "ok")
        case "deaf":
            answer(key, "ok")
            time.sleep(600)
        case "hang":
            return
        case "echo":
            answer(key, str(arguments.get("text", "ok")))
        case "pid":
            answer(key, str(os.getpid()))
        case "die":
            os._exit(3)
        case _:
            send(id=key, error={"code": -32602, "message": f"Unknown tool: {name}"})


def take(line: str) -> None:
    _heard.append(line[:300])
    try:
        message = json.loads(line)
    except ValueError:
        return
    for one in message if isinstance(message, list) else [message]:
        do(one)


def do(message: Any) -> None:
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        return
    key, params = message["id"], message.get("params") or {}
    who = {"serverInfo": {"name": "talking", "version": "1"}, "capabilities": {"tools": {}}}
    match message["method"]:
        case "initialize":
            send(id=key, result=who | {"protocolVersion": "2025-11-25"})
        case "server/discover" if not IS_OLD:
            send(id=key, result=who | {"resultType": "complete", "supportedVersions": ["2026-07-28"]})
        case "tools/list":
            schema = {
                "type": "object",
                "properties": {"text": {"type": "string", "x-mcp-header": "Text"}},
            }
            tools = [{"name": "marked", "inputSchema": schema}, {"name": "pour", "inputSchema": {}}]
            send(id=key, result={"resultType": "complete", "tools": tools})
        case "tools/call":
            call(key, params["name"], params.get("arguments") or {}, params.get("_meta") or {})
        case _:
            send(id=key, error={"code": -32601, "message": "Method not found"})


def main() -> None:
    for line in sys.stdin:
        take(line)


if __name__ == "__main__":
    main()
