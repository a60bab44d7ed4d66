"""An MCP server on stdio that says what a file tells it to. `python hostile_server.py FILE`, which holds
`{"tools": […], "tools_text": "…", "result": …, "asks_forever": true}`: whatever a test wants it to be.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

SCRIPT = json.loads(Path(sys.argv[1]).read_bytes())


def send(data: bytes) -> None:
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.buffer.flush()


def answer(key: Any, result: bytes) -> None:
    send(b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (key, result))


def main() -> None:
    Path(sys.argv[1] + ".pid").write_text(str(os.getpid()))
    for line in sys.stdin:
        message = json.loads(line)
        key, method = message.get("id"), message.get("method")
        if key is None:
            continue
        if method == "initialize":
            told = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "serverInfo": {"name": "h", "version": "1"},
            }
            answer(key, json.dumps(told).encode())
        elif method == "tools/list":
            text = SCRIPT.get("tools_text") or json.dumps(SCRIPT["tools"])
            answer(key, b'{"tools":' + text.encode("utf-8", "surrogateescape") + b"}")
        elif method == "tools/call" and SCRIPT.get("asks_forever"):
            while True:
                send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        elif method == "tools/call":
            answer(key, json.dumps(SCRIPT["result"], ensure_ascii=False).encode())


if __name__ == "__main__":
    main()
