# ruff: noqa: C901, E501
# fmt: off
"""Nested JSON: a town of OpenStreetMap, a sync of bank transactions, the schema of a provider, the pages of a web analysis."""

import json
import random
from collections import Counter
from typing import Any

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_ten.tools import FAMILY, hexes, iso, letters, spread, tally

Item = dict[str, Any]

_AMENITIES = (("bench", 20), ("parking", 14), ("restaurant", 13), ("waste_basket", 11), ("cafe", 9), ("recycling", 7), ("bicycle_parking", 7),
              ("post_box", 5), ("pharmacy", 4), ("fuel", 3), ("bank", 3), ("school", 2), ("atm", 2))
_USERS = ("kartoffel_mapper", "Nordlicht77", "hb_osm", "streckenkundler", "GeoMaus", "mapper_wolf", "Tuxidermist", "StreetComplete-Lena")


@kind("k_overpass_town", "nested")
def overpass(rng: random.Random) -> Parts:
    elements: list[Item] = []
    lat, lon = 53.0 + rng.random() / 3, 8.6 + rng.random() / 3
    ident = rng.randint(240_000_000, 260_000_000)

    def meta() -> Item:
        at = rng.randint(1_340_000_000, 1_770_000_000)
        return {"timestamp": iso(at) + "Z", "version": min(28, int(rng.expovariate(0.4)) + 1), "changeset": at // 10 - rng.randint(0, 9000), **dict(zip(("user", "uid"), rng.choice([(u, 48_811 + 917 * n) for n, u in enumerate(_USERS)]), strict=True))}

    for n in range(520):
        ident += rng.randint(1, 90_000)
        node: Item = {"type": "node", "id": ident, "lat": round(lat + rng.gauss(0, 0.012), 7), "lon": round(lon + rng.gauss(0, 0.019), 7), **meta()}
        if n % 2:
            what = rng.choices([a for a, _ in _AMENITIES], [w for _, w in _AMENITIES])[0]
            tags = {"amenity": what}
            if what in ("restaurant", "cafe", "pharmacy", "bank"):
                tags |= {"name": f"{rng.choice(('Zum', 'Café', 'Gasthaus', 'Haus', 'Alte'))} {rng.choice(FAMILY)}", "opening_hours": rng.choice(("Mo-Sa 09:00-18:30", "Tu-Su 11:30-22:00", "Mo-Fr 08:00-18:00; Sa 08:00-13:00", "24/7")),
                         "addr:street": rng.choice(("Lange Straße", "Am Markt", "Bremer Straße", "Mühlenweg")), "addr:housenumber": str(rng.randint(1, 140)), "wheelchair": rng.choice(("yes", "no", "limited"))}
            elif what == "bench":
                tags |= {"backrest": rng.choice(("yes", "no")), "material": rng.choice(("wood", "metal", "stone"))}
            node["tags"] = tags
        elements.append(node)
    points = [one["id"] for one in elements]
    for n in range(130):
        ident += rng.randint(1, 90_000)
        start = rng.randrange(len(points) - 14)
        nodes = points[start : start + rng.randint(3, 12)]
        tags = {"highway": rng.choice(("residential", "service", "footway", "tertiary", "track")), "surface": rng.choice(("asphalt", "paving_stones", "gravel", "ground")), "maxspeed": rng.choice(("30", "50", "30", "70"))} if n % 3 else {"building": rng.choice(("house", "yes", "garage", "retail")), "building:levels": str(rng.randint(1, 4))}
        elements.append({"type": "way", "id": ident, **meta(), "nodes": nodes if n % 3 else [*nodes, nodes[0]], "tags": tags})
    ways = [one["id"] for one in elements[520:]]
    for _ in range(9):
        ident += rng.randint(1, 90_000)
        elements.append({"type": "relation", "id": ident, **meta(), "members": [{"type": "way", "ref": rng.choice(ways), "role": rng.choices(("outer", "inner", ""), (6, 2, 1))[0]} for _ in range(rng.randint(3, 14))],
                         "tags": {"type": "multipolygon", "landuse": rng.choice(("forest", "meadow", "farmland"))}})
    zero, typed, twin, absent, rare, edits, secret, hours = [place | 1 for place in spread(rng, 510, 8)]
    for place in (secret, hours):
        elements[place]["tags"] = {"amenity": "cafe", "name": f"Café {rng.choice(FAMILY)}", "opening_hours": "Tu-Su 11:30-22:00", "internet_access": "wlan"}
    elements[zero]["lat"], elements[zero]["lon"] = elements[zero]["lon"], elements[zero]["lat"]
    swapped = elements[zero]["lat"]
    elements[typed]["lon"] = str(elements[typed]["lon"])
    elements[twin]["id"] = elements[twin - 45 if twin > 120 else twin + 45]["id"]
    del elements[absent]["lat"]
    elements[rare]["tags"] = {"amenity": "crematorium", "operator": "Stadt"}
    versions = rng.randint(1103, 1890)
    elements[edits]["version"] = versions
    key = letters(rng, 13)
    elements[secret]["tags"]["internet_access:password"] = key
    elements[hours]["tags"]["opening_hours"] = "Mo-Fr 09:00-27:75"
    mph, bare = 520 + 3 * rng.randint(5, 18) + 1, 520 + 3 * rng.randint(20, 38) + 2
    elements[mph]["tags"]["maxspeed"] = "30 mph"
    elements[bare]["nodes"] = []
    role = 650 + rng.randint(2, 7)
    elements[role]["members"][1]["role"] = "outter"
    kinds = Counter(one["type"] for one in elements)
    amenities = Counter(one["tags"]["amenity"] for one in elements if "amenity" in one.get("tags", {}))
    stamps = sorted(one["timestamp"] for one in elements)
    told = kinds["way"] + rng.randint(11, 30)
    elements.append({"type": "count", "id": 0, "tags": {"nodes": str(kinds["node"]), "ways": str(told), "relations": str(kinds["relation"]), "areas": "0", "total": str(kinds["node"] + told + kinds["relation"])}})
    document = {"version": 0.6, "generator": "Overpass API 0.7.62.7 375dc00a", "osm3s": {"timestamp_osm_base": "2026-03-02T08:41:17Z", "copyright": "The data included in this document is from www.openstreetmap.org. The data is made available under ODbL."},
                "elements": elements, "remark": "runtime error: Query timed out in \"recurse\" at line 6 after 26 seconds."}

    def of(n: int, *words: str) -> tuple[tuple[str, ...], ...]:
        return tuple((mark, *words) for mark in (str(elements[n]["id"]), f"elements/{n}", f"[{n}]", f"#{n}", f"/{n}"))

    def place(n: int, rest: str = "") -> str:
        return f"/elements/{n}{rest}"

    facts = [
        Fact("count", (("node", str(kinds["node"]), "way", str(kinds["way"])),), ("relation", "way"), queries=("SELECT type, count(*) AS n FROM t GROUP BY 1",)),
        Fact("count", tally("bench", amenities["bench"], ("parking", amenities["parking"])), ("bench", "amenity"), queries=('SELECT "tags.amenity", count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC',)),
        Fact("range", ((stamps[0][:16], stamps[-1][:16]), (stamps[0][:10], stamps[-1][:10])), ("timestamp",), queries=("SELECT min(timestamp) AS first, max(timestamp) AS last FROM t",)),
        Fact("error", (("Query timed out",),), ("error", "remark"), pointer="/remark"),
        Fact("contradiction", ((str(told), str(kinds["way"])), (place(659), str(told))), ("count", "ways"), pointer=place(659, "/tags/ways"),
             queries=("SELECT sum(type = 'way') AS ways, max(tags.ways) AS told FROM t",)),
        Fact("outlier", ((str(swapped),), *(one for places in (2, 3, 4, 5, 6) for one in of(zero, f"{swapped:.{places}f}"))), (f'"lat": {str(swapped)[:2]}', "lat"), pointer=place(zero, "/lat"), queries=("SELECT id, lat, lon FROM t WHERE lat IS NOT NULL ORDER BY lat LIMIT 3",)),
        Fact("changed type", (*of(typed, "lon"), *of(typed, str(elements[typed]["lon"]))), ('"lon": "',), pointer=place(typed, "/lon"), queries=("SELECT n, id, lon FROM t WHERE typeof(lon) = 'text'",)),
        Fact("duplicate", ((str(elements[twin]["id"]),),), ('"id"',), pointer=place(twin, "/id"), queries=("SELECT id, count(*) AS n FROM t GROUP BY 1 HAVING count(*) > 1",)),
        Fact("missing field", of(absent, "lat"), ('"lat"',), pointer=place(absent), queries=("SELECT n, id, lat, lon FROM t WHERE type = 'node' AND lat IS NULL",)),
        Fact("rare value", (("crematorium",),), ("amenity",), pointer=place(rare, "/tags/amenity"), queries=('SELECT "tags.amenity", count(*) AS n FROM t GROUP BY 1 ORDER BY 2 LIMIT 5',)),
        Fact("outlier", ((str(versions), "version"), *of(edits, str(versions))), ("version",), pointer=place(edits, "/version"), queries=("SELECT id, version FROM t ORDER BY version DESC LIMIT 3",)),
        Fact("secret", (("internet_access:password",),), ("password",), pointer=place(secret, "/tags"), hidden=key),
        Fact("error", (("09:00-27:75",),), ("opening_hours",), pointer=place(hours, "/tags/opening_hours"), queries=('SELECT "tags.opening_hours", count(*) AS n FROM t GROUP BY 1 ORDER BY 2',)),
        Fact("changed type", (("30 mph",),), ("mph", "maxspeed"), pointer=place(mph, "/tags/maxspeed"), queries=('SELECT "tags.maxspeed", count(*) AS n FROM t GROUP BY 1',)),
        Fact("missing section", (*of(bare, "nodes"), *of(bare, "[]")), ('"nodes": []',), pointer=place(bare, "/nodes"), queries=("SELECT n, id, nodes FROM t WHERE nodes = '[]'",)),
        Fact("rare value", (("outter",),), ("role", "outer"), pointer=place(role, "/members/1/role"), queries=("SELECT role, count(*) AS n FROM members GROUP BY 1",)),
    ]
    return json.dumps(document, indent=1, ensure_ascii=False), facts


_SHOPS = (
    ("Trader Joe's", "FOOD_AND_DRINK", "FOOD_AND_DRINK_GROCERIES", 46), ("Blue Bottle Coffee", "FOOD_AND_DRINK", "FOOD_AND_DRINK_COFFEE", 7),
    ("Chevron", "TRANSPORTATION", "TRANSPORTATION_GAS", 52), ("Lyft", "TRANSPORTATION", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", 19),
    ("PG&E", "RENT_AND_UTILITIES", "RENT_AND_UTILITIES_GAS_AND_ELECTRICITY", 131), ("Target", "GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_SUPERSTORES", 64),
    ("Netflix", "ENTERTAINMENT", "ENTERTAINMENT_TV_AND_MOVIES", 17), ("CVS", "MEDICAL", "MEDICAL_PHARMACIES_AND_SUPPLEMENTS", 23),
    ("Chipotle", "FOOD_AND_DRINK", "FOOD_AND_DRINK_FAST_FOOD", 14), ("Amazon", "GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES", 38),
    ("Planet Fitness", "PERSONAL_CARE", "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS", 25), ("Zelle", "TRANSFER_OUT", "TRANSFER_OUT_ACCOUNT_TRANSFER", 120),
)


@kind("k_plaid_sync", "nested")
def plaid(rng: random.Random) -> Parts:
    accounts: list[Item] = []
    for name, sub, type_, mask in (("Everyday Checking", "checking", "depository", "3381"), ("Rainy Day Savings", "savings", "depository", "9020"), ("Sapphire Card", "credit card", "credit", "1177"), ("Joint Checking", "checking", "depository", "6604")):
        current = round(rng.uniform(900, 4200), 2)
        accounts.append({"account_id": letters(rng, 37), "balances": {"available": current, "current": current, "iso_currency_code": "USD", "limit": None, "unofficial_currency_code": None}, "mask": mask, "name": name, "official_name": f"Plaid Gold {name}", "subtype": sub, "type": type_})
    over = round(rng.uniform(7100, 9800), 2)
    accounts[2]["balances"] |= {"available": round(5000 - over, 2), "current": over, "limit": 5000}
    size = rng.randint(150, 170)
    at = 1_767_225_600.0
    hole = int(size * rng.uniform(0.35, 0.6))
    added: list[Item] = []

    def entry(at: float) -> Item:
        shop, primary, detailed, mean = rng.choice(_SHOPS)
        amount = round(max(1.5, rng.gauss(mean, mean / 3)), 2)
        site = shop.lower().replace(" ", "").replace("'", "").replace("&", "") + ".com"
        icon = f"https://plaid-merchant-logos.plaid.com/{shop.lower().replace(' ', '_')}_{rng.randint(100, 1100)}.png"
        return {
            "account_id": rng.choices(accounts, (6, 1, 5, 3))[0]["account_id"], "account_owner": None, "amount": amount, "authorized_date": iso(at - 86400 * rng.randint(0, 2), "%Y-%m-%d"), "authorized_datetime": None,
            "category": None, "check_number": None,
            "counterparties": [{"confidence_level": rng.choice(("VERY_HIGH", "VERY_HIGH", "HIGH")), "entity_id": letters(rng, 27), "logo_url": icon, "name": shop, "phone_number": None, "type": "merchant", "website": site}],
            "date": iso(at, "%Y-%m-%d"), "datetime": None, "iso_currency_code": "USD",
            "location": {"address": f"{rng.randint(10, 4900)} Valencia St" if rng.random() < 0.4 else None, "city": rng.choice(("San Francisco", "Oakland", "Daly City", None)), "country": None, "region": "CA", "store_number": str(rng.randint(10, 2999))},
            "logo_url": icon, "merchant_name": shop, "name": f"{shop.upper()} #{rng.randint(100, 9999)} {rng.choice(('SAN FRANCISCO', 'OAKLAND', 'DALY CITY'))} CA", "payment_channel": rng.choices(("in store", "online"), (6, 5))[0],
            "pending": rng.random() < 0.06, "pending_transaction_id": None, "personal_finance_category": {"confidence_level": "VERY_HIGH" if rng.random() < 0.7 else "HIGH", "detailed": detailed, "primary": primary},
            "transaction_code": None, "transaction_id": letters(rng, 37), "transaction_type": "place", "unofficial_currency_code": None, "website": site,
        }

    for n in range(size):
        at += 86400 * rng.choice((0, 0, 0, 1, 1)) if n != hole else 86400 * rng.randint(13, 19)
        added.append(entry(at))
    before, after = added[hole - 1]["date"], added[hole]["date"]
    twin, big, typed, absent, ghost, coin, low, other, gone, later = [p + (p in (hole, hole - 1)) * 2 for p in spread(rng, size, 10)]
    added[twin]["transaction_id"] = added[twin - 33 if twin > 40 else twin + 33]["transaction_id"]
    huge = round(rng.uniform(41_000, 58_000), 2)
    added[big] |= {"amount": huge, "name": "WIRE TYPE:WIRE OUT DATE ESCROW PACIFIC TITLE"}
    added[typed]["amount"] = str(added[typed]["amount"])
    del added[absent]["personal_finance_category"]
    added[ghost]["account_id"] = "X" + letters(rng, 36)
    added[coin] |= {"iso_currency_code": None, "unofficial_currency_code": "DOGE"}
    added[low]["counterparties"][0]["confidence_level"] = "UNKNOWN"
    added[other]["payment_channel"] = "other"
    added[later]["authorized_date"] = "2027-08-19"
    modified = [entry(at - 86400 * rng.randint(3, 30)) for _ in range(rng.randint(9, 12))]
    removed = [{"account_id": rng.choice(accounts)["account_id"], "transaction_id": letters(rng, 37)} for _ in range(7)]
    removed[4] = {"account_id": added[gone]["account_id"], "transaction_id": added[gone]["transaction_id"]}
    token = f"access-production-{hexes(rng, 8)}-{hexes(rng, 4)}-{hexes(rng, 4)}-{hexes(rng, 12)}"
    document = {"accounts": accounts, "added": added, "has_more": True, "item": {"item_id": letters(rng, 37), "institution_id": "ins_56", "webhook": f"https://hooks.budgetly.app/plaid?access_token={token}",
                "error": {"error_type": "ITEM_ERROR", "error_code": "PENDING_DISCONNECT", "error_message": "access to the item ends on 2026-05-30, the user must consent again"}},
                "modified": modified, "next_cursor": letters(rng, 60) + "==", "removed": removed, "request_id": letters(rng, 15), "transactions_update_status": "HISTORICAL_UPDATE_COMPLETE"}
    groups = Counter(one["personal_finance_category"]["primary"] for one in added if "personal_finance_category" in one)
    days = sorted(one["date"] for one in added)
    channels = Counter(one["payment_channel"] for one in added)

    def of(n: int, *words: str) -> tuple[tuple[str, ...], ...]:
        return tuple((mark, *words) for mark in (added[n]["transaction_id"], f"added/{n}", f"[{n}]", f"#{n}", f"/{n}"))

    def place(n: int, rest: str = "") -> str:
        return f"/added/{n}{rest}"

    top = groups.most_common(1)[0]
    facts = [
        Fact("count", tally(*top, *groups.most_common(2)[1:]), (top[0],), queries=('SELECT "personal_finance_category.primary" AS c, count(*) AS n FROM added GROUP BY 1 ORDER BY 2 DESC',)),
        Fact("count", tally("online", channels["online"], ("in store", channels["in store"])), ("payment_channel",), queries=("SELECT payment_channel, count(*) AS n FROM added GROUP BY 1",)),
        Fact("contradiction", (("removed", added[gone]["transaction_id"]), (f"/added/{gone}", "/removed/4")), ("removed", added[gone]["transaction_id"][:12]), pointer="/removed/4",
             queries=("SELECT 'removed' AS what, a.transaction_id FROM added a JOIN removed r ON r.transaction_id = a.transaction_id",)),
        Fact("range", ((days[0], days[-1]),), ('"date"',), queries=("SELECT min(date) AS first, max(date) AS last FROM added",)),
        Fact("contradiction", ((str(over), "5000"), ("Sapphire Card", str(over)), ("/accounts/2", str(over))), ("limit",), pointer="/accounts/2/balances", queries=("SELECT name, balances.current, balances.limit FROM accounts WHERE balances.current > balances.limit",)),
        Fact("duplicate", ((added[twin]["transaction_id"],), (place(twin), "transaction_id")), ("transaction_id",), pointer=place(twin, "/transaction_id"), queries=("SELECT transaction_id, count(*) AS n FROM added GROUP BY 1 HAVING count(*) > 1",)),
        Fact("outlier", ((str(huge),), ("WIRE OUT",)), ("amount",), pointer=place(big, "/amount"), queries=("SELECT transaction_id, amount, name FROM added WHERE typeof(amount) <> 'text' ORDER BY amount DESC LIMIT 3",)),
        Fact("changed type", of(typed, "amount"), ('"amount": "',), pointer=place(typed, "/amount"), queries=("SELECT n, transaction_id, amount FROM added WHERE typeof(amount) = 'text'",)),
        Fact("missing field", of(absent, "personal_finance_category"), ("personal_finance_category",), pointer=place(absent), queries=('SELECT n, transaction_id, "personal_finance_category.primary" FROM added WHERE "personal_finance_category.primary" IS NULL',)),
        Fact("contradiction", ((added[ghost]["account_id"],), *of(ghost, "account_id")), ("account_id",), pointer=place(ghost, "/account_id"), queries=("SELECT account_id, count(*) AS n FROM added WHERE account_id NOT IN (SELECT account_id FROM accounts) GROUP BY 1",)),
        Fact("rare value", (("DOGE",),), ("unofficial_currency_code",), pointer=place(coin, "/unofficial_currency_code"), queries=("SELECT unofficial_currency_code, count(*) AS n FROM added GROUP BY 1",)),
        Fact("rare value", (("confidence_level", "UNKNOWN"), *of(low, "UNKNOWN")), ("UNKNOWN",), pointer=place(low, "/counterparties/0")),
        Fact("error", (("PENDING_DISCONNECT",),), ("error",), pointer="/item/error"),
        Fact("secret", (("access_token",), ("/item/webhook",)), ("access_token", "access-production"), pointer="/item/webhook", hidden=token),
        Fact("gap", ((before, after),), ('"date"',), pointer=place(hole, "/date"),
             queries=("SELECT date, prev, julianday(date) - julianday(prev) AS days FROM (SELECT date, lag(date) OVER (ORDER BY date) AS prev FROM added) ORDER BY 3 DESC LIMIT 2",)),
        Fact("time jump", (("2027-08-19",),), ("authorized_date",), pointer=place(later, "/authorized_date"), queries=("SELECT transaction_id, date, authorized_date FROM added WHERE authorized_date > date",)),
    ]
    return json.dumps(document), facts


_SERVICES = (
    "compute_instance", "compute_disk", "compute_snapshot", "compute_keypair", "compute_group", "network_vpc", "network_subnet", "network_router", "network_floating_ip", "network_firewall",
    "network_peering", "lb_balancer", "lb_listener", "lb_pool", "dns_zone", "dns_record", "db_cluster", "db_user", "db_replica", "db_parameter_group", "cache_cluster", "object_bucket", "object_policy",
    "k8s_cluster", "k8s_node_pool", "k8s_addon", "registry_repository", "registry_token", "iam_user", "iam_role", "iam_policy_binding", "iam_api_key", "kms_key", "secret_entry", "queue_topic",
    "queue_subscription", "function_app", "function_trigger", "log_sink", "log_bucket", "monitor_alert", "monitor_channel", "cdn_distribution", "cert_bundle", "vpn_gateway", "vpn_tunnel", "backup_plan",
    "backup_vault", "batch_job", "search_domain", "stream_cluster", "stream_connector", "mail_domain", "mail_identity", "project_quota", "billing_budget",
)
_ATTRIBUTES = (
    ("flavor", "string", "Size class, for example `c3.large`."), ("zone", "string", "Availability zone; a change makes a new resource."), ("labels", ["map", "string"], "Free labels of the resource."),
    ("size_gb", "number", "Size in gibibytes."), ("network_id", "string", "ID of the network to attach to."), ("allowed_cidrs", ["set", "string"], "Source ranges that may connect."),
    ("admin_password", "string", "Password of the first administrator."), ("deletion_protection", "bool", "Refuses to delete while true. Defaults to `true`."), ("kms_key_id", "string", "Key for encryption at rest."),
    ("retention_days", "number", "Days that data is kept."), ("tier", "string", "One of `basic`, `standard`, `premium`."), ("replicas", "number", "Wanted number of replicas."),
    ("endpoint", "string", "Address under which clients reach it."), ("maintenance_window", "string", "Weekly window, such as `sun:02:00-sun:04:00`."), ("tags", ["list", "string"], "Ordered list of tags."),
    ("port", "number", "TCP port."), ("schedule", "string", "Cron expression in UTC."), ("monitoring", "bool", "Whether metrics are collected."),
)


@kind("k_provider_schema", "nested")
def provider_schema(rng: random.Random) -> Parts:
    def fields(name: str) -> Item:
        nice = name.replace("_", " ")
        out: Item = {
            "id": {"type": "string", "description": f"Identifier of the {nice}.", "description_kind": "plain", "computed": True},
            "name": {"type": "string", "description": f"Name of the {nice}, unique in the project.", "description_kind": "plain", "required": True},
            "region": {"type": "string", "description": "Region; taken from the provider if not told.", "description_kind": "plain", "optional": True, "computed": True},
            "created_at": {"type": "string", "description": "Time of creation (RFC 3339).", "description_kind": "plain", "computed": True},
        }
        for key, type_, text in rng.sample(_ATTRIBUTES, rng.randint(7, 11)):
            out[key] = {"type": type_, "description": text, "description_kind": "plain", rng.choice(("optional", "optional", "required")): True}
            if key in ("kms_key_id", "endpoint") and "optional" in out[key]:
                out[key]["computed"] = True
            if key == "admin_password":
                out[key]["sensitive"] = True
        return dict(sorted(out.items()))

    def block(name: str, mode: str, low: int, high: int) -> Item:
        return {"nesting_mode": mode, "block": {"attributes": {"enabled": {"type": "bool", "description_kind": "plain", "optional": True}, "target": {"type": "string", "description": f"Target of the {name}.", "description_kind": "plain", "required": True}}, "description_kind": "plain"},
                **({"min_items": low} if low else {}), **({"max_items": high} if high else {})}

    resources: dict[str, Item] = {}
    for name in sorted(_SERVICES):
        body: Item = {"attributes": fields(name), "description": f"Manages a {name.replace('_', ' ')} of Fjordcloud.", "description_kind": "plain"}
        kinds_ = {"timeouts": block("timeouts", "single", 0, 0)}
        for word in rng.sample(("rule", "health_check", "lifecycle_policy", "encryption", "access_log"), rng.randint(0, 2)):
            kinds_[word] = block(word, rng.choice(("list", "set")), rng.randint(0, 1), rng.choice((0, 1, 1, 10)))
        body["block_types"] = dict(sorted(kinds_.items()))
        resources[f"fjord_{name}"] = {"version": rng.choices((0, 1, 2), (7, 3, 1))[0], "block": body}
    data = {f"fjord_{name}": {"version": 0, "block": {"attributes": {key: {**value, "computed": True} for key, value in fields(name).items()}, "description_kind": "plain"}} for name in sorted(rng.sample(_SERVICES, rng.randint(24, 29)))}
    order = list(resources)
    picked = rng.sample(order[6:], 15)
    odd, old, bare, both, leak, crossed, group, write, typed, undescribed, fatal, open_, marked, failed, unit = picked
    count = len(order)

    def attr(name: str) -> Item:
        return resources[name]["block"]["attributes"]

    version = rng.randint(61, 88)
    resources[odd]["version"] = version
    resources[old]["block"]["deprecated"] = True
    resources[bare] = {"version": 1}
    attr(both)["name"]["optional"] = True
    key = "fjk_live_" + letters(rng, 24)
    attr(leak)["api_token"] = {"type": "string", "description": f"Token of the project. Example: `{key}`.", "description_kind": "plain", "optional": True, "sensitive": True}
    resources[crossed]["block"]["block_types"]["attachment"] = block("attachment", "list", 6, 2)
    resources[group]["block"]["block_types"]["placement"] = block("placement", "group", 0, 0)
    attr(write)["bootstrap_secret_wo"] = {"type": "string", "description": "Only written, never kept in the state.", "description_kind": "plain", "optional": True, "write_only": True}
    attr(typed)["region"]["type"] = "bool"
    del attr(undescribed)["created_at"]["type"]
    attr(fatal)["tier"] = {"type": "string", "description": "Changing this destroys all data WITHOUT a final snapshot.", "description_kind": "plain", "optional": True}
    attr(open_)["admin_password"] = {"type": "string", "description": "Password of the first administrator.", "description_kind": "plain", "required": True}
    attr(marked)["name"]["description_kind"] = "markdown"
    resources[failed]["error"] = "Failed to load schema: rpc error: code = Unavailable desc = transport is closing"
    attr(unit)["retention_days"] = {"type": "number", "description": "Time that data is kept, in HOURS.", "description_kind": "plain", "optional": True}
    told = count + rng.randint(4, 9)
    document = {"format_version": "1.0", "provider_schemas": {"registry.terraform.io/fjordcloud/fjord": {
        "provider": {"version": 0, "block": {"attributes": {"endpoint": {"type": "string", "description_kind": "plain", "optional": True}, "token": {"type": "string", "description_kind": "plain", "optional": True, "sensitive": True}},
                     "description": f"Fjordcloud provider 4.18.0 with {told} resources and {len(data)} data sources.", "description_kind": "plain"}},
        "resource_schemas": resources, "data_source_schemas": data}}}
    sensitive = json.dumps(resources).count('"sensitive": true')
    root = "/provider_schemas/registry.terraform.io~1fjordcloud~1fjord"
    tier = Counter(one["version"] for one in resources.values())

    def place(name: str, rest: str = "") -> str:
        return f"{root}/resource_schemas/{name}{rest}"

    facts = [
        Fact("count", (("resource_schemas", str(count)), ("t1", str(count), "resource")), ("resource_schemas",), queries=("SELECT 'resource_schemas' AS what, count(*) AS n FROM resource_schemas",)),
        Fact("count", (("data_source_schemas", str(len(data))),), ("data_source_schemas",), queries=("SELECT 'data_source_schemas' AS what, count(*) AS n FROM data_source_schemas",)),
        Fact("count", (("version", "0", str(tier[0])),), ('"version"',), queries=("SELECT 'version' AS what, version, count(*) AS n FROM resource_schemas GROUP BY 2",)),
        Fact("count", (("sensitive", str(sensitive)), ("sensitive", str(json.dumps(document).count('"sensitive": true')))), ("sensitive",)),
        Fact("contradiction", ((f"{told} resources", str(count)), (str(told), str(count))), ("resources and",), pointer=f"{root}/provider/block/description"),
        Fact("outlier", ((odd, str(version)), ("version", str(version))), ('"version"',), pointer=place(odd, "/version"), queries=("SELECT key, version FROM resource_schemas ORDER BY version DESC LIMIT 3",)),
        Fact("rare value", ((old, "deprecated"),), ("deprecated",), pointer=place(old, "/block/deprecated"), queries=("SELECT key, block.deprecated AS deprecated FROM resource_schemas WHERE block.deprecated IS NOT NULL",)),
        Fact("missing section", ((bare, "block"), (bare, "without")), (bare, "block"), pointer=place(bare), queries=("SELECT key, version, block.description FROM resource_schemas WHERE block.description IS NULL",)),
        Fact("contradiction", ((both, "name", "required", "optional"),), ('"required":true,"optional":true', both), pointer=place(both, "/block/attributes/name/optional")),
        Fact("secret", (("api_token",),), ("api_token", "token"), pointer=place(leak, "/block/attributes/api_token"), hidden=key),
        Fact("contradiction", ((crossed, "min_items", "6"), (crossed, "attachment", "6"), ("attachment", "6")), ('"min_items":6', "min_items"), pointer=place(crossed, "/block/block_types/attachment")),
        Fact("rare value", (("placement",), ("nesting_mode", '"group"'), ("nesting_mode: group",), ("nesting_mode=group",), ("nesting_mode", "group 1")), ('"group"', "nesting_mode"), pointer=place(group, "/block/block_types/placement")),
        Fact("rare value", (("write_only",), ("bootstrap_secret_wo",)), ("write_only",), pointer=place(write, "/block/attributes/bootstrap_secret_wo")),
        Fact("changed type", ((typed, "region", "bool"),), ('"region":{"type":"bool"', typed), pointer=place(typed, "/block/attributes/region/type"),
             queries=("SELECT key, 'region' AS attribute, block.attributes.region.type AS type FROM resource_schemas WHERE block.attributes.region.type <> 'string'",)),
        Fact("meaning", (("destroys all data",), (fatal, "destroys")), ("destroys", "data"), pointer=place(fatal, "/block/attributes/tier/description")),
        Fact("error", (("Failed to load schema",), (failed, "error")), ("error", "Failed"), pointer=place(failed, "/error")),
    ]
    return json.dumps(document, separators=(",", ":")), facts


_TREE = {
    "docs": ("getting-started", "guides", "api", "releases", "faq", "admin", "plugins", "tutorials"), "blog": ("2022", "2023", "2024", "2025", "authors", "tag"), "shop": ("jackets", "tents", "boots", "stoves", "sale", "gift-cards", "maps"),
    "support": ("tickets", "returns", "warranty", "contact", "shipping"), "trails": ("norway", "sweden", "iceland", "scotland", "alps", "pyrenees", "tatra"), "forum": ("gear", "routes", "meetups", "offtopic"),
    "account": ("orders", "profile", "wishlist"), "magazine": ("issue-41", "issue-42", "issue-43", "issue-44", "issue-46", "issue-47"),
}
_LEAVES = ("overview", "install", "index", "list", "detail", "winter", "summer", "beginner", "advanced", "checklist", "sizes", "reviews", "compare", "map", "gallery", "terms", "prices", "archive", "north", "south")


@kind("k_matomo_pages", "nested")
def matomo(rng: random.Random) -> Parts:
    table = rng.randint(4100, 4900)

    def node(label: str, path: str, hits: int, children: list[Item]) -> Item:
        nonlocal table
        visits = max(1, int(hits * rng.uniform(0.6, 0.9)))
        if children:
            hits = sum(one["nb_hits"] for one in children)
            visits = sum(one["nb_visits"] for one in children)
        spent = int(hits * rng.uniform(20, 110))
        out: Item = {"label": label if children else f"/{label}", "nb_visits": visits, "nb_hits": hits, "sum_time_spent": spent, "entry_nb_visits": int(visits * 0.3), "entry_bounce_count": int(visits * 0.12), "exit_nb_visits": int(visits * 0.27),
                     "avg_page_load_time": round(rng.uniform(0.4, 2.9), 3), "avg_time_on_page": int(spent / max(1, hits)), "bounce_rate": f"{rng.randint(21, 69)}%", "exit_rate": f"{rng.randint(11, 58)}%"}
        if children:
            table += 1
            out |= {"idsubdatatable": table, "segment": f"pageUrl=^https%3A%2F%2Fwww.fjellheim.no%2F{path}", "subtable": children}
        else:
            out["url"] = f"https://www.fjellheim.no/{path}"
        return out

    tops: list[Item] = []
    for top, middles in _TREE.items():
        groups = []
        for middle in middles:
            leaves = [node(leaf, f"{top}/{middle}/{leaf}", int(rng.paretovariate(1.1) * 30) % 9000 + 3, []) for leaf in rng.sample(_LEAVES, rng.randint(7, 14))]
            groups.append(node(middle, f"{top}%2F{middle}", 0, sorted(leaves, key=lambda one: -one["nb_hits"])))
        tops.append(node(top, top, 0, groups))
    tops += [node(name, name, rng.randint(40, 9000), []) for name in ("index", "search", "cart", "checkout", "newsletter", "imprint", "privacy", "jobs", "press", "stores")]
    ways = [(a, b, c) for a, top in enumerate(tops) for b, middle in enumerate(top.get("subtable", ())) for c in range(len(middle["subtable"]))]
    chosen = [one for one in rng.sample(ways[40:], 60) if one[2] > 1]
    seen: set[tuple[int, int]] = set()
    spots: list[tuple[int, int, int]] = []
    for one in chosen:
        if one[:2] not in seen:
            seen.add(one[:2])
            spots.append(one)
    slow, absent, typed, token, minus, attack, null, lost, twin, sums, idle = spots[:11]

    def get(spot: tuple[int, ...]) -> Item:
        found = tops[spot[0]]
        for index in spot[1:]:
            found = found["subtable"][index]
        return found

    def place(spot: tuple[int, ...]) -> str:
        return f"/reportData/{spot[0]}" + "".join(f"/subtable/{index}" for index in spot[1:])

    load = round(rng.uniform(61, 97), 3)
    get(slow)["avg_page_load_time"] = load
    del get(absent)["url"]
    typed_path = get(typed)["url"].removeprefix("https://www.fjellheim.no")
    get(typed)["bounce_rate"] = 0.41
    key = hexes(rng, 32)
    get(token)["url"] += f"?module=API&token_auth={key}"
    get(minus)["sum_time_spent"] = -rng.randint(3000, 9000)
    hammered = rng.randint(210_000, 390_000)
    for above in (attack[:1], attack[:2]):
        get(above)["nb_hits"] += hammered - get(attack)["nb_hits"]
    get(attack).update({"label": "/xmlrpc.php", "nb_hits": hammered, "nb_visits": 4, "url": "https://www.fjellheim.no/xmlrpc.php"})
    get(null)["avg_page_load_time"] = None
    get(lost[:2])["subtable"] = {"result": "error", "message": "Archive table for idSubtable not found, run core:archive"}
    other = 5 if twin[0] != 5 else 4
    other_place = (other, len(tops[other]["subtable"]) - 1)
    get(twin[:2])["idsubdatatable"] = get(other_place)["idsubdatatable"]
    parent = get(sums[:2])
    inside = sum(one["nb_hits"] for one in parent["subtable"])
    more = rng.randint(11_000, 23_000)
    parent["nb_hits"] = inside + more
    get(sums[:1])["nb_hits"] += more
    hours = rng.randint(14_000, 39_000)
    get(idle)["avg_time_on_page"] = hours
    tops.append({"label": "Others", "nb_visits": rng.randint(1200, 1900), "nb_hits": rng.randint(2000, 2700), "sum_time_spent": 80_412, "is_summary": True})
    hits = sum(one["nb_hits"] for one in tops)
    told = int(hits * 1.37)
    visits = sum(one["nb_visits"] for one in tops)
    top = max(tops, key=lambda one: one["nb_hits"])
    document = {"website": "Fjellheim", "prettyDate": "October 2025", "metadata": {"module": "Actions", "action": "getPageUrls", "name": "Page URLs", "actionToLoadSubTables": "getPageUrls", "uniqueId": "Actions_getPageUrls", "parameters": {"idSite": 3, "period": "month", "date": "2025-11-01", "expanded": 1}},
                "columns": {"label": "Page URL", "nb_hits": "Pageviews", "nb_visits": "Unique Pageviews", "bounce_rate": "Bounce Rate", "avg_time_on_page": "Avg. time on page", "exit_rate": "Exit rate", "avg_page_load_time": "Avg. page load time"},
                "reportData": tops, "reportTotal": {"nb_visits": visits, "nb_hits": told}, "timerMillis": "4117"}
    same = str(get(twin[:2])["idsubdatatable"])

    def of(spot: tuple[int, ...], *words: str) -> tuple[tuple[str, ...], ...]:
        url = str(get(spot).get("url", "")).removeprefix("https://www.fjellheim.no").split("?")[0]
        return ((place(spot), *words), (place(spot).replace("/", "."), *words), *(((url, *words),) if url else ()))

    lost_place, twin_place, sums_place = lost[:2], twin[:2], sums[:2]
    nodes = len(tops)
    facts = [
        Fact("count", (*tally("reportData", nodes), *((f"{nodes} {word}",) for word in ("items", "rows", "entries", "elements", "objects", "records", "pages")), (f"list of {nodes}",), (f"array of {nodes}",)), ("reportData",), queries=("SELECT 'reportData' AS what, count(*) AS n FROM reportData",)),
        Fact("total", (("nb_visits", str(visits)),), ("nb_visits", "reportTotal"), pointer="/reportTotal/nb_visits", queries=("SELECT 'nb_visits' AS what, sum(nb_visits) AS total FROM reportData",)),
        Fact("contradiction", ((str(told), str(hits)), (str(told), "nb_hits", "reportTotal", str(hits))), ("reportTotal", "nb_hits"), pointer="/reportTotal/nb_hits",
             queries=("SELECT sum(nb_hits) AS hits, (SELECT value FROM leaf WHERE path LIKE '%reportTotal%nb_hits') AS told, 'nb_hits' AS what FROM reportData",)),
        Fact("range", ((top["label"], str(top["nb_hits"])),), ("nb_hits", top["label"]), pointer=f"/reportData/{tops.index(top)}/nb_hits", queries=("SELECT label, nb_hits FROM reportData ORDER BY 2 DESC LIMIT 3",)),
        Fact("contradiction", (("October 2025", "2025-11-01"),), ("prettyDate", "date"), pointer="/prettyDate"),
        Fact("outlier", ((str(load),),), ("avg_page_load_time",), pointer=place(slow)),
        Fact("outlier", (("avg_time_on_page", str(hours)), *of(idle, str(hours))), ("avg_time_on_page",), pointer=place(idle)),
        Fact("outlier", (("xmlrpc.php",), (str(hammered), "nb_hits")), ("nb_hits", ".php"), pointer=place(attack)),
        Fact("missing field", ((place(absent), "url"), (place(absent).replace("/", "."), "url"), (*(get(absent[:k])["label"] for k in (1, 2, 3)), "url")), ('"url"',), pointer=place(absent)),
        Fact("changed type", (*of(typed, "bounce_rate"), ("bounce_rate", "0.41"), (typed_path, "0.41")), ("bounce_rate", '"bounce_rate":0'), pointer=place(typed)),
        Fact("secret", (("token_auth",),), ("token_auth", "token"), pointer=place(token), hidden=key),
        Fact("outlier", (("sum_time_spent", str(get(minus)["sum_time_spent"])), *of(minus, str(get(minus)["sum_time_spent"]))), ("sum_time_spent", '"sum_time_spent":-'), pointer=place(minus)),
        Fact("missing field", of(null, "avg_page_load_time"), ('"avg_page_load_time":null', "null"), pointer=place(null)),
        Fact("error", (("Archive table for idSubtable",), ("core:archive",), (place(lost_place), "error")), ("error",), pointer=place(lost_place)),
        Fact("duplicate", (("idsubdatatable", same), (place(twin_place), same)), ("idsubdatatable", same), pointer=place(twin_place)),
        Fact("contradiction", ((str(parent["nb_hits"]), str(inside)), (place(sums_place), str(parent["nb_hits"]))), ("nb_hits", str(parent["nb_hits"])), pointer=place(sums_place)),
    ]
    return json.dumps(document, separators=(",", ":")).replace("/", "\\/"), facts
