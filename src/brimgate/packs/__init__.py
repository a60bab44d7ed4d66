"""Knowledge of one system each: how its answers read best, what of them matters, which of its tools destroy."""

from brimgate.packs.pack import Formatter, Pack, Sandbox, Scene, Tool

__all__ = ["Formatter", "Pack", "Sandbox", "Scene", "Tool"]
