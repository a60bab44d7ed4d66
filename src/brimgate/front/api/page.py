"""The document as a page for people: no script, nothing fetched from elsewhere."""

from collections.abc import Iterator
from html import escape
from typing import Any, Final

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b2733; }
code { background: #eef2f5; padding: .1em .3em; border-radius: 3px; }
section { border-top: 1px solid #d5dde4; padding: .6rem 0; }
h2 { font-size: 1rem; margin: .4rem 0; } table { border-collapse: collapse; }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top; }
b { color: #0a5c8a; }
@media (prefers-color-scheme: dark) {
  body { background: #12181e; color: #d8e0e7; } code { background: #222c35; } b { color: #6bc1ee; }
}
"""
_SHARED: Final = """Every list takes <code>limit</code> and <code>cursor</code>, every object <code>fields</code>
(<code>fields=all</code> for all of it), every long text <code>startLine</code> and <code>endLine</code>."""


def page(document: dict[str, Any], address: str) -> str:
    """`address`: of the document."""
    info = document["info"]
    sections = "\n".join(_sections(document["paths"]))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(info['title'])}</h1>"
        f"<p>{escape(info['description'])}</p><p>{_SHARED} "
        f'The same for programs: <a href="{escape(address)}">{escape(address)}</a>.</p>{sections}</body></html>'
    )


def _sections(paths: dict[str, Any]) -> Iterator[str]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            rows = "".join(map(_row, operation["parameters"]))
            table = f"<table><tr><th>parameter<th>in<th>type<th>{rows}</table>" if rows else ""
            yield (
                f"<section><h2><b>{method.upper()}</b> <code>{escape(path)}</code></h2>"
                f"<p>{escape(operation['description'])}</p>{table}</section>"
            )


def _row(parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    kind = (
        " | ".join(map(str, schema["enum"]))
        if "enum" in schema
        else schema.get("format") or schema.get("type", "")
    )
    told = parameter["description"] + (" (required)" if parameter["required"] else "")
    cells = (
        f"<code>{escape(parameter['name'])}</code>",
        parameter["in"],
        escape(str(kind)),
        escape(told.strip()),
    )
    return "<tr>" + "".join(f"<td>{cell}" for cell in cells)
