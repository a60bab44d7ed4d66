"""Signals that ask us to stop, also those that come before there is an event loop to hear them."""

import signal
from typing import Final

STOP_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)


class EarlySignals:
    """Notes them from its making on: a server that was started already must not be left behind."""

    def __init__(self) -> None:
        self.came = False
        for number in STOP_SIGNALS:
            signal.signal(number, self._note)

    def _note(self, *_: object) -> None:
        self.came = True
