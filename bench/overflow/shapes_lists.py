"""Answers that are one long JSON list: bookings, rows of a database."""

# ruff: noqa: S608  (these queries are questions with known values in them; nothing here runs them)

import datetime
import json
import random
from collections import Counter
from typing import Any, Final

from bench.overflow.figures import differ, leaders, mean, middle, rows, settled, total
from bench.overflow.question import Question, shape
from bench.overflow.words import people

CHANNELS: Final = ("airbnb", "direct", "booking_com", "expedia", "walk_in")


@shape("bookings")
@settled
def bookings(rng: random.Random) -> tuple[str, list[Question]]:
    """A hotel's bookings as its booking system lists them: an envelope, 500 nested objects, printed with indent 2."""
    countries = ("DE", "FR", "NL", "GB", "US", "PL", "SE", "IT")
    guests = [
        {
            "name": name,
            "email": f"{name.lower().replace(' ', '.')}@example.com",
            "country": rng.choice(countries),
        }
        for name in people(rng, 140)
    ]
    first = datetime.date(2025, 3, 1)
    items: list[dict[str, Any]] = []
    for number in range(500):
        arrival = first + datetime.timedelta(days=number * 2 // 5 + rng.randrange(4))
        nights = [
            {
                "date": str(arrival + datetime.timedelta(days=day)),
                "rate": rng.randrange(60 * 4, 320 * 4) / 4,
            }
            for day in range(rng.choices((1, 2, 3, 4, 6), (30, 35, 20, 10, 5))[0])
        ]
        items.append(
            {
                "id": f"BK-{20417 + number}",
                "status": rng.choices(("confirmed", "checked_out", "cancelled"), (40, 48, 12))[0],
                "channel": rng.choices(CHANNELS, (34, 25, 22, 13, 6))[0],
                "guest": guests[int(len(guests) * rng.random() ** 1.5)],
                "room": {
                    "number": rng.randrange(101, 160),
                    "type": rng.choices(("double", "single", "suite"), (6, 3, 1))[0],
                },
                "nights": nights,
                "price": {"total": sum(night["rate"] for night in nights), "currency": "EUR"},
                "payment": {
                    "method": rng.choice(("card", "transfer", "invoice")),
                    "state": rng.choices(("captured", "authorized", "due_on_arrival"), (70, 20, 10))[0],
                },
            }
        )
    for item in rng.sample(items, 9):
        item["status"] = "no_show"
    odd = items[middle(rng, 500)]
    odd["payment"]["state"] = "chargeback"
    text = json.dumps(
        {"property": "Harbour House", "from": str(first), "count": 500, "bookings": items},
        indent=2,
        ensure_ascii=False,
    )

    asked = items[rng.randrange(100, 400)]
    slept = rng.choice([item for item in items[100:400] if item["nights"][-1]["rate"] % 1])
    night = slept["nights"][-1]
    spent: Counter[str] = Counter()
    for item in items:
        spent[item["guest"]["name"]] += item["price"]["total"]
    by_status = {
        status: total(item["price"]["total"] for item in items if item["status"] == status)
        for status in ("confirmed", "checked_out", "cancelled", "no_show")
    }
    averages = [
        (channel, mean(item["price"]["total"] for item in items if item["channel"] == channel))
        for channel in ("airbnb", "direct")
    ]
    differ(*(average for _, average in averages))
    sold: Counter[str] = Counter()
    for item in items:
        sold[item["room"]["type"]] += len(item["nights"])
    return text, [
        Question(
            "lookup",
            f"What is the email address of the guest of booking {asked['id']}, and which room number is it?",
            rows([(asked["guest"]["email"], asked["room"]["number"])]),
            (f"SELECT guest.email, room.number FROM t WHERE id = '{asked['id']}'",),
            (asked["id"],),
            (f"-n -A 14 '\"{asked['id']}\"'",),
        ),
        Question(
            "lookup",
            f"At which rate was the night of {night['date']} sold in booking {slept['id']}?",
            rows([(night["date"], night["rate"])]),
            (
                (
                    f"SELECT nights.date, nights.rate FROM nights JOIN t ON nights.parent = t.n "
                    f"WHERE t.id = '{slept['id']}' AND nights.date = '{night['date']}'"
                ),
                f"SELECT id, nights FROM t WHERE id = '{slept['id']}'",
            ),
            (slept["id"],),
            (f"-n -A 40 '\"{slept['id']}\"'",),
        ),
        Question(
            "needle",
            "Did anything go wrong with a payment? Which booking is it, and over what amount?",
            rows([(odd["id"], total([odd["price"]["total"]]))]),
            (
                (
                    "SELECT id, payment.state, price.total FROM t WHERE payment.state LIKE '%fail%' "
                    "OR payment.state LIKE '%decline%' OR payment.state LIKE '%error%'"
                ),
                (
                    "SELECT id, payment.state, price.total FROM t WHERE payment.state IN "
                    "(SELECT payment.state FROM t GROUP BY 1 HAVING count(*) < 5)"
                ),
            ),
            ("/(?i)fail|declin|error/", "/(?i)refus|dispute|chargeback|refund/"),
            ("-n -i -E 'fail|declin|error'", "-n -i -B 40 -E 'refus|dispute|chargeback|refund'"),
        ),
        Question(
            "count",
            "How many bookings came through each channel?",
            rows(Counter(item["channel"] for item in items).most_common()),
            ("SELECT channel, count(*) AS bookings FROM t GROUP BY channel ORDER BY 2 DESC",),
            tuple(rf"/channel\W+{channel}/" for channel in CHANNELS),
            tuple(f'-c \'"channel": "{channel}"\'' for channel in CHANNELS),
        ),
        Question(
            "count",
            "How many nights were booked for each type of room?",
            rows(sold.most_common()),
            (
                "SELECT room.type, count(*) AS nights FROM t JOIN nights ON nights.parent = t.n GROUP BY 1",
                "SELECT room.type, sum(json_array_length(nights)) AS nights FROM t GROUP BY 1",
            ),
            (),
            ('-n -E \'"type"|"rate"\'',),
        ),
        Question(
            "sum",
            "What is the sum of the total prices per status of the booking?",
            rows(by_status.items()),
            ("SELECT status, sum(price.total) AS total FROM t GROUP BY status",),
            (),
            ("-n -E '\"(status|total)\":'",),
        ),
        Question(
            "top",
            "Which three guests are worth most to us over all their bookings, and how much is each?",
            rows(leaders(spent, 3)),
            ("SELECT guest.name, sum(price.total) AS total FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 3",),
            (),
            ("-n -E '\"(name|total)\":'",),
        ),
        Question(
            "compare",
            "Is the average total price of a booking higher on airbnb or for direct bookings? Both, to two decimals.",
            rows(averages),
            (
                (
                    "SELECT channel, round(avg(price.total), 2) AS average FROM t "
                    "WHERE channel IN ('airbnb', 'direct') GROUP BY channel"
                ),
            ),
            (),
            ("-n -E '\"(channel|total)\":'",),
        ),
        Question(
            "list",
            "List the ids of all bookings whose guest never showed up.",
            rows([item["id"]] for item in items if item["status"] == "no_show"),
            (
                "SELECT id FROM t WHERE status = 'no_show'",
                "SELECT id FROM t WHERE status NOT IN ('confirmed', 'checked_out', 'cancelled')",
            ),
            ("no_show", "/(?i)no.?show/"),
            ("-n -i -B 1 'no.show'",),
        ),
    ]


CARRIERS: Final = ("northline", "parcelo", "swiftbox", "terra_post", "vantage")


@shape("sql_rows")
@settled
def sql_rows(rng: random.Random) -> tuple[str, list[Question]]:
    """What a database tool gives for `SELECT * FROM shipments`: 1,500 flat rows, minified."""
    start = datetime.date(2025, 1, 2)
    items: list[dict[str, Any]] = []
    number = 700_000
    for place in range(1500):
        number += rng.randrange(1, 9)
        status = rng.choices(("delivered", "in_transit", "returned"), (80, 14, 6))[0]
        shipped = start + datetime.timedelta(days=place // 12)
        delivered = str(shipped + datetime.timedelta(days=rng.randrange(1, 9)))
        items.append(
            {
                "id": number,
                "order_no": f"SO{place * 7 + 310_000 + rng.randrange(7)}",
                "warehouse": rng.choices(("leipzig", "rotterdam", "verona", "malmo"), (4, 3, 2, 1))[0],
                "carrier": rng.choices(CARRIERS, (30, 25, 20, 15, 10))[0],
                "service": rng.choices(("standard", "express"), (7, 3))[0],
                "zone": rng.randrange(1, 7),
                "weight_g": rng.randrange(80, 24_000),
                "cost_cents": rng.randrange(290, 4_990),
                "insured": rng.random() < 0.2,
                "status": status,
                "shipped_on": str(shipped),
                "delivered_on": None if status == "in_transit" else delivered,
            }
        )
    odd = items[middle(rng, 1500)]
    odd["weight_g"] = -rng.randrange(100, 900)
    for item in rng.sample([item for item in items if item is not odd], 8):
        item.update(status="lost", delivered_on=None)
    text = json.dumps(items, separators=(",", ":"))

    one, other = rng.sample(items[300:1200], 2)
    while other["delivered_on"] is None:
        other = rng.choice(items[300:1200])
    costs = {
        carrier: total(item["cost_cents"] for item in items if item["carrier"] == carrier)
        for carrier in CARRIERS
    }
    averages = [
        (service, mean(item["cost_cents"] for item in items if item["service"] == service))
        for service in ("express", "standard")
    ]
    differ(*(average for _, average in averages))
    return text, [
        Question(
            "lookup",
            f"Which carrier took shipment {one['id']}, and what did it cost in cents?",
            rows([(one["carrier"], one["cost_cents"])]),
            (f"SELECT carrier, cost_cents FROM t WHERE id = {one['id']}",),
            (str(one["id"]),),
            (f"-o '{{\"id\":{one['id']},[^}}]*}}'",),
        ),
        Question(
            "lookup",
            f"When was order {other['order_no']} delivered, and from which warehouse did it come?",
            rows([(other["delivered_on"], other["warehouse"])]),
            (f"SELECT delivered_on, warehouse FROM t WHERE order_no = '{other['order_no']}'",),
            (other["order_no"],),
            (f'-o \'"order_no":"{other["order_no"]}"[^}}]*\'',),
        ),
        Question(
            "needle",
            "Is there a shipment whose weight cannot be right? Which id, and what weight?",
            rows([(odd["id"], odd["weight_g"])]),
            (
                "SELECT id, weight_g FROM t WHERE weight_g <= 0 OR weight_g > 100000",
                "SELECT id, weight_g FROM t ORDER BY weight_g LIMIT 5",
            ),
            (r"/weight_g\W{1,3}0\b/", r"/weight_g\W*-\d/"),
            ('-oE \'"id":[0-9]+[^}]*"weight_g":(0|-)[^}]*\'',),
        ),
        Question(
            "count",
            "How many shipments are there in each status?",
            rows(Counter(item["status"] for item in items).most_common()),
            ("SELECT status, count(*) AS shipments FROM t GROUP BY status ORDER BY 2 DESC",),
            tuple(rf"/status\W+{status}/" for status in ("delivered", "in_transit", "returned", "lost")),
            ('-o \'"status":"[a-z_]*"\'',),
        ),
        Question(
            "sum",
            "What did we pay each carrier in total, in cents?",
            rows(costs.items()),
            ("SELECT carrier, sum(cost_cents) AS cents FROM t GROUP BY carrier",),
            (),
            ('-oE \'"carrier":"[a-z_]+"|"cost_cents":[0-9]+\'',),
        ),
        Question(
            "top",
            "Which five shipments are the heaviest, and how heavy are they?",
            rows(leaders({str(item["id"]): item["weight_g"] for item in items}, 5)),
            ("SELECT id, weight_g FROM t ORDER BY weight_g DESC LIMIT 5",),
            (r"/weight_g\W+2\d{4}/", r"/weight_g\W+239\d{2}/"),
            ('-oE \'"id":[0-9]+|"weight_g":23[5-9][0-9]{2}\'',),
        ),
        Question(
            "compare",
            "How much dearer is express than standard on average? Both in cents, to two decimals.",
            rows(averages),
            ("SELECT service, round(avg(cost_cents), 2) AS average FROM t GROUP BY service",),
            (),
            ('-oE \'"service":"(express|standard)","zone":[0-9],"weight_g":-?[0-9]+,"cost_cents":[0-9]+\'',),
        ),
        Question(
            "list",
            "List the ids of all shipments that were lost.",
            rows([item["id"]] for item in items if item["status"] == "lost"),
            ("SELECT id FROM t WHERE status = 'lost'", "SELECT id FROM t WHERE status LIKE '%lost%'"),
            ("lost",),
            ('-oE \'"id":[0-9]+[^}]*"status":"lost"\'',),
        ),
    ]
