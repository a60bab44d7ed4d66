"""Objects, maps of like objects, nested lists and configuration as JSON."""

import json
import random
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_one.words import (
    NOUNS,
    SERVICES,
    aws_key,
    found,
    github_token,
    gone,
    hexes,
    ip_of,
    jwt,
    names_of,
    outline,
    person,
    secret,
    sentence,
    shown_raw,
    spots,
    stripe_key,
    token,
    tops,
    total,
    twice,
    uuid_of,
    weighted,
    zulu,
)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


@kind("kubectl-pods-json", "nested")
def kubectl_json(rng: random.Random) -> Parts:
    """`kubectl get pods -o json`: a List of Pod objects, indented by four."""
    n = rng.randint(64, 72)
    nodes = [f"node-{rng.choice('abc')}{number:02d}" for number in range(1, 9)]
    items: list[dict] = []
    for _ in range(n):
        app, started = rng.choice(SERVICES), zulu(
            datetime(2024, 9, 1) + timedelta(minutes=rng.randint(0, 20_000))
        )
        name = f"{app}-{hexes(rng, 9)}-{token(rng, 5, 'bcdfghjklmnpqrstvwxz2456789')}"
        space = rng.choices(("shop", "core", "edge"), (6, 4, 2))[0]
        env = [
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "REGION", "value": "eu-west-1"},
            {"name": "POOL_SIZE", "value": str(rng.randint(4, 16))},
        ]
        image = f"registry.example.com/{app}:{rng.randint(1, 4)}.{rng.randint(0, 30)}.{rng.randint(0, 9)}"
        items.append(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "creationTimestamp": started,
                    "labels": {"app": app, "pod-template-hash": hexes(rng, 9)},
                    "name": name,
                    "namespace": space,
                    "resourceVersion": str(rng.randint(8_000_000, 9_000_000)),
                    "uid": uuid_of(rng),
                },
                "spec": {
                    "containers": [
                        {
                            "env": env,
                            "image": image,
                            "imagePullPolicy": "IfNotPresent",
                            "name": app,
                            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                            "resources": {
                                "limits": {
                                    "cpu": rng.choice(("500m", "1")),
                                    "memory": rng.choice(("256Mi", "512Mi", "1Gi")),
                                },
                                "requests": {"cpu": "100m", "memory": "128Mi"},
                            },
                            "securityContext": {"allowPrivilegeEscalation": False, "runAsNonRoot": True},
                        }
                    ],
                    "dnsPolicy": "ClusterFirst",
                    "nodeName": rng.choices(nodes, (9, 7, 5, 4, 4, 3, 2, 2))[0],
                    "restartPolicy": "Always",
                    "serviceAccountName": app,
                    "terminationGracePeriodSeconds": 30,
                },
                "status": {
                    "conditions": [
                        {"lastTransitionTime": started, "status": "True", "type": sort}
                        for sort in ("Initialized", "Ready", "PodScheduled")
                    ],
                    "containerStatuses": [
                        {
                            "containerID": f"containerd://{hexes(rng, 64)}",
                            "image": image,
                            "lastState": {},
                            "name": app,
                            "ready": True,
                            "restartCount": rng.choice((0, 0, 0, 0, 1, 2)),
                            "started": True,
                            "state": {"running": {"startedAt": started}},
                        }
                    ],
                    "hostIP": ip_of(rng, "10.0."),
                    "phase": "Running",
                    "podIP": ip_of(rng, "10.1."),
                    "qosClass": "Burstable",
                    "startTime": started,
                },
            }
        )
    crash, oom, many, root, bare, leak, pending, host, wide, soon = spots(rng, n, 10, 0.04, 0.96, 4)
    inside = [item["spec"]["containers"][0] for item in items]
    states = [item["status"]["containerStatuses"][0] for item in items]
    states[crash] |= {
        "ready": False,
        "state": {
            "waiting": {"message": "back-off 5m0s restarting failed container", "reason": "CrashLoopBackOff"}
        },
    }
    states[oom]["lastState"] = {
        "terminated": {"exitCode": 137, "finishedAt": "2024-09-14T03:12:44Z", "reason": "OOMKilled"}
    }
    states[many]["restartCount"] = rng.randint(1900, 4800)
    inside[root]["securityContext"] = {
        "allowPrivilegeEscalation": True,
        "privileged": True,
        "runAsNonRoot": False,
    }
    del inside[bare]["resources"]
    key = stripe_key(rng)
    inside[leak]["env"].append({"name": "PAYMENT_KEY", "value": key})
    items[pending]["status"] = {
        "conditions": [
            {
                "lastTransitionTime": "2024-09-14T01:00:00Z",
                "message": "0/8 nodes are available: insufficient memory.",
                "reason": "Unschedulable",
                "status": "False",
                "type": "PodScheduled",
            }
        ],
        "phase": "Pending",
        "qosClass": "Burstable",
    }
    del items[pending]["spec"]["nodeName"]
    items[host]["spec"]["hostNetwork"] = True
    inside[wide]["resources"]["limits"]["memory"] = "192Gi"
    items[soon]["spec"]["terminationGracePeriodSeconds"] = 0
    names = [item["metadata"]["name"] for item in items]

    def at(
        what: str, number: int, inner: str, tells: list, searches: list[str], common: bool = False
    ) -> Fact:
        return found(
            what,
            [names[number]],
            tells,
            searches,
            pointer=f"/items/{number}{inner}",
            record=f"/items/{number}",
            common=common,
        )

    box, state = "/spec/containers/0", "/status/containerStatuses/0"
    facts = [
        at(
            "error",
            crash,
            state + "/state/waiting/reason",
            ["CrashLoopBackOff"],
            ["CrashLoopBackOff", "waiting"],
        ),
        at("error", oom, state + "/lastState/terminated/reason", ["OOMKilled"], ["OOMKilled", "terminated"]),
        at("outlier", many, state + "/restartCount", [str(states[many]["restartCount"])], ["restartCount"]),
        at("meaning", root, box + "/securityContext/privileged", ["privileged"], ["privileged"], True),
        gone([names[bare]], "resources", record=f"/items/{bare}"),
        secret(
            [names[leak]],
            ["PAYMENT_KEY", "sk_live"],
            key,
            ["KEY", "sk_live"],
            pointer=f"/items/{leak}{box}/env/3/value",
            record=f"/items/{leak}",
            context="PAYMENT_KEY",
        ),
        at(
            "rare value",
            pending,
            "/status/conditions/0/message",
            ["Unschedulable", "insufficient memory", "Pending"],
            ["Pending", "Unschedulable"],
        ),
        at("meaning", host, "/spec/hostNetwork", ["hostNetwork"], ["hostNetwork"]),
        at("outlier", wide, box + "/resources/limits/memory", ["192Gi"], ["memory", "limits"]),
        at(
            "outlier",
            soon,
            "/spec/terminationGracePeriodSeconds",
            [("terminationGracePeriodSeconds", "0")],
            ["terminationGracePeriodSeconds"],
            True,
        ),
        tops("namespace", [item["metadata"]["namespace"] for item in items]),
        tops("nodeName", [item["spec"].get("nodeName", "") for item in items]),
        total(n, ("items", "pods", "elements", "records"), ["items", "count"]),
    ]
    document = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    return json.dumps(document, indent=4), shown_raw(document, facts)


def _attribute(name: str, value: object) -> dict:
    form = "boolValue" if isinstance(value, bool) else "intValue" if isinstance(value, int) else "stringValue"
    return {"key": name, "value": {form: str(value) if form == "intValue" else value}}


@kind("otel-traces", "nested")
def otel_traces(rng: random.Random) -> Parts:
    """OTLP/JSON traces: resourceSpans, scopeSpans and spans."""
    services = rng.sample(SERVICES, 7)
    base = 1_718_000_000_000_000_000
    groups: list[dict] = []
    every: list[tuple[str, dict, str]] = []
    for one, service in enumerate(services):
        version = f"3.{rng.randint(1, 9)}.{rng.randint(0, 9)}"
        spans: list[dict] = []
        for two in range(rng.randint(24, 46)):
            start = base + (one * 60 + two) * 1_000_000_000 + rng.randint(0, 900_000_000)
            spans.append(
                {
                    "traceId": hexes(rng, 32),
                    "spanId": hexes(rng, 16),
                    "parentSpanId": hexes(rng, 16),
                    "name": f"{weighted(rng, GET=6, POST=3)} /{rng.choice(SERVICES)}/{rng.choice(NOUNS)}",
                    "kind": rng.choice((2, 2, 3)),
                    "startTimeUnixNano": str(start),
                    "endTimeUnixNano": str(start + int(rng.lognormvariate(3.4, 0.5) * 1_000_000)),
                    "attributes": [
                        _attribute(
                            "http.response.status_code", int(weighted(rng, **{"200": 90, "201": 8, "404": 4}))
                        ),
                        _attribute("server.address", f"{service}.internal"),
                        _attribute("thread.id", rng.randint(11, 60)),
                    ],
                    "status": {},
                }
            )
            every.append((f"/resourceSpans/{one}/scopeSpans/0/spans/{two}", spans[-1], service))
        groups.append(
            {
                "resource": {
                    "attributes": [
                        _attribute("service.name", service),
                        _attribute("service.version", version),
                        _attribute("deployment.environment", "production"),
                    ]
                },
                "scopeSpans": [
                    {"scope": {"name": "io.opentelemetry.http", "version": "2.4.0"}, "spans": spans}
                ],
            }
        )
    n = len(every)
    failed, raised, slow, turned, dup, leak, orphan, odd, busy = spots(rng, n, 9)
    span = [one for _, one, _ in every]
    place = [one for one, _, _ in every]
    span[failed]["status"] = {"code": 2, "message": "upstream closed the connection"}
    span[failed]["attributes"][0] = _attribute("http.response.status_code", 503)
    span[raised]["events"] = [
        {
            "timeUnixNano": span[raised]["endTimeUnixNano"],
            "name": "exception",
            "attributes": [
                _attribute("exception.type", "StaleLeaseError"),
                _attribute("exception.message", "lease 991 expired while writing"),
            ],
        }
    ]
    seconds = rng.randint(410, 780)
    span[slow]["endTimeUnixNano"] = str(int(span[slow]["startTimeUnixNano"]) + seconds * 1_000_000_000)
    span[turned]["endTimeUnixNano"] = str(int(span[turned]["startTimeUnixNano"]) - 5_000_000_000)
    taken = (failed, raised, slow, turned, dup, leak, orphan, odd, busy)
    source = rng.choice([at for at in range(5, n - 5) if abs(at - dup) > 30 and at not in taken])
    span[dup]["spanId"] = span[source]["spanId"]
    key = jwt(rng)
    span[leak]["attributes"].append(_attribute("http.request.header.authorization", f"Bearer {key}"))
    del span[orphan]["parentSpanId"]
    span[odd]["attributes"][0] = _attribute("http.response.status_code", "timeout")
    span[busy]["attributes"].append(_attribute("db.query.rows", rng.randint(7_000_000, 9_900_000)))
    groups[4]["resource"]["attributes"][2] = _attribute("deployment.environment", "staging")
    rows = span[busy]["attributes"][-1]["value"]["intValue"]

    def at(
        what: str, number: int, inner: str, tells: list, searches: list[str], common: bool = False
    ) -> Fact:
        one = span[number]
        return found(
            what,
            [one["spanId"], one["traceId"], one["name"] if not common else one["spanId"]],
            tells,
            searches,
            pointer=place[number] + inner,
            record=place[number],
            common=common,
        )

    odd_place = "/attributes/0/value/stringValue"
    crossed = at(
        "contradiction",
        turned,
        "/endTimeUnixNano",
        [
            (span[turned]["startTimeUnixNano"], span[turned]["endTimeUnixNano"]),
            ("end", "before start"),
            "-5 s",
            "-5000",
        ],
        ["endTimeUnixNano", "negative"],
    )
    ends = (span[turned]["startTimeUnixNano"], span[turned]["endTimeUnixNano"])
    crossed = replace(crossed, evidence=(*crossed.evidence, ends))
    facts = [
        at("error", failed, "/status/message", ["upstream closed"], ["status", "error", "503"]),
        at(
            "error",
            raised,
            "/events/0/attributes/1/value/stringValue",
            ["StaleLeaseError", "lease 991"],
            ["exception", "error"],
        ),
        at(
            "outlier",
            slow,
            "/endTimeUnixNano",
            [
                span[slow]["endTimeUnixNano"],
                f"{seconds} s",
                f"{seconds}s",
                f"{seconds}000 ms",
                f"{seconds}000",
            ],
            ["endTimeUnixNano", "duration"],
        ),
        crossed,
        twice(
            span[dup]["spanId"], "spanId", pointer=place[dup] + "/spanId", both=(place[dup], place[source])
        ),
        secret(
            [span[leak]["spanId"], span[leak]["traceId"]],
            ["authorization", "bearer", "jwt"],
            key,
            ["authorization", "Bearer"],
            pointer=place[leak] + "/attributes/3/value/stringValue",
            record=place[leak],
            context="header.authorization",
        ),
        gone([span[orphan]["spanId"], span[orphan]["traceId"]], "parentSpanId", record=place[orphan]),
        at("changed type", odd, odd_place, ["timeout"], ["status_code", "timeout"]),
        at("outlier", busy, "/attributes/3/value/intValue", [rows], ["db.query.rows", "rows"]),
        Fact(
            "rare value",
            (
                ("staging", services[4]),
                ("staging", "/resourceSpans/4"),
                ("staging", "deployment.environment", "production"),
            ),
            ("environment", "staging"),
            "/resourceSpans/4/resource/attributes/2/value/stringValue",
        ),
        Fact("total", ((str(n), "spans"),), ("spans", "count")),
        outline(services, ["service.name"]),
        tops("service", [one for _, _, one in every], ["service.name", services[0]]),
    ]
    document = {"resourceSpans": groups}
    return json.dumps(document, indent=2), shown_raw(document, facts)


_TYPES = (
    "aws_instance",
    "aws_s3_bucket",
    "aws_security_group",
    "aws_db_instance",
    "aws_iam_role",
    "aws_lambda_function",
)


def _values(rng: random.Random, sort: str, name: str) -> dict:
    shared = {
        "id": f"{name}-{hexes(rng, 8)}",
        "arn": f"arn:aws:{sort[4:].split('_')[0]}:eu-west-1:210987654321:{name}",
        "tags": {
            "Name": name,
            "Team": rng.choice(("orion", "maple", "quartz")),
            "CostCenter": str(rng.randint(400, 480)),
        },
    }
    return (
        shared
        | {
            "aws_instance": {
                "ami": "ami-0" + hexes(rng, 16),
                "instance_type": rng.choice(("t3.medium", "t3.large", "m6i.large")),
                "monitoring": True,
                "private_ip": ip_of(rng),
                "root_block_device": [
                    {"encrypted": True, "volume_size": rng.choice((20, 40, 80)), "volume_type": "gp3"}
                ],
            },
            "aws_s3_bucket": {
                "bucket": name,
                "acl": "private",
                "force_destroy": False,
                "versioning": [{"enabled": True, "mfa_delete": False}],
                "region": "eu-west-1",
            },
            "aws_security_group": {
                "name": name,
                "vpc_id": "vpc-" + hexes(rng, 8),
                "ingress": [
                    {
                        "cidr_blocks": [f"10.{rng.randint(1, 60)}.0.0/16"],
                        "from_port": 443,
                        "to_port": 443,
                        "protocol": "tcp",
                    }
                ],
            },
            "aws_db_instance": {
                "engine": "postgres",
                "engine_version": "15.4",
                "allocated_storage": rng.choice((50, 100, 200)),
                "publicly_accessible": False,
                "storage_encrypted": True,
                "backup_retention_period": 14,
                "username": "app",
            },
            "aws_iam_role": {
                "name": name,
                "max_session_duration": 3600,
                "path": "/",
                "assume_role_policy": (
                    '{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow",'
                    '"Principal":{"Service":"ecs.amazonaws.com"}}]}'
                ),
            },
            "aws_lambda_function": {
                "function_name": name,
                "runtime": "python3.11",
                "memory_size": rng.choice((256, 512)),
                "timeout": rng.choice((30, 60)),
                "environment": [{"variables": {"LOG_LEVEL": "info", "TABLE": name}}],
            },
        }[sort]
    )


@kind("terraform-state", "nested")
def terraform_state(rng: random.Random) -> Parts:
    """`terraform show -json`: the values of a state with the resources of its modules."""
    modules: list[dict] = []
    every: list[tuple[str, dict]] = []
    for one, module in enumerate(rng.sample(SERVICES, 11)):
        made: list[dict] = []
        for two, name in enumerate(names_of(rng, rng.randint(15, 19), "-")):
            sort = rng.choices(_TYPES, (7, 4, 4, 2, 3, 5))[0]
            made.append(
                {
                    "address": f"module.{module}.{sort}.{name.replace('-', '_')}",
                    "mode": "managed",
                    "type": sort,
                    "name": name.replace("-", "_"),
                    "provider_name": "registry.terraform.io/hashicorp/aws",
                    "schema_version": 1,
                    "values": _values(rng, sort, name),
                    "sensitive_values": {"tags": {}},
                    "depends_on": [f"module.{module}.data.aws_vpc.main"],
                }
            )
            every.append((f"/values/root_module/child_modules/{one}/resources/{two}", made[-1]))
        modules.append({"resources": made, "address": f"module.{module}"})
    n = len(every)

    taken: set[int] = set()

    def pick(sort: str) -> int:
        fits = [
            at
            for at, (_, item) in enumerate(every)
            if item["type"] == sort and at not in taken and 5 < at < n - 5
        ]
        at = rng.choice(fits)
        taken.update((at - 1, at, at + 1))
        return at

    facts: list[Fact] = []

    def plant(
        at: int,
        what: str,
        inner: str,
        tells: list,
        searches: list[str],
        common: bool = False,
        names: tuple[str, ...] = (),
    ) -> None:
        place, item = every[at]
        facts.append(
            found(
                what,
                [item["address"], item["address"].split(".", 2)[2], *names],
                tells,
                searches,
                pointer=place + inner,
                record=place,
                common=common,
            )
        )

    at = pick("aws_db_instance")
    every[at][1]["values"]["publicly_accessible"] = True
    plant(
        at,
        "meaning",
        "/values/publicly_accessible",
        ["publicly_accessible"],
        ["publicly_accessible", "public"],
        True,
    )
    at = pick("aws_instance")
    every[at][1]["values"]["instance_type"] = "u-24tb1.112xlarge"
    plant(at, "outlier", "/values/instance_type", ["u-24tb1"], ["instance_type"])
    at = pick("aws_s3_bucket")
    every[at][1]["values"]["acl"] = "public-read-write"
    plant(at, "meaning", "/values/acl", ["public-read-write"], ["acl", "public"])
    at = pick("aws_security_group")
    every[at][1]["values"]["ingress"][0] |= {"cidr_blocks": ["0.0.0.0/0"], "from_port": 0, "to_port": 65535}
    plant(
        at,
        "meaning",
        "/values/ingress/0/cidr_blocks/0",
        ["0.0.0.0/0"],
        ["0.0.0.0/0", "cidr_blocks"],
        names=("cidr_blocks",),
    )
    at = pick("aws_iam_role")
    every[at][1]["values"][
        "assume_role_policy"
    ] = '{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":"*"}]}'
    plant(
        at,
        "meaning",
        "/values/assume_role_policy",
        ['principal\\":\\"*', 'principal":"*', ("principal", '"*')],
        ["assume_role_policy", "Principal"],
    )
    at = pick("aws_lambda_function")
    key = aws_key(rng)
    every[at][1]["values"]["environment"][0]["variables"]["BACKUP_ACCESS_KEY"] = key
    place, item = every[at]
    facts.append(
        secret(
            [item["address"]],
            ["BACKUP_ACCESS_KEY", "AKIA"],
            key,
            ["KEY", "AKIA"],
            pointer=place + "/values/environment/0/variables/BACKUP_ACCESS_KEY",
            record=place,
            context="BACKUP_ACCESS_KEY",
        )
    )
    at = pick("aws_instance")
    every[at][1]["tainted"] = True
    plant(at, "rare value", "/tainted", ["tainted"], ["tainted"])
    at = pick("aws_instance")
    del every[at][1]["values"]["tags"]
    facts.append(gone([every[at][1]["address"]], "tags", record=every[at][0]))
    at = pick("aws_instance")
    every[at][1]["values"]["root_block_device"][0]["volume_size"] = 16_000
    plant(at, "outlier", "/values/root_block_device/0/volume_size", ["16000"], ["volume_size"])
    at = pick("aws_lambda_function")
    every[at][1]["provider_name"] = "registry.terraform.io/unknown-vendor/aws"
    plant(at, "rare value", "/provider_name", ["unknown-vendor"], ["provider_name"])
    at = pick("aws_lambda_function")
    every[at][1]["values"]["runtime"] = "python2.7"
    plant(at, "rare value", "/values/runtime", ["python2.7"], ["runtime", "python2"])
    facts.append(tops("type", [item["type"] for _, item in every], ["type", "aws_instance"]))
    facts.append(total(n, ("resources", "items", "records"), ["resources", "count"]))
    facts.append(
        Fact(
            "total",
            ((str(len(modules)), "child_modules"), (str(len(modules)), "modules")),
            ("child_modules", "modules"),
        )
    )
    document = {
        "format_version": "1.0",
        "terraform_version": "1.7.5",
        "values": {
            "outputs": {"region": {"sensitive": False, "value": "eu-west-1"}},
            "root_module": {"child_modules": modules},
        },
    }
    return json.dumps(document, indent=2), shown_raw(document, facts)


@kind("dbt-manifest", "nested")
def dbt_manifest(rng: random.Random) -> Parts:
    """dbt's manifest.json: a map of nodes keyed by unique_id, written on one line."""
    nodes: dict[str, dict] = {}
    models = [
        f"{rng.choice(('stg', 'int', 'fct', 'dim'))}_{name}" for name in names_of(rng, rng.randint(120, 135))
    ]
    for at, name in enumerate(models):
        layer = {"stg": "staging", "int": "intermediate"}.get(name[:3], "marts")
        columns = {
            column: {
                "name": column,
                "description": sentence(rng),
                "data_type": rng.choice(("text", "integer", "timestamp")),
            }
            for column in rng.sample(NOUNS, rng.randint(3, 5))
        }
        parents = rng.sample(models[:at], min(at, rng.randint(1, 3))) if at else []
        nodes[f"model.shop.{name}"] = {
            "database": "analytics",
            "schema": layer,
            "name": name,
            "resource_type": "model",
            "package_name": "shop",
            "path": f"{layer}/{name}.sql",
            "unique_id": f"model.shop.{name}",
            "checksum": {"name": "sha256", "checksum": hexes(rng, 64)},
            "config": {
                "enabled": True,
                "materialized": {"staging": "view", "intermediate": "view"}.get(layer, "table"),
                "tags": [layer],
                "full_refresh": None,
                "on_schema_change": "ignore",
            },
            "description": sentence(rng),
            "columns": columns,
            "raw_code": (
                f"select * from {{{{ ref('{(parents or ['raw'])[0]}') }}}} where {rng.choice(NOUNS)}_id is"
                " not null"
            ),
            "depends_on": {"macros": [], "nodes": [f"model.shop.{one}" for one in parents]},
            "created_at": 1_717_200_000 + at * 3 + rng.random(),
        }
        for column in list(columns)[:1]:
            test = f"not_null_{name}_{column}"
            unique = f"test.shop.{test}.{hexes(rng, 10)}"
            nodes[unique] = {
                "database": "analytics",
                "schema": "dbt_test__audit",
                "name": test,
                "resource_type": "test",
                "package_name": "shop",
                "path": f"{test}.sql",
                "unique_id": unique,
                "checksum": {"name": "none", "checksum": ""},
                "config": {"enabled": True, "severity": "ERROR", "materialized": "test", "tags": []},
                "description": "",
                "columns": {},
                "raw_code": "{{ test_not_null(**_dbt_generic_test_kwargs) }}",
                "depends_on": {"macros": ["macro.dbt.test_not_null"], "nodes": [f"model.shop.{name}"]},
                "created_at": 1_717_200_000 + at * 3 + rng.random(),
            }
    off, bare, wipe, stray, leak, fresh, odd, typed, late = (
        models[at] for at in spots(rng, len(models), 9, apart=5)
    )
    node = {name: nodes[f"model.shop.{name}"] for name in models}
    node[off]["config"]["enabled"] = False
    del node[bare]["description"]
    node[wipe]["raw_code"] = "{{ config(pre_hook='truncate table prod.customers') }} select 1"
    node[stray]["depends_on"]["nodes"] = ["model.shop.stg_removed_in_2022"]
    key = github_token(rng)
    node[leak]["config"]["meta"] = {"deploy_token": key}
    node[fresh]["config"]["full_refresh"] = True
    node[odd]["database"] = "prod_pii"
    node[typed]["config"]["tags"] = "nightly-only"
    node[late]["created_at"] = 1_262_304_000.0
    tested = rng.choice(
        [
            one
            for one in nodes
            if one.startswith("test.")
            and nodes[one]["depends_on"]["nodes"][0].split(".")[-1]
            not in (off, bare, wipe, stray, leak, fresh, odd, typed, late)
        ]
    )
    nodes[tested]["config"]["severity"] = "WARN"

    def at_node(what: str, name: str, inner: str, tells: list, searches: list[str]) -> Fact:
        place = f"/nodes/model.shop.{name}"
        return found(what, [name], tells, searches, pointer=place + inner, record=place)

    facts = [
        at_node(
            "meaning", off, "/config/enabled", [("enabled", "false"), "disabled"], ["enabled", "disabled"]
        ),
        gone([f"model.shop.{bare}"], "description", record=f"/nodes/model.shop.{bare}"),
        at_node("meaning", wipe, "/raw_code", ["truncate table"], ["truncate", "pre_hook"]),
        at_node(
            "error",
            stray,
            "/depends_on/nodes/0",
            ["stg_removed_in_2022", ("stg_removed_in_2022", "depends_on")],
            ["depends_on", "removed"],
        ),
        secret(
            [leak],
            ["deploy_token", "ghp_"],
            key,
            ["token", "ghp_"],
            pointer=f"/nodes/model.shop.{leak}/config/meta/deploy_token",
            record=f"/nodes/model.shop.{leak}",
            context="deploy_token",
        ),
        at_node("rare value", fresh, "/config/full_refresh", [("full_refresh", "true")], ["full_refresh"]),
        at_node("rare value", odd, "/database", ["prod_pii"], ["database", "pii"]),
        at_node("changed type", typed, "/config/tags", ["nightly-only"], ["tags"]),
        at_node("time jump", late, "/created_at", ["1262304000"], ["created_at"]),
        found(
            "rare value",
            [tested, nodes[tested]["name"]],
            ['"WARN"', ("severity", "warn")],
            ["severity", "WARN"],
            pointer=f"/nodes/{tested}/config/severity",
            record=f"/nodes/{tested}",
        ),
        tops("resource_type", [one["resource_type"] for one in nodes.values()], tight=True),
        tops("materialized", [one["config"]["materialized"] for one in nodes.values()], tight=True),
        total(len(nodes), ("nodes", "keys", "entries", "items"), ["nodes", "count"], tight=True),
    ]
    document = {
        "metadata": {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
            "dbt_version": "1.8.2",
            "generated_at": "2024-06-01T04:10:12.400121Z",
            "adapter_type": "postgres",
        },
        "nodes": nodes,
        "sources": {},
        "macros": {},
    }
    return json.dumps(document), shown_raw(document, facts)


@kind("prometheus-range", "nested")
def prometheus_range(rng: random.Random) -> Parts:
    """A range query of the HTTP API of Prometheus: a matrix of series, on one line."""
    start, step, points = 1_715_000_000 + rng.randint(0, 90_000), 60, rng.randint(70, 80)
    zones = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
    pods = [f"{rng.choice(SERVICES)}-{number}" for number in rng.sample(range(100, 999), rng.randint(66, 74))]
    result: list[dict] = []
    for pod in pods:
        level, spread = rng.uniform(60, 240), rng.uniform(2, 9)
        values = [[start + at * step, f"{max(1.0, rng.gauss(level, spread)):.3f}"] for at in range(points)]
        result.append(
            {
                "metric": {
                    "__name__": "queue_depth",
                    "instance": f"{ip_of(rng)}:9100",
                    "job": "queues",
                    "pod": pod,
                    "zone": rng.choices(zones, (5, 3, 2))[0],
                },
                "values": values,
            }
        )
    n = len(result)
    spike, zero, nan, hole, early, minus, zone, bare, typed = spots(rng, n, 9, 0.03, 0.97, 4)
    mid = rng.randint(20, 50)
    high = f"{rng.uniform(88_000, 97_000):.3f}"
    result[spike]["values"][mid][1] = high
    for pair in result[zero]["values"][mid:]:
        pair[1] = "0.000"
    result[nan]["values"][mid + 5][1] = "NaN"
    lost = 9
    del result[hole]["values"][mid : mid + lost]
    del result[early]["values"][mid - 4 :]
    low = f"-{rng.uniform(4000, 6000):.3f}"
    result[minus]["values"][mid + 2][1] = low
    result[zone]["metric"]["zone"] = "us-gov-east-1"
    del result[bare]["metric"]["zone"]
    result[typed]["values"][mid + 3][1] = "+Inf"

    def at(
        what: str, number: int, inner: str, tells: list, searches: list[str], common: bool = False
    ) -> Fact:
        place = f"/data/result/{number}"
        return found(
            what,
            [pods[number], result[number]["metric"]["instance"]],
            tells,
            searches,
            pointer=place + inner,
            record=place,
            common=common,
        )

    sizes = Counter(len(one["values"]) for one in result)
    edge = [result[hole]["values"][mid - 1][0], result[hole]["values"][mid][0]]
    last = result[early]["values"][-1][0]
    assert sizes.most_common(1)[0][0] == points
    sizes_words = ("values", "points", "samples", "pairs", "items", "elements", "count", "short")
    facts = [
        at("outlier", spike, f"/values/{mid}/1", [high, high.split(".")[0]], ["spike", "max"]),
        at("meaning", zero, f"/values/{mid}/1", ["0.000", "zero", ("min", "0")], ["0.000", "zero"], True),
        at("outlier", nan, f"/values/{mid + 5}/1", ["NaN"], ["NaN"]),
        at(
            "gap",
            hole,
            f"/values/{mid}/0",
            [
                (str(edge[0]), str(edge[1])),
                "gap",
                "missing",
                *((str(points - lost), word) for word in sizes_words),
            ],
            ["gap", "missing"],
            True,
        ),
        at(
            "gap",
            early,
            f"/values/{mid - 5}/0",
            [str(last), *((str(mid - 4), word) for word in sizes_words)],
            ["last", "ends"],
            True,
        ),
        at("outlier", minus, f"/values/{mid + 2}/1", [low, low.split(".")[0]], ["negative", "-"]),
        at("rare value", zone, "/metric/zone", ["us-gov-east-1"], ["zone"]),
        gone([pods[bare], result[bare]["metric"]["instance"]], "zone", record=f"/data/result/{bare}"),
        at("changed type", typed, f"/values/{mid + 3}/1", ["+Inf"], ["Inf"]),
        tops("zone", [one["metric"].get("zone", "") for one in result], ["zone", "eu-west-1a"], tight=True),
        total(
            n,
            ("series", "results", "items", "metrics", "result", "entries", "elements", "records", "rows"),
            ["series", "result"],
            tight=True,
        ),
        Fact(
            "time range",
            (
                (str(start), str(start + step * (points - 1))),
                tuple(
                    f"{datetime.utcfromtimestamp(one):%Y-%m-%d %H:%M}"
                    for one in (start, start + step * (points - 1))
                ),
                tuple(
                    f"{datetime.utcfromtimestamp(one):%Y-%m-%dT%H:%M}"
                    for one in (start, start + step * (points - 1))
                ),
            ),
            ("time", "start"),
        ),
        Fact(
            "counts by length",
            total(points, ("values", "points", "samples", "pairs", "items", "elements"), tight=True).evidence,
            ("values", "points"),
        ),
    ]
    document = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    for number, (series, spot) in enumerate(
        ((spike, mid), (minus, mid + 2), (nan, mid + 5), (typed, mid + 3))
    ):
        place = (0, 5, 2, 8)[number]
        pair = tuple(str(one) for one in result[series]["values"][spot])
        facts[place] = replace(facts[place], evidence=(*facts[place].evidence, pair))
    return json.dumps(document, separators=(",", ":")), facts


@kind("application-config", "nested")
def application_config(rng: random.Random) -> Parts:
    """A nested configuration of an application, as a config service gives it, indented by two."""
    services: dict[str, dict] = {}
    for name in [f"{one}-{two}" for one in SERVICES for two in ("api", "jobs")]:
        services[name] = {
            "enabled": True,
            "replicas": {"min": rng.randint(1, 3), "max": rng.randint(4, 9)},
            "http": {
                "port": rng.randint(8000, 8999),
                "timeoutMs": rng.choice((800, 1000, 1500, 2000)),
                "retries": rng.randint(0, 3),
                "tls": {"enabled": True, "minVersion": "1.2"},
            },
            "database": {
                "host": f"{name.split('-')[0]}-db.internal",
                "pool": {"min": 2, "max": rng.choice((10, 20, 30))},
                "sslMode": "verify-full",
            },
            "logging": {
                "level": weighted(rng, info=8, warn=3),
                "format": "json",
                "sampling": rng.choice((0.1, 0.2, 0.5)),
            },
            "limits": {
                "requestsPerMinute": rng.choice((300, 600, 900, 1200)),
                "maxBodyKb": rng.choice((256, 512, 1024)),
            },
            "owner": {
                "team": rng.choices(("orion", "maple", "quartz"), (5, 3, 2))[0],
                "contact": person(rng),
            },
            "features": {
                flag: rng.random() < 0.5 for flag in ("darkMode", "newCheckout", "bulkExport", "auditTrail")
            },
        }
    names = list(services)
    plain, huge, weak, bare, typed, leak, off, loud, crowd, zero = (
        names[at] for at in spots(rng, len(names), 10, 0.04, 0.96, 4)
    )
    services[plain]["http"]["tls"]["enabled"] = False
    services[huge]["limits"]["requestsPerMinute"] = rng.randint(8_000_000, 9_900_000)
    services[weak]["database"]["sslMode"] = "disable"
    del services[bare]["owner"]
    services[typed]["http"]["timeoutMs"] = "1500ms"
    key = f"postgres://admin:{token(rng, 13)}@{leak.split('-')[0]}-db.internal/main"
    services[leak]["database"]["url"] = key
    services[off]["enabled"] = False
    services[loud]["logging"]["level"] = "trace"
    services[crowd]["replicas"] = {"min": 12, "max": 2}
    services[zero]["database"]["pool"]["max"] = 0
    flags = {
        f"flag-{name}": {
            "description": sentence(rng),
            "rollout": rng.choice((0, 10, 25, 50, 100)),
            "owner": person(rng),
            "expires": f"2025-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
            "rules": [{"attribute": rng.choice(NOUNS), "op": "in", "values": rng.sample(NOUNS, 3)}],
        }
        for name in names_of(rng, 70, "-")
    }
    wild, stale = (list(flags)[at] for at in spots(rng, 70, 2))
    flags[wild]["rollout"] = 250
    flags[stale]["expires"] = "2017-01-31"

    def at(
        what: str, name: str, inner: str, tells: list, searches: list[str], raw: tuple[str, ...] = ()
    ) -> Fact:
        group = "services" if name in services else "featureFlags"
        made = found(
            what, [name], tells, searches, pointer=f"/{group}/{name}{inner}", record=f"/{group}/{name}"
        )
        return replace(made, evidence=(*made.evidence, raw)) if raw else made

    limit = str(services[huge]["limits"]["requestsPerMinute"])
    facts = [
        at(
            "meaning",
            plain,
            "/http/tls/enabled",
            [("tls", "false"), ("tls", "disabled")],
            ["tls", "enabled"],
            ('"tls": {', '"enabled": false'),
        ),
        at("outlier", huge, "/limits/requestsPerMinute", [limit], ["requestsPerMinute", "limits"]),
        at("meaning", weak, "/database/sslMode", [("sslMode", "disable")], ["sslMode"]),
        gone([f"{bare}"], "owner", record=f"/services/{bare}"),
        at("changed type", typed, "/http/timeoutMs", ["1500ms"], ["timeoutMs"]),
        secret(
            [leak],
            ["postgres://", "password", "url"],
            key,
            ["postgres://", "password"],
            pointer=f"/services/{leak}/database/url",
            record=f"/services/{leak}",
            context="postgres://",
        ),
        at("meaning", off, "/enabled", [("enabled", "false"), "disabled"], ["enabled", "false"]),
        at("rare value", loud, "/logging/level", ["trace"], ["level", "trace"]),
        at(
            "contradiction",
            crowd,
            "/replicas",
            [("12", "2", "replicas"), ("min", "12")],
            ["replicas", "min"],
            ('"min": 12', '"max": 2'),
        ),
        at("outlier", zero, "/database/pool/max", [("pool", "0"), ("max", "0")], ["pool", "max"]),
        at("outlier", wild, "/rollout", ["250"], ["rollout"]),
        at("outlier", stale, "/expires", ["2017-01-31"], ["expires"]),
        Fact(
            "total",
            ((str(len(services)), "services"), ("70", "featureFlags"), ("70", "flags")),
            ("services", "count"),
        ),
        tops("team", [one["owner"]["team"] for one in services.values() if "owner" in one]),
    ]
    document = {
        "application": "northwind",
        "environment": "production",
        "revision": rng.randint(4000, 9000),
        "services": services,
        "featureFlags": flags,
        "regions": ["eu-west-1", "eu-central-1"],
    }
    return json.dumps(document, indent=2), shown_raw(document, facts)


def _operation(rng: random.Random, verb: str, name: str, tag: str) -> dict:
    codes = {"get": "200", "post": "201", "put": "200", "delete": "204"}
    made: dict = {
        "tags": [tag],
        "summary": f"{verb.title()} {name}",
        "description": sentence(rng),
        "operationId": f"{verb}{name.title().replace('-', '').replace(' ', '')}",
        "parameters": [
            {
                "name": "limit",
                "in": "query",
                "required": False,
                "schema": {"type": "integer", "minimum": 1, "maximum": rng.choice((50, 100, 200))},
            }
        ],
        "responses": {
            codes[verb]: {
                "description": "Done",
                "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{tag.title()}"}}},
            },
            "400": {"description": "Bad request"},
            "404": {"description": "Not found"},
        },
        "security": [{"bearerAuth": []}],
    }
    if verb in ("post", "put"):
        made["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{tag.title()}"}}},
        }
    return made


@kind("openapi", "nested")
def openapi(rng: random.Random) -> Parts:
    """An OpenAPI 3 document in JSON: paths with operations, and schemas."""
    paths: dict[str, dict] = {}
    every: list[tuple[str, str, dict]] = []
    for tag in SERVICES:
        for word in rng.sample(NOUNS, 2):
            path, name = f"/v2/{tag}/{word}s", f"{tag} {word}"
            paths[path] = {
                verb: _operation(rng, verb, name, tag)
                for verb in rng.sample(("get", "post", "put", "delete"), rng.choice((1, 2, 2)))
            }
            every += [(path, verb, one) for verb, one in paths[path].items()]
    n = len(every)
    free, old, dup, lost, wide, leak, bare, odd, hidden = spots(rng, n, 9, apart=5)
    every[free][2]["security"] = []
    every[old][2]["deprecated"] = True
    source = rng.choice(
        [
            at
            for at in range(4, n - 4)
            if abs(at - dup) > 20 and at not in (free, old, lost, wide, leak, bare, odd, hidden)
        ]
    )
    every[dup][2]["operationId"] = every[source][2]["operationId"]
    code = next(iter(every[lost][2]["responses"]))
    every[lost][2]["responses"][code]["content"]["application/json"]["schema"][
        "$ref"
    ] = "#/components/schemas/GhostRecord"
    every[wide][2]["parameters"][0]["schema"]["maximum"] = 5_000_000
    key = stripe_key(rng)
    every[leak][2]["description"] += f" Example: curl -H 'X-Api-Key: {key}'."
    del every[bare][2]["responses"]
    every[odd][2]["x-internal-bypass"] = "skip-rate-limit"
    every[hidden][2]["description"] = "Deletes every tenant of the cluster without asking."
    schemas = {
        tag.title(): {
            "type": "object",
            "required": ["id"],
            "properties": (
                {"id": {"type": "string", "format": "uuid"}}
                | {
                    word: {"type": rng.choice(("string", "integer", "boolean")), "description": sentence(rng)}
                    for word in rng.sample(NOUNS, rng.randint(5, 8))
                }
            ),
        }
        for tag in SERVICES
    }
    spot = rng.choice(list(schemas)[8:30])
    schemas[spot]["properties"]["cardCvv"] = {"type": "string", "description": "Stored in plain text."}

    def at(
        what: str, number: int, inner: str, tells: list, searches: list[str], raw: tuple[str, ...] = ()
    ) -> Fact:
        path, verb, one = every[number]
        place = f"/paths/{_escaped(path)}/{verb}"
        made = found(what, [path, one["operationId"]], tells, searches, pointer=place + inner, record=place)
        return replace(made, evidence=(*made.evidence, raw)) if raw else made

    def place_of(number: int) -> str:
        return f"/paths/{_escaped(every[number][0])}/{every[number][1]}"

    facts = [
        at(
            "meaning",
            free,
            "/security",
            [("security", "[]"), "no security", "no auth", "unauthenticated", ("security", "empty")],
            ["security"],
            ('"security": []',),
        ),
        at("rare value", old, "/deprecated", ["deprecated"], ["deprecated"]),
        twice(
            every[dup][2]["operationId"],
            "operationId",
            pointer=place_of(dup) + "/operationId",
            both=(every[dup][0], every[source][0]),
        ),
        at(
            "error",
            lost,
            f"/responses/{code}/content/application~1json/schema/$ref",
            ["GhostRecord"],
            ["$ref", "schemas"],
        ),
        at("outlier", wide, "/parameters/0/schema/maximum", ["5000000"], ["maximum", "limit"]),
        secret(
            [every[leak][0], every[leak][2]["operationId"]],
            ["X-Api-Key", "sk_live"],
            key,
            ["Api-Key", "sk_live"],
            pointer=place_of(leak) + "/description",
            record=place_of(leak),
            context="X-Api-Key",
        ),
        gone([every[bare][0], every[bare][2]["operationId"]], "responses", record=place_of(bare)),
        at(
            "rare value",
            odd,
            "/x-internal-bypass",
            ["x-internal-bypass", "skip-rate-limit"],
            ["x-", "internal"],
        ),
        at("meaning", hidden, "/description", ["Deletes every tenant"], ["delete", "tenant"]),
        found(
            "meaning",
            [spot, "plain text"],
            ["cardCvv"],
            ["card", "cvv"],
            pointer=f"/components/schemas/{spot}/properties/cardCvv/description",
            record=f"/components/schemas/{spot}",
        ),
        Fact(
            "total",
            ((str(len(paths)), "paths"), (str(n), "operations"), (str(n), "operation")),
            ("paths", "operations"),
        ),
        Fact("total", ((str(len(schemas)), "schemas"),), ("schemas",)),
        tops("method", [verb for _, verb, _ in every], ["get", "post"]),
    ]
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Northwind platform API", "version": "2.18.0"},
        "servers": [{"url": "https://api.example.com"}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearerAuth": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
        },
    }
    return json.dumps(document, indent=2), shown_raw(document, facts)
