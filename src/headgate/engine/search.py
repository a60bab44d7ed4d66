"""Find words or a pattern in a held answer. Patterns run on RE2, whose time is linear in the text."""

from collections.abc import Callable, Iterator
from typing import Final

from headgate.engine.source import Source
from headgate.errors import BadRequest

CONTEXT_LINES: Final = 2
Matcher = Callable[[str], bool]


def matcher(query: str) -> Matcher:
    """`/pattern/` is a regular expression, anything else words that must all occur; case never matters."""
    if len(query) > 2 and query.startswith("/") and query.rstrip("i").endswith("/"):
        return _pattern(query.rstrip("i")[1:-1])
    words = query.lower().split()
    if not words:
        raise BadRequest("search must be words or a /pattern/")
    return lambda text: all(map(text.lower().__contains__, words))


def _pattern(pattern: str) -> Matcher:
    import re2  # 11 ms to import, and few search

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "bad pattern"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadRequest(f"search is not a valid pattern: {text}") from None
    return lambda text: compiled.search(text) is not None


def matching_lines(source: Source, found: Matcher) -> list[int]:
    lines = source.data.decode("utf-8", "replace").split("\n")
    return [number for number, line in enumerate(lines) if found(line)]


def leaf_lines(source: Source) -> Iterator[str]:
    """Every leaf of a value as `pointer: value`, in source order, for searching what is not a list."""
    from headgate.engine import jsontext
    from headgate.engine.source import MAX_DEPTH, Node, pointer_step

    stack: list[tuple[str, Node, int]] = [("", source.root, 0)]
    while stack:
        pointer, node, depth = stack.pop()
        children = source.open(node) if depth < MAX_DEPTH else None
        if not children:
            yield f"{pointer}: {jsontext.canonical(source.raw(node)).decode()}"
            continue
        below = [
            (pointer + pointer_step(children, at), source.child(children, at), depth + 1)
            for at in range(len(children))
        ]
        stack.extend(reversed(below))
