"""A quick server of one tool, in either era: whatever it says carries the secret of whoever asked. No SDK.

`python secret_server.py stdio`, or `http PORT` (at /mcp). A client that shakes hands tells its secret as its name; in the
newer era every call brings one. `frail` is on pipes, knows no newer era, and dies of what it does not know.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Message = dict[str, Any]
Say = Callable[[Message], None]
MODERN = "2026-07-28"
_SCHEMA = {"name": "tell", "inputSchema": {"type": "object"}}
_CACHE = {"ttlMs": 0, "cacheScope": "private"}
_under_way: set["asyncio.Task[Message]"] = set()


class Failure(Exception):
    pass


def is_modern(params: Message) -> bool:
    return "io.modelcontextprotocol/protocolVersion" in params.get("_meta", {})


async def tell(params: Message, secret: str, say: Say) -> Message:
    """After a while, and with as much noise before as was asked for."""
    given, meta = params.get("arguments", {}), params.get("_meta", {})
    words = f"{given.get('secret', secret)} call-{given['call']}"
    for step in range(given.get("steps", 0)):
        progress = {"progressToken": meta.get("progressToken"), "progress": step + 1, "message": words}
        say({"method": "notifications/progress", "params": progress})
        await asyncio.sleep(0.001)
    await asyncio.sleep(given.get("delay", 0.0))
    if given.get("logs"):
        say({"method": "notifications/message", "params": {"level": "info", "data": words}})
    if given.get("late"):
        note = {"method": "notifications/message", "params": {"level": "info", "data": words}}
        asyncio.get_running_loop().call_later(0.003, say, note)
    if given.get("hangs"):
        await asyncio.get_running_loop().create_future()
    if given.get("fails"):
        sys.stderr.write(words + "\n")
        raise Failure(words)
    rows = given.get("rows", 0)
    listed = [{"row": row, "words": words, "note": f"{row * 7_919**5 % 10**16:x}"} for row in range(rows)]
    text = json.dumps(listed) if rows else words
    return {"content": [{"type": "text", "text": text}]}


async def answer(method: str, params: Message, secret: str, say: Say) -> Message:
    """`result` or `error`."""
    more: Message = {"resultType": "complete"} if is_modern(params) else {}
    match method:
        case "initialize":
            who = {"name": "secret", "version": "1"}
            version = params["protocolVersion"]
            told = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": who}
            return {"result": told}
        case "server/discover" if more:
            told = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, **_CACHE}
            return {"result": told | more}
        case "tools/list":
            return {"result": {"tools": [_SCHEMA]} | more | (_CACHE if more else {})}
        case "tools/call":
            try:
                return {"result": await tell(params, secret, say) | more}
            except Failure as failure:
                return {"error": {"code": -32050, "message": str(failure), "data": {"said": str(failure)}}}
        case "ping":
            return {"result": {}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


class Conversation:
    """What one client has under way, and may call off."""

    def __init__(self) -> None:
        self.secret = ""
        self.tasks: dict[Any, asyncio.Task[Message]] = {}

    def begin(self, message: Message, say: Say) -> "asyncio.Task[Message]":
        key, method, params = message["id"], message["method"], message.get("params", {})
        if method == "initialize":
            self.secret = params["clientInfo"]["name"]
        task = asyncio.create_task(answer(method, params, self.secret, say))
        _under_way.add(task)
        task.add_done_callback(_under_way.discard)
        if not params.get("arguments", {}).get("deaf"):
            self.tasks[key] = task
            task.add_done_callback(lambda _: self.tasks.pop(key, None))
        return task

    def note(self, message: Message) -> None:
        if message.get("method") == "notifications/cancelled":
            task = self.tasks.get(message["params"]["requestId"])
            if task is not None:
                task.cancel()


async def serve_stdio(*, frail: bool) -> None:
    reader = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    conversation = Conversation()

    def say(message: Message) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        sys.stdout.flush()

    def told(key: Any, task: "asyncio.Task[Message]") -> None:
        if not task.cancelled():
            say({"id": key} | task.result())

    while line := await reader.readline():
        message = json.loads(line)
        if "id" not in message:
            conversation.note(message)
            continue
        if frail and message["method"] == "server/discover":
            sys.exit(3)
        task = conversation.begin(message, say)
        task.add_done_callback(lambda task, key=message["id"]: told(key, task))


class HttpServer:
    def __init__(self) -> None:
        self._sessions: dict[str, Conversation] = {}

    async def serve(self, port: int) -> None:
        async with await asyncio.start_server(self._connected, "127.0.0.1", port) as server:
            await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                first, *lines = head.decode("latin-1").split("\r\n")
                pairs = (line.partition(":") for line in lines if line)
                headers = {name.lower(): value.strip() for name, _, value in pairs}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if not first.startswith("POST"):
                    _reply(writer, "405 Method Not Allowed", b"")
                elif not await self._post(headers, json.loads(body), reader, writer):
                    break
        writer.close()

    async def _post(
        self,
        headers: dict[str, str],
        message: Message,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """False once the connection is of no more use."""
        given = headers.get("mcp-session-id", "")
        if given and given not in self._sessions:
            error = {"code": -32600, "message": "Session not found"}
            _reply(writer, "404 Not Found", _document({"id": "server-error", "error": error}))
            return True
        conversation = self._sessions.get(given) or Conversation()
        if "id" not in message:
            conversation.note(message)
            _reply(writer, "202 Accepted", b"")
            return True
        more = ""
        if message["method"] == "initialize":
            more = f"mcp-session-id: {id(conversation):032x}\r\n"
            self._sessions[f"{id(conversation):032x}"] = conversation
        return await self._exchange(conversation, message, more, reader, writer)

    async def _exchange(
        self,
        conversation: Conversation,
        message: Message,
        more: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        has_begun = False

        def say(note: Message) -> None:
            nonlocal has_begun
            if not has_begun:
                writer.write(_head("200 OK", "text/event-stream", "transfer-encoding: chunked\r\n"))
                has_begun = True
            _event(writer, note)

        task = conversation.begin(message, say)
        gone = asyncio.create_task(reader.read(1))
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if gone.done():
            task.cancel()  # nobody pipelines: what came is the end
            return False
        gone.cancel()
        await asyncio.wait({gone})
        error = {"error": {"code": -32800, "message": "Request cancelled"}}
        told = {"id": message["id"]} | (error if task.cancelled() else task.result())
        if has_begun:
            _event(writer, told)
            writer.write(b"0\r\n\r\n")
        else:
            _reply(writer, "200 OK", _document(told), more)
        await writer.drain()
        return True


def _document(message: Message) -> bytes:
    return json.dumps({"jsonrpc": "2.0"} | message).encode()


def _head(status: str, kind: str, more: str) -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{more}\r\n".encode()


def _reply(writer: asyncio.StreamWriter, status: str, body: bytes, more: str = "") -> None:
    writer.write(_head(status, "application/json", f"{more}content-length: {len(body)}\r\n") + body)


def _event(writer: asyncio.StreamWriter, message: Message) -> None:
    event = b"event: message\ndata: " + _document(message) + b"\n\n"
    writer.write(b"%x\r\n%b\r\n" % (len(event), event))


if __name__ == "__main__":
    if sys.argv[1] == "http":
        asyncio.run(HttpServer().serve(int(sys.argv[2])))
    else:
        asyncio.run(serve_stdio(frail=sys.argv[1] == "frail"))
