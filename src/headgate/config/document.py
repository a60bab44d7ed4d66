"""A YAML or JSON file as a tree of plain values that know their line. Types come from the declarations, not from YAML.

So `on`, `012` and `1:30` mean what the key they stand at says, and every complaint can name a line.
"""

from dataclasses import dataclass
from typing import Any, Final

from headgate.errors import ConfigError

MAX_BYTES: Final = 1 << 20
MAX_VALUES: Final = 20_000
MAX_DEPTH: Final = 20
_CORE: Final = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Scalar:
    text: str
    line: int
    quoted: bool = False

    @property
    def is_null(self) -> bool:
        return not self.quoted and self.text in ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True, slots=True)
class Sequence:
    items: "list[Value]"
    line: int


@dataclass(frozen=True, slots=True)
class Mapping:
    entries: "dict[str, Value]"
    lines: dict[str, int]
    line: int


Value = Scalar | Sequence | Mapping


def read_document(data: bytes, name: str) -> Mapping:
    """The tree of a file; ConfigError says where it is wrong."""
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{name}: larger than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name}: not UTF-8 at byte {error.start}") from None
    if text.lstrip()[:1] == "{":
        text = text.replace("\t", " ")  # JSON may be indented by tabs, YAML not; inside strings JSON has none
    tree = _Converter(name).convert(_compose(text, name), 0)
    if isinstance(tree, Scalar) and tree.is_null:
        return Mapping({}, {}, 1)
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{name}:1: the file must hold keys and values, such as `context_protection:`")
    return tree


def _compose(text: str, name: str) -> Any:
    import yaml  # 20 ms, and only for those who have a file

    compose: Any = getattr(yaml, "compose")  # noqa: B009  # it has no types
    try:
        return compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else 1
        raise ConfigError(f"{name}:{line}: {error.problem or 'not YAML'}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(
            f"{name}: not YAML: {str(error).splitlines()[0] if str(error) else 'too deep'}"
        ) from None


class _Converter:
    """Counts as it goes: aliases that stand for aliases would otherwise grow without end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0

    def convert(self, node: Any, depth: int) -> Value:
        if node is None:
            return Scalar("", 1)
        line: int = node.start_mark.line + 1
        self._count += 1
        if self._count > MAX_VALUES:
            raise ConfigError(
                f"{self._name}:{line}: more than {MAX_VALUES:,} values (aliases that stand for aliases?)"
            )
        if depth > MAX_DEPTH:
            raise ConfigError(f"{self._name}:{line}: nested deeper than {MAX_DEPTH} levels")
        if not node.tag.startswith(_CORE):
            raise ConfigError(f"{self._name}:{line}: tags such as {node.tag[:40]} are not used here")
        if node.id == "sequence":
            return Sequence([self.convert(item, depth + 1) for item in node.value], line)
        if node.id == "mapping":
            return self._mapping(node, depth, line)
        return Scalar(_joined(node.value), line, bool(node.style))

    def _mapping(self, node: Any, depth: int, line: int) -> Mapping:
        entries: dict[str, Value] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            at: int = key.start_mark.line + 1
            if key.id != "scalar":
                raise ConfigError(f"{self._name}:{at}: a key must be a word")
            name = _joined(key.value)
            if name in entries:
                raise ConfigError(
                    f"{self._name}:{at}: {name[:60]} is given twice (first in line {lines[name]})"
                )
            lines[name] = at
            entries[name] = self.convert(value, depth + 1)
        return Mapping(entries, lines, line)


def _joined(text: str) -> str:
    """JSON writes characters beyond 16 bits as two escapes, which YAML reads as two halves."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
