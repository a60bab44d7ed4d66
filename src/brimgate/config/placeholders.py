"""Fill `${NAME}` in an upstream's texts from the environment; `$${` stands for `${` itself.

A configuration keeps its texts as they are written. They are filled only where a server is started or called, so that
nothing that is shown or logged of a configuration holds what was filled in.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from brimgate.config.declarations import Upstream

_PLACEHOLDER: Final = re.compile(r"\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)\})?")
_ESCAPED: Final = "$${"
_LITERAL: Final = "write $${ where ${ itself is meant"


def filled(one: Upstream, environment: Mapping[str, str] = os.environ) -> Upstream:
    """Return the upstream with all that can be filled in; `unfilled` tells what cannot."""
    return replace(
        one,
        args=tuple(fill(text, environment) for text in one.args),
        env={name: fill(text, environment) for name, text in one.env.items()},
        headers={name: fill(text, environment) for name, text in one.headers.items()},
        url=fill(one.url, environment),
        upstream_credential=replace(
            one.upstream_credential,
            per_principal={
                name: fill(text, environment) for name, text in one.upstream_credential.per_principal.items()
            },
            static=fill(one.upstream_credential.static, environment),
        ),
    )


def unfilled(
    one: Upstream, environment: Mapping[str, str] = os.environ
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the keys that cannot be filled in, each with the reason."""
    for place, text in _texts(one):
        yield from ((place, problem) for problem in problems_of(text, environment))


def problems_of(text: str, environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield why a text cannot be filled in."""
    for found in _PLACEHOLDER.finditer(text):
        name = found[1]
        if found[0] == _ESCAPED or (name and name in environment):
            continue
        problem = f"the variable {name} is not set" if name else "${ must be followed by a name and }"
        yield f"{problem}; {_LITERAL}"


def _texts(one: Upstream) -> Iterator[tuple[tuple[str, ...], str]]:
    yield from ((("args", str(number)), text) for number, text in enumerate(one.args))
    yield from ((("env", name), text) for name, text in one.env.items())
    yield from ((("headers", name), text) for name, text in one.headers.items())
    yield from (
        (("upstream_credential", "per_principal", name), text)
        for name, text in one.upstream_credential.per_principal.items()
    )
    yield ("upstream_credential", "static"), one.upstream_credential.static
    yield ("url",), one.url


def fill(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return a text with all that can be filled in."""

    def value(found: "re.Match[str]") -> str:
        return "${" if found[0] == _ESCAPED else environment.get(found[1] or "", found[0])

    return _PLACEHOLDER.sub(value, text) if "${" in text else text
