"""The client's handshake, kept so that it can be played to an upstream that was started again."""

from typing import Final

import msgspec

_ID: Final = b'"brimgate-revival-%d"'
Line = bytes | bytearray


class Greeting:
    def __init__(self) -> None:
        self.request: Line = b""
        """The `initialize` that was answered; modern clients have none."""
        self.confirmation: Line = b""
        """The notification that followed it."""
        self._rounds = 0
        self.is_under_way = False
        """Played, and not answered yet: nothing else may reach the upstream."""

    def begin(self) -> bytes | None:
        """What to send to a new upstream first; None if nobody ever greeted the old one."""
        if not self.request:
            return None
        self._rounds += 1
        self.is_under_way = True
        message = msgspec.json.decode(self.request, type=dict[str, msgspec.Raw])
        message["id"] = msgspec.Raw(_ID % self._rounds)
        return msgspec.json.encode(message)

    def is_answer(self, key: bytes) -> bool:
        return self.is_under_way and key == _ID % self._rounds
