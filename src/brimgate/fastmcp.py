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
from typing import TYPE_CHECKING, Any, Final, cast

from brimgate.config.declarations import Config, Override, Telemetry
from brimgate.config.rule_reader import make_rules, overridden
from brimgate.engine.cursor import Binding, answer_number
from brimgate.engine.decision import (
    MAX_ARGUMENT_BYTES,
    TOOL_ERROR,
    AnswerSizes,
    Arm,
    Decision,
    LazySizes,
    Outcome,
    Report,
)
from brimgate.engine.policy import Policy, Rules, ToolRule
from brimgate.errors import ClientError, CursorError
from brimgate.guard.principal import LOCAL, Principal, principal_of_token
from brimgate.hold.protection import Protection, process_ring
from brimgate.hold.runtime import THREAD_BYTES
from brimgate.hold.stores.contract import SnapshotStore
from brimgate.hold.stores.memory import MemoryStore
from brimgate.relay import results, rewrite
from brimgate.relay.budget import untouched_record
from brimgate.relay.protocol.message import encode
from brimgate.relay.read_tool import definition, read_on
from brimgate.relay.reduction import reports_failure
from brimgate.watch.log import log_decisions
from brimgate.watch.recorder import recording

if TYPE_CHECKING:
    from brimgate.engine.replies.reply import Reply

try:
    import mcp_types as mt
    from anyio import CapacityLimiter, to_thread
    from fastmcp.exceptions import DisabledError, FastMCPError, NotFoundError, to_mcp_error
    from fastmcp.prompts.base import InputRequiredPromptResult, Message, PromptResult
    from fastmcp.resources.base import InputRequiredResourceResult, ResourceContent, ResourceResult
    from fastmcp.server.context import Context
    from fastmcp.server.dependencies import fastmcp_request_ctx, get_access_token, get_context
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
    from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
    from mcp.shared.exceptions import MCPError
    from pydantic import BaseModel, PrivateAttr
    from pydantic_core import PydanticSerializationError, to_json
except ImportError as error:
    needed = "brimgate.fastmcp needs FastMCP 4.1 or newer: pip install '.[fastmcp]' in a checkout of Brimgate"
    raise ImportError(needed) from error

__all__ = ["BrimgateMiddleware", "Config", "Decision", "Override", "Policy", "Rules", "Telemetry"]

_MAX_CALL_BYTES: Final = 1_000
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
        report: Report | None = None,
        records: Telemetry | None = None,
    ) -> None:
        """Create the middleware. `tools` has overrides by tool name; `*` stands for anything, the last match wins.

        `report` gets the decision about every answer; without it they are logged. `records` keeps them for
        `brimgate stats`: `Telemetry()` in your own file, `Telemetry(file="…")` in another.
        """
        self.rules: Final = _make_rules(rules, dict(tools or {}))
        ttl = self.rules.ttl_seconds
        self._protection = Protection(Policy(), process_ring(), store or MemoryStore(), ttl)
        self._clock = clock
        self._report = recording(report or log_decisions(_log), records)
        self._readers = CapacityLimiter(1)  # a held answer has an index that grows as it is read
        most = self.rules.of(self.rules.read_tool).policy.max_page_size
        super().__init__([_ReadTool.calling(self._read, definition(self.rules.read_tool, most))])

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
        if tool.output_schema is not None and rule.is_on and rule.output_schema != "keep":
            changes["output_schema"] = {"type": "object"} if rule.output_schema == "relax" else None
        return tool.model_copy(update=changes) if changes else tool

    # Answers

    async def on_call_tool(self, context: _Context, call_next: _Next) -> ToolResult:
        name = context.message.name
        rule = self.rules.of(name)
        if name == self.rules.read_tool or _decider() is not None:
            return await call_next(context)
        account = self._account(context, name, rule)
        if rule.hidden:
            account.note_own()
            account.fail("refused", f"Unknown tool: {name!r}")
            raise NotFoundError(f"Unknown tool: {name!r}")
        arguments = to_json(context.message.arguments, fallback=str)
        account.arm, account.call = rule.arm_of(name, arguments), arguments[:_MAX_CALL_BYTES]
        is_protected = account.arm == "protected"
        try:
            result = await self._decide(context, call_next)
        except (FastMCPError, NotFoundError, DisabledError) as error:
            # FastMCP sends these as a result with their text.
            text = mt.TextContent(type="text", text=str(error))
            sent = mt.CallToolResult(content=[text], is_error=True)
            bounded = await self._bounded(sent, account) if is_protected else account.pass_on(_wire(sent))
            if bounded is None:
                raise
            return _as_tool_result(bounded)
        except MCPError as error:
            await self._raise_bounded(error, account, is_protected=is_protected)
            raise
        if not isinstance(result, ToolResult) or isinstance(result, InputRequiredToolResult):
            account.pass_on(b"")
            return result  # a started task, or a question to the client
        sent = result.to_mcp_result()
        if not isinstance(sent, mt.CallToolResult):
            sent = mt.CallToolResult(content=result.content, structured_content=result.structured_content)
        if not is_protected:
            account.pass_on(_wire(sent))
            return result
        bounded = await self._bounded(sent, account, context.fastmcp_context)
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
        if _decider() is not None:
            return await call_next(context)
        account = self._account(context, method, rule)
        account.arm = rule.arm
        try:
            result = await self._decide(context, call_next)
        except (FastMCPError, MCPError) as error:
            await self._raise_bounded(error, account, is_protected=rule.is_on)
            raise
        if isinstance(result, InputRequiredResourceResult | InputRequiredPromptResult):
            account.pass_on(b"")
            return result  # a question to the client
        if not rule.is_on:
            account.pass_on(_wire(sent(result)))
            return result
        bounded = await self._bounded(sent(result), account)
        return result if bounded is None else read(bounded)

    async def _decide(self, context: _Context, call_next: _Next) -> Any:
        token = _deciding.set((self, fastmcp_request_ctx.get()))
        try:
            return await call_next(context)
        finally:
            _deciding.reset(token)

    # The budget

    def _account(self, context: _Context, tool: str, rule: ToolRule) -> "_Account":
        return _Account(tool, rule, self._clock(), _client_of(context.fastmcp_context), self._report)

    async def _bounded(
        self, sent: BaseModel, account: "_Account", context: Context | None = None
    ) -> bytes | None:
        """Return what is sent instead of an answer, or None if it goes out unchanged."""
        raw, schema, rule = _wire(sent), b"", account.rule
        account.note_answer()
        if context and rule.output_schema != "drop" and rule.may_be_large(raw):
            promised = await context.fastmcp.get_tool(account.tool)
            schema = encode(promised.output_schema) if promised and promised.output_schema else b""
        bound = partial(results.bound_result, raw, rule, schema=schema)
        bounded = await self._through(raw, account, bound)
        if bounded is None and rule.annotates_all:
            return rewrite.annotated(raw, untouched_record(raw, rule))
        return bounded

    async def _raise_bounded(
        self, error: FastMCPError | MCPError, account: "_Account", *, is_protected: bool
    ) -> None:
        raw = _wire(to_mcp_error(error).error)
        account.note_answer(is_error=True)
        if not is_protected:
            account.pass_on(raw)
            return
        bounded = await self._through(raw, account, partial(results.bound_error, raw, account.rule))
        if bounded is not None:
            raise MCPError.from_error_data(mt.ErrorData.model_validate_json(bounded)) from error

    async def _through(
        self, raw: bytes, account: "_Account", bound: Callable[[rewrite.Hold], rewrite.Bounded | None]
    ) -> bytes | None:
        rule = account.rule
        if not rule.reads_everything and not rule.may_be_large(raw):
            return account.pass_on(raw)
        binding = Binding(_principal().id, _UPSTREAM, account.tool)
        hold = self._protection.holding(binding, self._clock())
        elsewhere = len(raw) > THREAD_BYTES or self._protection.store.blocks
        bounded = await to_thread.run_sync(bound, hold) if elsewhere else bound(hold)
        return account.pass_on(raw) if bounded is None else account.reduce(raw, bounded)

    async def _read(self, arguments: dict[str, Any]) -> ToolResult:
        who = {"principal": _principal().id, "upstream": _UPSTREAM}
        read = partial(read_on, arguments, self.rules, self._protection, **who, now=self._clock())
        name = self.rules.read_tool
        account = _Account(name, self.rules.of(name), self._clock(), _client_of(get_context()), self._report)
        account.note_own()
        try:
            reading = await to_thread.run_sync(read, limiter=self._readers)
        except ClientError as error:
            account.fail("refused", str(error), has_expired=isinstance(error, CursorError))
            return ToolResult(content=f"{name}: {error}", is_error=True)
        sent = rewrite.as_tool_result(reading.reply, block=reading.block)
        account.tool = reading.tool
        account.read(reading.reply, sent, str(arguments.get("cursor")))
        return _as_tool_result(sent)


class _Account:
    """Keeps account of one request, and reports its decision."""

    def __init__(self, tool: str, rule: ToolRule, now: float, client: str, report: Report) -> None:
        self.tool, self.rule = tool, rule
        self._now, self._client, self._report = now, client, report
        self._began = time.perf_counter()
        self._came_at = 0.0
        self._is_error = False
        self.arm: Arm = "protected"
        self.call = b""

    def note_answer(self, *, is_error: bool = False) -> None:
        """Note that the server has answered: the rest is ours."""
        self._came_at, self._is_error = time.perf_counter(), is_error

    def note_own(self) -> None:
        """Note that the server is not asked: all of it is ours."""
        self._came_at = self._began

    def pass_on(self, raw: bytes) -> None:
        """Report an answer that goes out as it came."""
        outcome: Outcome = "error" if self._is_error or reports_failure(raw) else "passed"
        sizes = partial(results.sizes_of_answer, raw, self.rule.policy)
        if self.arm == "shadow" and outcome == "passed":
            sizes = partial(results.tried, raw, self.rule, b"", modern=False)
        shown = partial(results.text_of_answer, raw)
        self._tell(outcome, len(raw), len(raw), sizes if raw else AnswerSizes(0, 0), shown=shown)

    def reduce(self, raw: bytes, bounded: rewrite.Bounded) -> bytes:
        reply = bounded.reply
        outcome: Outcome = "error" if self._is_error or reports_failure(bounded.raw) else reply.outcome
        self._tell(
            outcome, len(raw), len(bounded.raw), reply.sizes, issued_cursor=reply.has_cursor, answer=reply.answer,
            highlights=reply.highlight_count, shown=partial(results.text_of_answer, bounded.raw),
        )  # fmt: skip
        return bounded.raw

    def read(self, reply: "Reply", sent: bytes, cursor: str) -> None:
        self._tell(
            "read", reply.original_bytes, len(sent), reply.sizes,
            issued_cursor=reply.has_cursor, followed_cursor=True, answer=answer_number(cursor),
            highlights=reply.highlight_count, shown=partial(results.text_of_answer, sent),
        )  # fmt: skip

    def fail(self, outcome: Outcome, reason: str, *, has_expired: bool = False) -> None:
        tokens = self.rule.policy.estimator.table(reason)
        sizes = AnswerSizes(0, tokens)
        self._tell(outcome, 0, len(reason.encode()), sizes, reason=reason, has_expired=has_expired)

    def _tell(self, outcome: Outcome, came: int, sent: int, sizes: LazySizes, **more: Any) -> None:
        over = time.perf_counter()
        came_at, principal = self._came_at or over, _principal()
        decision = Decision(
            self._now, principal.name, _UPSTREAM, self.tool, outcome, came, sent, sizes, self._client,
            self.rule.policy.estimator.family, engine_seconds=over - came_at,
            upstream_seconds=came_at - self._began, arm=self.arm, principal_id=principal.id, call=self.call,
            threshold=self.rule.policy.output_token_threshold, method="tools/call",
            arguments=self.call[:MAX_ARGUMENT_BYTES], error_type=TOOL_ERROR if outcome == "error" else "", **more,
        )  # fmt: skip
        try:
            self._report(decision)
        except Exception:  # noqa: BLE001  # NFR-4: telemetry never fails a request
            _log.warning("a report of a decision failed", exc_info=True)


def _client_of(context: Context | None) -> str:
    """Return the name and version of the client, if it has introduced itself."""
    try:
        params = context.session.client_params if context is not None else None
    except RuntimeError:
        return ""
    return f"{params.client_info.name} {params.client_info.version}"[:100] if params else ""


class _ReadTool(Tool):
    _read: Callable[[dict[str, Any]], Awaitable[ToolResult]] = PrivateAttr()

    @classmethod
    def calling(cls, read: Callable[[dict[str, Any]], Awaitable[ToolResult]], listed: bytes) -> "_ReadTool":
        entry = json.loads(listed)
        entry["parameters"], entry["meta"] = entry.pop("inputSchema"), entry.pop("_meta")
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
