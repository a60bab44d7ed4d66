"""What every command line and configuration names of the engine, without loading it: servers wait for us to start them."""

from typing import Final

FAMILIES: Final = ("claude", "claude-3", "o200k", "cl100k", "llama3", "chars4")
DEFAULT_FAMILY: Final = "claude"  # it counts highest: for a model we do not know, the safe side
MIN_BUDGET: Final = 300
"""Below this a notice, a cursor and something to read do not fit together."""
