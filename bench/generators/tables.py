"""Rows written as text: CSV, database consoles, Python reprs; and lists without keys."""

from random import Random
from typing import Any

from bench.generators.encodings import (
    compact,
    markdown_table,
    mysql,
    pretty,
    psql,
    python_dicts,
    python_tuples,
    separated,
    spaced,
)
from bench.generators.planting import (
    Plant,
    Plot,
    blank,
    changed_type,
    listing,
    missing,
    outlier,
    put,
    rare_value,
)
from bench.generators.sample import Recipe
from bench.generators.vocabulary import (
    COMPANIES,
    SERVICES,
    day,
    ip,
    noun,
    number,
    sentence,
    skewed,
    slug,
    stamp,
    title,
    token,
    weighted,
)


def _remark(rng: Random) -> str:
    return sentence(rng) if rng.random() < 0.8 else f'{noun(rng)}, see "{title(rng)}"'


def _sale(rng: Random, index: int) -> dict[str, Any]:
    return {
        "sale_id": f"S{token(rng, 9)}",
        "date": day(rng, 90),
        "region": weighted(rng, ("north", 40), ("south", 35), ("east", 21), ("export", 4)),
        "customer": rng.choice(COMPANIES),
        "units": rng.randint(1, 60),
        "unit_price": skewed(rng, 12, 0.5),
        "discount": rng.choice((0, 0, 0, 5, 10)),
        "comment": _remark(rng) if rng.random() < 0.3 else "",
    }


def _session(rng: Random, index: int) -> dict[str, Any]:
    return {
        "session": token(rng, 12),
        "started": stamp(rng, index, 75),
        "user_name": f"{noun(rng)}{rng.randint(1, 300)}",
        "client_ip": ip(rng),
        "plan": weighted(rng, ("free", 70), ("team", 25), ("trial", 5)),
        "pages": rng.randint(1, 30),
        "seconds": int(skewed(rng, 180, 0.6, 0)),
    }


def _part(rng: Random, index: int) -> dict[str, Any]:
    return {
        "part_no": f"{rng.choice('ABCD')}-{token(rng, 7)}",
        "label": title(rng),
        "weight_kg": skewed(rng, 1.4, 0.5),
        "supplier": rng.choice(COMPANIES).replace("&", "and"),
        "stock": int(skewed(rng, 80, 0.5, 0)),
        "grade": weighted(rng, ("A", 70), ("B", 26), ("C", 4)),
    }


def _measurement(rng: Random, index: int) -> list[Any]:
    probe = f"{rng.choice(('inlet', 'outlet', 'tank'))}-{token(rng, 8)}"
    state = weighted(rng, ("ok", 94), ("drift", 6))
    return [probe, stamp(rng, index, 45), round(rng.gauss(7.1, 0.2), 3), round(rng.gauss(18, 1.2), 2), state]


def _path(rng: Random, index: int) -> str:
    return (
        f"/srv/data/{rng.choice(SERVICES)}/2026/{rng.randint(1, 12):02d}/{slug(rng)}-{token(rng, 8)}.parquet"
    )


def _health(rng: Random, index: int) -> str:
    host = f"{rng.choice(SERVICES)}-{token(rng, 6)}.eu-west-1.internal"
    return f"host {host} answered ping in {rng.randint(1, 9)} ms"


def _scalar(rng: Random, index: int) -> Any:
    pair: list[Any] = [index, token(rng, 6)]
    return rng.choice((index, token(rng, 8), skewed(rng, 5), None, True, pair, {"n": index}, sentence(rng)))


def _ticket(rng: Random, index: int) -> dict[str, Any]:
    """Cells with quotes and line breaks."""
    text = f'{sentence(rng)}\n{noun(rng)}: "{title(rng)}", {sentence(rng)}' if rng.random() < 0.5 else ""
    return {"ticket": number(rng), "opened": stamp(rng, index, 900), "subject": title(rng), "text": text}


def odd_string(text: str) -> Plant:
    """Replaces one string of a list by another that follows no pattern of the rest."""

    def plant(plot: Plot) -> None:
        where = plot.spot()
        name = token(plot.rng)
        put(plot.rows, str(where), text.format(name))
        plot.mark("rare template", where, name, *text.split(" {} "))

    return plant


_SALE = ("sale_id",)
_MEASURED = ["probe", "at", "ph", "temperature", "state"]

RECIPES: dict[str, Recipe] = {
    "csv-sales": listing(
        _sale,
        1600,
        outlier("unit_price"),
        blank("region"),
        rare_value("region", "embargoed"),
        ids=_SALE,
        encode=separated(","),
        first_line=1,
    ),
    "csv-semicolon-crlf": listing(
        _sale, 2400, changed_type("units", "see note"), ids=_SALE, encode=separated(";", "\r\n"), first_line=1
    ),
    "csv-multiline-cells": listing(_ticket, 900, ids=(), encode=separated(",")),
    "tsv-sessions": listing(
        _session,
        2000,
        outlier("seconds"),
        rare_value("plan", "suspended"),
        ids=("session",),
        encode=separated("\t"),
        first_line=1,
    ),
    "psql-sessions": listing(
        _session,
        1500,
        outlier("pages"),
        rare_value("plan", "lifetime"),
        ids=("session",),
        encode=psql,
        first_line=2,
    ),
    "mysql-parts": listing(_part, 1200, outlier("stock"), ids=("part_no",), encode=mysql, first_line=3),
    "markdown-parts": listing(
        _part,
        1100,
        blank("weight_kg"),
        changed_type("stock", "on order"),
        ids=("part_no",),
        encode=markdown_table,
        first_line=2,
    ),
    "repr-tuples": listing(
        _session,
        1600,
        outlier("seconds"),
        changed_type("pages", "many"),
        ids=("session",),
        encode=python_tuples,
    ),
    "repr-dicts": listing(
        _part,
        900,
        missing("supplier"),
        rare_value("grade", "quarantined"),
        ids=("part_no",),
        encode=python_dicts,
    ),
    "rows-of-cells": listing(
        _measurement,
        2000,
        outlier("3"),
        changed_type("2", "overflow"),
        rare_value("4", "burst"),
        ids=("0",),
        wrap=lambda rows: {"columns": _MEASURED, "rows": rows, "truncated": False},
        encode=compact,
    ),
    "strings-paths": listing(
        _path, 2500, odd_string("cannot stat {} permission denied"), ids=(), encode=spaced
    ),
    "strings-health": listing(
        _health,
        1200,
        odd_string("host {} unreachable since last Tuesday"),
        ids=(),
        wrap=lambda rows: {"checks": rows, "source": "probe-7"},
        encode=pretty,
    ),
    "scalars-mixed": listing(_scalar, 4000, ids=(), encode=compact),
}
