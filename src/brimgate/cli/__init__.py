"""The command line: one module per command. stdout is for data, stderr for messages."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import argparse

# argparse has no public name for what add_subparsers returns.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # pyright: ignore[reportPrivateUsage]
