# pyright: reportMissingImports=false
"""Reads with an agent of Pydantic AI whose model is a script."""

import asyncio
from typing import Any

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from reading import Task, given_task, next_call, tell


def text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(map(text_of, content))
    return content if isinstance(content, str) else str(content)


async def read(task: Task) -> list[str]:
    replies: list[str] = []

    def script(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        parts = (part for message in messages for part in message.parts)
        replies[:] = [text_of(part.content) for part in parts if isinstance(part, ToolReturnPart)]
        call = next_call(task, replies)
        return ModelResponse(parts=[ToolCallPart(*call) if call else TextPart("read to the end")])

    server = MCPToolset(StdioTransport(task.command[0], task.command[1:]))
    agent = Agent(FunctionModel(script), toolsets=[server])
    async with agent:
        result = await agent.run("Read it all.", usage_limits=UsageLimits(request_limit=200))
        assert result.output == "read to the end", result.output
    return replies


if __name__ == "__main__":
    tell(asyncio.run(read(given_task())))
