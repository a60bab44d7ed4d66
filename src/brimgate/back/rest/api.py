"""Run the tools of a declared API as requests, and return the declared part of the answers."""

import asyncio
import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit
from weakref import WeakSet

import msgspec

from brimgate.back.rest.account import ApiAccount, account_of_caller
from brimgate.back.rest.credentials import (
    ClientCredentials,
    Credentials,
    FixedCredentials,
    MissingCredentials,
    Resolution,
    Resolved,
)
from brimgate.back.rest.errors import ApiError, Failures
from brimgate.back.rest.live_list import FetchedList
from brimgate.back.rest.model import Api, ApiTool, Order, Paging, Setting
from brimgate.back.rest.paging import ApiPage, PageWalk, keys_of, values_of, walk_of
from brimgate.back.rest.request import ACCEPT_JSON, Checker, Fixed, coerced
from brimgate.back.rest.response import Content, Misshapen, Opened, number_at
from brimgate.back.rest.sender import ApiReply, ApiRequest, Sender
from brimgate.back.rest.tool_declaration import LIMIT, MAX_RECORDS
from brimgate.back.rest.tool_run import ShapedAnswer, ToolRun
from brimgate.engine import jsontext
from brimgate.engine.policy import MAX_PAGE, USUAL_PAGE
from brimgate.errors import BadRequest, ConfigError
from brimgate.hold.live_lists import WholeList
from brimgate.hold.runtime import UNKNOWN_BYTES, run_work
from brimgate.http.client import Headers, HttpClient, Origin

__all__ = ["ApiAnswer", "ApiError", "RestApi"]

_JSON: Final = "application/json"
_TOLD: Final = (201, 202)
_TEXT: Final = re.compile(r"text/[a-z0-9.+-]{1,40}|application/csv")
_KIND: Final = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,100}")
_BASE_PATH: Final = re.compile(r"(?:/[A-Za-z0-9_~!$&'()*+,;=:@.-]+)*/?")
_REACH_SECONDS: Final = 10.0
_MOST_CURSOR_CHARS: Final = 4_000
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    body: bytes
    content_type: str = _JSON
    live_list: FetchedList | WholeList | None = None
    """A list that is read in place; of a live one `body` is the beginning."""
    page: int = 0
    """The records of a page that the caller asked for."""
    status: int = 200
    """The API's own, where it tells more than that all went well: 201 for what was made."""
    file_name: str = ""
    """Of a file."""
    is_file: bool = False


class _ListWish(NamedTuple):
    """How much of a list a caller wants."""

    asked: int
    """The records of a page that the arguments ask for; 0 if they do not."""
    page: int
    most: int | None
    """The records to fetch in all; None for all there are."""

    def first_request(self, size: int) -> int:
        """Return how many records to ask for first: few pages' worth, and one that tells that there are more."""
        return min(max(self.page or USUAL_PAGE, USUAL_PAGE - 1) + 1, size, self.most or size)


class RestApi:
    """One API on one event loop. Raises OperatorError at once for missing or impossible settings."""

    def __init__(self, api: Api, *, base_url: str = "", variables: Mapping[str, str]) -> None:
        """Create the API. `base_url` overrides the declared one; `variables` is the environment."""
        self.api = api
        resolution = Resolution(api.name, variables)
        url = base_url or resolution.text(api.base_url, "base_url")
        resolved = Resolved(api.auth, resolution)
        tools = [tool.single or tool for tool in api.tools.values()]
        requests = [one for tool in tools for one in (tool, *tool.steps)]
        self._fixed = {id(one): _settled(one, resolution) for one in requests}
        resolution.finish()
        self._origin, self._base_path = _place(api, url)
        self._checkers: dict[str, Checker] = {}
        self._long_lists: set[tuple[str, ...]] = set()
        """Kinds of lists, by tool and names of arguments, that had several pages the last time."""
        self._live_lists: WeakSet[FetchedList] = WeakSet()
        self._client = HttpClient(self._origin)
        secrets = (*resolved.secrets, *_given_constants(api, resolution))
        failures = Failures(api.title, secrets, resolved.variables, api.errors.statuses)
        self._account = self._own = self._own_account(resolved, failures)

    def _own_account(self, resolved: Resolved, failures: Failures) -> ApiAccount:
        api = self.api

        def credentials(sender: Sender) -> Credentials:
            if api.auth.kind == "oauth_client_credentials":
                target = (self._base_path + api.auth.token_path).encode("ascii")
                return ClientCredentials(sender, failures, target, resolved.values)
            if api.auth.kind == "caller" and not resolved.values:
                return MissingCredentials(failures, resolved.variables)
            return FixedCredentials(resolved.headers())

        self.has_own_token = bool(resolved.values)
        return ApiAccount(
            api,
            self._client,
            failures,
            address=str(self._origin),
            account=resolved.account,
            credentials=credentials,
        )

    @property
    def needs_callers(self) -> bool:
        """Whether each caller brings a credential of its own."""
        return self.api.auth.kind == "caller"

    @property
    def origin(self) -> Origin:
        return self._origin

    def acting_as(self, credential: Headers, on_refused: Callable[[], None] = lambda: None) -> "RestApi":
        """Return the API with the credential of one caller. It shares connections with this one, and nothing else.

        `on_refused` is called when the API does not take the credential.
        """
        other = copy(self)
        other._account = account_of_caller(self.api, self._client, str(self._origin), credential, on_refused)
        return other

    async def run(self, tool: str, arguments: Mapping[str, Any], page: int = 0) -> ApiAnswer:
        """Run a tool. Raise BadRequest for wrong arguments, ApiError for failures of the API.

        `page` is how many records of a list are wanted first, where the arguments do not say it.
        """
        declared = self.api.tools.get(tool)
        if declared is None:
            raise BadRequest(
                f"{self.api.name} has no tool {tool[:60]!r}; there are: {', '.join(self.api.tools)[:300]}"
            )
        checker = self._checkers.get(tool) or self._checkers.setdefault(tool, Checker(declared))
        _refuse_large_page(declared, arguments)
        run = ToolRun(self.api, self._account, self._base_path, lambda one: self._fixed[id(one)], declared)
        given = await run.begin(checker.check(arguments))
        if declared.paging is not None:
            asked, most = (given.pop(name, None) for name in (LIMIT, MAX_RECORDS))
            wanted = _ListWish(int(asked or 0), int(asked or page), None if most is None else int(most))
            return await self._list(run, declared, declared.paging, given, wanted)
        if declared.answer.is_text or declared.answer.is_file:
            reply = await run.raw(declared, given, {})
            return _as_file(reply) if declared.answer.is_file else ApiAnswer(*_text(run, declared, reply))
        body, status = await run.whole(given)
        return ApiAnswer(body, status=status if status in _TOLD else 200)

    def read_texts(self, tool: str, texts: Mapping[str, str]) -> dict[str, Any]:
        """Convert arguments that came as texts to the types of their parameters."""
        return coerced(self.api.tools[tool], texts)

    async def check(self) -> None:
        """Check the API by its health request; without one, by a connection. Raise ApiError if it is not well."""
        if not self.api.health:
            await self.reach()
            return
        target = (self._base_path + self.api.health).encode("ascii")
        request = ApiRequest(b"GET", target, [ACCEPT_JSON], may_run=False)
        # Callers' credentials are theirs: what is checked must need none.
        account = self.acting_as([])._account if self.needs_callers else self._own
        await account.call(request)

    async def reach(self) -> None:
        """Check whether a server listens there, without a request. Raise ApiError if not."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_REACH_SECONDS):
                transport, _ = await loop.create_connection(
                    asyncio.Protocol, self._origin.host, self._origin.port
                )
        except (OSError, TimeoutError):
            raise self._own.failures.unreachable(f"cannot connect to {self._origin}") from None
        transport.abort()

    async def close(self) -> None:
        for live_list in list(self._live_lists):
            live_list.close()
        await self._own.close()
        await self._client.close()

    async def _list(
        self, run: ToolRun, tool: ApiTool, paging: Paging, given: Mapping[str, Any], wish: _ListWish
    ) -> ApiAnswer:
        first, cursors = list[Content](), set[str]()

        async def ask(parameters: Mapping[str, str | int]) -> ApiPage:
            shaped = await run.request(tool, given, parameters)
            page = _page_of(run, tool, paging, shaped)
            if not first:
                first.append(shaped.content._replace(items=[]))
            if page.next in cursors:
                raise run.broken(tool, f"at {paging.next} stands a cursor that it gave before")
            if page.next:
                cursors.add(page.next)
            return page

        kind = (tool.name, *sorted(given))
        walk = walk_of(paging, ask, is_long=kind in self._long_lists)
        order = tool.order if tool.order is not None and tool.order.unless not in given else None
        items = await walk.next(paging.size if order else wish.first_request(paging.size))
        if order is not None:
            items += await _rest_to_sort(walk, order, len(items), paging.size)
            if walk.is_over and len(items) <= order.most:
                ordered = await run_work(lambda: _latest_first(order, items), UNKNOWN_BYTES)
                whole = first[0]._replace(items=ordered[: wish.most]).as_list(tool.answer.name, wish.asked)
                return ApiAnswer(whole.data, live_list=whole, page=wish.asked)
            first[0] = _unsorted(first[0], order)
        overlap = 1 if paging.style == "offset" and paging.key else 0
        live_list = FetchedList(
            first[0],
            items,
            walk,
            limit=wish.most,
            page_size=paging.size - overlap,
            max_bytes=self.api.max_answer_bytes,
            page=wish.asked,
            has_spare=self._account.rates.has_spare,
        )
        (self._long_lists.discard if live_list.is_complete else self._long_lists.add)(kind)
        if live_list.is_complete:
            return ApiAnswer(live_list.data, page=wish.asked)
        self._live_lists.add(live_list)
        return ApiAnswer(live_list.data, live_list=live_list, page=wish.asked)


def _page_of(run: ToolRun, tool: ApiTool, paging: Paging, shaped: ShapedAnswer) -> ApiPage:
    items, opened, headers = shaped.content.items, shaped.opened, shaped.reply.headers
    try:
        total, pages = (number_at(place, opened, headers) for place in (paging.total, paging.pages))
        return ApiPage(items, keys_of(paging, items), total, _cursor(opened, paging.next), pages)
    except Misshapen as error:
        raise run.broken(tool, str(error)) from None


def _text(run: ToolRun, tool: ApiTool, reply: ApiReply) -> tuple[bytes, str]:
    kind = reply.content_type.partition(";")[0].strip()
    if not _TEXT.fullmatch(kind) or "html" in kind:
        raise run.broken(tool, "it is not the text it was declared to be")
    if not jsontext.is_utf8(reply.body):
        raise run.broken(tool, "it is not UTF-8")
    return reply.body, f"{kind}; charset=utf-8"


def _as_file(reply: ApiReply) -> ApiAnswer:
    kind = reply.content_type.partition(";")[0].strip()
    if not _KIND.fullmatch(kind):
        kind = "application/octet-stream"
    disposition = next(
        (value for name, value in reply.headers if name.lower() == b"content-disposition"), b""
    )
    return ApiAnswer(reply.body, kind, file_name=_file_name(disposition), is_file=True)


def _file_name(disposition: bytes) -> str:
    """Return the name that a Content-Disposition gives; empty if there is none."""
    from email.message import Message  # 10 ms, and only needed with a file

    message = Message()
    message["content-disposition"] = disposition.decode("utf-8", "replace")
    name = message.get_filename() or ""
    return "".join(char for char in name if char.isprintable() and char not in "/\\")[:200]


def _refuse_large_page(tool: ApiTool, arguments: Mapping[str, Any]) -> None:
    limit = arguments.get(LIMIT) if tool.paging is not None else None
    if isinstance(limit, int) and limit > MAX_PAGE:
        raise BadRequest(f"limit exceeds maximum of {MAX_PAGE}")


async def _rest_to_sort(walk: PageWalk, order: Order, count: int, size: int) -> list[bytes]:
    """Fetch the rest of a list that is short enough to be sorted; of a longer one nothing."""
    items: list[bytes] = []
    while not walk.is_over and count + len(items) + (walk.left or 1) <= order.most:
        items += await walk.next(size)
    return items


def _latest_first(order: Order, items: list[bytes]) -> list[bytes]:
    """Sort records. Dates are texts that sort as they are; a record without one comes last."""
    dates = [date if date.startswith(b'"') else b"" for date in values_of(items, order.by)]
    return [items[at] for at in sorted(range(len(items)), key=dates.__getitem__, reverse=True)]


def _unsorted(first: Content, order: Order) -> Content:
    """Say in the answer itself that it keeps the order of the API."""
    told = f"the API's own: a list of more than {order.most} records is not sorted by {order.by}"
    meta = msgspec.json.encode({"order": told})
    return first._replace(before=b'{"meta":' + meta + b"," + first.before[1:])


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


def _place(api: Api, url: str) -> tuple[Origin, str]:
    """Parse the base URL. ConfigError repeats nothing of it, because it may contain a secret."""
    name = api.name
    try:
        origin, parts = Origin.of(url), urlsplit(url)
    except ConfigError as error:
        raise ConfigError(f"{name}: base_url: {error}") from None
    path = parts.path
    if parts.query or parts.fragment or not _BASE_PATH.fullmatch(path) or {".", ".."} & set(path.split("/")):
        raise ConfigError(
            f"{name}: base_url: must be an origin and a plain path, such as https://api.example.com/v1"
        )
    path = path.rstrip("/")
    return origin, path if path.endswith(api.base_path) else path + api.base_path


def _cursor(opened: Opened, pointer: str) -> str:
    """Return the next cursor. Texts and numbers are cursors; null, false and nothing end the list."""
    raw = opened.at(pointer) if pointer else None
    if raw is None or raw in (b"null", b"false", b'""'):
        return ""
    if raw[:1] in b"{[t" or len(raw) > _MOST_CURSOR_CHARS:
        raise Misshapen(f"at {pointer} there must be a cursor")
    return jsontext.string_value(raw) if raw.startswith(b'"') else raw.decode()
