"""An MCP server that tells whatever answer its caller names: on stdio in raw lines, or over HTTP. No SDK.

`python telling_server.py FILE`: the file has the answers, as a JSON object of texts by name.
"""

import json
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

Texts = Mapping[str, str]


def _block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _call(name: str, arguments: dict[str, Any], texts: Texts) -> dict[str, Any]:
    match name:
        case "tell" | "open":
            return {"result": {"content": [_block(texts[arguments["shape"]])]}}
        case "fail":
            return {"result": {"content": [_block("it went wrong")], "isError": True}}
        case "break":
            return {"error": {"code": -32050, "message": "out of order"}}
        case _:
            return {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}


def answer_to(message: dict[str, Any], texts: Texts) -> dict[str, Any] | None:
    """The answer to a request, None for anything else."""
    if "id" not in message or "method" not in message:
        return None
    params: dict[str, Any] = message.get("params") or {}
    told: dict[str, Any]
    match message["method"]:
        case "initialize":
            capabilities: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
            who = {"name": "telling", "version": "1"}
            told = {
                "result": {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": capabilities,
                    "serverInfo": who,
                }
            }
        case "tools/list":
            names = ("tell", "open", "fail", "break", "secret")
            schema = {"type": "object", "properties": {"shape": {"type": "string"}}}
            told = {"result": {"tools": [{"name": one, "inputSchema": schema} for one in names]}}
        case "tools/call":
            told = _call(params["name"], params.get("arguments") or {}, texts)
        case "resources/read":
            shape = params["uri"].rpartition("/")[2]
            told = {"result": {"contents": [{"uri": params["uri"], "text": texts[shape]}]}}
        case "prompts/get":
            told = {"result": {"messages": [{"role": "user", "content": _block(texts[params["name"]])}]}}
        case "tasks/result":
            told = {"result": {"content": [_block(texts[params["taskId"]])]}}
        case _:
            told = {"result": {}}
    return {"jsonrpc": "2.0", "id": message["id"]} | told


def answers_to(body: bytes, texts: Texts) -> bytes:
    """The answer to a line, which may be a batch; nothing if none is due."""
    read = json.loads(body)
    if isinstance(read, list):
        found = [answer_to(one, texts) for one in read]
        told: Any = [one for one in found if one is not None]
    else:
        told = answer_to(read, texts)
    return json.dumps(told).encode() if told else b""


def over_http(texts: Texts) -> Any:
    """The same server as an ASGI application. Each handshake begins a session."""
    sessions = count(1)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            event = await receive()
            body, more = body + event.get("body", b""), event.get("more_body", False)
        told = answers_to(body, texts) if scope["method"] == "POST" else b""
        status = 200 if told else (202 if scope["method"] == "POST" else 405)
        headers = [(b"content-type", b"application/json")]
        if b'"initialize"' in body:
            headers.append((b"mcp-session-id", b"telling-%d" % next(sessions)))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": told})

    return app


def main() -> None:
    texts = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for line in sys.stdin.buffer:
        if told := answers_to(line, texts):
            sys.stdout.buffer.write(told + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
