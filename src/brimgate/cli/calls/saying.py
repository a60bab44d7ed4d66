"""How foreign names and values are said in a message."""

from brimgate.cli.output import printable


def short(text: str, most: int = 60) -> str:
    return printable(text if len(text) <= most else f"{text[:most]}…")
