"""MCP servers on stdio that say too much: `garbage` lines without end, or 20 MB of `events` for each call.

`quiet` answers and says nothing more. Handshake revisions only; quick to start.
"""

import json
import sys
import threading

_GARBAGE = b"not a message\n" * 5_000
_EVENT = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 900}}
_EVENTS = (json.dumps(_EVENT).encode() + b"\n") * 100
_EVENT_BYTES = 20 << 20
_INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "logging": {}},
    "serverInfo": {"name": "flood", "version": "1"},
}
_SENDING = threading.Lock()


def send(data: bytes) -> None:
    with _SENDING:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def say_garbage() -> None:
    while True:
        send(_GARBAGE)


def answer(kind: str, message: dict) -> None:
    is_greeting = message["method"] == "initialize"
    result = _INITIALIZED if is_greeting else {"content": [{"type": "text", "text": "ok"}], "tools": []}
    if message["method"] == "tools/call" and kind == "events":
        for _ in range(_EVENT_BYTES // len(_EVENTS)):
            send(_EVENTS)
    send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() + b"\n")
    if is_greeting and kind == "garbage":
        threading.Thread(target=say_garbage, daemon=True).start()


if __name__ == "__main__":
    for line in sys.stdin.buffer:
        if "id" in (message := json.loads(line)):
            answer(sys.argv[1], message)
