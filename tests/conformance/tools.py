"""The tools of the suite that just answer, and one with a large answer for Brimgate."""

import json
from base64 import b64encode
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged

from tests.conformance import asking
from tests.conformance.asking import Context
from tests.conformance.toolbox import Answer, Toolbox, said

LARGE_LIST: Final = "brimgate_large_list"
_LARGE_ROWS: Final = 400
_TEXT: Final = {"type": "string"}
PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SILENCE: Final = b64encode(
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x02\0\0\0\x80\x80"
).decode()

PERSON_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": _TEXT, "city": _TEXT},
        }
    },
    "type": "object",
    "properties": {
        "name": _TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": _TEXT,
        "email": _TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADER_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}
LARGE_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"type": "object"}}},
    "required": ["rows"],
}
FIRST_EVENT_SECONDS: Final = 0.1
"""A stream that is closed before its first event has left does not tell the client where to come back."""
LOGGED: Final = ("Tool execution started", "Tool processing data", "Tool execution completed")

bus = InMemorySubscriptionBus()
ANSWERING: Final = Toolbox()
tool = ANSWERING.tool


def image() -> types.ImageContent:
    return types.ImageContent(data=PIXEL, mime_type="image/png")


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(
        resource=types.TextResourceContents(uri=uri, text=text, mime_type=mime_type)
    )


# Answers of every kind


@tool("test_simple_text")
async def simple_text(_ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    return said("This is a simple text response for testing.")


@tool("test_image_content")
async def image_content(_ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    return types.CallToolResult(content=[image()])


@tool("test_audio_content")
async def audio_content(_ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    return types.CallToolResult(content=[types.AudioContent(data=SILENCE, mime_type="audio/wav")])


@tool("test_embedded_resource")
async def embedded_resource(_ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    block = embedded("test://embedded-resource", "This is an embedded resource content.")
    return types.CallToolResult(content=[block])


@tool("test_multiple_content_types")
async def multiple_content_types(_ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    text = types.TextContent(text="Multiple content types test:")
    data = json.dumps({"test": "data", "value": 123})
    block = embedded("test://mixed-content-resource", data, "application/json")
    return types.CallToolResult(content=[text, image(), block])


@tool("test_error_handling")
async def error_handling(_ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    return said("This tool intentionally returns an error for testing", is_error=True)


@tool("json_schema_2020_12_tool", schema=PERSON_SCHEMA)
@tool("test_header_parameter", schema=HEADER_SCHEMA)
async def echo(_ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return said(json.dumps(params.arguments or {}))


# Messages while a tool runs


@tool("test_tool_with_logging")
@tool("test_logging_tool")
async def with_logging(ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    for text in LOGGED:
        await ctx.session.send_log_message("info", text, related_request_id=ctx.request_id)
    return said("Logged three messages.")


@tool("test_tool_with_progress")
async def with_progress(ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
    return said("Reported progress.")


@tool("test_reconnection")
async def reconnection(ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    """Closes its own stream before it answers, where there is one: the client comes back for the answer."""
    if ctx.close_sse_stream:
        await anyio.sleep(FIRST_EVENT_SECONDS)
        await ctx.close_sse_stream()
    return said("Reconnection test completed successfully.")


@tool("test_trigger_tool_change")
async def trigger_tool_change(ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    if asking.is_modern(ctx):
        await bus.publish(ToolsListChanged())
    else:
        await ctx.session.send_tool_list_changed()
    return said("The list of tools has changed.")


@tool("test_trigger_prompt_change")
async def trigger_prompt_change(ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    if asking.is_modern(ctx):
        await bus.publish(PromptsListChanged())
    else:
        await ctx.session.send_prompt_list_changed()
    return said("The list of prompts has changed.")


# Tools of the tasks extension, as a server without it has them: they answer at once


@tool("greet", {"name": _TEXT}, required=("name",))
async def greet(_ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return said(f"Hello, {(params.arguments or {}).get('name', '')}!")


@tool("slow_compute", {"seconds": {"type": "number"}, "label": _TEXT})
async def slow_compute(_ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return said(f"{(params.arguments or {}).get('label', '')} done")


# What Brimgate has to reduce


def _row(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "title": f"Ticket {number}: the {('printer', 'gate', 'lift', 'heating')[number % 4]} needs a look",
        "state": ("open", "waiting", "closed")[number % 3],
        "hours": number * 7 % 50 / 4,
    }


def large_answer() -> dict[str, Any]:
    return {"rows": [_row(number) for number in range(_LARGE_ROWS)]}


@tool(LARGE_LIST, output=LARGE_SCHEMA)
async def large_list(_ctx: Context, _params: types.CallToolRequestParams) -> Answer:
    answer = large_answer()
    return said(json.dumps(answer), structured_content=answer)
