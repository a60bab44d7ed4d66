"""The faulty answers of Hostaway's API."""

from typing import Final

from brimgate.sandboxes.faults import FaultShapes
from brimgate.sandboxes.hostaway.wire import Refusal

LEAK: Final = "mysql://hostaway:hunter2@10.0.3.7/live"
"""What a stack trace reveals; nobody should ever pass it on."""
SHAPES: Final = FaultShapes(
    rate_limited=Refusal(429, "Too many requests").answer,
    wrong_type={"status": "success", "result": "none", "count": "many", "limit": None, "offset": [0]},
    leak=LEAK,
)
