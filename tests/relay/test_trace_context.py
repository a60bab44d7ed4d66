"""A trace context in a message: hostile ones are none, and writing one changes no other byte."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.relay.actions import ToUpstream
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message
from brimgate.relay.trace_context import (
    Arrival,
    CallTrace,
    TraceContext,
    context_headers,
    context_in,
    context_of,
    read_context,
    with_context,
)
from tests.relay.conversation import Conversation

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
OURS = TraceContext(0xABC, 0xDEF, 1)
WRITTEN = OURS.traceparent
HOSTILE: list[Any] = [
    "",
    PARENT[:-1],
    PARENT + "0",
    PARENT + "-more",
    PARENT.upper(),
    f"ff-{TRACE}-{SPAN}-01",
    f"00-{'0' * 32}-{SPAN}-01",
    f"00-{TRACE}-{'0' * 16}-01",
    f"00-{TRACE}-{SPAN}-0x",
    f"00_{TRACE}_{SPAN}_01",
    f" {PARENT}",
    f"{PARENT}\n",
    PARENT.replace("4", "٤", 1),
    f"01-{TRACE}-{SPAN}-01-{'x' * 10_000}",
    None,
    7,
    True,
    [PARENT],
    {"traceparent": PARENT},
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def request(meta: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": meta}}).encode()


def found_in(line: bytes) -> TraceContext | None:
    message = rpc.read(line)
    assert isinstance(message, Message)
    return context_of(message.params)


@pytest.mark.parametrize("parent", HOSTILE, ids=repr)
def test_what_is_no_context_is_ignored(parent: Any) -> None:
    assert found_in(request({"traceparent": parent})) is None
    if isinstance(parent, str) and parent.strip() != PARENT:
        headers = [(b"traceparent", parent.encode("utf-8", "replace"))]
        assert context_in(headers) is None


@pytest.mark.parametrize("state", ["x" * 10_240, "a=1\r\nb: c", "é=1", 7, None, ["a=1"]], ids=str)
def test_a_state_that_cannot_stand_in_a_header_is_left_out(state: Any) -> None:
    line = request({"traceparent": PARENT, "tracestate": state, "baggage": state})
    found = found_in(line)
    assert found is not None and found.traceparent == PARENT
    assert found.tracestate == "" and "\r" not in found.baggage
    assert all(b"\r" not in value and len(value) < 8_193 for _, value in context_headers(line))


def test_a_context_is_read_from_headers() -> None:
    both = [(b"tracestate", b"a=1"), (b"traceparent", PARENT.encode()), (b"tracestate", b" b=2")]
    assert context_in([*both, (b"x", b"y")]) == read_context({"traceparent": PARENT, "tracestate": "a=1,b=2"})
    assert context_in([(b"traceparent", PARENT.encode())] * 2) is None
    assert context_in([(b"x", b"y")]) is None


def test_a_later_version_may_say_more() -> None:
    found = read_context({"traceparent": f"cc-{TRACE}-{SPAN}-ff-later"})
    assert found is not None and found.is_sampled and found.traceparent == f"00-{TRACE}-{SPAN}-03"


@pytest.mark.property
@given(st.text(max_size=80) | st.from_regex(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"))
def test_what_is_read_can_be_written(text: str) -> None:
    found = read_context({"traceparent": text})
    if found is not None:
        assert read_context({"traceparent": found.traceparent}) == found
        assert found.traceparent[3:52] == text[3:52]


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ('{"id":1}', '{"id":1,"params":{"_meta":{"traceparent":"T"}}}'),
        ('{"id":1,"params":{}}', '{"id":1,"params":{"_meta":{"traceparent":"T"}}}'),
        (
            '{"id":1.0,"params":{"a":1e5,"a":1E+5}, "x":[ ]}',
            '{"id":1.0,"params":{"a":1e5,"a":1E+5,"_meta":{"traceparent":"T"}}, "x":[ ]}',
        ),
        ('{"params":{"_meta":{ } ,"b":2}}', '{"params":{"_meta":{ "traceparent":"T"} ,"b":2}}'),
        (
            '{"params":{"_meta":{"a":1,"traceparent" : "old","z":0.10}}}',
            '{"params":{"_meta":{"a":1,"traceparent" : "T","z":0.10}}}',
        ),
        (
            '{"params":{"_meta":{"traceparent":{"a":["}"]},"traceparent":7}}}',
            '{"params":{"_meta":{"traceparent":"T","traceparent":"T"}}}',
        ),
        ('{"params":{"_meta":1,"_meta":{}}}', '{"params":{"_meta":1,"_meta":{"traceparent":"T"}}}'),
        (
            '{"params":{"_meta":{"\\u0074raceparent":"old"}}}',
            '{"params":{"_meta":{"\\u0074raceparent":"T"}}}',
        ),
        ('{"params":{"n":NaN}} ', '{"params":{"n":NaN,"_meta":{"traceparent":"T"}}} '),
        (
            '{"x":{"a":1},"params":{"a":1},"y":{"a":1}}',
            '{"x":{"a":1},"params":{"a":1,"_meta":{"traceparent":"T"}},"y":{"a":1}}',
        ),
        ('{"params":{"b":{},"_meta":{}}}', '{"params":{"b":{},"_meta":{"traceparent":"T"}}}'),
        ('{"params":{"a":2},"params":{}}', '{"params":{"a":2},"params":{"_meta":{"traceparent":"T"}}}'),
        ('{"params":[1]}', '{"params":[1]}'),
        ('{"params":null}', '{"params":null}'),
        ('{"params":{"_meta":null}}', '{"params":{"_meta":null}}'),
        ("[]", "[]"),
        ("no message", "no message"),
        ('{"params":{', '{"params":{'),
    ],
)
def test_only_the_parent_changes(line: str, written: str) -> None:
    assert bytes(with_context(line.encode(), OURS)).decode() == written.replace('"T"', f'"{WRITTEN}"')


def test_state_and_baggage_are_added_only_where_there_are_none() -> None:
    context = OURS._replace(tracestate="a=1", baggage="b=2")
    added = json.loads(with_context(b'{"params":{}}', context))
    assert added["params"]["_meta"] == {"traceparent": WRITTEN, "tracestate": "a=1", "baggage": "b=2"}
    kept = json.loads(with_context(request({"tracestate": "x=9", "baggage": 7}), context))
    assert kept["params"]["_meta"] == {"tracestate": "x=9", "baggage": 7, "traceparent": WRITTEN}


@pytest.mark.property
@given(
    st.dictionaries(st.text(), JSON, max_size=4),
    st.none() | st.dictionaries(st.text(), JSON, max_size=4),
    st.sampled_from([None, 2]),
)
def test_everything_else_stays(
    params: dict[str, Any], meta: dict[str, Any] | None, indent: int | None
) -> None:
    given_params = params | ({"_meta": meta} if meta is not None else {})
    message = {"jsonrpc": "2.0", "id": 1, "method": "x", "params": given_params, "more": params}
    line = json.dumps(message, indent=indent).encode()
    written = bytes(with_context(line, OURS))
    if "_meta" in params and meta is None and not isinstance(params["_meta"], dict):
        assert written == line
        return
    read = json.loads(written)
    old = given_params.get("_meta", {})
    assert read["params"].pop("_meta") == old | {"traceparent": WRITTEN}
    rest = {name: value for name, value in given_params.items() if name != "_meta"}
    assert read == message | {"params": rest}
    # It is the same text but for what was put in.
    if "traceparent" not in old:
        start = next(at for at in range(len(line)) if line[at] != written[at])
        assert written.endswith(line[start:])


# The session


class Noting:
    """Traces without exporting anything."""

    def __init__(self) -> None:
        self.ended: list[tuple[CallTrace, str]] = []
        self.sessions = 0

    def begin(self, message: Message, arrival: Arrival | None, version: str) -> CallTrace:
        return CallTrace("upstream", message.method, "", message.key, OURS, OURS, version=version)

    def end(self, trace: CallTrace, error: str = "") -> None:
        self.ended.append((trace, error))

    def note_session(self, seconds: float, *, is_http: bool) -> None:
        self.sessions += 1


def traced() -> tuple[Conversation, Noting]:
    conversation, tracer = Conversation(), Noting()
    conversation.session.tracer = tracer
    return conversation, tracer


def onward(conversation: Conversation, line: bytes) -> bytes:
    (sent,) = conversation.session.from_client(line)
    assert isinstance(sent, ToUpstream)
    return bytes(sent.data)


def test_a_message_that_strict_readers_refuse_keeps_its_spelling() -> None:
    conversation, _ = traced()
    line = b'{"id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":NaN,"s":"\xff"}}}'
    meta = f',"_meta":{{"traceparent":"{WRITTEN}"}}}}}}'.encode()
    assert onward(conversation, line) == line[:-2] + meta
    batch = b"[" + line + b" ]"
    assert onward(conversation, batch) == batch


def test_a_notification_is_not_touched() -> None:
    conversation, tracer = traced()
    line = b'{"method":"notifications/x","params":{}}'
    assert onward(conversation, line) is line and not tracer.ended


def test_whatever_is_forgotten_ends() -> None:
    conversation, tracer = traced()
    for _ in range(2):
        onward(conversation, b'{"id":1,"method":"ping"}')
    assert [error for _, error in tracer.ended] == ["_OTHER"]
    conversation.session.close()
    assert [error for _, error in tracer.ended] == ["_OTHER", "cancelled"]


def test_a_server_without_tools_makes_no_error_for_the_client() -> None:
    conversation, tracer = traced()
    onward(conversation, b'{"id":1,"method":"tools/list"}')
    conversation.session.from_upstream(b'{"id":1,"error":{"code":-32601,"message":"?"}}')
    ((trace, error),) = tracer.ended
    assert (trace.upstream_error, error) == ("-32601", "")


def test_what_nobody_could_read_ends_with_an_error() -> None:
    conversation, tracer = traced()
    onward(conversation, b'{"id":1,"method":"ping"}')
    conversation.session.from_upstream(b'{"id":1,"result":{"x":')
    assert [error for _, error in tracer.ended] == ["_OTHER"]


def test_a_deep_request_is_traced_too() -> None:
    conversation, _ = traced()
    deep = b'{"id":1,"method":"ping","params":{"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}}"
    sent = onward(conversation, deep)
    assert sent == deep or WRITTEN.encode() in sent
    assert msgspec.json.decode(onward(conversation, b'{"id":2,"method":"ping"}'))["params"]
