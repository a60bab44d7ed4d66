"""What replicas share, without the replicas: limits, keys, bounds, and what becomes of half an answer."""

import asyncio
import os
import time
from typing import Any

import pytest

from brimgate.engine.cursor import Binding, Cursor, KeyRing
from brimgate.engine.document import Position
from brimgate.errors import AnswerOutOfReach, CursorError, OperatorError, RateLimited
from brimgate.guard.limits import Claim, Limiter, Rate
from brimgate.hold.stores.contract import Bounds
from brimgate.share import shared_keys
from brimgate.share.shared_answers import PIECE_BYTES, StoredBytes
from brimgate.share.shared_limits import SharedLimiter
from brimgate.share.store_link import StoreLink
from tests.store.redis_server import STORES, redis_server
from tests.store.sharing import Replica, replica

A = b"aaaaaaaa"


def admitted(made: Replica, limiter: SharedLimiter, *claims: Claim) -> Any:
    try:
        return made.run(limiter.admit(list(claims)))
    except RateLimited as refusal:
        return refusal


@pytest.mark.parametrize("name", STORES)
def test_limits_of_two_are_those_of_one(name: str) -> None:
    rate = Rate(50, 900, 60)
    with redis_server(name) as server, replica(server.url) as one, replica(server.url) as two:
        both = [(made, SharedLimiter(made.link, made.keys)) for made in (one, two)]

        async def many(limiter: SharedLimiter) -> list[Any]:
            claims = [limiter.admit([Claim("ann", rate)]) for _ in range(40)]
            return await asyncio.gather(*claims, return_exceptions=True)

        found = [answer for made, limiter in both for answer in made.run(many(limiter))]
        refused = [one for one in found if isinstance(one, RateLimited)]
        assert len(found) - len(refused) == 50
        assert all(one.retry_after >= 59 and one.limit == 50 for one in refused)
        assert isinstance(admitted(*both[0], Claim("bob", rate)), list)


def test_a_batch_is_admitted_as_a_whole_or_not_at_all() -> None:
    rate, small = Rate(10, 900), Rate(3, 900)
    with redis_server() as server, replica(server.url) as made:
        limiter = SharedLimiter(made.link, made.keys)
        quotas = admitted(made, limiter, Claim("a", rate, 4), Claim("b", small, 3))
        assert [one.remaining for one in quotas] == [6, 0]
        assert isinstance(admitted(made, limiter, Claim("a", rate, 4), Claim("b", small)), RateLimited)
        assert admitted(made, limiter, Claim("a", rate, 6))[0].remaining == 0, (
            "what was refused was not counted"
        )
        too_many = admitted(made, limiter, Claim("c", small, 4))
        assert "send fewer" in str(too_many)


def test_a_refusal_says_when_to_come_again_as_one_process_does() -> None:
    rate, now = Rate(3, 900, 60), [1_000.0]
    alone = Limiter(lambda: now[0])
    with redis_server() as server, replica(server.url) as made:
        limiter = SharedLimiter(made.link, made.keys)
        for claim in [Claim("k", rate)] * 3:
            assert admitted(made, limiter, claim)[0].remaining == alone.take("k", rate).remaining
        for _ in range(2):
            shared = admitted(made, limiter, Claim("k", rate))
            with pytest.raises(RateLimited) as own:
                alone.take("k", rate)
            assert abs(shared.retry_after - own.value.retry_after) <= 1


# Keys


def aged(made: Replica, *ages: float) -> None:
    """Put keys into the store that began to seal so long ago."""
    record = made.keys._record
    assert record is not None
    keys = [
        shared_keys._Key(record.keys[0].key if not number else os.urandom(32), time.time() - age)
        for number, age in enumerate(ages)
    ]
    packed = made.keys._wrapped(shared_keys._Record(record.identity, keys))
    made.run(made.link.ask(lambda client: client.set(made.link.key("keys"), packed), lambda _: True))


def sealed(made: Replica) -> str:
    return made.keys.seal(Cursor(A, 10**8, Position(0)), Binding("ann"))


def opens(made: Replica, cursor: str) -> bool:
    try:
        made.keys.unseal(cursor, Binding("ann"), 1)
    except CursorError:
        return False
    return True


def test_keys_are_the_same_and_turn_over() -> None:
    with redis_server() as server, replica(server.url) as one, replica(server.url) as two:
        assert one.keys.identity == two.keys.identity and opens(two, sealed(one))
        old = sealed(one)
        aged(one, 86_401)
        for made in (one, two):
            made.run(made.keys.refresh())
        before = one.keys.keys[0]
        assert one.keys.keys[0] == two.keys.keys[0] and len(one.keys.keys) > 1, (
            "a new key is there, and waits"
        )
        record = one.keys._record
        assert record is not None and record.keys[0].since > time.time()
        assert opens(two, sealed(one)) and opens(two, old)
        record.keys[0].since = time.time() - 1
        packed = one.keys._wrapped(record)
        one.run(one.link.ask(lambda client: client.set(one.link.key("keys"), packed), lambda _: True))
        one.run(one.keys.refresh())
        assert one.keys.keys[0] != before, "its time has come"
        assert not opens(two, "A" * 48)
        two.run(two.keys.refresh())
        assert opens(two, sealed(one)) and opens(one, old) and opens(two, old)


def test_keys_of_the_environment_turn_over_and_what_they_name_stays() -> None:
    old, new = os.urandom(32), os.urandom(32)
    with redis_server() as server, replica(server.url, prefix="own:") as made:
        server.ask("FLUSHALL")
        names = []
        for ring in ((old,), (old, new), (new, old), (new,)):
            keys = made.run(_keys(made.link, server.url, KeyRing(*ring)))
            made.run(keys.refresh())
            assert keys.keys == ring
            names.append(keys.digest(b"answer", b"ann"))
            held = server.everything()
            assert old not in held and new not in held
        assert len(set(names)) == 1
        stranger = made.run(_keys(made.link, server.url, KeyRing(os.urandom(32))))
        with pytest.raises(OperatorError, match="BRIMGATE_CURSOR_KEY"):
            made.run(stranger.refresh())


async def _keys(link: StoreLink, url: str, given: Any) -> shared_keys.SharedKeys:
    return shared_keys.SharedKeys(link, url, given, lambda _: None)


def test_keys_of_others_are_refused() -> None:
    with redis_server() as server, replica(server.url) as made:
        for record in (b"s" + os.urandom(80), b"pabc", b"p", b"", b"p" + b"A" * 40, b"?"):
            server.ask("SET", "brimgate:keys", record)
            with pytest.raises(OperatorError, match="another password"):
                made.run(made.keys.refresh())
            made.run(made.link.probe())
        assert made.told[-1][0] == "healthy", "what was taken before stays good"


# Answers


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, 3 * PIECE_BYTES + 5, 12 << 20])
def test_answers_of_every_size_come_back(size: int) -> None:
    data = os.urandom(size)
    with redis_server() as server, replica(server.url) as one, replica(server.url) as two:
        assert one.answers().put("ann", A, data, 110, 100)
        found = two.answers().get("ann", A, 100)
        assert found is not None
        if isinstance(found, StoredBytes):
            assert len(found) == size
            assert found.part(PIECE_BYTES - 3, PIECE_BYTES + 3) == data[PIECE_BYTES - 3 : PIECE_BYTES + 3]
            assert found.part(size - 4, size + 100) == data[-4:]
            found = found.part(0, size)
        assert found == data


def test_half_an_answer_is_none() -> None:
    data = os.urandom(2 << 20)
    with redis_server() as server, replica(server.url) as made:
        answers = made.answers()
        answers.put("ann", A, data, 110, 100)
        (name,) = _answers_in(server)
        head = server.ask("HGET", name, "m")
        server.ask("HDEL", name, "m")
        assert answers.get("ann", A, 100) is None, "a head comes last"
        assert isinstance(head, bytes)
        server.ask("HSET", name, "m", head)
        server.ask("HDEL", name, "3")
        found = made.answers().get("ann", A, 100)
        assert isinstance(found, StoredBytes)
        with pytest.raises(CursorError):
            found.part(0, len(found))


def test_what_was_changed_or_moved_in_the_store_is_not_believed() -> None:
    data = os.urandom(2 << 20)
    with redis_server() as server, replica(server.url) as made:
        for forge in (
            lambda first, second: second,
            lambda first, second: first[:-1] + bytes([first[-1] ^ 1]),
            lambda first, second: b"",
            lambda first, second: b"x" * 100,
        ):
            made.answers().put("ann", A, data, 110, 100)
            (name,) = _answers_in(server)
            first, second = server.ask("HGET", name, "0"), server.ask("HGET", name, "1")
            assert isinstance(first, bytes) and isinstance(second, bytes)
            server.ask("HSET", name, "0", forge(first, second))
            found = made.answers().get("ann", A, 100)
            assert isinstance(found, StoredBytes)
            with pytest.raises(CursorError):
                found.part(0, 10)
            assert not _answers_in(server), "so that the same answer is put again"


def _answers_in(server: Any) -> list[str]:
    return [key.decode() for key in server.ask("KEYS", "brimgate:answer:*")]


def test_books_that_were_lost_are_begun_anew() -> None:
    with redis_server() as server, replica(server.url) as made:
        answers = made.answers(Bounds(1_000, 1_500))
        for number in range(40):
            answers.put(f"p{number % 5}", b"%08d" % number, b"x" * 300, 110, 100)
            if number % 7 == 0:
                server.ask("DEL", ("brimgate:sizes", "brimgate:total", "brimgate:accounts")[number % 3])
        assert answers.put("last", A, b"y" * 300, 110, 100)
        assert answers.get("last", A, 100) == b"y" * 300


def test_without_the_store_what_is_there_is_out_of_reach() -> None:
    with redis_server() as server, replica(server.url) as made:
        answers = made.answers()
        answers.put("ann", A, b"there", 110, 100)
        server.kill()
        with pytest.raises(AnswerOutOfReach):
            answers.get("ann", A, 100)
        assert answers.put("ann", b"b" * 8, b"here", 110, 100)
        assert answers.put_view("ann", b"b" * 8, b"view", b"definition")
        assert answers.get("ann", b"b" * 8, 100) == b"here" and not answers.is_reachable
        server.start()
        made.run(made.link.probe())
        made.run(answers.hand_over(100))
        assert made.answers().get("ann", b"b" * 8, 100) == b"here"
        assert made.answers().get_view("ann", b"b" * 8, b"view") == b"definition"


def test_an_answer_that_loses_a_piece_on_its_way_is_held_here_and_put_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = os.urandom(3 << 20)
    with redis_server() as server, replica(server.url) as one, replica(server.url) as two:
        answers = one.answers()
        send, sent = answers._send, list[int]()

        def lossy(client: Any, name: str, batch: Any, ttl: int) -> int:
            if len(sent) == 1:
                client.delete(answers._key(name))
            sent.append(len(batch))
            return send(client, name, batch, ttl)

        monkeypatch.setattr(answers, "_send", lossy)
        assert answers.put("ann", A, data, 110, 100)
        assert answers.get("ann", A, 100) == data, "it is held here"
        assert two.answers().get("ann", A, 100) is None and not _answers_in(server)
        monkeypatch.undo()
        one.run(answers.hand_over(100))
        found = two.answers().get("ann", A, 100)
        assert isinstance(found, StoredBytes) and found.part(0, len(data)) == data


def test_the_total_holds_whoever_puts_last() -> None:
    bounds = Bounds(900_000, 1_000_000)
    with redis_server() as server, replica(server.url) as made:
        answers = made.answers(bounds)
        sizes = [40_000 + 60_000 * (number * 7 % 14) for number in range(60)]
        for number, size in enumerate(sizes):
            answers.put(f"p{number % 9}", b"%08d" % number, os.urandom(size), 110, 100)
            held = sum(
                size
                for at, size in enumerate(sizes[: number + 1])
                if made.answers(bounds).get(f"p{at % 9}", b"%08d" % at, 100) is not None
            )
            assert held <= bounds.total_bytes
        assert all(server.ask("TTL", key) > 0 for key in server.ask("KEYS", "brimgate:[^k]*"))  # type: ignore[operator,union-attr]


def test_what_was_found_out_about_a_token_in_another_way_is_not_known() -> None:
    from brimgate.guard.principal import Principal
    from brimgate.share.shared_verdicts import SharedVerdicts

    with redis_server() as server, replica(server.url) as made:
        known = SharedVerdicts(made.link, made.keys)
        made.run(known.of_way("one").keep("f", (Principal("token:f", "ann"), 300.0), 300))
        assert made.run(known.of_way("one").find("f")) is not None
        assert made.run(known.of_way("other").find("f")) is None


def test_what_we_have_sent_is_not_told() -> None:
    with redis_server(password="") as server, replica(server.url) as made:
        made.link._password = "s3cret"  # noqa: S105
        for text in (
            "unknown command 'AUTH', with args beginning with: 's3cret'",
            "Command # 1 (HSET k \x01\x02) of pipeline caused error: OOM command not allowed",
            "wrong s3cret",
        ):
            told = made.link._told(ValueError(text))
            assert "s3cret" not in told and "HSET" not in told
