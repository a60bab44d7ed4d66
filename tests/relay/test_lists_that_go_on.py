"""Lists that a server in our own process has begun to fetch: more of them comes as they are read."""

import asyncio
import json
from typing import Any

import pytest

from brimgate.engine.cursor import KeyRing
from brimgate.engine.policy import Policy, Rules, ToolRule
from brimgate.errors import ClientError, UpstreamError
from brimgate.hold.live_lists import TICKET, ClaimTickets, ListState
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore
from brimgate.relay.actions import Action, Decided, ToClient, Wait, with_work_done
from brimgate.relay.session import Session
from tests.relay.conversation import KEY, NOW, GivenProtection


class Growing:
    """A list of numbered items that comes in pages, and may end early or not at all."""

    is_total_known = True
    page = 0
    pointer = "/result"

    def state(self) -> ListState:
        return ListState(self.data, self.total, self.is_total_known, self.is_complete)

    def __init__(self, total: int, size: int = 20, ends_at: int | None = None) -> None:
        self.total, self._size, self._ends_at = total, size, ends_at
        self.held = min(size, total)
        self.asked: list[int] = []
        self.trouble: Exception | None = None

    @property
    def data(self) -> bytes:
        items = [{"id": at, "name": f"item {at}", "note": "x" * 40} for at in range(self.held)]
        return json.dumps({"count": self.total, "result": items}, separators=(",", ":")).encode()

    @property
    def is_complete(self) -> bool:
        return self.held >= self.total

    async def reach(self, count: int) -> None:
        self.asked.append(count)
        if self.trouble is not None:
            raise self.trouble
        while self.held < min(count, self.total):
            self.held = min(self.held + self._size, self.total)
            if self._ends_at is not None and self.held >= self._ends_at:
                self.held = self.total = self._ends_at


class Talk:
    """A session whose driver waits for what it is told to wait for."""

    def __init__(self, **changes: Any) -> None:
        rule = ToolRule(Policy(highlights=False, default_page_size=10), **changes)
        protection = self.protection = Protection(rule.policy, KeyRing(KEY), MemoryStore())
        self.tickets = ClaimTickets()
        self.now = NOW
        self.session = Session(
            Rules(lambda _: rule), GivenProtection(protection), lambda: self.now, tickets=self.tickets
        )
        self._id = 0

    def ask(self, tool: str, **arguments: Any) -> list[Action]:
        self._id += 1
        params = {"name": tool, "arguments": arguments}
        line = {"jsonrpc": "2.0", "id": self._id, "method": "tools/call", "params": params}
        return self.session.from_client(json.dumps(line).encode())

    def first(self, live_list: Growing) -> dict[str, Any]:
        self.ask("list_things")
        result = {
            "content": [{"type": "text", "text": "[]"}],
            "_meta": {TICKET: self.tickets.give(live_list)},
        }
        line = {"jsonrpc": "2.0", "id": self._id, "result": result}
        return self.done(self.session.from_upstream(json.dumps(line).encode()))

    def read(self, **arguments: Any) -> dict[str, Any]:
        return self.done(self.ask("brimgate_read", **arguments))

    def done(self, actions: list[Action]) -> dict[str, Any]:
        while any(isinstance(action, Wait) for action in actions):
            actions = with_work_done([after for action in actions for after in self._waited(action)])
        (answer,) = [json.loads(bytes(one.data)) for one in actions if isinstance(one, ToClient)]
        return answer["result"]

    def _waited(self, action: Action) -> list[Action]:
        if not isinstance(action, Wait):
            return [action]
        try:
            asyncio.run(_awaited(action))
        except (UpstreamError, ClientError) as error:
            return action.failed(error)
        return action.then()


async def _awaited(wait: Wait) -> None:
    await wait.until()


def record(result: dict[str, Any]) -> dict[str, Any]:
    return result["_meta"]["brimgate/result"]


def test_the_first_page_tells_the_true_total_and_needs_one_item_more_than_it_shows() -> None:
    live_list = Growing(500)
    result = Talk().first(live_list)
    assert "items #0-9 of 500" in result["content"][0]["text"]
    assert record(result)["total"]["items"] == 500 and "nextCursor" in record(result)
    assert live_list.asked == [11] and live_list.held == 20, "no page was fetched for nothing"


def test_whoever_follows_the_cursors_gets_every_item_once_and_none_is_fetched_before_its_time() -> None:
    live_list, talk = Growing(105), Talk()
    result, seen, fetched = talk.first(live_list), list[int](), list[int]()
    while True:
        seen.append(record(result)["shown"]["items"])
        fetched.append(live_list.held)
        cursor = record(result).get("nextCursor")
        if cursor is None:
            break
        result = talk.read(cursor=cursor)
        assert not result.get("isError")
    assert sum(seen) == 105 and max(seen) == 10
    assert fetched[:3] == [20, 40, 40] and fetched[-1] == 105


def test_a_walk_through_all_of_it_goes_on_over_what_was_fetched_since() -> None:
    live_list, talk = Growing(60), Talk()
    result = talk.first(live_list)
    cursor, ids = record(result)["nextCursor"], list[int]()
    result = talk.read(cursor=cursor, fields="id", format="json", limit=7)
    while True:
        ids += [item["id"] for item in json.loads(result["content"][1]["text"].partition("\n")[2])]
        cursor = record(result).get("nextCursor")
        if cursor is None:
            break
        result = talk.read(cursor=cursor)
    assert ids == list(range(60))


def test_a_path_and_pages_and_a_search_have_what_they_need_fetched() -> None:
    live_list, talk = Growing(300), Talk()
    cursor = record(talk.first(live_list))["nextCursor"]
    assert "item 130" in talk.read(cursor=cursor, path="/result/130")["content"][1]["text"]
    assert live_list.held == 140
    several = talk.read(cursor=cursor, pages="15-16")
    assert "items #140-159 of 300" in several["content"][0]["text"] and live_list.held == 180
    found = talk.read(cursor=cursor, search='"item 299"')
    assert "item 299" in found["content"][1]["text"] and live_list.is_complete


def test_a_query_is_over_all_of_it() -> None:
    live_list, talk = Growing(300), Talk()
    cursor = record(talk.first(live_list))["nextCursor"]
    asked = talk.read(cursor=cursor, query="SELECT count(*) AS items, max(id) AS last FROM t", format="json")
    assert json.loads(asked["content"][1]["text"]) == [{"items": 300, "last": 299}] and live_list.is_complete
    assert "query over t (300 rows)" in asked["content"][0]["text"]


def test_a_list_that_ends_before_its_time_says_so_by_its_end() -> None:
    live_list, talk = Growing(100, ends_at=25), Talk()
    result, shown = talk.first(live_list), 0
    while True:
        shown += record(result)["shown"]["items"]
        if "nextCursor" not in record(result):
            break
        result = talk.read(cursor=record(result)["nextCursor"])
    assert shown == 25 and record(result)["total"]["items"] == 25


def test_what_cannot_be_fetched_is_an_error_and_the_cursor_stays_good() -> None:
    live_list, talk = Growing(100), Talk()
    result = talk.read(cursor=record(talk.first(live_list))["nextCursor"])
    cursor = record(result)["nextCursor"]
    live_list.trouble = UpstreamError("it does not answer: try again")
    failed = talk.read(cursor=cursor)
    assert failed["isError"] and failed["content"][0]["text"] == "it does not answer: try again"
    live_list.trouble = None
    assert "items #20-29 of 100" in talk.read(cursor=cursor)["content"][0]["text"]


def test_a_list_that_is_all_here_and_fits_goes_out_as_it_is() -> None:
    live_list = Growing(8)
    result = Talk().first(live_list)
    assert result == {"content": [{"type": "text", "text": live_list.data.decode()}]}


def test_whoever_is_not_protected_gets_all_of_it() -> None:
    live_list = Growing(90)
    result = Talk(enabled=False).first(live_list)
    assert len(json.loads(result["content"][0]["text"])["result"]) == 90


class Endless(Growing):
    """Nobody says how many there are: as many as are here, and one more."""

    is_total_known = False

    def __init__(self, there: int) -> None:
        super().__init__(there)
        self._there, self.total = there, self.held + 1

    @property
    def is_complete(self) -> bool:
        return self.held >= self._there

    async def reach(self, count: int) -> None:
        while self.held < count and not self.is_complete:
            self.held = min(self.held + 20, self._there)
        self.total = self.held if self.is_complete else self.held + 1


def test_a_total_that_nobody_tells_is_not_made_up() -> None:
    talk = Talk()
    result = talk.first(Endless(150))
    assert "items #0-9 of more than 20" in result["content"][0]["text"]
    assert "items" not in record(result)["total"]
    found = talk.read(cursor=record(result)["nextCursor"], search='"item 149"')
    assert "item 149" in found["content"][1]["text"], "a search has all of it fetched"
    shown = talk.read(cursor=record(result)["nextCursor"], fields="id", limit=200)
    assert "of 150" in shown["content"][0]["text"]
    assert len(json.loads(Talk(enabled=False).first(Endless(150))["content"][0]["text"])["result"]) == 150


def test_a_list_that_goes_on_is_what_an_answer_is_about_however_light_it_is() -> None:
    class Beside(Growing):
        """Something heavier stands beside the list."""

        @property
        def data(self) -> bytes:
            facets = {"facets": ["x" * 50] * 55}
            return json.dumps(facets | json.loads(super().data), separators=(",", ":")).encode()

    talk = Talk()
    result, shown = talk.first(Beside(100)), 0
    for _ in range(20):
        shown += record(result)["shown"].get("items", 0)
        cursor = record(result).get("nextCursor")
        if cursor is None or shown >= 100:
            break
        result = talk.read(cursor=cursor)
    assert record(result)["total"].get("items", 100) == 100


def test_a_beginning_whose_rest_is_held_no_more_is_no_whole() -> None:
    talk = Talk()
    cursor = record(talk.first(Growing(100)))["nextCursor"]
    talk.protection.live_lists._known.clear()
    failed = talk.read(cursor=cursor)
    assert failed["isError"] and "run the tool again" in failed["content"][0]["text"]


def test_two_answers_that_begin_alike_are_two() -> None:
    talk = Talk()
    one, other = Growing(100), Growing(200)
    first, second = record(talk.first(one))["nextCursor"], record(talk.first(other))["nextCursor"]
    for _ in range(3):
        told = talk.read(cursor=first)
        first = record(told)["nextCursor"]
        assert "of 100" in told["content"][0]["text"]
    assert "items #10-19 of 200" in talk.read(cursor=second)["content"][0]["text"]


def test_an_expired_cursor_fetches_nothing() -> None:
    live_list, talk = Growing(100), Talk()
    cursor = record(talk.first(live_list))["nextCursor"]
    asked = len(live_list.asked)
    talk.now += 3_600
    failed = talk.read(cursor=cursor)
    assert failed["isError"] and "invalid or expired cursor" in failed["content"][0]["text"]
    assert len(live_list.asked) == asked


def test_in_a_batch_what_would_have_to_be_waited_for_is_refused() -> None:
    talk = Talk()
    cursor = record(talk.first(Growing(100)))["nextCursor"]
    call = {"name": "brimgate_read", "arguments": {"cursor": cursor}}
    batch = [{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}]
    decided, answer = talk.session.from_client(json.dumps(batch).encode())
    assert isinstance(decided, Decided) and decided.decision.outcome == "refused"
    assert isinstance(answer, ToClient)
    (one,) = json.loads(bytes(answer.data))
    assert one["result"]["isError"] and "send it alone" in one["result"]["content"][0]["text"]


def test_an_answer_that_was_handed_over_and_is_gone_is_an_error() -> None:
    talk = Talk()
    talk.ask("list_things")
    result = {"content": [{"type": "text", "text": ""}], "_meta": {TICKET: "gone"}}
    told = talk.done(
        talk.session.from_upstream(json.dumps({"id": 1, "jsonrpc": "2.0", "result": result}).encode())
    )
    assert told["isError"] and "run the tool again" in told["content"][0]["text"]


@pytest.mark.parametrize("token", ["", 7, None])
def test_a_token_nobody_gave_is_nothing(token: object) -> None:
    talk = Talk()
    talk.ask("list_things")
    result = {"content": [{"type": "text", "text": "hello"}], "_meta": {TICKET: token}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
    decided, answer = talk.session.from_upstream(line)
    assert isinstance(answer, ToClient)
    assert json.loads(answer.data)["result"] == result | {"_meta": {}}  # nobody but us says so
    assert isinstance(decided, Decided) and decided.decision.outcome == "passed"


def test_a_list_can_be_read_as_long_as_its_newest_cursor_lives() -> None:
    talk = Talk()
    cursor = record(talk.first(Growing(100)))["nextCursor"]
    for _ in range(5):
        talk.now += 540  # each cursor lives ten minutes
        cursor = record(talk.read(cursor=cursor))["nextCursor"]
    talk.now += 720
    assert talk.read(cursor=cursor)["isError"]


def test_a_list_that_is_complete_becomes_a_snapshot_with_all_its_cursors() -> None:
    talk, live_list = Talk(), Growing(45)
    first = record(talk.first(live_list))["nextCursor"]
    chosen = record(talk.read(cursor=first, fields="id", limit=3))["nextCursor"]
    assert len(talk.protection.live_lists) == 1
    cursor: str | None = first
    while cursor is not None:
        cursor = record(talk.read(cursor=cursor)).get("nextCursor")
    assert live_list.is_complete
    assert talk.read(cursor=chosen)["content"][0]["text"].startswith("[brimgate] items #3-5 of 45")
    assert len(talk.protection.live_lists) == 0, "it is held by the store alone"
    assert "isError" not in talk.read(cursor=chosen)
