"""REST answers within their budget: JSON in, bounded JSON out, and what was held back one request away."""

from brimgate.front.rest.decision import Decision
from brimgate.front.rest.middleware import ProtectedApp, Resolve
from brimgate.front.rest.parameters import ParameterNames

__all__ = ["Decision", "ParameterNames", "ProtectedApp", "Resolve"]
