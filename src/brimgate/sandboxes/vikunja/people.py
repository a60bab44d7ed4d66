"""The user who asks, the search for others, and what the server tells of itself."""

from typing import Any

from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.dates import ZERO
from brimgate.sandboxes.vikunja.shapes import user_shape
from brimgate.sandboxes.vikunja.store import User
from brimgate.sandboxes.vikunja.wire import answer_json
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]


def info() -> Answer:
    """Tell of the server. This needs no login."""
    return answer_json(
        200,
        {
            "version": "v2.5.0",
            "frontend_url": "http://localhost:3456/",
            "motd": "",
            "link_sharing_enabled": True,
            "max_file_size": "20MB",
            "max_items_per_page": 50,
            "available_migrators": ["vikunja-file", "ticktick", "wekan", "csv", "planka"],
            "task_attachments_enabled": True,
            "enabled_background_providers": ["upload"],
            "totp_enabled": True,
            "legal": {"imprint_url": "", "privacy_policy_url": ""},
            "caldav_enabled": True,
            "auth": {
                "local": {"enabled": True, "registration_enabled": True},
                "ldap": {"enabled": False},
                "openid_connect": {"enabled": False, "providers": None},
            },
            "email_reminders_enabled": True,
            "user_deletion_enabled": True,
            "task_comments_enabled": True,
            "demo_mode_enabled": False,
            "webhooks_enabled": True,
            "public_teams_enabled": False,
            "allow_icon_changes": True,
            "enabled_pro_features": [],
            "concurrent_writes": False,
        },
    )


def show(call: Call) -> Answer:
    user = call.user
    settings: Json = {
        "name": user.name,
        "email_reminders_enabled": True,
        "discoverable_by_name": user.is_found_by_name,
        "discoverable_by_email": user.is_found_by_email,
        "overdue_tasks_reminders_enabled": True,
        "overdue_tasks_reminders_time": "09:00",
        "default_project_id": user.default_project_id,
        "week_start": 1,
        "language": "en",
        "timezone": "UTC",
        "frontend_settings": None,
        "extra_settings_links": None,
    }
    shape: Json = {"id": user.id, "name": user.name, "username": user.username, "email": user.email}
    shape |= {"created": user.created, "updated": user.created, "settings": settings}
    more = {"deletion_scheduled_at": ZERO, "is_local_user": True, "auth_provider": "", "is_admin": False}
    return answer_json(200, shape | more)


def search(call: Call) -> Answer:
    """Find users by a whole username; by name or e-mail only those who allow it. Null if there are none."""
    wanted = call.parameter("s").replace("%", "")
    parts = wanted.lower().split(",") if wanted.strip() else []
    found = [user_shape(one) for one in call.store.users.values() if _is_found(one, parts)]
    return answer_json(200, found or None)


def _is_found(user: User, parts: list[str]) -> bool:
    return any(
        part == user.username.lower()
        or (user.is_found_by_name and part in user.name.lower())
        or (user.is_found_by_email and part == user.email)
        for part in parts
    )
