"""What the routes need to know of an API. Whoever calls it is another room's business."""

from collections.abc import Coroutine, Mapping
from typing import Any, Protocol

from brimgate.engine.filling import Filling


class Parameter(Protocol):
    @property
    def name(self) -> str:
        """As the API itself spells it."""
        ...


class Operation(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def routes(self) -> tuple[str, ...]: ...
    @property
    def annotations(self) -> Mapping[str, Any]: ...
    @property
    def input_schema(self) -> dict[str, Any]: ...
    @property
    def parameters(self) -> Mapping[str, Parameter]: ...
    @property
    def is_list(self) -> bool: ...
    @property
    def is_text(self) -> bool:
        """Whether it answers with a text, such as CSV."""
        ...


class Described(Protocol):
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def tools(self) -> Mapping[str, Operation]: ...


class Answered(Protocol):
    @property
    def body(self) -> bytes: ...
    @property
    def content_type(self) -> str: ...
    @property
    def filling(self) -> Filling | None: ...


class Operations(Protocol):
    @property
    def api(self) -> Described: ...

    def run(self, tool: str, arguments: Mapping[str, Any]) -> Coroutine[Any, Any, Answered]:
        """BadRequest for what the caller got wrong, UpstreamError for all else."""
        ...

    def read_texts(self, tool: str, texts: Mapping[str, str]) -> dict[str, Any]:
        """Arguments out of the texts of an address, by the types that the operation declares."""
        ...


def rest_method(operation: Operation) -> str:
    """What only reads is asked for with GET, however the API itself wants it."""
    return "GET" if operation.annotations.get("readOnlyHint") else operation.method
