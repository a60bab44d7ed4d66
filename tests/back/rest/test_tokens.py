"""Tokens are fetched when they are needed, once for all, and again when they are refused."""

import asyncio
import json

import pytest

from brimgate.back.rest.api import RestApi
from brimgate.back.rest.declaration import read_api
from brimgate.back.rest.errors import ApiError
from tests.back.rest.declared import PATIENCE, VARIABLES, Ground, opened
from tests.back.rest.listing_server import respond
from tests.back.scripted import Peer, Server

AUTH = "name: x\nbase_url: http://127.0.0.1:1\nauth: {auth}\ntools: {{look: {{path: /look}}}}"


def test_many_calls_share_one_token(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            assert ground.asked() == []
            await asyncio.gather(*(api.run("list_amenities", {}) for _ in range(10)))
            await api.run("list_amenities", {})

    asyncio.run(main())
    assert len(ground.asked("/accessTokens")) == 1
    assert len(ground.asked("/amenities")) == 11


def test_an_expired_token_is_renewed_and_the_call_repeated_once(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            await api.run("list_amenities", {})
            ground.control("/expire_tokens")
            await asyncio.gather(*(api.run("list_amenities", {}) for _ in range(5)))
            ground.control("/expire_tokens")
            await api.run("standard_report", {})  # a POST too: what was refused did not run

    asyncio.run(main())
    assert len(ground.asked("/accessTokens")) == 3
    assert [one["status"] for one in ground.asked("/finance")] == [401, 200]


def test_wrong_credentials_name_the_variables_and_not_their_values(ground: Ground) -> None:
    async def main() -> None:
        wrong = VARIABLES | {"HOSTAWAY_API_KEY": "not-the-right-key"}
        async with opened(ground.url, variables=wrong) as api:
            with pytest.raises(ApiError) as failed:
                await api.run("list_amenities", {})
            assert (failed.value.kind, failed.value.status) == ("unauthorized", 502)
            assert "HOSTAWAY_ACCOUNT_ID and HOSTAWAY_API_KEY" in str(failed.value)
            assert "not-the-right-key" not in str(failed.value)

    asyncio.run(main())


def issue(token: object, **more: object) -> bytes:
    return respond(json.dumps({"access_token": token} | more).encode())


def served(tokens: list[bytes], looks: list[bytes]) -> tuple[Server, list[bytes]]:
    heads: list[bytes] = []

    async def serve(peer: Peer) -> None:
        while True:
            head, _ = await peer.request()
            heads.append(head)
            await peer.say((tokens if b"accessTokens" in head else looks).pop(0))

    return Server(serve), heads


def run_with(tokens: list[bytes], looks: list[bytes], calls: int = 1) -> list[bytes]:
    async def main() -> list[bytes]:
        server, heads = served(tokens, looks)
        async with server, opened(f"{server.url}/v1") as api:
            for _ in range(calls):
                await api.run("get_anything", {"name": "x"})
        return heads

    return asyncio.run(main())


def test_a_token_is_renewed_before_its_end() -> None:
    ok = respond(b"{}")
    assert len(run_with([issue("a", expires_in=0.0001), issue("b")], [ok, ok], calls=2)) == 4
    assert len(run_with([issue("a", expires_in=3600)], [ok, ok], calls=2)) == 3
    assert len(run_with([issue("a")], [ok, ok], calls=2)) == 3


def test_a_second_refusal_is_final() -> None:
    no = respond(b"{}", "403 No")
    looks = [no, no, respond(b"{}")]
    with pytest.raises(ApiError) as failed:
        run_with([issue("a"), issue("b")], looks)
    assert failed.value.kind == "unauthorized"
    assert len(looks) == 1


@pytest.mark.parametrize(
    "answer",
    [
        issue(""), issue(7), issue(None), issue("a b"), issue("a\r\nx: y"), issue("x" * 20_000), issue("ключ"),
        respond(b"[]"), respond(b"{"), respond(b"<html>", headers="Content-Type: text/html\r\n"),
        respond(b"", "302 Found", "Location: http://127.0.0.1:9/\r\n"),
    ],
)  # fmt: skip
def test_what_is_no_token_is_told(answer: bytes) -> None:
    with pytest.raises(ApiError) as failed:
        run_with([answer], [])
    assert failed.value.kind == "broken"
    assert "sandbox-secret" not in str(failed.value)


@pytest.mark.parametrize(
    ("auth", "header"),
    [
        ("{kind: none}", b""),
        ("{kind: bearer, token: {env: KEY}}", b"authorization: Bearer s3cret-key"),
        ("{kind: header, name: X-Api-Key, value: {env: KEY}}", b"x-api-key: s3cret-key"),
        ("{kind: basic, username: me, password: {env: KEY}}", b"authorization: Basic bWU6czNjcmV0LWtleQ=="),
    ],
)
def test_credentials_that_stay_are_sent_with_every_call(auth: str, header: bytes) -> None:
    async def main() -> None:
        server, heads = served([], [respond(b"{}"), respond(b"", "401 No")])
        async with asyncio.timeout(PATIENCE), server:
            declared = read_api(AUTH.format(auth=auth).encode(), "x")
            api = RestApi(declared, base_url=server.url, variables={"KEY": "s3cret-key"})
            await api.run("look", {})
            assert header in heads[0]
            assert (b"authorization" in heads[0]) == (b"authorization" in header)
            with pytest.raises(ApiError) as failed:
                await api.run("look", {})
            assert failed.value.kind == "unauthorized"
            assert len(heads) == 2
            assert "s3cret-key" not in repr(vars(api)) + repr(declared)
            await api.close()

    asyncio.run(main())


def test_a_secret_written_into_the_file_is_not_shown() -> None:
    declared = read_api(AUTH.format(auth="{kind: bearer, token: s3cret-key}").encode(), "x")
    assert "s3cret-key" not in repr(declared)
