"""Asking the client for something: by a request in the handshake era, by returning `input_required` in 2026-07-28."""

import hashlib
import hmac
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

Context = ServerRequestContext[Any, Any]
Questions = dict[str, types.InputRequest]
Answers = dict[str, types.InputResponse]

# Fixed, so that any process of the fixture takes up what another began.
_KEY: Final = b"a fixture has no secrets"
_ANSWER_TYPES: Final[dict[str, type[types.InputResponse]]] = {
    "sampling/createMessage": types.CreateMessageResult,
    "elicitation/create": types.ElicitResult,
    "roots/list": types.ListRootsResult,
}


def is_modern(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def model(prompt: str, max_tokens: int = 100) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


def user(message: str, *, required: bool = True, **properties: Any) -> types.ElicitRequest:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(properties)
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def roots() -> types.ListRootsRequest:
    return types.ListRootsRequest()


async def ask(
    ctx: Context, params: types.InputResponseRequestParams, *rounds: Questions
) -> Answers | types.InputRequiredResult:
    """The answers to the last round, or what the client is to be told so that it answers the next one."""
    if not is_modern(ctx):
        return await send_all(ctx.session, ctx.request_id, rounds)
    asked = _unseal(params.request_state, len(rounds)) if params.request_state else 0
    given = params.input_responses or {}
    if not answers_fit(rounds[asked], given):
        return _require(rounds, asked)
    return given if asked + 1 == len(rounds) else _require(rounds, asked + 1)


async def send_all(
    session: ServerSession, call: types.RequestId | None, rounds: tuple[Questions, ...]
) -> Answers:
    """Asks by requests that belong to a call, and gives back the answers to the last round."""
    related = ServerMessageMetadata(related_request_id=call)
    answers: Answers = {}
    for questions in rounds:
        answers = {
            key: await session.send_request(question, _ANSWER_TYPES[question.method], metadata=related)
            for key, question in questions.items()
        }
    return answers


def answers_fit(questions: Questions, given: Answers) -> bool:
    return all(
        isinstance(given.get(key), _ANSWER_TYPES[question.method]) for key, question in questions.items()
    )


def told(answers: Answers) -> list[str]:
    return [answer.model_dump_json(by_alias=True, exclude_none=True) for answer in answers.values()]


def _require(rounds: tuple[Questions, ...], index: int) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=rounds[index], request_state=_seal(index))


def _seal(index: int) -> str:
    text = str(index)
    return f"{text}.{hmac.new(_KEY, text.encode(), hashlib.sha256).hexdigest()}"


def _unseal(state: str, rounds: int) -> int:
    text = state.partition(".")[0]
    if not (text.isdecimal() and int(text) < rounds and hmac.compare_digest(_seal(int(text)), state)):
        raise MCPError(types.INVALID_PARAMS, "this requestState is not ours")
    return int(text)
