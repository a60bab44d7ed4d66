# pyright: reportMissingImports=false
"""Reads with an agent of openai-agents whose schemas are strict, so that its model fills in every argument."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from reading import Task, given_task, next_call, tell

EMPTY = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}, "null": None}


def empty_value(schema: dict[str, Any]) -> Any:
    """Return what a strict model writes for an argument that it has no use for."""
    kinds = schema.get("type") or [one.get("type") for one in schema.get("anyOf", [])]
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "null" in kinds or not kinds:
        return None
    return schema["enum"][0] if "enum" in schema else EMPTY[kinds[0]]


def text_of(output: Any) -> str:
    if isinstance(output, str):
        return output
    blocks = output if isinstance(output, list) else [output]
    return "\n".join(block["text"] for block in blocks if "text" in block)


class Script(Model):
    """Calls the tool with every argument filled in, then reads on as long as there is a cursor."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.replies: list[str] = []

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002  # the SDK names it
        *rest: Any,
        **more: Any,
    ) -> ModelResponse:
        tools = more["tools"] if "tools" in more else rest[1]
        items = input if isinstance(input, list) else []
        told = [item for item in items if item.get("type") == "function_call_output"]
        self.replies = [text_of(item["output"]) for item in told]
        call = next_call(self.task, self.replies)
        answer = self._call(*call, tools) if call else self._end()
        return ModelResponse(output=[answer], usage=Usage(), response_id=None)

    def _call(self, name: str, arguments: dict[str, Any], tools: list[Any]) -> ResponseFunctionToolCall:
        tool = next(tool for tool in tools if tool.name == name)
        assert tool.strict_json_schema, f"the schema of {name} could not be made strict"
        properties = tool.params_json_schema["properties"]
        assert set(tool.params_json_schema["required"]) == set(properties), "a strict schema asks for all"
        filled = {key: empty_value(schema) for key, schema in properties.items()} | arguments
        return ResponseFunctionToolCall(
            type="function_call", call_id=f"call-{len(self.replies)}", name=name, arguments=json.dumps(filled)
        )

    def _end(self) -> ResponseOutputMessage:
        text = ResponseOutputText(type="output_text", text="read to the end", annotations=[])
        return ResponseOutputMessage(
            id="end", type="message", role="assistant", status="completed", content=[text]
        )

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError("this run is not streamed")


async def read(task: Task) -> list[str]:
    set_tracing_disabled(True)
    model = Script(task)
    params = {"command": task.command[0], "args": task.command[1:]}
    async with MCPServerStdio(params=params, client_session_timeout_seconds=60) as server:
        strict = {"convert_schemas_to_strict": True}
        agent = Agent(name="reader", model=model, mcp_servers=[server], mcp_config=strict)
        result = await Runner.run(agent, "Read it all.", max_turns=200)
        assert result.final_output == "read to the end", result.final_output
    return model.replies


if __name__ == "__main__":
    tell(asyncio.run(read(given_task())))
