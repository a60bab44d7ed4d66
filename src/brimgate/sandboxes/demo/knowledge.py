"""Generate nodes of a knowledge graph as Graphiti's search returns them, each with an embedding nobody can read."""

import random
from datetime import datetime, timedelta
from typing import Any, Final

from brimgate.sandboxes.demo.prose import paragraph, title

_DIMENSIONS: Final = 1_024
_LABELS: Final = ("Property", "Guest", "Supplier", "Procedure", "Incident")


def nodes(count: int = 20, seed: int = 23) -> list[dict[str, Any]]:
    chance = random.Random(seed)  # noqa: S311  # made-up data, not secrets
    return [_node(chance, number) for number in range(count)]


def _node(chance: random.Random, number: int) -> dict[str, Any]:
    created = datetime(2026, 10, 1, 9) + timedelta(hours=7 * number)
    return {
        "uuid": f"550e8400-e29b-41d4-a716-{chance.getrandbits(48):012x}",
        "name": title(chance),
        "labels": ["Entity", chance.choice(_LABELS)],
        "created_at": created.isoformat() + "+00:00",
        "summary": paragraph(chance, chance.randint(3, 9)),
        "group_id": "main",
        "attributes": {"mentions": chance.randint(1, 60)},
        "name_embedding": [round(chance.gauss(0, 0.03), 8) for _ in range(_DIMENSIONS)],
    }
