"""A stand-in for Hostaway's API on a real socket: `python -m brimgate.testing.hostaway`, or `with sandbox() as api:`."""

from brimgate.testing.hostaway.app import make_app
from brimgate.testing.hostaway.server import Sandbox, sandbox
from brimgate.testing.hostaway.settings import Settings

__all__ = ["Sandbox", "Settings", "make_app", "sandbox"]
