"""A client of one server: does the handshake in its era, lists its tools, calls one. `brimgate call` uses it."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from brimgate.back.channel import Channel, Connect, Line, Listener
from brimgate.errors import AnswerTooLarge, UpstreamError, UpstreamGarbled, UpstreamRefused
from brimgate.relay.calls import spellings
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.client import INITIALIZE, MODERN_META, Discovery, ToolPage
from brimgate.relay.protocol.message import NOTHING, Message, messages_in
from brimgate.relay.protocol.versions import MODERN_VERSION

_MAX_PAGES: Final = 1_000
_MAX_LIST_BYTES: Final = 64 << 20
_SHOWN_BYTES: Final = 200
_PARTING_SECONDS: Final = 0.2
"""Time for a cancellation to reach the server, before the conversation ends."""


@dataclass(frozen=True, slots=True)
class ListedTool:
    name: str
    raw: bytes
    """Its definition as the server sent it."""
    definition: dict[str, Any]

    @property
    def schema(self) -> Any:
        """The schema of its arguments, whatever the server says it is."""
        return self.definition.get("inputSchema")

    @property
    def description(self) -> str:
        text = self.definition.get("description")
        return text if isinstance(text, str) else ""

    @property
    def is_destructive(self) -> bool:
        """Only if it says so: the protocol's own default would make every tool without annotations destructive."""
        given = self.definition.get("annotations")
        hints = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        return hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of a call: the result as the server sent it, or why there is none."""

    result: bytes = b""
    error: bytes = b""
    """The JSON-RPC error as the server sent it."""
    reason: str = ""
    code: int | None = None

    @property
    def has_failed(self) -> bool:
        return not self.result


class ProgressNote(msgspec.Struct):
    progressToken: msgspec.Raw = NOTHING  # noqa: N815  # as on the wire
    progress: float | None = None
    total: float | None = None
    message: str | None = None


class _Kind(msgspec.Struct):
    resultType: str = ""  # noqa: N815  # as on the wire


OnProgress = Callable[[ProgressNote], None]


class McpClient:
    """Sends one request at a time, and answers the server's requests meanwhile, so that nothing waits for us."""

    def __init__(
        self, name: str, connect: Connect, *, max_bytes: int, on_chatter: Callable[[str], None]
    ) -> None:
        self.name, self._connect = name, connect
        self._max_bytes, self._on_chatter = max_bytes, on_chatter
        self._channel: Channel | None = None
        self._waiting: dict[bytes, asyncio.Future[Message]] = {}
        self._last_id = 0
        self._lost: UpstreamError | None = None
        """Why the server can no longer be used."""
        self._meta: dict[str, Any] = {}
        """The `_meta` of every request in the newer era."""
        self._on_progress: OnProgress | None = None
        self._has_cancelled = False
        self._is_over = False
        self.awaited = "connection"
        """What we wait for, for timeout messages."""

    async def open(self) -> None:
        """Connect to the server and do the handshake. Raise UpstreamError if either fails."""
        self._channel = await self._connect(
            Listener(
                on_line=self._heard,
                on_failed=self._failed,
                on_too_long=lambda _: self._lose(self._too_large()),
                on_lost=lambda _, failure: self._lose(failure),
                on_pressure=lambda _: None,
                on_chatter=self._on_chatter,
            )
        )
        await self._greet()

    async def end(self, grace_seconds: float) -> None:
        if self._channel is None:
            return
        if self._has_cancelled and not self._lost:
            await asyncio.sleep(_PARTING_SECONDS)
        self._is_over = True
        await self._channel.end(grace_seconds)

    # The handshake

    async def _greet(self) -> None:
        """Try the older era first, which most servers speak. A server that refuses it may speak the newer one."""
        told = await self._request("initialize", INITIALIZE)
        if not told.has_error:
            self._send({"method": "notifications/initialized"})
        elif not await self._discover():
            raise self._refusal("initialize", told)

    async def _discover(self) -> bool:
        """Return whether the server speaks the newer era, which has no handshake."""
        self._meta = MODERN_META
        told = await self._request("server/discover", {})
        if told.has_error:
            return False
        versions = self._decode(told, Discovery, "server/discover").supportedVersions
        if MODERN_VERSION not in versions:
            known = ", ".join(version[:20] for version in versions[:10]) or "none"
            raise UpstreamRefused(
                f"the upstream {self.name} speaks no version of MCP that we do; it speaks: {known}"
            )
        return True

    # Tools

    async def tools(self) -> list[ListedTool]:
        """Return all tools. A list that leads back to an earlier page ends there."""
        found: dict[str, ListedTool] = {}
        cursors: set[str | None] = set()
        cursor: str | None = None
        size = 0
        while cursor not in cursors:
            cursors.add(cursor)
            told = await self._request("tools/list", {} if cursor is None else {"cursor": cursor})
            if told.has_error:
                raise self._refusal("tools/list", told)
            page = self._decode(told, ToolPage, "tools/list")
            for raw in page.tools:
                tool = _read_tool(bytes(raw))
                if tool is not None:
                    found.setdefault(tool.name, tool)
            cursor = page.nextCursor
            size += len(memoryview(told.result))
            if not cursor:
                break
            if size > _MAX_LIST_BYTES or len(cursors) >= _MAX_PAGES:
                raise AnswerTooLarge(f"the upstream {self.name} has a list of tools that does not end")
        return list(found.values())

    async def call(self, tool: str, arguments: bytes, on_progress: OnProgress | None = None) -> CallOutcome:
        """Call a tool. `arguments` is the text of a JSON object, which is sent unchanged."""
        self._on_progress = on_progress
        try:
            told = await self._request(
                "tools/call", {"name": tool, "arguments": msgspec.Raw(arguments)}, reports=True
            )
        finally:
            self._on_progress = None
        if told.has_error:
            return _failure(told)
        result = bytes(told.result)
        if self._meta and _kind_of(result) == "input_required":
            reason = "it asks for input in the middle of the call, which a command line cannot give"
            return CallOutcome(
                error=rpc.encode({"code": rpc.UPSTREAM_GONE, "message": reason}), reason=reason
            )
        return CallOutcome(result)

    # Out

    async def _request(self, method: str, params: dict[str, Any], *, reports: bool = False) -> Message:
        """Send a request and return the answer, even if it is an error. Raise UpstreamError if there will be none."""
        if self._lost is not None:
            raise self._lost
        self._last_id += 1
        self.awaited = f"answer to {method}"
        key = b"%d" % self._last_id
        answered: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[key] = answered
        meta = self._meta | ({"progressToken": self._last_id} if reports else {})
        given = params | ({"_meta": meta} if meta else {})
        self._send({"id": self._last_id, "method": method, "params": given})
        try:
            return await answered
        except asyncio.CancelledError:
            if method != "initialize":  # which must not be cancelled, says the protocol
                self._cancel(self._last_id)
            raise
        finally:
            del self._waiting[key]

    def _cancel(self, number: int) -> None:
        self._has_cancelled = True
        params = {"requestId": number, "reason": "the caller waits no longer"}
        self._send({"method": "notifications/cancelled", "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        if self._channel is not None and not self._lost:
            self._channel.send(rpc.encode({"jsonrpc": "2.0", **message}))

    # In

    def _heard(self, line: Line) -> None:
        """Read a line. One that is no message is for the log: many servers write theirs to standard output."""
        messages = messages_in(line)
        if not messages and b'"jsonrpc"' in line and (key := rpc.guess_id(line)):
            self._settle(key, UpstreamGarbled(f"the upstream {self.name} answered in broken JSON"))
        if not messages and line.strip():
            self._on_chatter(f"no message: {bytes(line[:_SHOWN_BYTES]).decode('utf-8', 'replace')}")
        for message in messages:
            if message.is_request:
                self._answer(message)
            elif message.method:
                self._note(message)
            elif message.has_error or message.result is not NOTHING:
                self._settle(message.key, message)

    def _answer(self, asked: Message) -> None:
        if self._channel is None or self._is_over or self._lost:
            return  # the closed pipe would refuse, and report, every answer to a server that keeps asking
        if asked.method == "ping":
            self._channel.send(rpc.answer(asked.key, b"{}"))
        else:
            text = f"{asked.method[:100]} is not supported by brimgate call"
            self._channel.send(rpc.failure(asked.key, rpc.METHOD_NOT_FOUND, text))

    def _note(self, note: Message) -> None:
        if note.method != "notifications/progress" or self._on_progress is None:
            return
        try:
            progress = msgspec.json.decode(note.params, type=ProgressNote)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if b"%d" % self._last_id in spellings(bytes(progress.progressToken)):
            self._on_progress(progress)

    def _settle(self, key: bytes, answer: Message | UpstreamError) -> None:
        """Settle a request.

        An error without an id belongs to the one that waits; drop answers that nobody waits for.
        """
        if key in (b"", b"null") and isinstance(answer, Message) and answer.has_error:
            key = next(iter(self._waiting), b"")
        waiting = next((self._waiting[one] for one in spellings(key) if one in self._waiting), None)
        if waiting is None or waiting.done():
            return
        if isinstance(answer, UpstreamError):
            waiting.set_exception(answer)
        else:
            waiting.set_result(answer)

    def _failed(self, _: Line, keys: Sequence[bytes], failure: UpstreamError) -> None:
        for key in keys:
            self._settle(key, failure)

    def _lose(self, failure: UpstreamError) -> None:
        self._lost = self._lost or failure
        self._failed(b"", list(self._waiting), failure)

    # Messages

    def _too_large(self) -> AnswerTooLarge:
        what = f"sent more than {self._max_bytes:,} bytes at once (max_result_bytes)"
        return AnswerTooLarge(f"the upstream {self.name} {what}")

    def _refusal(self, method: str, told: Message) -> UpstreamRefused:
        read = rpc.read_error(bytes(told.error))
        said = (
            f"{read.message[:1_000]} ({read.code})"
            if read
            else bytes(told.error)[:200].decode("utf-8", "replace")
        )
        code = read.code if read else None
        return UpstreamRefused(f"the upstream {self.name} refused {method}: {said}", code=code)

    def _decode(self, told: Message, kind: type[msgspec.Struct], method: str) -> Any:
        try:
            return msgspec.json.decode(told.result, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UpstreamGarbled(
                f"the upstream {self.name} answered {method} with something else: {error}"
            ) from None


def _read_tool(raw: bytes) -> ListedTool | None:
    try:
        definition = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    name = cast("dict[str, Any]", definition).get("name") if isinstance(definition, dict) else None
    return ListedTool(name, raw, cast("dict[str, Any]", definition)) if isinstance(name, str) else None


def _failure(told: Message) -> CallOutcome:
    """Return the outcome of a call that the server answered with an error: whatever it says, the tool failed."""
    error = bytes(told.error)
    read = rpc.read_error(error)
    if read is None:
        return CallOutcome(error=error, reason=error[:2_000].decode("utf-8", "replace"))
    return CallOutcome(error=error, reason=read.message, code=read.code)


def _kind_of(result: bytes) -> str:
    if b"input_required" not in result:
        return ""
    try:
        return msgspec.json.decode(result, type=_Kind).resultType
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
