"""The command line: one module per command. stdout is data, stderr is talk."""

import argparse
from typing import TypeAlias

# argparse has no public name for what add_subparsers returns.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # pyright: ignore[reportPrivateUsage]
