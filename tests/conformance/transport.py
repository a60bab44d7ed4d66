"""The options that every fixture in Python takes."""

import argparse


def chosen_port(description: str | None) -> int | None:
    """Reads the command line: the port of `--http`, or None for `--stdio`."""
    parser = argparse.ArgumentParser(description=description)
    transport = parser.add_mutually_exclusive_group(required=True)
    transport.add_argument("--http", type=int, metavar="PORT")
    transport.add_argument("--stdio", action="store_true")
    return parser.parse_args().http
