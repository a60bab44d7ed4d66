"""The sandbox on a real socket: in a thread of this process, or as a process of its own."""

from typing import Any

from brimgate.sandboxes.server import SandboxThread, serve
from brimgate.sandboxes.vikunja.app import App
from brimgate.sandboxes.vikunja.settings import Settings


class Sandbox(SandboxThread):
    """A sandbox on a socket.

    Use `with Sandbox(tasks=500) as sandbox:` and call `sandbox.url`, or `start` and `stop`.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, **settings: Any) -> None:
        self.settings = Settings(**settings)
        super().__init__(lambda: App(self.settings), host, port)

    @property
    def url(self) -> str:
        """The origin, without /api/v1; empty before the start."""
        return self.origin

    @property
    def control_url(self) -> str:
        return f"{self.origin}/control"

    @property
    def tokens(self) -> dict[str, str]:
        return self.settings.tokens


def sandbox(*, host: str = "127.0.0.1", port: int = 0, **settings: Any) -> Sandbox:
    """Create a sandbox that has not started, with the given `Settings`."""
    return Sandbox(host=host, port=port, **settings)


def run(settings: Settings, host: str, port: int) -> None:
    """Serve until a signal. Print the address and the tokens once connections are accepted."""
    tokens = "".join(f"token of {name}: {token}\n" for name, token in settings.tokens.items())
    serve(App(settings), host, port, lambda origin: f"listening on {origin}\n{tokens}")
