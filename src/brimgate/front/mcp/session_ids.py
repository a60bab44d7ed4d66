"""The ids of sessions. Each begins with the name of the process that has it, where several serve the same address.

So whoever gets a request for a session knows where it is: a load balancer by its configuration, a worker by itself.
"""

import re
import secrets
from typing import Final
from urllib.parse import parse_qs

from brimgate.front.mcp.request import SESSION_ID, HttpExchange

_NAMED: Final = re.compile(r"([A-Za-z0-9_-]{1,40})\.[0-9a-f]{32}")


def new_name(given: str = "") -> str:
    """Return a name for a process: no two are the same, because sessions are found by it."""
    own = secrets.token_hex(4)
    return f"{given}-{own}" if given else own


class SessionIds:
    def __init__(self, name: str = "") -> None:
        """Create them. Without a name, this process is alone."""
        self._prefix = f"{name}." if name else ""

    def new(self) -> str:
        return self._prefix + secrets.token_hex(16)


def home_of(exchange: HttpExchange) -> str:
    """Return the name of the process that has the session of a request; empty if the request does not tell."""
    given = exchange.header(SESSION_ID).decode("latin-1")
    if not given and exchange.query and exchange.path.startswith(("/messages", "/sse")):
        given = next(iter(session_ids_in(exchange.query)), "")
    found = _NAMED.fullmatch(given)
    return found[1] if found else ""


def session_ids_in(query: bytes) -> list[str]:
    """Return the ids that the address of a message holds, as the transport of 2024-11-05 has it."""
    given = parse_qs(query.decode("latin-1"))
    return given.get("sessionId", given.get("session_id", []))
