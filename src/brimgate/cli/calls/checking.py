"""Whether arguments are what a schema wants, and in plain words what is wrong."""

import json
import shlex
import sys
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, cast

from brimgate.cli.calls.saying import short
from brimgate.cli.calls.schema import Schema, alternatives, kind_of, required, wanted
from brimgate.cli.calls.values import encode
from brimgate.cli.calls.weighing import is_checkable
from brimgate.errors import BadRequest

_MAX_COMPLAINTS: Final = 5
_MAX_NAMES: Final = 20
_LARGEST: Final = sys.float_info.max


def check(values: dict[str, Any], schema: Schema, known: dict[str, Any]) -> None:
    if missing := [name for name in required(schema) if name not in values]:
        names = ", ".join(map(short, missing[:_MAX_NAMES]))
        more = f" and {len(missing) - _MAX_NAMES:,} more" if len(missing) > _MAX_NAMES else ""
        raise BadRequest(f"missing: {names}{more} (such as {shlex.quote(f'{short(missing[0])}=…')})")
    check = _validator(schema) if is_checkable(schema) else None
    if check is None:
        return
    # As plain values; what is beyond all floats is as large as they get.
    plain = json.loads(encode(values), parse_float=lambda text: max(min(float(text), _LARGEST), -_LARGEST))
    try:
        found = cast("Iterator[Any]", check.iter_errors(plain))
        errors = list(
            islice((one for one in found if not _is_beside_the_point(one, schema, known)), _MAX_COMPLAINTS)
        )
    except ValueError:
        return  # nesting beyond what it can follow
    if errors:
        raise BadRequest("\n  ".join(dict.fromkeys(_complaint(error, schema, known) for error in errors)))


def _is_beside_the_point(error: Any, schema: Schema, known: dict[str, Any]) -> bool:
    """A pattern that takes too long says nothing of the value."""
    return type(error.kind).__name__ == "BacktrackLimitExceeded" or _is_nullable(error, schema, known)


def _is_nullable(error: Any, schema: Schema, known: dict[str, Any]) -> bool:
    """OpenAPI's `nullable` is none of JSON Schema, and yet what many a schema means."""
    if error.instance is not None or len(error.instance_path) != 1:
        return False
    return any(kind_of(one) == "null" for one in alternatives(known.get(error.instance_path[0]), schema))


def _validator(schema: Schema) -> Any:
    """None where the schema cannot be used, which is not the fault of whoever calls."""
    import jsonschema_rs  # 30 ms: later than the start of the server, which need not wait for it

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
