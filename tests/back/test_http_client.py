"""One request, one call of the upstream; whoever is cancelled is seen to leave; nothing is left open."""

import asyncio
import gc
import shutil
import socket
import ssl
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from brimgate.errors import (
    ConfigError,
    UpstreamError,
    UpstreamGarbled,
    UpstreamLost,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from brimgate.http.client import HttpClient, Origin
from tests.back.scripted import GENEROUS_SECONDS, OK, Peer, Run, Server, always, get, once, post, soon, whole

CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


def reset(peer: Peer) -> None:
    """End with an RST."""
    raw = peer.writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.cut()


# Origins


@pytest.mark.parametrize(
    ("url", "origin", "host"),
    [
        ("http://example.com/mcp", Origin("http", "example.com", 80), b"example.com"),
        ("HTTPS://Example.COM", Origin("https", "example.com", 443), b"example.com"),
        ("http://example.com:443/", Origin("http", "example.com", 443), b"example.com:443"),
        ("https://a_b.example:8443/x?y#z", Origin("https", "a_b.example", 8443), b"a_b.example:8443"),
        ("http://127.0.0.1:8000", Origin("http", "127.0.0.1", 8000), b"127.0.0.1:8000"),
        ("http://[::1]:8000/mcp", Origin("http", "::1", 8000), b"[::1]:8000"),
        ("https://[2001:DB8::1]/", Origin("https", "2001:db8::1", 443), b"[2001:db8::1]"),
        ("http://host:/x", Origin("http", "host", 80), b"host"),
    ],
)
def test_an_origin_is_read_from_a_url(url: str, origin: Origin, host: bytes) -> None:
    assert Origin.of(url) == origin
    assert origin.host_header == host
    assert Origin.of(str(origin)) == origin


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "http:// or https://"),
        ("example.com/mcp", "http:// or https://"),
        ("ftp://example.com", "http:// or https://"),
        ("file:///etc/passwd", "http:// or https://"),
        ("http://", "no valid host"),
        ("http:///mcp", "no valid host"),
        ("http://:80/", "no valid host"),
        ("http://user:hunter2@example.com/", "credentials"),
        ("http://hunter2@example.com/", "credentials"),
        ("http://@example.com/", "credentials"),
        ("http://example.com:0/", "port"),
        ("http://example.com:99999/", "port"),
        ("http://example.com:hunter2/", "port"),
        ("http://exa mple.com/", "spaces"),
        ("http://example.com/\r\nX: hunter2", "spaces or control"),
        ("http://exa\tmple.com/", "spaces or control"),
        ("http://münchen.example/", "xn--"),
        ("http://[::1/", "host"),
        ("http://[fe80::1%25eth0]/", "host"),
        ("http://-x.example/", "host"),
        ("http://a\\b/", "host"),
    ],
)
def test_a_url_without_a_server_in_it_is_refused_and_no_secret_repeated(url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        Origin.of(url)
    assert "hunter2" not in str(refused.value)


# Requests


def test_a_request_is_written_as_it_was_meant(run: Run) -> None:
    async def conversation() -> None:
        seen: list[tuple[bytes, bytes]] = []

        async def serve(peer: Peer) -> None:
            while True:
                seen.append(await peer.request())
                await peer.say(OK)

        async with Server(serve) as server:
            client = server.client()
            asked = [(b"Accept", b"text/event-stream"), (b"X-Tab", b"a\tb \xc3\xbc"), (b"X-Empty", b"")]
            await soon(client.request(b"POST", b"/mcp?x=%20", asked, b"hello"))
            await post(client, None)
            await post(client, b"")
            await get(client)
            await client.close()
            start = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept-Encoding: identity" % server.port
            assert seen[0] == (
                start.replace(b"/mcp", b"/mcp?x=%20")
                + b"\r\nAccept: text/event-stream\r\nX-Tab: a\tb \xc3\xbc\r\nX-Empty: "
                + b"\r\nContent-Length: 5\r\n\r\n",
                b"hello",
            )
            assert seen[1] == seen[2] == (start + b"\r\nContent-Length: 0\r\n\r\n", b"")
            assert seen[3] == (start.replace(b"POST /mcp", b"GET /") + b"\r\n\r\n", b"")

    run(conversation())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"X", b"a\r\nEvil: 1"),
        (b"X", b"a\nb"),
        (b"X", b"a\rb"),
        (b"X", b"a\0b"),
        (b"X", b"a\x7fb"),
        (b"X\r\nEvil", b"a"),
        (b"X:", b"a"),
        (b"X Y", b"a"),
        (b"", b"a"),
        (b"X\xfc", b"a"),
        (b"Host", b"elsewhere"),
        (b"content-length", b"1"),
        (b"Transfer-Encoding", b"chunked"),
        (b"CONNECTION", b"close"),
        (b"Accept-Encoding", b"gzip"),
        (b"Expect", b"100-continue"),
        (b"Upgrade", b"h2c"),
    ],
)
def test_a_header_that_would_change_the_message_is_never_sent(run: Run, name: bytes, value: bytes) -> None:
    async def conversation() -> None:
        async with Server(always(OK)) as server:
            client = server.client()
            for _ in range(2):  # what was refused once is not remembered as good
                with pytest.raises(ValueError, match="header"):
                    await post(client, headers=[(b"Fine", b"1"), (name, value)])
            await client.close()
            assert server.accepted == 0

    run(conversation())


@pytest.mark.parametrize(
    ("method", "target"),
    [
        (b"", b"/"),
        (b"GET /x HTTP/1.1\r\n", b"/"),
        (b"GET", b""),
        (b"GET", b"mcp"),
        (b"GET", b"http://elsewhere/"),
        (b"GET", b"/a b"),
        (b"GET", b"/a\r\nX: y"),
        (b"GET", b"/a#b"),
        (b"GET", b"/\xc3\xbc"),
    ],
)
def test_a_method_or_target_that_is_none_is_refused(run: Run, method: bytes, target: bytes) -> None:
    async def conversation() -> None:
        client = HttpClient(Origin("http", "127.0.0.1", 9))
        with pytest.raises(ValueError, match=r"method|target"):
            await soon(client.request(method, target, []))

    run(conversation())


def test_a_large_body_goes_out_no_faster_than_it_is_taken(run: Run) -> None:
    body = bytes(range(256)) * (128 << 10)  # more than the sockets hold between them

    async def conversation() -> None:
        may_read = asyncio.Event()
        taken: list[bytes] = []

        async def serve(peer: Peer) -> None:
            await peer.head()
            await may_read.wait()
            taken.append(await peer.reader.readexactly(len(body)))
            await peer.say(OK)
            await peer.request()
            await peer.say(OK)

        async with Server(serve) as server:
            client = server.client()
            asking = asyncio.create_task(post(client, body))
            waiting = await soon(unsent_bytes(client))
            assert 0 < waiting < 1 << 20
            may_read.set()
            assert await whole(await asking) == b"ok"
            assert taken == [body]
            assert await whole(await post(client)) == b"ok"
            assert server.accepted == 1
            await client.close()

    run(conversation())


async def unsent_bytes(client: HttpClient) -> int:
    """What waits in our own memory, once the socket takes no more."""
    last, same = -1, 0
    while same < 100:
        await asyncio.sleep(0.001)
        sizes = [one._transport.get_write_buffer_size() for one in client._open if one._transport]
        now = sum(sizes)
        same = same + 1 if now == last and now else 0
        last = now
    return last


@pytest.mark.parametrize("status", [b"413 Too Large", b"200 OK"])
def test_an_answer_before_the_body_was_taken_is_returned_and_the_connection_not_reused(
    run: Run, status: bytes
) -> None:
    async def serve(peer: Peer) -> None:
        await peer.head()
        await peer.say(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\nno")
        await peer.is_left()

    async def conversation() -> None:
        async with Server(serve) as server:
            client = server.client()
            for _ in range(2):
                response = await post(client, bytes(32 << 20))
                assert (response.status, await whole(response)) == (int(status[:3]), b"no")
                await soon(server.all_left.wait())
            assert server.accepted == 2
            await client.close()

    run(conversation())


def test_a_server_that_answers_well_before_it_has_read_all_is_still_sent_all(run: Run) -> None:
    body = bytes(range(256)) * (32 << 10)

    async def conversation() -> None:
        has_head = asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.head()
            await peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
            await has_head.wait()
            assert await peer.reader.readexactly(len(body)) == body
            await peer.say(b"done")
            await peer.is_left()

        async with Server(serve) as server:
            client = server.client()
            response = await post(client, body)
            has_head.set()
            assert await whole(response) == b"done"
            await client.close()

    run(conversation())


# The pool


def test_a_connection_serves_again_and_the_last_used_one_first(run: Run) -> None:
    async def conversation() -> None:
        both = asyncio.Barrier(2)
        numbers = iter(range(100))

        async def serve(peer: Peer) -> None:
            number = next(numbers)
            while True:
                head, _ = await peer.request()
                if b"/both" in head:
                    await both.wait()
                await peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % number)

        async with Server(serve) as server:
            client = server.client(idle_seconds=60)
            await asyncio.gather(get(client, b"/both"), get(client, b"/both"))
            last = await whole(await get(client))
            for _ in range(5):
                assert await whole(await get(client)) == last
            assert server.accepted == 2
            await client.close()
            await soon(server.all_left.wait())

    run(conversation())


@pytest.mark.parametrize(
    "answer",
    [
        CLOSING,
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nKeep-Alive: max=5, timeout=1\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 2\r\n\r\nok",
    ],
)
def test_a_connection_that_will_not_be_kept_is_closed_by_us_too(run: Run, answer: bytes) -> None:
    async def conversation() -> None:
        async with Server(always(answer)) as server:
            client = server.client(idle_seconds=60)
            for _ in range(3):
                assert await whole(await get(client)) == b"ok"
                await soon(server.all_left.wait())
            assert server.accepted == 3
            await client.close()

    run(conversation())


def test_a_promise_to_keep_it_longer_lets_it_serve_again(run: Run) -> None:
    answer = b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 2\r\n\r\nok"

    async def conversation() -> None:
        async with Server(always(answer)) as server:
            client = server.client()
            for _ in range(3):
                await whole(await get(client))
            assert server.accepted == 1
            await client.close()

    run(conversation())


def test_an_idle_connection_is_closed_when_its_time_is_over(run: Run) -> None:
    async def conversation() -> None:
        async with Server(always(OK)) as server:
            client = server.client(idle_seconds=0.05)
            await whole(await get(client))
            await soon(server.all_left.wait())
            await whole(await get(client))
            assert server.accepted == 2
            await client.close()

    run(conversation())


def test_one_that_is_too_old_is_not_used_even_before_it_was_swept(run: Run) -> None:
    async def conversation() -> None:
        async with Server(always(OK)) as server:
            client = server.client(idle_seconds=60)
            await whole(await get(client))
            client._idle[0].idle_until = 0.0
            await whole(await get(client))
            assert server.accepted == 2
            await client.close()

    run(conversation())


def test_no_more_are_kept_idle_than_allowed(run: Run) -> None:
    async def conversation() -> None:
        async with Server(always(OK)) as server:
            client = server.client(max_idle=2, idle_seconds=60)
            await asyncio.gather(*(get(client) for _ in range(8)))
            assert len(client._idle) == 2
            await client.close()
            none = server.client(max_idle=0)
            await get(none)
            assert not none._idle
            await none.close()
            await soon(server.all_left.wait())

    run(conversation())


def test_a_connection_the_server_closed_while_idle_is_not_used_for_a_call(run: Run) -> None:
    async def conversation() -> None:
        async with Server(once(OK)) as server:
            client = server.client(idle_seconds=60)
            for n in range(5):
                assert await whole(await post(client)) == b"ok"
                await soon(server.all_left.wait())
                assert server.accepted == n + 1
            await client.close()

    run(conversation())


def test_an_end_the_event_loop_has_not_seen_yet_is_seen(run: Run) -> None:
    """The farewell lies in the socket while the loop is busy with something else."""

    async def conversation() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(GENEROUS_SECONDS)
            client = HttpClient(Origin("http", "127.0.0.1", listener.getsockname()[1]), idle_seconds=60)

            def serve_blocking(keep: list[socket.socket]) -> None:
                peer = listener.accept()[0]
                peer.recv(65_536)
                peer.sendall(OK)
                keep.append(peer)

            peers: list[socket.socket] = []
            for _ in range(3):
                serving = asyncio.create_task(asyncio.to_thread(serve_blocking, peers))
                assert await whole(await post(client)) == b"ok"
                await serving
                peers[-1].close()  # no await between this and the next request's first step
            await client.close()

    run(conversation())


@pytest.mark.parametrize("how", ["end", "reset"])
def test_a_call_is_not_made_again_when_a_kept_connection_dies_under_it(run: Run, how: str) -> None:
    async def conversation() -> None:
        calls: list[bytes] = []

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.say(OK)
            calls.append((await peer.request())[0])
            reset(peer) if how == "reset" else peer.writer.close()

        async with Server(serve) as server:
            client = server.client(idle_seconds=60)
            await whole(await post(client))
            with pytest.raises(UpstreamLost, match="unknown whether the call ran"):
                await post(client)
            assert (len(calls), server.accepted) == (1, 1)
            await client.close()

    run(conversation())


@pytest.mark.parametrize("method", [b"GET", b"DELETE", b"HEAD"])
def test_what_may_be_repeated_is_asked_once_more_on_a_fresh_connection(run: Run, method: bytes) -> None:
    async def conversation() -> None:
        asked: list[bytes] = []

        async def serve(peer: Peer) -> None:
            asked.append((await peer.request())[0].split()[0])
            await peer.say(OK if asked[-1] != b"HEAD" else OK[:-2])
            asked.append((await peer.request())[0].split()[0])
            peer.writer.close()

        async with Server(serve) as server:
            client = server.client(idle_seconds=60)
            await whole(await post(client))
            response = await soon(client.request(method, b"/", []))
            assert response.status == 200
            assert asked == [b"POST", method, method]
            assert server.accepted == 2
            await client.close()

    run(conversation())


def test_what_may_be_repeated_is_not_when_it_died_on_a_fresh_connection_or_within_the_answer(
    run: Run,
) -> None:
    async def conversation() -> None:
        async with Server(once(b"")) as server:
            client = server.client()
            with pytest.raises(UpstreamLost):
                await get(client)
            assert server.accepted == 1
            await client.close()

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.say(OK)
            await peer.request()
            await peer.say(b"HTTP/1.1 2")
            peer.writer.close()

        async with Server(serve) as server:
            client = server.client(idle_seconds=60)
            await whole(await get(client))
            with pytest.raises(UpstreamLost):
                await get(client)
            assert server.accepted == 1
            await client.close()

    run(conversation())


def test_an_answer_that_was_left_unread_by_its_caller_does_not_hold_back_the_next(run: Run) -> None:
    async def conversation() -> None:
        async with Server(always(OK)) as server:
            client = server.client()
            first = await get(client)
            second = await get(client)
            assert server.accepted == 1
            first.abort()  # its connection is the pool's again
            assert (await whole(second), await whole(first)) == (b"ok", b"ok")
            assert await whole(await get(client)) == b"ok"
            assert server.accepted == 1
            await client.close()

    run(conversation())


def test_fifty_at_once_get_each_their_own_answer(run: Run) -> None:
    async def conversation() -> None:
        everyone = asyncio.Barrier(50)

        async def serve(peer: Peer) -> None:
            while True:
                _, body = await peer.request()
                if body.endswith(b"-0"):
                    await everyone.wait()
                await peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

        async with Server(serve) as server:
            client = server.client(idle_seconds=60)

            async def ask(number: int) -> None:
                for turn in range(20):
                    body = b"%d-%d" % (number, turn)
                    assert await whole(await post(client, body)) == body

            await asyncio.gather(*(ask(number) for number in range(50)))
            assert server.accepted == 50
            await client.close()
            await soon(server.all_left.wait())

    run(conversation())


# Trouble


def test_an_upstream_that_is_not_there_is_said_to_be_so(run: Run) -> None:
    async def conversation() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        client = HttpClient(Origin("http", "127.0.0.1", port))
        said = (
            rf"cannot connect to http://127\.0\.0\.1:{port} \(connection refused\): is the server running\?"
        )
        with pytest.raises(UpstreamUnreachable, match=said):
            await post(client)
        both = HttpClient(Origin("http", "localhost", port))
        with pytest.raises(UpstreamUnreachable, match="connection refused"):
            await post(both)
        nowhere = HttpClient(Origin("http", "no-such-host.invalid", 80))
        with pytest.raises(UpstreamUnreachable):
            await post(nowhere)

    run(conversation())


def test_one_that_never_accepts_is_given_up(run: Run) -> None:
    async def conversation() -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            address = listener.getsockname()
            fillers = [socket.socket() for _ in range(8)]
            for filler in fillers:  # until the queue is full, the system accepts on its behalf
                filler.setblocking(False)
                filler.connect_ex(address)
            client = HttpClient(Origin("http", *address), connect_seconds=0.2)
            with pytest.raises(UpstreamUnreachable, match=r"no connection within 0\.2 s"):
                await post(client)
            for filler in fillers:
                filler.close()

    if sys.platform == "linux":
        run(conversation())


def test_one_that_closes_at_once_is_an_error_not_a_wait(run: Run) -> None:
    async def serve(peer: Peer) -> None:
        peer.cut()

    async def conversation() -> None:
        async with Server(serve) as server:
            client = server.client()
            for _ in range(50):
                with pytest.raises((UpstreamUnreachable, UpstreamLost)):
                    await post(client)
            assert not client._open
            await client.close()

    run(conversation())


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_one_that_does_not_begin_to_answer_is_given_up_and_sees_it(run: Run, said: bytes) -> None:
    async def conversation() -> None:
        async with Server(once(said, then_close=False)) as server:
            client = server.client()
            with pytest.raises(UpstreamTimeout, match=r"within 0\.1 s"):
                await post(client, headers_within=0.1)
            await soon(server.all_left.wait())
            await client.close()

    run(conversation())


def test_one_that_does_not_even_take_the_body_is_given_up(run: Run) -> None:
    async def conversation() -> None:
        over = asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.head()
            await over.wait()

        async with Server(serve) as server:
            client = server.client()
            with pytest.raises(UpstreamTimeout):
                await post(client, bytes(32 << 20), headers_within=0.2)
            over.set()
            await client.close()

    run(conversation())


def test_the_time_to_begin_does_not_end_a_body_that_comes_later(run: Run) -> None:
    async def conversation() -> None:
        may_end = asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.say(OK[:-2])
            await may_end.wait()
            await peer.say(b"ok")
            await peer.is_left()

        async with Server(serve) as server:
            client = server.client()
            response = await post(client, headers_within=0.05)
            reading = asyncio.create_task(whole(response))
            assert (await asyncio.wait([reading], timeout=0.2))[0] == set()
            may_end.set()
            assert await reading == b"ok"
            await client.close()

    run(conversation())


# Leaving


@pytest.mark.parametrize("body", [b"{}", bytes(32 << 20)], ids=["waiting", "writing"])
def test_a_cancelled_request_is_seen_by_the_server_as_an_end(run: Run, body: bytes) -> None:
    async def conversation() -> None:
        came, left = asyncio.Event(), asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.head()
            came.set()
            await peer.is_left()
            left.set()

        async with Server(serve) as server:
            client = server.client()
            asking = asyncio.create_task(post(client, body))
            await soon(came.wait())
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await soon(left.wait())
            await client.close()
            assert not client._open

    run(conversation())


@pytest.mark.parametrize("extra", [b"", b"Content-Encoding: gzip\r\n"])
def test_a_cancelled_reader_is_seen_by_the_server_as_an_end(run: Run, extra: bytes) -> None:
    async def conversation() -> None:
        left = asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.say(b"HTTP/1.1 200 OK\r\n" + extra + b"Transfer-Encoding: chunked\r\n\r\n")
            await peer.is_left()
            left.set()

        async with Server(serve) as server:
            client = server.client()
            response = await get(client)
            reading = asyncio.create_task(response.next())
            await asyncio.sleep(0)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            await soon(left.wait())
            with pytest.raises(UpstreamLost):
                await soon(response.next())
            response.abort()
            await client.close()

    run(conversation())


def test_five_hundred_cancelled_at_every_moment_leave_nothing_open(run: Run) -> None:
    async def conversation() -> None:
        async with Server(always(OK)) as server:
            client = server.client(idle_seconds=60)

            async def ask() -> None:
                await whole(await post(client))

            for n in range(500):
                asking = asyncio.create_task(ask())
                for _ in range(n % 25):
                    await asyncio.sleep(0)
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
            assert await whole(await post(client)) == b"ok"
            assert len(client._open) <= 2
            await client.close()
            assert not client._open
            await soon(server.all_left.wait())
            gc.collect()

    run(conversation())


def test_closing_ends_idle_and_busy_connections_and_tells_who_waits(run: Run) -> None:
    async def conversation() -> None:
        came = asyncio.Semaphore(0)

        async def serve(peer: Peer) -> None:
            while True:
                head, _ = await peer.request()
                if b"/idle" in head:
                    await peer.say(OK)
                if b"/body" in head:
                    await peer.say(OK[:-1])
                came.release()

        async with Server(serve) as server:
            client = server.client(idle_seconds=60)
            response = await get(client, b"/body")
            reading = asyncio.create_task(whole(response))
            waiting = asyncio.create_task(get(client, b"/silent"))
            for _ in range(2):
                await soon(came.acquire())
            await get(client, b"/idle")
            assert server.open == 3
            await soon(client.close())
            assert not client._open
            for task in (reading, waiting):
                with pytest.raises(UpstreamLost, match="closed by us"):
                    await task
            await soon(server.all_left.wait())
            with pytest.raises(UpstreamUnreachable, match="was closed"):
                await get(client)
            await client.close()

    run(conversation())


async def nobody_left(client: HttpClient) -> None:
    while client._open:
        await asyncio.sleep(0.001)


def test_closing_while_somebody_connects_leaves_nothing_open(run: Run) -> None:
    async def conversation() -> None:
        async with Server(always(OK)) as server:
            for steps in range(12):
                client = server.client(idle_seconds=60)
                asking = asyncio.create_task(get(client))
                for _ in range(steps):
                    await asyncio.sleep(0)
                await client.close()
                with pytest.raises((UpstreamUnreachable, UpstreamLost)):
                    await whole(await asking)
                    raise UpstreamUnreachable  # it was quicker
                await soon(nobody_left(client))
            if server.accepted:
                await soon(server.all_left.wait())

    run(conversation())


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and self-signed certificate for 127.0.0.1, in one file."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    if find_spec("cryptography"):
        file.write_bytes(key_and_certificate())
    elif openssl := shutil.which("openssl"):
        key, made = file.with_name("key.pem"), file.with_name("made.pem")
        command = f"{openssl} req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1".split()
        command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(made)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        file.write_bytes(key.read_bytes() + made.read_bytes())
    else:
        pytest.skip("neither cryptography nor openssl is here")
    return file


def key_and_certificate() -> bytes:
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(pem, *plain) + made.public_bytes(pem)


@pytest.fixture
def serving(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


@pytest.mark.usefixtures("trusted")
def test_tls_trusts_what_ssl_cert_file_names_and_speaks_http_1(run: Run, serving: ssl.SSLContext) -> None:
    async def conversation() -> None:
        spoken: list[str | None] = []

        async def serve(peer: Peer) -> None:
            spoken.append(peer.writer.get_extra_info("ssl_object").selected_alpn_protocol())
            while True:
                _, body = await peer.request()
                await peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

        async with Server(serve, serving) as server:
            client = server.client(idle_seconds=60)
            for body in (b"hello", bytes(3 << 20), b"", b"again"):
                assert await whole(await post(client, body)) == body
            assert (server.accepted, spoken) == (1, ["http/1.1"])
            await soon(client.close())
            await soon(server.all_left.wait())

    run(conversation())


def test_a_certificate_nobody_vouches_for_is_refused_before_anything_is_sent(
    run: Run, serving: ssl.SSLContext
) -> None:
    async def conversation() -> None:
        seen: list[bytes] = []

        async def serve(peer: Peer) -> None:
            seen.append(await peer.reader.read(10))

        async with Server(serve, serving) as server:
            asyncio.get_running_loop().set_exception_handler(
                lambda *_: None
            )  # the server's half of the quarrel
            client = server.client()
            with pytest.raises(UpstreamUnreachable, match=r"self.signed certificate.*SSL_CERT_FILE"):
                await post(client)
            await client.close()
            assert seen in ([], [b""])

    run(conversation())


@pytest.mark.usefixtures("trusted")
def test_a_certificate_for_another_name_is_refused(run: Run, serving: ssl.SSLContext) -> None:
    async def conversation() -> None:
        async with Server(always(OK), serving) as server:
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
            client = HttpClient(Origin("https", "localhost", server.port))
            with pytest.raises(UpstreamUnreachable, match="certificate"):
                await post(client)
            await client.close()

    run(conversation())


def test_a_context_that_checks_nothing_is_refused() -> None:
    careless = ssl.create_default_context()
    careless.check_hostname = False
    for mode in (ssl.CERT_REQUIRED, ssl.CERT_NONE):
        careless.verify_mode = mode
        with pytest.raises(ConfigError, match="always checked"):
            HttpClient(Origin("https", "127.0.0.1", 1), tls=careless)


def test_https_to_a_server_without_tls_says_so(run: Run) -> None:
    async def conversation() -> None:
        async def serve(peer: Peer) -> None:
            await peer.reader.read(1)
            await peer.say(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await peer.is_left()

        async with Server(serve) as server:
            client = HttpClient(Origin("https", "127.0.0.1", server.port))
            with pytest.raises(UpstreamUnreachable, match="does it speak TLS"):
                await post(client)
            await client.close()

    run(conversation())


def test_cancelling_a_handshake_is_seen_by_the_server(run: Run) -> None:
    async def conversation() -> None:
        came, left = asyncio.Event(), asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.reader.read(1)
            came.set()
            await peer.is_left()
            left.set()

        async with Server(serve) as server:
            client = HttpClient(Origin("https", "127.0.0.1", server.port))
            asking = asyncio.create_task(post(client))
            await soon(came.wait())
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await soon(left.wait())
            quick = HttpClient(Origin("https", "127.0.0.1", server.port), connect_seconds=0.2)
            left.clear()
            with pytest.raises(UpstreamUnreachable, match=r"within 0\.2 s"):
                await post(quick)
            await soon(left.wait())

    run(conversation())


@pytest.mark.usefixtures("trusted")
def test_cancelling_over_tls_is_seen_by_the_server(run: Run, serving: ssl.SSLContext) -> None:
    async def conversation() -> None:
        came, left = asyncio.Event(), asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.say(OK[:-2])
            came.set()
            await peer.is_left()
            left.set()

        async with Server(serve, serving) as server:
            client = server.client()
            reading = asyncio.create_task(whole(await post(client)))
            await soon(came.wait())
            await asyncio.sleep(0)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await soon(left.wait())
            await client.close()

    run(conversation())


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("politely", [True, False])
def test_over_tls_only_a_farewell_ends_a_body_without_a_length(
    run: Run, serving: ssl.SSLContext, politely: bool
) -> None:
    async def conversation() -> None:
        may_end = asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.say(b"HTTP/1.1 200 OK\r\n\r\nhello")
            await may_end.wait()
            peer.writer.close() if politely else peer.cut()
            await peer.is_left()

        async with Server(serve, serving) as server:
            client = server.client()
            response = await get(client)
            assert await soon(response.next()) == b"hello"
            may_end.set()
            if politely:
                assert await soon(response.next()) == b""
            else:
                with pytest.raises(UpstreamLost, match="ended early"):
                    await soon(response.next())
            await client.close()

    run(conversation())


# Cost


def test_importing_the_client_loads_neither_zlib_nor_a_url_parser() -> None:
    probe = (
        "import sys, asyncio; before = set(sys.modules)\n"
        "import brimgate.http.client\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    out = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )
    assert "brimgate.http.connection" in out.stdout
    assert {"zlib", "ssl", "urllib.parse", "logging", "email"}.isdisjoint(out.stdout.split())


def test_the_errors_are_told_apart_by_what_they_mean() -> None:
    kinds = (UpstreamGarbled, UpstreamUnreachable, UpstreamLost, UpstreamTimeout)
    assert all(issubclass(kind, UpstreamError) for kind in kinds)
    assert len({kind.kind for kind in kinds}) == len(kinds)
