"""An MCP server on stdio that spends next to nothing: answers are built once and sent as bytes.

Handshake revisions only. The tool's name says what comes back: `bookings-100000` is one text block, a JSON list
of bookings, in a line of about that many bytes; `log-1000000` is the same with lines of a log, and the name of a
hostile shape gives that shape.
"""

import json
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from brimgate.sandboxes.demo.log import log
from brimgate.testing.bookings import bookings

if TYPE_CHECKING:
    from collections.abc import Callable

_KINDS = ("bookings", "log")
_INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "raw", "version": "1"},
}
_TOOLS = {
    "tools": [
        {"name": f"{kind}-{size}", "description": "As it says.", "inputSchema": {"type": "object"}}
        for kind in _KINDS
        for size in (1_000, 100_000, 1_000_000, 60 << 20)
    ]
}


def answer(message: dict) -> bytes:
    match message["method"]:
        case "initialize":
            return b'"result":' + json.dumps(_INITIALIZED).encode()
        case "tools/list":
            return b'"result":' + json.dumps(_TOOLS).encode()
        case "tools/call":
            return _result(message["params"]["name"])
        case "ping":
            return b'"result":{}'
        case _:
            return b'"error":{"code":-32601,"message":"Method not found"}'


@lru_cache(maxsize=32)
def _result(name: str) -> bytes:
    return _text_result(text_of_call(name))


def text_of_call(name: str) -> str:
    """The text that a call of this tool is answered with."""
    kind, _, size = name.rpartition("-")
    if kind not in _KINDS:
        return _hostile(kind, int(size))
    build: Callable[[int], str] = _bookings if kind == "bookings" else _log
    # Quotes and newlines are escaped on the way, so the text is shorter than the line; 100 are the envelope's.
    sample = build(200_000)
    return build(max(1, int((int(size) - 100) * len(sample) / len(json.dumps(sample)))))


def _hostile(kind: str, size: int) -> str:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # also where only this file is run
    from bench.generators.hostile import SHAPES

    return SHAPES[kind](size).decode()


def _text_result(text: str) -> bytes:
    return (
        b'"result":' + json.dumps({"content": [{"type": "text", "text": text}]}, ensure_ascii=False).encode()
    )


def _bookings(size: int) -> str:
    """Whole bookings, as many as come nearest to `size` bytes."""
    rows = [json.dumps(row) for row in bookings(min(2_000, max(1, size // 300)))["result"]]
    chosen: list[str] = []
    length = 0
    while not chosen or length + len(rows[0]) // 2 < size:
        chosen.append(rows[len(chosen) % len(rows)])
        length += len(chosen[-1]) + 2
    return "[" + ", ".join(chosen) + "]"


def _log(size: int) -> str:
    lines = log(min(10_000, max(10, size // 80)))
    return (lines * (size // len(lines) + 1))[:size]


def main() -> None:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        head = b'{"jsonrpc":"2.0","id":' + json.dumps(message["id"]).encode() + b","
        for part in (head, answer(message), b"}\n"):
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
