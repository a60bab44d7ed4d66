"""What users are told of: notifications, subscriptions and reactions."""

from typing import Any

from brimgate.sandboxes.vikunja.bodies import FLAG, TEXT, require
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.dates import ZERO
from brimgate.sandboxes.vikunja.errors import (
    BAD_ENTITY,
    BAD_REACTION,
    FORBIDDEN,
    NO_COMMENT,
    NOT_ALLOWED,
    SUBSCRIBED,
    Failed,
)
from brimgate.sandboxes.vikunja.paging import answer_items, answer_page, page_of
from brimgate.sandboxes.vikunja.shapes import reactions_shape, subscription_of, subscription_shape, user_shape
from brimgate.sandboxes.vikunja.store import Notification, Reaction, Subscription, Task
from brimgate.sandboxes.vikunja.wire import answer_json, deleted
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]


def _shape(one: Notification) -> Json:
    return {
        "id": one.id,
        "notification": one.notification,
        "name": one.name,
        "read_at": one.read_at,
        "created": one.created,
    }


def list_notifications(call: Call) -> Answer:
    """List one's own, the newest first, without those of projects that one can no longer read."""
    visible = call.access.visible(call.user.id) | {0}
    mine = [
        one
        for one in call.store.notifications.values()
        if one.user_id == call.user.id and one.project_id in visible
    ]
    return answer_page(call, sorted(mine, key=lambda one: -one.id), _shape)


def mark(call: Call) -> Answer:
    told = call.body({"read": FLAG})
    one = call.store.notifications.get(call.number("notification"))
    if one is None or one.user_id != call.user.id:
        raise Failed(FORBIDDEN)
    one.read_at = call.now() if told["read"] else ZERO
    return answer_json(200, _shape(one) | {"read": told["read"]})


def mark_all(call: Call) -> Answer:
    for one in call.store.notifications.values():
        if one.user_id == call.user.id:
            one.read_at = call.now()
    return answer_json(200, {"message": "success"})


def subscribe(call: Call) -> Answer:
    entity, entity_id = call.text("entity"), call.number("id")
    if entity == "project":
        call.access.read_project(call.user.id, entity_id, FORBIDDEN)
    elif entity == "task":
        call.access.read_task(call.user.id, entity_id, FORBIDDEN)
    else:
        raise Failed(BAD_ENTITY)
    if subscription_of(call.store, call.user, entity, entity_id):
        raise Failed(SUBSCRIBED)
    made = Subscription(call.store.new_id("subscriptions"), call.user.id, entity, entity_id, call.now())
    call.store.subscriptions[made.id] = made
    return answer_json(201, subscription_shape(made))


def unsubscribe(call: Call) -> Answer:
    wanted = (call.user.id, call.text("entity"), call.number("id"))
    mine = [
        one for one in call.store.subscriptions.values() if (one.user_id, one.entity, one.entity_id) == wanted
    ]
    if not mine:
        raise Failed(FORBIDDEN)
    del call.store.subscriptions[mine[0].id]
    return deleted()


def _reacted(call: Call) -> tuple[str, int, Task]:
    """Return what a reaction is to, and the task that decides who may react."""
    kind, entity_id = call.text("kind"), call.number("id")
    if kind not in ("tasks", "comments"):
        raise Failed(BAD_REACTION, kind)
    if kind == "tasks":
        return kind, entity_id, call.access.task(entity_id)
    comment = call.store.comments.get(entity_id)
    if comment is None:
        raise Failed(NO_COMMENT)
    return kind, entity_id, call.access.task(comment.task_id)


def list_reactions(call: Call) -> Answer:
    kind, entity_id, task = _reacted(call)
    call.access.read_project(call.user.id, task.project_id, NOT_ALLOWED)
    found = reactions_shape(call.store, kind, entity_id) or {}
    return answer_items(found or [], len(found), len(found), page_of(call))


def _find(call: Call, reaction: Reaction) -> Reaction | None:
    key = (reaction.user_id, reaction.kind, reaction.entity_id, reaction.value)
    all_of = call.store.reactions
    return next((one for one in all_of if (one.user_id, one.kind, one.entity_id, one.value) == key), None)


def _reaction(call: Call) -> Reaction:
    told = call.body({"value": TEXT})
    require(told, "value")
    kind, entity_id, task = _reacted(call)
    call.access.write_project(call.user.id, task.project_id)
    return Reaction(call.user.id, kind, entity_id, told["value"], call.now())


def react(call: Call) -> Answer:
    reaction = _reaction(call)
    if _find(call, reaction) is None:
        call.store.reactions.append(reaction)
    shape = {"user": user_shape(call.user), "value": reaction.value, "created": reaction.created}
    return answer_json(201, shape)


def unreact(call: Call) -> Answer:
    if found := _find(call, _reaction(call)):
        call.store.reactions.remove(found)
    return deleted()
