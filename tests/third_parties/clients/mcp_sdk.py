"""Reads with the client of the official SDK."""

import asyncio

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from reading import Task, given_task, next_call, tell  # pyright: ignore[reportMissingImports]


async def read(task: Task) -> list[str]:
    server = StdioServerParameters(command=task.command[0], args=task.command[1:])
    replies: list[str] = []
    async with stdio_client(server) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
        await session.initialize()
        while call := next_call(task, replies):
            result = await session.call_tool(*call)
            replies.append("\n".join(block.text for block in result.content if block.type == "text"))
    return replies


if __name__ == "__main__":
    tell(asyncio.run(read(given_task())))
