"""Format answers that are one sentence: additions, deletions, clearing, and the server's status."""

import re
from typing import Any, Final

from brimgate.packs.graphiti.members import extras, id_note, joined, lines, text, unwrapped
from brimgate.packs.pack import Formatter, Scene

_EPISODE: Final = "Episode '"
_QUEUED: Final = "' queued for processing in group '"
_CLEARED: Final = re.compile(r"Graph data cleared successfully for group IDs: (.*)", re.DOTALL)
_CONNECTED: Final = re.compile(r"Graphiti MCP server is running and connected to (\S+) database")
_COUNTS: Final = {
    "entities": "Entities",
    "nodes": "Entities",
    "facts": "Facts",
    "edges": "Facts",
    "episodes": "Episodes",
}
_UPDATES: Final = ("last_update", "last_updated")


def addition(answer: Any, scene: Scene) -> str:
    members = unwrapped(answer)
    message = text(members["message"])
    # No regular expression: on repetitive input one would take seconds, and nobody can stop it.
    name, queued, group = message.removeprefix(_EPISODE).removesuffix("'").rpartition(_QUEUED)
    is_usual = queued and message.startswith(_EPISODE) and message.endswith("'")
    said = f'✓ Episode queued: "{name}" ({group})' if is_usual else message
    known = next((key for key in ("uuid", "episode_uuid") if members.get(key)), "message")
    if known != "message":
        said += f" {id_note(members[known], scene)}"
    return joined(said, extras(members, "message", known))


def deletion(what: str) -> Formatter:
    pattern = re.compile(rf"{what} with UUID (\S+) deleted successfully")

    def formatter(answer: Any, scene: Scene) -> str:
        members = unwrapped(answer)
        message = text(members["message"])
        found = pattern.fullmatch(message)
        said = f"✓ {what} deleted {id_note(found[1], scene)}" if found else message
        return joined(said, extras(members, "message"))

    return formatter


def clearing(answer: Any, _: Scene) -> str:
    members = unwrapped(answer)
    message = text(members["message"])
    found = _CLEARED.fullmatch(message)
    return joined(f"✓ Graph cleared: {found[1]}" if found else message, extras(members, "message"))


def status(answer: Any, scene: Scene) -> str:
    members = unwrapped(answer)
    state, message = text(members["status"]), text(members.get("message") or "")
    healthy = state.lower() in ("ok", "healthy")
    found = _CONNECTED.fullmatch(message)
    if message and not found:
        # Its message is worth more than a title; both would be longer than the answer.
        said = f"{'HEALTHY' if healthy else state.upper()}: {message}"
    else:
        said = f"Knowledge Graph Status: {'HEALTHY' if healthy else state.upper()}"
        said += f" ({found[1]})" if found else ""
    told = {key: f"{_COUNTS[key]}: {members[key]}" for key in _COUNTS if isinstance(members.get(key), int)}
    for key in _UPDATES:
        if isinstance(members.get(key), str):
            told[key] = f"Last update: {scene.time(members[key])}"
    return lines(said, " | ".join(told.values()), extras(members, "status", "message", *told))
