"""Command line."""


def main() -> int:
    return 0
