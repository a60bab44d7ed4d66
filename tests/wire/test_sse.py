"""Events cut out of streams: whole, in order, and not a byte lost, however the stream was cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.http.sse import Event, EventBuffer, read_event, with_data, write_event
from brimgate.wire.framing import TooLong

pieces = st.lists(
    st.sampled_from(
        [
            b"data: x",
            b"id: 7",
            b"event: message",
            b": ping",
            b"retry: 5",
            b"\n",
            b"\r\n",
            b"\r",
            b"a",
            b"\xff",
        ]
    ),
    max_size=40,
)


def feed(stream: bytes, cuts: list[int], most: int = 1 << 20) -> tuple[list[bytes], bytes]:
    buffer = EventBuffer(most)
    events: list[bytes] = []
    ends = sorted({cut % (len(stream) + 1) for cut in cuts})
    for start, end in zip([0, *ends], [*ends, len(stream)], strict=True):
        for event in buffer.feed(stream[start:end]):
            assert isinstance(event, bytes)
            events.append(event)
    return events, buffer.rest()


@pytest.mark.property
@given(pieces, st.lists(st.integers(0, 10_000), max_size=30))
def test_the_events_of_a_stream_are_its_bytes(parts: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(parts)
    events, rest = feed(stream, cuts)
    assert b"".join(events) + rest == stream


@pytest.mark.property
@given(pieces, st.lists(st.integers(0, 10_000), max_size=30))
def test_what_an_event_says_does_not_depend_on_how_it_came(parts: list[bytes], cuts: list[int]) -> None:
    """A lone CR at the end of a piece may be the first half of a line end: then an empty block follows, and says nothing."""
    stream = b"".join(parts)
    whole, _ = feed(stream, [])
    cut, _ = feed(stream, cuts)
    nothing = Event(None)
    assert [one for one in map(read_event, cut) if one != nothing] == [
        one for one in map(read_event, whole) if one != nothing
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_all_line_ends_are_read(end: bytes) -> None:
    stream = end.join(
        [b"id: 1", b"event: note", b"data: one", b"data: two", b"retry: 10", b"", b"data:x", b"", b""]
    )
    events, rest = feed(stream, [])
    assert [read_event(event) for event in events if event.strip()] == [
        Event(b"one\ntwo", b"1", b"note", b"10"),
        Event(b"x"),
    ]
    assert rest.strip() == b""


def test_an_event_that_grows_beyond_the_cap_is_refused() -> None:
    buffer = EventBuffer(100)
    assert list(buffer.feed(b"data: " + b"x" * 50)) == []
    (refused,) = buffer.feed(b"x" * 100)
    assert isinstance(refused, TooLong)
    assert refused.beginning.startswith(b"data: x")


def test_an_event_in_many_pieces_costs_one_look_at_each() -> None:
    buffer = EventBuffer(64 << 20)
    for _ in range(2_000):
        assert list(buffer.feed(b"x" * 10_000)) == []
    assert len(list(buffer.feed(b"\n\n"))) == 1


def test_other_data_keeps_the_rest_of_an_event() -> None:
    raw = b"id: 5\r\nevent: message\r\ndata: old\r\ndata: more\r\nretry: 3\r\n\r\n"
    assert read_event(with_data(raw, b"new")) == Event(b"new", b"5", b"message", b"3")


@pytest.mark.property
@given(st.binary().filter(lambda data: b"\n" not in data and b"\r" not in data), st.integers(0, 99))
def test_what_is_written_is_read(data: bytes, number: int) -> None:
    written = write_event(data, b"%d" % number)
    assert feed(written, [])[0] == [written]
    assert read_event(written) == Event(data, b"%d" % number)
