"""The Graphiti pack at work for tests: real guard and formatters, with the clock out of the way."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brimgate.packs.formatter import Limits, Trouble, format_document
from brimgate.packs.graphiti import PACK
from brimgate.packs.pack import Formatter, Pack, Scene, Tool
from brimgate.packs.short_ids import ids_in, shortener

HERE = Path(__file__).parent
NOW = datetime(2026, 11, 15, 10, tzinfo=UTC)
PATIENT = Limits(30, 30)
"""What is said does not depend on how busy the machine is; what time is for has its own tests (test_guard)."""


def as_document(answer: object) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def command_line(document: bytes, arguments: Mapping[str, Any] | None = None) -> Scene:
    return Scene(arguments or {}, NOW, shortener(ids_in(document)))


def relay(_: bytes, arguments: Mapping[str, Any] | None = None) -> Scene:
    return Scene(arguments or {})


SCENES = {"command_line": command_line, "relay": relay}


def said(tool: str, document: bytes, scene: Scene) -> tuple[str | None, list[Trouble]]:
    troubles: list[Trouble] = []
    return format_document(PACK, tool, document, scene, troubles.append, PATIENT), troubles


def pack_of(formatter: Formatter) -> Pack:
    """One that knows a single tool, `look`."""
    return Pack("toy", "a toy", {"look": Tool(formatter)})
