"""A server on stdio, in either era, that says what a call tells it to, byte by byte.

`python scripted_server.py JOURNAL`: every line that comes is in the journal, as it came. The argument `lines` of any
request is written in Latin-1 (in UTF-8 where it has other characters), with `$ID` for the id of the request and `$TOKEN` for
its progress token.
"""

import json
import sys
from pathlib import Path
from typing import Any

JOURNAL = Path(sys.argv[1])


def say(text: str) -> None:
    try:
        data = text.encode("latin-1")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogatepass")
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.buffer.flush()


def answer(key: Any, result: dict[str, Any]) -> None:
    say(json.dumps({"jsonrpc": "2.0", "id": key, "result": result}))


def react(message: dict[str, Any]) -> None:
    key, params = message.get("id"), message.get("params") or {}
    match message.get("method"):
        case "initialize":
            who = {"name": "scripted", "version": "1"}
            told = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
            answer(key, told | {"serverInfo": who})
        case "server/discover":
            answer(key, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        case "tools/list":
            answer(key, {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]})
        case _ if key is not None and "lines" in (params.get("arguments") or {}):
            token = (params.get("_meta") or {}).get("progressToken")
            for line in params["arguments"]["lines"]:
                say(line.replace("$ID", json.dumps(key)).replace("$TOKEN", json.dumps(token)))
        case _ if key is not None:
            answer(key, {"method": message.get("method")})
        case _:
            pass


def main() -> None:
    with JOURNAL.open("ab", buffering=0) as journal:
        for line in sys.stdin.buffer:
            journal.write(line)
            read = json.loads(line.decode("utf-8", "replace"), strict=False)
            for message in read if isinstance(read, list) else [read]:
                react(message)


if __name__ == "__main__":
    main()
