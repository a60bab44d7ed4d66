"""Run the tools of a declared API as requests, and return the declared part of the answers."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit
from weakref import WeakSet

import msgspec

from brimgate.back.rest.credentials import (
    AuthorizedSender,
    ClientCredentials,
    Credentials,
    FixedCredentials,
    Resolution,
    Resolved,
)
from brimgate.back.rest.errors import ApiError, Failures
from brimgate.back.rest.live_list import FetchedList
from brimgate.back.rest.model import Api, ApiTool, Paging, Setting
from brimgate.back.rest.paging import ApiPage, keys_of, walk_of
from brimgate.back.rest.rates import Rates
from brimgate.back.rest.request import ACCEPT_JSON, Checker, Fixed, coerced, compose
from brimgate.back.rest.response import Content, Misshapen, Opened, content, whole_number
from brimgate.back.rest.sender import ApiReply, ApiRequest, Sender
from brimgate.back.rest.tool_declaration import LIMIT
from brimgate.engine import jsontext
from brimgate.errors import BadRequest, ConfigError, JsonRefused
from brimgate.hold.runtime import run_work
from brimgate.http.client import HttpClient, Origin

__all__ = ["ApiAnswer", "ApiError", "RestApi"]

_JSON: Final = "application/json"
_TEXT: Final = re.compile(r"text/[a-z0-9.+-]{1,40}|application/csv")
_BASE_PATH: Final = re.compile(r"(?:/[A-Za-z0-9_~!$&'()*+,;=:@.-]+)*/?")
_REACH_SECONDS: Final = 10.0
_MOST_CURSOR_CHARS: Final = 4_000
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    body: bytes
    content_type: str = _JSON
    live_list: FetchedList | None = None
    """A live list; `body` is its beginning."""


class RestApi:
    """One API on one event loop. Raises OperatorError at once for missing or impossible settings."""

    def __init__(self, api: Api, *, base_url: str = "", variables: Mapping[str, str]) -> None:
        """Create the API. `base_url` overrides the declared one; `variables` is the environment."""
        self.api = api
        resolution = Resolution(api.name, variables)
        url = base_url or resolution.text(api.base_url, "base_url")
        resolved = Resolved(api.auth, resolution)
        self._fixed = {name: _settled(tool, resolution) for name, tool in api.tools.items()}
        resolution.finish()
        self._origin, self._base_path = _place(api.name, url)
        self._checkers: dict[str, Checker] = {}
        self._live_lists: WeakSet[FetchedList] = WeakSet()
        secrets = (*resolved.secrets, *_given_constants(api, resolution))
        self._failures = Failures(api.title, secrets, resolved.variables)
        self._client = HttpClient(self._origin)
        rates = Rates(
            api.rate_limits,
            address=str(self._origin),
            account=resolved.account,
            max_waiting=api.max_waiting,
            max_wait_seconds=api.max_wait_seconds,
        )
        exchange = Sender(
            self._client,
            rates,
            self._failures,
            timeout_seconds=api.timeout_seconds,
            max_answer_bytes=api.max_answer_bytes,
        )
        self._credentials: Credentials = FixedCredentials(resolved.headers())
        if api.auth.kind == "oauth_client_credentials":
            target = (self._base_path + api.auth.token_path).encode("ascii")
            self._credentials = ClientCredentials(exchange, self._failures, target, resolved.values)
        self._caller = AuthorizedSender(exchange, self._credentials, self._failures, api.message)

    async def run(self, tool: str, arguments: Mapping[str, Any]) -> ApiAnswer:
        """Run a tool. Raise BadRequest for wrong arguments, ApiError for failures of the API."""
        declared = self.api.tools.get(tool)
        if declared is None:
            raise BadRequest(
                f"{self.api.name} has no tool {tool[:60]!r}; there are: {', '.join(self.api.tools)[:300]}"
            )
        checker = self._checkers.get(tool) or self._checkers.setdefault(tool, Checker(declared))
        given = checker.check(arguments)
        if declared.paging is not None:
            limit = given.pop(LIMIT, None)
            return await self._list(declared, declared.paging, given, None if limit is None else int(limit))
        reply = await self._call(declared, given, {})
        if declared.answer.is_text:
            return ApiAnswer(*self._text(declared, reply))
        return ApiAnswer(await run_work(lambda: self._shaped(declared, reply)[0].document, len(reply.body)))

    def read_texts(self, tool: str, texts: Mapping[str, str]) -> dict[str, Any]:
        """Convert arguments that came as texts to the types of their parameters."""
        return coerced(self.api.tools[tool], texts)

    async def check(self) -> None:
        """Check the API by its health request; without one, by a connection. Raise ApiError if it is not well."""
        if not self.api.health:
            await self.reach()
            return
        target = (self._base_path + self.api.health).encode("ascii")
        await self._caller.call(ApiRequest(b"GET", target, [ACCEPT_JSON], may_run=False))

    async def reach(self) -> None:
        """Check whether a server listens there, without a request. Raise ApiError if not."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_REACH_SECONDS):
                transport, _ = await loop.create_connection(
                    asyncio.Protocol, self._origin.host, self._origin.port
                )
        except (OSError, TimeoutError):
            raise self._failures.unreachable(f"cannot connect to {self._origin}") from None
        transport.abort()

    async def close(self) -> None:
        for live_list in list(self._live_lists):
            live_list.close()
        await self._credentials.close()
        await self._client.close()

    async def _call(
        self, tool: ApiTool, given: Mapping[str, Any], paging: Mapping[str, str | int]
    ) -> ApiReply:
        request = compose(tool, self._base_path, self._fixed[tool.name], given, paging)
        return await self._caller.call(request)

    def _broken(self, tool: ApiTool, what: str) -> ApiError:
        return self._failures.broken(what, may_run=not tool.only_reads)

    def _shaped(self, tool: ApiTool, reply: ApiReply) -> tuple[Content, Opened]:
        if "html" in reply.content_type:
            raise self._broken(tool, "it is a web page, not JSON")
        try:
            opened = Opened(reply.body if reply.body.strip() else b"null")
            return content(tool.answer, opened), opened
        except Misshapen as error:
            raise self._broken(tool, str(error)) from None
        except (JsonRefused, msgspec.MsgspecError):
            raise self._broken(tool, "it is not strict JSON") from None

    def _text(self, tool: ApiTool, reply: ApiReply) -> tuple[bytes, str]:
        kind = reply.content_type.partition(";")[0].strip()
        if not _TEXT.fullmatch(kind) or "html" in kind:
            raise self._broken(tool, "it is not the text it was declared to be")
        if not jsontext.is_utf8(reply.body):
            raise self._broken(tool, "it is not UTF-8")
        return reply.body, f"{kind}; charset=utf-8"

    async def _list(
        self, tool: ApiTool, paging: Paging, given: Mapping[str, Any], limit: int | None
    ) -> ApiAnswer:
        first, cursors = list[Content](), set[str]()

        async def ask(parameters: Mapping[str, str | int]) -> ApiPage:
            reply = await self._call(tool, given, parameters)
            shaped, page = await run_work(lambda: self._read_page(tool, paging, reply), len(reply.body))
            if not first:
                first.append(shaped._replace(items=[]))
            if page.next in cursors:
                raise self._broken(tool, f"at {paging.next} stands a cursor that it gave before")
            if page.next:
                cursors.add(page.next)
            return page

        walk = walk_of(paging, ask)
        items = await walk.next(paging.size if limit is None else limit)
        overlap = 1 if paging.style == "offset" and paging.key else 0
        live_list = FetchedList(
            first[0],
            items,
            walk,
            limit=limit,
            page_size=paging.size - overlap,
            max_bytes=self.api.max_answer_bytes,
        )
        if live_list.is_complete:
            return ApiAnswer(live_list.data)
        self._live_lists.add(live_list)
        return ApiAnswer(live_list.data, live_list=live_list)

    def _read_page(self, tool: ApiTool, paging: Paging, reply: ApiReply) -> tuple[Content, ApiPage]:
        shaped, opened = self._shaped(tool, reply)
        try:
            keys = keys_of(paging, shaped.items)
            total = whole_number(opened, paging.total) if paging.total else None
            return shaped, ApiPage(shaped.items, keys, total, _cursor(opened, paging.next))
        except Misshapen as error:
            raise self._broken(tool, str(error)) from None


def _settled(tool: ApiTool, resolution: Resolution) -> Fixed:
    return {
        where: {
            name: look_up(one, f"tools.{tool.name}.fixed.{where}.{name}") if isinstance(one, Setting) else one
            for name, one in constants.items()
        }
        for where, constants in tool.fixed.items()
        for look_up in (resolution.header if where == "header" else resolution.text,)
    }


def _given_constants(api: Api, resolution: Resolution) -> set[str]:
    """Return constants from the environment. Nothing says which are secrets, so all of them count as secrets."""
    constants = [
        one for tool in api.tools.values() for given in tool.fixed.values() for one in given.values()
    ]
    return {resolution.given(one) for one in constants if isinstance(one, Setting)}


def _place(name: str, url: str) -> tuple[Origin, str]:
    """Parse the base URL. ConfigError repeats nothing of it, because it may contain a secret."""
    try:
        origin, parts = Origin.of(url), urlsplit(url)
    except ConfigError as error:
        raise ConfigError(f"{name}: base_url: {error}") from None
    path = parts.path
    if parts.query or parts.fragment or not _BASE_PATH.fullmatch(path) or {".", ".."} & set(path.split("/")):
        raise ConfigError(
            f"{name}: base_url: must be an origin and a plain path, such as https://api.example.com/v1"
        )
    return origin, path.rstrip("/")


def _cursor(opened: Opened, pointer: str) -> str:
    """Return the next cursor. Texts and numbers are cursors; null, false and nothing end the list."""
    raw = opened.at(pointer) if pointer else None
    if raw is None or raw in (b"null", b"false", b'""'):
        return ""
    if raw[:1] in b"{[t" or len(raw) > _MOST_CURSOR_CHARS:
        raise Misshapen(f"at {pointer} there must be a cursor")
    return jsontext.string_value(raw) if raw.startswith(b'"') else raw.decode()
