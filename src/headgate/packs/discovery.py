"""Which packs are installed: ours, and those that others ship under the entry point `headgate.packs`."""

from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from headgate.errors import OperatorError
from headgate.packs.contract import Pack

GROUP: Final = "headgate.packs"
NO_PACK: Final = "none"


def installed() -> dict[str, EntryPoint]:
    """By name; nothing is loaded. Of two packs with one name ours wins, so that none is replaced by surprise."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda one: one.value):
        if entry.name not in found or _is_ours(entry):
            found[entry.name] = entry
    return dict(sorted(found.items()))


def _is_ours(entry: EntryPoint) -> bool:
    return entry.value.startswith("headgate.packs.")


def load_pack(name: str) -> Pack:
    entries = installed()
    if name not in entries:
        raise OperatorError(f"there is no pack {name}; installed: {', '.join(entries) or 'none'}")
    return _load(entries[name])


def _load(entry: EntryPoint) -> Pack:
    try:
        pack = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # it may come from anyone, and fail in any way
        raise OperatorError(
            f"the pack {entry.name} ({entry.value}) cannot be loaded: {type(error).__name__}: {error}"
        ) from None
    if not isinstance(pack, Pack):
        raise OperatorError(f"the pack {entry.name} ({entry.value}) is a {type(pack).__name__}, not a Pack")
    return pack


def usable() -> Iterator[Pack]:
    """Every pack that can be loaded: one that cannot must not keep the others from being found."""
    for entry in installed().values():
        try:
            yield _load(entry)
        except OperatorError:
            continue


def pack_for(tools: Iterable[str]) -> Pack | None:
    """The pack that recognises a server by its tools."""
    names = frozenset(tools)
    return next((pack for pack in usable() if pack.recognises(names)), None)
