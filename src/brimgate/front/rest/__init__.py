"""REST answers within their budget: JSON in, bounded JSON out, and what was held back one request away."""

from brimgate.engine.replies.rest_frame import ParameterNames
from brimgate.front.rest.middleware import Decision, ProtectedApp, Resolve

__all__ = ["Decision", "ParameterNames", "ProtectedApp", "Resolve"]
