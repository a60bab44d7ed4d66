"""A stand-in for Hostaway's API on a real socket: `python -m headgate.testing.hostaway`, or `with sandbox() as api:`."""

from headgate.testing.hostaway.app import make_app
from headgate.testing.hostaway.server import Sandbox, sandbox
from headgate.testing.hostaway.settings import Settings

__all__ = ["Sandbox", "Settings", "make_app", "sandbox"]
