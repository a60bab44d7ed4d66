"""The same protection inside a FastMCP server: `mcp.add_middleware(BrimgateMiddleware())`.

The answer of a tool, resource or prompt goes through the relay's budget in its form on the wire. Of several
middlewares in one request (a server mounted on another) the outermost decides, and the others do nothing.
"""

import json
import logging
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from fnmatch import fnmatchcase
from functools import partial, reduce
from typing import Any, Final, cast

from brimgate.config.declarations import Config, Override
from brimgate.config.rule_reader import make_rules, overridden
from brimgate.engine.cursor import Binding
from brimgate.engine.policy import Policy, Rules, ToolRule
from brimgate.errors import ClientError
from brimgate.guard.principal import LOCAL, Principal, principal_of_token
from brimgate.hold.protection import Protection, process_ring
from brimgate.hold.runtime import THREAD_BYTES
from brimgate.hold.stores.contract import SnapshotStore
from brimgate.hold.stores.memory import MemoryStore
from brimgate.relay import results, rewrite
from brimgate.relay.protocol.message import encode
from brimgate.relay.read_tool import definition, read_on

try:
    import mcp_types as mt
    from anyio import CapacityLimiter, to_thread
    from fastmcp.exceptions import DisabledError, FastMCPError, NotFoundError, to_mcp_error
    from fastmcp.prompts.base import InputRequiredPromptResult, Message, PromptResult
    from fastmcp.resources.base import InputRequiredResourceResult, ResourceContent, ResourceResult
    from fastmcp.server.context import Context
    from fastmcp.server.dependencies import fastmcp_request_ctx, get_access_token
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
    from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
    from mcp.shared.exceptions import MCPError
    from pydantic import BaseModel, PrivateAttr
    from pydantic_core import PydanticSerializationError, to_json
except ImportError as error:
    needed = "brimgate.fastmcp needs FastMCP 4.1 or newer: pip install '.[fastmcp]' in a checkout of Brimgate"
    raise ImportError(needed) from error

__all__ = ["BrimgateMiddleware", "Config", "Override", "Policy", "Rules"]

_UPSTREAM: Final = "fastmcp"
"""What cursors are bound to: the name of a server may be random in every process."""
_log: Final = logging.getLogger(__name__)
_Context = MiddlewareContext[Any]
_Next = CallNext[Any, Any]
_Sent = Callable[[Any], BaseModel]


class BrimgateMiddleware(ToolInjectionMiddleware):
    """Keeps the answers of a FastMCP server within their budget. Add it first, so that it sees what goes out."""

    def __init__(
        self,
        rules: Policy | Config | Rules | None = None,
        *,
        tools: Mapping[str, Override] | None = None,
        store: SnapshotStore | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create the middleware. `tools` has overrides by tool name; `*` stands for anything, the last match wins."""
        self.rules: Final = _make_rules(rules, dict(tools or {}))
        ttl = self.rules.ttl_seconds
        self._protection = Protection(Policy(), process_ring(), store or MemoryStore(), ttl)
        self._clock = clock
        self._readers = CapacityLimiter(1)  # a held answer has an index that grows as it is read
        super().__init__([_ReadTool.calling(self._read, self.rules.read_tool)])

    # The list of tools

    @property
    def injected_tools(self) -> Sequence[Tool]:
        return super().injected_tools if _decider() in (None, self) else ()

    def get_injected_tool(self, name: str) -> Tool | None:
        return super().get_injected_tool(name) if _decider() in (None, self) else None

    async def on_list_tools(self, context: _Context, call_next: _Next) -> Sequence[Tool]:
        if _decider() is not None:
            return await call_next(context)
        return [shown for tool in await self._decide(context, call_next) if (shown := self._listed(tool))]

    def _listed(self, tool: Tool) -> Tool | None:
        """Return one entry, or None to hide it."""
        rule = self.rules.of(tool.name)
        if tool.name == self.rules.read_tool:
            return tool
        if rule.hidden:
            return None
        changes: dict[str, Any] = {}
        if 0 < rule.max_description_chars < len(tool.description or ""):
            changes["description"] = f"{(tool.description or '')[: rule.max_description_chars]}…"
        if tool.output_schema is not None and rule.enabled and rule.output_schema != "keep":
            changes["output_schema"] = {"type": "object"} if rule.output_schema == "relax" else None
        return tool.model_copy(update=changes) if changes else tool

    # Answers

    async def on_call_tool(self, context: _Context, call_next: _Next) -> ToolResult:
        name = context.message.name
        rule = self.rules.of(name)
        if name == self.rules.read_tool or _decider() is not None:
            return await call_next(context)
        if rule.hidden:
            raise NotFoundError(f"Unknown tool: {name!r}")
        arguments = b"" if rule.rollout_percent >= 100 else to_json(context.message.arguments, fallback=str)
        if not rule.protects(name, arguments):
            return await self._decide(context, call_next)
        try:
            result = await self._decide(context, call_next)
        except (FastMCPError, NotFoundError, DisabledError) as error:
            # FastMCP sends these as a result with their text.
            text = mt.TextContent(type="text", text=str(error))
            bounded = await self._bounded(mt.CallToolResult(content=[text], is_error=True), name, rule)
            if bounded is None:
                raise
            return _as_tool_result(bounded)
        except MCPError as error:
            await self._raise_bounded(error, name, rule)
            raise
        if not isinstance(result, ToolResult) or isinstance(result, InputRequiredToolResult):
            return result  # a started task, or a question to the client
        sent = result.to_mcp_result()
        if not isinstance(sent, mt.CallToolResult):
            sent = mt.CallToolResult(content=result.content, structured_content=result.structured_content)
        bounded = await self._bounded(sent, name, rule, context.fastmcp_context)
        return result if bounded is None else _as_tool_result(bounded)

    async def on_read_resource(self, context: _Context, call_next: _Next) -> ResourceResult:
        uri = context.message.uri
        return await self._answer(context, call_next, lambda result: result.to_mcp_result(uri), _as_resource)

    async def on_get_prompt(self, context: _Context, call_next: _Next) -> PromptResult:
        return await self._answer(context, call_next, PromptResult.to_mcp_prompt_result, _as_prompt)

    async def on_request(self, context: _Context, call_next: _Next) -> Any:
        if context.method not in ("tasks/get", "tasks/result"):
            return await call_next(context)
        return await self._answer(context, call_next, lambda result: result, json.loads)

    async def _answer(
        self, context: _Context, call_next: _Next, sent: _Sent, read: Callable[[bytes], Any]
    ) -> Any:
        """Bound a resource, prompt or task: rules go by the method, and a failure is a JSON-RPC error."""
        method = context.method or ""
        rule = self.rules.of(method)
        if _decider() is not None or not rule.enabled:
            return await call_next(context)
        try:
            result = await self._decide(context, call_next)
        except (FastMCPError, MCPError) as error:
            await self._raise_bounded(error, method, rule)
            raise
        if isinstance(result, InputRequiredResourceResult | InputRequiredPromptResult):
            return result  # a question to the client
        bounded = await self._bounded(sent(result), method, rule)
        return result if bounded is None else read(bounded)

    async def _decide(self, context: _Context, call_next: _Next) -> Any:
        token = _deciding.set((self, fastmcp_request_ctx.get()))
        try:
            return await call_next(context)
        finally:
            _deciding.reset(token)

    # The budget

    async def _bounded(
        self, sent: BaseModel, tool: str, rule: ToolRule, context: Context | None = None
    ) -> bytes | None:
        """Return what is sent instead of an answer, or None if it goes out unchanged."""
        raw, schema = _wire(sent), b""
        if context and rule.output_schema != "drop" and rule.may_be_large(raw):
            promised = await context.fastmcp.get_tool(tool)
            schema = encode(promised.output_schema) if promised and promised.output_schema else b""
        bound = partial(results.bound_result, raw, rule, schema=schema)
        bounded = await self._through(raw, tool, rule, bound)
        if bounded is None and rule.annotate:
            return rewrite.annotated(raw, rewrite.untouched_record(raw, rule))
        return bounded

    async def _raise_bounded(self, error: FastMCPError | MCPError, tool: str, rule: ToolRule) -> None:
        raw = _wire(to_mcp_error(error).error)
        bounded = await self._through(raw, tool, rule, partial(results.bound_error, raw, rule))
        if bounded is not None:
            raise MCPError.from_error_data(mt.ErrorData.model_validate_json(bounded)) from error

    async def _through(
        self, raw: bytes, tool: str, rule: ToolRule, bound: Callable[[rewrite.Hold], rewrite.Bounded | None]
    ) -> bytes | None:
        if not rule.reads_everything and not rule.may_be_large(raw):
            return None
        binding = Binding(_principal().id, _UPSTREAM, tool)
        hold = self._protection.holding(binding, self._clock())
        bounded = await to_thread.run_sync(bound, hold) if len(raw) > THREAD_BYTES else bound(hold)
        if bounded is not None:
            _log.info("reduced an answer of %s from %d to %d bytes", tool, len(raw), len(bounded.raw))
        return bounded and bounded.raw

    async def _read(self, arguments: dict[str, Any]) -> ToolResult:
        who = {"principal": _principal().id, "upstream": _UPSTREAM}
        read = partial(read_on, arguments, self.rules, self._protection, **who, now=self._clock())
        try:
            reading = await to_thread.run_sync(read, limiter=self._readers)
        except ClientError as error:
            return ToolResult(content=f"{self.rules.read_tool}: {error}", is_error=True)
        return _as_tool_result(rewrite.as_tool_result(reading.reply, picture=reading.picture))


class _ReadTool(Tool):
    _read: Callable[[dict[str, Any]], Awaitable[ToolResult]] = PrivateAttr()

    @classmethod
    def calling(cls, read: Callable[[dict[str, Any]], Awaitable[ToolResult]], name: str) -> "_ReadTool":
        entry = json.loads(definition(name))
        entry["parameters"] = entry.pop("inputSchema")
        tool = cls.model_validate(entry)
        tool._read = read
        return tool

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return await self._read(arguments)


_deciding: Final = ContextVar[tuple[BrimgateMiddleware, object] | None]("brimgate_deciding", default=None)


def _decider() -> BrimgateMiddleware | None:
    """Return who handles this request. A tool's request to another server through a client is another request."""
    taken = _deciding.get()
    return taken[0] if taken is not None and taken[1] is fastmcp_request_ctx.get() else None


def _make_rules(given: Policy | Config | Rules | None, tools: Mapping[str, Override]) -> Rules:
    if isinstance(given, Rules | Config):
        if tools:
            raise ValueError("a Config or Rules say what holds for each tool: pass these or tools, not both")
        return make_rules(given) if isinstance(given, Config) else given
    policy = given or Policy()

    def resolve(tool: str) -> ToolRule:
        matching = (override for pattern, override in tools.items() if fnmatchcase(tool, pattern))
        return reduce(overridden, matching, ToolRule(policy))

    for override in tools.values():
        overridden(ToolRule(policy), override)  # refuse impossible overrides now, not at the first call
    return Rules(resolve, read_tool=policy.read_tool)


def _principal() -> Principal:
    """Return who may read on: client, issuer and subject of the token, or LOCAL for a server without one."""
    token = get_access_token()
    if token is None:
        return LOCAL
    subject = token.subject or token.claims.get("sub")
    return principal_of_token(token.client_id, token.claims.get("iss"), subject)


# To the wire and back


def _wire(sent: BaseModel) -> bytes:
    try:
        return to_json(sent, by_alias=True, exclude_none=True)
    except PydanticSerializationError:  # a lone surrogate
        plain = sent.model_dump(mode="json", by_alias=True, exclude_none=True)
        return json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")


def _as_tool_result(raw: bytes) -> ToolResult:
    sent = mt.CallToolResult.model_validate_json(raw)
    # FastMCP's client unwraps {"result": …} where this says so, and a reduced answer has none.
    own: Any = (sent.meta or {}).get("fastmcp")
    if isinstance(own, dict) and "result" not in (sent.structured_content or {}):
        cast("dict[str, Any]", own).pop("wrap_result", None)
    return ToolResult.from_mcp_result(sent)


def _as_resource(raw: bytes) -> ResourceResult:
    sent = mt.ReadResourceResult.model_validate_json(raw)
    contents: list[ResourceContent] = []
    for part in sent.contents:
        data = part.text if isinstance(part, mt.TextResourceContents) else b64decode(part.blob)
        contents.append(ResourceContent(data, part.mime_type, part.meta))
    return ResourceResult(contents, sent.meta)


def _as_prompt(raw: bytes) -> PromptResult:
    sent = mt.GetPromptResult.model_validate_json(raw)
    messages = [Message(message.content, message.role) for message in sent.messages]
    return PromptResult(messages, sent.description, sent.meta)
