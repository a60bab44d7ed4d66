"""The tools of the tasks extension (SEP-2663), on `fastmcp-tasks`: the server runs them in the background."""

from datetime import timedelta
from typing import Any, Final

import anyio
import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.extensions import ToolCallContinuation, ToolCallOutcome
from fastmcp.tools import ToolResult
from fastmcp.tools.base import InputRequiredToolResult
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp.shared.exceptions import MCPError

from tests.conformance import asking
from tests.conformance.asking import Questions
from tests.conformance.fastmcp_tools import Asked, said, tool
from tests.conformance.questions import NAME

_POLL: Final = timedelta(milliseconds=200)
_OPTIONAL: Final = TaskConfig("optional", _POLL)
_REQUIRED: Final = TaskConfig("required", _POLL)
_CONFIRM: Final[Questions] = {"confirm": asking.user("Delete it?", confirm={"type": "boolean"})}
_ASKING_FIRST: Final = "test_tool_with_task"
_TWO: Final[Questions] = {
    key: asking.user(f"The {key} name?", name={"type": "string"}) for key in ("first", "second")
}


class FixtureTasks(TasksExtension):
    """The extension, and one tool that asks before there is a task: SEP-2663 has that, `fastmcp-tasks` has not."""

    async def intercept_tool_call(
        self, params: types.CallToolRequestParams, context: Context, call_next: ToolCallContinuation
    ) -> ToolCallOutcome:
        if params.name == _ASKING_FIRST:
            if not (answers := context.input_responses):
                return InputRequiredToolResult(types.InputRequiredResult(input_requests={"user_name": NAME}))
            params = params.model_copy(update={"arguments": {"told": asking.told(answers)[0]}})
        return await super().intercept_tool_call(params, context, call_next)


def add_tasks(server: FastMCP[Any]) -> None:
    server.add_extension(FixtureTasks())

    @tool(server, "slow_compute", task=_OPTIONAL)
    async def slow_compute(seconds: float, label: str = "") -> ToolResult:
        await anyio.sleep(seconds)
        return said(f"{label} done")

    @tool(server, "failing_job", task=_REQUIRED)
    async def failing_job() -> ToolResult:
        raise ToolError("This job always fails")

    @tool(server, "protocol_error_job", task=_REQUIRED)
    async def protocol_error_job() -> ToolResult:
        raise MCPError(types.INTERNAL_ERROR, "This job breaks the protocol")

    @tool(server, "confirm_delete", task=_OPTIONAL)
    async def confirm_delete(filename: str, ctx: Context) -> Asked:
        return _ask(ctx, _CONFIRM)

    @tool(server, "multi_input", task=_OPTIONAL)
    async def multi_input(ctx: Context) -> Asked:
        return _ask(ctx, _TWO)

    @tool(server, _ASKING_FIRST, task=_REQUIRED)
    async def test_tool_with_task(told: str = "") -> ToolResult:
        return said(told)


def _ask(ctx: Context, questions: Questions) -> Asked:
    if given := ctx.input_responses:
        return said(*asking.told(given))
    return types.InputRequiredResult(input_requests=questions)
