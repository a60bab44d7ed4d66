"""For the demo: servers to ask, a minimal client, and walks from cursor to cursor to the end."""

import json
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.engine.rebuild import Rebuilder, next_on_walk
from brimgate.engine.replies.reply import Reply
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import UpstreamError
from brimgate.relay.protocol.client import INITIALIZE

Json = dict[str, Any]


class Client:
    """A minimal client: one call at a time, in raw lines."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._calls = 0

    def call(self, tool: str, arguments: Json) -> "DemoAnswer":
        return DemoAnswer(self.request("tools/call", {"name": tool, "arguments": arguments}))

    def request(self, method: str, params: Json) -> Json:
        self._calls += 1
        self.send({"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params})
        line = self._process.stdout.readline() if self._process.stdout else b""
        answer: Json = json.loads(line) if line else {}
        if "result" not in answer:
            raise UpstreamError(f"the server of the tour did not answer {method}: {answer or 'it has ended'}")
        return answer["result"]

    def send(self, message: Json) -> None:
        if self._process.stdin:
            # The missing answer reports that the server is gone; raised here it would look as if nobody read
            # our output.
            with suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps(message).encode() + b"\n")
                self._process.stdin.flush()


@contextmanager
def connect(command: Sequence[str], environment: Mapping[str, str]) -> Generator[Client]:
    with subprocess.Popen(  # noqa: S603  # our own servers
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C is for us; they end when their input does
    ) as process:
        client = Client(process)
        try:
            client.request("initialize", INITIALIZE)
            client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield client
        finally:
            if process.stdin:
                with suppress(BrokenPipeError):
                    process.stdin.close()


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """The result of a call, as a client gets it."""

    result: Json

    @property
    def texts(self) -> list[str]:
        return [block["text"] for block in self.result["content"]]

    @property
    def lines(self) -> list[str]:
        return "\n".join(self.texts).split("\n")

    @property
    def tokens(self) -> int:
        """The tokens of the text alone: a repetition as structured data is not counted twice."""
        return Estimator().count("\n".join(self.texts))

    @property
    def record(self) -> Json:
        """Brimgate's record; empty if the answer passed unchanged."""
        return self.result.get("_meta", {}).get("brimgate/result", {})

    @property
    def remarks(self) -> list[str]:
        """What precedes the content: highlights, and the place."""
        return self.texts[1][: self.record["contentFrom"]].split("\n") if self.record else []


@dataclass(frozen=True, slots=True)
class FinishedWalk:
    """An answer read to its end."""

    tokens: list[int]
    """The tokens of each reply."""
    rebuilt: bytes
    """Rebuilt from the replies alone."""

    def gives(self, original: bytes) -> bool:
        if self.rebuilt == original:
            return True
        return Document(original).is_json and self.rebuilt == jsontext.canonical(original)


def walk(client: Client, first: DemoAnswer) -> FinishedWalk:
    if not first.record:
        return FinishedWalk([first.tokens], "\n".join(first.texts).encode())
    rebuilder, answer, tokens = Rebuilder(), first, [first.tokens]
    while True:
        reply = Reply.from_wire(answer.texts[0], answer.texts[1], answer.record)
        rebuilder.feed(reply)
        cursor = next_on_walk(reply)
        if not cursor:
            return FinishedWalk(tokens, rebuilder.answer())
        answer = client.call("brimgate_read", {"cursor": cursor})
        tokens.append(answer.tokens)
