"""The demo server's session: its tools, and the resources and prompts that show the same data."""

import json
from typing import Final

from brimgate.relay.protocol.message import INVALID_PARAMS
from brimgate.relay.protocol.server import RpcRefusal
from brimgate.sandboxes.demo.tools import DOCUMENTS, LOGS, TOOLS
from brimgate.testing.bookings import bookings
from brimgate.testing.mcp_session import FakeServer, FakeSession, Prompt, Resource

_RESOURCES: Final = {
    "demo://bookings": Resource("bookings", "application/json", lambda: json.dumps(bookings())),
    **{f"demo://logs/{name}": Resource(f"{name} log", "text/plain", read) for name, read in LOGS.items()},
    **{f"demo://documents/{name}": Resource(name, "text/markdown", read) for name, read in DOCUMENTS.items()},
}


def _welcome(guest: str) -> str:
    return f"Write a short, warm message to {guest}, who arrives tomorrow."


def _review(log: str) -> str:
    if log not in LOGS:
        raise RpcRefusal(INVALID_PARAMS, f"Unknown log: {log}; known: {', '.join(LOGS)}")
    return f"What went wrong here, and what should be done first?\n\n{LOGS[log]()}"


_PROMPTS: Final = {
    "welcome_guest": Prompt(
        {
            "name": "welcome_guest",
            "description": "Write to a guest before arrival.",
            "arguments": [{"name": "guest", "description": "The guest's name.", "required": True}],
        },
        _welcome,
    ),
    "review_log": Prompt(
        {
            "name": "review_log",
            "description": "Find what went wrong in a log.",
            "arguments": [{"name": "log", "description": f"One of: {', '.join(LOGS)}.", "required": True}],
        },
        _review,
    ),
}
_SERVER: Final = FakeServer(
    name="brimgate-demo",
    version="1.0.0",
    instructions="A property manager's bookings, listings, tasks, logs and manuals. All of it is made up.",
    tools=TOOLS,
    resources=_RESOURCES,
    prompts=_PROMPTS,
)


class Session(FakeSession):
    """One connection to the demo server."""

    def __init__(self) -> None:
        super().__init__(_SERVER)
