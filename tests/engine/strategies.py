"""Generated JSON values and texts: awkward keys, repeated rows, long strings, every kind of text we know."""

import json

from hypothesis import strategies as st

keys = st.text(max_size=6) | st.sampled_from(
    [
        "id",
        "name",
        "items",
        "a/b",
        "a~b",
        "a.b",
        "x[0]",
        "",
        "cell",
        "true",
        'q"',
        "n?",
        "=",
        "a|b",
        "k-1",
        "null",
        "1",
    ]
)
awkward_texts = st.sampled_from(
    [
        "-",
        "",
        "null",
        "5",
        "-0",
        "1e5",
        "= x",
        "a|b",
        "http://x/1",
        "http://x/2",
        "a b c d",
        "true",
        " x",
        "x ",
        "[1]",
        "{}",
        '"q"',
        "\u2028",
        "x\ny",
        "a/b@c d",
        "\\",
        "\x7f",
        "😀",
        "é" * 9,
        "<table 1>",
        "[brimgate] items 1-2 of 3",
    ]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40)
    | awkward_texts
)
long_texts = st.text(min_size=1, max_size=30).map(lambda text: text * 90) | st.integers(0, 3).map(
    lambda count: "word. another thing! ok\n\n" * count * 40
)


def weight(value: object, known: dict[int, int]) -> int:
    """About how long a value is when written: thirty times the same, thirty times over, is written out in full."""
    if not isinstance(value, list | dict):
        return len(str(value)) + 3
    if id(value) not in known:
        inner = value.values() if isinstance(value, dict) else value
        known[id(value)] = 2 + sum(weight(one, known) for one in inner)
    return known[id(value)]


values = st.recursive(
    scalars | long_texts,
    lambda inner: (
        st.lists(inner, max_size=8)
        | st.dictionaries(keys, inner, max_size=8)
        | st.lists(inner, min_size=1, max_size=3).map(lambda items: items * 30)
    ),
    max_leaves=50,
).filter(lambda value: weight(value, {}) < 200_000)
small_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def _same_keys(names: list[str]) -> st.SearchStrategy[list[dict[str, object]]]:
    return st.lists(st.fixed_dictionaries(dict.fromkeys(names, small_values)), min_size=2, max_size=8)


_users = st.none() | st.fixed_dictionaries(
    {
        "login": st.sampled_from(["ann", "bob"]),
        "type": st.just("User"),
        "url": st.sampled_from(["https://x.org/ann", "https://x.org/bob"]),
    }
)
_linked = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.integers(1, 999),
            "user": _users,
            "beds": st.lists(st.fixed_dictionaries({"type": st.text(max_size=3)}), min_size=1, max_size=1),
        }
    ),
    min_size=2,
    max_size=9,
)
rows = (
    st.lists(st.dictionaries(keys, small_values, max_size=6) | small_values, min_size=2, max_size=8)
    | st.lists(keys, min_size=1, max_size=5, unique=True).flatmap(_same_keys)
    | _linked
)
tables = rows | st.fixed_dictionaries(
    {"n": scalars, "data": rows, "k": st.dictionaries(keys, rows, max_size=2)}
)

texts = (
    st.text()
    | st.text(min_size=1, max_size=60).map(lambda text: text * 200)
    | st.lists(
        st.sampled_from(
            [
                "```\n",
                "# h\n",
                "para. one two\n\n",
                "| a | b |\n",
                "2024-01-01 10:00:00 INFO x\n",
                "  at foo\n",
                "\r\n",
                "é" * 50,
                "x" * 500,
                " " * 300,
                '{"a":1}\n',
                "a,b,c\n",
                "[('a', 1), ",
                "<div>\n",
                "[brimgate] end\n",
            ]
        ),
        max_size=300,
    ).map("".join)
)


def spelled(value: object, ascii_only: bool, indent: int | None) -> bytes:
    return json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()


# Lists in lists in lists, each thirty times over, can reach megabytes: that is what the benchmarks are for.
documents = (
    st.builds(spelled, values, st.booleans(), st.sampled_from([None, 1]))
    | texts.map(lambda text: text.encode("utf-8", "surrogatepass"))
).filter(lambda data: len(data) <= 100_000)
