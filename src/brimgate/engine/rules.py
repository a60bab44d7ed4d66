"""The rule for one tool, and how it is looked up."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Literal

from brimgate.engine.policy import Policy

if TYPE_CHECKING:
    from brimgate.engine.replies.formatted import AnswerFormat

OutputSchema = Literal["drop", "relax", "keep"]
AnswerFormats = Callable[[bytes, Callable[[dict[str, Any]], None]], "AnswerFormat"]
"""Returns the format of the answer to a call.

Takes the arguments and a callback for problems (fields of a log line).
"""
DEFAULT_TTL_SECONDS: Final = 600
_MAX_REMEMBERED: Final = 4_096


@dataclass(frozen=True, slots=True)
class ToolRule:
    policy: Policy = field(default_factory=Policy)
    enabled: bool = True
    """If False, answers pass unchanged, whatever their size (the one-line rollback)."""
    rollout_percent: int = 100
    """Percentage of protected calls. A call is chosen by its arguments, so the same call is always treated alike."""
    output_schema: OutputSchema = "drop"
    annotate: bool = False
    """Also put the budget record on answers that are passed unchanged."""
    hidden: bool = False
    max_description_chars: int = 0
    """Cut longer descriptions in the list of tools; 0 leaves them unchanged."""
    words: AnswerFormats | None = None
    """The formatters of a pack that knows the tool."""

    @property
    def reads_everything(self) -> bool:
        """Whether even a small answer must be inspected."""
        return self.annotate or self.policy.compact

    def answer_format(
        self, arguments: bytes = b"", on_trouble: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> "AnswerFormat | None":
        return self.words(arguments, on_trouble) if self.words is not None else None

    def protects(self, tool: str, arguments: bytes) -> bool:
        """Return whether a call is among those that are protected."""
        if not self.enabled or self.rollout_percent >= 100:
            return self.enabled
        drawn = blake2b(tool.encode() + b"\0" + arguments, digest_size=4).digest()
        return int.from_bytes(drawn, "big") % 100 < self.rollout_percent

    def may_be_large(self, raw: bytes | bytearray) -> bool:
        """Return whether an answer might exceed its budget. One that surely does not need not be opened."""
        policy = self.policy
        least = min(policy.text_threshold, policy.list_threshold, policy.object_threshold)
        return len(raw) > 3 * least or policy.estimator.bound_of(raw) > least


class Rules:
    """The rules in force. A configuration change makes a new object; calls under way keep theirs."""

    def __init__(
        self,
        resolve: Callable[[str], ToolRule] = lambda _: ToolRule(),
        *,
        read_tool: str = "brimgate_read",
        ttl_seconds: int = DEFAULT_TTL_SECONDS,
    ) -> None:
        self.read_tool = read_tool
        self.ttl_seconds = ttl_seconds
        self._resolve = resolve
        self._known: dict[str, ToolRule] = {}

    def of(self, tool: str) -> ToolRule:
        rule = self._known.get(tool)
        if rule is None:
            rule = self._resolve(tool)
            if len(self._known) < _MAX_REMEMBERED:  # names come from outside
                self._known[tool] = rule
        return rule


_WILD: Final = re.compile(r"\*|\{([^{}/]*)\}")


@dataclass(frozen=True, slots=True)
class PathPattern:
    expression: re.Pattern[str]

    @classmethod
    def of(cls, text: str) -> "PathPattern":
        out: list[str] = []
        named: set[str] = set()
        at = 0
        text = _bare(text)
        for found in _WILD.finditer(text):
            out.append(re.escape(text[at : found.start()]))
            at = found.end()
            name = found[1] or ""
            if found[0] == "*":
                out.append(".*")
            elif name.isidentifier() and name not in named:
                named.add(name)
                out.append(f"(?P<{name}>[^/]+)")
            else:
                out.append("[^/]+")
        return cls(re.compile("".join([*out, re.escape(text[at:])]), re.DOTALL))

    def match(self, path: str) -> dict[str, str] | None:
        """Return the values of the names in the pattern. None if the path does not match."""
        found = self.expression.fullmatch(_bare(path))
        return None if found is None else found.groupdict()


def template_for(path: str, templates: "Mapping[str, str]") -> str:
    """Return the endpoint for one item of the list at `path`, with names filled in. The last match wins."""
    chosen = ""
    for pattern, template in templates.items():
        names = PathPattern.of(pattern).match(path)
        if names is not None:
            chosen = template
            for name, value in names.items():
                chosen = chosen.replace(f"{{{name}}}", value)
    return chosen


def _bare(path: str) -> str:
    return path.rstrip("/") or "/"
