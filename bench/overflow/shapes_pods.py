"""Answers about a cluster: what kubectl prints."""

# ruff: noqa: S608  (these queries are questions with known values in them; nothing here runs them)

import datetime
import json
import random
from collections import Counter
from typing import Any, Final

from bench.overflow.figures import differ, leaders, mean, rows, settled, total
from bench.overflow.question import Question, shape
from bench.overflow.words import token

APPS: Final = {
    "payments": ("ledger", "card-gateway", "payout"),
    "search": ("indexer", "query-api"),
    "storefront": ("web", "cart-api", "catalog"),
    "platform": ("mailer", "audit", "feature-flags"),
}
NODES: Final = tuple(f"node-{letter}{number}" for letter in "abc" for number in (1, 2))


def _time(moment: datetime.datetime) -> str:
    return f"{moment.isoformat(timespec='seconds')}Z"


def _container(rng: random.Random, name: str, image: str) -> dict[str, Any]:
    memory = rng.choice((128, 256, 384, 512, 768))
    return {
        "env": [
            {"name": "LOG_LEVEL", "value": rng.choice(("info", "warn"))},
            {"name": "REGION", "value": "eu-north-1"},
        ],
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "name": name,
        "ports": [{"containerPort": rng.choice((8080, 9000, 9090)), "name": "http", "protocol": "TCP"}],
        "resources": {
            "limits": {"cpu": "1", "memory": f"{memory}Mi"},
            "requests": {"cpu": f"{rng.choice((50, 100, 250))}m", "memory": f"{memory // 2}Mi"},
        },
    }


def _status(
    rng: random.Random, container: dict[str, Any], phase: str, start: datetime.datetime
) -> dict[str, Any]:
    restarts = rng.choices((0, 1, 2, 3, 4), (60, 20, 10, 6, 4))[0]
    ended = _time(start + datetime.timedelta(minutes=rng.randrange(5, 9000)))
    last = {"terminated": {"exitCode": 143, "finishedAt": ended, "reason": "Error"}} if restarts else {}
    if phase == "Running":
        state: dict[str, Any] = {"running": {"startedAt": ended if restarts else _time(start)}}
    else:
        failed = phase == "Failed"
        reason = "Error" if failed else "Completed"
        state = {"terminated": {"exitCode": int(failed), "finishedAt": ended, "reason": reason}}
    return {
        "containerID": f"containerd://{token(rng, 64)}",
        "image": container["image"],
        "lastState": last,
        "name": container["name"],
        "ready": phase == "Running",
        "restartCount": restarts,
        "started": phase == "Running",
        "state": state,
    }


def _pod(rng: random.Random, phase: str) -> dict[str, Any]:
    namespace = rng.choice(tuple(APPS))
    app = rng.choice(APPS[namespace])
    prefix = f"{app}-{token(rng, 9)}"
    start = datetime.datetime(2025, 4, 1) + datetime.timedelta(minutes=rng.randrange(20_000))
    tag = f"{rng.randrange(1, 6)}.{rng.randrange(20)}.{rng.randrange(10)}"
    containers = [_container(rng, app, f"registry.example.com/{namespace}/{app}:{tag}")]
    if rng.random() < 0.4:
        containers.append(_container(rng, "proxy", "registry.example.com/mesh/proxy:2.11.0"))
    status: dict[str, Any] = {
        "conditions": [
            {"lastTransitionTime": _time(start), "status": str(phase == "Running"), "type": "Ready"},
            {"lastTransitionTime": _time(start), "status": str(phase != "Pending"), "type": "PodScheduled"},
        ],
        "phase": phase,
        "qosClass": "Burstable",
    }
    spec: dict[str, Any] = {"containers": containers, "restartPolicy": "Always", "serviceAccountName": app}
    if phase != "Pending":
        spec["nodeName"] = rng.choice(NODES)
        status["containerStatuses"] = [_status(rng, container, phase, start) for container in containers]
        status["podIP"] = f"10.42.{rng.randrange(8)}.{rng.randrange(2, 250)}"
        status["startTime"] = _time(start)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "creationTimestamp": _time(start),
            "generateName": f"{prefix}-",
            "labels": {"app": app, "pod-template-hash": prefix[-9:]},
            "name": f"{prefix}-{''.join(rng.choices('bcdfghjklmnpqrstvwxz2456789', k=5))}",
            "namespace": namespace,
            "resourceVersion": str(rng.randrange(8_000_000, 9_000_000)),
            "uid": "-".join(token(rng, digits) for digits in (8, 4, 4, 4, 12)),
        },
        "spec": dict(sorted(spec.items())),
        "status": dict(sorted(status.items())),
    }


@shape("pods")
@settled
def pods(rng: random.Random) -> tuple[str, list[Question]]:
    """What `kubectl get pods -A -o json` prints, with indent 4."""
    phases = ["Pending"] * 7 + ["Failed"] * rng.randrange(4, 7) + ["Succeeded"] * rng.randrange(8, 13)
    phases += ["Running"] * (84 - len(phases))
    rng.shuffle(phases)
    items = [_pod(rng, phase) for phase in phases]
    running = [item for item in items if item["status"]["phase"] == "Running"]
    for item, restarts in zip(rng.sample(running, 6), (12, 15, 19, 23, 31, 44), strict=True):
        item["status"]["containerStatuses"][0]["restartCount"] = restarts
    odd = rng.choice([item for item in items[28:58] if item["status"]["phase"] == "Running"])
    killed = odd["status"]["containerStatuses"][0]
    killed["restartCount"] = max(killed["restartCount"], 6)
    ended = _time(datetime.datetime(2025, 4, 17, 3, 12, rng.randrange(60)))
    killed["lastState"] = {"terminated": {"exitCode": 137, "finishedAt": ended, "reason": "OOMKilled"}}
    listing = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    text = json.dumps(listing, indent=4)

    def restarts_of(item: dict[str, Any]) -> list[int]:
        return [status["restartCount"] for status in item["status"].get("containerStatuses", [])]

    asked, other = rng.sample(running[15:-15], 2)
    spaces = {space: [item for item in items if item["metadata"]["namespace"] == space] for space in APPS}
    averages = [
        (space, mean(count for item in spaces[space] for count in restarts_of(item)))
        for space in ("payments", "search")
    ]
    differ(*(average for _, average in averages))
    by_phase = Counter(phases)
    return text, [
        Question(
            "lookup",
            f"On which node does pod {asked['metadata']['name']} run, and what is its IP address?",
            rows([(asked["spec"]["nodeName"], asked["status"]["podIP"])]),
            (
                f"SELECT spec.nodeName, status.podIP FROM t WHERE metadata.name = '{asked['metadata']['name']}'",
            ),
            (asked["metadata"]["name"],),
            (f'-n -A 120 \'"name": "{asked["metadata"]["name"]}"\'',),
        ),
        Question(
            "lookup",
            f"Which image does the first container of pod {other['metadata']['name']} run, and what is its memory limit?",
            rows(
                [
                    (
                        other["spec"]["containers"][0]["image"],
                        other["spec"]["containers"][0]["resources"]["limits"]["memory"],
                    )
                ]
            ),
            (
                (
                    "SELECT image, resources.limits.memory FROM containers JOIN t ON containers.parent = t.n "
                    f"WHERE metadata.name = '{other['metadata']['name']}'"
                ),
                f"SELECT spec.containers FROM t WHERE metadata.name = '{other['metadata']['name']}'",
            ),
            (other["metadata"]["name"],),
            (f'-n -A 45 \'"name": "{other["metadata"]["name"]}"\'',),
        ),
        Question(
            "needle",
            "Was any container killed because it ran out of memory? Which pod, and when?",
            rows([(odd["metadata"]["name"], ended)]),
            (
                (
                    "SELECT metadata.name, lastState.terminated.finishedAt FROM t "
                    "JOIN containerStatuses ON containerStatuses.parent = t.n WHERE lastState.terminated.reason = 'OOMKilled'"
                ),
                "SELECT metadata.name, status.containerStatuses FROM t WHERE status.containerStatuses LIKE '%OOM%'",
            ),
            ("OOMKilled", "/(?i)out of memory|oom/"),
            ("-n -B 110 'OOMKilled'", "-n -i 'oom'"),
        ),
        Question(
            "count",
            "How many pods are in each phase?",
            rows(by_phase.most_common()),
            ("SELECT status.phase, count(*) AS pods FROM t GROUP BY 1",),
            tuple(rf"/phase\W+{phase}/" for phase in by_phase),
            tuple(f'-c \'"phase": "{phase}"\'' for phase in by_phase),
        ),
        Question(
            "sum",
            "How often did containers restart in total, per namespace?",
            rows(
                (space, total(count for item in members for count in restarts_of(item)))
                for space, members in spaces.items()
            ),
            (
                (
                    "SELECT metadata.namespace, sum(restartCount) AS restarts FROM t "
                    "JOIN containerStatuses ON containerStatuses.parent = t.n GROUP BY 1"
                ),
                (
                    "SELECT metadata.namespace, sum(json_extract(c.value, '$.restartCount')) AS restarts "
                    "FROM t, json_each(status.containerStatuses) AS c GROUP BY 1"
                ),
            ),
            (),
            ("-n -E '\"(namespace|restartCount)\":'",),
        ),
        Question(
            "top",
            "Which three pods restarted most often (all their containers together), and how often?",
            rows(leaders({item["metadata"]["name"]: sum(restarts_of(item)) for item in items}, 3)),
            (
                (
                    "SELECT metadata.name, sum(restartCount) AS restarts FROM t "
                    "JOIN containerStatuses ON containerStatuses.parent = t.n GROUP BY 1 ORDER BY 2 DESC LIMIT 3"
                ),
                (
                    "SELECT metadata.name, sum(json_extract(c.value, '$.restartCount')) AS restarts "
                    "FROM t, json_each(status.containerStatuses) AS c GROUP BY 1 ORDER BY 2 DESC LIMIT 3"
                ),
            ),
            (r"/restartCount\W+\d\d/",),
            ('-n -E \'"restartCount": [0-9]{2}|"generateName"\'',),
        ),
        Question(
            "compare",
            "Are containers in payments less stable than in search? The average restarts of a container, to two decimals.",
            rows(averages),
            (
                (
                    "SELECT metadata.namespace, round(avg(restartCount), 2) AS average FROM t "
                    "JOIN containerStatuses ON containerStatuses.parent = t.n "
                    "WHERE metadata.namespace IN ('payments', 'search') GROUP BY 1"
                ),
                (
                    "SELECT metadata.namespace, round(avg(json_extract(c.value, '$.restartCount')), 2) AS average "
                    "FROM t, json_each(status.containerStatuses) AS c GROUP BY 1"
                ),
            ),
            (),
            ("-n -E '\"(namespace|restartCount)\":'",),
        ),
        Question(
            "list",
            "Which pods are still pending? All their names.",
            rows([item["metadata"]["name"]] for item in items if item["status"]["phase"] == "Pending"),
            ("SELECT metadata.name FROM t WHERE status.phase = 'Pending'",),
            (r"/phase\W+Pending/", "Pending"),
            ('-n -B 75 \'"phase": "Pending"\'', '-n -E \'"phase": "Pending"|"generateName"\''),
        ),
    ]
