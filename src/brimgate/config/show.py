"""Write a configuration as text: what is in force, what differs, and the example file. Secrets are never shown."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, get_origin

from brimgate.config.declarations import CALLER_BEARER, AuthOptions, Config, Override, Telemetry, Upstream
from brimgate.engine.options import Key, element_of, keys_of, option_of

_NO_VALUE: Final = "(not set)"
_NULLS: Final = ("null", "Null", "NULL")
_LONG_KEY: Final = 1_000
"""YAML takes at most 1,024 characters before a colon; a longer key needs a question mark before it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One value in force."""

    value: Any
    text: str
    """The text that may be shown."""
    reloadable: bool


def without_secrets(config: Config) -> Config:
    """Return the configuration with its secrets masked."""
    return replace(
        config,
        store=_masked_store(config.store),
        upstreams={name: _masked_upstream(one) for name, one in config.upstreams.items()},
        auth=_masked_auth(config.auth),
        telemetry=_masked_telemetry(config.telemetry),
    )


def _masked_telemetry(telemetry: Telemetry) -> Telemetry:
    from brimgate.config.masking import MASK

    secrets = ("count_key", "webhook_url", "webhook_secret")
    return replace(telemetry, **{name: MASK for name in secrets if getattr(telemetry, name)})


def _masked_store(store: str) -> str:
    """Mask what stands before the host: a user's name and a password."""
    from brimgate.config.masking import MASK

    scheme, _, rest = store.partition("://")
    return f"{scheme}://{MASK}@{rest.rpartition('@')[2]}" if "@" in rest else store


def _masked_auth(auth: AuthOptions) -> AuthOptions:
    from brimgate.config.masking import MASK

    # A digest is no secret, but nobody needs to see it.
    keys = {name: (MASK,) * len(digests) for name, digests in auth.keys.items()}
    return replace(auth, keys=keys, client_secret=MASK if auth.client_secret else "")


def _masked_upstream(one: Upstream) -> Upstream:
    from brimgate.config.masking import MASK, masked, masked_arguments

    return replace(
        one,
        command=masked(one.command),
        args=masked_arguments(one.args),
        env={name: text if text == CALLER_BEARER else MASK for name, text in one.env.items()},
        url=masked(one.url),
        headers=dict.fromkeys(one.headers, MASK),
        upstream_credential=replace(
            one.upstream_credential,
            per_principal=dict.fromkeys(one.upstream_credential.per_principal, MASK),
            static=MASK if one.upstream_credential.static else "",
        ),
    )


def flat(config: Config) -> dict[str, Entry]:
    """Return every value in force by the path of its key."""
    return dict(_flatten(config, without_secrets(config), ""))


def _flatten(section: Any, shown: Any, path: str) -> Iterator[tuple[str, Entry]]:
    for declared in fields(section):
        value, seen = getattr(section, declared.name), getattr(shown, declared.name)
        reloadable = option_of(declared).reloadable
        here = f"{path}{declared.name}"
        if is_dataclass(value):
            yield from _flatten(value, seen, f"{here}.")
        elif isinstance(value, dict):
            yield from _flatten_mapping(value, seen, here, reloadable)  # type: ignore[arg-type]
        elif not (isinstance(section, Override) and value is None):
            yield here, Entry(value, written(option_of(declared).spelled(seen)), reloadable)


def _flatten_mapping(
    values: dict[str, Any], shown: dict[str, Any], path: str, reloadable: bool
) -> Iterator[tuple[str, Entry]]:
    for name, value in values.items():
        here = f"{path}.{_key(name)}"
        if is_dataclass(value):
            yield from _flatten(value, shown[name], f"{here}.")
        else:
            yield here, Entry(value, written(shown[name]), reloadable)


def effective(config: Config) -> str:
    """Write the whole configuration as an equivalent file, except for the secrets."""
    return "\n".join(_lines(without_secrets(config), 0)) + "\n"


def _lines(section: Any, depth: int) -> Iterator[str]:
    for declared in fields(section):
        value = getattr(section, declared.name)
        if not (isinstance(section, Override) and value is None):
            yield from _entry_lines(declared.name, option_of(declared).spelled(value), depth)


def _entry_lines(name: str, value: Any, depth: int) -> Iterator[str]:
    indent, key = "  " * depth, _key(name)
    start = f"{indent}{key}:" if len(key) < _LONG_KEY else f"{indent}? {key}\n{indent}:"
    if is_dataclass(value):
        yield start
        yield from _lines(value, depth + 1)
    elif isinstance(value, dict) and value:
        yield start
        for inner, one in value.items():  # type: ignore[misc]
            yield from _entry_lines(inner, one, depth + 1)  # type: ignore[arg-type]
    else:
        yield f"{start} {written(value)}"


def difference(old: Config, new: Config) -> list[str]:
    """Return what changes from one to the other, a line per key. Of a secret, say only that it changes."""
    told = [
        f"{name}: changed"
        if one and other and one.text == other.text
        else f"{name}: {_text(one)} → {_text(other)}"
        for name, one, other in _changed(old, new)
    ]
    before, after = _rules(old), _rules(new)
    return told + [
        f"{place}: in another order" for place in before if _reordered(before[place], after.get(place, []))
    ]


def _rules(config: Config) -> dict[str, list[str]]:
    """Return the patterns of all overrides. Of several that match the last wins, so their order matters."""
    protection = config.context_protection
    rules = {
        "context_protection.tools": list(protection.tools),
        "context_protection.endpoints": list(protection.endpoints),
        "limits.tools": list(config.limits.tools),
    }
    return rules | {
        f"upstreams.{_key(name)}.tools": list(one.tools) for name, one in config.upstreams.items()
    }


def _reordered(one: list[str], other: list[str]) -> bool:
    return [name for name in one if name in other] != [name for name in other if name in one]


def needs_restart(old: Config, new: Config) -> list[str]:
    """Return the keys that changed and are only read at startup."""
    return [
        name
        for name, one, other in _changed(old, new)
        if not all(entry.reloadable for entry in (one, other) if entry)
    ]


def _changed(old: Config, new: Config) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    before, after = flat(old), flat(new)
    for name in {**before, **after}:
        one, other = before.get(name), after.get(name)
        if (one and one.value) != (other and other.value) or (one is None) != (other is None):
            yield name, one, other


def _text(entry: Entry | None) -> str:
    return entry.text if entry else _NO_VALUE


def written(value: Any) -> str:
    """Write a value as YAML that reads back as itself."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(int(value)) if value == int(value) else repr(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(written(item) for item in value)}]"  # type: ignore[misc]
    if isinstance(value, dict):
        return "{}"
    text = str(value)
    plain = text.replace("_", "").replace("-", "").replace(".", "").isalnum() and text.isascii()
    is_word = plain and not text[0].isdigit() and text not in (*_NULLS, "true", "false")
    return text if is_word else _quoted(text)


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "").replace("/", "").isalnum() and name.isascii()
    return name if plain else _quoted(name)


def _quoted(text: str) -> str:
    """Write in double quotes, with invisible characters as numbers."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"


def example() -> str:
    """Write `config.example.yaml`: every key with its default and its purpose."""
    lines = [
        "# Every option of Brimgate with its default. Copy what you change; unknown keys are errors.",
        "# Checked with: brimgate check config.example.yaml",
        "",
    ]
    for key in keys_of(Config):
        if key.path == ("upstreams",):
            lines += [
                "# Servers by name; `brimgate run --config FILE --upstream NAME` stands before one, `brimgate serve` before all.",
                "upstreams:",
            ]
            lines += [
                "  notes:",
                *_example_keys(Upstream, 2, {"command": "npx", "args": '[-y, "some-mcp-server"]'}),
            ]
            lines.append("")
        elif is_dataclass(key.type) and len(key.path) == 1:
            lines += [f"# {_sentence(key)}", f"{key.name}:", *_example_keys(key.type, 1, {}), ""]  # type: ignore[arg-type]
        elif len(key.path) == 1:
            lines += [f"# {_sentence(key)}", f"{key.name}: {written(key.option.spelled(key.default))}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _example_keys(declaration: type, depth: int, given: dict[str, str]) -> list[str]:
    indent = "  " * depth
    lines: list[str] = []
    for key in keys_of(declaration):
        if len(key.path) > 1:
            continue  # written with its section
        lines.append(f"{indent}# {_sentence(key)}")
        if is_dataclass(key.type):
            lines += [f"{indent}{key.name}:", *_example_keys(key.type, depth + 1, {})]  # type: ignore[arg-type]
        elif key.name in ("tools", "endpoints") and element_of(key.type) is Override:
            pattern = '"list_*"' if key.name == "tools" else "/api/v1/listings"
            lines += [f"{indent}{key.name}:", f"{indent}  {pattern}:"]
            lines += [
                f"{indent}    # {one.name}: {one.option.example or _hint(one)}" for one in keys_of(Override)
            ]
            lines.append(f"{indent}    page_size: 50")
        elif key.name == "env":
            lines += [f"{indent}env:", f'{indent}  API_TOKEN: "…"']
        elif key.name == "headers":
            lines += [f"{indent}headers:", f'{indent}  Authorization: "Bearer TOKEN"']
        elif get_origin(key.type) is dict:
            lines.append(f"{indent}{key.name}: {{}}")
        else:
            lines.append(
                f"{indent}{key.name}: {given.get(key.name, written(key.option.spelled(key.default)))}"
            )
    return lines


def _hint(key: Key) -> str:
    return f"…   ({key.option.doc})"


def _sentence(key: Key) -> str:
    text = key.option.doc
    return text[0].upper() + text[1:]
