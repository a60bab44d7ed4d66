"""Whatever an upstream sends, the caller gets the whole answer or an UpstreamError: never a part, never another's."""

import asyncio
import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.errors import AnswerTooLarge, UpstreamError, UpstreamGarbled, UpstreamLost
from brimgate.http.encodings import Inflater
from tests.back.scripted import OK, Peer, Run, Server, always, get, once, post, soon, whole

HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (HEAD + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (HEAD + b"Content-Length: 0\r\n\r\n", b""),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", b"hello"),
        (
            HEAD + b"transfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\nStatus: 5\r\n\r\n",
            b"hello",
        ),
        (HEAD + b"\r\nhello", b"hello"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Encoding: br\r\nContent-Length: 99\r\n\r\n", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, b"ok"),
        (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", b"ok"),
    ],
)
@pytest.mark.parametrize("torn", [False, True])
def test_every_framing_ends_where_it_says(run: Run, answer: bytes, body: bytes, torn: bool) -> None:
    async def serve(peer: Peer) -> None:
        await peer.request()
        for piece in [bytes([byte]) for byte in answer] if torn else [answer]:
            await peer.say(piece)
            await asyncio.sleep(0)
        peer.writer.close()

    async def conversation() -> None:
        async with Server(serve) as server:
            client = server.client()
            response = await get(client)
            assert await whole(response) == body
            assert await soon(response.next()) == b""
            assert response.header(b"x-sum") == response.header(b"link") == b""
            response.abort()
            await client.close()

    run(conversation())


def test_names_are_lowered_values_trimmed_and_order_and_repeats_kept(run: Run) -> None:
    answer = (
        HEAD + b"X-One:  \t a b \t \r\nSet-Thing: 1\r\nset-thing: 2\r\nX-None:\r\nContent-Length: 2\r\n\r\nok"
    )

    async def conversation() -> None:
        async with Server(once(answer)) as server:
            client = server.client()
            response = await get(client)
            assert response.status == 200
            assert response.headers == [
                (b"x-one", b"a b"),
                (b"set-thing", b"1"),
                (b"set-thing", b"2"),
                (b"x-none", b""),
                (b"content-length", b"2"),
            ]
            assert response.header(b"set-thing") == b"1"
            await client.close()

    run(conversation())


def test_an_answer_to_head_has_no_body_and_its_connection_serves_again(run: Run) -> None:
    answers = [HEAD + b"Content-Length: 5\r\nContent-Encoding: br\r\n\r\n", OK]

    async def serve(peer: Peer) -> None:
        for answer in answers:
            await peer.request()
            await peer.say(answer)
        await peer.is_left()

    async def conversation() -> None:
        async with Server(serve) as server:
            client = server.client()
            head = await soon(client.request(b"HEAD", b"/", []))
            assert head.header(b"content-length") == b"5"
            assert await whole(head, 1) == b""
            assert await whole(await get(client)) == b"ok"
            assert server.accepted == 1
            await client.close()

    run(conversation())


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b"Content-Length: 10\r\n\r\nhello",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    ],
)
def test_a_short_body_is_an_error_behind_what_came(run: Run, answer: bytes) -> None:
    async def conversation() -> None:
        async with Server(once(answer)) as server:
            client = server.client()
            response = await get(client)
            assert b"hello".startswith(await soon(response.next()))
            for _ in range(2):
                with pytest.raises(UpstreamLost, match="ended early"):
                    await soon(response.next())
            await client.close()

    run(conversation())


def test_a_body_to_the_end_of_the_connection_is_not_whole_when_that_was_cut(run: Run) -> None:
    cut = asyncio.Event

    async def conversation() -> None:
        may_cut = cut()

        async def serve(peer: Peer) -> None:
            import socket
            import struct

            await peer.request()
            await peer.say(HEAD + b"\r\nhel")
            await may_cut.wait()
            raw = peer.writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.cut()

        async with Server(serve) as server:
            client = server.client()
            response = await get(client)
            assert await soon(response.next()) == b"hel"
            may_cut.set()
            with pytest.raises(UpstreamLost, match="ended early"):
                await soon(response.next())
            await client.close()

    run(conversation())


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x15\x03\x03\x00\x02\x02\x46",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 000 No\r\n\r\n",
        b"HTTP/1.1 600 No\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/7.1 200 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 40 + OK,
        b"HTTP/1.1 150 Odd\r\nContent-Length: 2\r\n\r\nno" + OK,
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!",
        HEAD + b"Content-Length: 2, 3\r\n\r\nok!",
        HEAD + b"Content-Length: -2\r\n\r\nok",
        HEAD + b"Content-Length: +2\r\n\r\nok",
        HEAD + b"Content-Length: 0x2\r\n\r\nok",
        HEAD + b"Content-Length:\r\n\r\nok",
        HEAD + b"Content-Length: 99999999999999999999999\r\n\r\nok",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: identity\r\n\r\nok",
        HEAD + b"Transfer-Encoding: xchunked\r\n\r\nok",
        HEAD + b"Bad Name: x\r\n\r\n",
        HEAD + b"X: a\x00b\r\n\r\n",
        HEAD + b"no colon\r\n\r\n",
        HEAD + b": empty\r\n\r\n",
        HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(300)) + b"\r\n",
        HEAD + b"X: " + b"y" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n",
        HEAD + b"Content-Encoding: compress\r\nContent-Length: 2\r\n\r\nok",
        HEAD + b"Content-Encoding: gzip, gzip\r\nContent-Length: 2\r\n\r\nok",
    ],
)
def test_a_head_that_cannot_be_trusted_is_refused_and_its_connection_closed(run: Run, answer: bytes) -> None:
    async def conversation() -> None:
        async with Server(once(answer, then_close=False)) as server:
            client = server.client()
            with pytest.raises(
                UpstreamGarbled, match=r"^the answer from http://127\.0\.0\.1:\d+ was refused: "
            ):
                await post(client)
            await soon(server.all_left.wait())
            await client.close()

    run(conversation())


def test_an_unknown_coding_is_named_but_never_what_else_a_header_says(run: Run) -> None:
    async def conversation() -> None:
        answers = {b"compress": "Content-Encoding is compress:", b'x"\xffsecret': "not one of HTTP's"}
        for coding, said in answers.items():
            answer = HEAD + b"Content-Encoding: " + coding + b"\r\nContent-Length: 2\r\n\r\nok"
            async with Server(once(answer)) as server:
                client = server.client()
                with pytest.raises(UpstreamGarbled, match=said) as refused:
                    await get(client)
                assert "secret" not in str(refused.value)
                await client.close()

    run(conversation())


@pytest.mark.parametrize(
    "chunks",
    [
        b"zz\r\nhello\r\n0\r\n\r\n",
        b"-5\r\nhello\r\n0\r\n\r\n",
        b"ffffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloXX0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"5\nhello\n0\n\n",
        b"\r\n5\r\nhello\r\n0\r\n\r\n",
    ],
)
def test_bad_chunks_are_an_error_not_a_short_body(run: Run, chunks: bytes) -> None:
    async def conversation() -> None:
        async with Server(once(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)) as server:
            client = server.client()
            with pytest.raises(UpstreamGarbled, match="was refused"):
                await whole(await get(client))
            await client.close()

    run(conversation())


@pytest.mark.parametrize(
    ("start", "again"),
    [
        (b"HTTP/1.1 200 ", b"O" * 1024),
        (HEAD + b"X: ", b"y" * 1024),
        (HEAD, b"X" * 1024),
        (HEAD, b"X: y\r\n" * 100),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 1024),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;", b"x" * 1024),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", b"X: y\r\n" * 100),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: ", b"y" * 1024),
        (b"", b"\r\n" * 512),
    ],
)
def test_what_has_no_end_is_cut_off(run: Run, start: bytes, again: bytes) -> None:
    async def serve(peer: Peer) -> None:
        await peer.request()
        await peer.say(start)
        while not peer.writer.is_closing():
            await peer.say(again)
            await asyncio.sleep(0)

    async def conversation() -> None:
        async with Server(serve) as server:
            client = server.client()
            with pytest.raises(UpstreamGarbled, match="was refused"):
                await whole(await get(client))
            await soon(server.all_left.wait())
            await client.close()

    run(conversation())


@pytest.mark.parametrize(
    "behind", [b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", b"H", b"garbage", b"0\r\n\r\n"]
)
@pytest.mark.parametrize("at_once", [True, False])
def test_bytes_behind_an_answer_never_reach_the_next_request(run: Run, behind: bytes, at_once: bool) -> None:
    async def conversation() -> None:
        told = asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.request()
            if at_once:
                await peer.say(OK + behind)
            else:
                await peer.say(OK)
                await told.wait()
                await peer.say(behind)
            await peer.is_left()

        async with Server(serve) as server:
            client = server.client(idle_seconds=60)
            assert await whole(await post(client)) == b"ok"
            told.set()
            await soon(server.all_left.wait())
            again = asyncio.create_task(post(client))
            assert await whole(await again) == b"ok"
            assert server.accepted == 2
            await client.close()

    run(conversation())


def test_bytes_behind_an_answer_to_head_close_the_connection(run: Run) -> None:
    async def conversation() -> None:
        async with Server(once(OK, then_close=False)) as server:
            client = server.client()
            assert await whole(await soon(client.request(b"HEAD", b"/", []))) == b""
            await soon(server.all_left.wait())
            await client.close()

    run(conversation())


def compressed(data: bytes, window: int) -> bytes:
    squeezer = zlib.compressobj(wbits=window)
    return squeezer.compress(data) + squeezer.flush()


TEXT = b"".join(b"%d bottles of beer, " % n for n in range(60_000))
CODED = {
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT),
    "GZip": gzip.compress(TEXT),
    "deflate": zlib.compress(TEXT),
    "deflate ": compressed(TEXT, -zlib.MAX_WBITS),
}


def coded(coding: str, data: bytes) -> bytes:
    return HEAD + f"Content-Encoding: {coding}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


@pytest.mark.parametrize("coding", CODED)
def test_a_coded_answer_nobody_asked_for_is_decoded(run: Run, coding: str) -> None:
    async def conversation() -> None:
        async with Server(always(coded(coding, CODED[coding]))) as server:
            client = server.client()
            for _ in range(2):
                assert await whole(await get(client)) == TEXT
            assert server.accepted == 1
            with pytest.raises(AnswerTooLarge):
                await whole(await get(client), len(TEXT) - 1)
            await client.close()

    run(conversation())


def test_an_empty_body_may_be_called_coded(run: Run) -> None:
    async def conversation() -> None:
        async with Server(always(coded("gzip", b""))) as server:
            client = server.client()
            assert await whole(await get(client)) == b""
            await client.close()

    run(conversation())


@pytest.mark.parametrize(
    ("coding", "data", "said"),
    [
        ("gzip", CODED["gzip"][:-1], "ended early"),
        ("gzip", CODED["gzip"][:1], "ended early"),
        ("gzip", CODED["gzip"][: len(CODED["gzip"]) // 2], "ended early"),
        ("deflate", CODED["deflate"][:-5], "ended early"),
        ("gzip", TEXT[:100], "broken"),
        ("gzip", CODED["gzip"][:-8] + b"\0" * 8, "broken"),
        ("deflate", b"\xff" * 100, "broken"),
        ("gzip", CODED["gzip"] + b"more", "follows the end"),
        ("gzip", CODED["gzip"] + CODED["gzip"][:-1], "ended early"),
        ("deflate", CODED["deflate"] + CODED["deflate"], "follows the end"),
    ],
)
def test_broken_coded_data_is_an_error(run: Run, coding: str, data: bytes, said: str) -> None:
    async def conversation() -> None:
        async with Server(once(coded(coding, data))) as server:
            client = server.client()
            with pytest.raises(UpstreamGarbled, match=said):
                await whole(await get(client))
            await client.close()

    run(conversation())


def test_a_bomb_opens_a_piece_at_a_time_and_the_cap_counts_what_came_out(run: Run) -> None:
    squeezer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    zeros = bytes(1 << 20)
    bomb = b"".join(squeezer.compress(zeros) for _ in range(32)) + squeezer.flush()
    assert len(bomb) < 64 << 10

    async def conversation() -> None:
        async with Server(once(coded("gzip", bomb))) as server:
            client = server.client()
            response = await get(client)
            with pytest.raises(AnswerTooLarge, match="more than the 1,000,000 bytes"):
                await whole(response, 1_000_000)
            response, size = await get(client), 0
            tracemalloc.start()
            try:
                while piece := await soon(response.next()):
                    assert len(piece) <= 256 << 10
                    size += len(piece)
                assert tracemalloc.get_traced_memory()[1] < 16 << 20
            finally:
                tracemalloc.stop()
            assert size == 32 << 20
            await client.close()

    run(conversation())


@pytest.mark.parametrize("window", [-zlib.MAX_WBITS, zlib.MAX_WBITS])
def test_what_zlib_still_holds_when_all_input_is_used_up_comes_out_too(window: int) -> None:
    border = 256 << 10
    for size in [*range(border - 3, border + 600, 7), *range(2 * border - 3, 2 * border + 300, 7)]:
        inflater = Inflater("deflate")
        inflater.feed(compressed(bytes(size), window))
        came = 0
        while inflater.has_more:
            came += len(inflater.take())
        inflater.end()
        assert came == size


def test_an_answer_announced_as_too_large_is_not_waited_for(run: Run) -> None:
    async def serve(peer: Peer) -> None:
        await peer.request()
        await peer.say(HEAD + b"Content-Length: 101\r\n\r\n")
        await peer.is_left()

    async def conversation() -> None:
        async with Server(serve) as server:
            client = server.client()
            with pytest.raises(AnswerTooLarge, match="100 bytes"):
                await whole(await get(client), 100)
            await soon(server.all_left.wait())
            await client.close()

    run(conversation())


@pytest.mark.parametrize("framing", [b"Content-Length: 209715200\r\n\r\n", b"\r\n"])
def test_two_hundred_megabytes_wait_in_the_socket_not_in_memory(run: Run, framing: bytes) -> None:
    piece = bytes(1 << 20)

    async def conversation() -> None:
        is_stuck = asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.say(HEAD + framing)
            for _ in range(200):
                peer.writer.write(piece)
                try:
                    await asyncio.wait_for(peer.writer.drain(), 0.5)
                except TimeoutError:
                    is_stuck.set()
                    await peer.is_left()
                    return

        async with Server(serve) as server:
            client = server.client()
            response = await get(client)
            tracemalloc.start()
            try:
                read = 0
                while read < 20 << 20:
                    read += len(await soon(response.next()))
                await soon(is_stuck.wait())
                assert tracemalloc.get_traced_memory()[1] < 16 << 20
            finally:
                tracemalloc.stop()
            response.abort()
            with pytest.raises(UpstreamLost, match="given up by us"):
                await soon(response.next())
            await soon(server.all_left.wait())
            await client.close()

    run(conversation())


def test_a_large_body_read_slowly_comes_whole(run: Run) -> None:
    body = bytes(range(256)) * 40_000

    async def conversation() -> None:
        async with Server(always(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)) as server:
            client = server.client()
            for _ in range(3):
                response, pieces = await get(client), []
                while piece := await soon(response.next()):
                    pieces.append(piece)
                    for _ in range(5):
                        await asyncio.sleep(0)
                assert b"".join(pieces) == body
            assert server.accepted == 1
            await client.close()

    run(conversation())


def test_a_body_in_chunks_of_one_byte_is_whole_and_small_in_memory(run: Run) -> None:
    size = 300_000
    body = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"2\r\nab\r\n" * size + b"0\r\n\r\n"

    async def conversation() -> None:
        async with Server(always(body)) as server:
            client = server.client()
            assert await whole(await get(client)) == b"ab" * size
            await client.close()

    run(conversation())


def test_an_event_comes_as_soon_as_it_was_said(run: Run) -> None:
    async def conversation() -> None:
        heard = asyncio.Semaphore(0)

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.say(HEAD + b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for n in range(5):
                await heard.acquire()
                event = b"data: %d\n\n" % n
                await peer.say(b"%x\r\n%b\r\n" % (len(event), event))
            await heard.acquire()
            await peer.say(b"0\r\n\r\n")
            await peer.is_left()

        async with Server(serve) as server:
            client = server.client()
            response = await get(client)
            for n in range(5):
                heard.release()
                assert await soon(response.next()) == b"data: %d\n\n" % n
            heard.release()
            assert await soon(response.next()) == b""
            await client.close()

    run(conversation())


FRAGMENTS = st.one_of(
    st.sampled_from(
        [
            HEAD,
            OK,
            b"HTTP/1.1 ",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.0 204 No\r\n",
            b"Content-Length: 5\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Content-Encoding: gzip\r\n",
            b"Connection: close\r\n",
            b"Keep-Alive: timeout=5\r\n",
            b"\r\n",
            b"5\r\nhello\r\n",
            b"0\r\n\r\n",
            b"hello",
        ]
    ),
    st.binary(max_size=40),
)


@pytest.mark.property
@given(st.lists(FRAGMENTS, max_size=12))
def test_whatever_comes_is_an_answer_or_an_upstream_error(fragments: list[bytes]) -> None:
    async def serve(peer: Peer) -> None:
        await peer.request()
        for fragment in fragments:
            await peer.say(fragment)
            await asyncio.sleep(0)

    async def conversation() -> None:
        async with Server(serve) as server:
            client = server.client()
            try:
                await whole(await post(client))
            except UpstreamError as error:
                assert str(error).isprintable()
            await client.close()

    asyncio.run(conversation())
