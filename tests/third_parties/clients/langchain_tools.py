# pyright: reportMissingImports=false
"""Reads with the tools that LangChain makes of a server: each call starts the server anew."""

import asyncio
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient
from reading import Task, given_task, next_call, tell


def text_of(content: Any) -> str:
    """Return what a model is shown: a text, or a list of texts and blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(block if isinstance(block, str) else block.get("text", "") for block in content)


async def read(task: Task) -> list[str]:
    server = {"transport": "stdio", "command": task.command[0], "args": task.command[1:]}
    client = MultiServerMCPClient({"tested": server})
    tools = {tool.name: tool for tool in await client.get_tools()}
    replies: list[str] = []
    while call := next_call(task, replies):
        name, arguments = call
        asked = {"type": "tool_call", "id": str(len(replies)), "name": name, "args": arguments}
        message = await tools[name].ainvoke(asked)
        replies.append(text_of(message.content))
    return replies


if __name__ == "__main__":
    tell(asyncio.run(read(given_task())))
