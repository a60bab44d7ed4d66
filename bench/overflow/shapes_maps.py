"""Answers that are JSON objects without one list that they are about: a graph of packages, a map of services."""

# ruff: noqa: S608  (these queries are questions with known values in them; nothing here runs them)

import json
import random
from collections import Counter
from typing import Any, Final

from bench.overflow.figures import differ, leaders, mean, middle, rows, settled, total
from bench.overflow.question import Question, shape
from bench.overflow.words import things

LICENSES: Final = ("MIT", "Apache-2.0", "BSD-3-Clause", "ISC", "MPL-2.0")


@shape("dependencies")
@settled
def dependencies(rng: random.Random) -> tuple[str, list[Question]]:
    """The graph of the packages of a project: nodes and edges, printed with indent 2."""
    nodes: list[dict[str, Any]] = []
    for name in things(rng, 360):
        version = f"{rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(12)}"
        nodes.append(
            {
                "id": f"{name}@{version}",
                "name": name,
                "version": version,
                "license": rng.choices(LICENSES, (50, 20, 12, 12, 6))[0],
                "size_kb": rng.randrange(4, 2400),
                "direct": rng.random() < 0.15,
                "deprecated": False,
            }
        )
    odd = nodes[middle(rng, 360)]
    odd["license"] = "AGPL-3.0-only"
    for node in rng.sample(nodes, 7):
        node["deprecated"] = True
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < 1250:
        source, target = rng.randrange(360), int(360 * rng.random() ** 2.2)
        if source != target:
            pairs.add((source, target))
    edges = [
        {
            "source": nodes[source]["id"],
            "target": nodes[target]["id"],
            "kind": rng.choices(("runtime", "dev", "peer", "optional"), (60, 25, 10, 5))[0],
            "range": f"^{nodes[target]['version']}",
        }
        for source, target in sorted(pairs)
    ]
    text = json.dumps({"project": "shop-web", "lockfile": 3, "nodes": nodes, "edges": edges}, indent=2)

    asked = nodes[rng.randrange(80, 280)]
    wanted = Counter(edge["target"] for edge in edges)
    used = rng.choice([node["id"] for node in nodes[40:] if 4 <= wanted[node["id"]] <= 9])
    sizes = [total(node["size_kb"] for node in nodes if node["direct"] is direct) for direct in (True, False)]
    averages = [
        (license_, mean(node["size_kb"] for node in nodes if node["license"] == license_))
        for license_ in ("MIT", "Apache-2.0")
    ]
    differ(*(average for _, average in averages))
    kinds = Counter(edge["kind"] for edge in edges)
    return text, [
        Question(
            "lookup",
            f"Which version of {asked['name']} do we use, and under which licence?",
            rows([(asked["version"], asked["license"])]),
            (f"SELECT version, license FROM nodes WHERE name = '{asked['name']}'",),
            (rf"/name\W+{asked['name']}/", asked["name"]),
            (f'-n -A 5 \'"name": "{asked["name"]}"\'',),
        ),
        Question(
            "needle",
            "Is there a package whose licence could oblige us to publish our own source? Which, and what is the licence?",
            rows([(odd["name"], odd["license"])]),
            (
                "SELECT name, license FROM nodes WHERE license LIKE '%GPL%'",
                (
                    "SELECT name, license FROM nodes WHERE license IN "
                    "(SELECT license FROM nodes GROUP BY 1 HAVING count(*) < 5)"
                ),
            ),
            ("GPL", "/(?i)copyleft|GPL|SSPL/"),
            ("-n -B 4 'GPL'",),
        ),
        Question(
            "count",
            "How many packages are there under each licence?",
            rows(Counter(node["license"] for node in nodes).most_common()),
            ("SELECT license, count(*) AS packages FROM nodes GROUP BY license ORDER BY 2 DESC",),
            tuple(rf"/license\W+{license_}/" for license_ in LICENSES),
            (*(f'-c \'"license": "{license_}"\'' for license_ in LICENSES), '-n \'"license": ".*GPL\''),
        ),
        Question(
            "count",
            "How many edges are there of each kind of dependency?",
            rows(kinds.most_common()),
            ("SELECT kind, count(*) AS edges FROM edges GROUP BY kind ORDER BY 2 DESC",),
            tuple(rf"/kind\W+{kind}/" for kind in kinds),
            tuple(f'-c \'"kind": "{kind}"\'' for kind in kinds),
        ),
        Question(
            "sum",
            "How large are the direct dependencies together, and how large all others, in kB?",
            rows([size] for size in sizes),
            ("SELECT direct, sum(size_kb) AS kb FROM nodes GROUP BY direct",),
            (),
            ("-n -A 1 '\"size_kb\":'",),
        ),
        Question(
            "top",
            "Which five packages do most others depend on, and how many?",
            rows(leaders(wanted, 5)),
            ("SELECT target, count(*) AS dependents FROM edges GROUP BY target ORDER BY 2 DESC LIMIT 5",),
            (),
            ("-oh '\"target\": .*'",),
        ),
        Question(
            "compare",
            "Are packages under MIT smaller on average than those under Apache-2.0? Both in kB, to two decimals.",
            rows(averages),
            (
                (
                    "SELECT license, round(avg(size_kb), 2) AS kb FROM nodes "
                    "WHERE license IN ('MIT', 'Apache-2.0') GROUP BY license"
                ),
            ),
            (),
            ('-n -A 1 -E \'"license": "(MIT|Apache-2.0)"\'',),
        ),
        Question(
            "list",
            f"Which packages depend on {used}? Give their ids.",
            rows([edge["source"]] for edge in edges if edge["target"] == used),
            (f"SELECT source FROM edges WHERE target = '{used}'",),
            (rf"/target\W+{used}/", used),
            (f'-n -B 1 \'"target": "{used}"\'',),
        ),
        Question(
            "list",
            "Which packages are deprecated?",
            rows([node["id"]] for node in nodes if node["deprecated"]),
            ("SELECT id FROM nodes WHERE deprecated", "SELECT id FROM nodes WHERE deprecated = 1"),
            (r"/deprecated\W+true/",),
            ("-n -B 6 '\"deprecated\": true'",),
        ),
    ]


STORES: Final = ("kafka", "postgres", "redis", "minio")
TEAMS: Final = ("atlas", "borealis", "cobalt", "dune", "ember")


def _service(rng: random.Random, name: str, port: int) -> dict[str, Any]:
    interval = f"{rng.choice((10, 15, 30))}s"
    stores = sorted(rng.sample(STORES, rng.randint(0, 3)))
    waits = {"condition": rng.choice(("service_started", "service_healthy")), "required": True}
    return {
        "command": ["serve", "--port", str(port % 1000 + 8000)],
        **({"depends_on": dict.fromkeys(stores, waits)} if stores else {}),
        "deploy": {
            "replicas": rng.choices((1, 2, 3, 4, 6), (30, 30, 20, 12, 8))[0],
            "resources": {
                "limits": {
                    "cpus": rng.choice((0.25, 0.5, 1.5)),
                    "memory": str(rng.randrange(96, 3000) * 1_048_576),
                }
            },
        },
        "environment": {
            "DATABASE_POOL": str(rng.randrange(2, 40)),
            "FEATURE_SET": rng.choice(("stable", "stable", "beta")),
            "LOG_LEVEL": rng.choice(("info", "info", "warn", "error")),
            "METRICS_ADDR": f"0.0.0.0:{port + 10_000}",
        },
        "healthcheck": {
            "test": ["CMD", "/bin/probe", "--deep"],
            "timeout": "3s",
            "interval": interval,
            "retries": 3,
        },
        "image": f"registry.example.com/shop/{name}:{rng.randrange(1, 9)}.{rng.randrange(30)}",
        "labels": {"team": rng.choices(TEAMS, (5, 4, 3, 2, 2))[0], "tier": rng.choice(("front", "back"))},
        "networks": {"default": None},
        "ports": [{"mode": "ingress", "target": 8080, "published": str(port), "protocol": "tcp"}],
        "restart": rng.choices(("unless-stopped", "always", "on-failure"), (6, 3, 1))[0],
    }


@shape("services")
@settled
def services(rng: random.Random) -> tuple[str, list[Question]]:
    """What `docker compose config --format json` prints: a map of services by name, with indent 2."""
    names = sorted(things(rng, 150))
    everything = {name: _service(rng, name, 20_000 + place * 7) for place, name in enumerate(names)}
    odd = names[middle(rng, 150)]
    everything[odd]["privileged"] = True
    everything[odd] = dict(sorted(everything[odd].items()))
    for name in rng.sample(names, 8):
        everything[name]["environment"]["LOG_LEVEL"] = "debug"
    text = json.dumps(
        {
            "name": "shop",
            "networks": {"default": {"name": "shop_default", "ipam": {}}},
            "services": everything,
        },
        indent=2,
    )

    asked, other = rng.sample(names[30:120], 2)
    pool, addr = (everything[other]["environment"][key] for key in ("DATABASE_POOL", "METRICS_ADDR"))
    members = {
        team: [each for each in everything.values() if each["labels"]["team"] == team] for team in TEAMS
    }
    replicas = {team: [each["deploy"]["replicas"] for each in group] for team, group in members.items()}
    memory = {name: int(each["deploy"]["resources"]["limits"]["memory"]) for name, each in everything.items()}
    needed = Counter(store for each in everything.values() for store in each.get("depends_on", {}))
    restarts = Counter(each["restart"] for each in everything.values())
    averages = [(team, mean(replicas[team])) for team in ("atlas", "borealis")]
    differ(*(average for _, average in averages))
    return text, [
        Question(
            "lookup",
            f"Which image does {asked} run, and what is its restart policy?",
            rows([(everything[asked]["image"], everything[asked]["restart"])]),
            (
                f"SELECT image, restart FROM t WHERE key = '{asked}'",
                f"SELECT image, restart FROM services WHERE key = '{asked}'",
            ),
            (asked,),
            (f"-n -A 75 '\"{asked}\": {{'",),
        ),
        Question(
            "lookup",
            f"How large is the database pool of {other}, and where does it serve its metrics?",
            rows([(pool, addr)]),
            (
                f"SELECT environment.DATABASE_POOL, environment.METRICS_ADDR FROM t WHERE key = '{other}'",
                f"SELECT environment.DATABASE_POOL, environment.METRICS_ADDR FROM services WHERE key = '{other}'",
            ),
            (other,),
            (f"-n -A 45 '\"{other}\": {{'",),
        ),
        Question(
            "needle",
            "Does a service have more rights on its host than a container should have? Which one, and what is its image?",
            rows([(odd, everything[odd]["image"])]),
            (
                "SELECT key, image, privileged FROM t WHERE privileged",
                "SELECT key, image FROM t WHERE privileged IS NOT NULL OR cap_add IS NOT NULL",
            ),
            ("/(?i)privileged|cap_add|root/",),
            ('-n -i -B 20 -E \'privileged|cap_add|"user": "root\'',),
        ),
        Question(
            "count",
            "How many services have each restart policy?",
            rows(restarts.most_common()),
            (
                "SELECT restart, count(*) AS services FROM t GROUP BY restart",
                "SELECT restart, count(*) AS services FROM services GROUP BY restart",
            ),
            tuple(rf"/restart\W+{policy}/" for policy in restarts),
            tuple(f'-c \'"restart": "{policy}"\'' for policy in restarts),
        ),
        Question(
            "count",
            "How many services depend on kafka, and how many on redis?",
            rows((store, needed[store]) for store in ("kafka", "redis")),
            (
                (
                    "SELECT 'kafka' AS store, count(*) AS services FROM t WHERE depends_on.kafka.condition IS NOT NULL UNION ALL "
                    "SELECT 'redis', count(*) FROM t WHERE depends_on.redis.condition IS NOT NULL"
                ),
                (
                    "SELECT 'kafka' AS store, count(*) AS services FROM t WHERE depends_on LIKE '%\"kafka\"%' UNION ALL "
                    "SELECT 'redis', count(*) FROM t WHERE depends_on LIKE '%\"redis\"%'"
                ),
            ),
            ("kafka", "redis"),
            ("-c '\"kafka\": {'", "-c '\"redis\": {'"),
        ),
        Question(
            "sum",
            "How many replicas does each team run in total?",
            rows((team, total(counts)) for team, counts in replicas.items()),
            (
                "SELECT labels.team, sum(deploy.replicas) AS replicas FROM t GROUP BY 1",
                "SELECT labels.team, sum(deploy.replicas) AS replicas FROM services GROUP BY 1",
            ),
            (),
            ("-n -E '\"(team|replicas)\":'",),
        ),
        Question(
            "top",
            "Which three services may use the most memory each, and how many bytes?",
            rows(leaders(memory, 3)),
            (
                (
                    "SELECT key, deploy.resources.limits.memory FROM t "
                    "ORDER BY CAST(deploy.resources.limits.memory AS INTEGER) DESC LIMIT 3"
                ),
                "SELECT key, number(deploy.resources.limits.memory) AS bytes FROM services ORDER BY 2 DESC LIMIT 3",
            ),
            (r"/memory\W+3\d{9}\b/",),
            ('-n -B 20 -E \'"memory": "3[0-9]{9}"\'',),
        ),
        Question(
            "compare",
            "Does team atlas run more replicas per service than borealis? The averages of both, to two decimals.",
            rows(averages),
            (
                (
                    "SELECT labels.team, round(avg(deploy.replicas), 2) AS average FROM t "
                    "WHERE labels.team IN ('atlas', 'borealis') GROUP BY 1"
                ),
                "SELECT labels.team, round(avg(deploy.replicas), 2) AS average FROM services GROUP BY 1",
            ),
            (),
            ("-n -E '\"(team|replicas)\":'",),
        ),
        Question(
            "list",
            "Which services log at level debug? All their names.",
            rows([name] for name, each in everything.items() if each["environment"]["LOG_LEVEL"] == "debug"),
            (
                "SELECT key FROM t WHERE environment.LOG_LEVEL = 'debug'",
                "SELECT key FROM services WHERE environment.LOG_LEVEL = 'debug'",
            ),
            (r"/LOG_LEVEL\W+debug/", "debug"),
            ('-n -A 14 \'"LOG_LEVEL": "debug"\'',),
        ),
    ]
