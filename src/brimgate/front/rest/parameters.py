"""What a caller asks of us in the query string. Anything wrong is refused before the application runs."""

import re
from dataclasses import astuple, dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

from brimgate.engine.query import Request, parse_request
from brimgate.errors import BadRequest

_LINE: Final = re.compile(r"[0-9]{1,9}\Z")


class Refusal(BadRequest):
    """A request we do not take, with the code that programs go by."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid_cursor() -> Refusal:
    """One message for every reason, so that nothing can be learnt by trying."""
    return Refusal("invalid_cursor", "invalid or expired cursor: run the query again from the start")


@dataclass(frozen=True, slots=True)
class ParameterNames:
    """Our query parameters, for applications that have others of the same name."""

    limit: str = "limit"
    cursor: str = "cursor"
    fields: str = "fields"
    path: str = "path"
    start_line: str = "startLine"
    end_line: str = "endLine"

    def __post_init__(self) -> None:
        names: tuple[Any, ...] = astuple(self)
        if len(set(names)) != len(names) or not all(names):
            raise ValueError("query parameters need names of their own")


@dataclass(frozen=True, slots=True)
class Asked:
    request: Request = field(default_factory=Request)
    cursor: str = ""
    others: tuple[tuple[str, str], ...] = ()
    """Parameters that are not ours."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query string taken apart: what is ours, by name, and what is not. Nothing is judged yet."""

    ours: dict[str, list[str]]
    others: tuple[tuple[str, str], ...]
    has_cursor: bool


def split_query(query: bytes, names: ParameterNames) -> Query:
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    given: dict[str, list[str]] = {
        name: [value for key, value in pairs if key == name] for name in astuple(names)
    }
    has_cursor = any(given[names.cursor])
    # Without a cursor a path is the application's own.
    ours = set(given) if has_cursor else set(given) - {names.path}
    others = tuple((key, value) for key, value in pairs if key not in ours)
    return Query(given, others, has_cursor)


def read_query(query: Query, names: ParameterNames, max_limit: int) -> Asked:
    given = query.ours
    cursors, paths = given[names.cursor], given[names.path]
    if len(cursors) > 1:
        raise invalid_cursor()
    cursor = cursors[0] if cursors else ""
    for name, code in (
        (names.limit, "invalid_limit"),
        (names.fields, "invalid_fields"),
        (names.start_line, "invalid_lines"),
        (names.end_line, "invalid_lines"),
        (names.path, "invalid_path"),
    ):
        if len(given[name]) > 1 and (name != names.path or cursor):
            raise Refusal(code, f"{name} is given more than once")
    lines = _lines(given, names)
    request = Request(
        limit=_parsed(
            "invalid_limit", names.limit, limit=_one(given[names.limit]), max_limit=max_limit
        ).limit,
        fields=_parsed("invalid_fields", names.fields, fields=_one(given[names.fields])).fields,
        path=_parsed("invalid_path", names.path, path=_one(paths)).path if cursor else None,
        lines=lines,
    )
    if lines and request.fields:
        raise Refusal("invalid_lines", f"lines cannot be combined with {names.fields}")
    return Asked(request, cursor, query.others)


def _one(values: list[str]) -> str | None:
    return values[0] if values else None


def _parsed(code: str, name: str, **asked: Any) -> Request:
    try:
        return parse_request(**asked)
    except BadRequest as error:
        what = next(iter(asked))
        message = str(error)
        raise Refusal(code, name + message[len(what) :] if message.startswith(what) else message) from None


def _lines(given: dict[str, list[str]], names: ParameterNames) -> tuple[int, int] | None:
    start, end = _one(given[names.start_line]), _one(given[names.end_line])
    if start is None and end is None:
        return None
    first = _line(names.start_line, start) if start is not None else 1
    last = _line(names.end_line, end) if end is not None else 10**9
    if last < first:
        raise Refusal("invalid_lines", f"{names.end_line} must not be less than {names.start_line}")
    return first, last


def _line(name: str, value: str) -> int:
    if not _LINE.match(value.strip()) or int(value) < 1:
        raise Refusal("invalid_lines", f"{name} must be a whole number from 1 up")
    return int(value)
