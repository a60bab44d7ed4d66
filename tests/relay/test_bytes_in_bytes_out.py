"""What the rewrite table does not name comes out byte for byte, in order, in both directions."""

import fcntl
import itertools
import struct
import sys
import termios
import time
from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from brimgate.engine.policy import ToolRule
from tests.relay.conversation import Conversation, policy
from tests.relay.rawclient import PATIENCE, RawClient
from tests.world import through_brimgate

pytestmark = pytest.mark.property

BUDGET = 1_500
LARGE = b'"' + b"word " * 1_000 + b'"'
"""A text over that budget."""
CLOSE = b'"' + b"word " * 500 + b'"'
"""One within it, which only a count can tell."""
MEASURED = ("tools/call", "resources/read", "prompts/get", "tasks/get", "tasks/result")
UNMEASURED = ("ping", "logging/setLevel", "completion/complete", "resources/list", "example.org/odd", "x")
REWRITTEN = ("tools/list", "initialize", "server/discover")
"""Requests whose answers are in the table; the requests themselves are not."""
NOTIFICATIONS = (
    "notifications/initialized",
    "notifications/progress",
    "notifications/message",
    "notifications/tools/list_changed",
    "notifications/tasks",
    "example.org/hint",
)
FROM_SERVERS = ("sampling/createMessage", "elicitation/create", "roots/list", "ping", "tools/call")

# JSON in every spelling: white space, escapes, numbers that no writer would write like that

space = st.sampled_from((b"", b"", b"", b" ", b"\t", b"  ", b"\r"))
_PIECES = (
    # Not at its beginning: a text that begins with our mark is told to be the server's.
    *("a", "Z9", " ", "é", "漢字", "😀", "\x7f", "-[brimgate] ", "}", "]", "'", "/", "id", "result"),
    *("\\n", "\\u00e9", "\\u00E9", "\\/", '\\"', "\\\\", "\\ud83d\\ude00", "\\ud800", "\\u0000", "\\u2028"),
)
_NUMBERS = ("0", "-0", "7", "1.0", "1e2", "1E+2", "-1.50e-3", "0.1000", "123456789012345678901234567890")


def spelled(pieces: tuple[str, ...], most: int = 8) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(pieces), max_size=most).map(lambda some: f'"{"".join(some)}"'.encode())


strings = spelled(_PIECES)
scalars = st.one_of(
    strings, st.sampled_from(_NUMBERS).map(str.encode), st.sampled_from((b"null", b"true", b"false"))
)


@st.composite
def joined(draw: st.DrawFn, opening: bytes, parts: list[bytes], closing: bytes) -> bytes:
    out = opening + draw(space)
    for number, part in enumerate(parts):
        out += (b"," + draw(space) if number else b"") + part + draw(space)
    return out + closing


@st.composite
def written_object(draw: st.DrawFn, members: list[tuple[bytes, bytes]]) -> bytes:
    parts = [key + draw(space) + b":" + draw(space) + value for key, value in members]
    return draw(joined(b"{", parts, b"}"))


values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).flatmap(lambda some: joined(b"[", some, b"]")),
        st.lists(st.tuples(strings, inner), max_size=4).flatmap(written_object),
    ),
    max_leaves=8,
)

ids = st.one_of(
    st.integers(-5, 10**6).map(lambda number: str(number).encode()),
    st.sampled_from((b"1.5", b"-7.0", b"1e3", b"123456789012345678901234567890", b"-98765432109876543210")),
    spelled(("a", "Z", "7", "-", "é", "\\u00e9", "\\/", '\\"', "\\\\", "😀")),
)

# Messages


def quoted(text: str) -> st.SearchStrategy[bytes]:
    """A name as most write it, with its slashes escaped, or with its last letter as a number."""
    escaped = text.replace("/", "\\/")
    numbered = f"{text[:-1]}\\u{ord(text[-1]):04x}"
    return st.sampled_from((text, text, text, escaped, numbered)).map(lambda name: f'"{name}"'.encode())


@st.composite
def message(draw: st.DrawFn, members: dict[str, bytes]) -> bytes:
    """In any order of members, with some that nobody knows."""
    named = [(draw(quoted(name)), value) for name, value in members.items()]
    if draw(st.integers(0, 9)):
        named.append((b'"jsonrpc"', b'"2.0"'))
    if not draw(st.integers(0, 3)):
        named.append((b'"x-unknown"', draw(values)))
    return draw(space) + draw(written_object(draw(st.permutations(named)))) + draw(space)


@st.composite
def asking(draw: st.DrawFn, method: str, key: bytes | None) -> bytes:
    members = {"method": draw(quoted(method))} | ({"id": key} if key is not None else {})
    if draw(st.booleans()):
        name = draw(spelled(("get", "_rows", "é", "\\u00e9", "brimgate_read_")))
        meta = b'{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28"}'
        known = [(b'"name"', name), (b'"arguments"', draw(values)), (b'"_meta"', meta)]
        chosen = draw(st.lists(st.sampled_from(known), unique=True))
        members["params"] = draw(st.one_of(written_object(chosen), values))
    return draw(message(members))


@st.composite
def small_result(draw: st.DrawFn) -> bytes:
    """Anything; what looks like an answer and is within its budget, though it takes a closer look to see that."""
    text = draw(st.one_of(strings, st.just(CLOSE)))
    block = b'{"type":"text","text":' + text + b"}"
    image = b'{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"}'
    return draw(
        st.one_of(
            values,
            st.sampled_from(
                (
                    b'{"content": [' + block + b"," + image + b'],"isError" :false}',
                    b'{"structuredContent":{"n":1.0},"content":[' + block + b"]}",
                    b'{"contents":[{"uri":"a:\\/b","text":' + text + b"}]}",
                    b'{"messages":[{"role":"user","content":' + block + b"}]}",
                    b'{"resultType":"input_required","inputRequests":{}}',
                    b'{"status":"completed","taskId":"t","result":{"content":[' + block + b"]}}",
                )
            ),
        )
    )


@st.composite
def answering(draw: st.DrawFn, key: bytes, method: str) -> bytes:
    if method == "initialize" or method == "server/discover":
        return draw(message({"id": key, "result": b'{"capabilities" : {"tools":{}}}'}))
    if not draw(st.integers(0, 3)):
        error = b'{"code":-32602,"message":' + draw(strings) + b',"data":' + draw(values) + b"}"
        return draw(message({"id": key, "error": error}))
    if method in UNMEASURED and draw(st.booleans()):
        return draw(message({"id": key, "result": b'{"any":' + LARGE + b"}"}))
    return draw(message({"id": key, "result": draw(small_result())}))


@st.composite
def conversations(draw: st.DrawFn) -> list[tuple[str, bytes]]:
    """Lines of both sides, interleaved at random, each with the side it comes from."""
    steps: list[tuple[str, bytes]] = []
    unanswered: dict[bytes, str] = {}
    used: set[bytes] = set()

    def next_line(side: str) -> bytes:
        if side == "upstream":
            if unanswered and draw(st.booleans()):
                key = draw(st.sampled_from(sorted(unanswered)))
                method = unanswered.pop(key)
                return draw(answering(key, method))
            kinds = (
                asking(draw(st.sampled_from(FROM_SERVERS)), draw(ids)),
                asking(draw(st.sampled_from(NOTIFICATIONS)), None),
                message({"method": b'"notifications/message"', "params": LARGE}),
            )
            return draw(draw(st.sampled_from(kinds)))
        what = draw(st.integers(0, 4))
        if what == 0:
            return draw(asking(draw(st.sampled_from(NOTIFICATIONS)), None))
        if what == 1:  # to something the server asked
            return draw(message({"id": draw(ids), "result": draw(st.one_of(values, st.just(LARGE)))}))
        key = draw(ids.filter(lambda one: one not in used))
        used.add(key)
        method = draw(st.sampled_from(MEASURED + UNMEASURED + REWRITTEN))
        if method != "tools/list":
            unanswered[key] = method
        return draw(asking(method, key))

    for _ in range(draw(st.integers(1, 12))):
        side = draw(st.sampled_from(("client", "upstream")))
        if draw(st.integers(0, 4)):
            steps.append((side, next_line(side)))
        else:
            batch = [next_line(side) for _ in range(draw(st.integers(0, 3)))]
            steps.append((side, draw(joined(b"[", batch, b"]"))))
    return steps


@given(conversations())
def test_any_traffic_outside_the_rewrite_table_comes_out_byte_for_byte_in_both_directions(
    steps: list[tuple[str, bytes]],
) -> None:
    conversation = Conversation(ToolRule(policy(BUDGET)))
    for side, line in steps:
        if side == "client":
            assert conversation.client(line) == ([line], [])
        else:
            assert conversation.upstream(line) == ([], [line])


# Over real pipes

MIRROR = "import os\nwhile data := os.read(0, 65536):\n    while data: data = data[os.write(1, data):]"
"""A server that sends back what it gets: every line takes both directions."""


def unread_bytes(pipe: int) -> int:
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


class Mirror(RawClient):
    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def wait_until_read(self) -> None:
        """Waits for the pipe to be empty, so that a piece is read before the next is there."""
        assert self.process.stdin
        deadline = time.monotonic() + PATIENCE
        while unread_bytes(self.process.stdin.fileno()):
            assert time.monotonic() < deadline

    def receive_line(self) -> bytes:
        return self._lines.get(timeout=PATIENCE)


@pytest.fixture(scope="module")
def mirror() -> Iterator[Mirror]:
    with Mirror(through_brimgate([sys.executable, "-c", MIRROR], "--budget", str(BUDGET))) as client:
        yield client
        client.process.terminate()  # by itself it would wait for answers that a mirror never gives
        client.process.wait(PATIENCE)


numbering = itertools.count()


@st.composite
def mirrored_lines(draw: st.DrawFn) -> list[bytes]:
    """With ids that were never used: the mirror must not answer an earlier call."""
    lines: list[bytes] = []
    for _ in range(draw(st.integers(1, 6))):
        key = f'"{next(numbering)}\\u00e9"'.encode()
        method = draw(st.sampled_from(MEASURED + UNMEASURED))
        kinds = (
            asking(method, key),
            asking(draw(st.sampled_from(NOTIFICATIONS)), None),
            message({"id": key, "result": draw(values)}),
            message({"method": b'"notifications/message"', "params": LARGE}),
        )
        lines.append(draw(draw(st.sampled_from(kinds))) + draw(st.sampled_from((b"", b"\r"))))
    return lines


@st.composite
def chunked(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    """The stream of these lines, blank ones among them, cut anywhere."""
    blank = st.sampled_from((b"", b"", b"", b"\n", b"\r\n"))
    stream = b"".join(line + b"\n" + draw(blank) for line in lines)
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    return [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


@settings(phases=(Phase.reuse, Phase.generate))  # to shrink over real pipes takes minutes
@given(data=st.data())
def test_lines_cut_anywhere_come_out_whole_over_real_pipes(mirror: Mirror, data: st.DataObject) -> None:
    lines = data.draw(mirrored_lines())
    for chunk in data.draw(chunked(lines)):
        mirror.send_bytes(chunk)
        mirror.wait_until_read()
    assert [mirror.receive_line() for _ in lines] == [line + b"\n" for line in lines]
