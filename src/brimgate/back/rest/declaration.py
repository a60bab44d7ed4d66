"""An API and its tools, declared in a YAML file. Unknown keys are errors; every error names file, line and key.

name: hostaway                     # letters, digits, _, - and .
title: Hostaway                    # how messages call it; the name by default
description: …
base_url: https://api.hostaway.com/v1    # a text, or {env: NAME}, or {env: NAME, default: a text}
timeout_seconds: 30                # for one request and its answer
max_answer_bytes: 67108864
auth: {kind: none}                 # bearer {token}; header {name, value}; basic {username, password};
                                   # oauth_client_credentials {token_path, client_id, client_secret, scope}
rate_limits:                       # every one must have room
  - {requests: 15, seconds: 10, per: address}    # or: account
max_waiting: 100                   # requests that may wait for room
max_wait_seconds: 30               # one that would wait longer is refused at once
errors: {message: /message}        # where in the JSON of an error (4xx) its message stands
list_key: items                    # the name under which every list is given out that has no `as` of its own
health: /listings?limit=1          # a cheap GET that needs the credentials: `GET /health` of ours tells how it went
tools:
  list_reservations:
    title: …
    description: …
    method: GET                    # the default; POST, PUT, PATCH, DELETE
    path: /reservations/{id}       # a parameter is a whole segment
    routes: [/bookings/{id}]       # where a REST API of ours serves it
    annotations: {readOnlyHint: true}            # that one is the default for GET
    fixed: {query: {includeResources: 1}, header: {}, body: {}}     # sent with every call; texts or {env: …}
    parameters:
      listing_id:                  # as our callers name it
        in: query                  # path, query, header, body; by default path if the path has it, else query (GET,
                                   # DELETE) or body
        name: listingId            # as the API names it; the same by default
        schema: {type: integer}    # JSON Schema with one `type`; {type: string} by default
        description: …
        required: true             # false by default; always true in a path
        explode: true              # lists as a=1&a=2 and not as a=1,2
    body: json                     # or form: how body parameters are written
    answer:                        # without it the whole answer
      items: /result               # the list; or `item: /result`, one object; or a table:
      table: {columns: /result/columns, name: name, rows: /result/rows}   # rows become objects
      as: result                   # the name under which it is given out; without it, it is the document
      keep: {count: /count}        # what else is kept; stands before it
      fields: [id, guestName]      # of each object only these members
      each: messages               # of each item this list, all joined into one
      text: true                   # the answer is text (CSV) and given out as it came; excludes all others
    paging:
      style: offset                # with: limit, offset; or page, with: limit, page, first (1); or cursor, with:
                                   # limit, parameter, next (where the next cursor stands in an answer)
      size: 100                    # items in a page
      total: /count                # where the number of all stands, if anywhere
      key: id                      # the member that tells items apart: pages fit together while the data changes
    order:                         # of a list that the API cannot sort so: the latest first
      by: insertedOn
      most: 500                    # a longer list keeps the order of the API, and `meta.order` says so
      unless: sort                 # the parameter that chooses an order of the API
"""

import re
from typing import Final, cast

from brimgate.back.rest.model import Api, ApiTool, Auth, AuthKind, RateLimit, Scope, Setting
from brimgate.back.rest.section import Place, Section, read_values
from brimgate.back.rest.tool_declaration import PATH, TOOL_NAME, read_tool

__all__ = ["Api", "ApiTool", "read_api"]

_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}")
_AUTH: Final[dict[str, tuple[str, ...]]] = {
    "none": (),
    "bearer": ("token",),
    "header": ("name", "value"),
    "basic": ("username", "password"),
    "oauth_client_credentials": ("client_id", "client_secret", "scope"),
}
_HEALTH: Final = re.compile(
    r"(?:/[A-Za-z0-9_~!$&'()*+,;=:@.-]{1,200})+(?:\?[A-Za-z0-9_~!$&'()*+,;=:@.%/-]{0,500})?"
)
_MOST_BYTES: Final = 1 << 30
_MOST_SECONDS: Final = 3600


def read_api(data: bytes, name: str) -> Api:
    """Read a declaration. `name` is for messages. ConfigError says what is wrong, where, and what is right."""
    value, file = read_values(data, name)
    top = Section(file, (), value)
    api_name, list_key = top.text("name", pattern=_NAME), top.text("list_key", "")
    api = Api(
        name=api_name,
        title=top.text("title", api_name)[:100],
        description=top.text("description", ""),
        base_url=_address(top),
        timeout_seconds=top.number("timeout_seconds", 30, 0.01, _MOST_SECONDS),
        max_answer_bytes=top.whole("max_answer_bytes", 64 << 20, 1, _MOST_BYTES),
        auth=_auth(top.section("auth")),
        rate_limits=tuple(map(_rate_limit, top.sections("rate_limits"))),
        max_waiting=top.whole("max_waiting", 100, 0, 100_000),
        max_wait_seconds=top.number("max_wait_seconds", 30, 0, _MOST_SECONDS),
        message=_message(top.section("errors")),
        health=_health(top),
        tools={name: read_tool(name, section, list_key) for name, section in top.named("tools", TOOL_NAME)},
    )
    top.finish()
    if not api.tools:
        top.fail("tools", "must hold at least one tool")
    _refuse_same_routes(api, top)
    return api


def _address(top: Section) -> Setting:
    setting = top.setting("base_url")
    if setting.text is not None and not re.match(r"https?://[^\s/?#]", setting.text):
        top.fail("base_url", "must begin with http:// or https:// and a host")
    return setting


def _health(top: Section) -> str:
    path = top.text("health", "")
    if path and not _HEALTH.fullmatch(path):
        top.fail(
            "health", "must be a path under base_url, with a query if need be, such as /listings?limit=1"
        )
    return path


def _auth(section: Section | None) -> Auth:
    if section is None:
        return Auth()
    kind = section.choice("kind", tuple(_AUTH))
    settings = {key: section.setting(key) for key in _AUTH[kind] if key != "scope" or section.has("scope")}
    path = section.text("token_path", pattern=PATH) if kind == "oauth_client_credentials" else ""
    if "{" in path:
        section.fail("token_path", "holds no parameters")
    section.finish()
    return Auth(cast("AuthKind", kind), settings, path)


def _rate_limit(section: Section) -> RateLimit:
    limit = RateLimit(
        section.whole("requests", None, 1, 10_000),
        section.number("seconds", None, 0.001, _MOST_SECONDS),
        cast("Scope", section.choice("per", ("address", "account"), "address")),
    )
    section.finish()
    return limit


def _message(section: Section | None) -> str:
    if section is None:
        return ""
    pointer = section.pointer("message", "")
    section.finish()
    return pointer


def _refuse_same_routes(api: Api, top: Section) -> None:
    """Refuse equal routes. Names of parameters do not distinguish routes, but methods do."""
    seen: dict[Place, str] = {}
    for tool in api.tools.values():
        for route in tool.routes:
            plain = (tool.served_method, re.sub(r"\{[^}]*\}", "{}", route))
            if plain in seen:
                top.fail("tools", f"{tool.name} and {seen[plain]} have the same route {route}")
            seen[plain] = tool.name
