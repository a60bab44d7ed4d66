"""What was sent on each stream, so that a client whose stream was cut can fetch the rest."""

from typing import Final

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage

RETRY_MILLISECONDS: Final = 100
"""After which a client whose stream was cut may come back."""


class KeptEvents(EventStore):
    """All of them, in the order they came: a run of the suite has a few thousand."""

    def __init__(self) -> None:
        self._events: list[tuple[StreamId, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        last = int(last_event_id) if last_event_id.isdecimal() else 0
        if not 0 < last <= len(self._events):
            return None
        stream = self._events[last - 1][0]
        for number, (of, message) in enumerate(self._events[last:], last + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream
