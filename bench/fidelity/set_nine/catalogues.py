"""Nested JSON of catalogues, collections and styles."""

# ruff: noqa: B007, E501, SIM905

import json
import random
from typing import Any

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_nine.tools import at, counted, hexes, letters, uuid, where

FOLDERS = ("Auth", "Customers", "Tariffs", "Shipments", "Tracking", "Labels", "Returns", "Invoices", "Webhooks", "Carriers", "Reports", "Admin")


@kind("n_postman_collection", "nested")
def postman(rng: random.Random) -> Parts:
    """A Postman collection, as exported in format 2.1."""
    folders: list[dict[str, Any]] = []
    flat: list[dict[str, Any]] = []
    place: list[str] = []
    verbs = {"GET": "Get", "POST": "Create", "PUT": "Replace", "PATCH": "Change", "DELETE": "Remove"}
    for f, folder in enumerate(FOLDERS):
        items = []
        for k in range(rng.randint(8, 12)):
            method = rng.choices(list(verbs), [48, 26, 8, 10, 8])[0]
            thing = rng.choice(["rates", "events", "documents", "contacts", "limits", "status", "history", "notes", "settings", "batches", "surcharges", "pickups"])
            key = f"{folder.lower()}/{hexes(rng, 6)}"
            url = {"raw": f"{{{{baseUrl}}}}/v2/{key}/{thing}", "host": ["{{baseUrl}}"], "path": ["v2", *key.split("/"), thing]}
            if method == "GET" and rng.random() < 0.6:
                url["query"] = [{"key": "limit", "value": str(rng.choice([20, 50, 100]))}, {"key": "cursor", "value": "", "disabled": True}]
                url["raw"] += f"?limit={url['query'][0]['value']}"
            request: dict[str, Any] = {"method": method, "header": [{"key": "Accept", "value": "application/json"}, {"key": "Authorization", "value": "Bearer {{token}}", "type": "text"}, {"key": "X-Request-Id", "value": "{{$guid}}"}], "url": url,
                                       "description": rng.choice(["Paged; follow `next` until it is null.", "Needs scope `tariff.write`.", "Idempotent with the same X-Request-Id.", "Used by the portal and by the EDI bridge."])}
            if method in ("POST", "PUT", "PATCH"):
                request["body"] = {"mode": "raw", "raw": json.dumps({"reference": f"R-{rng.randint(10000, 99999)}", "weight": round(rng.uniform(0.2, 80), 2), "country": rng.choice(["DE", "FR", "PL", "IT"]), "service": rng.choice(["STD", "EXP"])}, indent=4), "options": {"raw": {"language": "json"}}}
            code, status = {"GET": (200, "OK"), "POST": (201, "Created"), "PUT": (200, "OK"), "PATCH": (200, "OK"), "DELETE": (204, "No Content")}[method]
            item = {"name": f"{verbs[method]} {folder.lower()} {thing} {len(flat) + 101}", "id": uuid(rng), "event": [{"listen": "test", "script": {"id": uuid(rng), "exec": [
                f"pm.test(\"status is {code}\", function () {{", f"    pm.response.to.have.status({code});", "});", f"pm.expect(pm.response.responseTime).to.be.below({rng.choice([400, 800, 1200])});"], "type": "text/javascript", "packages": {}}}],
                "request": request, "response": [{"name": f"{code} {status}", "originalRequest": {"method": method, "header": [], "url": {"raw": url["raw"]}}, "status": status, "code": code, "_postman_previewlanguage": "json",
                "header": [{"key": "Content-Type", "value": "application/json; charset=utf-8"}, {"key": "X-Trace", "value": hexes(rng, 16)}], "cookie": [], "body": "" if code == 204 else json.dumps({"id": uuid(rng), "version": rng.randint(1, 40), "items": rng.randint(0, 99)})}]}  # fmt: skip
            place.append(f"/item/{f}/item/{k}")
            items.append(item)
            flat.append(item)
        folders.append({"name": folder, "item": items, "description": f"Everything about {folder.lower()}."})
    n = len(flat)
    folders.append({"name": "Claims intake", "item": [], "description": "Everything about claims."})
    names = "secret host method nourl urltype error liar slow twin skip ssl wipe".split()
    o = {name: int(n * (0.2 + 0.063 * k)) for k, name in enumerate(names)}
    token = "sk_live_" + letters(rng, 24)
    flat[o["secret"]]["request"]["header"][1]["value"] = f"Bearer {token}"
    flat[o["host"]]["request"]["url"].update(raw="https://api.albatros-prod.example/v2/tariffs/publish", host=["https://api", "albatros-prod", "example"])
    flat[o["method"]]["request"]["method"] = "PURGE"
    del flat[o["nourl"]]["request"]["url"]
    flat[o["urltype"]]["request"]["url"] = "{{baseUrl}}/v1/legacy/awb-lookup"
    flat[o["error"]]["response"][0].update(name="500 on empty body", status="Internal Server Error", code=500, body='{"error":"NullReferenceException at RateEngine.Match line 412"}')
    flat[o["liar"]]["name"] = "Get carrier contract overview (read only)"
    flat[o["liar"]]["request"]["method"] = "DELETE"
    flat[o["slow"]]["event"][0]["script"]["exec"][3] = "pm.expect(pm.response.responseTime).to.be.below(900000);"
    flat[o["twin"]]["id"] = twin = flat[o["twin"] - 12]["id"]
    flat[o["skip"]]["event"][0]["script"]["exec"][0] = 'pm.test.skip("signature is valid", function () {'
    flat[o["ssl"]]["protocolProfileBehavior"] = {"strictSSL": False}
    flat[o["wipe"]]["request"]["description"] = "Do not run against production: this wipes all tariffs of the tenant."
    said = n + rng.randint(21, 39)
    document = {"info": {"_postman_id": uuid(rng), "name": "Albatros Tariff API v2", "description": f"{said} requests in 13 folders. Set `baseUrl` and `token` in the environment first.", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json", "_exporter_id": "20418833"},
                "item": folders, "event": [{"listen": "prerequest", "script": {"type": "text/javascript", "exec": [""]}}], "variable": [{"key": "baseUrl", "value": "https://sandbox.albatros.example", "type": "string"}, {"key": "token", "value": ""}]}  # fmt: skip
    text = json.dumps(document, indent="\t")
    posts, gets = sum(i["request"]["method"] == "POST" for i in flat), sum(i["request"]["method"] == "GET" for i in flat)

    def w(name: str, *words: str) -> tuple[tuple[str, ...], ...]:
        spot = place[o[name]]
        return at((flat[o[name]]["name"], flat[o[name]]["id"], spot, spot.replace("/item/", "item[", 1).replace("/item/", "].item[") + "]"), *words)

    def p(name: str, rest: str = "") -> str:
        return place[o[name]] + rest

    liar = flat[o["liar"]]["name"].lower()
    return text, [
        Fact("secret", (*w("secret", "authorization"), *w("secret", "bearer"), *w("secret", "secret"), ("sk_live",), (p("secret") + "/request/header",)), ("Bearer", "sk_live"), p("secret", "/request/header/1/value"), hidden=token),
        Fact("rare value", (("albatros-prod",),), ("https://api", "prod"), p("host", "/request/url")),
        Fact("rare value", (("purge",),), ("PURGE", '"method"'), p("method", "/request/method"), queries=("SELECT request.method, count(*) AS n, min(name) AS first FROM t1 GROUP BY 1",)),
        Fact("missing field", w("nourl", "url"), ("url",), p("nourl", "/request")),
        Fact("changed type", (("legacy/awb-lookup",),), ("legacy", "v1"), p("urltype", "/request/url")),
        Fact("error", (("internal server error",), ("500 on empty body",), ("nullreferenceexception",)), ("500", "error"), p("error", "/response/0")),
        Fact("contradiction", ((liar, "delete"), *w("liar", "delete")), ("DELETE", "read only"), p("liar", "/request/method"), queries=("SELECT name, request.method FROM t1 WHERE name LIKE 'Get %' AND request.method <> 'GET'",)),
        Fact("outlier", (("below(900000)",), ("900000",)), ("responseTime",), p("slow", "/event/0/script/exec/3")),
        Fact("duplicate", ((twin,),), (twin,), p("twin", "/id"), queries=("SELECT id, count(*) AS times FROM t1 GROUP BY 1 HAVING count(*) > 1",)),
        Fact("rare status", (("pm.test.skip",), ("signature is valid",)), ("skip",), p("skip", "/event/0/script/exec/0")),
        Fact("rare value", (("strictssl",),), ("strictSSL", "protocolProfileBehavior"), p("ssl", "/protocolProfileBehavior")),
        Fact("meaning", (("wipes all tariffs",),), ("Do not run", "production"), p("wipe", "/request/description"), queries=("SELECT name, request.description FROM t1 WHERE request.description LIKE '%production%'",)),
        Fact("missing section", (("claims intake", "empty"), ("claims intake", "0"), ("claims intake", "[]"), ("claims intake", "no request"), (f"/item/{len(FOLDERS)}/item", "empty"), (f"/item/{len(FOLDERS)}/item", "[]"), (f"/item/{len(FOLDERS)}", "claims intake")), ("Claims",), f"/item/{len(FOLDERS)}"),
        Fact("contradiction", (("requests", str(said), str(n)), ("description", str(said), str(n))), ("requests in",), "/info/description", queries=("SELECT count(*) AS requests, (SELECT value FROM leaf WHERE path LIKE '%info%description') AS told FROM t1",)),
        Fact("count", (*counted("post", posts), *counted("get", gets)), ('"method"',), queries=("SELECT request.method, count(*) AS n FROM t1 GROUP BY 1 ORDER BY 2 DESC",)),
    ]  # fmt: skip


AREAS = {"DE": "Germany", "GB": "United Kingdom", "US": "United States", "JP": "Japan", "FR": "France", "NL": "Netherlands", "XE": "Europe"}
WORDS_A = "Silver Winter Harbour Distant Paper Northern Hollow Velvet Copper Second Broken Quiet Salt Electric Amber Glass".split()
WORDS_B = "Lights Tides Letters Machines Garden Signal Station Rooms Orchard Parade Mirror Engine Season Bridges Wires Echoes".split()


@kind("n_musicbrainz_releases", "nested")
def musicbrainz(rng: random.Random) -> Parts:
    """ws/2/release?artist=…&inc=recordings+labels&fmt=json"""
    n, releases = rng.randint(47, 51), []
    songs = [f"{a} {b}" for a in WORDS_A for b in WORDS_B]
    rng.shuffle(songs)
    known = [(uuid(rng), one, rng.randint(118_000, 412_000)) for one in songs[:90]]
    labels = [(uuid(rng), x) for x in ("Hollow Bay", "Parlophone", "Sub Pop", "Wartone", "Rough Trade", "City Slang")]
    for i in range(n):
        year, country = rng.randint(1994, 2025), rng.choice(list(AREAS))
        date = f"{year}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        media, offset = [], 0
        for m in range(rng.choices([1, 2], [75, 25])[0]):
            tracks = []
            for position, (rid, title, length) in enumerate(rng.sample(known, rng.randint(8, 14)), 1):
                near = length + rng.randint(-1400, 1400)
                tracks.append({"id": uuid(rng), "position": position, "number": str(position), "title": title, "length": near,
                               "recording": {"id": rid, "title": title, "length": length, "disambiguation": rng.choice(["", "", "", "live", "demo"]), "video": False, "first-release-date": f"{rng.randint(1994, 2019)}"}})  # fmt: skip
            fmt = rng.choices(["CD", '12" Vinyl', "Digital Media", "Cassette"], [45, 25, 22, 8])[0]
            media.append({"id": uuid(rng), "position": m + 1, "format": fmt, "title": "", "track-count": len(tracks), "track-offset": offset, "tracks": tracks})
            offset += len(tracks)
        label = rng.choice(labels)
        releases.append({"id": uuid(rng), "title": f"{songs[100 + i]}{rng.choice(['', '', ' (deluxe)', ' (live)'])}", "status": rng.choices(["Official", "Promotion"], [88, 12])[0], "quality": "normal", "packaging": rng.choice(["Jewel Case", "Digipak", "Cardboard/Paper Sleeve", None]),
                         "date": date, "country": country, "barcode": str(rng.randint(10**12, 9 * 10**12)), "asin": None, "disambiguation": "", "text-representation": {"language": "eng", "script": "Latn"},
                         "release-events": [{"date": date, "area": {"id": uuid(rng), "name": AREAS[country], "sort-name": AREAS[country], "iso-3166-1-codes": [country]}}],
                         "label-info": [{"catalog-number": f"{label[1][:3].upper()}{rng.randint(100, 999)}", "label": {"id": label[0], "name": label[1], "sort-name": label[1]}}],
                         "media": media, "cover-art-archive": {"artwork": True, "count": rng.randint(1, 9), "front": True, "back": rng.random() < 0.5, "darkened": False}})  # fmt: skip
    names = "twin count long lacks type status format area gap future note differ cover label".split()
    o = {name: 4 + int((n - 6) * (0.1 + 0.064 * k)) for k, name in enumerate(names)}
    r = releases
    r[o["twin"]]["barcode"] = twin = r[o["twin"] + 3]["barcode"]
    medium = r[o["count"]]["media"][0]
    real = len(medium["tracks"])
    medium["track-count"] = real + 5
    r[o["long"]]["media"][0]["tracks"][6]["length"] = 5_412_733
    del r[o["lacks"]]["text-representation"]
    r[o["type"]]["media"][0]["tracks"][3]["length"] = "4:12.5"
    r[o["status"]]["status"] = "Bootleg"
    r[o["format"]]["media"][0]["format"] = "8-Track Cartridge"
    r[o["area"]]["country"] = "IS"
    r[o["area"]]["release-events"][0]["area"].update({"name": "Iceland", "sort-name": "Iceland", "iso-3166-1-codes": ["IS"]})
    hole = r[o["gap"]]["media"][0]
    del hole["tracks"][4]
    hole["track-count"] -= 1
    r[o["future"]]["date"] = "2062-05-01"
    r[o["note"]]["disambiguation"] = "withdrawn, masters under court order 3 O 118/09"
    r[o["differ"]]["media"][0]["tracks"][2]["recording"]["title"] = "Untitled take 3 (different song)"
    r[o["cover"]]["cover-art-archive"]["count"] = -1
    r[o["label"]]["label-info"][0]["label"].update(name="[no label] Kellerband", **{"sort-name": "Kellerband"})
    said = n + rng.randint(60, 90)
    text = json.dumps({"release-count": said, "release-offset": 0, "releases": r}, ensure_ascii=False, indent=1)
    official = sum(x["status"] == "Official" for x in r)
    tracks = sum(len(m["tracks"]) for x in r for m in x["media"])
    cds = sum(m["format"] == "CD" for x in r for m in x["media"])

    def w(name: str, *words: str) -> tuple[tuple[str, ...], ...]:
        return at(where(o[name], r[o[name]]["id"], r[o[name]]["title"]), *words)

    def p(name: str, rest: str = "") -> str:
        return f"/releases/{o[name]}{rest}"

    return text, [
        Fact("duplicate", ((twin,),), (twin,), p("twin", "/barcode"), queries=("SELECT barcode, count(*) AS times FROM t GROUP BY 1 HAVING count(*) > 1",)),
        Fact("contradiction", (*w("count", "track-count", str(real + 5)), ("track-count", str(real + 5), str(real))), ("track-count",), p("count", "/media/0/track-count"), queries=(
            "SELECT m.\"track-count\", count(*) AS real, m.id FROM media m JOIN tracks k ON k.parent = m.n GROUP BY m.n HAVING count(*) <> m.\"track-count\"",)),
        Fact("outlier", (("5412733",),), ("length",), p("long", "/media/0/tracks/6/length"), queries=("SELECT id, title, length FROM tracks WHERE typeof(length) = 'integer' ORDER BY length DESC LIMIT 3",)),
        Fact("missing field", w("lacks", "text-representation"), ("text-representation",), p("lacks"), queries=('SELECT n, id, title, "text-representation.language" FROM t WHERE "text-representation.language" IS NULL',)),
        Fact("changed type", (("4:12.5",),), ("4:12", "length"), p("type", "/media/0/tracks/3/length"), queries=("SELECT id, title, length FROM tracks WHERE typeof(length) = 'text'",)),
        Fact("rare status", (("bootleg",),), ("Bootleg", "status"), p("status", "/status"), queries=("SELECT status, count(*) AS n, min(title) AS first FROM t GROUP BY 1",)),
        Fact("rare value", (("8-track",),), ("format", "8-Track"), p("format", "/media/0/format"), queries=("SELECT format, count(*) AS n FROM media GROUP BY 1",)),
        Fact("rare value", (("iceland",), ("country", "is\" 1"), (r[o["area"]]["id"], "is|"), ("is|1",)), ("Iceland", "country"), p("area", "/country"), queries=("SELECT country, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 LIMIT 4",)),
        Fact("gap", (*w("gap", "4", "6"), *w("gap", "position", "5"), ("tracks/4/position", "6"), (hole["tracks"][3]["title"], hole["tracks"][4]["title"], "4", "6"), ("position", "4", "6", hole["id"])), ("position",), p("gap", "/media/0/tracks/4")),
        Fact("time jump", (("2062-05-01",),), ("2062", "date"), p("future", "/date"), queries=("SELECT min(date) AS first, max(date) AS last FROM t",)),
        Fact("meaning", (("court order",), ("masters under",)), ("withdrawn", "disambiguation"), p("note", "/disambiguation"), queries=("SELECT disambiguation, count(*) AS n FROM t GROUP BY 1",)),
        Fact("contradiction", (("different song",), ("untitled take 3",)), ("Untitled", "different"), p("differ", "/media/0/tracks/2"), queries=("SELECT id, title, recording.title FROM tracks WHERE title <> recording.title",)),
        Fact("outlier", (*w("cover", "-1"), ("cover-art-archive", "-1"), ("count", "-1")), ('"count": -1', "cover-art-archive"), p("cover", "/cover-art-archive/count"), queries=('SELECT id, title, "cover-art-archive.count" FROM t ORDER BY 3 LIMIT 3',)),
        Fact("rare value", (("kellerband",),), ("label", "no label"), p("label", "/label-info/0/label/name")),
        Fact("contradiction", (("release-count", str(said), str(n)), ("releases", str(said), str(n)), ("listed", str(said), str(n)), ("told", str(said), str(n))), ("release-count",), "/release-count", queries=(
            "SELECT count(*) AS listed, (SELECT value FROM leaf WHERE path LIKE '%release-count') AS told FROM t",)),
        Fact("count", (("tracks", str(tracks)), *counted("official", official), *counted("cd", cds)), ("track-count",), queries=("SELECT count(*) AS tracks FROM tracks",)),
    ]  # fmt: skip


@kind("n_mapbox_style", "nested")
def mapbox(rng: random.Random) -> Parts:
    """A style of a vector map."""
    layers: list[dict[str, Any]] = []
    groups = ("road", "rail", "water", "landuse", "building", "boundary", "poi", "place", "transit", "tunnel", "bridge", "path")
    detail = ("motorway", "trunk", "primary", "secondary", "service", "track", "park", "wood", "river", "canal", "state", "country", "city", "town", "village", "airport", "ferry", "stop")
    n = rng.randint(176, 188)
    seen: list[str] = []

    def colour() -> str:
        return rng.choice([f"#{hexes(rng, 6)}", f"hsl({rng.randint(0, 359)}, {rng.randint(10, 90)}%, {rng.randint(20, 95)}%)", f"rgba({rng.randint(0, 255)}, {rng.randint(0, 255)}, {rng.randint(0, 255)}, {rng.choice([0.4, 0.7, 1])})"])

    def zoomed(low: float, high: float) -> list[Any]:
        return ["interpolate", ["exponential", rng.choice([1.2, 1.4, 1.6])], ["zoom"], rng.randint(4, 9), round(low, 2), rng.randint(12, 17), round(high, 2), 20, round(high * 2.5, 2)]

    for i in range(n):
        group, what = rng.choice(groups), rng.choice(detail)
        type_ = {"water": "fill", "landuse": "fill", "building": "fill", "poi": "symbol", "place": "symbol"}.get(group) or rng.choices(["line", "symbol", "fill"], [70, 20, 10])[0]
        name = f"{group}-{what}{rng.choice(['', '-case', '-label', '-major', '-minor'])}"
        while name in seen:
            name += f"-{rng.randint(2, 99)}"
        seen.append(name)
        low = rng.randint(2, 13)
        one: dict[str, Any] = {"id": name, "type": type_, "metadata": {"mapbox:featureComponent": group, "mapbox:group": f"{group}, {rng.choice(['surface', 'structure', 'labels'])}"}, "source": "composite", "source-layer": group, "minzoom": low,
                               "maxzoom": min(22, low + rng.randint(4, 12)), "filter": ["all", ["match", ["get", "class"], sorted(rng.sample(detail, 3)), True, False], ["==", ["geometry-type"], rng.choice(["LineString", "Polygon", "Point"])], ["<=", ["get", "rank"], rng.randint(1, 20)]]}  # fmt: skip
        if type_ == "line":
            one["layout"] = {"line-cap": "round", "line-join": rng.choice(["round", "miter"]), "visibility": "none" if rng.random() < 0.09 else "visible"}
            one["paint"] = {"line-color": ["case", ["boolean", ["feature-state", "hover"], False], colour(), colour()], "line-width": zoomed(rng.uniform(0.4, 1.5), rng.uniform(3, 14)), "line-opacity": round(rng.uniform(0.5, 1), 2)}
        elif type_ == "fill":
            one["layout"] = {"visibility": "none" if rng.random() < 0.09 else "visible"}
            one["paint"] = {"fill-color": colour(), "fill-opacity": round(rng.uniform(0.2, 1), 2), "fill-antialias": rng.random() < 0.8}
        else:
            one["layout"] = {"text-field": ["coalesce", ["get", "name_de"], ["get", "name"]], "text-font": rng.choice([["DIN Pro Medium", "Arial Unicode MS Regular"], ["DIN Pro Bold", "Arial Unicode MS Bold"]]), "text-size": zoomed(9, rng.uniform(11, 16)),
                             "symbol-placement": rng.choice(["point", "line"]), "text-max-width": rng.randint(5, 9), "visibility": "none" if rng.random() < 0.09 else "visible"}
            one["paint"] = {"text-color": colour(), "text-halo-color": colour(), "text-halo-width": rng.choice([0.5, 1, 1.5])}
        layers.append(one)

    def find(share: float, type_: str) -> int:
        k = int(n * share)
        while layers[k]["type"] != type_ or k in taken:
            k += 1
        taken.append(k)
        return k

    taken: list[int] = []
    o = {"twin": find(0.12, "line"), "source": find(0.2, "line"), "hill": find(0.26, "fill"), "zoom": find(0.33, "line"), "opacity": find(0.4, "fill"), "lacks": find(0.47, "line"), "size": find(0.53, "symbol"), "legacy": find(0.6, "fill"),
         "wide": find(0.67, "line"), "font": find(0.73, "symbol"), "debug": find(0.8, "fill"), "field": find(0.86, "symbol")}  # fmt: skip
    layer = {name: layers[k] for name, k in o.items()}
    twin = layers[o["twin"] + 30]["id"] = layer["twin"]["id"]
    layer["source"]["source"] = "composite_2019"
    layer["hill"].update(type="hillshade", paint={"hillshade-exaggeration": 0.4})
    layer["zoom"].update(minzoom=21, maxzoom=3)
    layer["opacity"]["paint"]["fill-opacity"] = 37
    del layer["lacks"]["source-layer"]
    layer["size"]["layout"]["text-size"] = "14px"
    layer["legacy"]["filter"] = ["==", "$type", "Polygon"]
    layer["wide"]["paint"]["line-width"] = 4800
    layer["font"]["layout"]["text-font"] = ["Comic Sans MS Regular"]
    layer["debug"].update(id="debug-DO-NOT-SHIP-tile-bounds")
    layer["debug"]["paint"]["fill-color"] = "#ff00ff"
    layer["field"]["layout"]["text-field"] = ["get", "resident_name"]
    token = "sk.eyJ1Ijoi" + letters(rng, 30)
    told = n + rng.randint(9, 17)
    document = {"version": 8, "name": "Albatros Field Map", "metadata": {"mapbox:autocomposite": True, "mapbox:type": "template", "albatros:layers": told}, "center": [8.8017, 53.0793], "zoom": 10.4, "bearing": 0, "pitch": 0,
                "layers": layers, "sources": {"composite": {"type": "vector", "url": "mapbox://mapbox.mapbox-streets-v8,mapbox.mapbox-terrain-v2"}, "dem": {"type": "raster-dem", "url": "mapbox://mapbox.terrain-rgb", "tileSize": 512},
                "depots": {"type": "geojson", "data": "http://10.2.0.14:8080/depots.geojson"}, "fleet": {"type": "vector", "tiles": [f"https://tiles.albatros.example/fleet/{{z}}/{{x}}/{{y}}.pbf?access_token={token}"]}},
                "sprite": "mapbox://sprites/albatros/cl9x2", "glyphs": "mapbox://fonts/albatros/{fontstack}/{range}.pbf"}  # fmt: skip
    text = json.dumps(document, indent=2)
    hidden, lines = sum(x["layout"]["visibility"] == "none" for x in layers), sum(x["type"] == "line" for x in layers)
    symbols = sum(x["type"] == "symbol" for x in layers)

    def w(name: str, *words: str) -> tuple[tuple[str, ...], ...]:
        return at(where(o[name], layer[name]["id"]), *words)

    def p(name: str, rest: str = "") -> str:
        return f"/layers/{o[name]}{rest}"

    return text, [
        Fact("duplicate", ((twin, "2"), (twin, "twice"), (twin, "duplicate"), (f"/{o['twin']}", f"/{o['twin'] + 30}"), (twin, f"/{o['twin'] + 30}"), (twin, f"{o['twin'] + 30}|")), (twin,), f"/layers/{o['twin'] + 30}/id", queries=("SELECT id, count(*) AS times FROM layers GROUP BY 1 HAVING count(*) > 1",)),
        Fact("rare value", (("composite_2019",),), ("source", "composite_"), p("source", "/source"), queries=("SELECT source, count(*) AS n FROM layers GROUP BY 1",)),
        Fact("rare value", (("hillshade",),), ("hillshade",), p("hill", "/type"), queries=("SELECT type, count(*) AS n FROM layers GROUP BY 1",)),
        Fact("contradiction", (*w("zoom", "21", "3"), ("minzoom", "21", "maxzoom", "3")), ('"minzoom": 21',), p("zoom"), queries=("SELECT id, minzoom, maxzoom FROM layers WHERE minzoom > maxzoom",)),
        Fact("outlier", (*w("opacity", "37"), ("fill-opacity", "37")), ("fill-opacity",), p("opacity", "/paint/fill-opacity"), queries=('SELECT id, "paint.fill-opacity" FROM layers ORDER BY 2 DESC LIMIT 3',)),
        Fact("missing field", w("lacks", "source-layer"), ("source-layer",), p("lacks"), queries=('SELECT n, id, "source-layer" FROM layers WHERE "source-layer" IS NULL',)),
        Fact("changed type", (("14px",),), ("px", "text-size"), p("size", "/layout/text-size"), queries=("SELECT id, \"layout.text-size\" FROM layers WHERE \"layout.text-size\" NOT LIKE '[%'",)),
        Fact("rare value", (("$type",),), ("$type",), p("legacy", "/filter"), queries=("SELECT id, filter FROM layers WHERE filter LIKE '%$type%'",)),
        Fact("outlier", (("4800",),), ("line-width", "4800"), p("wide", "/paint/line-width"), queries=("SELECT id, \"paint.line-width\" FROM layers WHERE \"paint.line-width\" NOT LIKE '[%'",)),
        Fact("rare value", (("comic sans",),), ("text-font",), p("font", "/layout/text-font"), queries=('SELECT "layout.text-font", count(*) AS n FROM layers GROUP BY 1',)),
        Fact("meaning", (("debug-do-not-ship",), ("#ff00ff",)), ("debug", "tile-bounds"), p("debug", "/id"), queries=("SELECT id FROM layers WHERE id LIKE '%debug%'",)),
        Fact("meaning", (("resident_name",),), ("text-field", "resident"), p("field", "/layout/text-field"), queries=('SELECT "layout.text-field", count(*) AS n FROM layers GROUP BY 1',)),
        Fact("secret", (("access_token",), ("tiles.albatros.example",), ("/sources/fleet",), ("sources.fleet",)), ("token",), "/sources/fleet/tiles/0", hidden=token),
        Fact("rare value", (("10.2.0.14",),), ("http://",), "/sources/depots/data", queries=("SELECT path, value FROM leaf WHERE value LIKE 'http://%'",)),
        Fact("contradiction", (("layers", str(told), str(n)), ("told", str(told), str(n))), ("albatros:layers",), "/metadata/albatros:layers", queries=("SELECT count(*) AS layers, (SELECT value FROM leaf WHERE path LIKE '%albatros:layers') AS told FROM layers",)),
        Fact("count", (*counted("none", hidden), *counted("symbol", symbols), *counted("line", lines)), ("visibility", "symbol"), queries=("SELECT type, count(*) AS n FROM layers GROUP BY 1 ORDER BY 2 DESC",)),
    ]  # fmt: skip
