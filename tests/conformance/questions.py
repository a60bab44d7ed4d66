"""The tools of the suite that ask the client something."""

from typing import Final

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError

from tests.conformance import asking
from tests.conformance.asking import Context, Questions
from tests.conformance.toolbox import Answer, Toolbox, said

ASKING: Final = Toolbox()
tool = ASKING.tool


async def _asked(ctx: Context, params: types.CallToolRequestParams, *rounds: Questions) -> Answer:
    answers = await asking.ask(ctx, params, *rounds)
    if isinstance(answers, types.InputRequiredResult):
        return answers
    return said("state-ok", *asking.told(answers))


_TEXT: Final = {"type": "string"}
NAME: Final = asking.user("What is your name?", name=_TEXT)
_CONFIRM: Final = asking.user("Please confirm", ok={"type": "boolean"})
CAPITAL: Final = asking.model("What is the capital of France?")
_OPTIONS: Final = ["option1", "option2", "option3"]
_TITLED: Final = [
    {"const": f"value{number}", "title": f"{word} Option"}
    for number, word in enumerate(("First", "Second", "Third"), 1)
]

ROUNDS: Final[dict[str, tuple[Questions, ...]]] = {
    "test_input_required_result_elicitation": ({"user_name": NAME},),
    "test_input_required_result_sampling": ({"capital_question": CAPITAL},),
    "test_input_required_result_list_roots": ({"client_roots": asking.roots()},),
    "test_input_required_result_request_state": ({"confirm": _CONFIRM},),
    "test_input_required_result_tampered_state": ({"confirm": _CONFIRM},),
    "test_streaming_elicitation": ({"user_name": NAME},),
    "test_input_required_result_multiple_inputs": (
        {
            "user_name": NAME,
            "greeting": asking.model("Generate a greeting", 50),
            "client_roots": asking.roots(),
        },
    ),
    "test_input_required_result_multi_round": (
        {"step1": asking.user("Step 1: What is your name?", name=_TEXT)},
        {"step2": asking.user("Step 2: What is your favorite color?", color=_TEXT)},
    ),
    "test_elicitation_sep1034_defaults": (
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
    ),
    "test_elicitation_sep1330_enums": (
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
    ),
}
"""The tools that ask fixed questions, round after round, and tell the answers."""


def person(message: str) -> types.ElicitRequest:
    return asking.user(
        message,
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )


def require_sampling(session: ServerSession) -> None:
    needed = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not session.check_client_capability(needed):
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this tool needs sampling",
            data.model_dump(mode="json", by_alias=True, exclude_none=True),
        )


def possible(able: types.ClientCapabilities | None) -> Questions:
    """Asks only what the client has declared that it can answer."""
    questions: Questions = {}
    if able and able.sampling is not None:
        questions["capital_question"] = CAPITAL
    if able and able.elicitation is not None:
        questions["user_name"] = NAME
    return questions


def _add(name: str, *rounds: Questions) -> None:
    @tool(name)
    async def run(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        return await _asked(ctx, params, *rounds)


for _name, _rounds in ROUNDS.items():
    _add(_name, *_rounds)


@tool("test_sampling", {"prompt": _TEXT}, required=("prompt",))
async def sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    prompt = (params.arguments or {})["prompt"]
    return await _asked(ctx, params, {"answer": asking.model(prompt)})


@tool("test_elicitation", {"message": _TEXT}, required=("message",))
async def elicitation(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    message = (params.arguments or {})["message"]
    return await _asked(ctx, params, {"answer": person(message)})


@tool("test_input_required_result_capabilities")
async def ask_what_is_declared(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return await _asked(ctx, params, possible(ctx.session.client_capabilities))


@tool("test_missing_capability")
async def missing_capability(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    require_sampling(ctx.session)
    return await _asked(ctx, params, {"answer": CAPITAL})
