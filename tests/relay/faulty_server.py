"""An MCP server that does whatever its caller names: answers, dies, hangs, floods. Raw lines, no SDK."""

import base64
import json
import os
import signal
import struct
import subprocess
import sys
import time
import zlib
from typing import Any


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
    sys.stdout.flush()


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": content}]} | more


def picture() -> dict[str, Any]:
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 320, 200, 8, 2, 0, 0, 0)
    data = header + struct.pack(">I", zlib.crc32(header[12:])) + bytes(20_000)
    return {"type": "image", "mimeType": "image/png", "data": base64.b64encode(data).decode()}


ROWS = [
    {"id": 1_000 + n, "guest": f"Guest {n}", "status": "confirmed", "notes": f"note {n} " * 12}
    for n in range(1_800)
]


HELD: list[Any] = []
"""Calls that are answered only when somebody says `release`."""


def call(key: Any, name: str, arguments: dict[str, Any], token: Any) -> None:
    match name:
        case "echo":
            send({"id": key, "result": text(arguments.get("text", "ok"))})
        case "pid":
            send({"id": key, "result": text(str(os.getpid()))})
        case "environment":
            told = {"cwd": os.getcwd(), "value": os.environ.get("FAULTY_VALUE")}  # noqa: PTH109
            send({"id": key, "result": text(json.dumps(told))})
        case "rows":
            send({"id": key, "result": text(json.dumps(ROWS[: arguments.get("count")]))})
        case "flood":
            size = arguments["bytes"]
            line = "2026-11-16 12:00:00 INFO request served in 12 ms\n"
            send({"id": key, "result": text(line * (size // len(line)))})
        case "die":
            sys.stderr.write("out of luck\n")
            sys.stderr.flush()
            os._exit(arguments.get("code", 3))
        case "hang":
            return
        case "hold":
            HELD.append(key)
        case "release":
            for held in [*HELD, key]:
                send({"id": held, "result": text(json.dumps(ROWS))})
            HELD.clear()
        case "garbage":
            sys.stdout.write("Listening on stdio…\n\n{not json}\n[1,\n\x00\x01\n")
            send({"id": key, "result": text("after garbage")})
        case "twice":
            send({"id": key, "result": text("first")})
            send({"id": key, "result": text("second " * 20_000)})
        case "strange_id":
            send({"id": "nobody asked", "result": text("x " * 50_000)})
            send({"id": key, "result": text("mine")})
        case "mute":
            os.close(1)
            time.sleep(600)
        case "stderr":
            sys.stderr.write("complaint\n" * 500_000)
            sys.stderr.flush()
            send({"id": key, "result": text("still here")})
        case "endless":
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{json.dumps(key)},"result":{{"content":[{{"text":"')
            while True:
                sys.stdout.write("x" * 65_536)
        case "too_long":
            send({"id": key, "result": {"x": "x" * arguments["bytes"]}})
        case "child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            send({"id": key, "result": text(str(child.pid))})
        case "progress":
            for step in (1, 2, 3):
                params = {"progressToken": token, "progress": step, "total": 3}
                send({"method": "notifications/progress", "params": params})
            send({"id": key, "result": text("line of a report\n" * 12_000)})
        case "both":
            listing = {"status": "success", "count": len(ROWS), "result": ROWS, "next_page_token": "tok-2"}
            send(
                {
                    "id": key,
                    "result": text(json.dumps(listing, separators=(",", ":")), structuredContent=listing),
                }
            )
        case "error_result":
            send({"id": key, "result": text("Traceback: something\n" * 2_500, isError=True)})
        case "picture":
            result = text("a long caption. " * 15_000)
            result["content"].append(picture())
            send({"id": key, "result": result})
        case "rpc_error":
            data = {"trace": ["frame " + "x" * 80] * 2_000, "retryable": False}
            send({"id": key, "error": {"code": -32042, "message": "query failed", "data": data}})
        case "envelope":
            body = {"items": ROWS, "next_page_token": "tok-9", "total": 1_800}
            send({"id": key, "result": text(json.dumps(body))})
        case _:
            send({"id": key, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})


def answer(message: dict[str, Any]) -> None:
    if "id" not in message or "method" not in message:
        return
    params = message.get("params") or {}
    match message["method"]:
        case "initialize":
            capabilities = {"tools": {}, "resources": {}}
            told = {"protocolVersion": "2025-06-18", "capabilities": capabilities}
            send({"id": message["id"], "result": told | {"serverInfo": {"name": "faulty", "version": "1"}}})
        case "tools/list":
            send(
                {
                    "id": message["id"],
                    "result": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
                }
            )
        case "tools/call":
            token = (params.get("_meta") or {}).get("progressToken")
            call(message["id"], params["name"], params.get("arguments") or {}, token)
        case "resources/read":
            contents = [
                {"uri": params["uri"], "mimeType": "text/plain", "text": "A line of the book.\n" * 5_650}
            ]
            send({"id": message["id"], "result": {"contents": contents}})
        case _:
            send({"id": message["id"], "result": {}})


def main() -> None:
    if "--stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        read = json.loads(line)
        for message in read if isinstance(read, list) else [read]:
            answer(message)
    if "--stubborn" in sys.argv:
        time.sleep(600)


if __name__ == "__main__":
    main()
