"""REST answers within their budget: JSON in, bounded JSON out, and what was held back one request away."""

from headgate.front.rest.asked import ParameterNames
from headgate.front.rest.decision import Decision
from headgate.front.rest.middleware import ProtectedApp, Resolve

__all__ = ["Decision", "ParameterNames", "ProtectedApp", "Resolve"]
