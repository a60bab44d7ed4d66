"""Find installed packs: ours, and those of others under the entry point `brimgate.packs`."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final, cast

from brimgate.errors import OperatorError
from brimgate.packs.pack import Pack, Tool

GROUP: Final = "brimgate.packs"
NO_PACK: Final = "none"


def installed() -> dict[str, EntryPoint]:
    """Return the packs by name, without loading any.

    Of two with one name ours wins, so that none is replaced by surprise.
    """
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda one: one.value):
        if entry.name not in found or _is_ours(entry):
            found[entry.name] = entry
    return dict(sorted(found.items()))


def _is_ours(entry: EntryPoint) -> bool:
    return entry.value.startswith("brimgate.packs.")


def load_pack(name: str) -> Pack:
    entries = installed()
    if name not in entries:
        raise OperatorError(f"there is no pack {name}; installed: {', '.join(entries) or 'none'}")
    return _load(entries[name])


def _load(entry: EntryPoint) -> Pack:
    try:
        # Its output is not our data, which is what standard output is for.
        with redirect_stdout(sys.stderr):
            pack = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # it may come from anyone, and fail in any way
        raise OperatorError(
            f"the pack {entry.name} ({entry.value}) cannot be loaded: {type(error).__name__}: {error}"
        ) from None
    if not isinstance(pack, Pack):
        raise OperatorError(f"the pack {entry.name} ({entry.value}) is a {type(pack).__name__}, not a Pack")
    if wrong := _wrong(pack, entry.name):
        raise OperatorError(f"the pack {entry.name} ({entry.value}) cannot be used: {wrong}")
    return pack


def _wrong(pack: Pack, name: str) -> str:
    """Return what violates the contract: nobody else checks a pack, and an error would show in the middle of a call."""
    tools, marks, folder, described = cast(
        "tuple[Any, ...]", (pack.tools, pack.marks, pack.folder, pack.description)
    )
    if pack.name != name:
        return f"its name is {pack.name!r}, which must be that of its entry point"
    if not isinstance(described, str):
        return "its description must be a text"
    if not isinstance(tools, Mapping) or not all(map(_is_tool, cast("Mapping[Any, Any]", tools).items())):
        return "its tools must be a mapping of names to Tool, their references and orders tuples of texts"
    if not isinstance(marks, tuple) or not all(
        isinstance(one, frozenset) for one in cast("tuple[Any, ...]", marks)
    ):
        return "its marks must be a tuple of frozensets of names"
    if folder is not None and not isinstance(folder, Path):
        return "its folder must be a Path"
    if not callable(pack.serving):
        return "its serving must be a function"
    return "" if callable(pack.failure) else "its failure must be a function"


def _is_tool(item: tuple[Any, Any]) -> bool:
    name, tool = item
    if not isinstance(name, str) or not isinstance(tool, Tool):
        return False
    texts: Any = (tool.references, tool.order)
    are_texts = all(
        isinstance(some, tuple) and all(isinstance(one, str) for one in cast("tuple[Any, ...]", some))
        for some in texts
    )
    return are_texts and (tool.formatter is None or callable(tool.formatter))


def usable(on_broken: Callable[[OperatorError], None] = lambda _: None) -> Iterator[Pack]:
    """Yield every pack that can be loaded: a broken one must not hide the others."""
    for entry in installed().values():
        try:
            yield _load(entry)
        except OperatorError as error:
            on_broken(error)


def pack_for(
    tools: Iterable[str], on_broken: Callable[[OperatorError], None] = lambda _: None
) -> Pack | None:
    """Return the pack that recognises a server by its tools. A pack that cannot be loaded might have been the one."""
    names = frozenset(tools)
    return next((pack for pack in usable(on_broken) if pack.recognises(names)), None)
