"""Asks a server directly and through Brimgate, and measures what came of it."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from brimgate.engine.policy import Policy
from tests.relay.conversation import texts
from tests.relay.replies import Result, as_rebuilt, following, rebuild, record_of
from tests.relay.tap import ASKED
from tests.third_parties.servers import Call, Place, Server
from tests.world import tapped, through_brimgate


@dataclass(frozen=True)
class Measure:
    """What became of one large answer."""

    tokens: int
    """Of the answer as the server gives it."""
    first_tokens: int
    """Of the first reply: all that a model reads."""
    budget: int
    replies: int
    is_bounded: bool
    """Whether every reply is within the budget."""
    is_exact: bool
    """Whether the replies put together are the answer."""
    difference: str
    """What first differs, if anything does."""
    called: list[str]
    """The tools that the server was asked for, through Brimgate."""
    wanted: list[str]
    items: int
    """The number of items in the first reply."""
    begins: str
    """How the first reply begins."""

    @property
    def share(self) -> float:
        return self.first_tokens / self.budget

    @property
    def is_complete(self) -> bool:
        """Whether it is all of the answer, or as many items as a page may have."""
        return self.replies == 1 or self.items >= Policy().max_page_size


async def _ask(command: list[str], calls: list[Call]) -> list[Result]:
    """Make the calls in one session and return the results of the last: the first, and what its cursors led to."""
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with asyncio.timeout(240), Client(server, mode="legacy", read_timeout_seconds=120) as client:
        await client.list_tools()  # from here on the client checks answers against the schemas it was told

        async def call(tool: str, arguments: dict[str, Any]) -> Result:
            result = await client.call_tool(tool, arguments)
            told = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            assert not told.get("isError"), told
            return told

        for one in calls[:-1]:
            await call(one.tool, one.arguments)
        results = [await call(calls[-1].tool, calls[-1].arguments)]
        while cursor := following(results[-1]):
            results.append(await call("brimgate_read", {"cursor": cursor}))
        return results


def measure(server: Server, question: str, place: Place, journal: Path) -> Measure:
    calls = server.questions[question](place)
    command = server.command(place)
    (direct,) = asyncio.run(_ask(command, calls))
    through = asyncio.run(_ask(through_brimgate(tapped(command, journal)), calls))
    policy = Policy()
    count = policy.estimator.ceiling
    costs = [count("\n".join(texts(result))) for result in through]
    record = record_of(through[0])
    is_text = record is not None and record["kind"] == "chunk"
    budget = policy.text_budget if is_text else policy.output_token_threshold
    original = [as_rebuilt(text) for text in texts(direct)]
    got = put_together(through)
    return Measure(
        tokens=count("\n".join(texts(direct))),
        first_tokens=costs[0],
        budget=budget,
        replies=len(through),
        is_bounded=max(costs) <= budget,
        is_exact=got == original,
        difference=_difference(b"\0".join(original), b"\0".join(got)),
        called=_called(journal),
        wanted=[call.tool for call in calls],
        items=record["shown"].get("items", 0) if record and "shown" in record else 0,
        begins="\n".join(texts(through[0]))[:600],
    )


def put_together(results: list[Result]) -> list[bytes]:
    """Return the text blocks of the answer behind the replies: those that came at once, and what was walked."""
    record = record_of(results[0])
    if record is None:
        return [as_rebuilt(text) for text in texts(results[0])]
    walked = rebuild(results)
    at = record.get("payloadBlock", 1)
    shown = results[0]["content"]
    around = [
        (number, block["text"]) for number, block in enumerate(shown) if block["type"] == "text" and number
    ]
    if len(around) == 1 and walked.startswith(b'{"content":['):
        blocks = json.loads(walked)["content"]  # several heavy texts were held as one document
        told = [
            block["text"] if isinstance(block["text"], str) else json.dumps(block["text"]) for block in blocks
        ]
        return [as_rebuilt(text) for text in told]
    return [walked if number == at else as_rebuilt(text) for number, text in around]


def _difference(original: bytes, got: bytes) -> str:
    if original == got:
        return ""
    pairs = enumerate(zip(original, got, strict=False))
    at = next((at for at, (left, right) in pairs if left != right), min(len(original), len(got)))
    return f"at byte {at}: {original[at - 20 : at + 60]!r} became {got[at - 20 : at + 60]!r}"


def _called(journal: Path) -> list[str]:
    messages = (json.loads(line) for line in (journal / ASKED).read_bytes().splitlines())
    return [message["params"]["name"] for message in messages if message.get("method") == "tools/call"]
