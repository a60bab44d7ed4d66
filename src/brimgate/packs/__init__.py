"""Packs: what is known of one system each. How its answers read best, which fields matter, which tools destroy."""

from brimgate.packs.pack import Formatter, Pack, Sandbox, Scene, Tool

__all__ = ["Formatter", "Pack", "Sandbox", "Scene", "Tool"]
