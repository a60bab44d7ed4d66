"""The OAuth clients of the official SDKs log in at a real authorization server, and call through `brimgate serve`."""

import asyncio
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.http.authorization_server import RESOURCE_SERVER, SUBJECT
from tests.http.issuer import Issuer, authorization_server, settings, written
from tests.http.serving import PATIENCE, Serving, serve
from tests.http.visiting import run_node
from tests.world import needs_npm, node

pytestmark = pytest.mark.slow
MATRIX = [sys.executable, "-m", "tests.http.matrix_server", "--stdio"]
ADDRESS = "127.0.0.3"
"""Another address of this machine, so that a port that is ours on 127.0.0.1 is free there."""


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with authorization_server() as running:
        yield running


@contextmanager
def gateway(folder: Path, issuer: Issuer, **auth: Any) -> Iterator[tuple[str, Serving]]:
    """At a URL that is known before it starts, because tokens are for it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://{ADDRESS}:{taken.getsockname()[1]}"
        config = {
            "upstreams": {"notes": {"command": MATRIX[0], "args": MATRIX[1:]}},
            "server": {"host": ADDRESS, "port": taken.getsockname()[1], "public_url": url},
            "auth": settings(issuer, **auth),
        }
        options = ("--config", str(written(folder, config)))
        secret = {"GATE_SECRET": RESOURCE_SERVER[1]}
        with serve(*options, command=(), port=None, env=secret) as serving:
            assert serving.port
            yield f"{url}/mcp", serving


class Memory:
    """Where the Python SDK keeps what it gets."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Login:
    """Goes where the SDK sends its user, and comes back with the code."""

    def __init__(self, url: str) -> None:
        self.visited: list[str] = []
        about = OAuthClientMetadata(
            client_name="python",
            redirect_uris=[AnyUrl("http://127.0.0.1:1/callback")],
            token_endpoint_auth_method="none",  # noqa: S106
        )
        self.memory = Memory()
        self.provider = OAuthClientProvider(url, about, self.memory, self._go, self._come_back)

    async def _go(self, url: str) -> None:
        self.visited.append(url)

    async def _come_back(self) -> AuthorizationCodeResult:
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(self.visited[-1])
        given = parse_qs(urlsplit(answer.headers["location"]).query)
        return AuthorizationCodeResult(**{name: given[name][0] for name in ("code", "state", "iss")})

    @property
    def scopes(self) -> list[str]:
        """What was asked for, each time."""
        return [parse_qs(urlsplit(one).query).get("scope", [""])[0] for one in self.visited]


async def call_twice(url: str, login: Login, mode: str) -> list[str]:
    async with (
        asyncio.timeout(PATIENCE),
        httpx2.AsyncClient(auth=login.provider) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        results = [await client.call_tool("small", {"mark": mark}) for mark in "xy"]
        told = [one.model_dump(mode="json")["content"][0]["text"] for one in results]
        return [client.protocol_version, *told]


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
@pytest.mark.parametrize("auth", ["jwt", "introspection"])
def test_the_python_sdk_logs_in_and_calls(
    mode: str, version: str, auth: str, issuer: Issuer, tmp_path: Path
) -> None:
    with gateway(tmp_path, issuer, mode=auth, required_scopes=["use"]) as (url, serving):
        login = Login(url)
        assert asyncio.run(call_twice(url, login, mode)) == [version, "small x", "small y"]
        assert login.scopes == ["use"]
        serving.wait_for_line(f"principal={SUBJECT}")
        assert login.memory.tokens is not None
        assert not [line for line in serving.lines if login.memory.tokens.access_token in line]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_python_sdk_asks_for_the_scope_that_a_tool_needs(
    mode: str, issuer: Issuer, tmp_path: Path
) -> None:
    """A session keeps what it may use: whoever has shaken hands does so again with the new token, as the 404 says."""
    access = {"scope:use": {"tools": ["large"]}, "scope:more": {"tools": ["small"]}}
    with gateway(tmp_path, issuer, required_scopes=["use"], access=access) as (url, _):
        login = Login(url)
        if mode == "legacy":
            with pytest.raises(BaseExceptionGroup) as broken:
                asyncio.run(call_twice(url, login, mode))
            assert "initialize again" in str(broken.value.exceptions)
        assert asyncio.run(call_twice(url, login, mode))[1:] == ["small x", "small y"]
        assert [set(one.split()) for one in login.scopes] == [{"use"}, {"use", "more"}]


@needs_npm
@pytest.mark.parametrize(
    ("sdk", "mode", "version"),
    [("v1", "", None), ("v2", "legacy", "2025-11-25"), ("v2", "auto", "2026-07-28")],
)
def test_the_typescript_sdk_logs_in_and_calls(
    sdk: str, mode: str, version: str | None, issuer: Issuer, tmp_path: Path
) -> None:
    with gateway(tmp_path, issuer, required_scopes=["use"]) as (url, serving):
        told = run_node(node("login.mjs", json.dumps({"url": url, "sdk": sdk, "mode": mode})), tmp_path)
        assert told.returncode == 0, told.stderr.decode()
        seen = json.loads(told.stdout)
        assert seen["result"]["content"][0]["text"] == "small x"
        assert (seen.get("version"), seen["scope"], seen["resource"]) == (version, "use", url)
        serving.wait_for_line(f"principal={SUBJECT}")
