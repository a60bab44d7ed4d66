"""The filter language of tasks: read into a tree, and the tree into a test of one task."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, NamedTuple

from brimgate.sandboxes.vikunja.dates import ZERO, parse_filter_date
from brimgate.sandboxes.vikunja.errors import BAD_COMPARATOR, BAD_FIELD, BAD_FILTER, BAD_VALUE, Failed
from brimgate.sandboxes.vikunja.store import Task

Test = Callable[[Task], bool]
SORTABLE: Final = frozenset({
    "id", "title", "description", "done", "done_at", "due_date", "created_by_id", "project_id", "repeat_after",
    "priority", "start_date", "end_date", "hex_color", "percent_done", "uid", "created", "updated", "position",
    "bucket_id", "index",
})  # fmt: skip
DATES: Final = frozenset({"done_at", "due_date", "start_date", "end_date", "created", "updated", "reminders"})
_TEXTS: Final = frozenset({"title", "description", "hex_color", "uid"})
_REALS: Final = frozenset({"percent_done", "position"})
_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": eq, "!=": ne, ">": gt, ">=": ge, "<": lt, "<=": le,
}  # fmt: skip
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<join>&&|\|\|)|(?P<open>\()|(?P<close>\))|(?P<field>\w+)\s*
    (?P<op>\?!=|\?=|>=|<=|!=|!~|~|=|>|<|\bnot\s+in\b|\bin\b|\blike\b)\s*)""",
    re.VERBOSE,
)
_QUOTED: Final = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*(?=$|&&|\|\||\))""", re.DOTALL)
_BARE: Final = re.compile(r"[^&|()]+")
_SIGILS: Final = {"?=": "in", "?!=": "not in", "~": "like"}
_MOST_DEPTH: Final = 50
_STRICT: Final = ("=", "!=", "in", "not in")


class Comparison(NamedTuple):
    field: str
    operator: str
    value: str


class Group(NamedTuple):
    """Parts and what joins each to those before it. The real server knows no precedence: it goes left to right."""

    parts: "tuple[Comparison | Group, ...]"
    joins: tuple[str, ...]


class FilterContext(NamedTuple):
    now: datetime
    zone: tzinfo
    usernames: Callable[[int], str]
    bucket: Callable[[int], int | None]
    """The bucket of a task in the view that is asked for."""
    include_nulls: bool = False


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def read(self) -> Group:
        group = self._group(0)
        if self._at < len(self._text.rstrip()):
            raise self._wrong("unexpected bracket")
        return group

    def _wrong(self, why: str) -> Failed:
        return Failed(BAD_FILTER, self._text, why)

    def _group(self, depth: int) -> Group:
        if depth > _MOST_DEPTH:
            raise self._wrong("too many brackets")
        parts, joins = [self._part(depth)], ["&&"]
        while (found := _TOKEN.match(self._text, self._at)) and found["join"]:
            self._at = found.end()
            joins.append(found["join"])
            parts.append(self._part(depth))
        return Group(tuple(parts), tuple(joins))

    def _part(self, depth: int) -> Comparison | Group:
        found = _TOKEN.match(self._text, self._at)
        if not found or found["join"] or found["close"]:
            raise self._wrong("invalid or incomplete filter expression")
        self._at = found.end()
        if found["open"]:
            inner = self._group(depth + 1)
            closing = _TOKEN.match(self._text, self._at)
            if not closing or not closing["close"]:
                raise self._wrong("missing closing bracket")
            self._at = closing.end()
            return inner
        operator = re.sub(r"\s+", " ", found["op"])
        return Comparison(found["field"], _SIGILS.get(operator, operator), self._value())

    def _value(self) -> str:
        if quoted := _QUOTED.match(self._text, self._at):
            self._at = quoted.end()
            return re.sub(r"\\(.)", r"\1", quoted[1][1:-1])
        bare = _BARE.match(self._text, self._at)
        if not bare or not bare[0].strip():
            raise self._wrong("a value is missing")
        self._at = bare.end()
        return bare[0].strip()


def parse(text: str) -> Group | None:
    return _Reader(text).read() if text.strip() else None


def names_bucket(group: Group | None) -> bool:
    return group is not None and any(
        names_bucket(part) if isinstance(part, Group) else part.field == "bucket_id" for part in group.parts
    )


def make_test(group: Group, context: FilterContext) -> Test:
    """Return the test of a task. Fields, operators and values are checked here, before any task is looked at."""
    test: Test | None = None
    for part, join in zip(group.parts, group.joins, strict=True):
        made = make_test(part, context) if isinstance(part, Group) else _compare(part, context)
        if made is None:
            continue
        test = made if test is None else _join(test, made, join)
    return test or (lambda _: True)


def _join(left: Test, right: Test, join: str) -> Test:
    if join == "||":
        return lambda task: left(task) or right(task)
    return lambda task: left(task) and right(task)


def _compare(part: Comparison, context: FilterContext) -> Test | None:
    field = "project_id" if part.field == "project" else part.field
    if part.operator not in _COMPARE and part.operator not in ("like", "in", "not in"):
        raise Failed(BAD_COMPARATOR, part.operator)
    if field in ("labels", "assignees", "reminders"):
        return _compare_many(part._replace(field=field), context)
    if field not in SORTABLE:
        raise Failed(BAD_FIELD, field)
    part = part._replace(field=field)
    get = _getter(field, context)
    if part.operator in ("in", "not in"):
        return _among(part, context, get)
    value = _native(part, part.value, context)
    if part.operator == "like":
        return _like(part, value, get)
    compare, is_date, nulls = _COMPARE[part.operator], field in DATES, context.include_nulls
    if is_date:
        return lambda task: nulls if get(task) == ZERO else compare(get(task), value)
    if nulls and isinstance(value, int) and not isinstance(value, bool):
        return lambda task: compare(get(task), value) or not get(task)
    return lambda task: (at := get(task)) is not None and compare(at, value)


def _getter(field: str, context: FilterContext) -> Callable[[Task], Any]:
    if field == "bucket_id":
        return lambda task: context.bucket(task.id)
    if field == "position":
        return lambda _: 0.0
    return lambda task: getattr(task, field)


def _among(part: Comparison, context: FilterContext, get: Callable[[Task], Any]) -> Test:
    values = {_native(part, one, context) for one in part.value.split(",")}
    wanted, is_date, nulls = part.operator == "in", part.field in DATES, context.include_nulls
    if is_date:
        return lambda task: nulls if get(task) == ZERO else (get(task) in values) is wanted
    return lambda task: (get(task) in values) is wanted


def _like(part: Comparison, value: Any, get: Callable[[Task], Any]) -> Test:
    if not isinstance(value, str) or part.field in DATES:
        raise Failed(BAD_VALUE, part.value, part.field)
    return like(value, get)


def like(value: str, get: Callable[[Task], str]) -> Test:
    """Test as SQL's LIKE does with a percent sign on both sides; case does not matter."""
    if "%" not in value and "_" not in value:
        wanted = value.lower()
        return lambda task: wanted in get(task).lower()
    pattern = re.escape(value).replace("%", ".*").replace("_", ".")
    search = re.compile(pattern, re.IGNORECASE | re.DOTALL).search
    return lambda task: search(get(task)) is not None


def _native(part: Comparison, text: str, context: FilterContext) -> Any:
    text = text.strip()
    value = _convert(part.field, text, context)
    if value is None:
        raise Failed(BAD_VALUE, part.value, part.field)
    return value


def _convert(field: str, text: str, context: FilterContext) -> Any:
    if field in DATES:
        return parse_filter_date(text, context.now, context.zone)
    if field in _TEXTS:
        return text
    if field == "done":
        return text in _TRUE if text in _TRUE | _FALSE else None
    try:
        return float(text) if field in _REALS else int(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def _compare_many(part: Comparison, context: FilterContext) -> Test | None:
    """Compare what a task has several of: one that fits is enough, or for a negation none may."""
    if part.field == "assignees" and part.operator == "like":
        return None  # the real server leaves such a condition out
    values = _many_values(part, context)
    wanted = part.operator not in ("!=", "not in")
    get = _many_getter(part.field, context)
    test = _any_among(values, wanted) if part.operator in _STRICT else _any_beyond(part.operator, values[0])
    if context.include_nulls:
        return lambda task: not get(task) or test(get(task))
    return lambda task: test(get(task))


def _any_among(values: list[Any], wanted: bool) -> Callable[[Sequence[Any]], bool]:
    return lambda has: any(one in values for one in has) is wanted


def _any_beyond(operator: str, value: Any) -> Callable[[Sequence[Any]], bool]:
    compare = _COMPARE[operator]
    return lambda has: any(compare(one, value) for one in has)


def _many_values(part: Comparison, context: FilterContext) -> list[Any]:
    if part.field == "assignees":
        return part.value.split(",")  # not stripped: "alice, bob" finds no bob on the real server
    if part.operator == "like":
        raise Failed(BAD_VALUE, part.value, part.field)
    several = part.operator in ("in", "not in")
    return [_native(part, one, context) for one in (part.value.split(",") if several else [part.value])]


def _many_getter(field: str, context: FilterContext) -> Callable[[Task], Sequence[Any]]:
    if field == "labels":
        return lambda task: task.labels
    if field == "assignees":
        return lambda task: [context.usernames(one) for one in task.assignees]
    return lambda task: [one.reminder for one in task.reminders]
