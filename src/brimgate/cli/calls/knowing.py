"""What is known of a server by its tools: which there are, which destroy, and whose system it is of."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from brimgate.cli.calls.target import Target
from brimgate.cli.output import complain, printable
from brimgate.errors import BadRequest

if TYPE_CHECKING:
    from brimgate.app.client import Tool
    from brimgate.packs.pack import Pack


def find(tools: "Sequence[Tool]", name: str) -> "Tool":
    for tool in tools:
        if tool.name == name:
            return tool
    near = get_close_matches(name[:60], [tool.name for tool in tools], 3, 0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else f"; it has {len(tools)} others"
    raise BadRequest(printable(f"there is no tool {name[:60]}{hint} (`brimgate tools` lists them)"))


def remember(target: Target, tools: "Sequence[Tool]") -> None:
    """For the shell, which completes them."""
    if target.given:
        from brimgate.cli.calls import catalogs

        catalogs.remember(target.given, b"[" + b",".join(tool.raw for tool in tools) + b"]")


def pack_of(given: str | None, target: Target, tools: "Sequence[Tool]") -> "Pack | None":
    """What is known of the server's system: by the command line, by the configuration, or by its tools."""
    from brimgate.packs.discovery import NO_PACK, load_pack

    named = given or target.upstream.pack
    if named == NO_PACK:
        return None
    return load_pack(named) if named else recognised(tools)


def recognised(tools: "Sequence[Tool]") -> "Pack | None":
    from brimgate.packs.discovery import pack_for

    return pack_for((tool.name for tool in tools), lambda error: complain(printable(str(error))))


def is_destructive(tool: "Tool", pack: "Pack | None") -> bool:
    """By its own word, or by that of those who know its system."""
    return tool.is_destructive or (pack is not None and pack.tool(tool.name).is_destructive)
