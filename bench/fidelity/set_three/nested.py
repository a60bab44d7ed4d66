"""Objects, maps of like objects, nested lists and configuration."""

import json
import random
from collections import Counter
from datetime import datetime

from bench.fidelity.planted import Parts, kind

from . import words as w
from .words import Notes, pairs


class Tree:
    """Facts about the items of one list of a document."""

    def __init__(self, base: str, names: list[list[object]]) -> None:
        self.n, self.base, self.names = Notes(), base, names

    def one(
        self, what: str, i: int, telling: list[object], path: str, *searches: str, hidden: str = ""
    ) -> None:
        """A telling value with a name or the place of its item."""
        self.n.say(
            what,
            w.known(telling, self.names[i], self.base, i),
            *searches,
            pointer=f"{self.base}/{i}{path}",
            hidden=hidden,
        )

    def lost(self, i: int, field: str, path: str = "") -> None:
        """A field that one item lacks."""
        places = [*self.names[i], f"{self.base}/{i}", f"#{i}"]
        self.n.say(
            "missing field", w.gone(places, field), field, pointer=f"{self.base}/{i}{path}", derived=True
        )

    def twice(self, i: int, j: int, ident: object, path: str) -> None:
        """An id that two items share."""
        self.n.say(
            "duplicate",
            w.same(ident, f"{self.base}/{i}", f"{self.base}/{j}"),
            str(ident),
            pointer=f"{self.base}/{j}{path}",
            derived=True,
        )

    def counts(self, values: list[str], many: int = 2) -> None:
        """How often the commonest values occur."""
        for value, number in Counter(values).most_common(many):
            self.n.say("count", w.count(value, number), value, derived=True)

    def total(self, number: int, *labels: str) -> None:
        self.n.say("total", w.total(number, *labels, "items", "records", "rows"), labels[0], derived=True)


@kind("k8s_deployments", "nested")
def k8s_deployments(rng: random.Random) -> Parts:
    """`kubectl get deployments -A -o json`: a List of Deployment objects."""
    names = w.distinct(rng, rng.randint(42, 48), lambda r: f"{r.choice(w.SERVICES)}-{r.choice(w.NOUNS)}")
    clock = w.Clock(rng, datetime(2025, 2, 3), 9000, 90_000)
    items = []
    for name in names:
        count, made = rng.randint(2, 5), f"{clock.tick():%Y-%m-%dT%H:%M:%SZ}"
        label = {"app": name, "tier": w.pick(rng, {"backend": 60, "frontend": 40})}
        items.append(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {
                    "name": name,
                    "namespace": w.pick(rng, {"shop": 60, "data": 25, "tools": 15}),
                    "uid": w.uuid(rng),
                    "generation": rng.randint(1, 40),
                    "resourceVersion": str(rng.randint(880_000, 990_000)),
                    "creationTimestamp": made,
                    "labels": label,
                },
                "spec": {
                    "replicas": count,
                    "revisionHistoryLimit": 10,
                    "selector": {"matchLabels": {"app": name}},
                    "strategy": {"type": "RollingUpdate"},
                    "template": {
                        "metadata": {"labels": label},
                        "spec": {
                            "containers": [
                                {
                                    "name": name,
                                    "image": f"reg.acme.example/{name}:{rng.randint(1, 5)}.{rng.randint(0, 20)}.0",
                                    "imagePullPolicy": "IfNotPresent",
                                    "env": [
                                        {
                                            "name": f"{rng.choice(w.NOUNS).upper()}_{rng.choice(w.NOUNS).upper()}",
                                            "value": rng.choice(w.ADJECTIVES),
                                        }
                                        for _ in range(rng.randint(2, 4))
                                    ],
                                    "resources": {
                                        "limits": {
                                            "cpu": rng.choice(("500m", "1")),
                                            "memory": rng.choice(("512Mi", "1Gi")),
                                        }
                                    },
                                    "terminationMessagePath": "/dev/termination-log",
                                }
                            ],
                            "restartPolicy": "Always",
                            "dnsPolicy": "ClusterFirst",
                        },
                    },
                },
                "status": {
                    "observedGeneration": rng.randint(1, 40),
                    "replicas": count,
                    "readyReplicas": count,
                    "availableReplicas": count,
                    "updatedReplicas": count,
                    "conditions": [
                        {
                            "type": "Available",
                            "status": "True",
                            "reason": "MinimumReplicasAvailable",
                            "lastUpdateTime": made,
                        },
                        {
                            "type": "Progressing",
                            "status": "True",
                            "reason": "NewReplicaSetAvailable",
                            "lastUpdateTime": made,
                        },
                    ],
                },
            }
        )
    down, stuck, many, lost, leak, latest, twice, recreate, age, paused, host = w.spots(
        rng, len(items), 11, apart=2
    )
    box = [one["spec"]["template"]["spec"]["containers"][0] for one in items]
    items[down]["status"].update(
        readyReplicas=0, availableReplicas=0, unavailableReplicas=items[down]["spec"]["replicas"]
    )
    items[stuck]["status"]["conditions"][1].update(status="False", reason="ProgressDeadlineExceeded")
    number = rng.randint(140, 390)
    items[many]["spec"]["replicas"] = number
    del box[lost]["resources"]
    secret = w.alnum(rng, 30)
    box[leak]["env"].append({"name": "JWT_SIGNING_SECRET", "value": secret})
    box[latest]["image"] = "docker.io/library/helper:latest"
    items[twice]["metadata"]["uid"] = items[twice - 1]["metadata"]["uid"]
    items[recreate]["spec"]["strategy"]["type"] = "Recreate"
    items[age]["metadata"]["creationTimestamp"] = "2016-04-05T06:07:08Z"
    items[paused]["spec"]["paused"] = True
    items[host]["spec"]["template"]["spec"]["hostPID"] = True
    t = Tree("/items", [[one] for one in names])
    t.one("error", down, ["unavailableReplicas"], "/status/unavailableReplicas", "unavailableReplicas")
    t.one(
        "error",
        stuck,
        ["ProgressDeadlineExceeded"],
        "/status/conditions/1/reason",
        "ProgressDeadlineExceeded",
        "False",
    )
    t.one("outlier", many, [number], "/spec/replicas", "replicas")
    t.lost(lost, "resources")
    t.one(
        "secret",
        leak,
        ["JWT_SIGNING_SECRET"],
        f"/spec/template/spec/containers/0/env/{len(box[leak]['env']) - 1}",
        "SECRET",
        hidden=secret,
    )
    t.one(
        "rare value",
        latest,
        ["helper:latest", ":latest"],
        "/spec/template/spec/containers/0/image",
        ":latest",
        "image",
    )
    t.twice(twice - 1, twice, items[twice]["metadata"]["uid"], "/metadata/uid")
    t.one("rare value", recreate, ["Recreate"], "/spec/strategy/type", "Recreate", "strategy")
    t.one("time jump", age, ["2016-04-05"], "/metadata/creationTimestamp", "2016", "creationTimestamp")
    t.one("rare value", paused, ["paused"], "/spec/paused", "paused")
    t.one("rare value", host, ["hostPID"], "/spec/template/spec/hostPID", "hostPID")
    t.counts([one["metadata"]["namespace"] for one in items])
    t.total(len(items), "items", "deployments")
    return t.n.parts(
        json.dumps(
            {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}},
            indent=2,
        )
    )


@kind("iam_details", "nested")
def iam_details(rng: random.Random) -> Parts:
    """`aws iam get-account-authorization-details`: users and roles with their policies."""
    account = str(rng.randint(10**11, 10**12 - 1))
    clock = w.Clock(rng, datetime(2023, 1, 9), 90_000, 900_000)

    def policy(name: str) -> dict:
        return {
            "PolicyName": name,
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Sid": w.camel(rng.choice(w.VERBS), rng.choice(w.NOUNS)),
                        "Effect": "Allow",
                        "Action": [
                            f"s3:{a}" for a in rng.sample(("GetObject", "PutObject", "ListBucket"), 2)
                        ],
                        "Resource": f"arn:aws:s3:::acme-{rng.choice(w.SERVICES)}/*",
                    }
                ],
            },
        }

    users, roles = [], []
    for name in w.people(rng, 30):
        user = name.lower().replace(" ", ".")
        users.append(
            {
                "Path": "/",
                "UserName": user,
                "UserId": "AIDA" + w.upper(rng, 17),
                "Arn": f"arn:aws:iam::{account}:user/{user}",
                "CreateDate": f"{clock.tick():%Y-%m-%dT%H:%M:%S+00:00}",
                "GroupList": rng.sample(["developers", "readers", "support"], rng.randint(1, 2)),
                "AttachedManagedPolicies": [],
                "Tags": [{"Key": "team", "Value": rng.choice(w.SERVICES)}],
            }
        )
    names = w.distinct(rng, rng.randint(58, 66), lambda r: f"{r.choice(w.SERVICES)}-{r.choice(w.NOUNS)}-role")
    for name in names:
        roles.append(  # noqa: PERF401
            {
                "Path": "/",
                "RoleName": name,
                "RoleId": "AROA" + w.upper(rng, 17),
                "Arn": f"arn:aws:iam::{account}:role/{name}",
                "CreateDate": f"{clock.tick():%Y-%m-%dT%H:%M:%S+00:00}",
                "AssumeRolePolicyDocument": {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {
                                "Service": w.pick(rng, {"lambda.amazonaws.com": 60, "ec2.amazonaws.com": 40})
                            },
                            "Action": "sts:AssumeRole",
                        }
                    ],
                },
                "InstanceProfileList": [],
                "RolePolicyList": [policy(f"{name}-inline")],
                "MaxSessionDuration": 3600,
                "AttachedManagedPolicies": [
                    {
                        "PolicyName": "AWSLambdaBasicExecutionRole",
                        "PolicyArn": "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole",
                    }
                ],
                "RoleLastUsed": {
                    "LastUsedDate": f"2025-0{rng.randint(5, 8)}-{rng.randint(10, 28)}T09:00:00+00:00",
                    "Region": "eu-west-1",
                },
                "Tags": [],
            }
        )
    star, anyone, other, admin, long, lost, deny, old, twice, region, leak = w.spots(
        rng, len(roles), 11, apart=3
    )

    def inline(i: int) -> dict:
        return roles[i]["RolePolicyList"][0]["PolicyDocument"]["Statement"][0]

    inline(star).update(Action="*", Resource="*")
    roles[anyone]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] = {"AWS": "*"}
    alien = str(rng.randint(10**11, 10**12 - 1))
    roles[other]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] = {
        "AWS": f"arn:aws:iam::{alien}:root"
    }
    roles[admin]["AttachedManagedPolicies"][0] = {
        "PolicyName": "AdministratorAccess",
        "PolicyArn": "arn:aws:iam::aws:policy/AdministratorAccess",
    }
    roles[long]["MaxSessionDuration"] = 43200
    del roles[lost]["RoleLastUsed"]
    inline(deny)["Effect"] = "Deny"
    roles[old]["RolePolicyList"][0]["PolicyDocument"]["Version"] = "2008-10-17"
    roles[twice]["RoleId"] = roles[twice - 1]["RoleId"]
    roles[region]["RoleLastUsed"]["Region"] = "sa-east-1"
    key = w.alnum(rng, 40)
    roles[leak]["Tags"] = [{"Key": "aws_secret_access_key", "Value": key}]
    base = "/RoleDetailList"
    t = Tree(base, [[one] for one in names])
    path = "/RolePolicyList/0/PolicyDocument/Statement/0"
    t.one(
        "rare value",
        star,
        ['"Action": "*"', 'Action="*"', "Action *", "Action: *", "Action=*", '"*"'],
        path,
        '"*"',
        "Action",
    )
    t.one(
        "rare value",
        anyone,
        ['"AWS": "*"', "Principal", "AWS=*", "AWS: *"],
        "/AssumeRolePolicyDocument/Statement/0/Principal",
        '"AWS": "*"',
        "Principal",
    )
    t.one("rare value", other, [alien], "/AssumeRolePolicyDocument/Statement/0/Principal/AWS", ":root", "AWS")
    t.one(
        "rare value",
        admin,
        ["AdministratorAccess"],
        "/AttachedManagedPolicies/0/PolicyName",
        "AdministratorAccess",
    )
    t.one("outlier", long, [43200], "/MaxSessionDuration", "43200", "MaxSessionDuration")
    t.lost(lost, "RoleLastUsed")
    t.one("rare value", deny, ["Deny"], path + "/Effect", "Deny", "Effect")
    t.one("rare value", old, ["2008-10-17"], "/RolePolicyList/0/PolicyDocument/Version", "2008", "Version")
    t.twice(twice - 1, twice, roles[twice]["RoleId"], "/RoleId")
    t.one("rare value", region, ["sa-east-1"], "/RoleLastUsed/Region", "sa-east-1", "Region")
    t.one("secret", leak, ["aws_secret_access_key"], "/Tags/0", "secret_access_key", hidden=key)
    t.counts(["lambda.amazonaws.com" for one in roles if "lambda" in str(one["AssumeRolePolicyDocument"])], 1)
    t.total(len(roles), "RoleDetailList", "roles")
    t.n.say("total", w.total(len(users), "UserDetailList", "users"), "UserDetailList", derived=True)
    return t.n.parts(
        json.dumps(
            {
                "UserDetailList": users,
                "GroupDetailList": [],
                "RoleDetailList": roles,
                "Policies": [],
                "IsTruncated": False,
            },
            indent=2,
        )
    )


@kind("lighthouse", "nested")
def lighthouse(rng: random.Random) -> Parts:
    """A report of Lighthouse: a map of audits with scores and details, then categories."""
    names = w.distinct(rng, 88, lambda r: f"{r.choice(w.ADJECTIVES)}-{r.choice(w.NOUNS)}-{r.choice(w.VERBS)}")
    audits: dict[str, dict] = {}
    for name in names:
        mode = w.pick(rng, {"binary": 55, "numeric": 30, "notApplicable": 15})
        audit: dict = {
            "id": name,
            "title": w.title(rng),
            "description": w.sentence(rng),
            "score": None
            if mode == "notApplicable"
            else 1
            if mode == "binary"
            else round(rng.uniform(0.9, 1), 2),
            "scoreDisplayMode": mode,
        }
        if mode == "numeric":
            value = w.near(rng, 700, 260, 90, 1600)
            audit.update(
                numericValue=round(value, 1), numericUnit="millisecond", displayValue=f"{value / 1000:.1f} s"
            )
        audit["details"] = {
            "type": "table",
            "headings": [
                {"key": "url", "valueType": "url", "label": "URL"},
                {"key": "totalBytes", "valueType": "bytes", "label": "Size"},
            ],
            "items": [
                {
                    "url": f"https://shop.acme.example/{rng.choice(w.NOUNS)}/{rng.choice(w.NOUNS)}.js",
                    "totalBytes": rng.randint(900, 88_000),
                    "wastedMs": rng.randint(0, 150),
                }
                for _ in range(rng.randint(1, 5))
            ],
        }
        audits[name] = audit
    fail, broke, slow, heavy, leak, plain, odd, lost, minus, half, warn = (
        names[k] for k in w.spots(rng, len(names), 11, apart=3)
    )
    audits[fail].update(score=0, scoreDisplayMode="binary", title="Uses deprecated third-party cookies")
    audits[broke].update(
        score=None, scoreDisplayMode="error", errorMessage="Required TraceElements gatherer did not run."
    )
    late = round(rng.uniform(61_000, 92_000), 1)
    audits[slow].update(
        score=0.01,
        scoreDisplayMode="numeric",
        numericValue=late,
        numericUnit="millisecond",
        displayValue=f"{late / 1000:.1f} s",
    )
    size = rng.randint(31_000_000, 48_000_000)
    audits[heavy]["details"]["items"][0]["totalBytes"] = size
    token = "AIza" + w.alnum(rng, 35)
    audits[leak]["details"]["items"][0]["url"] = f"https://maps.example/js?key={token}"
    audits[plain]["details"]["items"][0]["url"] = "http://cdn.old-static.example/jquery-1.6.js"
    audits[odd].update(scoreDisplayMode="manual", score=None)
    del audits[lost]["title"]
    wasted = -rng.randint(41_000, 77_000)
    audits[minus]["details"]["items"][0]["wastedMs"] = wasted
    audits[half]["score"] = "n/a"
    audits[warn]["warnings"] = ["Failed to decode source map"]
    scores = {"performance": 0.17, "accessibility": 0.94, "best-practices": 0.88, "seo": 0.97}
    data = {
        "lighthouseVersion": "12.0.0",
        "requestedUrl": "https://shop.acme.example/",
        "finalDisplayedUrl": "https://shop.acme.example/maintenance",
        "fetchTime": "2025-08-02T10:11:12.000Z",
        "userAgent": "Mozilla/5.0 HeadlessChrome/126",
        "runWarnings": [],
        "audits": audits,
        "categories": {
            key: {
                "id": key,
                "title": key.capitalize(),
                "score": value,
                "auditRefs": [{"id": one, "weight": rng.randint(0, 10)} for one in rng.sample(names, 14)],
            }
            for key, value in scores.items()
        },
        "timing": {"total": 18211.4},
    }
    n = Notes()

    def one(what: str, name: str, telling: list[object], path: str, *searches: str, hidden: str = "") -> None:
        n.say(what, pairs(telling, [name]), *searches, pointer=f"/audits/{name}{path}", hidden=hidden)

    one(
        "failing audit",
        fail,
        ["third-party cookies", "score 0", "score: 0", '"score": 0', "score=0"],
        "/score",
        '"score": 0',
        "deprecated",
    )
    one("error", broke, ["TraceElements", "errorMessage", "error"], "/errorMessage", "errorMessage", "error")
    one("outlier", slow, [late, f"{late / 1000:.1f} s"], "/numericValue", "numericValue", str(late))
    one("outlier", heavy, [size], "/details/items/0/totalBytes", "totalBytes", str(size))
    one("secret", leak, ["maps.example", "key="], "/details/items/0/url", "key=", "maps", hidden=token)
    one("rare value", plain, ["old-static", "jquery-1.6"], "/details/items/0/url", "http://", "jquery")
    one("rare value", odd, ["manual"], "/scoreDisplayMode", "manual")
    n.say("missing field", w.gone([lost], "title"), "title", pointer=f"/audits/{lost}", derived=True)
    one("outlier", minus, [wasted], "/details/items/0/wastedMs", "wastedMs", str(wasted))
    one("changed type", half, ["n/a"], "/score", "n/a", "score")
    one("rare value", warn, ["warnings", "source map"], "/warnings", "warnings", "source map")
    n.say(
        "summary",
        pairs(["performance"], ["0.17", "17 %", "17%"]),
        "performance",
        "score",
        pointer="/categories/performance/score",
    )
    n.say(
        "contradiction",
        (("finalDisplayedUrl", "maintenance"), ("final", "/maintenance")),
        "finalDisplayedUrl",
        pointer="/finalDisplayedUrl",
    )
    modes = Counter(one["scoreDisplayMode"] for one in audits.values())
    for mode in ("binary", "numeric"):
        n.say("count", w.count(mode, modes[mode]), mode, derived=True)
    n.say("total", w.total(len(audits), "audits", "keys", "entries", "members"), "audits", derived=True)
    return n.parts(json.dumps(data, indent=2))


@kind("trivy_report", "nested")
def trivy_report(rng: random.Random) -> Parts:
    """`trivy image --format json`: results with vulnerabilities of packages."""
    size = rng.randint(92, 104)
    vulns = []
    for ident in w.distinct(rng, size, lambda r: f"CVE-202{r.randint(2, 5)}-{r.randint(10000, 59999)}"):
        pack, old = (
            f"lib{rng.choice(w.NOUNS)}{rng.randint(1, 6)}",
            f"{rng.randint(1, 4)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}-{rng.randint(1, 5)}",
        )
        vulns.append(
            {
                "VulnerabilityID": ident,
                "PkgID": f"{pack}@{old}",
                "PkgName": pack,
                "InstalledVersion": old,
                "FixedVersion": old + "+deb12u1",
                "Status": "fixed",
                "Layer": {"DiffID": "sha256:" + w.hexes(rng, 64)},
                "SeveritySource": "debian",
                "PrimaryURL": f"https://avd.aquasec.com/nvd/{ident.lower()}",
                "Title": f"{pack}: {w.title(rng)}",
                "Description": w.sentence(rng),
                "Severity": w.pick(rng, {"LOW": 55, "MEDIUM": 35, "HIGH": 10}),
                "CweIDs": [f"CWE-{rng.randint(20, 900)}"],
                "CVSS": {
                    "nvd": {
                        "V3Vector": "CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:N/I:N/A:L",
                        "V3Score": round(w.near(rng, 5, 1, 3.1, 7.4), 1),
                    }
                },
                "PublishedDate": f"202{rng.randint(2, 4)}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}T10:15:00Z",
            }
        )
    crit, rce, eol, nofix, lost, twice, source, typed, future, defer = w.spots(rng, size, 10, apart=4)
    vulns[crit].update(Severity="CRITICAL")
    vulns[rce]["CVSS"]["nvd"].update(V3Score=10.0)
    vulns[rce]["Title"] = "xz: malicious code in distributed source (backdoor)"
    vulns[eol]["Status"] = "end_of_life"
    del vulns[nofix]["FixedVersion"]
    vulns[lost]["Severity"] = "UNKNOWN"
    vulns[twice]["VulnerabilityID"] = vulns[twice - 2]["VulnerabilityID"]
    vulns[source]["SeveritySource"] = "vendor-override"
    vulns[typed]["CVSS"]["nvd"]["V3Score"] = "pending"
    vulns[future]["PublishedDate"] = "2031-12-01T00:00:00Z"
    vulns[defer]["Status"] = "will_not_fix"
    secret = "ghp_" + w.alnum(rng, 36)
    found = {
        "RuleID": "github-pat",
        "Category": "GitHub",
        "Severity": "CRITICAL",
        "StartLine": 14,
        "EndLine": 14,
        "Match": f"export GITHUB_TOKEN={secret}",
    }
    image = "reg.acme.example/shop/api:4.2.0"
    results = [
        {"Target": f"{image} (debian 12.5)", "Class": "os-pkgs", "Type": "debian", "Vulnerabilities": vulns},
        {"Target": "app/poetry.lock", "Class": "lang-pkgs", "Type": "poetry"},
        {"Target": "/app/deploy.sh", "Class": "secret", "Secrets": [found]},
    ]
    data = {
        "SchemaVersion": 2,
        "CreatedAt": "2025-07-04T05:06:07Z",
        "ArtifactName": image,
        "ArtifactType": "container_image",
        "Metadata": {"OS": {"Family": "debian", "Name": "12.5", "EOSL": True}},
        "Results": results,
    }
    t = Tree("/Results/0/Vulnerabilities", [[one["VulnerabilityID"], one["PkgName"]] for one in vulns])
    t.one("rare value", crit, ["CRITICAL"], "/Severity", "CRITICAL")
    t.one("outlier", rce, ["10.0", "backdoor"], "/CVSS/nvd/V3Score", "backdoor", "10.0")
    t.one("rare value", eol, ["end_of_life"], "/Status", "end_of_life", "Status")
    t.lost(nofix, "FixedVersion")
    t.one("rare value", lost, ["UNKNOWN"], "/Severity", "UNKNOWN", "Severity")
    t.twice(twice - 2, twice, vulns[twice]["VulnerabilityID"], "/VulnerabilityID")
    t.one("rare value", source, ["vendor-override"], "/SeveritySource", "vendor-override", "SeveritySource")
    t.one("changed type", typed, ["pending"], "/CVSS/nvd/V3Score", "pending", "V3Score")
    t.one("time jump", future, ["2031-12-01"], "/PublishedDate", "2031", "PublishedDate")
    t.one("rare value", defer, ["will_not_fix"], "/Status", "will_not_fix", "Status")
    t.n.say(
        "secret",
        pairs(["deploy.sh", "github-pat"], ["GITHUB_TOKEN", "Secrets", "secret", "GitHub"]),
        "GITHUB_TOKEN",
        "Secrets",
        pointer="/Results/2/Secrets/0/Match",
        hidden=secret,
    )
    t.n.say("rare value", (("EOSL", "true"),), "EOSL", pointer="/Metadata/OS/EOSL")
    t.counts([one["Severity"] for one in vulns], 3)
    t.total(size, "Vulnerabilities")
    return t.n.parts(json.dumps(data, indent=2))


@kind("geojson", "nested")
def geojson(rng: random.Random) -> Parts:
    """A GeoJSON FeatureCollection of charging stations."""
    size = rng.randint(125, 140)
    first, items = rng.randint(3000, 6000), []
    for i in range(size):
        point = [round(rng.uniform(4.1, 6.9), 6), round(rng.uniform(51.2, 53.1), 6)]
        items.append(
            {
                "type": "Feature",
                "id": f"node/{first + i}",
                "geometry": {"type": "Point", "coordinates": point},
                "properties": {
                    "name": f"{rng.choice(w.CITIES)} {rng.choice(w.NOUNS).capitalize()}",
                    "operator": w.pick(rng, {"Voltaro": 50, "GridNow": 30, "Stroomhub": 20}),
                    "capacity": rng.randint(1, 12),
                    "socket": w.pick(rng, {"type2": 70, "ccs": 30}),
                    "power_kw": rng.choice((11, 22, 50, 150)),
                    "opened": f"20{rng.randint(15, 24)}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
                    "fee": rng.choice((True, True, False)),
                    "contact": f"+31 20 {rng.randint(100, 999)} {rng.randint(1000, 9999)}",
                },
            }
        )
    zero, swap, shape, big, lost, hole, twice, closed, typed, leak, none, power = w.spots(
        rng, size, 12, apart=4
    )
    props = [one["properties"] for one in items]
    items[zero]["geometry"]["coordinates"] = [0.0, 0.0]
    east, north = items[swap]["geometry"]["coordinates"]
    items[swap]["geometry"]["coordinates"] = [north, east]
    items[shape]["geometry"] = {
        "type": "Polygon",
        "coordinates": [[[5.1, 52.1], [5.2, 52.1], [5.2, 52.2], [5.1, 52.1]]],
    }
    count = rng.randint(4100, 9900)
    props[big]["capacity"] = count
    del props[lost]["operator"]
    for one in items[hole:]:
        one["id"] = f"node/{int(one['id'][5:]) + 17}"
    items[twice]["id"] = items[twice - 1]["id"] if twice != hole else items[twice + 1]["id"]
    mate = twice - 1 if twice != hole else twice + 1
    props[closed]["socket"] = "decommissioned"
    props[typed]["power_kw"] = "ca. 22 kW"
    key = "sk-" + w.alnum(rng, 40)
    props[leak]["note"] = f"api_key={key}"
    items[none]["geometry"] = None
    props[power]["power_kw"] = -rng.randint(1500, 3900)
    stated = size + rng.randint(200, 400)
    data = {
        "type": "FeatureCollection",
        "name": "charging",
        "numberMatched": stated,
        "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},
        "features": items,
    }
    t = Tree("/features", [[one["id"], one["properties"]["name"]] for one in items])
    t.one(
        "outlier",
        zero,
        ["[0.0, 0.0]", "[0, 0]", "0.0, 0.0", "0,0", "0.0,0.0"],
        "/geometry/coordinates",
        "0.0",
        "coordinates",
    )
    t.one("outlier", swap, [north, f"[{north}"], "/geometry/coordinates", str(north), "coordinates")
    t.one("rare value", shape, ["Polygon"], "/geometry/type", "Polygon")
    t.one("outlier", big, [count], "/properties/capacity", str(count), "capacity")
    t.lost(lost, "operator")
    before, after = items[hole - 1]["id"], items[hole]["id"]
    ids = {one["id"] for one in items}
    missing = [f"node/{k}" for k in range(first + hole, first + hole + 17) if f"node/{k}" not in ids]
    t.n.say(
        "gap",
        w.gap(missing, before, after) + w.gap([k[5:] for k in missing], before[5:], after[5:]),
        after,
        "node/",
        pointer=f"/features/{hole}/id",
        derived=True,
    )
    t.twice(min(mate, twice), max(mate, twice), items[twice]["id"], "/id")
    t.one("rare value", closed, ["decommissioned"], "/properties/socket", "decommissioned", "socket")
    t.one("changed type", typed, ["ca. 22 kW"], "/properties/power_kw", "ca. 22", "power_kw")
    t.one("secret", leak, ["api_key", "note"], "/properties/note", "api_key", hidden=key)
    t.n.say(
        "missing field",
        tuple(
            (a, "geometry", b)
            for a in (items[none]["id"], *w.spot("/features", none))
            for b in ("null", "missing", "none", "empty", "∅")
        ),
        "null",
        "geometry",
        pointer=f"/features/{none}/geometry",
    )
    t.one(
        "outlier",
        power,
        [props[power]["power_kw"]],
        "/properties/power_kw",
        str(props[power]["power_kw"]),
        "power_kw",
    )
    t.n.say("contradiction", (("numberMatched", str(stated)),), "numberMatched", pointer="/numberMatched")
    t.counts([one["operator"] for one in props if "operator" in one])
    t.total(size, "features")
    return t.n.parts(json.dumps(data, indent=2))


@kind("slack_history", "nested")
def slack_history(rng: random.Random) -> Parts:
    """Slack's conversations.history with threads: {ok, messages: [{user, text, ts, replies}], has_more}."""
    size = rng.randint(118, 130)
    users = {f"U0{w.upper(rng, 9)}": name for name in w.people(rng, 8)}
    clock = w.Clock(rng, datetime(2025, 9, 1, 7), 300, 4000)
    items = []

    def stamp() -> str:
        return f"{(clock.tick() - datetime(1970, 1, 1)).total_seconds():.0f}.{rng.randint(100000, 999999)}"

    for _ in range(size):
        user, ts = rng.choices(list(users), (30, 20, 15, 10, 8, 7, 6, 4))[0], stamp()
        one: dict = {
            "type": "message",
            "user": user,
            "text": w.sentence(rng),
            "ts": ts,
            "client_msg_id": w.uuid(rng),
            "team": "T024BE7LD",
            "blocks": [
                {
                    "type": "rich_text",
                    "block_id": w.alnum(rng, 5),
                    "elements": [{"type": "rich_text_section", "elements": []}],
                }
            ],
        }
        if rng.random() < 0.25:
            replies = [
                {
                    "type": "message",
                    "user": rng.choice(list(users)),
                    "text": w.sentence(rng),
                    "ts": stamp(),
                    "thread_ts": ts,
                }
                for _ in range(rng.randint(1, 4))
            ]
            one.update(thread_ts=ts, reply_count=len(replies), replies=replies)
        if rng.random() < 0.3:
            one["reactions"] = [
                {"name": rng.choice(("thumbsup", "eyes", "tada")), "count": rng.randint(1, 6)}
            ]
        items.append(one)
    outage, decide, leak, bot, loud, lost, twice, wrong, edit, file, alien, back = w.spots(
        rng, size, 12, apart=3
    )
    items[outage]["text"] = (
        "Production is down: checkout returns 500 for all customers since 14:05, rolling back release 8.41"
    )
    items[decide]["text"] = "Decision: we cancel the launch of 22 September, legal has not approved the terms"
    token = "xoxb-" + str(rng.randint(10**11, 10**12 - 1)) + "-" + w.alnum(rng, 24)
    items[leak]["text"] = f"you can use this until I am back: {token}"
    items[bot].update(subtype="bot_message", bot_id="B0PAGER11", username="pager")
    crowd = rng.randint(310, 890)
    items[loud]["reactions"] = [{"name": "rotating_light", "count": crowd}]
    del items[lost]["user"]
    items[twice]["client_msg_id"] = items[twice - 2]["client_msg_id"]
    claim = rng.randint(61, 95)
    items[wrong].update(
        thread_ts=items[wrong]["ts"],
        reply_count=claim,
        replies=[
            {
                "type": "message",
                "user": "USLACKBOT",
                "text": "ok",
                "ts": stamp(),
                "thread_ts": items[wrong]["ts"],
            }
        ],
    )
    items[edit].update(subtype="tombstone", text="This message was deleted.", hidden=True)
    items[file]["files"] = [
        {"id": "F07X", "name": "salaries_2025.xlsx", "size": 918_221, "is_external": True}
    ]
    items[alien]["team"] = "T0EXTERN9"
    items[back]["ts"] = "1262304000.000100"
    t = Tree("/messages", [[one["ts"]] for one in items])
    t.one("error", outage, ["Production is down", "8.41"], "/text", "down", "Production")
    t.one("decision", decide, ["cancel the launch", "22 September"], "/text", "Decision", "cancel the launch")
    t.one("secret", leak, ["xoxb", "until I am back", "token", "slack"], "/text", "xoxb", hidden=token)
    t.one("rare value", bot, ["bot_message", "B0PAGER11", "pager"], "/subtype", "bot_message", "subtype")
    t.one("outlier", loud, [crowd, "rotating_light"], "/reactions/0/count", "rotating_light", str(crowd))
    t.lost(lost, "user")
    t.twice(twice - 2, twice, items[twice]["client_msg_id"], "/client_msg_id")
    t.one("contradiction", wrong, [claim, "USLACKBOT"], "/reply_count", "reply_count", str(claim))
    t.one("rare value", edit, ["tombstone", "was deleted"], "/subtype", "tombstone", "deleted")
    t.one("rare value", file, ["salaries_2025"], "/files/0/name", "files", "xlsx")
    t.one("rare value", alien, ["T0EXTERN9"], "/team", "T0EXTERN9", "team")
    t.one("time jump", back, ["1262304000", "2010-01-01"], "/ts", "1262304000")
    t.counts([one["user"] for one in items if "user" in one], 1)
    t.total(size, "messages")
    threads = sum("replies" in one for one in items)
    t.n.say("count", w.count("replies", threads, "reply_count", "threads"), "reply_count", derived=True)
    data = {
        "ok": True,
        "messages": items,
        "has_more": True,
        "pin_count": 3,
        "response_metadata": {"next_cursor": "bmV4dF90czoxNTEy"},
    }
    return t.n.parts(json.dumps(data, indent=2))


@kind("cyclonedx", "nested")
def cyclonedx(rng: random.Random) -> Parts:
    """A CycloneDX 1.5 bill of materials: components, dependencies and vulnerabilities."""
    size = rng.randint(118, 130)
    names = w.distinct(rng, size, lambda r: f"{r.choice(w.NOUNS)}-{r.choice(w.VERBS)}")
    items = []
    for name in names:
        version = f"{rng.randint(1, 6)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}"
        ref = f"pkg:npm/{name}@{version}"
        items.append(
            {
                "type": "library",
                "bom-ref": ref,
                "name": name,
                "version": version,
                "scope": w.pick(rng, {"required": 80, "optional": 20}),
                "hashes": [{"alg": "SHA-256", "content": w.hexes(rng, 64)}],
                "licenses": [
                    {"license": {"id": w.pick(rng, {"MIT": 66, "Apache-2.0": 22, "BSD-3-Clause": 12})}}
                ],
                "purl": ref,
                "externalReferences": [{"type": "vcs", "url": f"https://github.com/{name}/{name}"}],
            }
        )
    refs = [one["bom-ref"] for one in items]
    gpl, weak, lost, alien, old, twice, beta, kind_, leak, vcs, bare = w.spots(rng, size, 11, apart=4)
    items[gpl]["licenses"][0]["license"]["id"] = "AGPL-3.0-only"
    items[weak]["hashes"][0] = {"alg": "MD5", "content": w.hexes(rng, 32)}
    del items[lost]["purl"]
    items[alien]["purl"] = items[alien]["purl"].replace("pkg:npm", "pkg:generic")
    items[old]["version"] = "0.0.0-unreleased"
    items[twice]["bom-ref"] = items[twice - 1]["bom-ref"]
    items[beta]["scope"] = "excluded"
    items[kind_]["type"] = "cryptographic-asset"
    token = w.alnum(rng, 32)
    items[leak]["externalReferences"][0]["url"] = f"https://ci-bot:{token}@git.acme.example/fork.git"
    items[vcs]["externalReferences"][0]["url"] = "http://198.51.100.23/pkg.tgz"
    items[bare]["licenses"] = []
    depends = [{"ref": ref, "dependsOn": rng.sample(refs, rng.randint(0, 3))} for ref in refs]
    ghost = rng.randrange(30, 90)
    depends[ghost]["dependsOn"] = ["pkg:npm/ghost-helper@6.6.6"]
    vulns = [
        {
            "id": "CVE-2025-31337",
            "ratings": [{"score": 9.9, "severity": "critical"}],
            "affects": [{"ref": refs[gpl]}],
            "analysis": {"state": "exploitable"},
        }
    ]
    data = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{w.uuid(rng)}",
        "version": 1,
        "metadata": {
            "timestamp": "2025-06-07T08:09:10Z",
            "component": {"type": "application", "name": "shop-web", "version": "8.4.1"},
        },
        "components": items,
        "dependencies": depends,
        "vulnerabilities": vulns,
    }
    t = Tree("/components", [[one] for one in names])
    t.one("rare value", gpl, ["AGPL-3.0"], "/licenses/0/license/id", "AGPL", "license")
    t.one("rare value", weak, ["MD5"], "/hashes/0/alg", "MD5", "alg")
    t.lost(lost, "purl")
    t.one("rare value", alien, ["pkg:generic"], "/purl", "pkg:generic")
    t.one("rare value", old, ["unreleased"], "/version", "unreleased")
    t.twice(twice - 1, twice, items[twice]["bom-ref"], "/bom-ref")
    t.one("rare value", beta, ["excluded"], "/scope", "excluded", "scope")
    t.one("rare value", kind_, ["cryptographic-asset"], "/type", "cryptographic")
    t.one(
        "secret",
        leak,
        ["ci-bot", "git.acme.example", "credential"],
        "/externalReferences/0/url",
        "ci-bot",
        "git.acme",
        hidden=token,
    )
    t.one("rare value", vcs, ["198.51.100.23"], "/externalReferences/0/url", "http://", "198.51")
    t.n.say(
        "missing field",
        tuple(
            (a, "licenses", b)
            for a in (names[bare], f"/components/{bare}", f"#{bare}")
            for b in ("empty", "[]", "missing", "no ", "without", "none", "0")
        ),
        '"licenses": []',
        "licenses",
        pointer=f"/components/{bare}/licenses",
        derived=False,
    )
    t.n.say(
        "contradiction",
        (("ghost-helper",),),
        "ghost-helper",
        "dependsOn",
        pointer=f"/dependencies/{ghost}/dependsOn/0",
    )
    t.n.say(
        "error",
        (("CVE-2025-31337", "9.9"), ("CVE-2025-31337", "critical"), ("CVE-2025-31337", "exploitable")),
        "CVE",
        "exploitable",
        pointer="/vulnerabilities/0",
    )
    t.counts([one["licenses"][0]["license"]["id"] for one in items if one["licenses"]])
    t.total(size, "components")
    return t.n.parts(json.dumps(data, indent=2))


@kind("salesforce_describe", "nested")
def salesforce_describe(rng: random.Random) -> Parts:
    """Salesforce's describe of an object: fields with their properties, child relationships and record types."""
    names = w.distinct(
        rng, rng.randint(82, 92), lambda r: f"{w.camel(r.choice(w.ADJECTIVES), r.choice(w.NOUNS))}__c"
    )
    items = []
    for name in names:
        what = w.pick(rng, {"string": 40, "picklist": 22, "double": 20, "boolean": 18})
        choices = (
            [
                {"active": True, "defaultValue": False, "label": one.capitalize(), "value": one}
                for one in rng.sample(w.NOUNS, rng.randint(2, 4))
            ]
            if what == "picklist"
            else []
        )
        items.append(
            {
                "aggregatable": what != "boolean",
                "byteLength": 0 if what != "string" else 765,
                "calculated": False,
                "createable": True,
                "custom": True,
                "defaultValue": None,
                "deprecatedAndHidden": False,
                "encrypted": False,
                "externalId": False,
                "filterable": True,
                "inlineHelpText": w.sentence(rng),
                "label": name[:-3],
                "length": 255 if what in ("string", "picklist") else 0,
                "name": name,
                "nillable": True,
                "picklistValues": choices,
                "precision": 18 if what == "double" else 0,
                "referenceTo": [],
                "scale": 2 if what == "double" else 0,
                "type": what,
                "unique": False,
                "updateable": True,
            }
        )
    hide, crypt, ext, formula, long, need, lost, twice, ref, leak, typed = w.spots(
        rng, len(items), 11, apart=3
    )
    items[hide]["deprecatedAndHidden"] = True
    items[crypt].update(encrypted=True, type="encryptedstring")
    items[ext].update(externalId=True, unique=True)
    items[formula].update(calculated=True, calculatedFormula="Amount__c * 1.25 - LegacyDiscount__c")
    length = rng.randint(120_000, 131_000)
    items[long].update(length=length, type="textarea")
    items[need]["nillable"] = False
    del items[lost]["label"]
    items[twice]["name"] = items[twice - 1]["name"]
    items[ref].update(type="reference", referenceTo=["Obsolete_Vendor__c"])
    secret = w.alnum(rng, 26)
    items[leak]["defaultValue"] = f"client_secret={secret}"
    items[typed]["precision"] = "eighteen"
    children = [
        {
            "cascadeDelete": False,
            "childSObject": f"{w.camel(rng.choice(w.NOUNS))}__c",
            "field": "Invoice__c",
            "relationshipName": f"{w.camel(*rng.sample(w.NOUNS, 2))}__r",
        }
        for _ in range(24)
    ]
    children[13].update(cascadeDelete=True, childSObject="LedgerEntry__c")
    data = {
        "activateable": False,
        "childRelationships": children,
        "createable": True,
        "custom": True,
        "deletable": False,
        "fields": items,
        "keyPrefix": "a0X",
        "label": "Invoice",
        "name": "Invoice__c",
        "queryable": True,
        "recordTypeInfos": [{"active": True, "name": "Master", "recordTypeId": "012000000000000AAA"}],
        "urls": {"sobject": "/services/data/v60.0/sobjects/Invoice__c"},
    }
    t = Tree("/fields", [[one] for one in names])
    t.one(
        "rare value",
        hide,
        ["deprecatedAndHidden"],
        "/deprecatedAndHidden",
        '"deprecatedAndHidden": true',
        "deprecatedAndHidden",
    )
    t.one("rare value", crypt, ["encryptedstring"], "/type", "encryptedstring", "encrypted")
    t.one("rare value", ext, ["externalId"], "/externalId", '"externalId": true', "externalId")
    t.one(
        "rare value",
        formula,
        ["LegacyDiscount__c", "calculatedFormula"],
        "/calculatedFormula",
        "calculatedFormula",
        "Legacy",
    )
    t.one("outlier", long, [length, "textarea"], "/length", str(length), "textarea")
    t.one("rare value", need, ["nillable"], "/nillable", '"nillable": false', "nillable")
    t.lost(lost, "label")
    t.twice(twice - 1, twice, items[twice]["name"], "/name")
    t.one("rare value", ref, ["Obsolete_Vendor__c"], "/referenceTo/0", "Obsolete", "referenceTo")
    t.one(
        "secret",
        leak,
        ["client_secret", "defaultValue"],
        "/defaultValue",
        "client_secret",
        "secret",
        hidden=secret,
    )
    t.one("changed type", typed, ["eighteen"], "/precision", "eighteen", "precision")
    t.n.say(
        "rare value",
        pairs(["LedgerEntry__c", "/childRelationships/13"], ["cascadeDelete"]),
        '"cascadeDelete": true',
        "cascadeDelete",
        pointer="/childRelationships/13/cascadeDelete",
    )
    t.n.say("rare value", (("deletable", "false"),), "deletable", pointer="/deletable")
    t.counts([one["type"] for one in items])
    t.total(len(items), "fields")
    return t.n.parts(json.dumps(data, indent=2))
