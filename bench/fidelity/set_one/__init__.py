"""The first set of generators: importing this package registers all its kinds."""

from bench.fidelity.set_one import nested, printed, rows  # noqa: F401
