"""Applications that send exactly what a test says, and what every answer must hold to."""

from typing import Any

from brimgate.engine.policy import Policy
from brimgate.rest import BrimgateMiddleware
from tests.rest.serving import Answered

COUNT = Policy().estimator.ceiling


def answer_of(
    data: bytes, content_type: str | None = "application/json", status: int = 200, **headers: str
) -> Any:
    """An application that sends exactly this."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        pairs = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
        if content_type is not None:
            pairs.append((b"content-type", content_type.encode()))
        await send({"type": "http.response.start", "status": status, "headers": pairs})
        for at in range(0, len(data), 65_536):
            await send({"type": "http.response.body", "body": data[at : at + 65_536], "more_body": True})
        await send({"type": "http.response.body"})

    return app


def bounded(app: Any, **options: Any) -> BrimgateMiddleware:
    return BrimgateMiddleware(app, **options)


def check_budget(answer: Answered, budget: int) -> None:
    """The count that is told is that of the bytes that were sent."""
    tokens = COUNT(answer.body)
    assert tokens <= budget
    meta = answer.json.get("meta") or answer.json.get("metadata")
    assert meta["estimatedTokens"] == tokens == int(answer.headers["x-brimgate-estimated-tokens"])
    assert meta["budgetRemaining"] == budget - tokens
    assert meta["budgetUsed"] == round(tokens / budget, 2) == float(answer.headers["x-brimgate-budget-used"])
