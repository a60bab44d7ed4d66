"""JSON that stays unchanged: every number as it was spelled, no key lost."""

import json
import re
from typing import Any, Final

import msgspec

from brimgate.cli.calls.schema import Schema, alternatives, choices_of, kind_of
from brimgate.cli.output import short
from brimgate.engine.jsontext import name_trailing_comma
from brimgate.errors import BadRequest

NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_MAX_DIGITS: Final = 4_000
"""Python reads no number longer than 4,300 digits, because that takes ever more time."""
_GREED: Final = {"array": 1, "string": 2, "": 2}
"""What accepts almost any text comes last."""
_WORDS: Final = re.compile(r"[^\s,]+(?:,[^\s,]+)+")
UNFIT: Final = object()


def encode(arguments: dict[str, Any]) -> bytes:
    """Write JSON, with every number as it was spelled."""
    try:
        return msgspec.json.encode(arguments, enc_hook=_spell)
    except RecursionError:
        raise BadRequest("the arguments are nested too deeply") from None
    except OverflowError:  # a whole number of more than 64 bits that was not read here
        return encode(read_json(json.dumps(arguments), "arguments"))


class _Spelled(float):
    """A number that is sent as it was given: `1.10`, `1E5`, `1e400`, `-0`."""

    text: str

    def __new__(cls, text: str) -> "_Spelled":
        made = super().__new__(cls, text)
        made.text = text
        return made


class _Large(int):
    """A whole number of more than 64 bits, which msgspec writes only if told how."""


def _spell(value: Any) -> msgspec.Raw:
    if isinstance(value, _Spelled):
        return msgspec.Raw(value.text.encode())
    return msgspec.Raw(int.__repr__(value).encode())


def read_json(data: bytes | str, where: str) -> Any:
    """Read strict JSON. Refuse what others would read differently, or what would not stay unchanged."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        value = json.loads(
            text,
            parse_int=number_of,
            parse_float=number_of,
            parse_constant=_refuse_constant,
            object_pairs_hook=_unique,
        )
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise BadRequest(f"{where}: not UTF-8 (byte {error.start})") from None
    except UnicodeEncodeError:
        raise BadRequest(
            f"{where}: half of a character (\\ud800 to \\udfff without the other half)"
        ) from None
    except json.JSONDecodeError as error:
        wrong = name_trailing_comma(error)
        place = f"line {wrong.lineno}, column {wrong.colno}"
        raise BadRequest(f"{where}: not JSON: {wrong.msg} ({place})") from None
    except RecursionError:
        raise BadRequest(f"{where}: nested too deeply") from None
    except BadRequest as error:
        raise BadRequest(f"{where}: {error}") from None
    return value


def number_of(text: str) -> int | float:
    if len(text) > _MAX_DIGITS:
        raise BadRequest(f"a number of {len(text):,} digits; {_MAX_DIGITS:,} are the most")
    found = NUMBER.fullmatch(text)
    if text == "-0" or (found and (found[1] or found[2])):
        return _Spelled(text)
    number = int(text)
    return number if -(2**63) <= number < 2**63 else _Large(number)


def _refuse_constant(name: str) -> Any:
    raise BadRequest(f"{name} is no number of JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadRequest(f"the key {short(twice)} stands twice in one object")
    return found


def convert(text: str, schema: Any, root: Schema) -> Any:
    """Convert by the first alternative that fits, a text last. Return UNFIT if there is none."""
    found = alternatives(schema, root)
    takes_text = any(kind_of(one) == "string" for one in found)
    for one in sorted(found, key=lambda one: _GREED.get(kind_of(one), 0)):
        value = _fit(text, one, root, takes_text=takes_text)
        if value is not UNFIT:
            return value
    return UNFIT


def _fit(text: str, schema: Schema, root: Schema, *, takes_text: bool) -> Any:
    if choices := choices_of(schema):
        return next((one for one in choices if _is_spelled(one, text)), UNFIT)
    match kind_of(schema):
        case "string":
            return text
        case "null":
            return None if text == "null" else UNFIT
        case "boolean":
            return {"true": True, "false": False}.get(text.lower(), UNFIT)
        case "integer":
            found = NUMBER.fullmatch(text)
            return number_of(text) if found and not found[1] and not found[2] else UNFIT
        case "number":
            return number_of(text) if NUMBER.fullmatch(text) else UNFIT
        case "array":
            return _list(text, schema, root, takes_text=takes_text)
        case "object":
            return _tried(text) if text.lstrip()[:1] == "{" else UNFIT
        case "":
            value = _tried(text)
            return text if value is UNFIT else value
        case _:
            return UNFIT


def _list(text: str, schema: Schema, root: Schema, *, takes_text: bool) -> Any:
    if text.lstrip()[:1] == "[":
        return _tried(text)
    if takes_text and not _is_list_of_words(text, schema, root):
        return UNFIT
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    items = [convert(part, schema.get("items", {}), root) for part in parts]
    return UNFIT if any(item is UNFIT for item in items) else items


def _is_list_of_words(text: str, schema: Schema, root: Schema) -> bool:
    """Return whether `a,b` is a list where a text would do as well: of several words, for a list of texts."""
    takes_texts = any(kind_of(one) == "string" for one in alternatives(schema.get("items"), root))
    return takes_texts and _WORDS.fullmatch(text) is not None


def _tried(text: str) -> Any:
    try:
        return read_json(text, "")
    except BadRequest:
        return UNFIT


def _is_spelled(value: Any, text: str) -> bool:
    return value == text if isinstance(value, str) else json.dumps(value, ensure_ascii=False) == text
