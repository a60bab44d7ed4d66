"""What every shape needs to know of a request: what is held, within what, and how a caller gets to the rest."""

from dataclasses import dataclass
from typing import Any, Final

from brimgate.engine.document import Focus, Node, Position, Source, pointer_step, pointer_steps
from brimgate.engine.fields import ALL
from brimgate.engine.policy import Policy
from brimgate.engine.replies.reply import Issue
from brimgate.engine.view import View
from brimgate.front.rest.parameters import ParameterNames

START: Final = Position(0)
_DOMINANT: Final = 0.6
_WRAPPERS: Final = frozenset(
    "result data response payload body item object entity record value".split()  # noqa: SIM905
)
"""Members that hold the one thing an envelope is about. Of others, such as guest in a booking, the thing is around it."""
_OWN: Final = ("meta", "nextCursor")


@dataclass(frozen=True, slots=True)
class Scene:
    source: Source
    policy: Policy
    issue: Issue
    endpoint: str
    names: ParameterNames = ParameterNames()  # noqa: RUF009  # frozen
    template: str = ""
    """Endpoint of one item of the list."""
    is_repeatable: bool = True
    """Whether the same request, with fields added, gives the same answer."""

    def whole_cursor(self) -> str:
        return self.issue(View("whole", form="json"), START)

    def details(self, target: "Target") -> dict[str, Any]:
        """How to get all of something: from the application anew, or from what is held."""
        parameters = {self.names.fields: ALL}
        if not self.is_repeatable or target.path:
            parameters = {self.names.cursor: self.whole_cursor(), **parameters}
        if target.path:
            parameters[self.names.path] = target.path
        return {"endpoint": self.endpoint, "parameters": parameters}

    def at(self, path: str) -> "Target":
        node = self.source.resolve(path)
        if node == self.source.root:
            return Target(self.source)
        return Target(self.source.inside(node), path if path.startswith("/") else "/" + path, node)


@dataclass(frozen=True, slots=True)
class Target:
    """A part of what is held, looked at as an answer of its own."""

    source: Source
    path: str = ""
    node: Node | None = None
    """In the whole; None if it is the whole."""

    def raw(self, scene: Scene) -> bytes:
        return scene.source.raw(self.node or scene.source.root)


def about(source: Source, policy: Policy) -> Focus:
    """What a JSON answer is about: its list, or the object its envelope is around."""
    mapped = _mapped(source, policy.essential_fields)
    if mapped is not None:
        return mapped
    focus = source.focus
    if source.head(focus.node) == b"[" and (not focus.pointer or pointer_steps(focus.pointer)[0] not in _OWN):
        return focus
    return _unwrapped(source)


def _mapped(source: Source, fields: tuple[str, ...]) -> Focus | None:
    """The object that a field map is about: it has at least half of the fields, and more than an item of the list."""
    wanted = {name.partition(".")[0] for name in fields}
    if not wanted:
        return None
    best, most = Focus(source.root, ""), 0
    node, pointer = source.root, ""
    for step in [*pointer_steps(source.focus.pointer), None]:
        found = _names_in(source, node, wanted)
        if found > most and source.head(node) == b"{":
            best, most = Focus(node, pointer), found
        children = source.open(node)
        if step is not None and children and children.keys is not None:
            index = children.keys.index(step)
            node, pointer = source.child(children, index), pointer + pointer_step(children, index)
    items = source.open(node) if source.head(node) == b"[" else None
    in_item = _names_in(source, source.child(items, 0), wanted) if items else 0
    return best if 2 * most >= len(wanted) and most > in_item else None


def _names_in(source: Source, node: Node, wanted: set[str]) -> int:
    children = source.open(node)
    return len(wanted.intersection(children.keys)) if children and children.keys else 0


def _unwrapped(source: Source) -> Focus:
    node, pointer = source.root, ""
    while children := source.open(node):
        keys = children.keys or []
        index = next((at for at, key in enumerate(keys) if key in _WRAPPERS or len(keys) == 1), None)
        if index is None:
            break
        child = source.child(children, index)
        is_heavy = child.end - child.start >= _DOMINANT * (node.end - node.start)
        if source.head(child) != b"{" or not is_heavy or not source.open(child):
            break
        node, pointer = child, pointer + pointer_step(children, index)
    return Focus(node, pointer)
