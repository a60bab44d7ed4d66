"""Objects, maps of like objects, nested lists and configuration."""

import json
import random
from collections import Counter
from datetime import datetime, timedelta

from bench.fidelity.planted import Parts, kind

from . import words as w
from .words import Notes, pairs


@kind("sarif", "nested")
def sarif(rng: random.Random) -> Parts:
    """A SARIF 2.1.0 log of a static analyser: runs, tool.driver.rules, results with locations."""
    rule_ids = w.distinct(rng, 34, lambda r: f"py/{r.choice(w.ADJECTIVES)}-{r.choice(w.NOUNS)}")
    rules = [{"id": one, "name": one, "shortDescription": {"text": w.sentence(rng)},
              "defaultConfiguration": {"level": "warning"},
              "properties": {"tags": ["maintainability"], "precision": rng.choice(("high", "medium")),
                             "security-severity": f"{w.near(rng, 4, 0.8, 2.1, 5.9):.1f}"}}
                             for one in rule_ids]
    size, results = rng.randint(128, 145), []
    files = w.distinct(rng, 90, lambda r: f"src/{r.choice(w.SERVICES)}/{r.choice(w.NOUNS)}.py")
    weights = [1 / (1 + k) for k in range(len(rule_ids))]
    for _ in range(size):
        at = rng.choices(range(len(rule_ids)), weights)[0]
        line = rng.randint(4, 690)
        results.append({
            "ruleId": rule_ids[at], "ruleIndex": at, "level": w.pick(rng, {"warning": 80, "note": 20}),
            "message": {"text": w.sentence(rng)},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": rng.choice(files), "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": line, "startColumn": rng.randint(1, 40),
                "endColumn": rng.randint(41, 90),
                           "snippet": {"text": f"{rng.choice(w.NOUNS)} = "
                                               f"{rng.choice(w.VERBS)}_{rng.choice(w.NOUNS)}()"}}}}],
            "partialFingerprints": {"primaryLocationLineHash": w.hexes(rng, 16) + ":1"},
        })
    inject, shell, hushed, lost, alien, far, leak, double, typed = w.spots(rng, size, 9, apart=4)
    grave = rng.randrange(8, 30)
    rules[grave]["properties"]["security-severity"] = "9.8"

    def place(i: int) -> dict:
        return results[i]["locations"][0]["physicalLocation"]

    results[inject].update(level="error",
        message={"text": "This SQL query depends on a user-provided value."})
    results[shell].update(level="error",
        message={"text": "This shell command is built from request.args without quoting."})
    results[hushed]["suppressions"] = [{"kind": "inSource", "justification": "will be fixed in 2019"}]
    where = [place(i)["artifactLocation"]["uri"] for i in range(size)]
    results[lost]["locations"] = []
    results[alien].update(ruleId="custom/backdoor-import", ruleIndex=-1)
    line = rng.randint(61_000, 98_000)
    place(far)["region"]["startLine"] = line
    secret = "ghp_" + w.alnum(rng, 36)
    place(leak)["region"]["snippet"]["text"] = f'GITHUB_TOKEN = "{secret}"'
    results[double]["partialFingerprints"] = dict(results[double - 2]["partialFingerprints"])
    print_of = results[double]["partialFingerprints"]["primaryLocationLineHash"]
    place(typed)["region"]["startLine"] = "unknown"
    notes = [{"level": "error",
        "message": {"text": "Extraction of src/legacy/ failed: 212 files were not analysed"}}]
    run = {
        "tool": {"driver": {"name": "CodeAudit", "semanticVersion": "2.19.3", "rules": rules}},
        "invocations": [{"executionSuccessful": False, "exitCode": 2, "toolExecutionNotifications": notes}],
        "results": results, "columnKind": "utf16CodeUnits",
    }
    data = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    n, base = Notes(), "/runs/0/results"

    def one(what: str, i: int, telling: list[object], path: str, *searches: str, hidden: str = "") -> None:
        n.say(what, w.known(telling, [where[i]], base, i), *searches, pointer=f"{base}/{i}{path}",
            hidden=hidden)

    one("error", inject, ["SQL query depends", "user-provided"], "/message/text", "error", "SQL")
    one("error", shell, ["shell command", "request.args"], "/message/text", "error", "shell")
    one("rare value", hushed, ["suppressions", "inSource", "fixed in 2019"], "/suppressions", "suppress")
    n.say("missing field", tuple((f"{base}/{lost}", *words) for words in (
        ("locations",), ("locations", "empty"))) + tuple((f"#{lost}", "locations", word)
        for word in ("empty", "[]", "no ", "0")),
          "locations", pointer=f"{base}/{lost}/locations", derived=True)
    one("rare value", alien, ["backdoor-import"], "/ruleId", "ruleId", "custom/")
    one("outlier", far, [line], "/locations/0/physicalLocation/region/startLine", "startLine")
    one("secret", leak, ["GITHUB_TOKEN", "github", "ghp_", "secret", "token"],
        "/locations/0/physicalLocation/region/snippet/text", "TOKEN", "ghp_", hidden=secret)
    n.say("duplicate", w.same(print_of, f"{base}/{double - 2}", f"{base}/{double}")
          + w.same(print_of[:-2], f"#{double - 2}", f"#{double}"), "primaryLocationLineHash", "duplicate",
          pointer=f"{base}/{double}/partialFingerprints/primaryLocationLineHash", derived=True)
    one("changed type", typed, ["unknown"], "/locations/0/physicalLocation/region/startLine", "startLine",
        "unknown")
    n.say("error", (("executionSuccessful", "false"), ("exitCode", "2", "executionSuccessful")),
        "executionSuccessful",
          pointer="/runs/0/invocations/0/executionSuccessful")
    n.say("error", pairs(["212 files", "src/legacy"],
        ["not analysed", "failed", "Extraction", "invocations"]), "failed",
          "notification", pointer="/runs/0/invocations/0/toolExecutionNotifications/0/message/text")
    n.say("outlier", w.known(["9.8"], [rule_ids[grave]], "/runs/0/tool/driver/rules", grave),
        "security-severity",
          pointer=f"/runs/0/tool/driver/rules/{grave}/properties/security-severity")
    levels = Counter(one["level"] for one in results)
    n.say("count", w.count("note", levels["note"]), "note", "level", derived=True)
    top, many = Counter(one["ruleId"] for one in results).most_common(1)[0]
    n.say("count", w.count(top, many), "ruleId", top, derived=True)
    n.say("total", w.total(size, "results", "items", "records", "rows"), "results", derived=True)
    return n.parts(json.dumps(data, indent=2))


@kind("har", "nested")
def har(rng: random.Random) -> Parts:
    """An HTTP archive (HAR 1.2) as browsers export it: log.entries with request, response and timings."""
    size = rng.randint(74, 86)
    clock = w.Clock(rng, datetime(2025, 10, 7, 11, 20), 0.05, 0.6)
    kinds = {"application/json": ("/api/v2/", 46), "image/webp": ("/img/", 24),
        "application/javascript": ("/js/", 18),
             "text/css": ("/css/", 12)}
    entries = []

    def header(name: str, value: str) -> dict[str, str]:
        return {"name": name, "value": value}

    paths = w.distinct(rng, size, lambda r: f"{r.choice(w.NOUNS)}/{r.choice(w.NOUNS)}")
    for path in paths:
        mime = w.pick(rng, {key: value[1] for key, value in kinds.items()})
        wait, receive = w.near(rng, 70, 30, 8, 190), w.near(rng, 12, 6, 1, 40)
        size_now = int(w.near(rng, 14_000, 8_000, 420, 48_000))
        status = rng.choices((200, 304), (88, 12))[0]
        url = f"https://shop.acme.example{kinds[mime][0]}{path}"
        entries.append({
            "startedDateTime": f"{clock.tick():%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
            "time": round(wait + receive + 1.2, 3),
            "request": {"method": "GET", "url": url, "httpVersion": "h2", "cookies": [], "queryString": [],
                        "headers": [header("accept", "*/*"), header("accept-language", "en-GB"),
                                    header("referer", "https://shop.acme.example/"),
                                        header("user-agent", "Mozilla/5.0 (X11)")],
                        "headersSize": -1, "bodySize": 0},
            "response": {"status": status, "statusText": "", "httpVersion": "h2", "cookies": [],
                         "headers": [header("content-type", mime), header("cache-control", "max-age=600"),
                                     header("etag", f'W/"{w.hexes(rng, 10)}"'),
                                         header("x-request-id", w.uuid(rng))],
                         "content": {"size": size_now, "mimeType": mime}, "redirectURL": "",
                         "headersSize": -1,
                         "bodySize": size_now},
            "cache": {}, "serverIPAddress": "10.20.7.11", "connection": "443",
            "timings": {"blocked": 0.4, "dns": -1, "connect": -1, "send": 0.8, "wait": round(wait, 3),
                        "receive": round(receive, 3), "ssl": -1},
        })
    crash, slow, heavy, plain, leak, zero, away, lost, write, odd, late = w.spots(rng, size, 11, apart=3)
    entries[crash]["response"].update(status=503, statusText="Service Unavailable")
    took = round(rng.uniform(41_000, 58_000), 3)
    entries[slow]["time"], entries[slow]["timings"]["wait"] = took, round(took - 9.3, 3)
    big = rng.randint(61_000_000, 90_000_000)
    entries[heavy]["response"]["content"]["size"] = entries[heavy]["response"]["bodySize"] = big
    entries[plain]["request"]["url"] = entries[plain]["request"]["url"].replace("https", "http")
    jwt = f"eyJhbGciOiJIUzI1NiJ9.{w.alnum(rng, 48)}.{w.alnum(rng, 43)}"
    entries[leak]["request"]["headers"].append(header("authorization", f"Bearer {jwt}"))
    entries[zero]["response"].update(status=0, statusText="", _error="net::ERR_BLOCKED_BY_CLIENT")
    entries[away]["request"]["url"] = "https://cdn.tracker-metrics.example/collect/v1"
    entries[away]["serverIPAddress"] = "185.199.4.77"
    del entries[lost]["timings"]
    entries[write]["request"]["method"] = "DELETE"
    entries[odd]["response"]["content"]["mimeType"] = "application/x-msdownload"
    entries[late]["startedDateTime"] = "2025-10-07T14:" + entries[late]["startedDateTime"][14:]
    data = {"log": {"version": "1.2", "creator": {"name": "Firefox", "version": "130.0"},
                    "pages": [{"startedDateTime": entries[0]["startedDateTime"], "id": "page_1",
                    "title": "Shop",
                               "pageTimings": {"onContentLoad": 812, "onLoad": 2210}}], "entries": entries}}
    n, base = Notes(), "/log/entries"

    def url(i: int) -> str:
        return entries[i]["request"]["url"].split("example", 1)[1]

    def one(what: str, i: int, telling: list[object], path: str, *searches: str, hidden: str = "") -> None:
        n.say(what, w.known(telling, [paths[i], url(i)], base, i), *searches, pointer=f"{base}/{i}{path}",
            hidden=hidden)

    one("error", crash, ["503", "Service Unavailable"], "/response/status", "status", "503")
    one("outlier", slow, [took, int(took)], "/time", "time", "wait")
    one("outlier", heavy, [big], "/response/content/size", "size", "bodySize")
    one("rare value", plain, [f"http://shop"], "/request/url", "http://")
    one("secret", leak, ["authorization", "Bearer", "JWT"], "/request/headers/4/value", "authorization",
        "Bearer", hidden=jwt)
    one("error", zero, ["ERR_BLOCKED", "_error"], "/response/_error", "_error", "ERR_")
    one("rare value", away, ["tracker-metrics", "185.199.4.77"], "/request/url", "serverIPAddress", "tracker")
    n.say("missing field", w.gone([paths[lost], f"{base}/{lost}", f"#{lost}"], "timings"), "timings",
          pointer=f"{base}/{lost}", derived=True)
    one("rare value", write, ["DELETE"], "/request/method", "method", "DELETE")
    one("rare value", odd, ["x-msdownload"], "/response/content/mimeType", "mimeType")
    one("time jump", late, [entries[late]["startedDateTime"][:16], "T14:", " 14:"], "/startedDateTime",
        "startedDateTime")
    mimes = Counter(one["response"]["content"]["mimeType"] for one in entries)
    n.say("count", w.count("application/json", mimes["application/json"], "json"), "mimeType", derived=True)
    codes = Counter(one["response"]["status"] for one in entries)
    n.say("count", w.count("304", codes[304]), "304", "status", derived=True)
    n.say("total", w.total(size, "entries", "items", "records", "rows", "requests"), "entries", derived=True)
    return n.parts(json.dumps(data, indent=2))


@kind("package_lock", "nested")
def package_lock(rng: random.Random) -> Parts:
    """package-lock.json of npm (lockfileVersion 3): a map from node_modules path to version, resolved, integrity."""
    names = w.distinct(rng, rng.randint(330, 370), lambda r: f"{r.choice(w.NOUNS)}-{r.choice(w.VERBS)}")
    names.sort()
    packs: dict[str, dict] = {}
    for name in names:
        version = f"{rng.randint(1, 8)}.{rng.randint(0, 22)}.{rng.randint(0, 9)}"
        packs[f"node_modules/{name}"] = {
            "version": version, "resolved": f"https://packages.example.org/{name}/-/{name}-{version}.tgz",
            "integrity": f"sha512-{w.alnum(rng, 86)}==", **({"dev": True} if rng.random() < 0.42 else {}),
            "license": w.pick(rng, {"MIT": 80, "ISC": 12, "Apache-2.0": 8}),
            **({"dependencies": {one: f"^{rng.randint(1, 8)}.0.0"
            for one in rng.sample(names, rng.randint(1, 3))}}
               if rng.random() < 0.5 else {}), "engines": {"node": f">={rng.choice((14, 16, 18))}"},
        }
    keys = list(packs)
    alien, bare, git, script, weak, old, link, gpl, mismatch, typed, many, leak = w.spots(rng, len(keys), 12,
        apart=4)
    p = [packs[key] for key in keys]
    p[alien]["resolved"] = p[alien]["resolved"].replace("https://packages.example.org",
        "http://npm.pkg-mirror.example")
    del p[bare]["integrity"]
    p[git]["resolved"] = f"git+ssh://git@github.com/someuser/{names[git]}.git#{w.hexes(rng, 40)}"
    p[script]["hasInstallScript"] = True
    p[weak]["integrity"] = f"sha1-{w.alnum(rng, 27)}="
    p[old]["deprecated"] = "critical vulnerability, do not use"
    keep = {"resolved": "../../shared/tools", "link": True}
    p[link].clear()
    p[link].update(keep)
    p[gpl]["license"] = "AGPL-3.0-only"
    wrong = f"{rng.randint(31, 60)}.0.0"
    p[mismatch]["version"] = wrong
    p[typed]["engines"] = ["node >= 0.6"]
    p[many]["dependencies"] = {one: "*" for one in rng.sample(names, 48)}
    secret = "npm_" + w.alnum(rng, 36)
    p[leak]["resolved"] = p[leak]["resolved"].replace("https://", f"https://ci:{secret}@")
    root = {"name": "acme-shop", "version": "4.11.0",
            "dependencies": {one: f"^{packs['node_modules/' + one].get('version', '1.0.0')}"
            for one in rng.sample(names, 24)}}
    data = {"name": "acme-shop", "version": "4.11.0", "lockfileVersion": 3, "requires": True,
            "packages": {"": root, **packs}}
    n = Notes()

    def one(what: str, i: int, telling: list[object], field: str, *searches: str, hidden: str = "") -> None:
        n.say(what, pairs(telling, [names[i]]), *searches,
            pointer=f"/packages/node_modules~1{names[i]}{field}",
              hidden=hidden)

    one("meaning", alien, ["pkg-mirror"], "/resolved", "resolved", "http://")
    n.say("missing field", w.gone([names[bare]], "integrity"), "integrity",
          pointer=f"/packages/node_modules~1{names[bare]}", derived=True)
    one("rare value", git, ["git+ssh"], "/resolved", "git+", "resolved")
    one("rare value", script, ["hasInstallScript"], "/hasInstallScript", "hasInstallScript")
    one("rare value", weak, ["sha1-", "sha1"], "/integrity", "sha1")
    one("rare value", old, ["critical vulnerability", "deprecated"], "/deprecated", "deprecated")
    one("changed shape", link, ["../../shared/tools", "link"], "", "link")
    one("rare value", gpl, ["AGPL"], "/license", "license", "GPL")
    one("contradiction", mismatch, [wrong], "/version", "version")
    one("changed type", typed, ["node >= 0.6"], "/engines", "engines")
    n.say("outlier", pairs([names[many]], ["48"]), "dependencies",
        pointer=f"/packages/node_modules~1{names[many]}/dependencies",
          derived=True)
    one("secret", leak, ["npm_", "token", "password", "credential", "https://ci:", "url with"], "/resolved",
        "@registry",
        "token", hidden=secret)
    licenses = Counter(one.get("license") for one in p)
    n.say("count", w.count("MIT", licenses["MIT"]), "MIT", "license", derived=True)
    n.say("count", w.count("dev", sum("dev" in one for one in p)), "dev", derived=True)
    n.say("total", w.total(len(keys) + 1, "packages", "keys", "entries", "items")
          + w.total(len(keys), "packages", "keys", "entries", "items"), "packages", derived=True)
    return n.parts(json.dumps(data, indent=2))


@kind("elasticsearch", "nested")
def elasticsearch(rng: random.Random) -> Parts:
    """The answer of Elasticsearch's _search with hits and aggregations, minified as the server sends it."""
    size = rng.randint(190, 215)
    clock = w.Clock(rng, datetime(2025, 8, 4, 0, 10), 100, 500)
    regions = {"eu-west": 48, "eu-north": 24, "us-east": 20, "ap-south": 8}
    hits, score = [], 18.0
    for _ in range(size):
        score -= rng.uniform(0.01, 0.08)
        hits.append({"_index": "orders-2025.08", "_id": w.alnum(rng, 20), "_score": round(score, 4),
            "_source": {
            "@timestamp": f"{clock.tick():%Y-%m-%dT%H:%M:%S}.000Z", "service": rng.choice(w.SERVICES),
            "region": w.pick(rng, regions),
            "http": {"status": rng.choices((200, 201, 204, 404), (80, 9, 6, 5))[0],
                                                     "method": rng.choice(("GET", "POST"))},
            "duration_ms": round(w.near(rng, 120, 60, 9, 380), 1),
            "user": {"id": rng.randint(10_000, 99_999), "tier": "free"},
            "message": w.sentence(rng)}})
    boom, slow, typed, lost, odd, index, leak, tier, minus = w.spots(rng, size, 9, apart=4)
    s = [one["_source"] for one in hits]
    s[boom]["http"]["status"], s[boom]["message"] = 500, "NullPointerException in RefundHandler.apply"
    took = round(rng.uniform(88_000, 140_000), 1)
    s[slow]["duration_ms"] = took
    s[typed]["user"]["id"] = "anonymous"
    del s[lost]["region"]
    s[odd]["region"] = "cn-test-9"
    hits[index]["_index"] = "orders-2019.restored"
    secret = "AKIA" + w.upper(rng, 16)
    s[leak]["message"] = f"uploading with key {secret} to bucket acme-export"
    s[tier]["user"]["tier"] = "suspended"
    below = -rng.randint(4000, 9000)
    s[minus]["duration_ms"] = below
    buckets = [{"key": name, "doc_count": rng.randint(2400, 9800),
        "avg_ms": {"value": round(w.near(rng, 120, 14, 90, 160), 2)},
                "by_status": {"buckets": [{"key": 200, "doc_count": rng.randint(2000, 2399)},
                                          {"key": 404, "doc_count": rng.randint(20, 90)}]}}
               for name in sorted(w.SERVICES)]
    bad = rng.randrange(6, 20)
    many = rng.randint(1200, 1900)
    buckets[bad]["by_status"]["buckets"].append({"key": 502, "doc_count": many})
    buckets.sort(key=lambda one: -one["doc_count"])
    bad = next(i for i, one in enumerate(buckets) if len(one["by_status"]["buckets"]) == 3)
    days = [{"key_as_string": f"{datetime(2025, 7, 1) + timedelta(days=k):%Y-%m-%d}T00:00:00.000Z",
             "key": 1751328000000 + k * 86_400_000, "doc_count": rng.randint(5200, 6900)} for k in range(62)]
    empty = rng.randint(12, 50)
    days[empty]["doc_count"] = 0
    data = {
        "took": 4127, "timed_out": True, "_shards": {"total": 12, "successful": 10, "skipped": 0,
        "failed": 2, "failures": [
            {"shard": 7, "index": "orders-2025.08", "node": w.alnum(rng, 22),
             "reason": {"type": "circuit_breaking_exception", "reason": "[parent] Data too large"}}]},
        "hits": {"total": {"value": 10000, "relation": "gte"}, "max_score": hits[0]["_score"], "hits": hits},
        "aggregations": {"per_day": {"buckets": days},
                         "services": {"doc_count_error_upper_bound": 0, "sum_other_doc_count": 31877,
                         "buckets": buckets}},
    }
    n, base = Notes(), "/hits/hits"

    def one(what: str, i: int, telling: list[object], path: str, *searches: str, hidden: str = "") -> None:
        n.say(what, w.known(telling, [hits[i]["_id"]], base, i), *searches, pointer=f"{base}/{i}{path}",
            hidden=hidden)

    one("error", boom, ["NullPointerException", "RefundHandler"], "/_source/message", "Exception", "500")
    one("outlier", slow, [took, int(took)], "/_source/duration_ms", "duration_ms")
    one("changed type", typed, ["anonymous"], "/_source/user/id", "user")
    strict = tuple((a, "region", b) for a in (hits[lost]["_id"], f"{base}/{lost}", f"#{lost}")
        for b in w.GONE)
    n.say("missing field", strict + pairs([f"{base}/{lost}"], ["region"]), "region",
        pointer=f"{base}/{lost}/_source",
          derived=True)
    one("rare value", odd, ["cn-test-9"], "/_source/region", "region")
    one("rare value", index, ["orders-2019"], "/_index", "_index", "2019")
    one("secret", leak, ["AKIA", "aws", "access key", "uploading with key", "secret"], "/_source/message",
        "AKIA", "key",
        hidden=secret)
    one("rare value", tier, ["suspended"], "/_source/user/tier", "tier")
    one("outlier", minus, [below], "/_source/duration_ms", "duration_ms", "-")
    n.say("error", pairs(["circuit_breaking", "Data too large"],
        ["failures", "shard", "failed", "orders-2025"]), "failed",
          "failures", pointer="/_shards/failures/0/reason/type")
    n.say("meaning", (("timed_out", "true"),), "timed_out", pointer="/timed_out")
    n.say("summary", pairs(["10000"], ["gte", "≥", "at least"]), "total", "relation", pointer="/hits/total")
    n.say("outlier", w.known([many, "502"], [buckets[bad]["key"]], "/aggregations/services/buckets", bad),
        "502", "by_status",
          pointer=f"/aggregations/services/buckets/{bad}/by_status/buckets/2")
    day = days[empty]["key_as_string"][:10]
    n.say("gap", tuple((day, "doc_count", *more) for more in (("0",),)) + pairs([day],
        ["0", "empty", "zero", "gap"])
          + tuple((f"buckets/{empty}", "doc_count", word) for word in ("0", "zero", "min")), "per_day",
              "doc_count",
          pointer=f"/aggregations/per_day/buckets/{empty}/doc_count")
    regions_now = Counter(one.get("region") for one in s)
    n.say("count", w.count("eu-west", regions_now["eu-west"]), "eu-west", "region", derived=True)
    n.say("total", w.total(size, "hits", "items", "records", "rows"), "_source", derived=True)
    return n.parts(json.dumps(data, separators=(",", ":")))


@kind("graphql_repos", "nested")
def graphql_repos(rng: random.Random) -> Parts:
    """A GraphQL answer with edges, nodes and pageInfo (repositories with pull requests), with partial errors."""
    size, edges = rng.randint(46, 52), []
    names = w.distinct(rng, size, lambda r: f"{r.choice(w.SERVICES)}-{r.choice(w.NOUNS)}")
    clock = w.Clock(rng, datetime(2025, 3, 1), 2000, 20_000)
    number = 0
    logins = [name.split()[0].lower() + name.split()[1][0].lower() for name in w.people(rng, 11)]
    for name in names:
        pulls = []
        for _ in range(rng.randint(3, 6)):
            number += rng.randint(1, 5)
            pulls.append({"number": 1000 + number, "title": w.title(rng).replace("public", "common"),
                "state": w.pick(rng, {"MERGED": 70, "OPEN": 20, "CLOSED": 10}),
                          "author": {"login": rng.choice(logins)},
                          "additions": int(w.near(rng, 120, 80, 1, 480)),
                          "deletions": int(w.near(rng, 50, 40, 0, 220)),
                          "createdAt": f"{clock.tick():%Y-%m-%dT%H:%M:%SZ}",
                          "reviewDecision": "APPROVED", "mergeable": "MERGEABLE"})
        edges.append({"cursor": w.alnum(rng, 22) + "==", "node": {
            "id": f"R_kgDO{w.alnum(rng, 6)}", "name": name, "visibility": "PRIVATE", "isArchived": False,
            "defaultBranchRef": {"name": "main"},
            "primaryLanguage": {"name": w.pick(rng, {"Go": 40, "TypeScript": 35, "Java": 25})},
            "stargazerCount": int(w.near(rng, 9, 5, 0, 24)),
            "diskUsage": int(w.near(rng, 5200, 2600, 300, 14_000)),
            "branchProtectionRules": {"totalCount": rng.choice((1, 1, 2)), "nodes": [
                {"pattern": "main", "requiredApprovingReviewCount": 1, "allowsForcePushes": False}]},
            "pullRequests": {"totalCount": rng.randint(40, 210), "nodes": pulls,
                             "pageInfo": {"endCursor": w.alnum(rng, 18)}}}})
    node = [one["node"] for one in edges]
    public, force, big, unseen, clash, archived, branch, null, disk, bot, blank = w.spots(rng, size, 11,
        apart=2, low=0.05)
    node[public]["visibility"] = "PUBLIC"
    node[force]["branchProtectionRules"]["nodes"][0]["allowsForcePushes"] = True
    adds = rng.randint(410_000, 890_000)

    def pull(i: int) -> tuple[int, dict]:
        at = rng.randrange(len(node[i]["pullRequests"]["nodes"]))
        return at, node[i]["pullRequests"]["nodes"][at]

    at_big, pr = pull(big)
    pr["additions"] = adds
    at_unseen, pr_unseen = pull(unseen)
    pr_unseen.update(reviewDecision="CHANGES_REQUESTED", state="MERGED")
    at_clash, pr_clash = pull(clash)
    pr_clash.update(mergeable="CONFLICTING", state="OPEN")
    node[archived]["isArchived"] = True
    node[branch]["defaultBranchRef"] = {"name": "hotfix-do-not-use"}
    node[null]["pullRequests"] = None
    usage = rng.randint(2_800_000, 4_900_000)
    node[disk]["diskUsage"] = usage
    at_bot, pr_bot = pull(bot)
    pr_bot["author"] = None
    node[blank]["branchProtectionRules"] = {"totalCount": 0, "nodes": []}
    errors = [{"type": "SERVICE_UNAVAILABLE", "path": ["organization", "repositories", "edges", null, "node",
        "pullRequests"],
               "message": "Something went wrong while executing your query: timeout after 10 s"}]
    every = size + rng.randint(260, 400)
    data = {"data": {"organization": {"login": "acme", "repositories": {
        "totalCount": every, "pageInfo": {"hasNextPage": True, "endCursor": edges[-1]["cursor"]},
        "edges": edges}}},
        "errors": errors}
    n, base = Notes(), "/data/organization/repositories/edges"

    def one(what: str, i: int, telling: list[object], path: str, *searches: str) -> None:
        n.say(what, w.known(telling, [names[i]], base, i), *searches, pointer=f"{base}/{i}/node{path}")

    def inner(what: str, i: int, at: int, pr: dict, telling: list[object], field: str,
        *searches: str) -> None:
        path = f"/pullRequests/nodes/{at}"
        n.say(what, w.known(telling, [names[i], pr["number"], f"{i}/node{path}"], base, i), *searches,
              pointer=f"{base}/{i}/node{path}{field}")

    one("rare value", public, ["PUBLIC"], "/visibility", "visibility", "PUBLIC")
    n.say("meaning", pairs([names[force], *w.spot(base, force)], ["true"]),
          "allowsForcePushes", pointer=f"{base}/{force}/node/branchProtectionRules/nodes/0/allowsForcePushes")
    inner("outlier", big, at_big, pr, [adds], "/additions", "additions")
    inner("contradiction", unseen, at_unseen, pr_unseen, ["CHANGES_REQUESTED"], "/reviewDecision",
        "reviewDecision")
    inner("rare value", clash, at_clash, pr_clash, ["CONFLICTING"], "/mergeable", "mergeable", "CONFLICT")
    n.say("rare value", pairs([names[archived], *w.spot(base, archived)], ["true"]), "isArchived",
          pointer=f"{base}/{archived}/node/isArchived")
    one("rare value", branch, ["hotfix-do-not-use"], "/defaultBranchRef/name", "defaultBranchRef")
    n.say("error", pairs(["SERVICE_UNAVAILABLE", "timeout after 10", "Something went wrong"],
        ["errors", "pullRequests", "/errors"]),
          "errors", pointer="/errors/0/message")
    n.say("missing field", pairs([names[null], *w.spot(base, null)], ["null"]), "pullRequests", "null",
          pointer=f"{base}/{null}/node/pullRequests")
    one("outlier", disk, [usage], "/diskUsage", "diskUsage")
    n.say("missing field", pairs([pr_bot["number"], names[bot], *w.spot(base, bot)], ["null"]), "author",
          "null", pointer=f"{base}/{bot}/node/pullRequests/nodes/{at_bot}/author")
    n.say("meaning", tuple(("branchProtectionRules", word, a) for a in (names[blank], *w.spot(base, blank))
                           for word in ("0", "[]", "empty")), "branchProtectionRules", "totalCount",
          pointer=f"{base}/{blank}/node/branchProtectionRules/totalCount")
    n.say("summary", pairs([every], ["totalCount", "repositories", "total"]), "totalCount",
          pointer="/data/organization/repositories/totalCount")
    states = Counter(pr["state"] for one in node if one["pullRequests"]
        for pr in one["pullRequests"]["nodes"])
    n.say("count", w.count("MERGED", states["MERGED"]), "MERGED", derived=True)
    langs = Counter(one["primaryLanguage"]["name"] for one in node).most_common(1)[0]
    n.say("count", w.count(*langs), "primaryLanguage", derived=True)
    n.say("total", w.total(size, "edges", "nodes", "items", "records", "rows"), "edges", derived=True)
    return n.parts(json.dumps(data, indent=2))


@kind("aws_instances", "nested")
def aws_instances(rng: random.Random) -> Parts:
    """`aws ec2 describe-instances`: Reservations with Instances, indented by four as the AWS CLI prints it."""
    size = rng.randint(64, 72)
    types = {"t3.medium": 40, "m5.large": 34, "c5.xlarge": 18, "r5.large": 8}
    addresses = w.distinct(rng, size, lambda r: w.ip(r, "10.40"))
    clock = w.Clock(rng, datetime(2025, 2, 3, 9), 20_000, 200_000)
    image, net, rows = f"ami-0{w.hexes(rng, 16)}", f"vpc-0{w.hexes(rng, 16)}", []
    names = w.distinct(rng, size,
        lambda r: f"{r.choice(w.SERVICES)}-{r.choice(('blue', 'green'))}-{r.randint(1, 9)}")
    owner = "480211907733"
    for i, name in enumerate(names):
        made = f"{clock.tick():%Y-%m-%dT%H:%M:%S}+00:00"
        rows.append({"Groups": [], "Instances": [{
            "AmiLaunchIndex": 0, "ImageId": image, "InstanceId": f"i-0{w.hexes(rng, 16)}",
            "InstanceType": w.pick(rng, types),
            "KeyName": "platform-2024", "LaunchTime": made, "Monitoring": {"State": "enabled"},
            "Placement": {"AvailabilityZone": rng.choice(("eu-central-1a", "eu-central-1b",
            "eu-central-1c")), "Tenancy": "default"},
            "PrivateIpAddress": addresses[i], "State": {"Code": 16, "Name": "running"},
            "StateTransitionReason": "",
            "SubnetId": f"subnet-0{w.hexes(rng, 16)}", "VpcId": net, "Architecture": "x86_64",
            "EbsOptimized": True,
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {
                "AttachTime": made, "DeleteOnTermination": True, "Status": "attached",
                "VolumeId": f"vol-0{w.hexes(rng, 16)}"}}],
            "IamInstanceProfile": {"Arn": f"arn:aws:iam::{owner}:instance-profile/{name.split('-')[0]}-role"},
            "SecurityGroups": [{"GroupName": "private-web", "GroupId": "sg-0c41e88ab2170d6f3"}],
            "MetadataOptions": {"State": "applied", "HttpTokens": "required", "HttpPutResponseHopLimit": 1},
            "Tags": [{"Key": "Name", "Value": name},
            {"Key": "Team", "Value": rng.choice(("core", "shop", "data"))},
                     {"Key": "CostCenter", "Value": str(rng.randint(410, 419))}]}],
            "OwnerId": owner, "ReservationId": f"r-0{w.hexes(rng, 16)}"})
    huge, public, weak, ghost, admin, stop, twin, other, old, user, wide = w.spots(rng, size, 11, apart=3)
    r = [row["Instances"][0] for row in rows]
    r[huge]["InstanceType"] = "p4d.24xlarge"
    r[public]["PublicIpAddress"] = "3.121.88.14"
    r[weak]["MetadataOptions"]["HttpTokens"] = "optional"
    del r[ghost]["Tags"]
    r[admin]["IamInstanceProfile"]["Arn"] = f"arn:aws:iam::{owner}:instance-profile/AdministratorAccess-temp"
    r[stop].update(State={"Code": 80, "Name": "stopped"},
        StateTransitionReason="Server.SpotInstanceTermination: no capacity")
    r[twin]["PrivateIpAddress"] = r[twin - 2]["PrivateIpAddress"]
    rows[other]["OwnerId"] = "913377004218"
    r[old]["LaunchTime"] = "2016-05-02T04:11:09+00:00"
    r[user]["KeyName"] = "johns-laptop"
    r[wide]["SecurityGroups"] = [{"GroupName": "allow-all-from-anywhere",
        "GroupId": "sg-0" + w.hexes(rng, 16)}]
    n, base = Notes(), "/Reservations"

    def names_of(i: int) -> list[str]:
        return [r[i]["InstanceId"], names[i]]

    def one(what: str, i: int, telling: list[object], path: str, *searches: str) -> None:
        n.say(what, w.known(telling, names_of(i), base, i), *searches, pointer=f"{base}/{i}{path}")

    inside = "/Instances/0"
    one("outlier", huge, ["p4d.24xlarge"], inside + "/InstanceType", "InstanceType")
    one("meaning", public, ["3.121.88.14", "PublicIpAddress"], inside + "/PublicIpAddress", "PublicIp")
    one("meaning", weak, ["optional"], inside + "/MetadataOptions/HttpTokens", "HttpTokens", "optional")
    n.say("missing field", w.gone([r[ghost]["InstanceId"], f"{base}/{ghost}", f"#{ghost}"], "Tags"), "Tags",
          pointer=f"{base}/{ghost}{inside}", derived=True)
    one("meaning", admin, ["AdministratorAccess"], inside + "/IamInstanceProfile/Arn", "Admin",
        "IamInstanceProfile")
    one("rare value", stop, ["stopped", "SpotInstanceTermination"], inside + "/State/Name", "stopped",
        "StateTransitionReason")
    address = r[twin]["PrivateIpAddress"]
    n.say("duplicate", w.same(address, f"{base}/{twin - 2}",
        f"{base}/{twin}") + ((address, r[twin - 2]["InstanceId"],
          r[twin]["InstanceId"]),), "PrivateIpAddress", "duplicate",
              pointer=f"{base}/{twin}{inside}/PrivateIpAddress", derived=True)
    one("rare value", other, ["913377004218"], "/OwnerId", "OwnerId")
    one("time jump", old, ["2016-05-02"], inside + "/LaunchTime", "LaunchTime", "2016")
    one("rare value", user, ["johns-laptop"], inside + "/KeyName", "KeyName")
    one("meaning", wide, ["allow-all-from-anywhere"], inside + "/SecurityGroups/0/GroupName", "GroupName",
        "allow")
    sorts = Counter(one["InstanceType"] for one in r)
    for name in ("t3.medium", "m5.large"):
        n.say("count", w.count(name, sorts[name]), name, "InstanceType", derived=True)
    n.say("total", w.total(size, "Reservations", "instances", "items", "records", "rows"), "InstanceId",
        derived=True)
    times = sorted(one["LaunchTime"] for i, one in enumerate(r) if i != old)
    n.say("range", (*w.span(times[0][:10], times[-1][:10]), ("2016-05-02", times[-1][:10])), "LaunchTime",
        derived=True)
    return n.parts(json.dumps({"Reservations": rows}, indent=4))


@kind("grafana_dashboard", "nested")
def grafana_dashboard(rng: random.Random) -> Parts:
    """A Grafana dashboard as JSON: rows with nested panels, targets, thresholds, templating and annotations."""
    ident, rows, every = 0, [], []
    kinds = {"timeseries": 62, "stat": 20, "gauge": 10, "table": 8}
    titles = iter(w.distinct(rng, 140,
        lambda r: f"{r.choice(w.SERVICES).capitalize()} {r.choice(w.NOUNS)} {r.choice(w.NOUNS)}"))
    for number, service in enumerate(rng.sample(w.SERVICES, 9)):
        ident += 1
        row = {"id": ident, "type": "row", "title": f"{service.capitalize()} overview", "collapsed": True,
               "gridPos": {"h": 1, "w": 24, "x": 0, "y": number * 40}, "panels": []}
        for k in range(rng.randint(7, 9)):
            ident += 1
            metric = f"{service}_{rng.choice(w.NOUNS)}_{rng.choice(('seconds', 'total', 'bytes'))}"
            warn = rng.randint(50, 90)
            panel = {
                "id": ident, "type": w.pick(rng, kinds), "title": next(titles),
                "datasource": {"type": "prometheus", "uid": "prom-main"},
                "gridPos": {"h": 8, "w": 8, "x": 8 * (k % 3), "y": number * 40 + 1 + 8 * (k // 3)},
                "fieldConfig": {"defaults": {"unit": rng.choice(("s", "reqps", "bytes", "percent")),
                "thresholds": {
                    "mode": "absolute", "steps": [{"color": "green", "value": None},
                    {"color": "yellow", "value": warn},
                                                  {"color": "red", "value": warn + rng.randint(5, 20)}]}},
                                                      "overrides": []},
                "targets": [{"refId": ref, "expr": f"sum by (pod) (rate({metric}{{env=\"prod\"}}[5m]))",
                "interval": "30s",
                             "legendFormat": "{{pod}}", "hide": False} for ref in "AB"[: rng.randint(1, 2)]],
                "options": {"legend": {"displayMode": "list", "placement": "bottom"},
                "tooltip": {"mode": "single"}},
            }
            every.append((f"/panels/{number}/panels/{k}", panel))
            row["panels"].append(panel)
        rows.append(row)
    limit, source, leak, double, unit, hidden, empty, wide, odd, staging, fast = w.spots(rng, len(every), 11,
        apart=3)
    p = [panel for _, panel in every]
    red = rng.randint(8_000, 9_900)
    p[limit]["fieldConfig"]["defaults"]["thresholds"]["steps"][2]["value"] = red
    p[source]["datasource"] = {"type": "mysql", "uid": "old-finance-db"}
    secret = w.alnum(rng, 20)
    p[leak]["links"] = [{"title": "raw data", "url": f"https://viewer:{secret}@influx.acme.internal/query"}]
    p[double]["id"] = p[double - 2]["id"]
    del p[unit]["fieldConfig"]["defaults"]["unit"]
    p[hidden]["targets"][0]["hide"] = True
    p[empty]["targets"] = []
    p[wide]["gridPos"]["h"] = rng.randint(310, 620)
    p[odd]["type"] = "old-singlestat-panel"
    p[staging]["targets"][0]["expr"] = p[staging]["targets"][0]["expr"].replace("prod", "staging")
    p[fast]["targets"][0]["interval"] = "10ms"
    variables = [{"name": name, "type": "query", "query": f"label_values({name})", "refresh": 2}
        for name in ("pod", "zone")]
    data = {"annotations": {"list": [{"name": "Deployments", "enable": True,
        "datasource": {"uid": "prom-main"}}]},
            "editable": True, "id": 412, "uid": w.alnum(rng, 9), "title": "Shop production",
            "schemaVersion": 39, "version": 188,
            "panels": rows, "templating": {"list": variables}, "time": {"from": "now-6h", "to": "now"},
            "refresh": "30s",
            "timezone": "utc"}
    n = Notes()

    def one(what: str, i: int, telling: list[object], path: str, *searches: str, hidden: str = "") -> None:
        n.say(what, pairs(telling, [p[i]["title"], every[i][0]]), *searches, pointer=every[i][0] + path,
            hidden=hidden)

    one("outlier", limit, [red], "/fieldConfig/defaults/thresholds/steps/2/value", "thresholds", "red")
    one("rare value", source, ["old-finance-db", "mysql"], "/datasource/uid", "datasource")
    one("secret", leak, ["influx", "password", "credential", "viewer:", "url with"], "/links/0/url",
        "password", "://", "links",
        hidden=secret)
    ids = p[double]["id"]
    n.say("duplicate", tuple(("id", str(ids), word, p[double]["title"]) for word in w.SAME)
          + tuple((f"id {ids}", word) for word in w.SAME) + tuple((f"id: {ids}", word) for word in w.SAME)
          + ((p[double]["title"], p[double - 2]["title"], "id"),
              (every[double][0], every[double - 2][0], "id"))
          + tuple((f"{ids}", "id", word) for word in ("duplicate", "twice", "not unique", "repeated")),
          '"id"', "duplicate", pointer=every[double][0] + "/id", derived=True)
    n.say("missing field", w.gone([p[unit]["title"], every[unit][0]], "unit"), "unit",
        pointer=every[unit][0] + "/fieldConfig/defaults",
          derived=True)
    n.say("rare value", pairs([p[hidden]["title"], every[hidden][0]], ["true"]), "hide",
          pointer=every[hidden][0] + "/targets/0/hide")
    n.say("missing field", tuple((a, "targets", b) for a in (p[empty]["title"], every[empty][0])
        for b in ("[]", "empty", "no ", "0")),
          "targets", pointer=every[empty][0] + "/targets")
    one("outlier", wide, [p[wide]["gridPos"]["h"]], "/gridPos/h", "gridPos")
    one("rare value", odd, ["old-singlestat-panel"], "/type", "type", "singlestat")
    one("meaning", staging, ["staging"], "/targets/0/expr", "staging", "env=")
    one("outlier", fast, ["10ms"], "/targets/0/interval", "interval")
    sorts = Counter(panel["type"] for panel in p)
    n.say("count", w.count("timeseries", sorts["timeseries"]), "timeseries", derived=True)
    n.say("total", w.total(len(p), "panels") + w.total(len(p) + len(rows), "panels"), "panels", derived=True)
    n.say("outline", ((rows[0]["title"], rows[1]["title"]), (rows[3]["title"], rows[4]["title"]),
        (rows[4]["title"], rows[5]["title"]),
                      (rows[7]["title"], rows[8]["title"])), "overview", '"row"', derived=True)
    return n.parts(json.dumps(data, indent=2))


PATTERNS = {
    "en": ("{verb} {noun}", "The {noun} was saved.", "{count} {noun}s selected",
    "Do you want to {verb} this {noun}?"),
    "de": ("{noun} bearbeiten", "{noun} wurde gespeichert.", "{count} Mal {noun} gewählt",
    "Möchten Sie {noun} wirklich ändern?"),
    "fr": ("Modifier {noun}", "{noun} a été enregistré.", "{count} fois {noun} choisi",
    "Voulez-vous vraiment changer {noun} ?"),
}


@kind("i18n_catalog", "nested")
def i18n_catalog(rng: random.Random) -> Parts:
    """A message catalogue of a web application (i18next): locale, section, key, text with {{placeholders}}."""
    sections = rng.sample(w.SERVICES, 21)
    words: dict[str, dict[str, tuple[int, str, str]]] = {}
    for section in sections:
        keys = w.distinct(rng, rng.randint(22, 27),
            lambda r: w.lower_camel(r.choice(w.VERBS), r.choice(w.NOUNS)))
        words[section] = {key: (rng.choices(range(4), (40, 25, 15, 20))[0], rng.choice(w.VERBS),
            rng.choice(w.NOUNS)) for key in keys}
    data: dict[str, dict[str, dict]] = {}
    for locale, forms in PATTERNS.items():
        data[locale] = {section: {
            key: forms[form].replace("{verb}", verb.capitalize() if form == 0 else verb).replace("{noun}",
                noun).replace(
                "{count}", "{{count}}") for key, (form, verb, noun) in keys.items()} for section,
                keys in words.items()}
    places = [(section, key) for section, keys in words.items() for key in keys]
    marks = ("lost", "blank", "broken", "typed", "script", "todo", "long", "money", "extra", "rude", "link")
    at = dict(zip(marks, (places[i] for i in w.spots(rng, len(places), len(marks)))))
    data["fr"][at["lost"][0]].pop(at["lost"][1])

    def put(mark: str, locale: str, value: object) -> None:
        section, key = at[mark]
        data[locale][section][key] = value  # type: ignore[assignment]

    put("blank", "de", "")
    for locale, text in (("en", "You have {{count}} open reminders"),
        ("de", "Sie haben {{count}} offene Erinnerungen"),
                         ("fr", "Vous avez {{cuont}} rappels ouverts")):
        put("broken", locale, text)
    put("typed", "fr", {"one": "un colis", "other": "{{count}} colis"})
    put("script", "de", "Weiter <script src='https://evil.example/x.js'></script>")
    put("todo", "fr", "TODO translate: Your refund was refused")
    put("long", "en", " ".join(w.sentence(rng) for _ in range(26)))
    for locale, text in (("en", "Shipping is free from 50 EUR"), ("de", "Versand ist ab 500 EUR frei"),
                         ("fr", "Livraison gratuite dès 50 EUR")):
        put("money", locale, text)
    section = at["extra"][0]
    data["de"][section]["legacyOnlyHinweis"] = "Nur noch bis 2018 gültig"
    put("rude", "en", "lorem ipsum dolor sit amet, fix this before launch")
    for locale in data:
        put("link", locale, "https://help.acme.example/refunds"
            if locale != "fr" else "http://localhost:3000/refunds")
    n = Notes()

    def one(what: str, mark: str, locale: str, telling: list[object], *searches: str) -> None:
        section, key = at[mark]
        n.say(what, pairs(telling, [key, f"/{locale}/{section}"]), *searches,
            pointer=f"/{locale}/{section}/{key}")

    section, key = at["lost"]
    n.say("missing field", tuple((key, "fr", word) for word in (*w.GONE, "not in fr"))
          + ((f"/fr/{section}", key),), '"fr"', "missing", pointer=f"/fr/{section}", derived=True)
    section, key = at["blank"]
    n.say("missing field", tuple((key, word) for word in ("empty", '""', "blank",
        "''")) + ((f"/de/{section}", "empty"),), '""',
          "empty", pointer=f"/de/{section}/{key}")
    one("contradiction", "broken", "fr", ["cuont"], "count", "{{")
    one("changed type", "typed", "fr", ["un colis", "an object", ": object", "not a string", "dict"],
        "other", "colis")
    one("meaning", "script", "de", ["<script", "evil.example"], "<script", "http")
    one("rare value", "todo", "fr", ["TODO"], "TODO")
    size = len(data["en"][at["long"][0]][at["long"][1]])
    one("outlier", "long", "en", [str(size), "longest", data["en"][at["long"][0]][at["long"][1]][:40]],
        "long")
    one("contradiction", "money", "de", ["500 EUR"], "EUR", "Versand")
    n.say("rare value", pairs(["legacyOnlyHinweis"], ["de", "2018", at["extra"][0]]), "legacy", "2018",
          pointer=f"/de/{at['extra'][0]}/legacyOnlyHinweis")
    one("rare value", "rude", "en", ["lorem ipsum"], "lorem", "fix this")
    one("meaning", "link", "fr", ["localhost"], "localhost", "http")
    n.say("outline", (("en", "de", "fr", sections[0]), ("/en", "/de", "/fr"), ("3 locales",),
        ("en", "de", "fr", "keys")), '"fr"',
          derived=True)
    n.say("total", w.total(len(sections), "sections", "keys", "objects"), "sections", derived=True)
    many = sum(len(one) for one in data["en"].values())
    n.say("total", w.total(many, "keys", "messages", "texts", "strings", "en"), '"en"', derived=True)
    return n.parts(json.dumps(data, indent=2, ensure_ascii=False))
