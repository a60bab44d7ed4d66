"""The ASGI application: find the operation for a path, and send its answer or error."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping
from functools import cached_property
from typing import Any, Final, cast
from urllib.parse import parse_qsl, quote

import msgspec

from brimgate.engine import jsontext
from brimgate.errors import BadRequest, UpstreamError
from brimgate.front.api.openapi import Answered, Operation, Operations, openapi, page, rest_method
from brimgate.front.rest.middleware import LIVE_LIST
from brimgate.front.rest.response import Failure, failure_of
from brimgate.http.asgi import Receive, Scope, Send, send_response

_NOT_OURS: Final = ("limit", "cursor", "fields", "path", "startLine", "endLine")
"""Parameters of the protection in front of us."""
_NEEDS_CURSOR: Final = "path"
"""It gets as far as here only without a cursor."""
_MAX_BODY_BYTES: Final = 1 << 20
_MAX_QUERY_FIELDS: Final = 100
_JSON: Final = "application/json"
_PAGE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


class RouteRefusal(Exception):
    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers


class Routes:
    def __init__(
        self,
        operations: Operations,
        prefix: str,
        is_hidden: Callable[[str], bool] = lambda _: False,
        of_caller: Callable[[Scope], Operations] | None = None,
    ) -> None:
        """Create the routes under a prefix. `is_hidden` says of a path whether its description is left out.

        `of_caller` returns the operations as whoever sends a request may use them.
        """
        self._operations, self._prefix, self._is_hidden = operations, prefix, is_hidden
        self._of_caller = of_caller
        routes = [(route, one) for one in operations.api.tools.values() for route in one.routes]
        # /bookings/export is not the booking named export, whichever was declared first.
        routes.sort(key=lambda pair: [step.startswith("{") for step in pair[0].split("/")])
        self._table = [(re.compile(_pattern(route)), _names(route), operation) for route, operation in routes]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._handle(scope, receive, send)
        except RouteRefusal as refused:
            await _fail(send, Failure(refused.status, refused.code, str(refused)), refused.headers)
        except BadRequest as error:
            await _fail(send, Failure(400, "invalid_parameter", str(error)))
        except UpstreamError as error:
            await _fail(send, failure_of(error))

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"].removeprefix(self._prefix).rstrip("/")
        if path in ("/openapi.json", "/docs", ""):
            await self._describe(scope, send, path)
            return
        operation, found = self._find(scope["method"], path)
        texts, more = self._texts(operation, scope["query_string"]), {}
        if rest_method(operation) != "GET":
            more = await _body_of(receive)
        arguments = {**more, **self._operations.read_texts(operation.name, texts | found)}
        operations = self._operations if self._of_caller is None else self._of_caller(scope)
        running = operations.run(operation.name, arguments, _page_of(scope["query_string"]))
        # A call that changes something is not cancelled: nobody could tell whether it was done.
        answer = await (_while_wanted(running, receive) if rest_method(operation) == "GET" else running)
        scope[LIVE_LIST] = answer.live_list
        await _answer(send, answer.status, answer.body, answer.content_type)

    async def _describe(self, scope: Scope, send: Send, path: str) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise RouteRefusal(405, "method_not_allowed", "use GET", allow="GET")
        if path == "/openapi.json":
            await _answer(send, 200, msgspec.json.encode(self._shown), _JSON)
            return
        policy = {"content-security-policy": _PAGE_POLICY}
        shown = page(self._shown, f"{quote(self._prefix)}/openapi.json")
        await _answer(send, 200, shown.encode(), "text/html; charset=utf-8", policy)

    @property
    def _shown(self) -> dict[str, Any]:
        """The document without hidden paths, which a reload of the configuration may change."""
        paths = {path: item for path, item in self._document["paths"].items() if not self._is_hidden(path)}
        return self._document | {"paths": paths}

    @cached_property
    def _document(self) -> dict[str, Any]:
        return openapi(self._operations.api, quote(self._prefix))

    def _find(self, method: str, path: str) -> tuple[Operation, dict[str, str]]:
        allowed: list[str] = []
        for pattern, names, operation in self._table:
            found = pattern.fullmatch(path)
            if found is None:
                continue
            wanted = rest_method(operation)
            if method == wanted or (method == "HEAD" and wanted == "GET"):
                return operation, dict(zip(names, found.groups(), strict=True))
            allowed.append(wanted)
        if allowed:
            methods = ", ".join(allowed)
            raise RouteRefusal(405, "method_not_allowed", f"use {methods}", allow=methods)
        raise RouteRefusal(
            404, "not_found", f"there is nothing at this path; {self._prefix}/docs lists what there is"
        )

    def _texts(self, operation: Operation, query: bytes) -> dict[str, str]:
        """Read the parameters by our names for them or by the API's own."""
        ours = {parameter.name.removesuffix("[]"): key for key, parameter in operation.parameters.items()}
        texts: dict[str, str] = {}
        for name, value in _pairs(query):
            key = name if name in operation.parameters else ours.get(name.removesuffix("[]"), "")
            if name in _NOT_OURS and name not in operation.parameters:
                if name == _NEEDS_CURSOR:
                    raise BadRequest(f"{name} needs a cursor: it leads into an answer that is held")
                continue
            if not key:
                there = ", ".join((*operation.parameters, *_NOT_OURS[:3]))
                raise BadRequest(f"there is no parameter {name[:60]!r}; there are: {there}")
            if key in texts and operation.input_schema["properties"][key]["type"] != "array":
                raise BadRequest(f"{key} is given more than once")
            texts[key] = f"{texts[key]},{value}" if key in texts else value
        return texts


def _broken_off() -> RouteRefusal:
    return RouteRefusal(400, "incomplete", "the request was broken off")


def _pattern(route: str) -> str:
    parts = re.split(r"\{[^}]*\}", route)
    return "([^/]+)".join(map(re.escape, parts))


def _names(route: str) -> list[str]:
    return re.findall(r"\{([^}]*)\}", route)


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        text = query.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_QUERY_FIELDS)
    except ValueError:
        raise BadRequest(
            f"the query must be UTF-8, written as %XX, and have {_MAX_QUERY_FIELDS} fields at most"
        ) from None


def _page_of(query: bytes) -> int:
    """Return the items of a page; the protection in front of us has checked the number."""
    limits = [value for name, value in _pairs(query) if name == "limit"]
    return int(limits[0]) if limits and limits[0].isdecimal() and len(limits[0]) < 10 else 0


async def _while_wanted(running: Coroutine[Any, Any, Answered], receive: Receive) -> Answered:
    """Stop waiting for the API when the client has gone."""
    tasks = work, watch = asyncio.ensure_future(running), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if watch.done() and not work.done():
            raise _broken_off()
        return await work
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body_of(receive: Receive) -> dict[str, Any]:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _broken_off()
        body += message.get("body", b"")
        if len(body) > _MAX_BODY_BYTES:
            raise RouteRefusal(413, "too_large", f"a request may have {_MAX_BODY_BYTES:,} bytes at most")
        if not message.get("more_body"):
            break
    if not body.strip():
        return {}
    try:
        given = None if jsontext.is_too_deep(body) else msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        given = None
    if not isinstance(given, dict):
        raise BadRequest(
            f"the body must be a JSON object of parameters, {jsontext.MAX_NESTING} levels deep at most"
        )
    return cast("dict[str, Any]", given)


async def _fail(send: Send, failure: Failure, headers: Mapping[str, str] | None = None) -> None:
    waiting = {"retry-after": failure.retry_after} if failure.retry_after else {}
    await _answer(send, failure.status, failure.body, _JSON, waiting | dict(headers or {}))


async def _answer(
    send: Send, status: int, body: bytes, kind: str, headers: Mapping[str, str] | None = None
) -> None:
    told = {"content-type": kind, "content-length": str(len(body)), "cache-control": "no-store"} | dict(
        headers or {}
    )
    pairs = [(name.encode(), value.encode("latin-1", "replace")) for name, value in told.items()]
    await send_response(send, status, pairs, body)
