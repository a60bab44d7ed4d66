"""Objects, maps of like objects, and lists inside lists."""

# ruff: noqa: SIM905

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Items, Notes
from bench.fidelity.planted import Parts, kind


def _leaf(word: str) -> str:
    """Ask for the places of a value."""
    return f"SELECT path, value FROM leaf WHERE value LIKE {w.quoted(f'%{word}%')}"  # noqa: S608


def _under(end: str) -> str:
    """Ask for the values of the places that hold a name."""
    return f"SELECT path, value FROM leaf WHERE path LIKE {w.quoted(f'%{end}%')}"  # noqa: S608


class _Map(Notes):
    """Facts about the members of one map of a document."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base

    def one(
        self, what: str, key: str, telling: list, path: str, *searches: str, hidden: str = "", sql: str = ""
    ) -> None:
        """Add a telling value with the key of its member."""
        escaped = key.replace("~", "~0").replace("/", "~1")
        evidence = w.pairs(telling, dict.fromkeys((key, escaped)))
        self.say(
            what, evidence, *searches, pointer=f"{self.base}/{escaped}{path}", hidden=hidden, sql=sql or ()
        )

    def lost(self, key: str, field: str, path: str = "", sql: str = "") -> None:
        """Add a field that one member lacks."""
        escaped = key.replace("~", "~0").replace("/", "~1")
        evidence = w.gone(dict.fromkeys((key, escaped)), field)
        self.say(
            "missing field",
            evidence,
            field,
            pointer=f"{self.base}/{escaped}{path}",
            sql=sql or (),
            derived=True,
        )


@kind("vault_policies", "nested")
def vault_policies(rng: random.Random) -> Parts:
    """An export of all ACL policies of a Vault, parsed to JSON: a map of policies with their paths."""
    size = rng.randint(84, 92)
    names = w.distinct(
        rng,
        size,
        lambda r: f"{r.choice(w.TEAMS)}-{r.choice(('read', 'write', 'deploy', 'admin'))}-{r.randint(1, 9)}",
    )
    policies: dict[str, dict] = {}
    day = datetime(2025, 1, rng.randint(3, 28), tzinfo=UTC)
    for name in names:
        team, role, _ = name.split("-")
        paths: dict[str, dict] = {}
        for _ in range(rng.randint(5, 8)):
            kind_ = rng.choice(("data", "metadata"))
            caps = ["read", "list"] if role == "read" else ["create", "read", "update", "list"]
            paths[f"secret/{kind_}/{team}/{w.two(rng)}/*"] = {"capabilities": caps}
        paths[f"database/creds/{team}-{role}"] = {
            "capabilities": ["read"],
            "max_wrapping_ttl": f"{rng.choice((5, 10, 15))}m",
        }
        changed = day + timedelta(days=rng.randint(0, 120), seconds=rng.randint(0, 80_000))
        policies[name] = {
            "id": w.uuid(rng),
            "type": "acl",
            "version": rng.randint(1, 9),
            "modified": f"{changed:%Y-%m-%dT%H:%M:%SZ}",
            "modified_by": f"{rng.choice(w.GIVEN).lower()}@example.org",
            "attached_entities": rng.randint(1, 40),
            "rules": {"path": paths},
        }
    spots = [names[k] for k in w.spots(rng, size, 13, apart=3)]
    star, sudo, typo, deny, empty, ttl, crowd, old, leak, twin, anon, sentinel, loose = spots

    def paths_of(name: str) -> dict[str, dict]:
        return policies[name]["rules"]["path"]

    paths_of(star)["*"] = {"capabilities": ["create", "read", "update", "delete", "list"]}
    paths_of(sudo)["sys/seal"] = {"capabilities": ["update", "sudo"]}
    wrong = next(iter(paths_of(typo)))
    paths_of(typo)[wrong]["capabilities"] = ["raed"]
    denied = f"secret/data/{deny.split('-', maxsplit=1)[0]}/payroll/*"
    paths_of(deny)[denied] = {"capabilities": ["deny"]}
    policies[empty]["rules"]["path"] = {}
    last = list(paths_of(ttl))[-1]
    hours = rng.randint(5000, 9800)
    paths_of(ttl)[last]["max_wrapping_ttl"] = f"{hours}h"
    crowded = rng.randint(11_000, 28_000)
    policies[crowd]["attached_entities"] = crowded
    past = f"2017-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    policies[old]["modified"] = f"{past}T02:03:04Z"
    secret = "hvs." + w.alnum(rng, 28)
    policies[leak]["comment"] = f"test it with the token {secret}"
    other = names[names.index(twin) - 1]
    policies[twin]["id"] = policies[other]["id"]
    del policies[anon]["modified_by"]
    policies[sentinel].update(type="egp", enforcement_level="advisory")
    first = next(iter(paths_of(loose)))
    paths_of(loose)[first]["denied_parameters"] = {"break_glass": ["true"]}
    keys = [*names]
    ghost = f"{rng.choice(w.TEAMS)}-emergency-0"
    keys.insert(rng.randint(20, 60), ghost)
    n = _Map("/data/policies")
    get = "SELECT key, {0} FROM t WHERE {1}".format
    one = n.one
    one(
        "error",
        star,
        ['"*"', "path *", "path/*", "`*`", "all paths", "delete"],
        "/rules/path/*",
        '"*"',
        "delete",
        sql=_under("path/*"),
    )
    one(
        "rare value",
        sudo,
        ["sudo", "sys/seal"],
        "/rules/path/sys~1seal",
        "sudo",
        "sys/",
        sql=_leaf("sudo"),
    )
    one(
        "error",
        typo,
        ["raed"],
        "/rules",
        "raed",
        "capabilities",
        sql=_leaf("raed"),
    )
    one(
        "rare value",
        deny,
        ["deny", "payroll"],
        "/rules",
        "deny",
        '"deny"',
        sql=_leaf("deny"),
    )
    n.say(
        "missing section",
        (*w.gone([empty], "path", "paths", "rules"), (empty, "{}"), (empty, "0 paths")),
        '"path": {}',
        "path",
        pointer=f"/data/policies/{empty}/rules/path",
        sql=get("rules", "rules LIKE '%{}%'"),
        derived=True,
    )
    one(
        "outlier",
        ttl,
        [f"{hours}h", hours],
        "/rules",
        "max_wrapping_ttl",
        f"{hours}h",
        "/\\d{4,}h/",
        sql=_leaf(f"{hours}h"),
    )
    asked = "SELECT key, attached_entities FROM t ORDER BY 2 DESC LIMIT 2"
    one(
        "outlier", crowd, w.spell(crowded), "/attached_entities", "attached_entities", str(crowded), sql=asked
    )
    asked = "SELECT key, modified FROM t ORDER BY modified LIMIT 2"
    one("time jump", old, [past, past[:4]], "/modified", "2017", "modified", sql=asked)
    told = ["comment", "test it with", "token", "hvs."]
    asked = "SELECT key, 'comment' AS place, length(comment) AS chars FROM t WHERE comment IS NOT NULL"
    one("secret", leak, told, "/comment", "comment", "hvs.", hidden=secret, sql=asked)
    ident = policies[twin]["id"]
    asked = "SELECT id, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1"
    n.say(
        "duplicate",
        w.same(ident, twin, other),
        ident,
        "id",
        pointer=f"/data/policies/{twin}/id",
        sql=asked,
        derived=True,
    )
    n.lost(anon, "modified_by", sql=get("modified_by", "modified_by IS NULL"))
    one(
        "rare value",
        sentinel,
        ["egp", "advisory", "enforcement_level"],
        "/type",
        "egp",
        "type",
        sql=get("type", "type <> 'acl'"),
    )
    one(
        "rare value",
        loose,
        ["denied_parameters", "break_glass"],
        "/rules",
        "denied_parameters",
        sql=_under("break_glass"),
    )
    n.say(
        "contradiction",
        (
            *((ghost, word) for word in (*w.GONE, "not defined", "keys", "contradict", "but", "/data/keys")),
            ("keys", str(len(keys)), str(size), "polic"),
        ),
        ghost,
        "keys",
        pointer=f"/data/keys/{keys.index(ghost)}",
        sql=w.find(ghost).replace("n, text", "n, text, 'keys' AS place", 1),
    )
    n.tally(
        size,
        ["policies", "data.policies", "/data/policies", "rows", "items"],
        "policies",
        sql="SELECT count(*) AS policies FROM t",
    )
    total = sum(len(paths_of(name)) for name in names)
    n.tally(
        total,
        ["paths", "path", "capabilities", "rules"],
        "capabilities",
        sql=w.how_many("capabilities", '"capabilities"'),
    )
    body = {"request_id": w.uuid(rng), "lease_id": "", "renewable": False, "lease_duration": 0}
    return n.parts(
        json.dumps({**body, "data": {"keys": keys, "policies": policies}, "warnings": None}, indent=2)
    )


@kind("npm_registry", "nested")
def npm_registry(rng: random.Random) -> Parts:
    """The registry's document of one package: a map of versions, and their times."""
    package, who = f"{rng.choice(w.PLAIN)}-{rng.choice(w.THINGS)}", w.people(rng, 4)
    host, depends = "https://registry.example.org", rng.sample(w.THINGS, 6)
    names: list[str] = []
    major, minor, patch = 1, 0, 0
    size = rng.randint(76, 84)
    while len(names) < size:
        names.append(f"{major}.{minor}.{patch}")
        step = rng.random()
        if step < 0.05 and minor > 1:
            major, minor, patch = major + 1, 0, 0
        elif step < 0.4:
            minor, patch = minor + 1, 0
        else:
            patch += 1
    clock = w.Clock(rng, datetime(2020, rng.randint(1, 9), rng.randint(1, 25), 9), 400_000, 2_600_000)
    versions: dict[str, dict] = {}
    time: dict[str, str] = {}
    maintainers = [
        {"name": one.split()[0].lower(), "email": f"{w.login(one)}@example.org"} for one in who[:3]
    ]
    for k, name in enumerate(names):
        now, weight = clock.tick(), 41_000 + 700 * k
        time[name] = f"{now:%Y-%m-%dT%H:%M:%S}.{rng.randint(0, 999):03d}Z"
        versions[name] = {
            "name": package,
            "version": name,
            "description": f"A {rng.choice(w.PLAIN)} {package.split('-')[1]} for node",
            "main": "dist/index.js",
            "license": "MIT",
            "repository": {"type": "git", "url": f"git+https://github.com/acme/{package}.git"},
            "scripts": {"build": "tsc -p .", "test": "node --test"},
            "dependencies": {
                f"{one}-kit": f"^{rng.randint(1, 3)}.{rng.randint(0, 9)}.0" for one in depends[: 3 + k // 30]
            },
            "engines": {"node": ">=14" if k < size // 2 else ">=18"},
            "gitHead": w.hexes(rng, 40),
            "_id": f"{package}@{name}",
            "_nodeVersion": f"{14 + k // 20 * 2}.{rng.randint(0, 19)}.0",
            "_npmUser": maintainers[k * 2 % 3],
            "dist": {
                "integrity": f"sha512-{w.alnum(rng, 86)}==",
                "shasum": w.hexes(rng, 40),
                "tarball": f"{host}/{package}/-/{package}-{name}.tgz",
                "fileCount": rng.randint(31, 39),
                "unpackedSize": weight + rng.randint(0, 900),
            },
        }
    spots = [names[k] for k in w.spots(rng, size, 13, apart=3)]
    dead, hook, stranger, bare, big, free, git, mirror, twin, engine, back, lost, leak = spots
    versions[dead]["deprecated"] = "Data loss when two writers share a file, use a later version"
    versions[hook]["scripts"]["postinstall"] = "node ./dist/collect.js --silent"
    versions[stranger]["_npmUser"] = {"name": "qz7-release", "email": "qz7@mail-drop.example"}
    del versions[bare]["dist"]["integrity"]
    heavy = rng.randint(61_000_000, 98_000_000)
    versions[big]["dist"]["unpackedSize"] = heavy
    versions[free]["license"] = "BUSL-1.1"
    versions[git]["dependencies"]["flat-stream-map"] = "git+ssh://git@gitlab.example/tmp/flat.git"
    versions[mirror]["dist"]["tarball"] = f"http://cdn-npm.example/{package}-{mirror}.tgz"
    other = names[names.index(twin) - 1]
    versions[twin]["dist"]["shasum"] = versions[other]["dist"]["shasum"]
    versions[engine]["engines"]["node"] = ">=24.1 <24.3"
    early = f"2011-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}T05:06:07.008Z"
    time[back] = early
    del versions[lost]
    secret = "npm_" + w.alnum(rng, 36)
    versions[leak]["publishConfig"] = {"registry": host, "_authToken": secret}
    tag = names[size // 3]
    while tag in spots:
        tag = names[names.index(tag) + 1]
    n = _Map("/versions")
    get = "SELECT key, {0} FROM t WHERE {1}".format
    one = n.one
    told = ["deprecated", "Data loss"]
    one(
        "rare status",
        dead,
        told,
        "/deprecated",
        "deprecated",
        sql=get("deprecated", "deprecated IS NOT NULL"),
    )
    told = ["postinstall", "collect.js"]
    one(
        "rare value",
        hook,
        told,
        "/scripts/postinstall",
        "postinstall",
        sql=get("scripts.postinstall", "scripts.postinstall IS NOT NULL"),
    )
    asked = "SELECT _npmUser.name, count(*) AS n, min(key) AS version FROM t GROUP BY 1"
    one("outlier", stranger, ["qz7"], "/_npmUser", "_npmUser", "qz7", sql=asked)
    n.lost(bare, "integrity", "/dist", sql=get("dist.integrity", "dist.integrity IS NULL"))
    asked = "SELECT key, dist.unpackedSize FROM t ORDER BY 2 DESC LIMIT 2"
    one("outlier", big, w.spell(heavy), "/dist/unpackedSize", "unpackedSize", str(heavy), sql=asked)
    one("rare value", free, ["BUSL"], "/license", "license", "BUSL", sql=get("license", "license <> 'MIT'"))
    told = ["flat-stream-map", "git+ssh"]
    asked = (
        'SELECT key, dependencies."flat-stream-map" FROM t WHERE dependencies."flat-stream-map" IS NOT NULL'
    )
    one("rare value", git, told, "/dependencies/flat-stream-map", "git+ssh", "flat-stream-map", sql=asked)
    told = ["cdn-npm.example"]
    one(
        "outlier",
        mirror,
        told,
        "/dist/tarball",
        "cdn-npm",
        "http://",
        sql=get("dist.tarball", "dist.tarball NOT LIKE 'https://registry%'"),
    )
    shasum = versions[twin]["dist"]["shasum"]
    n.say(
        "duplicate",
        (*w.same(shasum, twin, other), *w.pairs(["shasum"], [f"{twin} and {other}", f"{other} and {twin}"])),
        shasum,
        "shasum",
        pointer=f"/versions/{twin}/dist/shasum",
        sql="SELECT dist.shasum, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1",
        derived=True,
    )
    one(
        "rare value",
        engine,
        [">=24.1", "24.3"],
        "/engines/node",
        "engines",
        ">=24",
        sql=get("engines.node", "engines.node LIKE '%24%'"),
    )
    n.say(
        "time jump",
        w.pairs([early, early[:10], early[:10].replace("-", "/")], [back, f"/time/{back}"]),
        "2011",
        back,
        pointer=f"/time/{back}",
        sql=w.find("2011-"),
    )
    n.say(
        "gap",
        (
            *w.gap([lost], "time", "versions")[:10],
            *((lost, word) for word in (*w.GONE, "unpublished", "time")),
        ),
        lost,
        "time",
        pointer=f"/time/{lost}",
        sql=f"SELECT n, text, 'missing in versions' AS note FROM lines WHERE text LIKE '%\"{lost}\"%'",  # noqa: S608
        derived=True,
    )
    told = ["_authToken", "publishConfig", "auth token", "authtoken"]
    asked = get("'publishConfig' AS place", "publishConfig IS NOT NULL")
    one(
        "secret",
        leak,
        told,
        "/publishConfig/_authToken",
        "_authToken",
        "publishConfig",
        hidden=secret,
        sql=asked,
    )
    n.say(
        "contradiction",
        (("latest", tag), ("dist-tags", tag)),
        "latest",
        "dist-tags",
        pointer="/dist-tags/latest",
        sql=w.find('"latest"'),
    )
    n.tally(
        len(versions),
        ["versions", "/versions", "rows", "items", "releases"],
        "versions",
        sql="SELECT count(*) AS versions FROM t",
    )
    n.say(
        "range",
        w.span(names[0], names[-1]),
        names[-1],
        names[0],
        sql=get("license", f"key IN ('{names[0]}', '{names[-1]}')"),
        derived=True,
    )
    body: dict = {"_id": package, "_rev": f"{size}-{w.hexes(rng, 32)}", "name": package}
    body["dist-tags"] = {"latest": tag, "next": names[-1]}
    moments = {"created": time[names[0]], "modified": time[names[-1]], **time}
    more = {
        "versions": versions,
        "time": moments,
        "maintainers": maintainers,
        "readme": f"# {package}\n\n{w.paragraph(rng)}",
    }
    return n.parts(json.dumps({**body, **more}, indent=2))


VERBS = {"get": 40, "post": 25, "put": 12, "delete": 10, "patch": 13}


@kind("swagger_petshop", "nested")
def swagger_petshop(rng: random.Random) -> Parts:
    """An OpenAPI 3.1 description of the API of a chain of pet shops."""
    tags = rng.sample(w.TEAMS, 14)
    schemas: dict[str, dict] = {}
    for name in w.distinct(rng, 44, lambda r: w.camel(r.choice(w.PLAIN), r.choice(w.THINGS))):
        properties: dict[str, dict] = {"id": {"type": "string", "format": "uuid"}}
        for field in rng.sample(w.THINGS, rng.randint(4, 8)):
            properties[field] = rng.choice(
                (
                    {"type": "string", "maxLength": 120},
                    {"type": "integer", "minimum": 0},
                    {"type": ["string", "null"]},
                    {"type": "boolean"},
                )
            )
        schemas[name] = {
            "type": "object",
            "description": w.sentence(rng),
            "required": ["id"],
            "properties": properties,
        }
    names = list(schemas)
    used = names[:-1]
    paths: dict[str, dict] = {}
    every: list[tuple[str, str, dict]] = []
    idents: set[str] = set()
    for tag in tags:
        for thing in rng.sample(w.THINGS, 5):
            for path, verbs in (
                (f"/{tag}/{thing}s", ("get", "post")),
                (f"/{tag}/{thing}s/{{id}}", ("get", rng.choice(("put", "patch", "delete")))),
            ):
                item: dict = {}
                if "{id}" in path:
                    item["parameters"] = [
                        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
                    ]
                for verb in verbs:
                    ident = w.lower_camel(
                        {"get": "read"}.get(verb, verb), tag, thing, *(["one"] if "{id}" in path else [])
                    )
                    idents.add(ident)
                    ref = {"$ref": f"#/components/schemas/{used[len(every) % len(used)]}"}
                    operation: dict = {
                        "tags": [tag],
                        "operationId": ident,
                        "summary": w.heading(rng),
                        "security": [{"oauth": [f"{tag}:{'read' if verb == 'get' else 'write'}"]}],
                        "responses": {
                            "200": {"description": "Done", "content": {"application/json": {"schema": ref}}},
                            "404": {"$ref": "#/components/responses/NotFound"},
                        },
                    }
                    if verb == "get" and "{id}" not in path:
                        limit = {"type": "integer", "maximum": 100, "default": 20}
                        operation["parameters"] = [{"name": "limit", "in": "query", "schema": limit}]
                    item[verb] = operation
                    every.append((path, verb, operation))
                paths[path] = item
    lists = [k for k, one in enumerate(every) if "parameters" in one[2]]
    spots = w.spots(rng, len(every), 9, apart=5)
    old, open_, ghost, twin, nameless, leak, teapot, basic, vague = spots
    (wide,) = (lists[k] for k in w.spots(rng, len(lists), 1))
    while any(abs(wide - k) < 2 for k in spots):
        wide = lists[(lists.index(wide) + 1) % len(lists)]
    op = [one[2] for one in every]
    op[old].update(deprecated=True, description="Removed on 1 March 2026, use the events feed.")
    op[open_]["security"] = []
    missing = "LegacyRefund"
    op[ghost]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"] = (
        f"#/components/schemas/{missing}"
    )
    op[twin]["operationId"] = op[twin - 1]["operationId"]
    del op[nameless]["operationId"]
    secret = "pk_live_" + w.alnum(rng, 24)
    op[leak]["description"] = f"Try it with the key {secret}."
    op[teapot]["responses"]["418"] = {"description": "The kennel is closed"}
    op[basic]["security"] = [{"basicInternal": []}]
    del op[vague]["responses"]["200"]
    most = rng.randint(500_000, 990_000)
    op[wide]["parameters"][0]["schema"]["maximum"] = most
    unused = names[-1]
    odd = names[rng.randint(8, 38)]
    schemas[odd]["required"].append("vaccinatedAt")
    n = Notes()

    def one(
        what: str, k: int, telling: list, path: str, *searches: str, hidden: str = "", sql: str = ""
    ) -> None:
        place, verb, operation = every[k]
        escaped = place.replace("/", "~1")
        ident = [operation["operationId"]] if "operationId" in operation and k not in (twin, twin - 1) else []
        evidence = w.pairs(telling, [place, escaped, *ident])
        n.say(
            what, evidence, *searches, pointer=f"/paths/{escaped}/{verb}{path}", hidden=hidden, sql=sql or ()
        )

    one(
        "rare value",
        old,
        ["deprecated", "1 March 2026"],
        "/deprecated",
        "deprecated",
        "Removed on",
        sql=_leaf("Removed on"),
    )
    told = [
        "security: []",
        '"security": []',
        "no security",
        "without security",
        "no auth",
        "unauthenticated",
        "security empty",
        "empty security",
        "security [] ",
    ]
    one("rare value", open_, told, "/security", '"security": []', "security")
    one("error", ghost, [missing], "/responses", missing, "/schemas/", sql=_leaf(missing))
    place, verb, operation = every[twin]
    asked = "SELECT text, count(*) AS duplicates FROM lines WHERE text LIKE '%operationId%' GROUP BY 1 HAVING duplicates > 1"
    where = f"/paths/{place.replace('/', '~1')}/{verb}/operationId"
    n.say(
        "duplicate",
        w.same(operation["operationId"]),
        operation["operationId"],
        "operationId",
        pointer=where,
        sql=asked,
        derived=True,
    )
    place, verb, _ = every[nameless]
    where = place.replace("/", "~1")
    n.say(
        "missing field",
        w.gone([place, where], "operationId"),
        "operationId",
        pointer=f"/paths/{where}/{verb}",
        derived=True,
        sql="SELECT key, get.operationId, post.operationId FROM t WHERE get.operationId IS NULL OR "
        "(key NOT LIKE '%{id}' AND post.operationId IS NULL)",
    )
    told = ["Try it with", "with the key", "pk_live", "live key", "api key", "secret"]
    one("secret", leak, told, "/description", "key ", "pk_live", hidden=secret)
    one("rare value", teapot, ["418", "kennel"], "/responses/418", "418", "kennel", sql=_leaf("kennel"))
    one("rare value", basic, ["basicInternal"], "/security", "basicInternal", sql=_under("basicInternal"))
    told = ["200", "only 404", "no success", "success response"]
    n.say(
        "missing field",
        (
            *((every[vague][0], told[0], word) for word in w.GONE),
            *((every[vague][0], text) for text in told[1:]),
            *((op[vague]["operationId"], text) for text in told[1:]),
            *((op[vague]["operationId"], "200", word) for word in w.GONE),
        ),
        "responses",
        '"200"',
        pointer=f"/paths/{every[vague][0].replace('/', '~1')}/{every[vague][1]}/responses",
        derived=True,
    )
    one(
        "outlier",
        wide,
        w.spell(most),
        "/parameters/0/schema/maximum",
        "maximum",
        str(most),
        sql=_leaf(str(most)),
    )
    n.say(
        "contradiction",
        (("vaccinatedAt", odd), ("vaccinatedAt", "required"), ("vaccinatedAt", "properties")),
        "vaccinatedAt",
        "required",
        pointer=f"/components/schemas/{odd}/required",
        sql=_leaf("vaccinatedAt"),
    )
    n.say(
        "rare value",
        (
            *w.pairs(
                [unused],
                [
                    "unused",
                    "never",
                    "no reference",
                    "not referenced",
                    "unreferenced",
                    "orphan",
                    "not used",
                    "0 references",
                ],
            ),
        ),
        unused,
        "components",
        pointer=f"/components/schemas/{unused}",
        derived=True,
    )
    server = "http://10.4.7.19:8080/v2"
    n.say(
        "rare value",
        ((server,), ("10.4.7.19", "server"), ("10.4.7.19", "http://")),
        "servers",
        "http://",
        pointer="/servers/1/url",
        sql=w.find("http://"),
    )
    n.tally(len(paths), ["paths", "/paths", "path items"], "paths", sql="SELECT count(*) AS paths FROM t")
    verbs = Counter(one[1] for one in every)
    n.tally(
        len(every),
        ["operations", "operationId", "endpoints"],
        "operationId",
        sql=w.how_many("operations", '"tags": ['),
    )
    n.tally(verbs["post"], ["post", "POST"], '"post"', sql=w.how_many("post", '/^   "post": [{]$/'))
    body = {
        "openapi": "3.1.0",
        "info": {"title": "Pet shops", "version": "4.2.0", "description": w.paragraph(rng)},
    }
    flow = {
        "clientCredentials": {
            "tokenUrl": "https://id.pets.example/token",
            "scopes": {f"{tag}:read": f"Read {tag}" for tag in tags},
        }
    }
    secure = {
        "oauth": {"type": "oauth2", "flows": flow},
        "basicInternal": {"type": "http", "scheme": "basic"},
    }
    absent = {"NotFound": {"description": "There is no such entry"}}
    parts = {"schemas": schemas, "responses": absent, "securitySchemes": secure}
    servers = [
        {"url": "https://api.pets.example/v2"},
        {"url": server, "description": "old machine in the cellar"},
    ]
    return n.parts(json.dumps({**body, "servers": servers, "paths": paths, "components": parts}, indent=1))


SENSORS = {
    "temperature": ("°C", 21.0, 1.4),
    "humidity": ("%", 48.0, 5.0),
    "power": ("W", 140.0, 30.0),
    "battery": ("%", 78.0, 7.0),
    "illuminance": ("lx", 210.0, 40.0),
}


@kind("home_assistant", "nested")
def home_assistant(rng: random.Random) -> Parts:
    """Home Assistant's `/api/states` with the last states of each entity beside its attributes."""
    size = rng.randint(102, 112)
    rooms = rng.sample(
        "kitchen hall attic cellar office bedroom bathroom garage garden nursery pantry studio porch workshop".split(),
        14,
    )
    base_time = datetime(2025, rng.randint(2, 9), rng.randint(2, 26), 18, tzinfo=UTC)
    items: list[dict] = []
    idents = w.distinct(
        rng,
        size,
        lambda r: f"{r.choice(rooms)}_{r.choice([*SENSORS, 'light', 'door', 'switch'])}_{r.randint(1, 9)}",
    )
    for ident in idents:
        room, what, k = ident.split("_")
        now = base_time - timedelta(seconds=rng.randint(5, 2900))
        attributes: dict = {"friendly_name": f"{room.capitalize()} {what} {k}"}
        states: list[str] = []
        if what in SENSORS:
            unit, middle, spread = SENSORS[what]
            domain = "sensor"
            states = [
                f"{w.near(rng, middle, spread, middle - 3 * spread, middle + 3 * spread):.1f}"
                for _ in range(6)
            ]
            attributes.update(state_class="measurement", unit_of_measurement=unit, device_class=what)
        else:
            domain = {"light": "light", "door": "binary_sensor", "switch": "switch"}[what]
            states = [rng.choice(("on", "off")) for _ in range(6)]
            attributes["device_class"] = {"light": "light", "door": "door", "switch": "outlet"}[what]
        past = [now - timedelta(minutes=10 * (6 - k), seconds=rng.randint(0, 200)) for k in range(6)]
        history = [
            {"state": state, "last_changed": f"{moment:%Y-%m-%dT%H:%M:%S}+00:00"}
            for state, moment in zip(states, past, strict=True)
        ]
        items.append(
            {
                "entity_id": f"{domain}.{ident}",
                "state": states[-1],
                "attributes": attributes,
                "last_changed": history[-1]["last_changed"],
                "last_updated": f"{now:%Y-%m-%dT%H:%M:%S}+00:00",
                "context": {"id": w.alnum(rng, 26).upper(), "parent_id": None, "user_id": None},
                "history": history,
            }
        )
    spots = w.spots(rng, size, 13, apart=3)
    dead, fuzzy, hot, low, lock, unit, stale, twin, bare, leak, flap, smoke, user = spots
    items[dead]["state"] = "unavailable"
    items[dead]["attributes"]["restored"] = True
    items[fuzzy]["state"] = "unknown"

    def put(k: int, entity: str, state: str, device: str, unit_: str = "", name: str = "") -> None:
        one = items[k]
        one.update(entity_id=entity, state=state)
        one["attributes"] = {
            "friendly_name": name or entity.split(".")[1].replace("_", " ").capitalize(),
            "device_class": device,
        }
        if unit_:
            one["attributes"].update(unit_of_measurement=unit_, state_class="measurement")
        for past in one["history"]:
            past["state"] = {"locked": "locked", "unlocked": "locked", "on": "off"}.get(state, past["state"])
        one["history"][-1]["state"] = state

    heat = f"{rng.uniform(71, 94):.1f}"
    put(hot, "sensor.fuse_box_temperature", heat, "temperature", "°C")
    put(low, "sensor.smoke_alarm_attic_battery", "2", "battery", "%")
    put(lock, "lock.front_door", "unlocked", "lock")
    fahrenheit = f"{rng.uniform(67, 72):.1f}"
    put(unit, "sensor.guest_room_temperature", fahrenheit, "temperature", "°F")
    put(smoke, "binary_sensor.smoke_cellar", "on", "smoke")
    for k in (hot, unit, low):
        value = float(items[k]["state"])
        for j, past in enumerate(items[k]["history"][:-1]):
            past["state"] = f"{value - (5 - j) * (0.4 if k != hot else 9.0):.1f}" if k != low else str(7 - j)
    since = f"2022-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    for past in items[stale]["history"]:
        past["last_changed"] = since + past["last_changed"][10:]
    for key in ("last_changed", "last_updated"):
        items[stale][key] = f"{since}T03:02:01+00:00"
    items[twin]["attributes"]["friendly_name"] = items[twin - 1]["attributes"]["friendly_name"]
    items[twin]["entity_id"] = items[twin - 1]["entity_id"]
    del items[bare]["attributes"]["device_class"]
    secret = w.hexes(rng, 40)
    items[leak]["attributes"]["entity_picture"] = f"/api/camera_proxy/camera.nursery?token={secret}"
    burst = rng.randint(61, 88)
    begin = base_time - timedelta(minutes=40)
    items[flap]["history"] = [
        {
            "state": ("on", "off")[k % 2],
            "last_changed": f"{begin + timedelta(seconds=2 * k):%Y-%m-%dT%H:%M:%S}+00:00",
        }
        for k in range(burst)
    ]
    put_name = "switch.boiler_pump"
    items[flap].update(entity_id=put_name, state=("on", "off")[(burst - 1) % 2])
    items[flap]["attributes"] = {"friendly_name": "Boiler pump", "device_class": "outlet"}
    person = w.hexes(rng, 32)
    items[user]["context"]["user_id"] = person
    n = Items("", [[one["entity_id"], one["attributes"]["friendly_name"]] for one in items])
    get = "SELECT entity_id, {0} FROM t WHERE {1}".format
    asked = get("state", "state IN ('unavailable', 'unknown')")
    n.one("rare status", dead, ["unavailable"], "/state", "unavailable", "state", sql=asked)
    n.one("rare status", fuzzy, ["unknown"], "/state", "unknown", "state", sql=asked)
    asked = "SELECT entity_id, number(state) AS value FROM t WHERE attributes.device_class = '{}' ORDER BY 2 {} LIMIT 2".format
    n.one("outlier", hot, [heat], "/state", "temperature", heat, sql=asked("temperature", "DESC"))
    told = ["2%", "2 %", '"2"', "state 2", "state: 2", "state=2", "|2", "| 2", 'state": "2', ": 2", "at 2"]
    n.one("outlier", low, told, "/state", "smoke_alarm", "battery", sql=asked("battery", ""))
    n.one(
        "rare value",
        lock,
        ["unlocked"],
        "/state",
        "unlocked",
        "lock.",
        sql=get("state", "entity_id LIKE 'lock.%'"),
    )
    asked2 = (
        "SELECT entity_id, attributes.unit_of_measurement FROM t WHERE attributes.unit_of_measurement = '°F'"
    )
    n.one(
        "rare value",
        unit,
        ["°F", "fahrenheit"],
        "/attributes/unit_of_measurement",
        "°F",
        "unit_of_measurement",
        sql=asked2,
    )
    n.one(
        "error",
        smoke,
        ["smoke on", '"on"', "state on", "state: on", "state=on", "|on", "| on", "detected", "smoke: on"],
        "/state",
        "smoke",
        "binary_sensor.smoke",
        sql=get("state", "attributes.device_class = 'smoke'"),
    )
    n.one(
        "time jump",
        stale,
        [since, since[:7]],
        "/last_updated",
        "2022-",
        "last_changed",
        sql="SELECT entity_id, last_updated FROM t ORDER BY 2 LIMIT 2",
    )
    ident = items[twin]["entity_id"]
    n.say(
        "duplicate",
        (*w.same(ident), (f"/{twin - 1}", f"/{twin}", ident)),
        ident,
        "entity_id",
        pointer=f"/{twin}/entity_id",
        sql="SELECT entity_id, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1",
        derived=True,
    )
    n.lost(
        bare,
        "device_class",
        "/attributes",
        sql=get("attributes.device_class", "attributes.device_class IS NULL"),
    )
    told = ["entity_picture", "camera_proxy", "token"]
    n.one(
        "secret",
        leak,
        told,
        "/attributes/entity_picture",
        "token",
        "entity_picture",
        hidden=secret,
        sql=get("'entity_picture' AS place", "attributes.entity_picture IS NOT NULL"),
    )
    n.one(
        "outlier",
        flap,
        [burst, f"{burst} states", f"{burst} history"],
        "/history",
        "history",
        "boiler_pump",
        sql="SELECT t.entity_id, count(*) AS k FROM t JOIN history h ON h.parent = t.n GROUP BY 1 ORDER BY 2 DESC LIMIT 2",
    )
    n.one(
        "rare value",
        user,
        [person, person[:12], "user_id"],
        "/context/user_id",
        "user_id",
        person[:12],
        sql=get("context.user_id", "context.user_id IS NOT NULL"),
    )
    domains = Counter(one["entity_id"].split(".")[0] for one in items)
    asked2 = (
        "SELECT substr(entity_id, 1, instr(entity_id, '.') - 1) AS domain, count(*) AS n FROM t GROUP BY 1"
    )
    n.tally(domains["sensor"], ["sensor", "sensors", "sensor.*"], '/"sensor\\./', sql=asked2)
    n.tally(
        size,
        ["items", "entities", "states", "rows", "records", "entity_id"],
        "entity_id",
        sql="SELECT count(*) AS entities FROM t",
    )
    n.tally(
        sum(len(one["history"]) for one in items),
        ["history", "history entries"],
        "history",
        sql="SELECT count(*) AS history FROM history",
    )
    return n.parts(json.dumps(items, indent=2, ensure_ascii=False))
