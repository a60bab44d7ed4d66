"""An API and its tools, declared in a YAML file. Unknown keys are errors; every error names file, line and key.

name: hostaway                     # letters, digits, _, - and .
title: Hostaway                    # how messages call it; the name by default
description: …
base_url: https://api.hostaway.com/v1    # a text, or {env: NAME}, or {env: [NAME, OTHER], default: a text}
base_path: /v1                     # added to an address that lacks it
timeout_seconds: 30                # for one request and its answer
max_answer_bytes: 67108864
auth: {kind: none}                 # bearer {token}; header {name, value}; basic {username, password};
                                   # oauth_client_credentials {token_path, client_id, client_secret, scope};
                                   # caller {token}: the token of each caller; `token` where there is one user only
rate_limits:                       # every one must have room
  - {requests: 15, seconds: 10, per: address}    # or: account
max_waiting: 100                   # requests that may wait for room
max_wait_seconds: 30               # one that would wait longer is refused at once
errors:
  message: /message                # where in the JSON of an error (4xx) its message stands
  details: /invalid_fields         # where the list of what is wrong stands
  reset: x-ratelimit-reset         # the header that says, in seconds since 1970, when a limit has room again
  statuses: {401: {kind: denied, say: …}}    # what a status means, where it is not what HTTP says: denied,
                                   # invalid, not_found, unauthorized, rate_limited, unavailable
omit: [null, [], ""]               # values whose members are left out of answers
html: [description]                # members with HTML, which tools with `html: true` give out as plain text
lookups:                           # how a name is turned into the id that the API wants
  task: {pattern: '(?P<project>[A-Z]+)-(?P<index>[0-9]+)', path: '/projects/{project}/by-index/{index}', take: /id}
  user: {path: /users, search: s, match: [username], take: /id}    # the item of a list whose username it is
list_key: items                    # the name under which every list is given out that has no `as` of its own
health: /listings?limit=1          # a cheap GET that needs the credentials: `GET /health` of ours tells how it went;
                                   # or {path: …, name: …}, its name among the checks there
tools:
  list_reservations:
    title: …
    description: …
    method: GET                    # the default; POST, PUT, PATCH, DELETE
    path: /reservations/{id}       # a parameter is a whole segment
    within: {listing_id: '/listings/{listing_id}/reservations'}    # the path instead, if that parameter is given
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
        lookup: task               # it may also be a name; one of `lookups`
        in_list: true              # sent as a list of one
        as_objects: id             # a list is sent as objects with this member
        nullable: true             # null may be sent
        html: true                 # plain text is sent as paragraphs of HTML
    html: true                     # HTML comes as plain text; callers may ask for it as it is, by the parameter html
    body: json                     # or form: how body parameters are written
    partial:                       # where the API overwrites what is not sent: read the object, and send it back changed
      read: /listings/{id}         # the path of the object; that of the tool by default
      names: fields                # with `names` and `values` only what changes is sent, and its names; parameters
      values: values               # with `beside: true` stand beside them
      carry: [assignees]           # what is overwritten all the same, and so sent back as it is
      at_least: title              # named with its value where nothing else changes
    upload: files                  # the part of a multipart body that takes a file: parameters file_name, text, base64
    each: task_ids                 # run it once for each item of this list, as the parameter that `item` names
    item: task_id
    steps:                         # several requests instead of one: each has method, path, parameters, fixed, body,
                                   # partial, upload, answer and
      - does: mark it as done      # for errors of later steps: what this one did
        when: comment              # only if this parameter is given
        take: {task_id: /id}       # a parameter of later steps, from the answer of this one
    answer:                        # without it the whole answer
      items: /result               # the list; or `item: /result`, one object; or a table:
      table: {columns: /result/columns, name: name, rows: /result/rows}   # rows become objects
      as: result                   # the name under which it is given out; without it, it is the document
      keep: {count: /count}        # what else is kept; stands before it
      fields: [id, guestName]      # of each object only these members
      each: messages               # of each item this list, all joined into one
      text: true                   # the answer is text (CSV) and given out as it came; excludes all others
      file: true                   # so are bytes of any kind
    paging:
      style: offset                # with: limit, offset; or page, with: limit, page, first (1); or cursor, with:
                                   # limit, parameter, next (where the next cursor stands in an answer)
      size: 100                    # items in a page
      total: /count                # where the number of all stands, if anywhere; or {header: X-Total}
      pages: {header: X-Pages}     # where the number of all pages stands
      key: id                      # the member that tells items apart: pages fit together while the data changes
    order:                         # of a list that the API cannot sort so: the latest first
      by: insertedOn
      most: 500                    # a longer list keeps the order of the API, and `meta.order` says so
      unless: sort                 # the parameter that chooses an order of the API
"""

import re
from typing import Any, Final, cast

import msgspec

from brimgate.back.rest.model import (
    Api,
    ApiTool,
    Auth,
    AuthKind,
    ErrorMap,
    RateLimit,
    Scope,
    Setting,
    StatusMeaning,
)
from brimgate.back.rest.parameter_declaration import HEADER, PATH, TOOL_NAME, read_lookups
from brimgate.back.rest.section import Place, Section, read_values
from brimgate.back.rest.tool_declaration import ApiTerms, read_tool

__all__ = ["Api", "ApiTool", "read_api"]

_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}")
_AUTH: Final[dict[str, tuple[str, ...]]] = {
    "none": (),
    "bearer": ("token",),
    "header": ("name", "value"),
    "basic": ("username", "password"),
    "oauth_client_credentials": ("client_id", "client_secret", "scope"),
    "caller": ("token",),
}
_OPTIONAL: Final = (("oauth_client_credentials", "scope"), ("caller", "token"))
_KINDS: Final = ("denied", "invalid", "not_found", "unauthorized", "rate_limited", "unavailable")
_STATUS: Final = re.compile(r"[45][0-9]{2}")
_HEALTH: Final = re.compile(
    r"(?:/[A-Za-z0-9_~!$&'()*+,;=:@.-]{1,200})+(?:\?[A-Za-z0-9_~!$&'()*+,;=:@.%/-]{0,500})?"
)
_MOST_BYTES: Final = 1 << 30
_MOST_SECONDS: Final = 3600


def read_api(data: bytes, name: str) -> Api:
    """Read a declaration. `name` is for messages. ConfigError says what is wrong, where, and what is right."""
    value, file = read_values(data, name)
    top = Section(file, (), value)
    api_name, html = top.text("name", pattern=_NAME), top.texts("html")
    terms = ApiTerms(top.text("list_key", ""), read_lookups(top), has_html=bool(html))
    health, check_name = _health(top)
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
        errors=_errors(top.section("errors")),
        health=health,
        check_name=check_name,
        base_path=top.text("base_path", "", PATH),
        omit=_omitted(top),
        html=html,
        tools={name: read_tool(name, section, terms) for name, section in top.named("tools", TOOL_NAME)},
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


def _health(top: Section) -> tuple[str, str]:
    """Return the path of the health check, and its name among the checks."""
    value = top.value("health", "")
    name = ""
    if isinstance(value, dict):
        inner = top.inner("health", cast("object", value))
        value, name = inner.text("path"), inner.text("name", "", TOOL_NAME)
        inner.finish()
    if not isinstance(value, str) or (value and not _HEALTH.fullmatch(value)):
        top.fail(
            "health", "must be a path under base_url, with a query if need be, such as /listings?limit=1"
        )
    return value, name


def _omitted(top: Section) -> frozenset[bytes]:
    values = top.value("omit", ())
    if not isinstance(values, list | tuple):
        top.fail("omit", "must be a list of values")
    return frozenset(msgspec.json.encode(one) for one in cast("list[Any]", values))


def _auth(section: Section | None) -> Auth:
    if section is None:
        return Auth()
    kind = section.choice("kind", tuple(_AUTH))
    settings = {
        key: section.setting(key) for key in _AUTH[kind] if (kind, key) not in _OPTIONAL or section.has(key)
    }
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


def _errors(section: Section | None) -> ErrorMap:
    if section is None:
        return ErrorMap()
    errors = ErrorMap(
        message=section.pointer("message", ""),
        details=section.pointer("details", ""),
        reset=section.text("reset", "", HEADER).lower(),
        statuses={int(status): _meaning(one) for status, one in section.named("statuses", _STATUS)},
    )
    section.finish()
    return errors


def _meaning(section: Section) -> StatusMeaning:
    meaning = StatusMeaning(section.choice("kind", _KINDS), section.text("say", ""))
    section.finish()
    return meaning


def _refuse_same_routes(api: Api, top: Section) -> None:
    """Refuse equal routes. Names of parameters do not distinguish routes, but methods do."""
    seen: dict[Place, str] = {}
    for tool in api.tools.values():
        for route in tool.routes:
            plain = (tool.served_method, re.sub(r"\{[^}]*\}", "{}", route))
            if plain in seen:
                top.fail("tools", f"{tool.name} and {seen[plain]} have the same route {route}")
            seen[plain] = tool.name
