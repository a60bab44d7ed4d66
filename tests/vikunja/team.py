"""A team: users of one Vikunja, each with a token, who call the tools of `brimgate serve --pack vikunja`."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from brimgate.sandboxes.vikunja import sandbox
from tests.http.serving import LegacyClient, Serving, serve
from tests.vikunja.asking import Standin

ROOM = {"BRIMGATE_LIMITS_REQUESTS": "1000000"}
"""More than 100 calls in 15 minutes."""
_CURSOR = re.compile(r'cursor="?([A-Za-z0-9_-]{20,})')


def all_text_of(answer: dict[str, Any]) -> str:
    """The notice and what is below it."""
    return "\n".join(block["text"] for block in answer["result"]["content"])


@dataclass
class Member:
    serving: Serving
    token: str
    capabilities: dict[str, Any] = field(default_factory=dict)
    _client: LegacyClient | None = None

    @property
    def client(self) -> LegacyClient:
        if self._client is None:
            self._client = self.serving.client(authorization=f"Bearer {self.token}")
            self._client.initialize()
        return self._client

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is no error."""
        answer = self.client.call(tool, **arguments)
        assert not answer["result"].get("isError"), answer
        return all_text_of(answer)

    def fail(self, tool: str, **arguments: Any) -> str:
        answer = self.client.call(tool, **arguments)
        assert answer["result"]["isError"], answer
        return all_text_of(answer)

    def walk(self, tool: str, **arguments: Any) -> list[str]:
        """The lines of all pages, by nothing but the notices."""
        text = self.call(tool, **arguments)
        lines: list[str] = []
        while True:
            notice, _, page = text.partition("\n")
            lines += [line for line in page.splitlines() if not line.endswith(":")]
            found = _CURSOR.search(notice)
            if "more:" not in notice or found is None:
                return lines
            text = self.call("brimgate_read", cursor=found[1])


@dataclass
class Team:
    standin: Standin
    serving: Serving
    tokens: dict[str, str]

    def member(self, name: str) -> Member:
        return Member(self.serving, self.tokens[name])

    def of_token(self, token: str) -> Member:
        return Member(self.serving, token)

    @property
    def asked(self) -> list[str]:
        """The GETs that reached Vikunja, with their queries."""
        found = self.standin.control("/requests")
        return [f"{one['path']}?{one['query']}" for one in found if one["method"] == "GET"]


@contextmanager
def team(*options: str, env: dict[str, str] | None = None, **settings: Any) -> Iterator[Team]:
    """A Vikunja, and Brimgate in front of it."""
    with sandbox(**{"tasks": 400, "control": True, **settings}) as running:
        given = {"VIKUNJA_API_URL": running.url, **ROOM, **(env or {})}
        with serve(
            "--pack", "vikunja", "--set", "grace_seconds=0", *options, command=(), env=given
        ) as serving:
            yield Team(Standin(running), serving, dict(running.tokens))
