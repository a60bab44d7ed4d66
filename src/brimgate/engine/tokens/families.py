"""Engine constants for command lines and configuration. They do not load the engine, so that startup stays fast."""

from typing import Final, Literal, get_args

Family = Literal["claude", "claude-3", "o200k", "cl100k", "llama3", "chars4"]
FAMILIES: Final[tuple[str, ...]] = get_args(Family)
DEFAULT_FAMILY: Final = "claude"  # it counts highest: the safe choice for a model we do not know
MIN_BUDGET: Final = 300
"""Below this a notice, a cursor and some content do not fit together."""
