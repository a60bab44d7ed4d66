"""The sixth set of generators, written without sight of the engine."""

from . import events, nested, printed, rows, suites, written  # noqa: F401
