"""TOON, by its official package; only where it gives the value back exactly (it respells numbers such as 1.0)."""

import json

from brimgate.engine import jsontext


def encode(raw: bytes) -> str | None:
    import toon_format  # 60 ms to import, and few ask for it

    try:
        text = toon_format.encode(json.loads(raw))
        return text if decode(text) == raw else None
    except (ValueError, RecursionError):
        return None


def decode(text: str) -> bytes:
    import toon_format

    return jsontext.canonical(json.dumps(toon_format.decode(text), ensure_ascii=False).encode())
