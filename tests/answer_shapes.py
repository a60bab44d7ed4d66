"""Answers of every shape that the engine tells apart, as the bytes that an upstream sends."""

import json
from collections.abc import Callable
from typing import Any, Final

from brimgate.engine.tokens.estimator import Estimator

_ESTIMATOR: Final = Estimator()


def as_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def row(number: int, words: int = 4) -> dict[str, Any]:
    """An item of a list. Has the fields of the map that fits items."""
    return {
        "id": 1_000 + number,
        "status": ("confirmed", "pending", "cancelled")[number % 3],
        "guest": {"name": f"Guest {number}", "email": f"guest{number}@example.org"},
        "note": f"note {number} says nothing of interest " * words,
    }


def rows(count: int, words: int = 4) -> list[dict[str, Any]]:
    return [row(number, words) for number in range(count)]


def _house() -> dict[str, Any]:
    """An object. Has the fields of the map that fits objects."""
    return {
        "title": "House by the sea",
        "city": "Porto",
        "owner": "Ana",
        "summary": "Near the beach. Pets are welcome by arrangement. " * 30,
        "rules": {f"rule {number}": f"Quiet after {number} in the evening, please." for number in range(40)},
    }


def _around(budget: int, share: float) -> bytes:
    """A list of about so many tokens, as the budgets are fitted against."""
    items = [{"id": number, "name": f"n{number}"} for number in range(2_000)]
    return as_json(items[: _most(lambda count: as_json(items[:count]), budget * share)])


def _most(text: Callable[[int], bytes], tokens: float) -> int:
    return next(count for count in range(1, 2_000) if _ESTIMATOR.ceiling(text(count + 1)) > tokens)


def _prose_around(budget: int, share: float) -> bytes:
    sentence = "Fox {0} jumps over a dog.\n"
    lines = [sentence.format(number) for number in range(2_000)]
    return "".join(lines[: _most(lambda count: "".join(lines[:count]).encode(), budget * share)]).encode()


def _nested(depth: int) -> Any:
    inner: Any = {"found": "the treasure " * 400}
    for level in range(depth):
        inner = {"level": level, "aside": f"a few words at level {level}", "next": inner}
    return inner


_HOUSE: Final = _house()
SHAPES: Final[dict[str, bytes]] = {
    "empty_list": as_json([]),
    "empty_object": as_json({}),
    "small_list": as_json(rows(3, 1)),
    "large_list": as_json(rows(120)),
    "51_tiny_items": as_json([{"id": number} for number in range(51)]),
    "50_tiny_items": as_json([{"id": number} for number in range(50)]),
    "60_numbers": as_json(list(range(60))),
    "light_envelope": as_json({"status": "success", "count": 110, "result": rows(110)}),
    "heavy_envelope": as_json({"facts": {f"fact {n}": "w " * 60 for n in range(150)}, "result": rows(60)}),
    "half_heavy_envelope": as_json({"page": "some words around " * 40, "result": rows(110)}),
    "two_envelopes": as_json({"ok": True, "data": {"total": 110, "items": rows(110)}}),
    "huge_items": as_json(rows(5, 500)),
    "one_huge_item_first": as_json([row(0, 600), *rows(60, 1)[1:]]),
    "vectors": as_json([row(n, 1) | {"embedding": [0.013 * k - 0.5 for k in range(96)]} for n in range(25)]),
    "empty_list_in_much": as_json({"items": [], "facets": {f"facet {n}": "words " * 30 for n in range(120)}}),
    "many_numbers": as_json([number * 7 for number in range(2_500)]),
    "many_strings": as_json([f"name {number} of a thing" for number in range(900)]),
    "list_of_lists": as_json([[number, f"cell {number}", number / 7] for number in range(900)]),
    "small_object": as_json({"title": "House", "city": "Porto", "owner": "Ana"}),
    "flat_object": as_json({f"key {number}": f"value number {number}" for number in range(700)}),
    "object": as_json(_HOUSE),
    "result_object": as_json({"result": _HOUSE}),
    "data_object": as_json({"data": _HOUSE, "took": 12}),
    "guest_object": as_json({"booking": 7, "guest": _HOUSE}),
    "long_text_in_object": as_json({"title": "Log", "city": "Porto", "body": "A line of it.\n" * 1_500}),
    "house_with_heavy_list": as_json(
        {"title": "House", "city": "Porto", "owner": "Ana", "images": rows(110)}
    ),
    "booking_with_payments": as_json(
        {"id": 5, "status": "paid", "guest": {"name": "Ana"}, "payments": rows(90)}
    ),
    "nested": as_json(_nested(12)),
    "nested_too_deep": as_json(_nested(60)),
    "list_under_meta": as_json({"meta": {"items": rows(110)}}),
    "a_string": as_json("a text in quotes " * 700),
    "a_number": b"42",
    "prose": "\n\n".join(f"Paragraph {n}. " + "It goes on and on. " * 30 for n in range(60)).encode(),
    "short_prose": b"All is well.\n",
    "log": "".join(
        f"2026-11-17 12:{n // 60 % 60:02}:{n % 60:02} {'ERROR' if n == 811 else 'INFO'} request {n} served\n"
        for n in range(700)
    ).encode(),
    "csv": ("id,name,city\n" + "".join(f"{n},Guest {n},Porto\n" for n in range(1_500))).encode(),
    "one_long_line": ("word " * 6_500).encode(),
    "no_spaces": b"x1Yz" * 2_500,
    "indented": json.dumps(rows(14, 1), indent=8).encode(),
    "indented_large": json.dumps(rows(60, 1), indent=8).encode(),
    "indented_object": json.dumps({f"k{n}": [n, n + 1] for n in range(60)}, indent=16).encode(),
    "unicode_list": as_json(
        [{"id": n, "name": f"東京の家 {n}", "note": "Öß–žluťoučký 🏠 " * 6} for n in range(90)]
    ),
    "unicode_text": ("Пример длинного текста. 東京の家です。🏠\n" * 300).encode(),
    "broken_json": as_json(rows(110))[:-1],
    "json_lines": b"\n".join(as_json(one) for one in rows(150)),
    "twice_the_same_key": b'{"a":' + as_json(rows(100)) + b',"a":1}',
} | {
    f"{kind}_at_{share:.0%}_of_{budget}": make(budget, share)
    for budget in (400, 1_000, 2_000, 4_000)
    for share in (0.95, 1.0, 1.05)
    for kind, make in (("list", _around), ("prose", _prose_around))
}
"""By name. Those at a share of a budget are just under it, or just over."""
ITEM_FIELDS: Final = ("id", "status", "guest.name")
OBJECT_FIELDS: Final = ("title", "city", "owner")
OTHER_FIELDS: Final = ("nothing", "of.this", "is_there")
