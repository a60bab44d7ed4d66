"""Who else may see a project: users, teams, and the list of all who can."""

from typing import Any

from brimgate.sandboxes.vikunja.bodies import TEXT, WHOLE, Fields
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.errors import (
    BAD_MODEL,
    HAS_ACCESS,
    NO_ACCESS,
    NO_READ_ACCESS,
    NO_TEAM,
    NO_USER,
    TEAM_HAS_ACCESS,
    TEAM_WITHOUT_ACCESS,
    Failed,
    Plain,
)
from brimgate.sandboxes.vikunja.paging import answer_page
from brimgate.sandboxes.vikunja.shapes import team_shape, user_shape
from brimgate.sandboxes.vikunja.store import ADMIN, READ, Share, User
from brimgate.sandboxes.vikunja.wire import answer_json, deleted
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]
_SHARE: Fields = {"username": TEXT, "team_id": WHOLE, "permission": WHOLE}


def _read(call: Call) -> Json:
    told = call.body(_SHARE)
    if not READ <= told["permission"] <= ADMIN:
        raise Failed(BAD_MODEL, "Bad Request")
    return told


def _share(call: Call, permission: int) -> Share:
    call.store.version += 1
    return Share(call.store.new_id("shares"), permission, call.now(), call.now())


def _user_named(call: Call, username: str) -> User:
    user = call.store.user_named(username)
    if user is None:
        raise Failed(NO_USER)
    return user


def list_users(call: Call) -> Answer:
    project_id, wanted = call.number("project"), call.parameter("s").lower()
    call.access.read_project(call.user.id, project_id, NO_READ_ACCESS)
    found = [
        (call.store.users[user], share)
        for (project, user), share in call.store.user_shares.items()
        if project == project_id and wanted in call.store.users[user].username.lower()
    ]
    return answer_page(
        call, found, lambda one: {**(user_shape(one[0]) or {}), "permission": one[1].permission}
    )


def _user_share(username: str, share: Share) -> Json:
    shape: Json = {"id": share.id, "username": username, "permission": share.permission}
    return shape | {"created": share.created, "updated": share.updated}


def add_user(call: Call) -> Answer:
    told, project_id = _read(call), call.number("project")
    project = call.access.administer_project(call.user.id, project_id)
    user = _user_named(call, told["username"])
    if user.id == project.owner_id or (project_id, user.id) in call.store.user_shares:
        raise Failed(HAS_ACCESS)
    share = _share(call, told["permission"])
    call.store.user_shares[project_id, user.id] = share
    return answer_json(201, _user_share(told["username"], share))


def change_user(call: Call) -> Answer:
    told, project_id = _read(call), call.number("project")
    call.access.administer_project(call.user.id, project_id)
    user = _user_named(call, call.text("user"))
    if share := call.store.user_shares.get((project_id, user.id)):
        share.permission, share.updated = told["permission"], call.now()
        call.store.version += 1
    return answer_json(200, _user_share(user.username, Share(0, told["permission"], call.now(), call.now())))


def remove_user(call: Call) -> Answer:
    project_id = call.number("project")
    call.access.administer_project(call.user.id, project_id)
    user = _user_named(call, call.text("user"))
    if call.store.user_shares.pop((project_id, user.id), None) is None:
        raise Failed(NO_ACCESS)
    call.store.version += 1
    return deleted()


def list_teams(call: Call) -> Answer:
    project_id, wanted = call.number("project"), call.parameter("s").lower()
    call.access.read_project(call.user.id, project_id, NO_READ_ACCESS)
    found = [
        (call.store.teams[team], share)
        for (project, team), share in call.store.team_shares.items()
        if project == project_id and wanted in call.store.teams[team].name.lower()
    ]
    return answer_page(
        call, found, lambda one: team_shape(call.store, one[0]) | {"permission": one[1].permission}
    )


def _team_share(team_id: int, share: Share) -> Json:
    shape: Json = {"id": share.id, "team_id": team_id, "permission": share.permission}
    return shape | {"created": share.created, "updated": share.updated}


def add_team(call: Call) -> Answer:
    told, project_id = _read(call), call.number("project")
    call.access.administer_project(call.user.id, project_id)
    if told["team_id"] not in call.store.teams:
        raise Failed(NO_TEAM)
    if (project_id, told["team_id"]) in call.store.team_shares:
        raise Failed(TEAM_HAS_ACCESS)
    share = _share(call, told["permission"])
    call.store.team_shares[project_id, told["team_id"]] = share
    return answer_json(201, _team_share(told["team_id"], share))


def change_team(call: Call) -> Answer:
    told, project_id, team_id = _read(call), call.number("project"), call.number("team")
    call.access.administer_project(call.user.id, project_id)
    if share := call.store.team_shares.get((project_id, team_id)):
        share.permission, share.updated = told["permission"], call.now()
        call.store.version += 1
    return answer_json(200, _team_share(team_id, Share(0, told["permission"], call.now(), call.now())))


def remove_team(call: Call) -> Answer:
    project_id, team_id = call.number("project"), call.number("team")
    call.access.administer_project(call.user.id, project_id)
    if team_id not in call.store.teams:
        raise Failed(NO_TEAM)
    if call.store.team_shares.pop((project_id, team_id), None) is None:
        raise Failed(TEAM_WITHOUT_ACCESS)
    call.store.version += 1
    return deleted()


def list_readers(call: Call) -> Answer:
    """List all who can see a project, however. It has no pages, and null if nobody fits."""
    project_id, wanted = call.number("project"), call.parameter("s").lower()
    call.access.project(project_id)
    if call.access.permission(call.user.id, project_id) is None:
        raise Plain(403, "Forbidden")
    users = [call.store.users[one] for one in sorted(call.access.readers(project_id))]
    shapes = [
        user_shape(one) for one in users if wanted in f"{one.name}\0{one.username}\0{one.email}".lower()
    ]
    return answer_json(200, shapes or None)
