"""A stand-in for Vikunja's API on a real socket: `python -m brimgate.sandboxes.vikunja`, or `with sandbox() as api:`.

Two users can use it: alice and bob, with the tokens of `Settings.tokens`, or through `POST /login` with the
passwords `alice-in-the-sandbox` and `bob-in-the-sandbox`.
"""

from brimgate.sandboxes.vikunja.app import make_app
from brimgate.sandboxes.vikunja.server import Sandbox, sandbox
from brimgate.sandboxes.vikunja.settings import Settings

__all__ = ["Sandbox", "Settings", "make_app", "sandbox"]
