"""Allow-lists, trusted proxies, tickets, and messages that two readers could read differently."""

import asyncio
import json
from typing import Any

import pytest

from brimgate.guard.access import FULL_ACCESS, AllowLists, Grant
from brimgate.guard.principal import Principal
from brimgate.guard.proxies import TrustedProxies, site_of
from brimgate.guard.tickets import TICKET_SECONDS, Tickets
from brimgate.relay.protocol.ambiguity import is_ambiguous

NONE: frozenset[str] = frozenset()


def test_without_lists_everything_is_allowed() -> None:
    assert AllowLists({}).of("ann", NONE) is FULL_ACCESS and not FULL_ACCESS.key


def test_lists_add_up_and_whoever_is_in_none_may_nothing() -> None:
    lists = AllowLists(
        {
            "ann": Grant(("notes",), ("get_*",)),
            "scope:write": Grant(("notes",), ("add",)),
            "*": Grant(("clock",), ("now",)),
        }
    )
    ann, writer, bob = lists.of("ann", NONE), lists.of("ann", frozenset(("write",))), lists.of("bob", NONE)
    assert ann.allows("notes", "get_note") and not ann.allows("notes", "add")
    assert writer.allows("notes", "add") and writer.allows("clock", "now")
    assert bob.allows("clock", "now") and not bob.allows_upstream("notes")
    assert len({ann.key, writer.key, bob.key, ""}) == 4
    assert lists.scopes_for("notes", "add") == ["write"]
    assert not AllowLists({"ann": Grant()}).of("bob", NONE).allows_upstream("notes")


def test_a_scope_is_not_the_name_of_a_principal() -> None:
    lists = AllowLists({"scope:admin": Grant()})
    assert not lists.of("admin", NONE).grants
    assert lists.of("scope:admin", NONE).grants == ()


def test_whoever_may_use_less_has_other_sessions_and_answers() -> None:
    ann = Principal("static:ann", "ann")
    less = ann.granted(AllowLists({"ann": Grant(tools=("a",))}).of("ann", NONE))
    assert ann.granted(FULL_ACCESS) is ann and less.id != ann.id and less.name == ann.name
    assert not less.id.isprintable()  # names are, so that nobody can be called like it


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("9.9.9.9", "1.2.3.4", "9.9.9.9"),
        ("10.0.0.1", "1.2.3.4", "1.2.3.4"),
        ("10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.7", "1.2.3.4"),
        ("10.0.0.1", "1.2.3.4:555", "1.2.3.4:555"),
        ("::ffff:10.0.0.1", "[2001:db8::7]:443", "[2001:db8::7]:443"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "rubbish", "rubbish"),
    ],
)
def test_the_client_is_the_last_address_that_no_proxy_of_ours_has(
    peer: str, forwarded: str, client: str
) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    assert TrustedProxies(["10.0.0.0/8"]).client_address(peer, headers) == client


def test_addresses_of_one_ipv6_site_count_as_one() -> None:
    assert site_of("2001:db8::1") == site_of("[2001:db8::ffff]:443") != site_of("2001:db8:0:1::1")
    assert site_of("1.2.3.4:9") == "1.2.3.4" != site_of("1.2.3.5")


def test_only_a_socket_that_is_named_is_trusted() -> None:
    assert TrustedProxies(["unix"]).trusts("") and not TrustedProxies(["10.0.0.0/8"]).trusts("")


def test_a_ticket_is_for_once_and_half_a_minute() -> None:
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    first, second = (asyncio.run(tickets.give("token")) for _ in range(2))
    assert first != second
    assert [asyncio.run(tickets.redeem(first)) for _ in range(2)] == ["token", ""]
    now[0] = TICKET_SECONDS
    assert [asyncio.run(tickets.redeem(one)) for one in (second, "made up")] == ["", ""]


def message(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", **members}).encode()


@pytest.mark.parametrize(
    "odd",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":1,"METHOD":"tools/call"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","m\\u0065thod":"tools/call"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"Params":{"name":"b"}}',
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"x","Method":"y"}]',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","na\xc5\xbfme":1,"NAME":"b"}}',
    ],
)
def test_what_go_and_python_read_differently_is_ambiguous(odd: bytes) -> None:
    assert is_ambiguous(odd)


@pytest.mark.parametrize(
    "plain",
    [
        message(params={"name": "a", "arguments": {"name": "b", "Name": "c", "id": 7, "method": "x"}}),
        message(params={"name": "a", "arguments": {"text": 'he said "name" and \\u0041'}}),
        message(params={"name": "ä"}),
        b"[" + message() + b"," + message() + b"]",
        b'{"jsonrpc":"2.0","id":1,"result":{"name":1,"Name":2,"id":3}}',
    ],
)
def test_arguments_may_have_any_names(plain: bytes) -> None:
    assert not is_ambiguous(plain)
