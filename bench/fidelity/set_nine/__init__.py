"""A ninth set of planted answers, written without sight of the product."""

from bench.fidelity.set_nine import catalogues, documents, logs, nested, printed, rows

__all__ = ["catalogues", "documents", "logs", "nested", "printed", "rows"]
