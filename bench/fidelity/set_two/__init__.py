"""The second set of generators."""

from . import nested, printed, rows  # noqa: F401
