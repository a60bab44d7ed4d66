"""A configuration as text: what is in force, what differs, and the example file. Secrets never show."""

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

from headgate.config.declarations import Config, ContextProtection, Override, Upstream
from headgate.config.options import Key, keys_of, option_of

MASK: Final = "•••"


def flat(config: Config) -> dict[str, tuple[str, bool]]:
    """Every value in force by the path of its key, masked where it is secret, and whether it can be reloaded."""
    return dict(_flatten(config, ""))


def _flatten(section: Any, path: str) -> Iterator[tuple[str, tuple[str, bool]]]:
    for declared in fields(section):
        about = option_of(declared)
        value = getattr(section, declared.name)
        here = f"{path}{declared.name}"
        if is_dataclass(value):
            yield from _flatten(value, f"{here}.")
        elif isinstance(value, dict):
            yield from _flatten_mapping(value, here, secret=about.secret, reloadable=about.reloadable)  # type: ignore[arg-type]
        elif not (isinstance(section, Override) and value is None):
            yield here, (MASK if about.secret and value else written(value), about.reloadable)


def _flatten_mapping(
    values: dict[str, Any], path: str, *, secret: bool, reloadable: bool
) -> Iterator[tuple[str, tuple[str, bool]]]:
    for name, value in values.items():
        here = f"{path}.{_key(name)}"
        if is_dataclass(value):
            yield from _flatten(value, f"{here}.")
        else:
            yield here, (MASK if secret else written(value), reloadable)


def effective(config: Config) -> str:
    """The whole configuration as a file that says the same."""
    return "\n".join(_lines(config, 0)) + "\n"


def _lines(section: Any, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for declared in fields(section):
        value = getattr(section, declared.name)
        secret = option_of(declared).secret
        if isinstance(section, Override) and value is None:
            continue
        if is_dataclass(value):
            yield f"{indent}{declared.name}:"
            yield from _lines(value, depth + 1)
        elif isinstance(value, dict) and value:
            yield f"{indent}{declared.name}:"
            yield from _mapping_lines(value, depth + 1, secret=secret)  # type: ignore[arg-type]
        else:
            yield f"{indent}{declared.name}: {MASK if secret and value else written(value)}"


def _mapping_lines(values: dict[str, Any], depth: int, *, secret: bool) -> Iterator[str]:
    indent = "  " * depth
    for name, value in values.items():
        if is_dataclass(value):
            yield f"{indent}{_key(name)}:"
            yield from _lines(value, depth + 1)
        else:
            yield f"{indent}{_key(name)}: {MASK if secret else written(value)}"


def difference(old: Config, new: Config) -> list[str]:
    """What changes from one to the other, a line per key. Of a secret only that it changes."""
    before, after = flat(old), flat(new)
    told = [
        f"{name}: {before.get(name, ('(not set)', True))[0]} → {after.get(name, ('(not set)', True))[0]}"
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
    told += [
        f"upstreams.{name}.env: changed"
        for name in old.upstreams.keys() & new.upstreams.keys()
        if old.upstreams[name].env != new.upstreams[name].env
        and not any(line.startswith(f"upstreams.{name}.env") for line in told)
    ]
    return told


def needs_restart(old: Config, new: Config) -> list[str]:
    """Keys that changed and are only read when we start."""
    before, after = flat(old), flat(new)
    return [
        name
        for name in {**before, **after}
        if before.get(name, ("", True))[0] != after.get(name, ("", True))[0]
        and not (before.get(name) or after[name])[1]
    ]


def written(value: Any) -> str:
    """A value as YAML that reads back as itself."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(written(item) for item in value)}]"  # type: ignore[misc]
    if isinstance(value, dict):
        return "{}"
    text = str(value)
    plain = text.replace("_", "").replace("-", "").replace(".", "").isalnum() and text.isascii()
    return (
        text
        if plain and not text[0].isdigit() and text not in ("null", "true", "false")
        else json.dumps(text)
    )


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "").replace("/", "").isalnum() and name.isascii()
    return name if plain else json.dumps(name, ensure_ascii=False)


def example() -> str:
    """`config.example.yaml`: every key with its default and what it is for."""
    lines = [
        "# Every option of Headgate with its default. Copy what you change; unknown keys are errors.",
        "# Checked with: headgate check config.example.yaml",
        "",
    ]
    for key in keys_of(Config):
        if key.path == ("upstreams",):
            lines += [
                "# Servers by name; `headgate run --config FILE --upstream NAME` starts one.",
                "upstreams:",
            ]
            lines += [
                "  notes:",
                *_example_keys(Upstream, 2, {"command": "npx", "args": '[-y, "some-mcp-server"]'}),
            ]
            lines.append("")
        elif key.path == ("context_protection",):
            lines += [f"# {_sentence(key)}", "context_protection:"]
            lines += _example_keys(ContextProtection, 1, {})
        elif len(key.path) == 1:
            lines += [f"# {_sentence(key)}", f"{key.name}: {written(key.default)}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _example_keys(declaration: type, depth: int, given: dict[str, str]) -> list[str]:
    indent = "  " * depth
    lines: list[str] = []
    for key in keys_of(declaration):
        lines.append(f"{indent}# {_sentence(key)}")
        if key.name in ("tools", "endpoints"):
            pattern = '"list_*"' if key.name == "tools" else "/api/v1/listings"
            lines += [f"{indent}{key.name}:", f"{indent}  {pattern}:"]
            lines += [
                f"{indent}    # {one.name}: {one.option.example or _hint(one)}" for one in keys_of(Override)
            ]
            lines.append(f"{indent}    page_size: 50")
        elif key.name == "env":
            lines += [f"{indent}env:", f'{indent}  API_TOKEN: "…"']
        else:
            lines.append(f"{indent}{key.name}: {given.get(key.name, written(key.default))}")
    return lines


def _hint(key: Key) -> str:
    return f"…   ({key.option.doc})"


def _sentence(key: Key) -> str:
    text = key.option.doc
    return text[0].upper() + text[1:]
