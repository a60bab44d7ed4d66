"""What all messages to one server over Streamable HTTP have in common."""

from typing import Final

import msgspec

from brimgate.back.mcp.request import Outgoing
from brimgate.back.mcp.response import Ear
from brimgate.back.mcp.server import HttpServer
from brimgate.http.client import Headers, Response
from brimgate.relay.protocol.headers import ParamHeaders, make_params
from brimgate.relay.protocol.message import Message
from brimgate.relay.protocol.versions import call_arguments, envelope_headers

_JSON: Final = (b"content-type", b"application/json")
_BOTH: Final = (b"accept", b"application/json, text/event-stream")
_EVENTS: Final = (b"accept", b"text/event-stream")


class _Greeted(msgspec.Struct):
    protocolVersion: str = ""  # noqa: N815  # as on the wire


class Conversation:
    def __init__(self, name: str, http: HttpServer, ear: Ear) -> None:
        self.name, self.http, self.ear = name, http, ear
        self.session_id = b""
        self._version = b""
        self.is_greeted = False
        """The handshake of the older era was answered."""
        self.tools: dict[str, ParamHeaders] = {}
        """Arguments that are repeated in headers, of every tool that was listed."""

    async def post(self, sent: Outgoing) -> Response:
        return await self.http.call(b"POST", [_JSON, _BOTH, *self._headers(sent)], sent.line)

    async def listen(self, last_id: bytes) -> Response:
        """A stream of what the server says by itself, or of what is missing of another."""
        resumed = [(b"last-event-id", last_id)] if last_id else []
        return await self.http.call(b"GET", [_EVENTS, *self._session_headers(), *resumed], None)

    async def part(self) -> None:
        response = await self.http.call(b"DELETE", self._session_headers(), None)
        response.abort()

    def begin(self, response: Response) -> None:
        """The server answers a handshake: a new session."""
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
