"""An answer in three levels: the spans of traces."""

# ruff: noqa: S608  (these queries are questions with known values in them; nothing here runs them)

import json
import random
from collections import Counter
from typing import Any, Final

from bench.overflow.figures import differ, leaders, mean, middle, rows, settled, total
from bench.overflow.question import Question, shape
from bench.overflow.words import token

SPANS: Final = {
    "gateway": ("POST /checkout", "GET /search", "GET /product"),
    "cart": ("cart.load", "cart.save"),
    "payment": ("payment.charge", "payment.refund"),
    "inventory": ("stock.reserve",),
    "orders": ("SELECT orders", "INSERT orders"),
    "pricing": ("price.quote",),
    "mail": ("mail.send",),
}
USUAL: Final = {"POST /checkout": 620, "GET /search": 480, "payment.charge": 410, "mail.send": 240}
TENANTS: Final = ("t-acorn", "t-birch", "t-cedar", "t-dogwood")


def _attribute(key: str, value: str | int) -> dict[str, Any]:
    return {
        "key": key,
        "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
    }


def _span(rng: random.Random, service: str) -> dict[str, Any]:
    name = rng.choice(SPANS[service])
    usual = USUAL.get(name, 90)
    start = 1_746_000_000_000 + rng.randrange(3_600_000)
    failed = rng.random() < (0.22 if name == "payment.charge" else 0.05)
    message = rng.choice(
        ("connection reset by peer", "upstream answered 503", "provider refused the request")
    )
    return {
        "traceId": token(rng, 32),
        "spanId": token(rng, 16),
        "parentSpanId": token(rng, 16),
        "name": name,
        "kind": 2 if service == "gateway" else 3,
        "startTimeUnixNano": str(start * 1_000_000),
        "endTimeUnixNano": str((start + int(rng.uniform(0.2, 1.8) * usual)) * 1_000_000),
        "attributes": [
            _attribute("tenant.id", rng.choices(TENANTS, (4, 3, 2, 1))[0]),
            _attribute("thread.name", f"exec-{rng.randrange(32)}"),
            _attribute("retry.count", rng.randrange(3)),
        ],
        "status": {"code": 2, "message": message} if failed else {},
    }


@shape("spans")
@settled
def spans(rng: random.Random) -> tuple[str, list[Question]]:
    """One hour of traces as OTLP writes them in JSON: resources, scopes, spans, with numbers as texts, minified."""
    of_service = {service: [_span(rng, service) for _ in range(rng.randrange(45, 110))] for service in SPANS}
    everything = [span for group in of_service.values() for span in group]
    odd = everything[middle(rng, len(everything))]
    odd["status"] = {"code": 2, "message": "deadline exceeded: waited 5000 ms for a lock"}
    groups: list[dict[str, Any]] = []
    for service, group in of_service.items():
        half = len(group) // 2
        named = [
            _attribute("service.name", service),
            _attribute("service.version", f"2.{rng.randrange(30)}.0"),
            _attribute("host.name", f"host-{rng.randrange(10, 99)}"),
        ]
        scopes = [
            {"scope": {"name": "io.example.server", "version": "1.32.0"}, "spans": group[:half]},
            {"scope": {"name": "io.example.client", "version": "1.32.0"}, "spans": group[half:]},
        ]
        groups.append({"resource": {"attributes": named}, "scopeSpans": scopes})
    text = json.dumps({"resourceSpans": groups}, separators=(",", ":"))

    def lasted(span: dict[str, Any]) -> int:
        return (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) // 1_000_000

    def named_so(name: str) -> list[dict[str, Any]]:
        return [span for span in everything if span["name"] == name]

    asked = rng.choice(everything[100:-100])
    place = rng.choice(tuple(SPANS)[2:5])
    _, version, host = (
        attribute["value"]["stringValue"]
        for attribute in groups[list(SPANS).index(place)]["resource"]["attributes"]
    )
    tenants = Counter(span["attributes"][0]["value"]["stringValue"] for span in everything)
    failures = Counter(span["name"] for span in everything if span["status"].get("code") == 2)
    averages = [(name, mean(map(lasted, named_so(name)))) for name in ("POST /checkout", "GET /search")]
    differ(*(average for _, average in averages))
    took = "(CAST(endTimeUnixNano AS INTEGER) - CAST(startTimeUnixNano AS INTEGER)) / 1000000"
    times = '-oE \'"name":"[^"]*","kind":[0-9],"startTimeUnixNano":"[0-9]*","endTimeUnixNano":"[0-9]*"\''
    charges = [span for span in named_so("payment.charge") if span["status"]]
    return text, [
        Question(
            "lookup",
            f"What is the name of span {asked['spanId']}, and which span is its parent?",
            rows([(asked["name"], asked["parentSpanId"])]),
            (
                f"SELECT name, parentSpanId FROM spans WHERE spanId = '{asked['spanId']}'",
                f"SELECT name, parentSpanId FROM t WHERE spanId = '{asked['spanId']}'",
            ),
            (asked["spanId"],),
            (f'-oE \'"spanId":"{asked["spanId"]}".{{0,120}}\'',),
        ),
        Question(
            "lookup",
            f"Which version of the service {place} ran, and on which host?",
            rows([(version, host)]),
            (
                (
                    "SELECT resource.attributes FROM resourceSpans "
                    f"WHERE json_extract(resource.attributes, '$[0].value.stringValue') = '{place}'"
                ),
                f"SELECT value.stringValue FROM t1 WHERE parent = (SELECT parent FROM t1 WHERE value.stringValue = '{place}')",
            ),
            ("service.version", "host.name"),
            (f'-oE \'"stringValue":"{place}".{{0,200}}\'',),
        ),
        Question(
            "needle",
            "Did any call run into a time limit? The id of its span, and its name.",
            rows([(odd["spanId"], odd["name"])]),
            (
                "SELECT spanId, name, status.message FROM spans WHERE status.message REGEXP '(?i)time.?out|timed out|deadline'",
                "SELECT spanId, name, status.message FROM t WHERE status.message REGEXP '(?i)time.?out|timed out|deadline'",
            ),
            ("timeout", "/(?i)timed out|deadline|time limit/"),
            ("-oiE '.{0,700}timeout'", "-oiE '.{0,700}(timed out|deadline|time limit).{0,60}'"),
        ),
        Question(
            "count",
            "How many spans did each service send?",
            rows((service, len(group)) for service, group in of_service.items()),
            (
                (
                    "SELECT json_extract(r.\"resource.attributes\", '$[0].value.stringValue') AS service, count(*) AS spans "
                    "FROM resourceSpans AS r JOIN scopeSpans AS s ON s.parent = r.n JOIN spans ON spans.parent = s.n GROUP BY 1"
                ),
                (
                    'SELECT a."value.stringValue" AS service, count(*) AS spans FROM t1 AS a '
                    "JOIN scopeSpans AS s ON s.parent = a.parent JOIN spans ON spans.parent = s.n "
                    "WHERE a.key = 'service.name' GROUP BY 1"
                ),
            ),
            (),
            ('-oE \'"key":"service.name","value":\\{"stringValue":"[a-z]+"|"spanId"\'',),
        ),
        Question(
            "count",
            "How many spans failed (status code 2), by name of the span?",
            rows(failures.most_common()),
            (
                "SELECT name, count(*) AS failed FROM spans WHERE status.code = 2 GROUP BY name ORDER BY 2 DESC",
                "SELECT name, count(*) AS failed FROM t WHERE status.code = 2 GROUP BY name ORDER BY 2 DESC",
            ),
            (r"/code\W+2\b/",),
            ('-oE \'"name":"[^"]*","kind"|"code":2\'',),
        ),
        Question(
            "count",
            "How many spans are there for each tenant (attribute tenant.id)?",
            rows(tenants.most_common()),
            (
                (
                    "SELECT json_extract(a.value, '$.value.stringValue') AS tenant, count(*) AS spans FROM spans, "
                    "json_each(spans.attributes) AS a WHERE json_extract(a.value, '$.key') = 'tenant.id' GROUP BY 1"
                ),
                "SELECT value.stringValue AS tenant, count(*) AS spans FROM t4 WHERE key = 'tenant.id' GROUP BY 1",
            ),
            TENANTS,
            ('-o \'"stringValue":"t-[a-z]*"\'',),
        ),
        Question(
            "sum",
            "How many milliseconds did payment.charge, mail.send and stock.reserve take in total, each?",
            rows(
                (name, total(map(lasted, named_so(name))))
                for name in ("payment.charge", "mail.send", "stock.reserve")
            ),
            (
                (
                    f"SELECT name, sum({took}) AS ms FROM spans "
                    "WHERE name IN ('payment.charge', 'mail.send', 'stock.reserve') GROUP BY name"
                ),
                (
                    f"SELECT name, sum({took}) AS ms FROM t "
                    "WHERE name IN ('payment.charge', 'mail.send', 'stock.reserve') GROUP BY name"
                ),
            ),
            (),
            (times,),
        ),
        Question(
            "top",
            "Which four spans took longest? Their ids and milliseconds.",
            rows(leaders({span["spanId"]: lasted(span) for span in everything}, 4)),
            (
                f"SELECT spanId, {took} AS ms FROM spans ORDER BY ms DESC LIMIT 4",
                f"SELECT spanId, {took} AS ms FROM t ORDER BY ms DESC LIMIT 4",
            ),
            (),
            (times,),
        ),
        Question(
            "compare",
            "Is POST /checkout slower than GET /search? The average milliseconds of both, to two decimals.",
            rows(averages),
            (
                (
                    f"SELECT name, round(avg({took}), 2) AS ms FROM spans "
                    "WHERE name IN ('POST /checkout', 'GET /search') GROUP BY name"
                ),
                (
                    f"SELECT name, round(avg({took}), 2) AS ms FROM t "
                    "WHERE name IN ('POST /checkout', 'GET /search') GROUP BY name"
                ),
            ),
            (),
            (times,),
        ),
        Question(
            "list",
            "List the ids of all failed spans of payment.charge.",
            rows([span["spanId"]] for span in charges),
            (
                "SELECT spanId FROM spans WHERE name = 'payment.charge' AND status.code = 2",
                "SELECT spanId FROM t WHERE name = 'payment.charge' AND status.code = 2",
            ),
            (r"/payment\.charge.*code\W+2\b/", "payment.charge"),
            (
                '-oE \'"spanId":"[0-9a-f]{16}","parentSpanId":"[0-9a-f]{16}","name":"payment.charge"|"code":2\'',
            ),
        ),
    ]
