"""The values of a declaration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

AuthKind = Literal["none", "bearer", "header", "basic", "oauth_client_credentials", "caller"]
Where = Literal["path", "query", "header", "body"]
Scope = Literal["address", "account"]
Style = Literal["offset", "page", "cursor"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A text, or the environment variable that holds it."""

    text: str | None = field(default=None, repr=False)
    """With a variable: the default."""
    variable: str = ""
    others: tuple[str, ...] = ()
    """Variables that hold it if that one does not."""


Constant = Setting | int | float | bool


@dataclass(frozen=True, slots=True)
class Auth:
    kind: AuthKind = "none"
    settings: Mapping[str, Setting] = field(default_factory=lambda: {})
    """token; or name and value; or username and password; or client_id, client_secret and scope.

    For `caller`: the token that is used where there is one user only, if any.
    """
    token_path: str = ""


@dataclass(frozen=True, slots=True)
class RateLimit:
    requests: int
    seconds: float
    per: Scope


@dataclass(frozen=True, slots=True)
class Parameter:
    key: str
    """The name for our callers."""
    name: str
    """The name in the API."""
    where: Where
    schema: Mapping[str, Any]
    is_required: bool = False
    explode: bool = False
    """Write a list as `a=1&a=2` and not as `a=1,2`."""
    in_list: bool = False
    """Send one value as a list of one."""
    as_objects: str = ""
    """Send each item of a list as an object with this one member."""
    beside: bool = False
    """Of a partial update: it says what is changed, and is not itself a change."""
    is_nullable: bool = False
    is_html: bool = False
    """A plain text is sent as paragraphs of HTML."""
    lookup: "Lookup | None" = None
    """How a name is turned into the id that the API wants."""

    @property
    def type(self) -> str:
        return self.schema["type"]

    @property
    def shown_schema(self) -> dict[str, Any]:
        """The schema for callers."""
        shown = dict(self.schema)
        if self.lookup is not None and self.type == "array":
            return shown | {"items": {"type": ["integer", "string"]}}
        more = [*(["string"] if self.lookup is not None else []), *(["null"] if self.is_nullable else [])]
        if more and "enum" in shown:
            shown["enum"] = [*shown["enum"], None]
        return shown | ({"type": [self.type, *more]} if more else {})


@dataclass(frozen=True, slots=True)
class Lookup:
    """Finds the id of what a caller names: by a path that the name gives, or in a list that the API searches."""

    what: str
    """What it finds, for messages."""
    path: str
    take: str
    """Where the id is in the answer, or in the item of a list."""
    pattern: str = ""
    """A regular expression whose named groups fill the path."""
    search: str = ""
    """The query parameter that gets the name."""
    match: tuple[str, ...] = ()
    """The members of an item, one of which must be the name."""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Partial:
    """An update of some members, on an API that otherwise overwrites all of them."""

    read: str
    """The path of the object as it is; empty if it need not be read."""
    names: str = ""
    """The member of the body that gets the names of what changes; without it the whole object is sent back."""
    values: str = ""
    """The member that gets the values."""
    carry: tuple[str, ...] = ()
    """What the API overwrites all the same, and so is sent back as it is, unless it is what changes."""
    at_least: str = ""
    """The member to name, with its value, where nothing but those changes: with no name at all it would write all."""


@dataclass(frozen=True, slots=True)
class FoundAt:
    """Where in an answer something is: in its JSON, or in a header."""

    pointer: str = ""
    header: str = ""

    def __bool__(self) -> bool:
        return bool(self.pointer or self.header)


@dataclass(frozen=True, slots=True)
class Table:
    columns: str
    rows: str
    name: str = ""
    """The member of a column that names it; empty where columns are texts."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Which part of an answer is returned."""

    pointer: str = ""
    is_list: bool = False
    is_object: bool = False
    """If neither: any kind of value."""
    keep: Mapping[str, str] = field(default_factory=lambda: {})
    name: str = ""
    fields: tuple[str, ...] = ()
    table: Table | None = None
    each: str = ""
    is_text: bool = False
    is_file: bool = False
    """Bytes of any kind, given out as they came."""


@dataclass(frozen=True, slots=True)
class Paging:
    style: Style
    size: int
    limit: str = ""
    """The API's name for the page size; may be empty if it knows none."""
    at: str = ""
    """Its name for the offset, the page number, or the cursor."""
    first: int = 1
    """The number of the first page."""
    next: str = ""
    """Where the next cursor is in an answer."""
    total: FoundAt = FoundAt()
    """Where the number of all items is, if anywhere."""
    pages: FoundAt = FoundAt()
    """Where the number of all pages is, if anywhere."""
    key: str = ""
    """The member that identifies an item."""


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a list that the API itself cannot sort so."""

    by: str
    """The member to sort by, the latest first."""
    most: int
    """Sort a list of at most so many records: all of them must be fetched at once."""
    unless: str = ""
    """The parameter that chooses an order of the API itself."""


@dataclass(frozen=True, slots=True)
class ApiTool:
    name: str
    title: str
    description: str
    method: str
    path: str
    routes: tuple[str, ...]
    annotations: Mapping[str, Any]
    input_schema: dict[str, Any]
    parameters: Mapping[str, Parameter]
    fixed: Mapping[Where, Mapping[str, Constant]]
    """Constants that are sent with every call."""
    body: Literal["form", "json"]
    answer: Shape
    paging: Paging | None
    order: Order | None = None
    partial: Partial | None = None
    upload: str = ""
    """The part of a multipart body that takes a file; empty if it takes none."""
    takes_html: bool = False
    """Whether callers may ask for HTML as it is."""
    steps: tuple["ApiTool", ...] = ()
    """The requests it consists of, if there are several. The answer is that of the last one."""
    when: str = ""
    """Of a step: the parameter that must be given."""
    take: Mapping[str, str] = field(default_factory=lambda: {})
    """Of a step: parameters of later steps, and where in its answer they are."""
    each: str = ""
    """The list parameter for whose items it is run one by one."""
    item: str = ""
    """The parameter that gets one item of that list."""
    single: "ApiTool | None" = None
    """The tool that is run for one item."""
    within: Mapping[str, str] = field(default_factory=lambda: {})
    """Paths that are used instead if a parameter is given."""

    def path_for(self, arguments: Mapping[str, Any]) -> str:
        """Return the path of a request with these arguments."""
        return next((path for key, path in self.within.items() if arguments.get(key) is not None), self.path)

    @property
    def served_method(self) -> str:
        """The method we serve it with: GET for a tool that only reads, whatever the API itself uses."""
        return "GET" if self.annotations.get("readOnlyHint") else self.method

    @property
    def only_reads(self) -> bool:
        """Whether calling it again is harmless."""
        return self.served_method == "GET"

    @property
    def is_destructive(self) -> bool:
        return self.annotations.get("destructiveHint") is True and not self.only_reads

    @property
    def is_list(self) -> bool:
        return self.answer.is_list

    @property
    def is_text(self) -> bool:
        return self.answer.is_text


@dataclass(frozen=True, slots=True)
class StatusMeaning:
    """What a status of an API means, where it is not what HTTP says."""

    kind: str
    say: str


@dataclass(frozen=True, slots=True)
class ErrorMap:
    message: str = ""
    """Where in the body of an error its message is; empty if nowhere."""
    details: str = ""
    """Where the list of what is wrong is."""
    reset: str = ""
    """The header with the time, in seconds since 1970, when a limit has room again."""
    statuses: Mapping[int, StatusMeaning] = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True)
class Api:
    name: str
    title: str
    description: str
    base_url: Setting
    timeout_seconds: float
    max_answer_bytes: int
    auth: Auth
    rate_limits: tuple[RateLimit, ...]
    max_waiting: int
    max_wait_seconds: float
    errors: ErrorMap
    health: str
    """The path, with a query, of the request that checks its health; empty if none is declared."""
    check_name: str
    """Its name among the checks of `/health`; empty for that of the upstream."""
    base_path: str
    """The path that its address ends in; it is added where it is missing."""
    omit: frozenset[bytes]
    """Values, as compact JSON, whose members are left out of answers."""
    html: tuple[str, ...]
    """Members with HTML, which are given out as plain text."""
    tools: Mapping[str, ApiTool]
