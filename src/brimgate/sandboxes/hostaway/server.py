"""The sandbox on a real socket: in a thread of this process, or as a process of its own."""

from typing import Any

from brimgate.sandboxes.hostaway.app import App
from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.server import SandboxThread, serve


class Sandbox(SandboxThread):
    """A sandbox on a socket.

    Use `with Sandbox(reservations=500) as sandbox:` and call `sandbox.url`, or `start` and `stop`.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, **settings: Any) -> None:
        self.settings = Settings(**settings)
        super().__init__(lambda: App(self.settings), host, port)

    @property
    def url(self) -> str:
        """The URL with its /v1; empty before the start."""
        return self.origin and f"{self.origin}/v1"

    @property
    def control_url(self) -> str:
        return f"{self.origin}/control"


def sandbox(*, host: str = "127.0.0.1", port: int = 0, **settings: Any) -> Sandbox:
    """Create a sandbox that has not started, with the given `Settings`."""
    return Sandbox(host=host, port=port, **settings)


def run(settings: Settings, host: str, port: int) -> None:
    """Serve until a signal. Print the address once connections are accepted."""
    serve(App(settings), host, port, lambda origin: f"listening on {origin}/v1\n")
