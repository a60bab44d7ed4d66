"""Teams and their members."""

from typing import Any, Final

from brimgate.sandboxes.vikunja.bodies import FLAG, TEXT, Fields, limit_length, require
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.errors import (
    FORBIDDEN,
    IS_MEMBER,
    LAST_MEMBER,
    NO_TEAM,
    NO_USER,
    UNSEEN,
    Failed,
)
from brimgate.sandboxes.vikunja.paging import answer_page
from brimgate.sandboxes.vikunja.shapes import team_shape
from brimgate.sandboxes.vikunja.store import ADMIN, READ, Team, User
from brimgate.sandboxes.vikunja.wire import answer_json, answer_one, deleted
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]
_TEAM: Final[Fields] = {"name": TEXT, "description": TEXT, "is_public": FLAG}


def list_teams(call: Call) -> Answer:
    wanted = call.parameter("s").lower()
    mine = [one for one in call.store.teams.values() if call.user.id in one.members]
    found = [one for one in mine if wanted in one.name.lower()]
    return answer_page(call, found, lambda one: team_shape(call.store, one))


def read_one(call: Call) -> Answer:
    """Read a team. One that does not exist is refused as a foreign one is."""
    team = call.store.teams.get(call.number("team"))
    if team is None or call.user.id not in team.members:
        raise Failed(UNSEEN)
    return answer_one(team_shape(call.store, team), ADMIN if team.members[call.user.id] else READ)


def _read(call: Call) -> Json:
    told = call.body(_TEAM)
    require(told, "name")
    limit_length(told, "name", 1, 250)
    return told


def create(call: Call) -> Answer:
    told, now = _read(call), call.now()
    team = Team(call.store.new_id("teams"), told["name"], call.user.id, now, now)
    team.description, team.is_public, team.members = (
        told["description"],
        told["is_public"],
        {call.user.id: True},
    )
    call.store.teams[team.id] = team
    return answer_json(201, team_shape(call.store, team) | {"members": None})


def _administered(call: Call) -> Team:
    team = call.store.teams.get(call.number("team"))
    if team is None:
        raise Failed(NO_TEAM)
    if not team.members.get(call.user.id):
        raise Failed(FORBIDDEN)
    return team


def update(call: Call) -> Answer:
    """Change a team. An empty description leaves the one there is."""
    told, team = _read(call), _administered(call)
    team.name, team.is_public = told["name"], told["is_public"]
    team.description, team.updated = told["description"] or team.description, call.now()
    return answer_json(200, team_shape(call.store, team))


def delete(call: Call) -> Answer:
    team = _administered(call)
    for key in [key for key in call.store.team_shares if key[1] == team.id]:
        del call.store.team_shares[key]
    del call.store.teams[team.id]
    call.store.version += 1
    return deleted()


def _user(call: Call, username: str) -> User:
    user = call.store.user_named(username)
    if user is None:
        raise Failed(NO_USER)
    return user


def _member_shape(call: Call, username: str, is_admin: bool) -> Json:
    number = call.store.new_id("members")
    return {"id": number, "username": username, "admin": is_admin, "created": call.now()}


def add_member(call: Call) -> Answer:
    told = call.body({"username": TEXT, "admin": FLAG})
    require(told, "username")
    team = call.store.teams.get(call.number("team"))
    if team is None or not team.members.get(call.user.id):
        raise Failed(FORBIDDEN)
    user = _user(call, told["username"])
    if user.id in team.members:
        raise Failed(IS_MEMBER)
    team.members[user.id] = told["admin"]
    call.store.version += 1
    return answer_json(201, _member_shape(call, told["username"], told["admin"]))


def remove_member(call: Call) -> Answer:
    """Remove a member. Everyone may leave; the last one may not."""
    user, team = _user(call, call.text("user")), call.store.teams.get(call.number("team"))
    if user.id != call.user.id and (team is None or not team.members.get(call.user.id)):
        raise Failed(FORBIDDEN)
    if team is None:
        raise Failed(NO_TEAM)
    if len(team.members) == 1:
        raise Failed(LAST_MEMBER)
    team.members.pop(user.id, None)
    call.store.version += 1
    return deleted()


def toggle_admin(call: Call) -> Answer:
    team = _administered(call)
    user = _user(call, call.text("user"))
    if user.id in team.members:
        team.members[user.id] = not team.members[user.id]
    return answer_json(200, _member_shape(call, user.username, team.members.get(user.id, True)))
