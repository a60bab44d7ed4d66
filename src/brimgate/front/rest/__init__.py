"""REST answers within their budget: JSON in, bounded JSON out, and what was held back one request away."""

from brimgate.front.rest.asked import ParameterNames
from brimgate.front.rest.decision import Decision
from brimgate.front.rest.middleware import ProtectedApp, Resolve

__all__ = ["Decision", "ParameterNames", "ProtectedApp", "Resolve"]
