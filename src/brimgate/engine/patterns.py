"""Paths by pattern: as written, `*` for anything, `{name}` for one segment; a slash at the end does not matter."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

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
        """What the names stand for; None where the path is another."""
        found = self.expression.fullmatch(_bare(path))
        return None if found is None else found.groupdict()


def template_for(path: str, templates: "Mapping[str, str]") -> str:
    """The endpoint of one item of the list at `path`, names of the pattern filled in; the later match wins."""
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
