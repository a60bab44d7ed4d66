"""Reads with the client of FastMCP."""

import asyncio

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from reading import Task, given_task, next_call, tell  # pyright: ignore[reportMissingImports]


async def read(task: Task) -> list[str]:
    replies: list[str] = []
    async with Client(StdioTransport(task.command[0], task.command[1:])) as client:
        while call := next_call(task, replies):
            result = await client.call_tool(*call)
            replies.append("\n".join(block.text for block in result.content if block.type == "text"))
    return replies


if __name__ == "__main__":
    tell(asyncio.run(read(given_task())))
