"""The tools of the suite on FastMCP: those that answer, and those that ask."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.tasks import TaskConfig
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tests.conformance import asking
from tests.conformance.asking import Answers, Questions
from tests.conformance.questions import CAPITAL, ROUNDS, person, possible, require_sampling
from tests.conformance.tools import (
    FIRST_EVENT_SECONDS,
    HEADER_SCHEMA,
    LARGE_LIST,
    LARGE_SCHEMA,
    LOGGED,
    PERSON_SCHEMA,
    SILENCE,
    embedded,
    image,
    large_answer,
)

Run = Callable[..., Awaitable[Any]]
Asked = ToolResult | types.InputRequiredResult
_MODERN: Final = frozenset(MODERN_PROTOCOL_VERSIONS)


class EchoTool(Tool):
    """Tells its arguments. Its schema is written by hand, which a function's signature cannot be."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return said(json.dumps(arguments))


def said(*texts: str) -> ToolResult:
    return ToolResult([types.TextContent(text=text) for text in texts])


def description(name: str) -> str:
    return f"Tool of the conformance fixture: {name}."


def tool(
    server: FastMCP[Any],
    name: str,
    *,
    output: dict[str, Any] | None = None,
    task: TaskConfig | None = None,
) -> Callable[[Run], Run]:
    """Adds a function as a tool, with a description. FastMCP makes its input schema of the signature."""

    def add(run: Run) -> Run:
        server.tool(run, name=name, description=description(name), output_schema=output, task=task)
        return run

    return add


def is_modern(ctx: Context) -> bool:
    request = ctx.request_context
    return request is not None and request.protocol_version in _MODERN


async def ask(ctx: Context, *rounds: Questions) -> Answers | types.InputRequiredResult:
    """The answers to the last round, or what the client is to be told so that it answers the next one."""
    if not is_modern(ctx):
        return await asking.send_all(ctx.session, ctx.request_id, rounds)
    asked = int(ctx.request_state or 0)
    given = ctx.input_responses or {}
    answered = asked + asking.answers_fit(rounds[asked], given)
    if answered == len(rounds):
        return given
    return types.InputRequiredResult(input_requests=rounds[answered], request_state=str(answered))


async def ask_and_tell(ctx: Context, *rounds: Questions) -> Asked:
    answers = await ask(ctx, *rounds)
    if isinstance(answers, types.InputRequiredResult):
        return answers
    return said("state-ok", *asking.told(answers))


def add_tools(server: FastMCP[Any]) -> None:
    _add_answers(server)
    _add_messages(server)
    _add_questions(server)
    for name, rounds in ROUNDS.items():
        _add_rounds(server, name, rounds)
    for name, schema in (
        ("json_schema_2020_12_tool", PERSON_SCHEMA),
        ("test_header_parameter", HEADER_SCHEMA),
    ):
        server.add_tool(EchoTool(name=name, description=description(name), parameters=schema))


def _add_answers(server: FastMCP[Any]) -> None:
    @tool(server, "test_simple_text")
    async def test_simple_text() -> ToolResult:
        return said("This is a simple text response for testing.")

    @tool(server, "test_image_content")
    async def test_image_content() -> ToolResult:
        return ToolResult([image()])

    @tool(server, "test_audio_content")
    async def test_audio_content() -> ToolResult:
        return ToolResult([types.AudioContent(data=SILENCE, mime_type="audio/wav")])

    @tool(server, "test_embedded_resource")
    async def test_embedded_resource() -> ToolResult:
        return ToolResult([embedded("test://embedded-resource", "This is an embedded resource content.")])

    @tool(server, "test_multiple_content_types")
    async def test_multiple_content_types() -> ToolResult:
        data = json.dumps({"test": "data", "value": 123})
        block = embedded("test://mixed-content-resource", data, "application/json")
        return ToolResult([types.TextContent(text="Multiple content types test:"), image(), block])

    @tool(server, "test_error_handling")
    async def test_error_handling() -> ToolResult:
        raise ToolError("This tool intentionally returns an error for testing")

    @tool(server, "greet")
    async def greet(name: str) -> ToolResult:
        return said(f"Hello, {name}!")

    @tool(server, LARGE_LIST, output=LARGE_SCHEMA, task=TaskConfig("optional"))
    async def large_list() -> ToolResult:
        answer = large_answer()
        return ToolResult([types.TextContent(text=json.dumps(answer))], structured_content=answer)


def _add_messages(server: FastMCP[Any]) -> None:
    @tool(server, "test_tool_with_logging")
    @tool(server, "test_logging_tool")
    async def log(ctx: Context) -> ToolResult:
        for text in LOGGED:
            await ctx.log(text, "info")
        return said("Logged three messages.")

    @tool(server, "test_tool_with_progress")
    async def test_tool_with_progress(ctx: Context) -> ToolResult:
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100)
        return said("Reported progress.")

    @tool(server, "test_reconnection")
    async def test_reconnection(ctx: Context) -> ToolResult:
        await anyio.sleep(FIRST_EVENT_SECONDS)
        await ctx.close_sse_stream()
        return said("Reconnection test completed successfully.")

    @tool(server, "test_trigger_tool_change")
    async def test_trigger_tool_change(ctx: Context) -> ToolResult:
        await ctx.send_notification(types.ToolListChangedNotification())
        return said("The list of tools has changed.")

    @tool(server, "test_trigger_prompt_change")
    async def test_trigger_prompt_change(ctx: Context) -> ToolResult:
        await ctx.send_notification(types.PromptListChangedNotification())
        return said("The list of prompts has changed.")


def _add_rounds(server: FastMCP[Any], name: str, rounds: tuple[Questions, ...]) -> None:
    @tool(server, name)
    async def run(ctx: Context) -> Asked:
        return await ask_and_tell(ctx, *rounds)


def _add_questions(server: FastMCP[Any]) -> None:
    @tool(server, "test_sampling")
    async def test_sampling(prompt: str, ctx: Context) -> Asked:
        return await ask_and_tell(ctx, {"answer": asking.model(prompt)})

    @tool(server, "test_elicitation")
    async def test_elicitation(message: str, ctx: Context) -> Asked:
        return await ask_and_tell(ctx, {"answer": person(message)})

    @tool(server, "test_input_required_result_capabilities")
    async def test_input_required_result_capabilities(ctx: Context) -> Asked:
        return await ask_and_tell(ctx, possible(ctx.session.client_capabilities))

    @tool(server, "test_missing_capability")
    async def test_missing_capability(ctx: Context) -> Asked:
        require_sampling(ctx.session)
        return await ask_and_tell(ctx, {"answer": CAPITAL})
