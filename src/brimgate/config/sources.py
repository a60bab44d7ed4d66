"""Load a configuration from its sources: defaults, then those of a pack, the file, the environment, the command line."""

import os
import re
from collections.abc import Callable, Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final

from brimgate.config.declarations import (
    AuthOptions,
    Config,
    ContextProtection,
    RequestLimits,
    Server,
    Telemetry,
    Upstream,
)
from brimgate.config.placeholders import fill, filled, problems_of, unfilled
from brimgate.config.reader import Place, dotted, raise_all, read_scalar
from brimgate.config.tree import MAX_BYTES, shown
from brimgate.engine.options import PREFIX, Key, inner_of, keys_of
from brimgate.errors import ConfigError, OperatorError

Read = Callable[[bytes | None], Config]
"""Reads the configuration, from the content of its file where that is known already."""
WORKER_VARIABLE: Final = "BRIMGATE_WORKER"
"""Tells a process that it is one of several workers, and which."""
OTHER_VARIABLES: Final = frozenset(
    ("BRIMGATE_CONFIG", "BRIMGATE_STATE_DIR", "BRIMGATE_CURSOR_KEY", WORKER_VARIABLE)
)
_SECTIONS: Final = {
    "context_protection": ContextProtection,
    "server": Server,
    "auth": AuthOptions,
    "limits": RequestLimits,
    "telemetry": Telemetry,
}
_URL: Final = re.compile(r"https?://[^\s/@?#]+(?:[/?][^\s#]*)?")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,8192}")
_OUR_HEADERS: Final = frozenset(
    (
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "accept-encoding",
        "expect",
        "origin",
        "upgrade",
        "te",
    )
)
_NO_NAMES: Final = ("", ".", "..")
"""Names that clients resolve to another place when they are part of a path."""
_PLACES: Final = ("folder", "memory")
_STORE: Final = "the URL of a Redis or Valkey: redis://[:PASSWORD@]HOST[:PORT][/DATABASE], rediss://… or unix://[:PASSWORD@]/PATH[?db=N]"
REDIS_URL: Final = "REDIS_URL"
_STORE_URL: Final = re.compile(
    r"rediss?://(?:[^\s/@?#]*@)?(?:[^\s/@:\[\]]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?(?:/\d*)?(?:\?[a-z_]+=[^\s&]*(?:&[a-z_]+=[^\s&]*)*)?"
    r"|unix://(?:[^\s/@?#]*@)?/\S+"
)
_NOT_THERE: Final = re.compile(r"[?&](?:password|username|decode_responses|encoding)")
"""Options that would be shown, or change what we read."""
_FILLED_IN: Final = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_MAX_PORT: Final = 65_535
_REPLICA: Final = re.compile(r"[A-Za-z0-9_-]{0,20}")
_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def load(
    path: Path | None = None,
    environment: AnyMapping[str, str] | None = None,
    overrides: AnyMapping[str, str] | None = None,
    content: bytes | None = None,
    defaults: Callable[[Config], AnyMapping[str, str]] | None = None,
) -> Config:
    """Return the configuration in force. `overrides` are keys, or their flags, and values of the command line.

    `content` is what was read of the file already: read again, it might be half of what is being written. `defaults`
    returns what a pack has instead of our own, as keys and values, for a configuration as its file has it.
    """
    if path is None:
        config, origins = Config(), {}
    else:
        config, origins = _read(read_file(path) if content is None else content, str(path))
    if defaults is not None:
        config = _with_defaults(config, defaults(config), origins)
    environment = os.environ if environment is None else environment
    given = {
        key.name: (key.variable, environment[key.variable])
        for key in variables()
        if key.variable in environment
    }
    config = _override(config, given, origins)
    line = {
        name: (name if name.startswith("--") else f"--set {name}", value)
        for name, value in (overrides or {}).items()
    }
    config = _override(config, line, origins)
    if path is not None:
        config = replace(
            config, upstreams={name: _beside(path, one) for name, one in config.upstreams.items()}
        )
    _check(config, str(path) if path else "configuration", origins, environment)
    return config


def _with_defaults(config: Config, given: AnyMapping[str, str], origins: AnyMapping[Place, str]) -> Config:
    """Use the defaults of a pack for keys that the file does not have."""
    places = {name: key.path for key in variables() for name in key.names}
    fresh = {name: ("the pack", value) for name, value in given.items() if places.get(name) not in origins}
    if ("auth", "verify_url") in origins:
        fresh.pop("auth.user_url", None)  # it must be at the same origin, and so goes with it
    return _override(config, fresh, {})


def _beside(path: Path, one: Upstream) -> Upstream:
    """Look for files beside the file that names them: clients start us from anywhere."""
    return replace(one, api=str(path.parent / one.api)) if one.api else one


def load_file(path: Path) -> Config:
    """Read a file by itself, without the environment."""
    return parse(read_file(path), str(path))


def read_file(path: Path) -> bytes:
    """Read as much of a file as a configuration may have, and one byte more if it is larger."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except ValueError:  # a path with a NUL in it
        raise ConfigError(f"{shown(str(path))}: no such file") from None


def parse(data: bytes, name: str) -> Config:
    """Parse a file. Report all errors at once, each with its key and line."""
    return _read(data, name)[0]


def _read(data: bytes, name: str) -> tuple[Config, dict[Place, str]]:
    from brimgate.config.reader import read_config  # 5 ms, and only needed with a file

    return read_config(data, name)


@cache
def variables() -> tuple[Key, ...]:
    """Return the keys that an environment variable overrides."""
    found = [key for key in keys_of(Config) if key.variable and len(key.path) == 1]
    for section, declaration in _SECTIONS.items():
        found += [key for key in keys_of(declaration, (section,)) if key.variable]
    return tuple(found)


def unknown_variables(environment: AnyMapping[str, str]) -> list[str]:
    known = {key.variable for key in variables()} | OTHER_VARIABLES
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)


def _override(config: Config, given: AnyMapping[str, tuple[str, str]], origins: dict[Place, str]) -> Config:
    """Override single values by the names of their keys, each with the name of its source."""
    known = {name: key for key in variables() for name in (*key.names, key.option.flag) if name}
    changes: dict[Place, dict[str, Any]] = {(): {}, **{(section,): {} for section in _SECTIONS}}
    complaints: list[str] = []
    for name, (origin, text) in given.items():
        key = known.get(name)
        if key is None:
            near = get_close_matches(name[:60], known, 1)
            complaints.append(f"{shown(origin)}: unknown key{f'; did you mean {near[0]}?' if near else ''}")
            continue
        value, wrong = read_scalar(inner_of(key.type), text.strip(), key.option)
        if wrong:
            complaints.append(
                f"{origin}: {wrong}" if origin == key.option.flag else f"{origin}: {key.name}: {wrong}"
            )
        changes[key.path[:-1]][key.path[-1]] = value
        origins[key.path] = origin
    raise_all(complaints)
    sections = {section: replace(getattr(config, section), **changes[section,]) for section in _SECTIONS}
    return replace(config, **sections, **changes[()])


def _check(
    config: Config, name: str, origins: AnyMapping[Place, str], environment: AnyMapping[str, str]
) -> None:
    """Check what no key can check alone."""
    from brimgate.config.rule_reader import contradictions

    servers = {name: filled(one, environment) for name, one in config.upstreams.items()}
    found = [
        *contradictions(config),
        *_unfilled(config, environment),
        *_impossible(replace(config, upstreams=servers)),
        *_unknown_packs(config),
    ]
    complaints: list[str] = []
    for places, what in found:
        origin = next((origins[place] for place in places if place in origins), name)
        complaints.append(f"{origin}: {dotted(places[0])}: {what}")
    raise_all(complaints)


def _unfilled(config: Config, environment: AnyMapping[str, str]) -> Iterator[tuple[tuple[Place, ...], str]]:
    yield from (((("store",),), what) for what in problems_of(config.store, environment))
    for name in ("count_key", "webhook_url", "webhook_secret"):
        text = getattr(config.telemetry, name)
        yield from (((("telemetry", name),), what) for what in problems_of(text, environment))
    url = fill(config.telemetry.webhook_url, environment)
    if url and not _URL.fullmatch(url):
        yield ((("telemetry", "webhook_url"),), "must be an http or https URL without a login")
    for name, one in config.upstreams.items():
        for place, what in unfilled(one, environment):
            yield (("upstreams", name, *place),), what


def _unknown_packs(config: Config) -> Iterator[tuple[tuple[Place, ...], str]]:
    for name, one in config.upstreams.items():
        if one.pack:
            from brimgate.config.pack_rules import rules_of
            from brimgate.packs.discovery import load_pack

            try:
                rules_of(load_pack(one.pack), config.context_protection.hard_output_token_cap)
            except OperatorError as error:
                yield (("upstreams", name, "pack"),), str(error)


def _impossible(config: Config) -> Iterator[tuple[tuple[Place, ...], str]]:
    if not _TOOL_NAME.fullmatch(config.read_tool):
        what = f"must be a name of 1 to 64 letters, digits, _, - or ., not {config.read_tool[:40]!r}"
        yield (("read_tool",),), what
    if config.store not in _PLACES and not is_store_url(config.store):
        yield (("store",),), f"must be folder, memory, or {_STORE}"
    if not _REPLICA.fullmatch(config.server.replica):
        yield (("server", "replica"),), "must be a name of at most 20 letters, digits, _ or -"
    yield from _wrong_patterns(config.telemetry.redact)
    for name, one in config.upstreams.items():
        home = ("upstreams", name)
        if name in _NO_NAMES:
            yield (home,), "cannot be the name of a server: clients call it at /mcp/NAME"
        yield from unreachable(one, home)
        for key, texts in (("command", (one.command,)), ("args", one.args), ("cwd", (one.cwd,))):
            if any("\0" in text for text in texts):
                yield ((*home, key),), "holds a NUL character, which no command line can"
        for variable, text in one.env.items():
            if not variable or "=" in variable or "\0" in variable + text:
                what = "is not the name of a variable, or its value holds a NUL character"
                yield ((*home, "env", variable),), what


def _wrong_patterns(patterns: tuple[str, ...]) -> Iterator[tuple[tuple[Place, ...], str]]:
    if patterns:
        from brimgate.engine.matcher import compiled
        from brimgate.errors import BadRequest

        for pattern in patterns:
            try:
                compiled(pattern)
            except BadRequest as error:
                yield (("telemetry", "redact"),), f"{pattern[:40]!r}: {error}".replace("search ", "this ")


def is_store_url(url: str) -> bool:
    """Return whether a text is a URL of a Redis or Valkey. Placeholders may stand for any part of it."""
    found = _STORE_URL.fullmatch(_FILLED_IN.sub("1", url))
    return found is not None and int(found[1] or 1) <= _MAX_PORT and _NOT_THERE.search(url) is None


def store_url(config: Config, environment: AnyMapping[str, str] | None = None) -> str:
    """Return where replicas share their state: `store`, or REDIS_URL unless `store` says memory; empty if nowhere."""
    environment = os.environ if environment is None else environment
    if "://" in config.store:
        filled_in = fill(config.store, environment)
        if not is_store_url(filled_in):
            raise ConfigError(
                f"store: must be {_STORE}, with %XX for what is special in a URL, such as / in a password"
            )
        return filled_in
    given = "" if config.store == "memory" else environment.get(REDIS_URL, "").strip()
    if given and not is_store_url(given):
        # Without the URL itself, which may hold a password.
        raise ConfigError(f"{REDIS_URL}: must be {_STORE}; `store: memory` leaves it unused")
    return given


def _may_have_api(pack: str) -> bool:
    """Return whether a pack declares tools on a REST API. A pack that cannot be loaded is reported elsewhere."""
    try:
        return bool(pack) and has_api(pack, or_raise=True)
    except OperatorError:
        return True


def has_api(pack: str, *, or_raise: bool = False) -> bool:
    """Return whether there is a pack of this name that declares tools on a REST API."""
    from brimgate.packs.discovery import load_pack
    from brimgate.packs.pack import API_FILE

    try:
        return bool(load_pack(pack).file(API_FILE))
    except OperatorError:
        if or_raise:
            raise
        return False


def _has_host(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    labels = host.removesuffix(".").split(".")
    return port != 0 and (":" in host or all(0 < len(label) < 64 for label in labels))


def unreachable(one: Upstream, home: Place) -> Iterator[tuple[tuple[Place, ...], str]]:
    if one.is_rest and not one.api and not _may_have_api(one.pack):
        yield (
            ((*home, "command"), home),
            "is missing; a server needs a `command`, or the `url` of one that runs, or an `api` that declares its tools",
        )
    if one.command and one.url:
        yield ((*home, "url"), home), "and `command` exclude each other"
    for key in ("api", "base_url"):
        if getattr(one, key) and not one.is_rest:
            yield ((*home, key), home), "is for a REST API: it excludes `command` and `url`"
    for key in ("url", "base_url"):
        address: str = getattr(one, key)
        if address and not (_URL.fullmatch(address) and _has_host(address)):
            what = "must be http:// or https:// with a host (and a port there is), and hold neither a login nor spaces"
            yield ((*home, key), home), what
    yield from _impossible_headers(one, home)


def _impossible_headers(one: Upstream, home: Place) -> Iterator[tuple[tuple[Place, ...], str]]:
    for header, text in one.headers.items():
        if not _HEADER_NAME.fullmatch(header) or not _HEADER_VALUE.fullmatch(text):
            yield ((*home, "headers", header),), "is not the name of a header, or its value holds a line end"
        elif header.lower() in _OUR_HEADERS:
            yield ((*home, "headers", header),), "is a header that Brimgate sets itself"
    if one.forward_headers and one.is_rest:
        what = "is not for a REST API: every caller gets the data of the one account that is configured"
        yield ((*home, "forward_headers"), home), what
    for header in one.forward_headers:
        if not _HEADER_NAME.fullmatch(header) or header.lower() in _OUR_HEADERS:
            yield ((*home, "forward_headers"),), f"{header[:40]!r} cannot be forwarded"
