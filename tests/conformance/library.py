"""The resources and prompts that the scenarios of the suite read, and completion."""

import json
import re
from typing import Any, Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tests.conformance import asking
from tests.conformance.asking import Context
from tests.conformance.tools import PIXEL, embedded, image

_TEXT: Final = "test://static-text"
BINARY: Final = "test://static-binary"
_WATCHED: Final = "test://watched-resource"
TEMPLATE: Final = "test://template/{id}/data"
_FROM_TEMPLATE: Final = re.compile(r"test://template/([^/]+)/data")
TEXTS: Final = {
    _TEXT: "This is the content of the static text resource.",
    _WATCHED: "This resource can be watched.",
}


async def list_resources(
    _ctx: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    texts = [types.Resource(uri=uri, name=uri, mime_type="text/plain") for uri in TEXTS]
    binary = types.Resource(uri=BINARY, name=BINARY, mime_type="image/png")
    return types.ListResourcesResult(resources=[*texts, binary])


async def list_templates(
    _ctx: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template=TEMPLATE, name="template", mime_type="application/json")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    return types.ReadResourceResult(contents=[_contents(uri)])


def _contents(uri: str) -> types.TextResourceContents | types.BlobResourceContents:
    if uri == BINARY:
        return types.BlobResourceContents(uri=uri, blob=PIXEL, mime_type="image/png")
    if uri in TEXTS:
        return types.TextResourceContents(uri=uri, text=TEXTS[uri], mime_type="text/plain")
    if match := _FROM_TEMPLATE.fullmatch(uri):
        text = json.dumps({"id": match[1], "templateTest": True, "data": f"Data for ID: {match[1]}"})
        return types.TextResourceContents(uri=uri, text=text, mime_type="application/json")
    raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})


async def accept(
    _ctx: Context,
    _params: types.SubscribeRequestParams | types.UnsubscribeRequestParams | types.SetLevelRequestParams,
) -> types.EmptyResult:
    return types.EmptyResult()


_PROMPTS: Final[dict[str, tuple[str, ...]]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}
CONTEXT: Final = asking.user("What context should the prompt use?", context={"type": "string"})


async def list_prompts(
    _ctx: Context, _params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=f"Prompt of the conformance fixture: {name}.",
                arguments=[types.PromptArgument(name=argument, required=True) for argument in arguments],
            )
            for name, arguments in _PROMPTS.items()
        ]
    )


async def get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    if params.name != "test_input_required_result_prompt":
        return _prompted(*_blocks(params.name, params.arguments or {}))
    answers = await asking.ask(ctx, params, {"user_context": CONTEXT})
    if isinstance(answers, types.InputRequiredResult):
        return answers
    return _prompted(types.TextContent(text=asking.told(answers)[0]))


def _prompted(*blocks: types.ContentBlock) -> types.GetPromptResult:
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=block) for block in blocks]
    )


def _blocks(name: str, arguments: dict[str, Any]) -> list[types.ContentBlock]:
    match name:
        case "test_simple_prompt":
            return [types.TextContent(text="This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            given = ", ".join(f"{key}='{arguments.get(key, '')}'" for key in _PROMPTS[name])
            return [types.TextContent(text=f"Prompt with arguments: {given}")]
        case "test_prompt_with_embedded_resource":
            block = embedded(arguments.get("resourceUri", ""), "Embedded resource content for testing.")
            return [block, types.TextContent(text="Please process the embedded resource above.")]
        case "test_prompt_with_image":
            return [image(), types.TextContent(text="Please analyze the image above.")]
        case _:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {name}")


async def complete(_ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [params.argument.value + end for end in ("-one", "-two")]
    return types.CompleteResult(completion=types.Completion(values=values, total=2, has_more=False))
