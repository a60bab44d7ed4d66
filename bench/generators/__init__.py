"""Seeded tool results with planted anomalies, and shapes meant to hurt."""

from bench.generators.catalogue import samples
from bench.generators.hostile import hostile
from bench.generators.sample import KINDS, Kind, Planted, Sample

__all__ = ["KINDS", "Kind", "Planted", "Sample", "hostile", "samples"]
