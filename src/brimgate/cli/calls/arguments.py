"""Read the arguments of a tool from the words of a command line, by the tool's JSON Schema.

`key=value`, converted by the type of the parameter; `key:=json`; either with `@file` for the value; `@file` and `-`
for a JSON object of several; `a.b=1` for a member of an object. Other words fill the parameters in order.
"""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, cast

from brimgate.cli.calls.schema import (
    Schema,
    alternatives,
    as_mapping,
    is_checkable,
    is_open,
    kind_of,
    parameters,
    required,
    takes_text_itself,
    usable,
    wanted,
)
from brimgate.cli.calls.values import UNFIT, convert, encode, read_json
from brimgate.cli.output import printable, short
from brimgate.errors import BadRequest

_MAX_COMPLAINTS: Final = 5
_MAX_NAMES: Final = 20
_LARGEST: Final = sys.float_info.max
Read = Callable[[str], bytes]
"""Returns the bytes of a file, or of standard input under the name `-`."""
_KEY: Final = re.compile(r"[A-Za-z_$][\w.$-]*")
_MAX_SIGNATURE: Final = 160


def check(values: dict[str, Any], schema: Schema, known: dict[str, Any]) -> None:
    if missing := [name for name in required(schema) if name not in values]:
        names = ", ".join(map(short, missing[:_MAX_NAMES]))
        more = f" and {len(missing) - _MAX_NAMES:,} more" if len(missing) > _MAX_NAMES else ""
        raise BadRequest(f"missing: {names}{more} (such as {shlex.quote(f'{short(missing[0])}=…')})")
    check = _validator(schema) if is_checkable(schema) else None
    if check is None:
        return
    # As plain values; a number beyond all floats becomes the largest float.
    plain = json.loads(encode(values), parse_float=lambda text: max(min(float(text), _LARGEST), -_LARGEST))
    try:
        found = cast("Iterator[Any]", check.iter_errors(plain))
        errors = list(
            islice((one for one in found if not _is_beside_the_point(one, schema, known)), _MAX_COMPLAINTS)
        )
    except ValueError:
        return  # nested deeper than it can follow
    if errors:
        raise BadRequest("\n  ".join(dict.fromkeys(_complaint(error, schema, known) for error in errors)))


def _is_beside_the_point(error: Any, schema: Schema, known: dict[str, Any]) -> bool:
    """Return whether an error does not matter. A pattern that takes too long says nothing about the value."""
    return type(error.kind).__name__ == "BacktrackLimitExceeded" or _is_nullable(error, schema, known)


def _is_nullable(error: Any, schema: Schema, known: dict[str, Any]) -> bool:
    """Accept OpenAPI's `nullable`: it is not JSON Schema, but many schemas mean it."""
    if error.instance is not None or len(error.instance_path) != 1:
        return False
    return any(kind_of(one) == "null" for one in alternatives(known.get(error.instance_path[0]), schema))


def _validator(schema: Schema) -> Any:
    """Return a validator, or None if the schema cannot be used, which is not the caller's fault."""
    import jsonschema_rs  # 30 ms: after the start of the server, which need not wait for it

    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse_to_fetch) if schema else None
    except (ValueError, RecursionError):
        return None


def _refuse_to_fetch(uri: str) -> Any:
    raise ValueError(f"not fetched: {uri}")


def _complaint(error: Any, schema: Schema, known: dict[str, Any]) -> str:
    path = [str(part) for part in error.instance_path]
    where, kind = short(".".join(path)), error.kind.name
    if len(path) == 1 and path[0] in known and kind in ("anyOf", "oneOf", "type", "enum", "const"):
        value = short(json.dumps(error.instance, ensure_ascii=False))
        return f"{where} must be {wanted(known[path[0]], schema)}, not {value}"
    if not path and kind == "additionalProperties":
        return _strangers(error.kind.unexpected, known)
    return f"{where}: {short(error.message, 300)}" if where else short(error.message, 300)


def _strangers(names: Iterable[str], known: dict[str, Any]) -> str:
    told: list[str] = []
    for name in islice(names, _MAX_COMPLAINTS):
        near = get_close_matches(name[:60], known, 1, 0.5)
        told.append(f"there is no parameter {short(name)}{f'; did you mean {near[0]}?' if near else ''}")
    return "; ".join(told)


def parse(
    tool: str, words: Sequence[str], schema: Any, read: Read, order: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what is to be sent, checked as far as the schema can be used. BadRequest ends with the tool's signature.

    `order` names the parameters that words without a name fill first.
    """
    schema = usable(schema)
    try:
        reading = _Reading(as_mapping(schema), read)
        reading.take(words, order)
        check(reading.values, as_mapping(schema), reading.parameters)
    except BadRequest as error:
        told = [*str(error).split("\n"), f"  {signature(tool, schema, order)}"]
        raise BadRequest("\n".join(map(printable, told))) from None  # the names in it are the server's
    return reading.values


def needs_input(words: Sequence[str], schema: Any) -> bool:
    """Return whether a tool needs arguments and got none, so that they may come from standard input."""
    return not words and bool(required(usable(schema)))


class _Reading:
    """Takes words one by one, and refuses an argument that is given twice."""

    def __init__(self, schema: Schema, read: Read) -> None:
        self._root, self._read = schema, read
        self.parameters = parameters(schema)
        self._is_open = is_open(schema)
        self.values: dict[str, Any] = {}

    def take(self, words: Sequence[str], order: Sequence[str]) -> None:
        for number, word in enumerate(words, 1):
            if not _is_text(word):
                raise BadRequest(f"argument {number} is no UTF-8: pass such bytes in a file, key=@FILE")
        others = [word for word in words if not self._take_object(word) and not self._take_named(word)]
        free = [name for name in _ordered(self.parameters, order) if name not in self.values]
        if len(others) > len(free):
            raise BadRequest(self._too_many(others[len(free)]))
        for name, word in zip(free, others, strict=False):
            self.values[name] = self._converted(name, word, self.parameters[name])

    def _take_object(self, word: str) -> bool:
        """Take several arguments at once: from a file, from standard input, or inline."""
        if self._is_object_of_arguments(word):
            value: Any = read_json(word, "the arguments")
        elif word == "-" or word.startswith("@"):
            value = self._object_in(word.removeprefix("@"))
        else:
            return False
        for name, one in as_mapping(value).items():
            if name not in self.parameters and not self._is_open:
                raise BadRequest(self._unknown(name, ""))
            self._put((name,), one)
        return True

    def _is_object_of_arguments(self, word: str) -> bool:
        """Return whether the word is an object of arguments, and not a text that happens to be JSON."""
        if word[:1] != "{" or word[-1:] != "}":
            return False
        try:
            names = as_mapping(read_json(word, ""))
        except BadRequest:
            return False
        return bool(names) and names.keys() <= self.parameters.keys()

    def _object_in(self, source: str) -> Any:
        if not source:
            raise BadRequest("@ must be followed by the name of a file")
        where = "standard input" if source == "-" else source
        data = self._read(source)
        value: Any = read_json(data, where) if data.strip() or source != "-" else _Members()
        if not isinstance(value, dict):
            raise BadRequest(f"{where}: must hold a JSON object with the arguments by name")
        return cast("Any", value)

    def _take_named(self, word: str) -> bool:
        key, equals, text = word.partition("=")
        is_json = key.endswith(":") and key not in self.parameters
        key = key[:-1] if is_json else key
        if not equals or not key:
            return False
        path = (key,) if key in self.parameters else tuple(key.split("."))
        if path[0] not in self.parameters:
            if not _KEY.fullmatch(key):
                return False  # a text with an = in it, such as a URL
            if not self._is_open:
                raise BadRequest(self._unknown(key, word))
            path = (key,)
        self._put(path, self._named_value(key, text, path, is_json=is_json))
        return True

    def _named_value(self, key: str, text: str, path: tuple[str, ...], *, is_json: bool) -> Any:
        where = key
        if text.startswith("@"):
            where = text[1:]
            data = self._read(where)
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                raise BadRequest(f"{where}: not UTF-8 (byte {error.start})") from None
            kinds = {kind_of(one) for one in alternatives(self._schema_at(path), self._root)}
            if not is_json and not kinds.isdisjoint(("string", "")):
                return text
            text = text.strip()
        if is_json:
            return read_json(text, where)
        return self._converted(key, text, self._schema_at(path))

    def _schema_at(self, path: tuple[str, ...]) -> Any:
        schema = self.parameters.get(path[0], self._root.get("additionalProperties", {}))
        for place, name in enumerate(path[1:], 1):
            homes = [one for one in alternatives(schema, self._root) if kind_of(one) in ("object", "")]
            if not homes:
                raise BadRequest(
                    f"{'.'.join(path[:place])} must be {wanted(schema, self._root)}: it has no member {name}"
                )
            known = [as_mapping(home.get("properties")).get(name) for home in homes]
            others = [home.get("additionalProperties") for home in homes]
            schema = next((as_mapping(one) for one in (*known, *others) if as_mapping(one)), as_mapping(None))
        return schema

    def _put(self, path: tuple[str, ...], value: Any) -> None:
        home: Any = self.values
        for name in path[:-1]:
            home = home.setdefault(name, _Members())
            if not isinstance(home, _Members):
                raise BadRequest(f"{'.'.join(path)}: {name} is given as a whole already")
        if path[-1] in home:
            raise BadRequest(f"{short('.'.join(path))} is given twice")
        home[path[-1]] = value

    def _converted(self, name: str, text: str, schema: Any) -> Any:
        try:
            value = convert(text, schema, self._root)
        except BadRequest as error:
            raise BadRequest(f"{name}: {error}") from None
        if value is UNFIT:
            raise BadRequest(f"{name} must be {wanted(schema, self._root)}, not {short(repr(text))}")
        return value

    def _unknown(self, key: str, word: str) -> str:
        near = get_close_matches(key[:60], self.parameters, 1, 0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        texts = [name for name, one in self.parameters.items() if takes_text_itself(one, self._root)]
        whole = (
            f" To pass the text itself: {short(shlex.quote(f'{texts[0]}={word}'))}" if word and texts else ""
        )
        return f"there is no parameter {short(key)}{hint}{'.' if whole and not hint else ''}{whole}"

    def _too_many(self, word: str) -> str:
        if not self.parameters:
            return f"{short(repr(word))} is too much: the tool names no parameters"
        return f"{short(repr(word))} is too much: all {len(self.parameters)} parameters are given"


class _Members(dict[str, Any]):
    """An object made of words, to which others may add."""


def signature(tool: str, schema: Any, order: Sequence[str] = ()) -> str:
    """Return `search(query, group_ids?, max_nodes=10)`, in the order in which words fill the parameters."""
    schema = usable(schema)
    needed = set(required(schema))
    shown: list[str] = []
    size = len(tool)
    known = parameters(schema)
    for name in _ordered(known, order):
        default = as_mapping(known[name]).get("default")
        text = "" if default is None else short(json.dumps(default, ensure_ascii=False), 24)
        part = name if name in needed else f"{name}={text}" if text else f"{name}?"
        size += len(part) + 2
        if size > _MAX_SIGNATURE:
            shown.append("…")
            break
        shown.append(part)
    return printable(f"{tool}({', '.join(shown)})")


def _ordered(known: dict[str, Any], order: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*(name for name in order if name in known), *known)))


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True
