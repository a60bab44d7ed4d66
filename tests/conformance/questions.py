"""The tools of the suite that ask the client something."""

from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tests.conformance import asking
from tests.conformance.asking import Context, Questions
from tests.conformance.toolbox import Answer, Toolbox, said

ASKING: Final = Toolbox()
tool = ASKING.tool


def _asks(name: str, *rounds: Questions) -> None:
    """A tool that asks fixed questions, and tells the answers."""

    @tool(name)
    async def run(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        return await _asked(ctx, params, *rounds)


async def _asked(ctx: Context, params: types.CallToolRequestParams, *rounds: Questions) -> Answer:
    answers = await asking.ask(ctx, params, *rounds)
    if isinstance(answers, types.InputRequiredResult):
        return answers
    told = (answer.model_dump_json(by_alias=True, exclude_none=True) for answer in answers.values())
    return said("state-ok", *told)


_TEXT: Final = {"type": "string"}
_NAME: Final = asking.user("What is your name?", name=_TEXT)
_CONFIRM: Final = asking.user("Please confirm", ok={"type": "boolean"})
_CAPITAL: Final = asking.model("What is the capital of France?")
_OPTIONS: Final = ["option1", "option2", "option3"]
_TITLED: Final = [
    {"const": f"value{number}", "title": f"{word} Option"}
    for number, word in enumerate(("First", "Second", "Third"), 1)
]

_asks("test_input_required_result_elicitation", {"user_name": _NAME})
_asks("test_input_required_result_sampling", {"capital_question": _CAPITAL})
_asks("test_input_required_result_list_roots", {"client_roots": asking.roots()})
_asks("test_input_required_result_request_state", {"confirm": _CONFIRM})
_asks("test_input_required_result_tampered_state", {"confirm": _CONFIRM})
_asks("test_streaming_elicitation", {"user_name": _NAME})
_asks(
    "test_input_required_result_multiple_inputs",
    {
        "user_name": _NAME,
        "greeting": asking.model("Generate a greeting", 50),
        "client_roots": asking.roots(),
    },
)
_asks(
    "test_input_required_result_multi_round",
    {"step1": asking.user("Step 1: What is your name?", name=_TEXT)},
    {"step2": asking.user("Step 2: What is your favorite color?", color=_TEXT)},
)
_asks(
    "test_elicitation_sep1034_defaults",
    {
        "details": asking.user(
            "Please check these details",
            required=False,
            name={"type": "string", "default": "John Doe"},
            age={"type": "integer", "default": 30},
            score={"type": "number", "default": 95.5},
            status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            verified={"type": "boolean", "default": True},
        )
    },
)
_asks(
    "test_elicitation_sep1330_enums",
    {
        "choices": asking.user(
            "Please choose",
            required=False,
            untitledSingle={"type": "string", "enum": _OPTIONS},
            titledSingle={"type": "string", "oneOf": _TITLED},
            legacyEnum={
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            untitledMulti={"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
            titledMulti={"type": "array", "items": {"anyOf": _TITLED}},
        )
    },
)


@tool("test_sampling", {"prompt": _TEXT}, required=["prompt"])
async def sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    prompt = (params.arguments or {})["prompt"]
    return await _asked(ctx, params, {"answer": asking.model(prompt)})


@tool("test_elicitation", {"message": _TEXT}, required=["message"])
async def elicitation(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    message = (params.arguments or {})["message"]
    question = asking.user(
        message,
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return await _asked(ctx, params, {"answer": question})


@tool("test_input_required_result_capabilities")
async def ask_what_is_declared(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    able = ctx.session.client_capabilities or types.ClientCapabilities()
    questions: Questions = {}
    if able.sampling is not None:
        questions["capital_question"] = _CAPITAL
    if able.elicitation is not None:
        questions["user_name"] = _NAME
    return await _asked(ctx, params, questions)


@tool("test_missing_capability")
async def missing_capability(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    needed = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not ctx.session.check_client_capability(needed):
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this tool needs sampling",
            data.model_dump(mode="json", by_alias=True, exclude_none=True),
        )
    return await _asked(ctx, params, {"answer": _CAPITAL})
