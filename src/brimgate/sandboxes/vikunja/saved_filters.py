"""Saved filters. Each is a pseudo project with a negative id, too."""

from typing import Any, Final

from brimgate.sandboxes.vikunja import boards
from brimgate.sandboxes.vikunja.bodies import FLAG, MAP, TEXT, TEXTS, Fields, fill, limit_length, require
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.errors import FORBIDDEN, NO_FILTER, UNSEEN, Failed, Problem
from brimgate.sandboxes.vikunja.filters import make_test, parse
from brimgate.sandboxes.vikunja.shapes import filter_shape
from brimgate.sandboxes.vikunja.store import ADMIN, SPACE, SavedFilter
from brimgate.sandboxes.vikunja.task_lists import Asked, everything, filter_context, find
from brimgate.sandboxes.vikunja.wire import answer_json, answer_one, deleted
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]
_FILTER: Final[Fields] = {"title": TEXT, "description": TEXT, "filters": MAP, "is_favorite": FLAG}
_COLLECTION: Final[Fields] = {
    "s": TEXT,
    "sort_by": TEXTS,
    "order_by": TEXTS,
    "filter": TEXT,
    "filter_include_nulls": FLAG,
}


def _own(call: Call, unseen: Problem) -> SavedFilter:
    saved = call.store.filters.get(call.number("filter"))
    if saved is None:
        raise Failed(NO_FILTER)
    if saved.owner_id != call.user.id:
        raise Failed(unseen)
    return saved


def _read(call: Call) -> Json:
    told = call.body(_FILTER)
    require(told, "title", "filters")
    limit_length(told, "title", 1, 250)
    told["filters"] = fill(told["filters"], _COLLECTION)
    if group := parse(told["filters"]["filter"]):
        make_test(group, filter_context(call, Asked()))
    return told


def create(call: Call) -> Answer:
    told, now, store = _read(call), call.now(), call.store
    saved = SavedFilter(store.new_id("filters"), told["title"], call.user.id, told["filters"], now, now)
    saved.description, saved.is_favorite = told["description"], told["is_favorite"]
    store.filters[saved.id] = saved
    boards.make_default_views(store, saved.project_id, call.user.id, now, only_open=False)
    _fill_board(call, saved)
    return answer_json(201, filter_shape(store, saved) | {"owner": None})


def _fill_board(call: Call, saved: SavedFilter) -> None:
    """Put the tasks that fit into the first bucket of the filter's board, unless they are in one."""
    asked = Asked(filter=saved.filters["filter"], search=saved.filters["s"])
    found = find(call, asked, parse(asked.filter), everything(call))
    for view in call.store.views_of(saved.project_id):
        for task in found:
            view.positions.setdefault(task.id, task.id * SPACE)
            if view.mode == "manual":
                view.buckets.setdefault(task.id, boards.default_bucket(call.store, view))


def read_one(call: Call) -> Answer:
    return answer_one(filter_shape(call.store, _own(call, UNSEEN)), ADMIN)


def update(call: Call) -> Answer:
    told, saved = _read(call), _own(call, FORBIDDEN)
    saved.title, saved.description, saved.filters = told["title"], told["description"], told["filters"]
    saved.is_favorite, saved.updated = told["is_favorite"], call.now()
    _fill_board(call, saved)
    return answer_json(200, filter_shape(call.store, saved) | {"owner": None})


def delete(call: Call) -> Answer:
    del call.store.filters[_own(call, FORBIDDEN).id]
    return deleted()
