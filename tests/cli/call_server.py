"""An MCP server on stdio in raw lines, well-behaved or not. No SDK.

`python call_server.py MODE JOURNAL`: every start, every line that is no request, and every call go into the journal.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

MODE, JOURNAL = sys.argv[1], Path(sys.argv[2])
MODERN = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NASTY = {
    "type": "object",
    "$defs": {
        "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"$ref": "#/$defs/Loop"}]},
        "Kind": {"enum": ["node", "edge", 7]},
    },
    "properties": {
        "kind": {"$ref": "#/$defs/Kind"},
        "loop": {"$ref": "#/$defs/Loop"},
        "gone": {"$ref": "#/$defs/Gone"},
        "away": {"$ref": "https://example.invalid/schema.json"},
        "odd": {"type": 17, "enum": "no list", "items": []},
        "any": True,
    },
    "required": "kind",
}
PLAIN = ("echo", "ask", "report", "die", "break", "hang", "refuse", "excuse", "input", "fail")
TOOLS: list[dict[str, Any]] = [
    *({"name": name, "description": f"Tool {name}. More of it.", "inputSchema": TEXT} for name in PLAIN),
    {"name": "wipe", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}},
    {
        "name": "look",
        "inputSchema": {"type": "object"},
        "annotations": {"destructiveHint": True, "readOnlyHint": True},
    },
    {"name": "nasty", "description": "Rings \x1b[31m\x07 a bell.\nAnd more.", "inputSchema": NASTY},
    {"name": "bare", "inputSchema": None},
    {"name": 5},
]


def note(text: str) -> None:
    with JOURNAL.open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message = json.loads(line)
    if "id" not in message or "method" not in message or message["method"] == "tools/call":
        note(line.rstrip("\n"))
    return message


def text(content: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": content}]} | (
        {"resultType": "complete"} if MODE == "modern" else {}
    )


def ask() -> str:
    """What a client says that is asked for things in the middle of a call."""
    said: list[str] = []
    for key, method in (("a", "ping"), ("b", "sampling/createMessage"), ("c", "roots/list")):
        send({"id": key, "method": method, "params": {}})
        answer = receive()
        said.append(f"{answer['id']} {'ok' if answer.get('result') == {} else answer['error']['code']}")
    return ", ".join(said)


def report(token: Any, gate: str) -> None:
    """Says how far it is, and goes on when somebody opens the other end of a pipe."""
    send(
        {
            "method": "notifications/progress",
            "params": {"progressToken": "another", "progress": 1, "message": "no"},
        }
    )
    send({"method": "notifications/progress", "params": {"progressToken": token, "progress": "not a number"}})
    params = {"progressToken": token, "progress": 3, "total": 9, "message": "counting\x1b[31m sheep"}
    send({"method": "notifications/progress", "params": params})
    Path(gate).read_bytes()


def call(key: Any, name: str, params: dict[str, Any]) -> None:
    given = params.get("arguments", {}).get("text", "")
    match name:
        case "ask":
            send({"id": key, "result": text(ask())})
        case "report":
            report(params["_meta"]["progressToken"], given)
            send({"id": 999, "result": text("for nobody")})
            send({"id": key, "result": text("done")})
        case "die":
            sys.stderr.write("out of \x1b[31m sheep\n")
            sys.exit(3)
        case "break":
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{key},"result":{{"content":[\n')
            sys.stdout.flush()
        case "hang":
            note("hanging")
        case "refuse":
            send(
                {
                    "id": key,
                    "error": {"code": -32050, "message": "not \x1b[31m today " + "x" * 5_000, "data": [1]},
                }
            )
        case "excuse":
            send({"id": key, "error": {"code": -32000, "message": given}})
        case "input":
            send({"id": key, "result": {"resultType": "input_required", "inputRequests": {}}})
        case "fail":
            send({"id": key, "result": text("it went wrong") | {"isError": True}})
        case _:
            send({"id": key, "result": text(f"{name}: {given}")})


def list_tools(key: Any, params: dict[str, Any]) -> None:
    page = int(params.get("cursor", 0))
    if MODE == "pages" and page < 2:
        listed = {"tools": TOOLS[page * 3 : page * 3 + 3], "nextCursor": str(page + 1)}
    elif MODE == "pages":
        listed = {"tools": TOOLS[page * 3 :]}
    elif MODE == "loop":
        listed = {"tools": TOOLS, "nextCursor": "1"}
    else:
        listed = {"tools": TOOLS}
    send({"id": key, "result": listed})


def answer(message: dict[str, Any]) -> None:
    if "id" not in message or "method" not in message:
        return
    key, method, params = message["id"], message["method"], message.get("params", {})
    if MODE == "modern" and params.get("_meta", {}).get(VERSION_KEY) != MODERN:
        send({"id": key, "error": {"code": -32022, "message": "Unsupported protocol version"}})
    elif method == "server/discover" and MODE == "modern":
        send({"id": key, "result": {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}})
    elif method == "initialize" and MODE == "refusing":
        send({"id": key, "error": {"code": -32603, "message": "come back later"}})
    elif method == "initialize" and MODE != "modern":
        told = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "t", "version": "1"},
        }
        send({"id": key, "result": told})
    elif method == "tools/list":
        list_tools(key, params)
    elif method == "tools/call":
        call(key, params["name"], params)
    else:
        send({"id": key, "error": {"code": -32601, "message": "Method not found"}})


def litter() -> None:
    """What does not belong on standard output."""
    sys.stdout.buffer.write(
        b'starting up...\n\n\xff\xfe\n{"level":30,"id":1,"msg":"hi"}\n[]\n{"id":1,\nnull\n'
    )
    sys.stdout.buffer.flush()


def main() -> None:
    note(f"start {os.getpid()}")
    if MODE == "dead":
        sys.stderr.write("no licence\n")
        sys.exit(7)
    while True:
        message = receive()
        if MODE == "littering":
            litter()
        if MODE != "silent":
            answer(message)


if __name__ == "__main__":
    main()
