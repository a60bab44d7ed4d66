"""Run one tool: look up what is named, make its requests one after the other, and give out the declared part."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast
from urllib.parse import urlencode

import msgspec

from brimgate.back.rest.account import ApiAccount
from brimgate.back.rest.errors import ApiError
from brimgate.back.rest.model import Api, ApiTool, Lookup, Parameter
from brimgate.back.rest.request import ACCEPT_JSON, Fixed, compose, target_of
from brimgate.back.rest.response import Content, Misshapen, Opened, content, tidied, whole_number
from brimgate.back.rest.sender import ApiReply, ApiRequest
from brimgate.back.rest.tool_declaration import HTML
from brimgate.engine import jsontext
from brimgate.errors import BadRequest, JsonRefused
from brimgate.hold.runtime import run_work

_MOST_NAME_CHARS: Final = 200
_MOST_SHOWN: Final = 5


class ShapedAnswer(NamedTuple):
    """The declared part of an answer, and the answer itself."""

    content: Content
    opened: Opened
    reply: ApiReply


class ToolRun:
    """One call of a tool, with the account of its caller."""

    def __init__(
        self, api: Api, account: ApiAccount, base_path: str, fixed: Callable[[ApiTool], Fixed], tool: ApiTool
    ) -> None:
        self._api, self._account, self._base_path = api, account, base_path
        self._fixed, self._tool = fixed, tool
        self._html = api.html if tool.takes_html else ()

    async def begin(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Take the arguments that are ours, and look up what is named. Return those of the API."""
        given = dict(arguments)
        if self._tool.takes_html and given.pop(HTML, False):
            self._html = ()
        for key, parameter in self._tool.parameters.items():
            if parameter.lookup is not None and given.get(key) is not None:
                given[key] = await self._looked_up(parameter, parameter.lookup, given[key])
        return given

    async def whole(self, given: Mapping[str, Any]) -> tuple[bytes, int]:
        """Return the answer to a call that is no list in pages, and its status."""
        if self._tool.each:
            return await self._for_each(given), 200
        shaped = await self._all_steps(self._tool, given)
        return shaped.content.document, shaped.reply.status

    async def _for_each(self, given: Mapping[str, Any]) -> bytes:
        """Run the tool for every item of a list, and return the answers as a list."""
        one = self._tool.single or self._tool
        others = {key: value for key, value in given.items() if key != self._tool.each}
        documents: list[bytes] = []
        done: list[str] = []
        for value in given[self._tool.each]:
            try:
                shaped = await self._all_steps(one, others | {self._tool.item: value})
            except ApiError as error:
                raise self._unfinished(error, done) from None
            documents.append(shaped.content.document)
            done.append(f"{self._tool.item} {value}")
        return jsontext.object_of({self._tool.answer.name: b"[" + b",".join(documents) + b"]"})

    async def _all_steps(self, tool: ApiTool, given: Mapping[str, Any]) -> ShapedAnswer:
        """Make the requests of a tool. Where one fails, the error says what was done before it."""
        if not tool.steps:
            return await self.request(tool, given)
        known = dict(given)
        done: list[str] = []
        shaped: ShapedAnswer | None = None
        for step in tool.steps:
            if step.when and known.get(step.when) is None:
                continue
            try:
                shaped = await self.request(step, known)
            except ApiError as error:
                raise self._unfinished(error, done) from None
            taken = {key: self._taken(step, shaped.opened, pointer) for key, pointer in step.take.items()}
            known |= taken
            told = ", ".join(f"{key} {value}" for key, value in taken.items())
            done += [f"{step.title} ({told})" if told else step.title] if step.title else []
        if shaped is None:
            raise BadRequest(f"{tool.name}: nothing to do: give one more parameter")
        return shaped

    def _unfinished(self, error: ApiError, done: Sequence[str]) -> ApiError:
        return self._account.failures.unfinished(error, done) if done else error

    def _taken(self, step: ApiTool, opened: Opened, pointer: str) -> Any:
        raw = opened.at(pointer)
        if raw is None or raw[:1] in (b"{", b"["):
            raise self.broken(step, f"at {pointer} there must be a single value")
        return msgspec.json.decode(raw)

    async def request(
        self, tool: ApiTool, given: Mapping[str, Any], paging: Mapping[str, str | int] | None = None
    ) -> ShapedAnswer:
        """Make one request."""
        reply = await self.raw(tool, given, paging or {})
        return await run_work(lambda: self._shaped(tool, reply), len(reply.body))

    async def raw(self, tool: ApiTool, given: Mapping[str, Any], paging: Mapping[str, str | int]) -> ApiReply:
        """Make one request, and return the answer as it came."""
        current = None
        if tool.partial is not None and (tool.partial.carry or not tool.partial.names):
            current = await self._read(tool, target_of(self._base_path, tool.partial.read, given))
        request = compose(tool, self._base_path, self._fixed(tool), given, paging, current)
        return await self._account.call(request)

    async def _read(self, tool: ApiTool, target: str) -> dict[str, bytes]:
        """Read the object that is about to be changed."""
        reply = await self._get(target)
        try:
            return jsontext.members(Opened(reply.body).raw)
        except (Misshapen, JsonRefused, msgspec.MsgspecError):
            raise self._account.failures.broken(
                f"the object that {tool.name} changes is none", may_run=False
            ) from None

    async def _get(self, target: str) -> ApiReply:
        return await self._account.call(
            ApiRequest(b"GET", target.encode("ascii"), [ACCEPT_JSON], may_run=False)
        )

    def broken(self, tool: ApiTool, what: str) -> ApiError:
        return self._account.failures.broken(what, may_run=tool.method != "GET" and not tool.only_reads)

    def _shaped(self, tool: ApiTool, reply: ApiReply) -> ShapedAnswer:
        if "html" in reply.content_type:
            raise self.broken(tool, "it is a web page, not JSON")
        try:
            opened = Opened(reply.body if reply.body.strip() else b"null")
            found = content(tool.answer, opened)
            if self._api.omit or self._html:
                found = found._replace(items=self._tidied(found.items))
            return ShapedAnswer(found, opened, reply)
        except Misshapen as error:
            raise self.broken(tool, str(error)) from None
        except (JsonRefused, msgspec.MsgspecError):
            raise self.broken(tool, "it is not strict JSON") from None

    def _tidied(self, items: list[bytes]) -> list[bytes]:
        """Leave out what is not set, and write HTML as text: all at once, because a pattern is slow to start."""
        if len(items) == 1:
            return [tidied(items[0], self._api.omit, self._html)]
        return jsontext.elements(tidied(b"[" + b",".join(items) + b"]", self._api.omit, self._html))

    # Names instead of ids

    async def _looked_up(self, parameter: Parameter, lookup: Lookup, value: Any) -> Any:
        if isinstance(value, list):
            many = cast("list[Any]", value)
            return [await self._looked_up(parameter, lookup, one) for one in many]
        if not isinstance(value, str):
            return value
        name = value.strip()
        if name.lstrip("-").isascii() and name.lstrip("-").isdigit():
            return int(name)
        if not 0 < len(name) <= _MOST_NAME_CHARS:
            raise BadRequest(f"{parameter.key}: {_wanted(lookup)}")
        if lookup.pattern:
            return await self._by_path(parameter, lookup, name)
        return await self._by_search(parameter, lookup, name)

    async def _by_path(self, parameter: Parameter, lookup: Lookup, name: str) -> int:
        found = _pattern(lookup.pattern).fullmatch(name)
        if found is None:
            raise BadRequest(f"{parameter.key}: {_wanted(lookup)}, not {name[:60]!r}")
        reply = await self._get(target_of(self._base_path, lookup.path, found.groupdict()))
        try:
            return whole_number(Opened(reply.body), lookup.take)
        except Misshapen as error:
            raise self._account.failures.broken(str(error), may_run=False) from None

    async def _by_search(self, parameter: Parameter, lookup: Lookup, name: str) -> int:
        target = f"{target_of(self._base_path, lookup.path, {})}?{urlencode({lookup.search: name})}"
        reply = await self._get(target)
        found = await run_work(lambda: _matching(lookup, reply.body, name), len(reply.body))
        ids = list(dict.fromkeys(found.ids))
        if len(ids) == 1:
            return ids[0]
        if ids:
            told = ", ".join(map(str, ids[:_MOST_SHOWN]))
            raise BadRequest(f"{parameter.key}: {name[:60]!r} may be any of the ids {told}: give the id")
        near = f", only {', '.join(found.names)}" if found.names else ""
        raise BadRequest(
            f"{parameter.key}: the search of {self._api.title} found no {lookup.what} with the "
            f"{' or '.join(lookup.match)} {name[:60]!r}{near}: check the spelling, or give the id"
        )


class _Found(NamedTuple):
    ids: list[int]
    names: list[str]
    """Of others that were found, for the message."""


def _matching(lookup: Lookup, body: bytes, name: str) -> _Found:
    """Return the ids of the items that have the name, whatever its case."""
    ids: list[int] = []
    names: list[str] = []
    try:
        for item in jsontext.elements(Opened(body).raw):
            opened = Opened(item)
            texts = [_text_at(opened, f"/{member}") for member in lookup.match]
            if any(text.casefold() == name.casefold() for text in texts):
                ids.append(whole_number(opened, lookup.take))
            elif texts[0] and len(names) < _MOST_SHOWN:
                names.append(repr(texts[0][:60]))
    except (Misshapen, JsonRefused, msgspec.MsgspecError):
        return _Found(ids, names)
    return _Found(ids, names)


def _text_at(opened: Opened, pointer: str) -> str:
    raw = opened.at(pointer)
    return jsontext.string_value(raw) if raw is not None and raw.startswith(b'"') else ""


def _wanted(lookup: Lookup) -> str:
    return f"must be the id of a {lookup.what}" + (f", or such as {lookup.example}" if lookup.example else "")


@lru_cache(64)
def _pattern(pattern: str) -> "re.Pattern[str]":
    return re.compile(pattern)
