"""The stream on which a server of the older era says what belongs to no request."""

from collections.abc import Callable

from brimgate.back.http.conversation import Conversation
from brimgate.back.mcp.response import Trail, is_event_stream
from brimgate.errors import UpstreamError
from brimgate.http.client import Response
from brimgate.http.sse import Event, read_event
from brimgate.relay.protocol.message import one_line
from brimgate.wire.framing import TooLong


class StandingStream:
    """Kept open as long as the server lets us; one that has none is fine."""

    def __init__(
        self,
        conversation: Conversation,
        on_line: Callable[[bytes], None],
        on_lost: Callable[[str], None],
        on_chatter: Callable[[str], None],
    ) -> None:
        self._conversation = conversation
        self._on_line, self._on_lost, self._on_chatter = on_line, on_lost, on_chatter
        self._trail = Trail()
        self._was_open = False

    async def run(self) -> None:
        while await self._listen():
            await self._trail.rest()
            self._trail.failures += 1

    async def _listen(self) -> bool:
        """Until the stream ends; whether it makes sense to come back."""
        try:
            response = await self._conversation.listen(self._trail.last_id)
            if response.status != 200 or not is_event_stream(response):
                response.abort()
                return self._is_worth_waiting(response)
            self._was_open = True
            await self._conversation.ear.follow(response, self._hear)
        except UpstreamError:
            pass
        except ValueError:
            self._trail.last_id = b""  # it cannot be repeated in a header
        return True

    def _is_worth_waiting(self, response: Response) -> bool:
        if response.status == 404 and self._was_open and self._conversation.session_id:
            # Known before anyone needs it: the next call begins anew instead of failing.
            self._on_lost(f"the upstream {self._conversation.name} has forgotten the session (404)")
            return False
        if response.status == 400 and self._was_open and self._trail.last_id:
            self._trail.last_id = b""  # what is missing cannot be had; what comes can
            return True
        return response.status in (409, 429) or (response.status >= 500 and response.status != 501)

    def _hear(self, event: Event | TooLong) -> None:
        if isinstance(event, TooLong):
            self._on_chatter("a message that is no answer was larger than max_result_bytes: left out")
            event = Event(None, read_event(event.beginning).id)
        self._trail.note(event)
        if event.name == b"message" and event.data and (line := one_line(event.data)):
            self._on_line(line)
