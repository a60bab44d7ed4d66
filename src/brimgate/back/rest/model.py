"""The values of a declaration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

AuthKind = Literal["none", "bearer", "header", "basic", "oauth_client_credentials"]
Where = Literal["path", "query", "header", "body"]
Scope = Literal["address", "account"]
Style = Literal["offset", "page", "cursor"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A text, or the environment variable that holds it."""

    text: str | None = field(default=None, repr=False)
    """With a variable: the default."""
    variable: str = ""


Constant = Setting | int | float | bool


@dataclass(frozen=True, slots=True)
class Auth:
    kind: AuthKind = "none"
    settings: Mapping[str, Setting] = field(default_factory=lambda: {})
    """token; or name and value; or username and password; or client_id, client_secret and scope."""
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

    @property
    def type(self) -> str:
        return self.schema["type"]


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
    total: str = ""
    """Where the number of all items is; empty if nowhere."""
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

    @property
    def served_method(self) -> str:
        """The method we serve it with: GET for a tool that only reads, whatever the API itself uses."""
        return "GET" if self.annotations.get("readOnlyHint") else self.method

    @property
    def only_reads(self) -> bool:
        """Whether calling it again is harmless."""
        return self.served_method == "GET"

    @property
    def is_list(self) -> bool:
        return self.answer.is_list

    @property
    def is_text(self) -> bool:
        return self.answer.is_text


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
    message: str
    """Where in the body of an error its message is; empty if nowhere."""
    health: str
    """The path, with a query, of the request that checks its health; empty if none is declared."""
    tools: Mapping[str, ApiTool]
