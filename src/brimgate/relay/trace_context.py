"""The trace of a request: where it comes from, what goes on with it, and when it ends. Pure: nothing here exports.

The context is that of W3C: `traceparent`, `tracestate` and `baggage`, in `params._meta` without a prefix (SEP-414) and in
headers of HTTP. Whatever is wrong with one makes it no context, and is never an error.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import msgspec

from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message
from brimgate.relay.protocol.spans import Span, spans

Line = bytes | bytearray
Headers = Iterable[tuple[bytes, bytes]]
SAMPLED: Final = 0x01
RANDOM: Final = 0x02
_PARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[ -~]*)?", re.ASCII)
_MAX_PARENT_CHARS: Final = 200
"""A later version may append to it."""
_VISIBLE: Final = re.compile(r"[ -~]+", re.ASCII)
_MAX_STATE_CHARS: Final = 2_048
_MAX_BAGGAGE_CHARS: Final = 8_192
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NAMES: Final = ("traceparent", "tracestate", "baggage")


class TraceContext(NamedTuple):
    """The span that a request belongs to, and what travels with it."""

    trace_id: int
    span_id: int
    flags: int = 0
    tracestate: str = ""
    baggage: str = ""

    @property
    def is_sampled(self) -> bool:
        return bool(self.flags & SAMPLED)

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{self.flags:02x}"

    @property
    def members(self) -> dict[str, str]:
        """What a carrier of it holds, by name."""
        named = zip(_NAMES, (self.traceparent, self.tracestate, self.baggage), strict=True)
        return {name: value for name, value in named if value}


def read_context(given: Mapping[str, str]) -> TraceContext | None:
    """Read a context by the names of its members. None if there is no valid `traceparent`."""
    text = given.get("traceparent", "")
    found = _PARENT.fullmatch(text) if len(text) <= _MAX_PARENT_CHARS else None
    if found is None or found[1] == "ff" or (found[1] == "00" and found[5]):
        return None
    trace_id, span_id = int(found[2], 16), int(found[3], 16)
    if not trace_id or not span_id:
        return None
    state = _visible(given.get("tracestate", ""), _MAX_STATE_CHARS)
    baggage = _visible(given.get("baggage", ""), _MAX_BAGGAGE_CHARS)
    return TraceContext(trace_id, span_id, int(found[4], 16) & (SAMPLED | RANDOM), state, baggage)


def _visible(text: str, most: int) -> str:
    """Return a text that can stand in a header; empty if it cannot, or is too long."""
    return text if len(text) <= most and _VISIBLE.fullmatch(text) else ""


def context_of(params: msgspec.Raw) -> TraceContext | None:
    """Return the context in the `_meta` of a request."""
    raw = bytes(params)
    if b"traceparent" not in raw and b"\\" not in raw:
        return None
    meta = rpc.members(rpc.member(params, "_meta"))
    texts = {name: bytes(meta[name]) for name in _NAMES if name in meta}
    return read_context({name: _text_of(raw) for name, raw in texts.items()})


def _text_of(raw: bytes) -> str:
    """Return the text of a JSON string; empty for anything else, and for what is far too long."""
    if raw[:1] != b'"' or len(raw) > 2 * _MAX_BAGGAGE_CHARS:
        return ""
    return rpc.text_of(raw).decode("utf-8", "replace")


def context_in(headers: Headers) -> TraceContext | None:
    """Return the context in headers of HTTP, whose names are in lower case."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        if name in (b"traceparent", b"tracestate", b"baggage"):
            found.setdefault(name.decode(), []).append(value.decode("latin-1").strip())
    # Of two parents neither is one; the others may be spread over several headers.
    return read_context({name: ",".join(values) for name, values in found.items()}) if found else None


def context_headers(line: Line) -> list[tuple[bytes, bytes]]:
    """Return the headers of HTTP that repeat the context in a message; none for a batch."""
    message = rpc.read_any(line)
    context = context_of(message.params) if isinstance(message, Message) else None
    members = context.members if context is not None else {}
    return [(name.encode(), value.encode()) for name, value in members.items()]


def with_context(line: Line, context: TraceContext) -> Line:
    """Return a request whose `_meta` has this `traceparent`. Every other byte of it stays.

    `tracestate` and `baggage` are only added where there are none. A request whose `params` or `_meta` are no objects
    is returned as it is.
    """
    written = {name: rpc.encode(value) for name, value in context.members.items()}
    try:
        return _edited(bytes(line), ("params", "_meta"), written)
    except ValueError:
        return line


def _edited(text: bytes, path: tuple[str, ...], written: dict[str, bytes]) -> bytes:
    if not text.lstrip().startswith(b"{"):
        raise ValueError("no object")
    if not path:
        return _with_members(text, spans(text), written)
    name, *rest = path
    place, is_empty = _place(text, name)
    if place is None:
        inner = _with_members(b"{}", [], written)
        for outer in reversed(rest):
            inner = b'{"' + outer.encode() + b'":' + inner + b"}"
        return _appended(text, {name: inner}, is_empty=is_empty)
    start, end = place
    return text[:start] + _edited(text[start:end], tuple(rest), written) + text[end:]


def _place(text: bytes, name: str) -> tuple[tuple[int, int] | None, bool]:
    """Return where the value of a member is, and whether the object is empty. Of two of one name, readers take the last.

    A value whose text stands there only once is found by it: to walk over the arguments of a call takes ten times longer.
    """
    try:
        members = _members.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        members = None
    if members is not None and name not in members:
        return None, not members
    if members is not None:
        value = bytes(members[name])
        start = text.find(value)
        if text.find(value, start + 1) < 0:
            return (start, start + len(value)), False
    walked = spans(text)
    found = [span for span in walked if span.name == name]
    return (found[-1].start, found[-1].end) if found else None, not walked


def _with_members(text: bytes, members: list[Span], written: dict[str, bytes]) -> bytes:
    names = {name for name, _, _ in members}
    added = _appended(
        text,
        {name: value for name, value in written.items() if name not in names},
        is_empty=not members,
    )
    for name, start, end in reversed(members):  # from the end, so that places before stay where they are
        if name == "traceparent":
            added = added[:start] + written[name] + added[end:]
    return added


def _appended(text: bytes, members: dict[str, bytes], *, is_empty: bool) -> bytes:
    """Return an object with more members at its end."""
    if not members:
        return text
    end = len(text.rstrip()) - 1
    more = b",".join(b'"' + name.encode() + b'":' + value for name, value in members.items())
    return text[:end] + (b"" if is_empty else b",") + more + text[end:]


# Requests


class Arrival(NamedTuple):
    """How a request came over HTTP."""

    headers: Headers = ()
    key: bytes = b""
    """The id that the client gave it, where the session sees another one."""


@dataclass(slots=True, eq=False)
class CallTrace:
    """One request of a client, with all that its spans will tell."""

    upstream: str
    method: str
    name: str
    """The tool or prompt; empty if there is none."""
    request_id: bytes
    context: TraceContext
    """The span of the request itself."""
    onward: TraceContext
    """The span of the request to the upstream, which has the other as its parent."""
    parent: TraceContext | None = None
    link: TraceContext | None = None
    """The context of HTTP, where the message has another."""
    onward_id: bytes = b""
    """The id that the upstream sees."""
    uri: str = ""
    session_id: str = ""
    version: str = ""
    is_http: bool = False
    began_ns: int = 0
    sent_ns: int = 0
    """When it went on to the upstream; 0 if it did not."""
    answered_ns: int = 0
    """When the upstream had answered; 0 until then."""
    ended_ns: int = 0
    error: str = ""
    upstream_error: str | None = None
    """What failed at the upstream, where that is not what the client is told."""


class Tracer(Protocol):
    """Takes what happens to the requests of one upstream. It neither fails nor waits."""

    def begin(self, message: Message, arrival: Arrival | None, version: str) -> CallTrace | None:
        """Begin a request. `version` is that of the handshake, if there was one."""
        ...

    def end(self, trace: CallTrace, error: str = "") -> None:
        """End a request that makes no decision."""
        ...

    def note_session(self, seconds: float, *, is_http: bool) -> None:
        """Take how long a session was open."""
        ...
