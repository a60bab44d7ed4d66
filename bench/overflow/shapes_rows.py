"""Answers with one row a line: events as JSON lines, orders as CSV."""

# ruff: noqa: S608  (these queries are questions with known values in them; nothing here runs them)

import csv
import datetime
import io
import json
import random
from collections import Counter
from fractions import Fraction
from typing import Any, Final

from bench.overflow.figures import differ, leaders, mean, middle, money, rows, settled, total
from bench.overflow.question import Question, shape
from bench.overflow.words import LAST

EVENTS: Final = ("page_viewed", "item_added", "search_done", "order_placed", "signed_in")
PLANS: Final = ("free", "pro", "team")
COUNTRIES: Final = ("DE", "FR", "JP", "BR", "CA")


@shape("events")
@settled
def events(rng: random.Random) -> tuple[str, list[Question]]:
    """What an analytics tool exports: one JSON object a line, whose properties depend on the kind of event."""
    users = [
        {"id": f"u_{number}", "plan": rng.choices(PLANS, (6, 3, 1))[0], "country": rng.choice(COUNTRIES)}
        for number in sorted(rng.sample(range(10_000, 99_999), 160))
    ]
    now = datetime.datetime(2025, 5, 4, 8, 0)
    items: list[dict[str, Any]] = []
    for number in range(1300):
        now += datetime.timedelta(milliseconds=rng.randrange(200, 60_000))
        event = rng.choices(EVENTS, (45, 20, 15, 12, 8))[0]
        system = rng.choice(("iOS", "Android", "web"))
        properties: dict[str, Any] = {"path": rng.choice(("/", "/cart", "/search", "/product", "/account"))}
        if event == "page_viewed":
            properties["load_ms"] = rng.randrange(90, 1900 if system == "Android" else 1500)
        if event == "order_placed":
            properties["amount_cents"] = rng.randrange(900, 39_900)
        items.append(
            {
                "event_id": f"ev_{350_000 + number * 3 + rng.randrange(3)}",
                "time": f"{now.isoformat(timespec='milliseconds')}Z",
                "event": event,
                "user": users[int(160 * rng.random() ** 1.4)],
                "device": {"os": system, "app": f"5.{rng.randrange(7)}.{rng.randrange(4)}"},
                "properties": properties,
            }
        )
    places = [place for place in range(1300) if items[place]["event"] == "signed_in"]
    for place in rng.sample(places, 8):
        items[place].update(
            event="refund_requested", properties={"path": "/account", "reason": "changed my mind"}
        )
    odd = items[middle(rng, 1300)]
    odd.update(
        event="app_crashed",
        properties={"path": "/cart", "signal": "SIGSEGV", "free_mb": rng.randrange(3, 30)},
    )
    text = "".join(json.dumps(item, separators=(",", ":")) + "\n" for item in items)

    asked, other = rng.sample(items[300:1000], 2)
    orders = [item for item in items if item["event"] == "order_placed"]
    views = [item for item in items if item["event"] == "page_viewed"]
    seen = {item["user"]["id"]: item["user"]["plan"] for item in items}
    spent: Counter[str] = Counter()
    for item in orders:
        spent[item["user"]["id"]] += item["properties"]["amount_cents"]
    revenue = {
        country: total(
            item["properties"]["amount_cents"] for item in orders if item["user"]["country"] == country
        )
        for country in COUNTRIES
    }
    averages = [
        (system, mean(item["properties"]["load_ms"] for item in views if item["device"]["os"] == system))
        for system in ("iOS", "Android")
    ]
    differ(*(average for _, average in averages))
    return text, [
        Question(
            "lookup",
            f"Which user caused event {asked['event_id']}, and with which version of the app?",
            rows([(asked["user"]["id"], asked["device"]["app"])]),
            (f"SELECT user.id, device.app FROM t WHERE event_id = '{asked['event_id']}'",),
            (asked["event_id"],),
            (f"-n '{asked['event_id']}'",),
        ),
        Question(
            "lookup",
            f"What happened at {other['time']} (the event), and on which path?",
            rows([(other["event"], other["properties"]["path"])]),
            (f"SELECT event, properties.path FROM t WHERE time = '{other['time']}'",),
            (other["time"],),
            (f"-n '{other['time']}'",),
        ),
        Question(
            "needle",
            "Did the app break down for anybody? Which user was it, and in which version?",
            rows([(odd["user"]["id"], odd["device"]["app"])]),
            (
                "SELECT user.id, device.app, event FROM t WHERE event REGEXP '(?i)crash|error|fail|exception'",
                (
                    "SELECT user.id, device.app, event FROM t WHERE event IN "
                    "(SELECT event FROM t GROUP BY 1 HAVING count(*) < 5)"
                ),
            ),
            ("/(?i)error|fail|exception/", "/(?i)crash|freeze|hang/"),
            ("-n -i -E 'error|fail|exception'", "-n -i -E 'crash|freeze|hang'"),
        ),
        Question(
            "count",
            "How many events are there of each kind?",
            rows(Counter(item["event"] for item in items).most_common()),
            ("SELECT event, count(*) AS events FROM t GROUP BY event ORDER BY 2 DESC",),
            (*EVENTS, "refund_requested"),
            (*(f'-c \'"event":"{event}"\'' for event in EVENTS), '-oE \'"event":"[a-z_]+"\''),
        ),
        Question(
            "count",
            "How many different users of each plan do we see?",
            rows(Counter(seen.values()).most_common()),
            ("SELECT user.plan, count(DISTINCT user.id) AS users FROM t GROUP BY 1",),
            (),
            ('-oE \'"id":"u_[0-9]+","plan":"[a-z]+"\'',),
        ),
        Question(
            "sum",
            "What was ordered in total from each country, in cents?",
            rows(revenue.items()),
            ("SELECT user.country, sum(properties.amount_cents) AS cents FROM t GROUP BY 1",),
            (),
            ('-oE \'"country":"[A-Z]+".*"amount_cents":[0-9]+\'',),
        ),
        Question(
            "top",
            "Which three users ordered for the most money, and for how many cents?",
            rows(leaders(spent, 3)),
            (
                "SELECT user.id, sum(properties.amount_cents) AS cents FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
            ),
            (),
            ('-oE \'"id":"u_[0-9]+".*"amount_cents":[0-9]+\'',),
        ),
        Question(
            "compare",
            "Do pages load slower on Android than on iOS? The average load_ms of page_viewed on both, to two decimals.",
            rows(averages),
            (
                (
                    "SELECT device.os, round(avg(properties.load_ms), 2) AS ms FROM t "
                    "WHERE event = 'page_viewed' AND device.os IN ('iOS', 'Android') GROUP BY 1"
                ),
            ),
            (),
            ('-oE \'"os":"(iOS|Android)".*"load_ms":[0-9]+\'',),
        ),
        Question(
            "list",
            "List the ids of all events in which somebody asked for their money back.",
            rows([item["event_id"]] for item in items if item["event"] == "refund_requested"),
            (
                "SELECT event_id FROM t WHERE event LIKE '%refund%'",
                (
                    "SELECT event_id, event FROM t WHERE event NOT IN "
                    "('page_viewed', 'item_added', 'search_done', 'order_placed', 'signed_in')"
                ),
            ),
            ("refund",),
            ("-n 'refund'",),
        ),
    ]


PRODUCTS: Final = (
    'Desk lamp, 40"',
    "Folding chair",
    'Monitor arm, 27"',
    "Filing cabinet, grey",
    "Whiteboard",
    "Cable tray, 2 m",
)
NOTES: Final = (
    "",
    "",
    "leave at the door",
    "call first, then deliver",
    'ring twice, ask for "reception"',
    "deliver before noon, please",
    "gift, no invoice in the parcel",
)
LANDS: Final = ("Austria", "Denmark", "Norway", "Portugal")


@shape("orders")
@settled
def orders(rng: random.Random) -> tuple[str, list[Question]]:
    """What a shop exports as CSV: quoted fields with commas and quotes, a column with thousands separators."""
    customers = [f"{name}{form}" for name in LAST for form in (", Ltd.", " GmbH", " & Sons, Inc.")]
    day = datetime.date(2024, 10, 1)
    items: list[dict[str, Any]] = []
    for number in range(1500):
        quantity = rng.randrange(1, 13)
        price = rng.randrange(950, 24_900)
        items.append(
            {
                "order_id": f"A-{61_000 + number}",
                "date": str(day + datetime.timedelta(days=number // 8)),
                "customer": customers[int(len(customers) * rng.random() ** 1.6)],
                "country": rng.choices(LANDS, (4, 3, 2, 2))[0],
                "source": rng.choices(("web", "phone", "shop"), (6, 2, 2))[0],
                "product": rng.choice(PRODUCTS),
                "quantity": quantity,
                "unit_price": price,
                "total": quantity * price,
                "insured_value": rng.randrange(500, 9000),
                "status": rng.choices(("shipped", "paid", "open"), (70, 18, 12))[0],
                "note": rng.choice(NOTES),
            }
        )
    odd = items[middle(rng, 1500)]
    odd["note"] = 'second reminder ignored, "our solicitor will write to you", answer this week'
    for item in rng.sample(items, 8):
        item["status"] = "disputed"
    out = io.StringIO()
    writer = csv.DictWriter(out, list(items[0]), lineterminator="\n")
    writer.writeheader()
    for item in items:
        shown = {key: f"{item[key] / 100:.2f}" for key in ("unit_price", "total")}
        writer.writerow({**item, **shown, "insured_value": f"{item['insured_value']:,}"})
    text = out.getvalue()

    asked, other = rng.sample(items[300:1200], 2)
    money(other["unit_price"])
    money(other["total"])
    spent: Counter[str] = Counter()
    for item in items:
        spent[item["customer"]] += item["total"]
    best = [(customer, money(int(cents))) for customer, cents in leaders(spent, 3)]
    revenue = {land: money(sum(item["total"] for item in items if item["country"] == land)) for land in LANDS}
    insured = total(item["insured_value"] for item in items if item["country"] == "Norway")
    averages = [
        (source, mean(Fraction(item["total"], 100) for item in items if item["source"] == source))
        for source in ("web", "phone")
    ]
    differ(*(average for _, average in averages))
    statuses = Counter(item["status"] for item in items)
    return text, [
        Question(
            "lookup",
            f"Who placed order {asked['order_id']}, and from which country?",
            rows([(asked["customer"], asked["country"])]),
            (f"SELECT customer, country FROM t WHERE order_id = '{asked['order_id']}'",),
            (asked["order_id"],),
            (f"-n '^{asked['order_id']},'",),
        ),
        Question(
            "lookup",
            f"What was the price of one piece in order {other['order_id']}, and what was its total?",
            rows([(money(other["unit_price"]), money(other["total"]))]),
            (f"SELECT unit_price, total FROM t WHERE order_id = '{other['order_id']}'",),
            (other["order_id"],),
            (f"-n '^{other['order_id']},'",),
        ),
        Question(
            "needle",
            "Does any customer threaten us with the law? Which order, and which customer?",
            rows([(odd["order_id"], odd["customer"])]),
            (
                "SELECT order_id, customer, note FROM t WHERE note REGEXP '(?i)lawyer|legal|court|attorney|solicitor|sue'",
                "SELECT note, count(*) AS orders, min(order_id), min(customer) FROM t GROUP BY note ORDER BY 2 LIMIT 10",
            ),
            ("/(?i)lawyer|legal|court/", "/(?i)attorney|solicitor|sue\\b/"),
            ("-n -i -E 'lawyer|legal|court'", "-n -i -E 'attorney|solicitor|sue'"),
        ),
        Question(
            "count",
            "How many orders are there in each status?",
            rows(statuses.most_common()),
            ("SELECT status, count(*) AS orders FROM t GROUP BY status",),
            tuple(statuses),
            tuple(f"-c ',{status},'" for status in statuses),
        ),
        Question(
            "sum",
            "What is the turnover per country (sum of the totals), to two decimals?",
            rows(revenue.items()),
            (
                "SELECT country, round(sum(total), 2) AS turnover FROM t GROUP BY country",
                "SELECT country, round(sum(number(total)), 2) AS turnover FROM t GROUP BY country",
            ),
            (),
            ("-oE '(Austria|Denmark|Norway|Portugal),.*'",),
        ),
        Question(
            "sum",
            "For how much are all orders from Norway insured together?",
            rows([[insured]]),
            (
                "SELECT sum(number(insured_value)) AS insured FROM t WHERE country = 'Norway'",
                "SELECT sum(CAST(replace(insured_value, ',', '') AS INTEGER)) AS insured FROM t WHERE country = 'Norway'",
            ),
            (),
            ("-n ',Norway,'",),
        ),
        Question(
            "top",
            "Which three customers bought for the most, and for how much (to two decimals)?",
            rows(best),
            (
                "SELECT customer, round(sum(total), 2) AS spent FROM t GROUP BY customer ORDER BY spent DESC LIMIT 3",
                "SELECT customer, round(sum(number(total)), 2) AS spent FROM t GROUP BY customer ORDER BY 2 DESC LIMIT 3",
            ),
            (),
            ("-oE '[A-Z][a-z]+(, Ltd| GmbH| & Sons).*'",),
        ),
        Question(
            "compare",
            "Is the average total of an order higher on the web or by phone? Both, to two decimals.",
            rows(averages),
            (
                "SELECT source, round(avg(total), 2) AS average FROM t WHERE source IN ('web', 'phone') GROUP BY source",
                "SELECT source, round(avg(number(total)), 2) AS average FROM t GROUP BY source",
            ),
            (),
            ("-oE ',(web|phone),.*'",),
        ),
        Question(
            "list",
            "List the ids of all disputed orders.",
            rows([item["order_id"]] for item in items if item["status"] == "disputed"),
            (
                "SELECT order_id FROM t WHERE status = 'disputed'",
                "SELECT order_id FROM t WHERE status LIKE '%disput%'",
            ),
            ("disputed",),
            ("-n ',disputed,'",),
        ),
    ]
