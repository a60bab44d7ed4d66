"""JSON Pointers (RFC 6901): how a place in a document is written and read."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from brimgate.engine.jsontext import Children


def escaped(name: str) -> str:
    """Write a key as one step of a pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def unescaped(step: str) -> str:
    """Read one step of a pointer as a key."""
    return step.replace("~1", "/").replace("~0", "~")


def pointer_of(names: Iterable[str]) -> str:
    """Join keys and positions into a pointer."""
    return "".join("/" + escaped(name) for name in names)


def pointer_steps(pointer: str) -> list[str]:
    """Split a pointer into keys and positions. One without its first slash is taken as well."""
    if not pointer:
        return []
    return [unescaped(step) for step in pointer.removeprefix("/").split("/")]


def pointer_step(children: Children, index: int) -> str:
    """Write the step to one child of an array or object."""
    return f"/{index}" if children.keys is None else "/" + escaped(children.keys[index])


def referred(root: Any, reference: str) -> Any:
    """Follow a `$ref` within parsed JSON (`#/components/…`); None where it leads nowhere, or elsewhere."""
    if not reference.startswith("#"):
        return None
    found = root
    for step in reference[1:].split("/")[1:]:
        found = cast("Mapping[str, Any]", found).get(unescaped(step)) if isinstance(found, Mapping) else None
    return found
