"""What drivers make of actions: work is done, waits are waited for, and nothing that a session says is dropped."""

import asyncio
import json
from collections.abc import Callable

import pytest

from brimgate.errors import BadRequest, ClientError, UpstreamError, UpstreamLost, UpstreamRefused
from brimgate.front.mcp.passed_answers import client_messages
from brimgate.relay.actions import (
    Action,
    Decided,
    Greeted,
    Note,
    ToClient,
    Told,
    ToUpstream,
    Wait,
    Work,
    at_once,
    with_work_done,
)
from tests.relay.conversation import Conversation

NOTE = Note("noted", {})


def waiting(until: Callable[[], None] = lambda: None) -> Wait:
    async def fetch() -> None:
        until()

    return Wait(
        fetch,
        lambda: [Work(lambda: [NOTE, ToClient(b"fetched")], 1)],
        lambda why: [ToClient(str(why).encode())],
    )


def raising(error: Exception) -> Callable[[], None]:
    def fetch() -> None:
        raise error

    return fetch


def messages(*actions: Action) -> tuple[list[bytes], list[Told]]:
    notes: list[Told] = []
    return asyncio.run(client_messages(list(actions), notes.append)), notes


def test_a_wait_is_waited_for_and_what_follows_it_is_done_in_its_place() -> None:
    lines, notes = messages(ToClient(b"before"), waiting(), ToClient(bytearray(b"after")))
    assert lines == [b"before", b"fetched", b"after"]
    assert notes == [NOTE]


@pytest.mark.parametrize("error", [UpstreamLost("it has gone"), BadRequest("too many pages")])
def test_a_wait_in_vain_is_told(error: UpstreamError | ClientError) -> None:
    assert messages(waiting(raising(error))) == ([str(error).encode()], [])


def test_what_is_for_nobody_here_is_no_message() -> None:
    assert messages(Greeted(b"{}"), ToUpstream(b"x"), NOTE) == ([], [NOTE])


def test_work_inside_of_work_is_done_and_a_wait_is_left_to_the_driver() -> None:
    wait = waiting()
    inner = Work(lambda: [ToClient(b"inner"), wait], 1)
    done = with_work_done([Work(lambda: [inner, NOTE], 1), ToUpstream(b"x"), Greeted(b"")])
    assert done == [ToClient(b"inner"), wait, NOTE, ToUpstream(b"x"), Greeted(b"")]


def test_at_once_refuses_what_would_have_to_wait() -> None:
    refused, noted = at_once([Work(lambda: [waiting(), NOTE], 1)])
    assert isinstance(refused, ToClient) and b"send it alone" in refused.data
    assert noted is NOTE


# Failures in a session


def asked(conversation: Conversation, line: bytes) -> bytes:
    (onward,), _ = conversation.client(line)
    return onward


def test_a_failure_answers_the_requests_it_names_and_no_others() -> None:
    conversation = Conversation()
    line = asked(conversation, b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}')
    asked(conversation, b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"y"}}')
    failure = UpstreamRefused("the upstream x answered 500", 500)
    decided, action = conversation.session.fail_requests(line, [b"1"], failure)
    assert isinstance(action, ToClient) and action.failure is failure
    assert isinstance(decided, Decided) and decided.decision.outcome == "error"
    assert (decided.decision.tool, decided.decision.reason) == ("x", str(failure))
    error = {"code": -32000, "message": "the upstream x answered 500"}
    assert json.loads(action.data) == {"jsonrpc": "2.0", "id": 1, "error": error}
    assert conversation.session.pending_calls == 1


def test_a_batch_that_fails_in_part_is_answered_by_a_batch() -> None:
    conversation = Conversation()
    batch = b'[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":"2","method":"b"}]'
    line = asked(conversation, batch)
    conversation.upstream(b'{"jsonrpc":"2.0","id":1,"result":{}}')
    [action] = conversation.session.fail_requests(line, [b'"2"'], UpstreamLost("gone"))
    assert isinstance(action, ToClient)
    assert [one["id"] for one in json.loads(action.data)] == ["2"]


def test_a_handshake_that_fails_fails_what_waited_for_it() -> None:
    conversation = Conversation()
    session = conversation.session
    session.prime(b'{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{}}')
    [greeting] = session.revive()
    assert isinstance(greeting, ToUpstream)
    assert conversation.client(b'{"jsonrpc":"2.0","id":5,"method":"tools/list"}') == ([], [])
    key = json.dumps(json.loads(greeting.data)["id"]).encode()
    greeted, told = session.fail_requests(greeting.data, [key], UpstreamLost("gone"))
    assert greeted == Greeted(b"") and not session.is_greeting
    assert isinstance(told, ToClient) and json.loads(told.data)["error"]["message"] == "gone"
    assert not session.pending_calls


def test_advice_is_for_the_client_alone() -> None:
    conversation = Conversation()
    line = asked(conversation, b'{"jsonrpc":"2.0","id":1,"method":"a"}')
    failure = UpstreamLost("it died")
    [told] = conversation.session.fail(line, failure, ". Try again.")
    assert isinstance(told, ToClient) and told.failure is failure
    assert json.loads(told.data)["error"]["message"] == "it died. Try again."
