"""Generate a task manager's tasks with every field it sends, set or not; one is long overdue and blocks others."""

import random
from datetime import datetime, timedelta
from typing import Any, Final

from brimgate.sandboxes.demo.prose import paragraph, title

_NEVER: Final = "0001-01-01T00:00:00Z"
"""Vikunja's value for a date that is not set."""
_START: Final = datetime(2026, 9, 1, 8)
_USERS: Final = ("noor", "tomas", "ines", "yuki", "pavel")
_LABELS: Final = (
    ("maintenance", "e67e22"),
    ("cleaning", "3498db"),
    ("guest", "2ecc71"),
    ("urgent", "e74c3c"),
)


def tasks(count: int = 120, seed: int = 13) -> dict[str, Any]:
    chance = random.Random(seed)  # noqa: S311  # made-up data, not secrets
    rows = [_task(chance, number) for number in range(1, count + 1)]
    for row in rows[count * 2 // 3 : count * 2 // 3 + 1]:
        row |= {
            "title": "Gas smell reported in the cellar",
            "priority": 5,
            "done": False,
            "due_date": _moment(_START - timedelta(days=40)),
            "related_tasks": {"blocking": [{"id": 14, "title": rows[13]["title"]}]},
        }
    return {"success": True, "message": f"Found {count} tasks", "tasks": rows}


def _task(chance: random.Random, number: int) -> dict[str, Any]:
    created = _START + timedelta(minutes=chance.randint(0, 80_000))
    done = chance.random() < 0.4
    due = created + timedelta(days=chance.randint(1, 30)) if chance.random() < 0.6 else None
    return {
        "id": number,
        "title": title(chance),
        "description": paragraph(chance, chance.randint(0, 6)),
        "done": done,
        "done_at": _moment(created + timedelta(days=2)) if done else _NEVER,
        "due_date": _moment(due) if due else _NEVER,
        "reminders": None,
        "project_id": 1 + number % 4,
        "repeat_after": 0,
        "repeat_mode": 0,
        "priority": chance.choices((0, 1, 2, 3), (70, 10, 15, 5))[0],
        "start_date": _NEVER,
        "end_date": _NEVER,
        "assignees": [_user(chance)] if chance.random() < 0.5 else None,
        "labels": [_label(chance) for _ in range(chance.randint(1, 2))] if chance.random() < 0.5 else None,
        "hex_color": "",
        "percent_done": 1 if done else 0,
        "identifier": f"STAY-{number}",
        "index": number,
        "related_tasks": {},
        "attachments": None,
        "cover_image_attachment_id": 0,
        "is_favorite": False,
        "created": _moment(created),
        "updated": _moment(created + timedelta(days=2)),
        "bucket_id": 0,
        "position": 65_536 * number,
        "reactions": None,
        "created_by": _user(chance),
    }


def _user(chance: random.Random) -> dict[str, Any]:
    number = chance.randrange(len(_USERS))
    joined = _moment(datetime(2024, 1, 15, 9) + timedelta(days=90 * number))
    return {"id": number + 1, "name": "", "username": _USERS[number], "created": joined, "updated": joined}


def _label(chance: random.Random) -> dict[str, Any]:
    number = chance.randrange(len(_LABELS))
    name, color = _LABELS[number]
    joined = _moment(datetime(2024, 2, 1, 9))
    return {
        "id": number + 1,
        "title": name,
        "description": "",
        "hex_color": color,
        "created_by": _user(chance),
        "created": joined,
        "updated": joined,
    }


def _moment(at: datetime) -> str:
    return at.isoformat() + "Z"
