"""A stand-in for Hostaway's API on a real socket: `python -m brimgate.sandboxes.hostaway`, or `with sandbox() as api:`."""

from brimgate.sandboxes.hostaway.app import make_app
from brimgate.sandboxes.hostaway.server import Sandbox, sandbox
from brimgate.sandboxes.hostaway.settings import Settings

__all__ = ["Sandbox", "Settings", "make_app", "sandbox"]
