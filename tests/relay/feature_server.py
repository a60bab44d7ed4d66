"""A server with one of everything the protocol has, in both eras, on the official SDK.

What a handshake-era server asks its client in a request of its own (a model's answer, the user's, the roots), a
2026-07-28 server asks by returning `input_required`, and is called again with the answers.
"""

import sys
import warnings
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

Context = ServerRequestContext[Any, Any]
Tool = Callable[
    [Context, types.CallToolRequestParams], Awaitable[types.CallToolResult | types.InputRequiredResult]
]

NOTE: Final = "note://today"
_PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_ANY: Final = {"type": "object"}

bus = InMemorySubscriptionBus()
cancelled = anyio.Event()


def is_modern(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def said(*texts: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text) for text in texts], **more)


# Tools that need something of the client

QUESTIONS: Final[dict[str, types.InputRequest]] = {
    "ask_model": types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=types.TextContent(text="What is 2 + 2?"))],
            max_tokens=50,
            system_prompt="Be brief.",
        )
    ),
    "ask_user": types.ElicitRequest(
        params=types.ElicitRequestFormParams(
            message="Who are you?",
            requested_schema={
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        )
    ),
    "ask_roots": types.ListRootsRequest(),
}
_ANSWERS: Final = {
    "ask_model": types.CreateMessageResult,
    "ask_user": types.ElicitResult,
    "ask_roots": types.ListRootsResult,
}


async def ask(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    question = QUESTIONS[params.name]
    if not is_modern(ctx):
        related = ServerMessageMetadata(related_request_id=ctx.request_id)
        answer = await ctx.session.send_request(question, _ANSWERS[params.name], metadata=related)
        return said(answer.model_dump_json(by_alias=True, exclude_none=True))
    if params.input_responses is None:
        return types.InputRequiredResult(
            input_requests={"q": question}, request_state=f"state of {params.name}"
        )
    answer = params.input_responses["q"]
    return said(answer.model_dump_json(by_alias=True, exclude_none=True), params.request_state or "")


# Tools that tell something while they run


async def count_up(ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    for step in range(1, 6):
        await ctx.session.report_progress(step, 5, f"step {step}")
    return said("counted")


async def talk(ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    for level in ("debug", "info", "error"):
        await ctx.session.send_log_message(level, {"said": level, "n": [1, 2.50]}, logger="talker")
    return said("talked")


async def hang(ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    try:
        await ctx.session.report_progress(0, 1, "hanging")
        await anyio.sleep_forever()
    finally:
        cancelled.set()
    raise AssertionError


async def tell_cancelled(_ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    with anyio.fail_after(60):
        await cancelled.wait()
    return said("hang was cancelled")


async def touch(ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    if is_modern(ctx):
        await bus.publish(ResourceUpdated(NOTE))
        await bus.publish(ToolsListChanged())
    else:
        await ctx.session.send_resource_updated(NOTE)
        await ctx.session.send_tool_list_changed()
    return said("touched")


# Tools with answers of every kind


async def show_all(_ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(
        content=[
            types.TextContent(text="words ☃ \u2028 \\ /", annotations=types.Annotations(priority=0.5)),
            types.ImageContent(data=_PIXEL, mime_type="image/png"),
            types.AudioContent(data=b64encode(b"RIFF").decode(), mime_type="audio/wav"),
            types.ResourceLink(uri=NOTE, name="today"),
            types.EmbeddedResource(resource=types.TextResourceContents(uri=NOTE, text="a note")),
        ],
        _meta={"example.org/mark": [1, None, {"x": 1e300}]},
    )


async def measure(_ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    return said('{"celsius":21.50}', structured_content={"celsius": 21.5})


async def fail(_ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    if (params.arguments or {}).get("loudly"):
        raise MCPError(-32042, "no such thing", {"why": ["because"]})
    return said("it did not work", is_error=True)


TOOLS: Final[dict[str, Tool]] = {
    **dict.fromkeys(QUESTIONS, ask),
    "count_up": count_up,
    "talk": talk,
    "hang": hang,
    "tell_cancelled": tell_cancelled,
    "touch": touch,
    "show_all": show_all,
    "measure": measure,
    "fail": fail,
}
_SCHEMAS: Final = {"measure": {"type": "object", "properties": {"celsius": {"type": "number"}}}}
_PAGE: Final = 7


async def list_tools(_ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    start = int(params.cursor) if params and params.cursor else 0
    names = list(TOOLS)[start : start + _PAGE]
    tools = [
        types.Tool(
            name=name,
            description=f"The tool {name}.",
            input_schema=_ANY | {"$defs": {"unused": {"const": None}}},
            output_schema=_SCHEMAS.get(name),
            _meta={"example.org/page": start},
        )
        for name in names
    ]
    more = str(start + _PAGE) if start + _PAGE < len(TOOLS) else None
    return types.ListToolsResult(tools=tools, next_cursor=more)


async def call_tool(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    if params.name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name}")
    return await TOOLS[params.name](ctx, params)


# Resources, prompts, completion


async def list_resources(
    _ctx: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[types.Resource(uri=NOTE, name="today", mime_type="text/plain")]
    )


async def list_templates(
    _ctx: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="note://{day}", name="day")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    if params.uri == "note://blob":
        blob = types.BlobResourceContents(uri=params.uri, blob=_PIXEL, mime_type="image/png")
        return types.ReadResourceResult(contents=[blob])
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text="a note\n")])


async def accept(
    _ctx: Context,
    _params: types.SubscribeRequestParams | types.UnsubscribeRequestParams | types.SetLevelRequestParams,
) -> types.EmptyResult:
    return types.EmptyResult()


async def list_prompts(
    _ctx: Context, _params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    argument = types.PromptArgument(name="who", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="greet", arguments=[argument])])


async def get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    if is_modern(ctx) and params.input_responses is None:
        return types.InputRequiredResult(
            input_requests={"user": QUESTIONS["ask_user"]}, request_state="greeting"
        )
    text = types.TextContent(text=f"Hello {(params.arguments or {})['who']}")
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=text)], description="a greeting"
    )


async def complete(_ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [params.argument.value + end for end in ("a", "b")]
    return types.CompleteResult(completion=types.Completion(values=values, total=2, has_more=False))


async def note_roots_changed(_ctx: Context, _params: types.NotificationParams | None) -> None:
    """Nothing to do: that it arrives is what matters."""


class EchoParams(types.RequestParams):
    said: Any = None


async def echo(_ctx: Context, params: EchoParams) -> dict[str, Any]:
    """A method no revision knows."""
    return {"heard": params.said}


def build() -> Server[Any]:
    server: Server[Any] = Server(
        "features",
        version="1.2.3",
        instructions="One of everything.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=accept,
        on_unsubscribe_resource=accept,
        on_subscriptions_listen=ListenHandler(bus),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=accept,
        on_roots_list_changed=note_roots_changed,
    )
    server.add_request_handler("example.org/echo", EchoParams, echo)
    return server


async def main() -> None:
    server = build()
    options = server.create_initialization_options(
        NotificationOptions(tools_changed=True, resources_changed=True)
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, options)


if __name__ == "__main__":
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    sys.exit(anyio.run(main))
