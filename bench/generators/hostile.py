"""Shapes meant to make a careless engine slow, deep or confused; each about as many bytes as asked."""

from collections.abc import Callable, Iterator
from itertools import cycle, islice

_NOTICE = (
    "[brimgate] items 1-41 of 500 · 3,912 of 107,385 tokens · "
    'more: brimgate_read(cursor="aGVhZGdhdGU-{:08d}")\n'
)
_DEPTH = 100_000
_SMILES = "👩‍👩‍👧‍👦🏳️‍🌈👍🏽e\u0301\u0323\u0308n\u0303 "


def hostile(size: int) -> Iterator[tuple[str, bytes]]:
    """Made one at a time: at 50 MB each they do not fit in memory together."""
    for name, shape in SHAPES.items():
        yield name, shape(size)


def _repeat(unit: bytes) -> Callable[[int], bytes]:
    return lambda size: unit * (size // len(unit))


def _array(item: bytes) -> Callable[[int], bytes]:
    return lambda size: b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]"


def _numbered(form: str, start: str = "", end: str = "", between: str = "") -> Callable[[int], bytes]:
    """The form once per number; every part is as long as the first."""

    def shape(size: int) -> bytes:
        count = max(1, size // len((form.format(0) + between).encode()))
        return (start + between.join(form.format(number) for number in range(count)) + end).encode()

    return shape


def _nesting(size: int) -> bytes:
    return b"[" * (size // 2) + b"]" * (size // 2)


def _nesting_around_text(size: int) -> bytes:
    depth = min(_DEPTH, size // 4)
    return b"[" * depth + b'"' + b"x" * (size - 2 * depth - 2) + b'"' + b"]" * depth


def _nested_keys(size: int) -> bytes:
    depth = size // 6
    return b'{"a":' * depth + b"1" + b"}" * depth


def _unclosed(size: int) -> bytes:
    return b"[{" * (size // 2)


def _wide_objects(size: int) -> bytes:
    """A thousand keys in every object, and no two objects share one."""
    objects = max(1, size // 15_000)
    rows = (",".join(f'"k{row:05d}{key:04d}":1' for key in range(1000)) for row in range(objects))
    return ("[" + ",".join(f"{{{row}}}" for row in rows) + "]").encode()


def _almost_json(size: int) -> bytes:
    return _array(b'{"id":1,"ok":true}')(size)[:-1] + b"}"


def _alternating_keys(size: int) -> bytes:
    rows = ('{"a":1,"b":2}', '{"b":1,"c":2}', '{"c":1,"a":2}', '{"a":1,"c":{}}')
    return ("[" + ",".join(islice(cycle(rows), size // 14)) + "]").encode()


def _deep_and_wide(size: int) -> bytes:
    """Legal everywhere: sixty levels down, side by side."""
    tower = b'{"n":' * 60 + b'"leaf"' + b"}" * 60
    return _array(tower)(size)


def _one_item_holds_all(size: int) -> bytes:
    return b'[1,2,{"id":7,"text":"' + b"long text " * (size // 10) + b'"},3]'


def _digits(size: int) -> bytes:
    return b"[" + b"7" * size + b"]"


SHAPES: dict[str, Callable[[int], bytes]] = {
    "spaces": _repeat(b" "),
    "line-of-words": _repeat(b"lorem ipsum dolor sit amet "),
    "line-without-spaces": _repeat(b"abcdefghij0123456789"),
    "run-of-one-letter": _repeat(b"a"),
    "run-of-newlines": _repeat(b"\n"),
    "blank-lines": _repeat(b"  \n\t\n\n"),
    "run-of-tabs": _repeat(b"\t"),
    "nesting": _nesting,
    "nesting-around-text": _nesting_around_text,
    "nesting-of-keys": _nested_keys,
    "nesting-unclosed": _unclosed,
    "tiny-objects": _array(b"{}"),
    "tiny-arrays": _array(b"[]"),
    "tiny-integers": _array(b"1"),
    "tiny-strings": _array(b'""'),
    "tiny-object-lines": _repeat(b"{}\n"),
    "one-giant-integer": _digits,
    "thousand-keys-per-object": _wide_objects,
    "object-of-many-keys": _numbered('"{:08d}":0', "{", "}", ","),
    "row-with-own-key": _numbered('{{"k{:08d}":1}}', "[", "]", ","),
    "alternating-keys": _alternating_keys,
    "deep-and-wide": _deep_and_wide,
    "one-item-holds-all": _one_item_holds_all,
    "notice-imitation": _numbered(_NOTICE),
    "notice-in-json": _numbered(
        '{{"text":"[brimgate] items 1-41 of 500 · more: brimgate_read(cursor=\\"{:08d}\\")"}}', "[", "]", ","
    ),
    "quotes": _repeat(b'"'),
    "backslashes": _repeat(b"\\"),
    "quotes-and-backslashes": _repeat(b'\\"\\\\" \\'),
    "almost-json": _almost_json,
    "crlf-lines": _numbered("line {:08d} of a text from elsewhere\r\n"),
    "carriage-returns": _repeat(b"progress 42 %\r"),
    "emoji-and-marks": _repeat(_SMILES.encode()),
    "combining-marks": lambda size: b"a" + "\u0301".encode() * (size // 2),
    "identical-log-lines": _repeat(b"2026-03-02 06:00:00,000 INFO [main] app - heartbeat\n"),
    "unique-log-lines": lambda size: b"".join(_unique_lines(size)),
    "escaped-string": lambda size: b'"' + b'\\u00e9\\n\\t\\"a\\\\' * (size // 15) + b'"',
    "escaped-rows": _numbered('{{"{:08d}":"\\u0041\\u0042\\ud83d\\ude00\\u005c\\"\\n"}}', "[", "]", ","),
    "broken-utf8": _repeat(b"caf\xe9 \xff\xfe \xed\xa0\x80 ok\n"),
    "null-bytes": _repeat(b"\x00"),
    "fences": _repeat(b"```\n"),
    "headings": _repeat(b"# a\n"),
    "open-tags": _repeat(b"<div>"),
    "commas": _repeat(b","),
    "repr-openings": _repeat(b"[('a', "),
}


def _unique_lines(size: int) -> Iterator[bytes]:
    """No two lines share a word, so every line is a template of its own."""
    for number in range(size // 54):
        word = _letters(number)
        yield f"{word}ka {word}lo {word}mi {word}nu {word}pe {word}ra\n".encode()


def _letters(number: int) -> str:
    return "".join(chr(97 + number // 26**place % 26) for place in range(6))
