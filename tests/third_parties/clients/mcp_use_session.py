# pyright: reportMissingImports=false
"""Reads with a session of mcp-use, and says nothing home."""

import asyncio
import os

os.environ["MCP_USE_ANONYMIZED_TELEMETRY"] = "false"

from mcp_use import MCPClient  # it looks at the setting as it is imported
from reading import Task, given_task, next_call, tell


async def read(task: Task) -> list[str]:
    servers = {"tested": {"command": task.command[0], "args": task.command[1:]}}
    client = MCPClient.from_dict({"mcpServers": servers})
    replies: list[str] = []
    try:
        session = await client.create_session("tested")
        while call := next_call(task, replies):
            result = await session.call_tool(*call)
            replies.append("\n".join(block.text for block in result.content if block.type == "text"))
    finally:
        await client.close_all_sessions()
    return replies


if __name__ == "__main__":
    tell(asyncio.run(read(given_task())))
