"""Odd but legal messages, by the hundred, over every pair of transports and in both eras.

Both ends keep what they sent and got: nothing is lost, nothing hangs, and nothing is reordered within a stream. Numbers are
compared as they are spelled, all else by value. `BRIMGATE_ODD_MESSAGES` is how many exchanges each pair has.
"""

import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.config.running import BRIMGATE
from tests.http.raw_upstream import Called, RawUpstream, raw_upstream
from tests.http.serving import META, LegacyClient, Serving, exchange, parse_events, serve, wait_until
from tests.relay.rawclient import RawClient

EXCHANGES = int(os.environ.get("BRIMGATE_ODD_MESSAGES", "200"))
SERVER = [sys.executable, str(Path(__file__).with_name("scripted_server.py"))]
OLDER, NEWER = "2025-03-26", "2026-07-28"
NUMBERS = ("0", "-0", "1.0", "1.50", "1e2", "1E+2", "-1.5e-3", "12345678901234567890123", "1e400")
TEXTS = (
    "",
    " ",
    "é漢字😀",
    r"\u00e9\/\"\\",
    r"\ud83d\ude00",
    r"\ud800",
    r"\u0000\u2028",
    "\x01\t\x7f",
    "]}{[,:",
    "x" * 60,
)
OTHERS = ("null", "true", "false", "{}", "[]", "NaN", "-Infinity", "[" * 200 + "]" * 200)


class Odd:
    """Messages that strict readers may refuse and the protocol has no word against, all different."""

    def __init__(self, seed: int, era: str) -> None:
        self.dice = random.Random(seed)
        self.era = era
        self._count = 0

    def number(self) -> int:
        self._count += 1
        return self._count

    def value(self, depth: int = 3) -> str:
        kind = self.dice.randrange(6 if depth else 4)
        if kind == 0:
            return self.dice.choice(NUMBERS)
        if kind == 1:
            return self.dice.choice(OTHERS)
        if kind in (2, 3):
            return self.text()
        inner = [self.value(depth - 1) for _ in range(self.dice.randrange(4))]
        if kind == 4:
            return f"[{', '.join(inner)}]"
        return (
            "{"
            + ",".join(f'"{at}{self.dice.choice(TEXTS[2:4])}" : {one}' for at, one in enumerate(inner))
            + "}"
        )

    def text(self) -> str:
        return f'"{self.dice.choice(TEXTS)}"'

    def key(self) -> str:
        number = self.number()
        kinds = (f"{number}", f"-{number}", f"{number}.0", f'"{number}"', f"{2**52 + number}")
        named = f'"{self.dice.choice(TEXTS[1:5])}-{number}"'
        return self.dice.choice((*kinds, named))

    def more(self) -> str:
        """Members of a message that nobody knows."""
        return f',"x-more":{self.value()}' if self.dice.random() < 0.3 else ""

    def note(self, method: str = "notifications/x-odd") -> str:
        params = f',"params":{{"odd":{self.value()},"number":{self.number()}}}'
        return f'{{"jsonrpc":"2.0","method":"{method}"{params}{self.more()}}}'

    def request(self, key: str, lines: list[str], token: str) -> tuple[str, str]:
        """The method and the request, whose answer is `lines`."""
        method = self.dice.choice(("tools/call", "tools/call", "example/odd", "completion/complete"))
        meta = dict(META) if self.era == NEWER else {}
        written = json.dumps(meta)[1:-1] + (f'{", " if meta else ""}"progressToken":{token}' if token else "")
        inside = f'"lines":{json.dumps(lines)},"odd":{self.value()},"number":{self.number()}'
        params = f'{{"name":"say","_meta":{{{written}}},"arguments":{{{inside}}}}}'
        head = f'{{"jsonrpc":"2.0","id":{key},"method":"{method}"'
        return method, f'{head},"params":{params}{self.more()}}}'

    def answer(self) -> str:
        if self.dice.random() < 0.2:
            error = f'{{"code":{-32000 - self.number()},"message":{self.text()},"data":{self.value()}}}'
            return f'{{"jsonrpc":"2.0","id":$ID,"error":{error}{self.more()}}}'
        result = f'{{"content":[],"odd":{self.value()},"number":{self.number()}}}'
        return f'{{"jsonrpc":"2.0","id":$ID,"result":{result}{self.more()}}}'

    def progress(self) -> str:
        params = f'{{"progressToken":$TOKEN,"progress":{self.number()},"odd":{self.value()}}}'
        return f'{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}'

    def token(self) -> str:
        return self.dice.choice(("", f"{self.number()}", f'"t-{self.number()}"', f'"é{self.number()}"'))


def read(text: str | bytes) -> Any:
    """By value, but numbers as they are spelled."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    return json.loads(text, parse_float=str, parse_int=str, parse_constant=str, strict=False)


def flat(read_messages: list[Any]) -> list[Any]:
    """Messages one by one, also those of batches."""
    return [one for found in read_messages for one in (found if isinstance(found, list) else [found])]


def same(key: Any) -> Any:
    """An id by value."""
    return key if not isinstance(key, str) or not key.removesuffix(".0").lstrip("-").isdigit() else float(key)


@dataclass
class End:
    """A client of raw messages."""

    ask: Callable[[str, str], list[Any]]
    """Sends a request by its method, and comes back with all messages up to its answer."""
    tell: Callable[[str], None]
    got: Callable[[], list[Any]]
    """What the server got."""
    sent: list[Any] = field(default_factory=list)


def upstream_says(called: Called) -> bool | None:
    """The same as the scripted server, over HTTP."""
    if called.method != "POST":
        called.head("405 Method Not Allowed", "", "Content-Length: 0")
        return True
    parsed = json.loads(called.body.decode("utf-8", "surrogateescape"), strict=False)
    messages = parsed if isinstance(parsed, list) else [parsed]
    said = [line for message in messages if "id" in message for line in lines_for(message)]
    if not said:
        called.head("202 Accepted", "", "Content-Length: 0")
        return True
    if len(said) == 1 and not isinstance(parsed, list):
        return called.answer(said[0])
    called.begin_stream()
    called.send(b"".join(b"data: " + one + b"\n\n" for one in said))
    return None


def lines_for(message: dict[str, Any]) -> list[bytes]:
    """What a request is answered with."""
    params = message.get("params", {})
    lines = params.get("arguments", {}).get("lines")
    if lines is None:
        who = {
            "serverInfo": {"name": "raw", "version": "1"},
            "protocolVersion": OLDER,
            "capabilities": {"tools": {}},
        }
        lines = ['{"jsonrpc":"2.0","id":$ID,"result":' + json.dumps(who) + "}"]
    token = json.dumps(params.get("_meta", {}).get("progressToken"))
    return [
        line.replace("$ID", json.dumps(message["id"])).replace("$TOKEN", token).encode() for line in lines
    ]


class AnyScript(dict[str, Any]):
    def get(self, key: str, default: Any = None) -> Any:
        return upstream_says


@contextmanager
def behind(kind: str, folder: Path) -> Iterator[tuple[list[str], Callable[[], list[Any]]]]:
    """How to reach a server, and what it got."""
    if kind == "stdio":
        journal = folder / "journal"
        yield (
            ["--", *SERVER, str(journal)],
            lambda: flat([read(line) for line in journal.read_bytes().splitlines()]),
        )
        return
    with raw_upstream(AnyScript()) as upstream:
        yield ["--upstream", upstream.url], lambda: heard_by(upstream)


def heard_by(upstream: RawUpstream) -> list[Any]:
    return flat([read(called.body) for called in upstream.calls if called.body])


@contextmanager
def end(client: str, server: str, era: str, folder: Path) -> Iterator[End]:
    with behind(server, folder) as (options, got):
        if client == "stdio":
            with RawClient([*BRIMGATE, "run", *options]) as raw:
                if era == OLDER:
                    raw.greet()
                yield End(
                    lambda _, text: ask_stdio(raw, text), lambda text: raw.send_line(text.encode()), got
                )
            return
        at = options.index("--") if "--" in options else len(options)
        with serve(*options[:at], command=options[at + 1 :]) as serving:
            yield http_end(serving, era, got)


def ask_stdio(raw: RawClient, text: str) -> list[Any]:
    raw.send_line(text.encode())
    waiting = {same(one["id"]) for one in flat([read(text)]) if "id" in one}
    found: list[Any] = []
    while waiting:
        came = flat([read(raw.receive_line())])
        waiting.difference_update(same(one["id"]) for one in came if "method" not in one)
        found += came
    return found


def http_end(serving: Serving, era: str, got: Callable[[], list[Any]]) -> End:
    client = LegacyClient(serving, OLDER, "/mcp")
    if era == OLDER:
        client.initialize()

    def post(method: str, text: str) -> Any:
        headers = client.headers
        if era == NEWER:
            named = {"mcp-name": "say"} if method == "tools/call" else {}
            headers |= {"mcp-protocol-version": NEWER, "mcp-method": method} | named
        return exchange(client.connection, "POST", "/mcp", text.encode(), headers)

    def ask(method: str, text: str) -> list[Any]:
        answer = post(method, text)
        assert answer.status in (200, 400, 404), (text, answer)
        if "text/event-stream" not in answer.headers["content-type"]:
            return flat([read(answer.body)])
        events = parse_events(answer.body.decode("utf-8", "surrogateescape"))
        return [read(event["data"]) for event in events if event.get("data")]

    def tell(text: str) -> None:
        assert post("notifications/x-odd", text).status == 202, text

    return End(ask, tell, got)


def expected(lines: list[str], key: Any, token: str) -> list[Any]:
    found = [read(line.replace("$TOKEN", token or "null").replace("$ID", "0")) for line in lines]
    found[-1]["id"] = key
    return found


def by_value(message: Any) -> Any:
    return message | {"id": same(message["id"])} if "id" in message else message


def numbers_of(messages: list[Any], *, notes: bool) -> list[Any]:
    """What a message carries, in order: requests by their arguments, notifications by their parameters."""
    found: list[Any] = []
    for message in messages:
        params = message.get("params", {})
        if notes and "id" not in message and message["method"] == "notifications/x-odd":
            found.append((params, message.get("x-more")))
        elif not notes and "lines" in params.get("arguments", {}):
            found.append((message["method"], params["arguments"], message.get("x-more")))
    return found


def check_batch(one: End, odd: Odd) -> None:
    """Two requests and a notification, which may be answered together or one by one."""
    answers = {key: odd.answer() for key in (odd.key(), odd.key())}
    requests = [odd.request(key, [answer], "")[1] for key, answer in answers.items()]
    batch = f"[{requests[0]}, {odd.note()},{requests[1]}]"
    one.sent += read(batch)
    got = one.ask("", batch)
    wanted = [expected([answer], read(key), "")[0] for key, answer in answers.items()]
    assert [by_value(message) for message in got] == [by_value(message) for message in wanted], batch


def check_server(one: End, *, notes: bool) -> None:
    wanted = numbers_of(one.sent, notes=notes)
    wait_until(lambda: len(numbers_of(one.got(), notes=notes)) >= len(wanted), "all messages", 30)
    assert numbers_of(one.got(), notes=notes) == wanted


@pytest.mark.parametrize("era", [OLDER, NEWER])
@pytest.mark.parametrize("server", ["stdio", "http"])
@pytest.mark.parametrize("client", ["stdio", "http"])
def test_odd_messages_arrive_as_they_were_sent(client: str, server: str, era: str, tmp_path: Path) -> None:
    odd = Odd(7, era)
    with end(client, server, era, tmp_path) as one:
        for _ in range(EXCHANGES):
            if odd.dice.random() < 0.3:
                note = odd.note()
                one.sent.append(read(note))
                one.tell(note)
            key, token = odd.key(), odd.token()
            before = [odd.progress() for _ in range(odd.dice.randrange(3) if token else 0)]
            before += [odd.note("notifications/x-server") for _ in range(odd.dice.randrange(2))]
            lines = [*before, odd.answer()]
            method, request = odd.request(key, lines, token)
            one.sent.append(read(request))
            got = one.ask(method, request)
            assert [by_value(message) for message in got] == [
                by_value(message) for message in expected(lines, read(key), token)
            ], request
            if era == OLDER and odd.dice.random() < 0.1:
                check_batch(one, odd)
        for notes in (True, False):
            check_server(one, notes=notes)
