"""One decider: whatever path an answer takes, the engine decides about it, and equal policies decide alike.

Paths differ in their presets, which are options of the policy: REST writes plain JSON and always pages, `call` writes
the cheapest form without a notice. So each cell is decided under all three policies (as configured, with the preset of
REST, with that of `call`), on every path that can have such a policy.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("fastmcp", reason="FastMCP is not installed")

import mcp_types as mt
from anyio.from_thread import start_blocking_portal
from fastmcp import Client, FastMCP
from fastmcp.tools.base import Tool, ToolResult
from pydantic import PrivateAttr

from brimgate.cli.calls.answer_text import Called, present
from brimgate.cli.output import READ_COMMAND
from brimgate.engine.decision import Decision, decide, item_count, outcome_of
from brimgate.engine.document import Document
from brimgate.engine.policy import Policy, Rules, ToolRule
from brimgate.engine.replies.rest_reply import rest_policy
from brimgate.fastmcp import BrimgateMiddleware
from brimgate.rest import BrimgateMiddleware as RestMiddleware
from tests.answer_shapes import ITEM_FIELDS, OBJECT_FIELDS, OTHER_FIELDS, SHAPES
from tests.fastmcp.talking import Talk
from tests.in_process import Here
from tests.relay.conversation import Conversation, policy
from tests.rest.serving import Served, serve_alone

Fields = dict[str, object]
FIELDS: Final = {"": (), "items": ITEM_FIELDS, "object": OBJECT_FIELDS, "other": OTHER_FIELDS}
BUDGETS: Final[dict[str, Callable[..., Policy]]] = {
    "400": lambda **options: policy(400, **options),
    "1000": lambda **options: policy(1_000, **options),
    "4000": lambda **options: policy(4_000, **options),
    "usual": Policy,
}
"""The usual budgets of lists, objects and texts differ from one another."""
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "": {},
    "no_pages": {"enable_pagination": False},
    "no_previews": {"enable_summarization": False},
    "neither": {"enable_pagination": False, "enable_summarization": False},
    "compact": {"compact": "always"},
    "as_json": {"format": "json"},
    "plain": {"highlights": False},
    "bare": {"strip_vectors": False, "strip_empty": True, "strip_fields": ("note", "summary", "img*")},
    "pages_of_7": {"default_page_size": 7},
    "low_cap": {"hard_output_token_cap": 2_500, "enable_pagination": False},
}


@dataclass(frozen=True)
class Cell:
    shape: str
    fields: str
    budget: str
    option: str

    @property
    def answer(self) -> bytes:
        return SHAPES[self.shape]

    @property
    def policy(self) -> Policy:
        return BUDGETS[self.budget](fields=FIELDS[self.fields], **OPTIONS[self.option])

    def __str__(self) -> str:
        return "-".join(part for part in (self.shape, self.budget, self.fields, self.option) if part)


def _cells() -> Iterator[Cell]:
    """Every shape with every budget, map and option, though not all of them at once."""
    for shape in SHAPES:
        if near := shape.partition("_of_")[2]:
            budget = near if near in BUDGETS else "usual"
            yield from (Cell(shape, "", budget, option) for option in ("", "compact"))
            yield Cell(shape, "", "1000", "low_cap")
            continue
        fitting = "object" if "object" in shape or "house" in shape else "items"
        yield from (Cell(shape, "", budget, "") for budget in BUDGETS)
        yield from (Cell(shape, fields, "usual", "") for fields in [*FIELDS][1:])
        yield Cell(shape, fitting, "400", "")
        yield from (Cell(shape, "", "1000", option) for option in [*OPTIONS][1:])
        yield from (Cell(shape, fitting, "usual", option) for option in ("no_pages", "no_previews"))


_QUICK: Final = 4
"""Every so many cells of the table are quick; the others take half a minute more."""
CELLS: Final = [
    pytest.param(cell, id=str(cell), marks=[] if at % _QUICK == 0 else [pytest.mark.slow])
    for at, cell in enumerate(_cells())
]


def with_preset_of_call(given: Policy) -> Policy:
    return replace(given, read_tool=READ_COMMAND, compact="always", has_notices=False)


PRESETS: Final[dict[str, Callable[[Policy], Policy]]] = {
    "as configured": lambda given: given,
    "as REST": rest_policy,
    "as call": with_preset_of_call,
}


class _Asked(Rules):
    """What is asked next, on the paths that are set up once: an answer, and the rule for it."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = b""
        self.rule = ToolRule()
        self.told: list[Decision] = []

    def of(self, tool: str) -> ToolRule:
        return self.rule

    def next(self, answer: bytes, given: Policy) -> None:
        self.answer, self.rule = answer, ToolRule(given)
        self.told.clear()

    def fields(self) -> Fields:
        """The one decision that was told."""
        (decision,) = self.told
        return decision.fields()


class _Telling(Tool):
    _asked: _Asked = PrivateAttr()

    @classmethod
    def what(cls, asked: _Asked) -> "_Telling":
        tool = cls(name="tell", parameters={"type": "object"})
        tool._asked = asked
        return tool

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult.from_mcp_result(mt.CallToolResult.model_validate(tool_result(self._asked.answer)))


def tool_result(answer: bytes) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": answer.decode()}]}


def _rest_app(asked: _Asked) -> RestMiddleware:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        kind = b"application/json" if is_json(asked.answer) else b"text/plain; charset=utf-8"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": asked.answer})

    protected = RestMiddleware(app, report=asked.told.append)
    protected.rules = asked.of
    return protected


def is_json(answer: bytes) -> bool:
    try:
        json.loads(answer)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Running:
    """The paths that are set up once for all cells."""

    of_rest: _Asked
    served: Served
    of_fastmcp: _Asked
    talk: Talk


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    of_rest, of_fastmcp = _Asked(), _Asked()
    server = FastMCP("telling", middleware=[BrimgateMiddleware(of_fastmcp, report=of_fastmcp.told.append)])
    server.add_tool(_Telling.what(of_fastmcp))
    with (
        serve_alone(_rest_app(of_rest)) as served,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        yield Running(of_rest, served, of_fastmcp, Talk(portal, client))


class Paths:
    """Every path, asked for its decision about one answer under one policy."""

    def __init__(self, running: Running, here: Here, capture: "pytest.CaptureFixture[bytes]") -> None:
        self._running, self._here, self._capture = running, here, capture

    def relay(self, answer: bytes, given: Policy) -> Fields:
        conversation = Conversation(ToolRule(given))
        conversation.call(tool_result(answer))
        (decision,) = conversation.decisions
        return decision.fields()

    def fastmcp(self, answer: bytes, given: Policy) -> Fields:
        self._running.of_fastmcp.next(answer, given)
        self._running.talk.use("tell")
        return self._running.of_fastmcp.fields()

    def rest(self, answer: bytes, given: Policy) -> Fields:
        self._running.of_rest.next(answer, given)
        assert self._running.served.ask("/answer").status == 200
        return self._running.of_rest.fields()

    def call(self, answer: bytes, given: Policy) -> Fields:
        """`brimgate call` from where the server has answered."""
        self._capture.readouterr()
        options = argparse.Namespace(
            raw=False, json=False, query=None, quiet=True, metrics=False, metrics_file=None, log_level="debug"
        )
        result = json.dumps(tool_result(answer)).encode()
        assert present(Called("tell", {}, result, given), options) == 0
        return logged(self._capture.readouterr()[1])

    def reduce(self, answer: bytes, options: Sequence[str]) -> Fields:
        log = {"BRIMGATE_LOG_LEVEL": "debug", "BRIMGATE_LOG_FORMAT": "json"}
        ended = self._here("reduce", "-", *options, stdin=answer, **log)
        assert ended.returncode == 0, ended.stderr
        return logged(ended.stderr)


def logged(log: bytes) -> Fields:
    """The one decision in a log."""
    lines = [json.loads(line) for line in log.splitlines()]
    (decision,) = [line for line in lines if line["event"] == "decision"]
    return {name: value for name, value in decision.items() if name not in ("time", "level", "event")}


@pytest.fixture
def paths(
    running: Running,
    here: Here,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Paths:
    monkeypatch.setenv("BRIMGATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("BRIMGATE_LOG_FORMAT", "json")
    return Paths(running, here, capfdbinary)


def compared(decision: Fields) -> Fields:
    """What is decided, and about what: equal on all paths under one policy."""
    return {name: decision[name] for name in ("outcome", "itemCount", "originalTokens", "estimateMethod")}


def as_written(decision: Fields) -> Fields:
    """What is equal where the reply is written by the same hand as well."""
    names = ("itemsShown", "cursorIssued", "cursorFollowed")
    return compared(decision) | {name: decision[name] for name in names}


def expected(answer: bytes, given: Policy) -> Fields:
    document = Document(answer)
    return {
        "outcome": outcome_of(decide(document, given)),
        "itemCount": item_count(document, given),
        "originalTokens": document.tokens(given.estimator),
        "estimateMethod": given.estimator.family,
    }


def flags_of(cell: Cell) -> list[str] | None:
    """The options of `reduce` that mean the same, or None if it has none for that."""
    budget = [] if cell.budget == "usual" else ["--budget", cell.budget]
    known = {"": [], "plain": ["--highlights", "off"], "pages_of_7": ["--limit", "7"]}
    chosen = known.get(cell.option)
    return None if cell.fields or chosen is None else [*budget, *chosen]


@pytest.mark.parametrize("cell", CELLS)
def test_every_path_decides_as_the_engine_does(cell: Cell, paths: Paths) -> None:
    answer = cell.answer
    found: dict[str, tuple[Fields, Fields]] = {}
    for preset, with_preset in PRESETS.items():
        given = with_preset(cell.policy)
        wanted = expected(answer, given)
        by_relay = paths.relay(answer, given)
        found[f"relay {preset}"] = compared(by_relay), wanted
        if preset != "as call":
            by_fastmcp = paths.fastmcp(answer, given)
            found[f"FastMCP and relay {preset}"] = as_written(by_fastmcp), as_written(by_relay)
        found[f"call {preset}"] = compared(paths.call(answer, given)), wanted
    found["REST"] = compared(paths.rest(answer, cell.policy)), expected(answer, rest_policy(cell.policy))
    if (flags := flags_of(cell)) is not None:
        found["reduce"] = compared(paths.reduce(answer, flags)), expected(answer, cell.policy)
    assert {path: differing(*both) for path, both in found.items() if both[0] != both[1]} == {}


def differing(told: Fields, wanted: Fields) -> dict[str, tuple[object, object]]:
    return {name: (told[name], wanted[name]) for name in told if told[name] != wanted[name]}
