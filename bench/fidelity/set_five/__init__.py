"""The fifth set of generators, written without sight of the engine."""

from . import nested, printed, rows  # noqa: F401
