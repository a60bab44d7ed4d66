"""What every command builds its parser with; loads nothing, as `run` must start in a blink."""

import argparse
from typing import TypeAlias

# argparse has no public name for what add_subparsers returns.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # pyright: ignore[reportPrivateUsage]
