"""Documents: a shop, a board and a data catalogue."""

# ruff: noqa: S608

import json
import random
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.planted import Parts, kind

from .tools import Doc, hop, large, split


def _product(rng: random.Random, number: int, title: str, vendors: list[str], now: datetime) -> dict:
    """One product with its variants as the admin API of a shop gives it."""
    ident = 7_100_000_000_000 + number * 32_768 + rng.randint(0, 9000)
    handle = title.lower().replace(" ", "-")
    sizes = rng.sample(["S", "M", "L", "XL", "One size", "Kids"], rng.randint(2, 4))
    price = rng.randint(9, 140)
    variants = [
        {
            "id": ident * 5 + k,
            "product_id": ident,
            "title": size,
            "price": f"{price + 2 * k}.{rng.choice(('00', '50', '95'))}",
            "sku": f"{handle[:4].upper()}-{number:04d}-{k + 1}",
            "position": k + 1,
            "inventory_policy": "deny",
            "compare_at_price": f"{price + 20 + 2 * k}.95" if rng.random() < 0.3 else None,
            "option1": size,
            "taxable": True,
            "barcode": f"40{rng.randint(10**10, 10**11 - 1)}",
            "grams": rng.randint(80, 2600),
            "weight_unit": "kg",
            "inventory_quantity": rng.randint(1, 160),
            "requires_shipping": True,
        }
        for k, size in enumerate(sizes)
    ]
    created = now - timedelta(days=rng.randint(60, 700), minutes=rng.randint(0, 1400))
    tags = rng.sample(w.PLAIN, rng.randint(2, 5))
    return {
        "id": ident,
        "title": title,
        "body_html": f"<p>{w.sentence(rng)} {w.sentence(rng)}</p>",
        "vendor": rng.choice(vendors),
        "product_type": rng.choice(("Bag", "Lamp", "Shirt", "Mug", "Poster")),
        "created_at": f"{created:%Y-%m-%dT%H:%M:%S+01:00}",
        "handle": handle,
        "updated_at": f"{now - timedelta(hours=rng.randint(2, 900)):%Y-%m-%dT%H:%M:%S+01:00}",
        "published_at": f"{created + timedelta(days=2):%Y-%m-%dT%H:%M:%S+01:00}",
        "status": "draft" if rng.random() < 0.12 else "active",
        "tags": ", ".join(tags),
        "variants": variants,
        "options": [{"name": "Size", "position": 1, "values": sizes}],
        "images": [
            {
                "id": ident * 3 + k,
                "position": k + 1,
                "alt": rng.choice((None, title)),
                "src": f"https://cdn.example.org/{handle}-{k}.jpg",
            }
            for k in range(rng.randint(1, 3))
        ],
    }


@kind("e_shopify_products", "nested")
def e_shopify_products(rng: random.Random) -> Parts:
    size = rng.randint(105, 125)
    vendors = [f"{one} Goods" for one in rng.sample(w.TOWNS, 5)]
    now = datetime(2025, rng.randint(3, 11), rng.randint(2, 26), 10, 12, 40)
    titles = [one.title() for one in w.distinct(rng, size, lambda r: w.two(r, " "))]
    items = [_product(rng, 300 + k, title, vendors, now) for k, title in enumerate(titles)]
    spots = w.spots(rng, size, 14, apart=3)
    dear, minus, twin, below, bare, gone, free, future, leak, recall, pound, tax, policy, hole = spots

    def variant(k: int, i: int = 1) -> dict:
        return items[k]["variants"][i]

    high, under, mark = (
        f"{rng.randint(21_000, 89_000)}.00",
        -rng.randint(310, 900),
        f"recall-{rng.randint(11, 98)}",
    )
    variant(dear)["price"] = high
    variant(minus)["inventory_quantity"] = under
    variant(twin)["sku"] = variant(twin - 3, 0)["sku"]
    true = float(variant(below)["price"])
    variant(below)["compare_at_price"] = f"{true - rng.randint(4, 8):.2f}"
    del items[bare]["vendor"]
    items[gone]["status"] = "archived"
    variant(free)["price"] = "0.00"
    year = rng.randint(2041, 2068)
    items[future]["published_at"] = f"{year}" + items[future]["published_at"][4:]
    secret = w.alnum(rng, 14)
    items[leak]["body_html"] += f"<!-- supplier portal login: buyer / password {secret} -->"
    items[recall]["tags"] += f", {mark}"
    variant(pound)["weight_unit"] = "lb"
    variant(tax)["taxable"] = False
    variant(policy)["inventory_policy"] = "continue"
    extra = json.loads(json.dumps(variant(hole, -1)))
    extra |= {
        "position": len(items[hole]["variants"]) + 2,
        "title": "XXL",
        "option1": "XXL",
        "id": extra["id"] + 1,
    }
    extra["sku"] = extra["sku"][:-1] + str(extra["position"])
    items[hole]["variants"].append(extra)
    n = Doc()

    def at(what: str, k: int, path: str, telling: list | str, *searches: str, **more: object) -> None:
        names = [items[k]["id"], titles[k], items[k]["handle"]]
        if path.startswith("variants") and k != twin:
            names += [variant(k)["sku"], variant(k)["id"]]
        n.at(what, f"/products/{k}/{path}", telling, names, *searches, **more)  # type: ignore[arg-type]

    at(
        "outlier",
        dear,
        "variants/1/price",
        [high, high[:-3], high[:-1], *large(int(high[:-3]))],
        high,
        '/"price": ?"\\d{5}/',
        alone=[high],
    )
    at(
        "outlier",
        minus,
        "variants/1/inventory_quantity",
        f"+{under}|negative|^negative inventory",
        str(under),
        "/: ?-\\d{3}/",
    )
    sku = variant(twin)["sku"]
    n.twice(
        f"/products/{twin - 3}/variants/0/sku",
        f"/products/{twin}/variants/1/sku",
        sku,
        (titles[twin], titles[twin - 3], sku),
        "sku",
    )
    told = [
        variant(below)["compare_at_price"],
        "compare_at_price below",
        "below the price",
        "compare_at_price <",
        "lower than",
    ]
    both = [(variant(below)["compare_at_price"], variant(below)["price"])]
    at(
        "contradiction",
        below,
        "variants/1/compare_at_price",
        told,
        "compare_at_price",
        variant(below)["compare_at_price"],
        more=tuple(both),
    )
    n.gone(
        f"/products/{bare}",
        "vendor",
        [titles[bare], items[bare]["id"]],
        size,
        sql="SELECT n, id, title, 'no vendor' AS note FROM t WHERE vendor IS NULL",
    )
    at(
        "rare status",
        gone,
        "status",
        "+archived",
        "archived",
        "status",
        sql="SELECT status, count(*) FROM t GROUP BY 1",
    )
    at(
        "outlier",
        free,
        "variants/1/price",
        "+0.00|price 0|free|zero price|price: 0|price of 0",
        '"0.00"',
        '/"price": ?"0/',
    )
    at(
        "time jump",
        future,
        "published_at",
        f"{year}|{year}-|^{items[future]['published_at']}|^{items[future]['published_at'][:10]}",
        str(year),
        "published_at",
        sql="SELECT n, title, published_at FROM t ORDER BY published_at DESC LIMIT 2",
    )
    at(
        "secret",
        leak,
        "body_html",
        "+password|login|credential|+supplier portal",
        "password",
        "login",
        hidden=secret,
    )
    at("rare value", recall, "tags", f"+{mark}|+recall", "recall", mark)
    told = ['"lb"', "lb", "pound"]
    at("changed unit", pound, "variants/1/weight_unit", told, '"lb"', "weight_unit", alone=["lb"])
    at(
        "rare value",
        tax,
        "variants/1/taxable",
        '+taxable false|+taxable: false|"taxable":false|not taxable|+taxable=false|untaxed|'
        'taxable is false|"taxable": false|^taxable = false',
        '/"taxable": ?false/',
        "taxable",
        more=w.pairs(
            ["taxable"],
            [
                "false: 1",
                "false 1",
                "false (1",
                "false ×1",
                "1 false",
                "false × 1",
                "false=1",
                "1 × false",
                "1× false",
            ],
        ),
    )
    at(
        "rare value",
        policy,
        "variants/1/inventory_policy",
        "+continue|oversell|^inventory_policy: continue",
        "continue",
        "inventory_policy",
    )
    top = extra["position"]
    evidence = hop(top - 2, top, [top - 1], titles[hole], items[hole]["id"], f"products/{hole}") + w.pairs(
        [f"position {top - 1}", f"position {top}", extra["sku"], "XXL"], w.LEAP[:6]
    )
    n.say(
        "gap",
        evidence,
        "position",
        extra["sku"],
        pointer=f"/products/{hole}/variants/{top - 2}/position",
        derived=True,
    )
    n.tally(
        size,
        ["products", "items", "product", "rows", "records"],
        "product_type",
        sql="SELECT count(*) AS products FROM t",
    )
    count = sum(len(one["variants"]) for one in items)
    n.tally(
        count,
        ["variants", "variant", "skus", "in variants"],
        "sku",
        sql="SELECT count(*) AS variants FROM variants",
    )
    return n.parts(json.dumps({"products": items}, separators=(",", ":")))


def _card(rng: random.Random, board: dict, short: int, due: datetime) -> dict:
    checks = rng.choice((0, 0, 3, 4, 5, 7))
    title = f"{rng.choice(w.DOING).capitalize()} the {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)} {rng.choice(w.THINGS)}"
    return {
        "id": w.hexes(rng, 24),
        "idShort": short,
        "name": title,
        "desc": w.paragraph(rng, 1, 4),
        "idList": rng.choice(board["lists"])["id"],
        "idMembers": [one["id"] for one in rng.sample(board["members"], rng.randint(1, 2))],
        "idLabels": [rng.choice(board["labels"][:-1])["id"] for _ in range(rng.randint(0, 1))],
        "closed": False,
        "start": f"{due - timedelta(days=rng.randint(5, 20)):%Y-%m-%dT08:00:00.000Z}",
        "due": f"{due:%Y-%m-%dT%H:%M:00.000Z}",
        "dueComplete": rng.random() < 0.4,
        "dateLastActivity": f"{due - timedelta(hours=rng.randint(9, 90)):%Y-%m-%dT%H:%M:%S.112Z}",
        "shortUrl": f"https://board.example.org/c/{w.alnum(rng, 8)}",
        "badges": {
            "votes": rng.choice((0, 0, 0, 1, 2, 3)),
            "comments": rng.randint(0, 9),
            "attachments": rng.randint(0, 3),
            "checkItems": checks,
            "checkItemsChecked": rng.randint(0, checks),
        },
    }


@kind("e_trello_board", "nested")
def e_trello_board(rng: random.Random) -> Parts:
    """A board with its lists, members, cards and last actions."""
    people = w.people(rng, 11)
    board: dict = {
        "id": w.hexes(rng, 24),
        "name": f"{rng.choice(w.TEAMS).capitalize()} {rng.choice(w.THINGS)}",
        "closed": False,
        "lists": [
            {"id": w.hexes(rng, 24), "name": one, "closed": False}
            for one in ("Ideas", "Next", "Doing", "Review", "Waiting", "Done")
        ],
        "members": [
            {"id": w.hexes(rng, 24), "fullName": one, "username": w.login(one), "memberType": "normal"}
            for one in people
        ],
        "labels": [
            {"id": w.hexes(rng, 24), "name": one, "color": color}
            for one, color in (
                ("bug", "orange"),
                ("feature", "green"),
                ("docs", "sky"),
                ("Legal hold", "red"),
            )
        ],
    }
    size = rng.randint(125, 145)
    base = datetime(2025, rng.randint(2, 10), rng.randint(3, 25), 15, tzinfo=UTC)
    short, cards = rng.randint(300, 2000), []
    spots = w.spots(rng, size, 12, apart=4)
    hole, twin, orphan, over, old, shut, legal, leak, bare, votes, flip, stop = spots
    missed = rng.randint(14, 44)
    for k in range(size):
        short += (k != twin) + (missed if k == hole else 0)
        cards.append(
            _card(rng, board, short, base + timedelta(days=rng.randint(-40, 60), minutes=rng.randint(0, 600)))
        )
    lost_list = w.hexes(rng, 24)
    cards[orphan]["idList"] = lost_list
    checks = rng.randint(3, 8)
    cards[over]["badges"] |= {"checkItems": checks, "checkItemsChecked": checks + rng.randint(31, 70)}
    year = rng.randint(2006, 2014)
    cards[old]["due"] = f"{year}" + cards[old]["due"][4:]
    cards[shut]["closed"] = True
    cards[legal]["idLabels"] = [board["labels"][-1]["id"]]
    secret = w.alnum(rng, 20)
    cards[leak]["desc"] += f" Staging admin password is {secret}, please change."
    del cards[bare]["badges"]
    many = rng.randint(310, 940)
    cards[votes]["badges"]["votes"] = many
    begin = datetime.fromisoformat(cards[flip]["due"]) + timedelta(days=rng.randint(31, 60))
    cards[flip]["start"] = f"{begin:%Y-%m-%dT08:00:00.000Z}"
    cards[stop]["desc"] = (
        f"STOP: do not ship before {rng.choice(w.FAMILY)} has signed, the supplier is insolvent."
    )
    actions = []
    clock = w.Clock(rng, base, 600, 20_000)
    kinds = {"updateCard": 9, "commentCard": 5, "addMemberToCard": 3}
    lengths = rng.randint(110, 130)
    gone, text = w.spots(rng, lengths, 2, apart=20, low=0.2, high=0.8)
    for k in range(lengths):
        card, who, type_ = rng.choice(cards), rng.choice(board["members"]), w.pick(rng, kinds)
        data: dict = {"card": {"id": card["id"], "idShort": card["idShort"]}}
        if type_ == "commentCard":
            data["text"] = w.sentence(rng)
        if k == text:
            type_, data["text"] = (
                "commentCard",
                f"This contradicts what we decided in {base:%B}: the price stays at {rng.randint(12, 96)} EUR.",
            )
        if k == gone:
            type_, data = "deleteCard", {"card": {"idShort": rng.randint(100, 290)}}
        creator = {"fullName": who["fullName"], "username": who["username"]}
        actions.append(
            {
                "id": w.hexes(rng, 24),
                "type": type_,
                "date": f"{clock.tick():%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
                "data": data,
                "memberCreator": creator,
            }
        )
    board["cards"], board["actions"] = cards, actions
    n = Doc()

    def at(what: str, k: int, path: str, telling: list | str, *searches: str, **more: object) -> None:
        one = cards[k]
        names = [one["id"], one["id"][:8], one["name"], one["shortUrl"]] + (
            [one["idShort"]] if k not in (twin, twin - 1) else []
        )
        n.at(what, f"/cards/{k}/{path}", telling, names, *searches, **more)  # type: ignore[arg-type]

    before, after = cards[hole - 1]["idShort"], cards[hole]["idShort"]
    evidence = (
        hop(before, after, [], "idShort", "card")
        + w.pairs([f"idShort {before}", f"idShort {after}", before + 1, after], w.LEAP[:6])
        + ((str(before), str(after)),)
    )
    n.say("gap", evidence, str(after), "idShort", pointer=f"/cards/{hole}/idShort", derived=True)
    n.twice(
        f"/cards/{twin - 1}",
        f"/cards/{twin}",
        cards[twin]["idShort"],
        (cards[twin - 1]["name"], cards[twin]["name"]),
        "idShort",
    )
    told = [
        lost_list,
        lost_list[:8],
        "unknown list",
        "no such list",
        "not in lists",
        "does not exist",
        "orphan",
    ]
    at("contradiction", orphan, "idList", told, lost_list, "idList", alone=[lost_list, lost_list[:8]])
    given = cards[over]["badges"]["checkItemsChecked"]
    told = split(
        f"checkItemsChecked {given}|checkItemsChecked: {given}|more than|exceeds|"
        f'"checkItemsChecked":{given}|{given} of {checks}|{given} > {checks}'
    )
    at(
        "contradiction",
        over,
        "badges/checkItemsChecked",
        [*told, given],
        f'"checkItemsChecked":{given}',
        "checkItemsChecked",
        more=w.pairs(["checkItemsChecked"], [given]),
    )
    at("time jump", old, "due", f"+{year}|^{cards[old]['due']}|^{cards[old]['due'][:10]}", str(year), '"due"')
    told = ["closed", "archived"]
    at(
        "rare status",
        shut,
        "closed",
        told,
        '/"closed": ?true/',
        "closed",
        more=w.pairs(
            ["closed"], split("true: 1|true (1|true ×1|true 1|1 true|true=1|true × 1|1 card|1 of|1 × true")
        ),
    )
    mark = board["labels"][-1]["id"]
    at("rare value", legal, "idLabels/0", f"+Legal hold|+{mark}|{mark[:8]}", mark, "Legal hold")
    at(
        "secret",
        leak,
        "desc",
        "+password|credential|Staging admin|^admin password",
        "password",
        "admin",
        hidden=secret,
    )
    n.gone(f"/cards/{bare}", "badges", [cards[bare]["idShort"], cards[bare]["id"], cards[bare]["name"]], size)
    at(
        "outlier",
        votes,
        "badges/votes",
        f"+{many}",
        str(many),
        '/"votes": ?\\d{3}/',
        more=w.pairs(["votes"], [many]),
    )
    told = [
        "after due",
        "after the due",
        "starts after",
        "start after",
        "later than",
        cards[flip]["start"][:10],
        "start > due",
        "before start",
        "before its start",
    ]
    at(
        "contradiction",
        flip,
        "start",
        told,
        cards[flip]["start"][:10],
        "start",
        more=w.pairs(told[:5] + told[6:], ["1 card", "one card", "card"]),
    )
    at("change with meaning", stop, "desc", "+STOP|+do not ship|+insolvent", "STOP", "do not")
    n.at(
        "rare value",
        f"/actions/{gone}/type",
        "+deleteCard",
        ["actions", actions[gone]["date"], actions[gone]["id"]],
        "deleteCard",
        "delete",
    )
    n.at(
        "contradiction",
        f"/actions/{text}/data/text",
        "+contradicts|price stays|^contradicts what we decided",
        ["actions", "decided", actions[text]["date"], actions[text]["id"]],
        "contradicts",
        "price stays",
    )
    n.tally(size, ["cards", "card", "in cards"], "idShort")
    return n.parts(json.dumps(board, separators=(",", ":")))


TYPES = {"STRING": 8, "INTEGER": 5, "TIMESTAMP": 3, "BOOLEAN": 2, "NUMERIC": 2, "DATE": 1}


def _fields(rng: random.Random, depth: int = 0) -> list[dict]:
    """Columns, some of them records with columns of their own."""
    found: list[dict] = []
    for name in rng.sample(w.THINGS, rng.randint(3, 4) if depth else rng.randint(7, 13)):
        one: dict = {
            "name": f"{name}_{rng.choice(('code', 'at', 'count', 'name', 'flag', 'ref'))}",
            "type": w.pick(rng, TYPES),
            "mode": "NULLABLE",
        }
        if not depth and rng.random() < 0.12:
            one |= {
                "name": f"{name}_info",
                "type": "RECORD",
                "mode": rng.choice(("NULLABLE", "REPEATED")),
                "fields": _fields(rng, 1),
            }
        if rng.random() < 0.35:
            one["description"] = w.sentence(rng)
        found.append(one)
    return found


@kind("e_bigquery_schemas", "nested")
def e_bigquery_schemas(rng: random.Random) -> Parts:
    """A map of the tables of a data set with their nested schemas."""
    count, days = rng.randint(48, 54), rng.randint(9, 12)
    names = sorted(
        w.distinct(
            rng,
            count,
            lambda r: f"{r.choice(('dim', 'fact', 'stg', 'mart'))}_{r.choice(w.TEAMS)}_{r.choice(w.THINGS)}",
        )
    )
    stem = f"events_{rng.choice(w.TEAMS)}_2025{rng.randint(1, 9):02d}"
    first, skip = rng.randint(3, 12), rng.randint(3, days - 3)
    shards = [f"{stem}{first + k:02d}" for k in range(days) if k != skip]
    ordered = sorted([*names, *shards])
    tables: dict[str, dict] = {}
    for name in ordered:
        changed = datetime(
            2025, rng.randint(1, 9), rng.randint(1, 28), rng.randint(0, 23), rng.randint(0, 59), tzinfo=UTC
        )
        fields = [
            {"name": "customer_id", "type": "INTEGER", "mode": "REQUIRED"},
            *_fields(rng),
            {"name": "amount", "type": "NUMERIC", "mode": "NULLABLE"},
            {
                "name": "loaded_at",
                "type": "TIMESTAMP",
                "mode": "REQUIRED",
                "description": "When the row was loaded.",
            },
        ]
        tables[name] = {
            "type": "TABLE",
            "location": "EU",
            "numRows": str(int(rng.lognormvariate(11, 1))),
            "numBytes": str(int(rng.lognormvariate(17, 1))),
            "lastModified": f"{changed:%Y-%m-%dT%H:%M:%SZ}",
            "timePartitioning": {"type": "DAY", "field": "loaded_at"},
            "labels": {"team": rng.choice(w.TEAMS), "tier": rng.choice(("gold", "silver", "bronze"))},
            "schema": {"fields": fields},
        }
    spots = [names[k] for k in w.spots(rng, count, 13, apart=2)]
    other, part, expire, none, huge, view, old, twin, stale, place, leak, bare, float_ = spots
    tables[other]["schema"]["fields"][0]["type"] = "STRING"
    del tables[part]["timePartitioning"]
    tables[expire]["expirationTime"] = f"2025-12-{rng.randint(10, 28)}T00:00:00Z"
    tables[none]["numRows"] = "0"
    rows = rng.randint(61_000_000_000, 98_000_000_000)
    tables[huge]["numRows"] = str(rows)
    tables[view]["type"] = "EXTERNAL"
    tables[old]["schema"]["fields"][3]["description"] = (
        f"DEPRECATED since {rng.choice(('May', 'June'))}, holds wrong values, use {rng.choice(w.THINGS)}_ref."
    )
    dull = tables[twin]["schema"]["fields"]
    dull.insert(6, {"name": dull[2]["name"], "type": "STRING", "mode": "NULLABLE"})
    year = rng.randint(2013, 2017)
    tables[stale]["lastModified"] = f"{year}" + tables[stale]["lastModified"][4:]
    tables[place]["location"] = "us-central1"
    secret = w.alnum(rng, 18)
    tables[leak]["description"] = f"Loaded with mysql://loader:{secret}@db.example.org/prod every night."
    tables[bare]["schema"]["fields"].pop()
    tables[bare]["timePartitioning"]["field"] = "loaded_at"
    tables[float_]["schema"]["fields"][-2]["type"] = "FLOAT"
    n = Doc()
    total = len(tables)

    def at(what: str, name: str, path: str, telling: list | str, *searches: str, **more: object) -> None:
        n.at(what, f"/tables/{name}/{path}", telling, [name], *searches, **more)  # type: ignore[arg-type]

    told = split(
        "customer_id STRING|customer_id is STRING|customer_id: STRING|customer_id` is|customer_id|"
        "STRING instead"
    )
    evidence = w.pairs(told[:4], [other, "1", "one table", "instead"]) + tuple(
        (other, "customer_id", word) for word in ("STRING", "type")
    )
    n.say(
        "contradiction",
        evidence,
        "customer_id",
        other,
        pointer=f"/tables/{other}/schema/fields/0/type",
        derived=True,
    )
    n.gone(f"/tables/{part}", "timePartitioning", [part], total, more=("partition",))
    day = tables[expire]["expirationTime"]
    at(
        "rare value",
        expire,
        "expirationTime",
        f"{day}|{day[:10]}|expir|^expirationTime",
        "expirationTime",
        day,
    )
    at(
        "outlier",
        none,
        "numRows",
        '"0"|numRows 0|numRows: 0|0 rows|empty|no rows|numRows=0|^numRows "0|^empty table',
        '"numRows": "0"',
        "numRows",
    )
    at("outlier", huge, "numRows", large(rows), str(rows), "/\\d{11}/", alone=[rows])
    at("rare value", view, "type", "+EXTERNAL", "EXTERNAL", '/"type": "EXT/')
    at(
        "rare value",
        old,
        "schema/fields/3/description",
        "+DEPRECATED|+wrong values",
        "DEPRECATED",
        "deprecated",
    )
    column = dull[2]["name"]
    evidence = tuple((twin, column, word) for word in w.SAME) + (
        (twin, "duplicate"),
        (column, "duplicate"),
        (twin, "same name"),
        (column, "twice"),
    )
    n.say("duplicate", evidence, column, twin, pointer=f"/tables/{twin}/schema/fields/6/name", derived=True)
    at(
        "time jump",
        stale,
        "lastModified",
        f"+{year}|^{tables[stale]['lastModified']}|^{tables[stale]['lastModified'][:10]}",
        str(year),
        "lastModified",
    )
    at("rare value", place, "location", "+us-central1", "us-central1", "location")
    at(
        "secret",
        leak,
        "description",
        "+mysql://|credential|password|connection string|^mysql",
        "mysql",
        "loader",
        hidden=secret,
    )
    n.gone(f"/tables/{bare}/schema", "loaded_at", [bare], total)
    told = ["amount FLOAT", "amount is FLOAT", "amount: FLOAT", "FLOAT"]
    at("changed field", float_, "schema/fields", told, "FLOAT", "amount", alone=["FLOAT"])
    low, high = shards[skip - 1], shards[skip]
    lacking = f"{stem}{first + skip:02d}"
    evidence = hop(low, high, [], "shard", "events", "day") + (
        (lacking,),
        *w.pairs([lacking[-8:], low[-8:], high[-8:]], w.LEAP[:6]),
    )
    evidence += hop(low[-8:], high[-8:], [lacking[-8:]], "events", "day", "shard")
    n.say("gap", evidence, stem, "events_", pointer=f"/tables/{high}", derived=True)
    n.tally(total, ["tables", "keys", "table", "entries"], "numRows")
    n.tally(
        sum(name.startswith("fact_") for name in tables), ["fact_", "fact tables", "fact_*", "fact"], "fact_"
    )
    return n.parts(json.dumps({"dataset": "shop_prod", "tables": tables}, indent=2))
