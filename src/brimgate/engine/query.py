"""What a caller may ask of a held answer. A wrong parameter is refused with a sentence that says what is right."""

import json
import re
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any, Final, Literal

from brimgate.engine.forms import AUTO, FORMS
from brimgate.engine.forms.plain import missing_package
from brimgate.errors import BadRequest

MAX_FIELDS: Final = 100
MAX_PATTERN_CHARS: Final = 500
MAX_SQL_CHARS: Final = 10_000
_COLUMN: Final = re.compile(r"\s*(\d{1,9})\s*@\s*(\d{1,9})\s*\Z")
COUNT: Final = "count"
"""The form of a reply to a search that tells only how many matches there are."""
_RANGE: Final = re.compile(r"\s*(\d{1,9})\s*(?:(?:-|–|\.\.|:|,)\s*(\d{1,9})\s*)?\Z")
MAX_PAGES: Final = 20
ViewScope = Literal["whole", "focus", "path", "walk", "chosen", "text", "block"]


@dataclass(frozen=True, slots=True)
class View:
    scope: ViewScope = "focus"
    """Which part of the answer this view covers.

    whole: every part in document order; focus: the dominant list or text; path: the value at `path`, as an answer of
    its own; walk: every part of the value at `path`; chosen: every part of the chosen `fields` of the object there;
    text: the original bytes, whatever they contain; block: a content block with binary data, which is read whole.
    """
    path: str = ""
    fields: tuple[str, ...] = ()
    search: str = ""
    lines: tuple[int, int] | None = None
    condensed: bool = False
    """Shorten each item by its field map or by leaving out its vectors, and show its number with it."""
    formatted: bool = False
    """Written by a pack's formatter, starting at the item that the position counts."""
    form: str = ""
    limit: int = 0
    column: int = 0
    """Where in its first line a range of lines begins, in characters from 1."""
    asked: str = ""
    """The parameters, beside our own, of the REST request whose answer it is; empty elsewhere."""

    @property
    def is_selection(self) -> bool:
        chosen = self.fields and self.scope != "chosen"
        return bool(chosen or self.search or self.lines or self.condensed)

    def pack(self) -> bytes:
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def unpack(cls, data: bytes) -> "View":
        values: dict[str, Any] = json.loads(data)
        lines = values["lines"]
        return replace(cls(**values), fields=tuple(values["fields"]), lines=tuple(lines) if lines else None)

    def key(self) -> bytes:
        """Return four bytes that stand for this view in a cursor. Equal views have equal keys."""
        return blake2b(self.pack(), digest_size=4).digest()


WHOLE: Final = View("whole")
FOCUS: Final = View("focus")
BLOCK: Final = View("block")


@dataclass(frozen=True, slots=True)
class Query:
    limit: int = 0
    fields: tuple[str, ...] = ()
    path: str | None = None
    lines: tuple[int, int] | None = None
    search: str = ""
    pages: tuple[int, int] | None = None
    form: str = ""
    column: int = 0
    sql: str = ""
    """A query over the tables of the answer; its result is an answer of its own."""


def parse_query(
    *,
    limit: object = None,
    fields: object = None,
    path: object = None,
    lines: object = None,
    search: object = None,
    pages: object = None,
    form: object = None,
    query: object = None,
    max_limit: int = 200,
) -> Query:
    column = _COLUMN.match(lines) if isinstance(lines, str) else None
    asked = Query(
        column=int(column[2]) if column else 0,
        limit=_limit(limit, max_limit),
        fields=_fields(fields),
        path=None if path is None else _text("path", path, 4_000),
        lines=_range("lines", column[1] if column else lines),
        search=_text("search", search, MAX_PATTERN_CHARS) if search else "",
        pages=_range("pages", pages),
        form=_form(form),
        sql=_text("query", query, MAX_SQL_CHARS) if query else "",
    )
    if asked.pages and asked.pages[1] - asked.pages[0] >= MAX_PAGES:
        raise BadRequest(f"pages spans more than {MAX_PAGES}: ask for fewer at once")
    if asked.lines and asked.pages:
        raise BadRequest("lines cannot be combined with pages: a range of lines is read on by its own cursor")
    if asked.form == COUNT and not asked.search:
        raise BadRequest("format=count needs a search to count the matches of")
    if asked.sql and (asked.fields or asked.lines or asked.search or asked.pages):
        raise BadRequest(
            "query cannot be combined with fields, lines, search or pages: use them on the cursor of its result"
        )
    return asked


def _limit(value: object, most: int) -> int:
    if value is None:
        return 0
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value.strip()):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadRequest(f"limit must be a whole number from 1 to {most}")
    if value > most:
        raise BadRequest(f"limit exceeds maximum of {most}")
    return value


def _fields(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        value = ",".join(str(name) for name in value)  # type: ignore[misc]
    names = tuple(
        dict.fromkeys(name.strip() for name in _text("fields", value, 4_000).split(",") if name.strip())
    )
    if not names:
        raise BadRequest('fields must name at least one field, such as "id,guest.name"')
    if len(names) > MAX_FIELDS:
        raise BadRequest(f"fields names more than {MAX_FIELDS} fields")
    return names


def _text(name: str, value: object, most: int) -> str:
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a text")
    if len(value) > most:
        raise BadRequest(f"{name} is longer than {most:,} characters")
    return value


def _range(name: str, value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    found = (
        _RANGE.match(str(value)) if isinstance(value, (str, int)) and not isinstance(value, bool) else None
    )
    if found is None:
        raise BadRequest(f'{name} must be a range such as "100-200"')
    first = int(found[1])
    last = int(found[2]) if found[2] else first
    if first < 1 or last < first:
        raise BadRequest(f'{name} must be a range from 1 up, such as "100-200"; {value!s:.40} is not')
    return first, last


def _form(value: object) -> str:
    if value is None or value == "":
        return ""
    if value == COUNT:
        return COUNT
    if not isinstance(value, str) or (value != AUTO and value not in FORMS):
        raise BadRequest(f"format must be one of {AUTO}, {', '.join(FORMS)}, {COUNT}")
    if missing := missing_package(value):
        raise BadRequest(missing)
    return value
