"""A list on a real socket that a test changes while it is read: by offset, by page or by cursor."""

import json
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from tests.back.scripted import Peer, Server

if TYPE_CHECKING:
    from collections.abc import Callable

PAGED = """
name: lists
base_url: http://127.0.0.1:1
timeout_seconds: 10
tools:
  numbers:
    path: /numbers
    answer: {{items: /items, as: items}}
    paging: {{{paging}}}
"""
OFFSET = "style: offset, limit: limit, offset: offset, size: 10, total: /total, key: id"


def respond(
    body: bytes, status: str = "200 OK", headers: str = "Content-Type: application/json\r\n"
) -> bytes:
    return f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Numbers:
    """Items `{"id": n}`. `before(query)` runs before each answer is made."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self.asked: list[dict[str, int]] = []
        self.before: Callable[[dict[str, int]], None] = lambda _: None
        self.told_total: int | None = None
        self.most_in_page = 1_000

    def server(self) -> Server:
        return Server(self._serve)

    async def _serve(self, peer: Peer) -> None:
        while True:
            head, _ = await peer.request()
            target = urlsplit(head.split()[1].decode())
            query = {name: int(values[0]) for name, values in parse_qs(target.query).items()}
            self.asked.append(query)
            self.before(query)
            await peer.say(respond(json.dumps(self._answer(query)).encode()))

    def _answer(self, query: dict[str, int]) -> dict[str, object]:
        limit = min(query.get("limit", 10), self.most_in_page)
        start = query.get("offset", query.get("cursor", (query.get("page", 1) - 1) * limit))
        part = self.numbers[start : start + limit]
        after = start + len(part)
        return {
            "items": [{"id": number} for number in part],
            "total": len(self.numbers) if self.told_total is None else self.told_total,
            "next": after if after < len(self.numbers) else None,
        }
