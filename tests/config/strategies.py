"""Configurations, and files that might be one."""

from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from brimgate.config.declarations import Config, ContextProtection, Override, Server, Upstream
from brimgate.engine.options import element_of, keys_of, option_of

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = st.one_of(
    st.sampled_from(
        ["list_*", "/api/v1/listings", "null", "true", "~", "1", "-", "a: b", "#", "<<", "", "*x", "é"]
    ),
    words,
    st.text("ab", min_size=1_000, max_size=1_100),
)
DEPENDENT = ("default_page_size", "page_size", "threshold")
"""Kept small enough to go with any maximum."""


def values(kind: Any, name: str, least: float, most: float) -> st.SearchStrategy[Any]:
    options = (
        [one for one in get_args(kind) if one is not type(None)] if type(None) in get_args(kind) else [kind]
    )
    if len(options) == 1 and options[0] is not kind:
        return st.none() | values(options[0], name, least, most)
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if get_origin(kind) is dict:
        return st.dictionaries(names, values(element_of(kind), name, least, most), max_size=2)
    if is_dataclass(kind):
        return sections(kind)  # type: ignore[arg-type]
    if get_origin(kind) is tuple:
        return st.lists(words, max_size=3).map(tuple)
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(int(least), int(most))
    if kind is float:
        return st.floats(least, most)
    return words


def sections(declaration: type, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(declaration)
    made = {
        one.name: given[one.name]
        if one.name in given
        else values(hints[one.name], one.name, option_of(one).minimum or 0, option_of(one).maximum or 10**9)
        for one in fields(declaration)
    }
    return st.builds(declaration, **made)


overrides = sections(Override)
many_overrides = st.dictionaries(names, overrides, max_size=2)
upstreams = sections(
    Upstream,
    env=st.dictionaries(words, words, max_size=2),
    headers=st.dictionaries(words, words, max_size=2),
    pack=st.sampled_from(["", "graphiti"]),
    tools=many_overrides,
)
configs: st.SearchStrategy[Config] = sections(
    Config,
    upstreams=st.dictionaries(names, upstreams, max_size=2),
    server=sections(Server),
    context_protection=sections(ContextProtection, tools=many_overrides, endpoints=many_overrides),
)

# Files

_declared = [
    key.path[-1]
    for declaration in (Config, ContextProtection, Override, Server, Upstream)
    for key in keys_of(declaration)
]
_scalars = st.one_of(
    st.sampled_from(
        ["1", "true", "null", "~", "4000", "-1", "1e999", "0x1f", "2026-11-16", "*a", "&a 1", "!!int x"]
    ),
    st.integers().map(str),
    st.floats().map(str),
    st.text(max_size=10),
)


def _flow(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    mapping = st.lists(st.tuples(st.sampled_from(_declared) | st.text(max_size=5), children), max_size=4).map(
        lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
    )
    return mapping | st.lists(children, max_size=4).map(lambda items: "[" + ", ".join(items) + "]")


almost_files = st.recursive(_scalars, _flow, max_leaves=12)
"""YAML with the right words in it, and whatever else at any place."""
