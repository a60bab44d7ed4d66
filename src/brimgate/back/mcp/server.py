"""One MCP server over HTTP: where it is, what all messages to it have in common, and which tools it lists."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from brimgate.back.mcp.request import Outgoing, read_outgoing
from brimgate.back.mcp.response import Ear, OverCap, Trail, is_event_stream
from brimgate.errors import ConfigError, UpstreamError, UpstreamLost, UpstreamRefused, UpstreamUnreachable
from brimgate.http.client import Headers, HttpClient, Origin, Response
from brimgate.http.sse import Event, read_event
from brimgate.relay.protocol.client import LIST_SECONDS, MAX_LIST_PAGES, list_params, read_tool_page, request
from brimgate.relay.protocol.headers import ParamHeaders, make_params, param_headers_of
from brimgate.relay.protocol.message import NOTHING, Message, messages_in, one_line
from brimgate.relay.protocol.versions import call_arguments, envelope_headers, meta_of
from brimgate.relay.trace_context import context_headers
from brimgate.wire.framing import TooLong

_MAX_REDIRECTS: Final = 3
_AS_IT_IS: Final = bytes(range(0x21, 0x7F)).decode()
"""Characters that stay unchanged in a URL; all others become %XX."""
_ACCEPT: Final = (b"accept", b"application/json, text/event-stream")
_JSON: Final = (b"content-type", b"application/json")
_BOTH: Final = (b"accept", b"application/json, text/event-stream")
_EVENTS: Final = (b"accept", b"text/event-stream")
_ID: Final = "brimgate-list"
_MAX_TOOLS: Final = 10_000


def _accept() -> None:
    pass


class HttpServer:
    def __init__(
        self, name: str, url: str, headers: Mapping[str, str], on_refused: Callable[[], None] = _accept
    ) -> None:
        """Create it. `on_refused` is called when the server does not take the credentials."""
        self._name, self._on_refused = name, on_refused
        self.url = url
        self._origin = Origin.of(url)
        self.target = target_of(url)
        self._headers = [(key.lower().encode(), value.encode("latin-1")) for key, value in headers.items()]
        self._own = {key for key, _ in self._headers}
        self._client = HttpClient(self._origin)

    async def call(
        self, method: bytes, headers: Headers, body: bytes | None, *, target: bytes = b""
    ) -> Response:
        """Send a request and return the response.

        Follow redirects within the origin. Raise UpstreamError if there is none.
        """
        sent = [(key, value) for key, value in headers if key not in self._own] + self._headers
        if not any(key == b"accept" for key, _ in sent):
            sent.append(_ACCEPT)
        target = target or self.target
        for _ in range(_MAX_REDIRECTS):
            answer = await self._client.request(method, target, sent, body)
            if answer.status not in (301, 302, 303, 307, 308):
                if answer.status == 401:
                    self._on_refused()
                return answer
            answer.abort()
            target = self._next(method, target, answer)
        raise UpstreamRefused(f"the upstream {self._name} sends us in circles")

    def _next(self, method: bytes, target: bytes, answer: Response) -> bytes:
        """Return the target of a redirect: only within its own origin, and never with another method."""
        location = answer.header(b"location").decode("utf-8", "surrogateescape")
        if not location or (answer.status not in (307, 308) and method != b"GET"):
            raise UpstreamRefused(
                f"the upstream {self._name} moved: it must be called at another address", answer.status
            )
        there = ""
        try:
            there = urljoin(f"{self._origin}{target.decode('ascii')}", location)
            is_same = Origin.of(there) == self._origin
        except (ValueError, ConfigError):
            is_same = False  # whatever it is, it is not a URL
        if not is_same:
            raise UpstreamRefused(
                f"the upstream {self._name} redirects to another origin, where we do not go: call it there",
                answer.status,
            )
        return target_of(there)

    async def reach(self) -> None:
        """Check whether a server listens there. Raise UpstreamUnreachable if not."""
        loop = asyncio.get_running_loop()
        try:
            transport, _ = await loop.create_connection(
                asyncio.Protocol, self._origin.host, self._origin.port
            )
        except OSError:
            raise UpstreamUnreachable(f"cannot connect to {self._origin}: is the server running?") from None
        transport.abort()

    async def close(self) -> None:
        await self._client.close()


class ReachableServer:
    """Where a server is, and what it gets: all that a new conversation with it needs."""

    def __init__(
        self,
        name: str,
        url: str,
        headers: Mapping[str, str],
        *,
        max_bytes: int,
        on_refused: Callable[[], None] = lambda: None,
        is_traced: bool = False,
    ) -> None:
        """Create it. `on_refused` is called when the server does not take the credentials.

        If `is_traced`, the trace context of a message is repeated in headers.
        """
        Origin.of(url)  # reports a wrong URL at once
        self.name, self.max_bytes, self.is_traced = name, max_bytes, is_traced
        self._url, self._headers = url, headers
        self._on_refused = on_refused

    def http(self) -> HttpServer:
        return HttpServer(self.name, self._url, self._headers, self._on_refused)


def target_of(url: str) -> bytes:
    """Return path and query, as they go into the first line of a request."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return quote(target, safe=_AS_IT_IS, errors="surrogateescape").encode("ascii")


class _Greeted(msgspec.Struct):
    protocolVersion: str = ""  # noqa: N815  # as on the wire


class ServerConversation:
    def __init__(self, name: str, http: HttpServer, ear: Ear, *, is_traced: bool = False) -> None:
        self.name, self.http, self.ear = name, http, ear
        self._is_traced = is_traced
        self.session_id = b""
        self._version = b""
        self.is_greeted = False
        """The handshake of the older era was answered."""
        self.tools: dict[str, ParamHeaders] = {}
        """The arguments that are repeated in headers, for every listed tool."""

    async def post(self, sent: Outgoing) -> Response:
        traced = context_headers(sent.line) if self._is_traced else ()
        return await self.http.call(b"POST", [_JSON, _BOTH, *self._headers(sent), *traced], sent.line)

    async def listen(self, last_id: bytes) -> Response:
        """Open a stream of the server's own messages, or of the missing part of another."""
        resumed = [(b"last-event-id", last_id)] if last_id else []
        return await self.http.call(b"GET", [_EVENTS, *self._session_headers(), *resumed], None)

    async def part(self) -> None:
        response = await self.http.call(b"DELETE", self._session_headers(), None)
        response.abort()

    def session_lost(self, status: int) -> UpstreamLost:
        """Return the failure for an answer that says that the server knows the session no longer."""
        return UpstreamLost(f"the upstream {self.name} has forgotten the session ({status})")

    def begin(self, response: Response) -> None:
        """Begin a new session: the server answers a handshake."""
        self.session_id = response.header(b"mcp-session-id")
        self._version = b""

    def note_greeting(self, message: Message) -> None:
        self.is_greeted = not message.has_error
        if message.has_error:
            self.session_id = b""
            return
        try:
            version = msgspec.json.decode(message.result, type=_Greeted).protocolVersion
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        self._version = version.encode("ascii", "ignore")

    def _headers(self, sent: Outgoing) -> Headers:
        message = sent.message
        if message is not None and sent.is_modern:
            return [*envelope_headers(message), *self._param_headers(message)]
        return [] if sent.method == "initialize" else self._session_headers()

    def _param_headers(self, message: Message) -> Headers:
        if message.method != "tools/call":
            return []
        name, arguments = call_arguments(message)
        return make_params(self.tools.get(name, ()), arguments)

    def _session_headers(self) -> Headers:
        known = ((b"mcp-session-id", self.session_id), (b"mcp-protocol-version", self._version))
        return [(name, value) for name, value in known if value]


class StandingStream:
    """The stream of the server's own messages, kept open as long as it allows. A server may have none."""

    def __init__(
        self,
        conversation: ServerConversation,
        on_line: Callable[[bytes], None],
        on_lost: Callable[[UpstreamError], None],
        on_chatter: Callable[[str], None],
    ) -> None:
        self._conversation = conversation
        self._on_line, self._on_lost, self._on_chatter = on_line, on_lost, on_chatter
        self._trail = Trail()
        self._was_open = False

    async def run(self) -> None:
        while await self._listen():
            await self._trail.rest()
            self._trail.failures += 1

    async def _listen(self) -> bool:
        """Listen until the stream ends. Return whether a retry makes sense."""
        try:
            response = await self._conversation.listen(self._trail.last_id)
            if response.status != 200 or not is_event_stream(response):
                response.abort()
                return self._is_worth_waiting(response)
            self._was_open = True
            await self._conversation.ear.follow(response, self._hear)
        except UpstreamError:
            pass
        except ValueError:
            self._trail.last_id = b""  # it cannot be repeated in a header
        return True

    def _is_worth_waiting(self, response: Response) -> bool:
        if response.status == 404 and self._was_open and self._conversation.session_id:
            # Known before anyone needs it: the next call begins anew instead of failing.
            self._on_lost(self._conversation.session_lost(404))
            return False
        if response.status == 400 and self._was_open and self._trail.last_id:
            self._trail.last_id = b""  # the missing events are lost, but new ones can come
            return True
        return response.status in (409, 429) or (response.status >= 500 and response.status != 501)

    def _hear(self, event: Event | TooLong) -> None:
        if isinstance(event, TooLong):
            self._on_chatter("a message that is no answer was larger than max_result_bytes: left out")
            event = Event(None, read_event(event.beginning).id)
        self._trail.note(event)
        if event.name == b"message" and event.data and (line := one_line(event.data)):
            self._on_line(line)


class _Tool(msgspec.Struct):
    name: str = ""
    inputSchema: msgspec.Raw = NOTHING  # noqa: N815  # as on the wire


def learn_tools(conversation: ServerConversation, result: bytes) -> str:
    """Learn from one page of a list. Return where the next page begins, if there is one."""
    listed = read_tool_page(result)
    for raw in listed.tools:
        if len(conversation.tools) < _MAX_TOOLS:
            tool = _read_tool(raw)
            if tool.name:
                conversation.tools[tool.name] = param_headers_of(bytes(tool.inputSchema))
    return listed.nextCursor or ""


def _read_tool(raw: bytes) -> _Tool:
    try:
        return msgspec.json.decode(raw, type=_Tool)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Tool()


async def list_tools(conversation: ServerConversation, call: Message, tool: str) -> None:
    """Request the list the same way as the call. Whatever the result, this tool is known afterwards."""
    meta, cursor = meta_of(call), ""
    with suppress(UpstreamError, ValueError, OverCap, TimeoutError):
        async with asyncio.timeout(LIST_SECONDS):
            for _ in range(MAX_LIST_PAGES):
                cursor = learn_tools(conversation, await _page(conversation, list_params(meta, cursor)))
                if not cursor:
                    break
    conversation.tools.setdefault(tool, ())


async def _page(conversation: ServerConversation, params: dict[str, Any]) -> bytes:
    response = await conversation.post(read_outgoing(request(_ID, "tools/list", params)))
    results: list[bytes] = []

    def note(line: bytes) -> None:
        results.extend(bytes(one.result) for one in messages_in(line) if not one.method)

    def note_event(event: Event | TooLong) -> None:
        if isinstance(event, TooLong):
            raise OverCap(event.beginning)
        note(event.data or b"")

    if is_event_stream(response):
        await conversation.ear.follow(response, note_event)
    else:
        note(one_line(await conversation.ear.body(response)))
    return results[0] if results else b""
