"""JSON that comes out as it went in: every number as it was spelled, no key lost."""

import json
import re
from typing import Any, Final

import msgspec

from brimgate.cli.calls.saying import short
from brimgate.errors import BadRequest

NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_MAX_DIGITS: Final = 4_000
"""Python reads no longer numbers than 4,300, as that takes ever more time."""


def encode(arguments: dict[str, Any]) -> bytes:
    """As JSON, every number as it was spelled."""
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
    """Strictly: what would be read differently by others, or not come out as it went in, is refused."""
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
        place = f"line {error.lineno}, column {error.colno}"
        raise BadRequest(f"{where}: not JSON: {error.msg} ({place})") from None
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
