"""The resources and prompts that the scenarios of the suite read, and completion, on FastMCP."""

import json
from base64 import b64decode
from collections.abc import Callable
from typing import Any, Final

import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.prompts import Message, PromptResult

from tests.conformance import asking
from tests.conformance.fastmcp_tools import Run, ask
from tests.conformance.library import BINARY, CONTEXT, TEMPLATE, TEXTS
from tests.conformance.tools import PIXEL, embedded, image

_Prompted = PromptResult | types.InputRequiredResult
_PLAIN: Final = "text/plain"


def add_library(server: FastMCP[Any]) -> None:
    for uri in TEXTS:
        _add_text(server, uri)

    @server.resource(BINARY, mime_type="image/png")
    async def static_binary() -> bytes:
        return b64decode(PIXEL)

    @server.resource(TEMPLATE, mime_type="application/json")
    async def template(id: str) -> str:  # noqa: A002
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    _add_prompts(server)

    @server.completion
    async def complete(_ref: Any, argument: types.CompletionArgument, _context: Any) -> types.Completion:
        values = [argument.value + end for end in ("-one", "-two")]
        return types.Completion(values=values, total=2, has_more=False)


def _add_text(server: FastMCP[Any], uri: str) -> None:
    @server.resource(uri, name=uri, mime_type=_PLAIN)
    async def read() -> str:
        return TEXTS[uri]


def _prompt(server: FastMCP[Any], name: str) -> Callable[[Run], Any]:
    return server.prompt(name=name, description=f"Prompt of the conformance fixture: {name}.")


def _prompted(*blocks: Any) -> PromptResult:
    return PromptResult([Message(block) for block in blocks])


def _add_prompts(server: FastMCP[Any]) -> None:
    @_prompt(server, "test_simple_prompt")
    async def test_simple_prompt() -> PromptResult:
        return _prompted("This is a simple prompt for testing.")

    @_prompt(server, "test_prompt_with_arguments")
    async def test_prompt_with_arguments(arg1: str, arg2: str) -> PromptResult:
        return _prompted(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")

    @_prompt(server, "test_prompt_with_embedded_resource")
    async def with_embedded_resource(resourceUri: str) -> PromptResult:  # noqa: N803
        block = embedded(resourceUri, "Embedded resource content for testing.")
        return _prompted(block, "Please process the embedded resource above.")

    @_prompt(server, "test_prompt_with_image")
    async def test_prompt_with_image() -> PromptResult:
        return _prompted(image(), "Please analyze the image above.")

    @_prompt(server, "test_input_required_result_prompt")
    async def test_input_required_result_prompt(ctx: Context) -> _Prompted:
        answers = await ask(ctx, {"user_context": CONTEXT})
        if isinstance(answers, types.InputRequiredResult):
            return answers
        return _prompted(asking.told(answers)[0])
