# pyright: reportMissingImports=false
"""Reads with the agent of mcp-use, whose model is a script; says nothing home."""

import asyncio
import os
from typing import Any

os.environ["MCP_USE_ANONYMIZED_TELEMETRY"] = "false"

from langchain_core.language_models import BaseChatModel  # after the setting, as all here
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from mcp_use import MCPAgent, MCPClient
from pydantic import Field
from reading import Task, given_task, next_call, tell


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block if isinstance(block, str) else block.get("text", "") for block in content)


class Script(BaseChatModel):
    """Calls the tool, then reads on as long as there is a cursor."""

    task: Any
    replies: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **_: Any) -> "Script":
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.replies[:] = [text_of(one.content) for one in messages if isinstance(one, ToolMessage)]
        call = next_call(self.task, self.replies)
        asked = [{"name": call[0], "args": call[1], "id": f"call-{len(self.replies)}"}] if call else []
        answer = AIMessage(content="" if call else "read to the end", tool_calls=asked)
        return ChatResult(generations=[ChatGeneration(message=answer)])


async def read(task: Task) -> list[str]:
    servers = {"tested": {"command": task.command[0], "args": task.command[1:]}}
    client = MCPClient.from_dict({"mcpServers": servers})
    model = Script(task=task)
    try:
        answer = await MCPAgent(llm=model, client=client, max_steps=200).run("Read it all.")
        assert answer == "read to the end", answer
    finally:
        await client.close_all_sessions()
    return model.replies


if __name__ == "__main__":
    tell(asyncio.run(read(given_task())))
