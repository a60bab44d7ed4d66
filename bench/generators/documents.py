"""Documents with nothing to find in them: they only have to survive the walk."""

import base64
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from bench.generators.encodings import compact, pretty, spaced
from bench.generators.sample import Draft, Recipe
from bench.generators.vocabulary import (
    CITIES,
    SERVICES,
    ip,
    noun,
    number,
    paragraph,
    person,
    sentence,
    skewed,
    slug,
    title,
    token,
)


def _plain(part: Callable[[Random], str], count: int, between: str = "\n\n") -> Recipe:
    def build(rng: Random) -> Draft:
        return between.join(part(rng) for _ in range(count)).encode() + b"\n", []

    return build


def _object(make: Callable[[Random], Any], encode: Callable[[Any], bytes]) -> Recipe:
    return lambda rng: (encode(make(rng)), [])


def _section(rng: Random) -> str:
    parts = ["#" * rng.randint(1, 4) + " " + title(rng), paragraph(rng)]
    parts += rng.sample([_bullets(rng), _fence(rng), _small_table(rng), paragraph(rng)], 2)
    return "\n\n".join(parts)


def _bullets(rng: Random) -> str:
    return "\n".join(f"- **{noun(rng)}**: {sentence(rng)}" for _ in range(rng.randint(2, 6)))


def _fence(rng: Random) -> str:
    return f"```python\n{_function(rng)}\n```"


def _small_table(rng: Random) -> str:
    rows = "\n".join(f"| {slug(rng)} | {rng.randint(1, 99)} |" for _ in range(rng.randint(2, 6)))
    return f"| setting | default |\n|---|---:|\n{rows}"


def _function(rng: Random) -> str:
    name, argument = noun(rng), noun(rng)
    return (
        f"def {name}_{argument}({argument}: int, limit: int = {rng.randint(1, 90)}) -> str:\n"
        f'    """{sentence(rng)}"""\n'
        f"    if {argument} > limit:\n"
        f'        raise ValueError(f"{{{argument}}} is beyond {{limit}}")\n'
        f'    return "{slug(rng)}" * {argument}'
    )


def _manifest(rng: Random) -> str:
    name = slug(rng)
    image = f"registry.local/{name}:{rng.randint(1, 9)}.{rng.randint(0, 9)}"
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  labels:\n    app: {name}\n"
        f"    team: {noun(rng)}\nspec:\n  replicas: {rng.randint(1, 6)}\n"
        f"  template:\n    spec:\n      containers:\n        - name: {name}\n          image: {image}\n"
        f'          args: ["--listen", "0.0.0.0:{rng.randint(8000, 9000)}"]\n          env:\n'
        f"            - name: UPSTREAM\n              value: {ip(rng)}\n"
        f"      # {sentence(rng)}"
    )


def _article(rng: Random) -> str:
    rows = (f"<tr><td>{noun(rng)}</td><td>{rng.randint(1, 999)}</td></tr>" for _ in range(rng.randint(2, 6)))
    link = f'<a href="/wiki/{slug(rng)}" title="{title(rng)}">{noun(rng)}</a>'
    return (
        f'<section id="{token(rng, 8)}" class="block">\n  <h2>{title(rng)}</h2>\n'
        f"  <p>{paragraph(rng)} {link}</p>\n  <table>{''.join(rows)}</table>\n</section>"
    )


def _page(rng: Random) -> Draft:
    head = f'<!DOCTYPE html>\n<html lang="en">\n<head><title>{title(rng)}</title></head>\n<body>\n'
    body = "\n".join(_article(rng) for _ in range(220))
    return f"{head}{body}\n</body>\n</html>\n".encode(), []


def _hunk(rng: Random) -> str:
    path, start = f"src/{noun(rng)}/{noun(rng)}.py", rng.randint(1, 400)
    index = f"index {token(rng, 7)}..{token(rng, 7)} 100644"
    head = f"diff --git a/{path} b/{path}\n{index}\n--- a/{path}\n+++ b/{path}"
    lines = [f"{rng.choice('  +-')}    {noun(rng)} = {noun(rng)}({rng.randint(0, 99)})" for _ in range(12)]
    return "\n".join([head, f"@@ -{start},12 +{start},12 @@ def {noun(rng)}():", *lines])


_SCRIPTS = (
    "これは長い報告書の一節です。",
    "Отчёт был проверен дважды. ",
    "這是一段測試文字。",
    "Η αναφορά ελέγχθηκε. ",
    "تمت مراجعة التقرير. ",
    "🚢 ✅ ",
)


def _unicode_paragraph(rng: Random) -> str:
    return "".join(rng.choice(_SCRIPTS) for _ in range(rng.randint(5, 30))) + person(rng)


def _grep_hit(rng: Random) -> str:
    code = f"{noun(rng)} = {noun(rng)}.{noun(rng)}({rng.randint(0, 50)})"
    return f"src/{noun(rng)}/{slug(rng)}.py:{rng.randint(1, 900)}:    {code}"


def _thread(rng: Random) -> str:
    name = f"pool-{rng.randint(1, 9)}-thread-{rng.randint(1, 64)}"
    frames = [f"\tat com.example.{noun(rng)}.{_frame(rng)}" for _ in range(9)]
    return "\n".join([f'"{name}" #{rng.randint(10, 400)} prio=5 waiting on condition', *frames])


def _frame(rng: Random) -> str:
    name = noun(rng).title()
    return f"{name}.run({name}.java:{rng.randint(9, 900)})"


def _schema(rng: Random, depth: int = 4) -> dict[str, Any]:
    if depth == 0:
        return {"type": rng.choice(("string", "integer", "boolean")), "description": sentence(rng)}
    names = {f"{noun(rng)}_{noun(rng)}" for _ in range(rng.randint(4, 6))}
    return {"type": "object", "properties": {name: _schema(rng, depth - 1) for name in sorted(names)}}


def _settings(rng: Random) -> dict[str, Any]:
    """Many sections of similar weight: no list to page through."""
    return {f"{noun(rng)}_{number(rng, 3)}": _one_setting(rng) for _ in range(500)}


def _one_setting(rng: Random) -> Any:
    return rng.choice(
        (
            {"enabled": rng.random() < 0.5, "limit": rng.randint(1, 900), "note": sentence(rng)},
            {"hosts": [ip(rng) for _ in range(rng.randint(1, 5))], "owner": person(rng)},
            {"nested": {slug(rng): {"ratio": rng.random(), "cities": rng.sample(CITIES, 3)}}},
            paragraph(rng, 1, 2),
        )
    )


def _hosts(rng: Random) -> dict[str, Any]:
    rows = {
        f"{rng.choice(SERVICES)}-{token(rng, 6)}": {
            "ip": ip(rng),
            "load": skewed(rng, 1.2),
            "rack": rng.randint(1, 40),
        }
        for _ in range(1500)
    }
    return {"generated": "2026-03-02", "hosts": rows}


def _file_content(rng: Random) -> dict[str, Any]:
    text = "\n\n".join(_section(rng) for _ in range(140))
    return {
        "path": "docs/handbook.md",
        "encoding": "utf-8",
        "sha": token(rng, 40),
        "size": len(text),
        "content": text,
    }


def _blob(rng: Random, size: int) -> str:
    return base64.b64encode(rng.randbytes(size)).decode()


def _attachment(rng: Random) -> dict[str, Any]:
    return {"name": "scan.pdf", "mime": "application/pdf", "data": _blob(rng, 120_000), "pages": 14}


def _wrapped_blob(rng: Random) -> Draft:
    text = _blob(rng, 90_000)
    return "\n".join(_slices(text, 76)).encode() + b"\n", []


def _slices(text: str, width: int) -> Iterator[str]:
    return (text[start : start + width] for start in range(0, len(text), width))


def _columns(rng: Random) -> dict[str, Any]:
    """Column-wise data, as numeric services send it."""
    count = 4000
    return {
        "hourly_units": {"time": "unix", "temperature": "°C"},
        "hourly": {
            "time": [1772431200 + 3600 * hour for hour in range(count)],
            "temperature": [round(rng.gauss(12, 4), 1) for _ in range(count)],
            "wind": [skewed(rng, 14, 0.4, 1) for _ in range(count)],
        },
    }


RECIPES: dict[str, Recipe] = {
    "doc-markdown": _plain(_section, 180),
    "doc-yaml": _plain(_manifest, 260, "\n---\n"),
    "doc-html": _page,
    "doc-prose": _plain(paragraph, 450),
    "doc-prose-one-line": _plain(paragraph, 220, " "),
    "doc-unicode": _plain(_unicode_paragraph, 350),
    "doc-diff": _plain(_hunk, 190, "\n"),
    "doc-source": _plain(_function, 420, "\n\n\n"),
    "doc-grep": _plain(_grep_hit, 1700, "\n"),
    "doc-threads": _plain(_thread, 180),
    "object-schema": _object(_schema, pretty),
    "object-settings": _object(_settings, compact),
    "object-map-of-hosts": _object(_hosts, spaced),
    "object-one-text": _object(_file_content, compact),
    "object-columns": _object(_columns, compact),
    "object-base64": _object(_attachment, compact),
    "base64-wrapped": _wrapped_blob,
}
