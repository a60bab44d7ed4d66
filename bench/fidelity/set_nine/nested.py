"""Nested JSON of infrastructure and pipelines."""

# ruff: noqa: B023, C408, C901, E501, S104

import json
import random
from datetime import timedelta
from typing import Any

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_nine.tools import (
    at,
    counted,
    day,
    hexes,
    iso_ms,
    letters,
    person,
    seconds,
    uuid,
    where,
)


def _arn(rest: str) -> str:
    return f"arn:aws:states:eu-west-1:481206739915:{rest}"


@kind("n_stepfn_history", "nested")
def stepfn(rng: random.Random) -> Parts:
    """aws stepfunctions get-execution-history."""
    events: list[dict[str, Any]] = []
    now, number = day(2026, 3, 14, 2, 0, 4), 0

    def add(type_: str, field: str = "", body: dict[str, Any] | None = None, wait: float = 1.5, before: int | None = None) -> int:
        nonlocal now, number
        now += seconds(rng.expovariate(1 / wait) + 0.004)
        number += 1
        one: dict[str, Any] = {"timestamp": iso_ms(now), "type": type_, "id": number, "previousEventId": number - 1 if before is None else before}
        if field:
            one[field] = body
        events.append(one)
        return len(events) - 1

    add("ExecutionStarted", "executionStartedEventDetails", {"input": json.dumps({"run": "2026-03-14", "tenants": 96, "mode": "full"}), "inputDetails": {"truncated": False}, "roleArn": "arn:aws:iam::481206739915:role/settlement-sfn"})
    add("MapStateStarted", "mapStateStartedEventDetails", {"length": 96})
    n = rng.randint(84, 88)
    at_ = {name: int(n * s) for name, s in dict(fail=0.22, timeout=0.3, big=0.37, lost=0.43, type=0.48, jump=0.54, secret=0.59, choice=0.66, dup=0.72, gap=0.78, gone=0.35, arn=0.84, amount=0.9, task=0.95).items()}
    mark: dict[str, int] = {}
    amounts: list[float] = []
    for i in range(n):
        tenant = f"tn-{rng.randint(1000, 9999)}{'abcdefgh'[i % 8]}"
        amount = round(rng.lognormvariate(7, 0.6), 2)
        if i == at_["amount"]:
            amount = -4_820_331.5
        amounts.append(amount)
        given: dict[str, Any] = {"tenant": tenant, "invoices": rng.randint(3, 400), "amount": amount, "currency": rng.choice(["EUR", "EUR", "CHF", "PLN"]), "correlation": uuid(rng)}
        if i == at_["secret"]:
            given["sftp"] = {"host": "sftp.bank.example", "user": "settle", "password": (secret := letters(rng, 13))}
        if i == at_["type"]:
            given["invoices"] = "n/a (import failed)"
        if i == at_["gap"]:
            number += 5
        add("MapIterationStarted", "mapIterationStartedEventDetails", {"name": "ForEachTenant", "index": i})
        k = add("TaskStateEntered", "stateEnteredEventDetails", {"name": "SettleTenant", "input": json.dumps(given), "inputDetails": {"truncated": False}})
        for name in ("secret", "type", "amount", "gap"):
            if i == at_[name]:
                mark[name] = k - (name == "gap")
        arn = _arn("function:settle:12").replace("states", "lambda")
        if i == at_["arn"]:
            arn = arn.replace(":12", ":$LATEST")
        k = add("TaskScheduled", "taskScheduledEventDetails", {"resourceType": "lambda", "resource": "invoke", "region": "eu-west-1", "parameters": json.dumps({"FunctionName": arn, "Payload": {"tenant": tenant}}), "timeoutInSeconds": 900})
        if i == at_["arn"]:
            mark["arn"] = k
        if i == at_["jump"]:
            now += timedelta(hours=5, minutes=17)
            mark["jump"] = k
        add("TaskStarted", "taskStartedEventDetails", {"resourceType": "lambda", "resource": "invoke"})
        if i == at_["fail"]:
            mark["fail"] = add("TaskFailed", "taskFailedEventDetails", {"resourceType": "lambda", "resource": "invoke", "error": "LedgerImbalanceError", "cause": json.dumps({"errorMessage": f"debit 18422.10 <> credit 18242.10 for {tenant}", "errorType": "LedgerImbalanceError", "trace": ["settle.py:214", "ledger.py:88"]})})
            add("MapIterationFailed", "mapIterationFailedEventDetails", {"name": "ForEachTenant", "index": i})
            continue
        if i == at_["timeout"]:
            mark["timeout"] = add("TaskTimedOut", "taskTimedOutEventDetails", {"resourceType": "lambda", "resource": "invoke", "error": "States.Timeout", "cause": "no heartbeat within 900 seconds"})
            add("MapIterationAborted", "mapIterationAbortedEventDetails", {"name": "ForEachTenant", "index": i})
            continue
        done = {"tenant": tenant, "status": "SETTLED", "booked": given["invoices"], "file": f"s3://settle-prod/2026/03/14/{hexes(rng, 10)}.csv", "ms": rng.randint(300, 9000)}
        if i == at_["big"]:
            done["ms"] = 884_120
        if i == at_["choice"]:
            done["status"] = "HELD_SANCTIONS_MATCH"
        k = add("TaskSucceeded", "taskSucceededEventDetails", {"resourceType": "lambda", "resource": "invoke", "output": json.dumps({"StatusCode": 200, "Payload": done}), "outputDetails": {"truncated": False}})
        for name in ("big", "choice", "dup", "lost"):
            if i == at_[name]:
                mark[name] = k
        add("TaskStateExited", "stateExitedEventDetails", {"name": "SettleTenant", "output": json.dumps(done)})
        add("MapIterationSucceeded", "mapIterationSucceededEventDetails", {"name": "ForEachTenant", "index": i})
    add("MapStateSucceeded")
    add("ExecutionSucceeded", "executionSucceededEventDetails", {"output": json.dumps({"settled": 96, "failed": 0}), "outputDetails": {"truncated": False}})
    twin = events[mark["dup"]]["id"]
    events[mark["dup"] + 1]["id"] = twin
    del events[mark["lost"]]["previousEventId"]
    text = json.dumps({"events": events}, indent=2)
    ok = sum(e["type"] == "MapIterationSucceeded" for e in events)
    scheduled = sum(e["type"] == "TaskScheduled" for e in events)
    j = mark["jump"]
    hole = events[mark["gap"] - 1]["id"], events[mark["gap"]]["id"]

    def w(name: str, *words: str) -> tuple[tuple[str, ...], ...]:
        k = mark[name]
        return at((*where(k), f'"id": {events[k]["id"]}', f"id {events[k]['id']}", f"|{events[k]['id']}|", f"id={events[k]['id']}"), *words)

    def p(name: str, rest: str = "") -> str:
        return f"/events/{mark[name]}{rest}"

    types = ("SELECT type, count(*) AS n, min(id) AS first FROM t GROUP BY 1 ORDER BY 2",)
    return text, [
        Fact("error", (("ledgerimbalanceerror",), ("18422.10",)), ("TaskFailed", "error"), p("fail"), queries=("SELECT id, type, taskFailedEventDetails.error, taskFailedEventDetails.cause FROM t WHERE type LIKE '%Failed%'",)),
        Fact("rare status", (("tasktimedout",), ("states.timeout",), ("no heartbeat",)), ("TimedOut", "Timeout"), p("timeout"), queries=types),
        Fact("outlier", (("884120",),), ("884120", '"ms"'), p("big"), queries=(
            "SELECT id, json_extract(taskSucceededEventDetails.output, '$.Payload.ms') AS ms FROM t WHERE type = 'TaskSucceeded' ORDER BY 2 DESC LIMIT 3",)),
        Fact("missing field", w("lost", "previouseventid"), ("previousEventId",), p("lost"), queries=("SELECT n, id, type, previousEventId FROM t WHERE previousEventId IS NULL",)),
        Fact("changed type", (("import failed",),), ("invoices", "n/a"), p("type"), queries=("SELECT id, stateEnteredEventDetails.input FROM t WHERE stateEnteredEventDetails.input LIKE '%n/a%'",)),
        Fact("time jump", ((events[j]["timestamp"][:16], events[j + 1]["timestamp"][:16]), (events[j]["timestamp"][11:16], events[j + 1]["timestamp"][11:16]), *w("jump", "5 h"), *w("jump", "5:17"), *w("jump", "5h")), (events[j]["timestamp"][:16],), p("jump", "/timestamp"), queries=(
            "SELECT * FROM (SELECT id, timestamp, lead(timestamp) OVER (ORDER BY n) AS next FROM t) ORDER BY julianday(next) - julianday(timestamp) DESC LIMIT 3",)),
        Fact("secret", (("sftp.bank.example",), *w("secret", "password"), *w("secret", "secret"), ("sftp", "password"), ("/stateenteredeventdetails/input", "password")), ("password", "sftp"), p("secret", "/stateEnteredEventDetails/input"), hidden=secret),
        Fact("rare status", (("held_sanctions_match",),), ("status", "HELD"), p("choice"), queries=(
            "SELECT json_extract(taskSucceededEventDetails.output, '$.Payload.status') AS status, count(*) AS n FROM t WHERE type = 'TaskSucceeded' GROUP BY 1",)),
        Fact("duplicate", (*(( f"{a} {twin}", f"/{mark['dup']}") for a in ("id", '"id":')), ("duplicate", str(twin)), ("twice", str(twin)), ("repeat", str(twin)), ("count", f"{twin}|2"), ("times", f"{twin}|2"), (f"/{mark['dup']}", f"/{mark['dup'] + 1}")), (f'"id": {twin}', str(twin)), p("dup", "/id"), queries=(
            "SELECT id, count(*) AS times FROM t GROUP BY 1 HAVING count(*) > 1",)),
        Fact("gap", ((str(hole[0]), str(hole[1])), ("missing", str(hole[0] + 1))), (f'"id": {hole[0]}', str(hole[0])), f"/events/{mark['gap']}/id", queries=(
            "SELECT id, next FROM (SELECT id, lead(id) OVER (ORDER BY id) AS next FROM t) WHERE next - id > 2",)),
        Fact("rare value", (("settle:$latest",), ("$latest",)), ("$LATEST", "FunctionName"), p("arn"), queries=(
            "SELECT json_extract(taskScheduledEventDetails.parameters, '$.FunctionName') AS f, count(*) AS n, min(id) AS id FROM t WHERE type = 'TaskScheduled' GROUP BY 1",)),
        Fact("outlier", (("-4820331",),), ("amount",), p("amount"), queries=(
            "SELECT id, json_extract(stateEnteredEventDetails.input, '$.amount') AS amount FROM t WHERE type = 'TaskStateEntered' ORDER BY 2 LIMIT 3",)),
        Fact("contradiction", (("96", str(ok), "mapiterationsucceeded"), ("settled", "96", str(ok)), ("length", "96", str(ok))), ("settled",), f"/events/{len(events) - 1}", queries=(
            "SELECT (SELECT mapStateStartedEventDetails.length FROM t WHERE type = 'MapStateStarted') AS length, sum(type = 'MapIterationSucceeded') AS succeeded FROM t",)),
        Fact("count", counted("taskscheduled", scheduled), ("TaskScheduled",), queries=("SELECT type, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("count", counted("mapiterationsucceeded", ok), ("MapIterationSucceeded",), queries=("SELECT type, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("range", ((events[0]["timestamp"][:16], events[-1]["timestamp"][:16]),), ("timestamp",), queries=("SELECT min(timestamp) AS first, max(timestamp) AS last FROM t",)),
    ]  # fmt: skip


@kind("n_gitlab_pipelines", "nested")
def gitlab(rng: random.Random) -> Parts:
    """Pipelines of a project with their jobs."""
    n, now, pid, iid = rng.randint(30, 33), day(2026, 3, 2, 7, 4), 1184200311, 5210
    pipelines: list[dict[str, Any]] = []
    plan = [("build", "compile"), ("build", "docker-image"), ("test", "unit 1/3"), ("test", "unit 2/3"), ("test", "unit 3/3"), ("test", "integration"), ("test", "lint"), ("scan", "semgrep-sast"), ("deploy", "review"), ("deploy", "staging")]
    o = {name: int(n * s) for name, s in dict(stuck=0.13, oom=0.2, runner=0.27, cov=0.34, gap=0.4, sched=0.46, prod=0.53, missing=0.6, typed=0.66, back=0.73, secret=0.8, dup=0.86, manual=0.9, long=0.95).items()}
    runners = [{"id": 40211 + k, "description": f"k8s-runner-{k}", "ip_address": None, "active": True, "is_shared": False, "runner_type": "group_type", "online": True, "status": "online"} for k in range(4)]
    secret = ""
    job_id = 9312004100
    for i in range(n):
        now += seconds(rng.expovariate(1 / 21000) + 400)
        pid += rng.randint(300, 9000)
        iid += 3 if i == o["gap"] else 1
        sha, ref = hexes(rng, 40), rng.choice(["main", "main", f"feat/TAR-{rng.randint(800, 999)}", f"fix/TAR-{rng.randint(800, 999)}", "renovate/all"])
        first, last = person(rng)
        user = {"id": rng.randint(100, 999), "username": f"{first[0]}{last}".lower(), "name": f"{first} {last}", "state": "active", "web_url": f"https://gitlab.albatros.example/{first[0]}{last}".lower()}
        failed = rng.random() < 0.18
        jobs, t = [], now
        for k, (stage, name) in enumerate(plan):
            took = rng.lognormvariate(4.6, 0.5)
            job_id += rng.randint(1, 30)
            status = "failed" if failed and k == 5 else "skipped" if failed and k > 7 else "success"
            start = t + seconds(rng.uniform(1, 40))
            jobs.append({"id": job_id, "status": status, "stage": stage, "name": name, "ref": ref, "tag": False, "coverage": round(rng.uniform(71, 84), 2) if name.startswith("unit") else None, "allow_failure": name == "lint",
                         "created_at": iso_ms(now), "started_at": iso_ms(start) if status != "skipped" else None, "finished_at": iso_ms(start + seconds(took)) if status != "skipped" else None,
                         "duration": round(took, 3) if status != "skipped" else None, "queued_duration": round(rng.uniform(0.2, 30), 3), "failure_reason": "script_failure" if status == "failed" else None,
                         "artifacts": [{"file_type": "trace", "size": rng.randint(8000, 900000), "filename": "job.log", "file_format": None}], "runner": rng.choice(runners), "variables": []})  # fmt: skip
            t += seconds(took / 2)
        if i == o["stuck"]:
            jobs[3].update(status="failed", failure_reason="stuck_or_timeout_failure", duration=3600.4)
            failed = True
        if i == o["oom"]:
            jobs[1].update(status="failed", failure_reason="runner_system_failure", error_message="OOMKilled: container build exceeded memory limit 4Gi")
            failed = True
        if i == o["runner"]:
            jobs[5]["runner"] = {**runners[0], "id": 77, "description": "marcs-macbook-pro.local", "runner_type": "project_type", "ip_address": "84.172.19.6"}
        if i == o["cov"]:
            jobs[4]["coverage"] = 11.02
        if i == o["prod"]:
            jobs[9].update(name="production", status="success")
            prod_job = jobs[9]["id"]
        if i == o["missing"]:
            del jobs[6]["runner"]
        if i == o["typed"]:
            jobs[2]["duration"] = "1m 42s"
        if i == o["back"]:
            jobs[7]["finished_at"] = "2025-03-14T00:00:00.000Z"
        if i == o["secret"]:
            secret = "glpat-" + letters(rng, 20)
            jobs[1]["variables"] = [{"key": "REGISTRY_TOKEN", "value": secret, "masked": False}]
        if i == o["dup"]:
            twin = jobs[0]["id"]
            jobs[4]["id"] = twin
        if i == o["manual"]:
            jobs[8]["status"] = "manual"
        if i == o["long"]:
            jobs[5]["queued_duration"] = 41872.9
        pipelines.append({"id": pid, "iid": iid, "project_id": 4471, "sha": sha, "ref": ref, "status": "failed" if failed else "success", "source": "schedule" if i == o["sched"] else rng.choice(["push", "push", "merge_request_event"]),
                          "created_at": iso_ms(now), "updated_at": iso_ms(t + seconds(200)), "web_url": f"https://gitlab.albatros.example/tariff/core/-/pipelines/{pid}", "user": user, "duration": int((t - now).total_seconds()),
                          "detailed_status": {"icon": f"status_{'failed' if failed else 'success'}", "group": "failed" if failed else "success"}, "jobs": jobs})  # fmt: skip
    lie = pipelines[o["oom"]]
    lie["status"] = "success"
    text = json.dumps({"project": "tariff/core", "pipelines": pipelines}, indent=1)
    every = [job for one in pipelines for job in one["jobs"]]
    fails, skips = sum(job["status"] == "failed" for job in every), sum(job["status"] == "skipped" for job in every)
    merge = sum(one["source"] == "merge_request_event" for one in pipelines)
    hole = pipelines[o["gap"] - 1]["iid"], pipelines[o["gap"]]["iid"]

    def job(name: str, k: int, *words: str) -> tuple[tuple[str, ...], ...]:
        i = o[name]
        return at((str(pipelines[i]["jobs"][k]["id"]), f"/{i}/jobs/{k}", f"[{i}].jobs[{k}]", str(pipelines[i]["id"])), *words)

    def p(name: str, rest: str) -> str:
        return f"/pipelines/{o[name]}{rest}"

    return text, [
        Fact("error", (("stuck_or_timeout_failure",),), ("failure_reason", "stuck"), p("stuck", "/jobs/3"), queries=("SELECT failure_reason, count(*) AS n, min(id) AS job FROM jobs GROUP BY 1",)),
        Fact("error", (("oomkilled",), ("runner_system_failure",)), ("OOMKilled", "error_message"), p("oom", "/jobs/1"), queries=("SELECT id, name, error_message FROM jobs WHERE error_message IS NOT NULL",)),
        Fact("contradiction", ((str(lie["id"]), "runner_system_failure"), (str(lie["id"]), "success", "failed"), (str(lie["iid"]), "success", "failed"), (f"/pipelines/{o['oom']}", "success", "failed"), (f"/pipelines/{o['oom']}/status", "success")), (str(lie["id"]),), p("oom", "/status"), queries=(
            "SELECT t.id, t.status, j.status AS job_status, j.failure_reason FROM t JOIN jobs j ON j.parent = t.n WHERE t.status = 'success' AND j.status = 'failed'",)),
        Fact("rare value", (("marcs-macbook-pro",),), ("runner", "macbook"), p("runner", "/jobs/5/runner"), queries=("SELECT runner.description, count(*) AS n FROM jobs GROUP BY 1",)),
        Fact("outlier", (("11.02",),), ("coverage",), p("cov", "/jobs/4/coverage"), queries=("SELECT id, name, coverage FROM jobs WHERE coverage IS NOT NULL ORDER BY coverage LIMIT 3",)),
        Fact("gap", ((str(hole[0]), str(hole[1])), (str(hole[0] + 1),)), (f'"iid": {hole[0]}', str(hole[0])), p("gap", "/iid"), queries=(
            "SELECT iid, next FROM (SELECT iid, lead(iid) OVER (ORDER BY iid) AS next FROM t) WHERE next - iid > 1",)),
        Fact("rare value", (("schedule", str(pipelines[o["sched"]]["id"])), ("schedule", "push"), (f"/{o['sched']}/source", "schedule"), ("source", "schedule")), ("schedule",), p("sched", "/source"), queries=("SELECT source, count(*) AS n, min(id) AS first FROM t GROUP BY 1",)),
        Fact("meaning", (("production",), (str(prod_job), "production")), ("production", "deploy"), p("prod", "/jobs/9"), queries=("SELECT name, count(*) AS n, min(id) AS job FROM jobs GROUP BY 1 ORDER BY 2",)),
        Fact("missing field", job("missing", 6, "runner"), ('"runner"',), p("missing", "/jobs/6"), queries=("SELECT id, name, runner.id FROM jobs WHERE runner.id IS NULL",)),
        Fact("changed type", (("1m 42s",),), ("duration", "1m"), p("typed", "/jobs/2/duration"), queries=("SELECT id, name, duration FROM jobs WHERE typeof(duration) = 'text'",)),
        Fact("time jump", (("2025-03-14",),), ("finished_at", "2025"), p("back", "/jobs/7/finished_at"), queries=("SELECT id, started_at, finished_at FROM jobs WHERE finished_at < started_at",)),
        Fact("secret", (("registry_token",), *job("secret", 1, "variables")), ("TOKEN", "glpat"), p("secret", "/jobs/1/variables/0/value"), hidden=secret),
        Fact("duplicate", ((str(twin),),), (str(twin),), p("dup", "/jobs/4/id"), queries=("SELECT id, count(*) AS times FROM jobs GROUP BY 1 HAVING count(*) > 1",)),
        Fact("outlier", (("41872.9",),), ("queued_duration",), p("long", "/jobs/5/queued_duration"), queries=("SELECT id, name, queued_duration FROM jobs ORDER BY queued_duration DESC LIMIT 3",)),
        Fact("count", (*counted("failed", fails), ("failed", str(fails), "skipped", str(skips), "success")), ("failed",), queries=("SELECT status, count(*) AS n FROM jobs GROUP BY 1",)),
        Fact("count", counted("merge_request_event", merge), ("merge_request_event",), queries=("SELECT source, count(*) AS n FROM t GROUP BY 1",)),
    ]  # fmt: skip


@kind("n_arm_template", "nested")
def arm(rng: random.Random) -> Parts:
    """An ARM template exported from a resource group."""
    api = {"Microsoft.Storage/storageAccounts": "2023-05-01", "Microsoft.Web/sites": "2023-12-01", "Microsoft.Web/serverfarms": "2023-12-01", "Microsoft.Sql/servers/databases": "2023-08-01", "Microsoft.Compute/virtualMachines": "2024-07-01",
           "Microsoft.Network/publicIPAddresses": "2024-05-01", "Microsoft.KeyVault/vaults": "2023-07-01", "Microsoft.Insights/metricAlerts": "2018-03-01", "Microsoft.ContainerRegistry/registries": "2023-07-01"}  # fmt: skip
    types = list(api)
    n, resources, parameters = rng.randint(98, 104), [], {}
    short = ["st", "app", "plan", "sqldb", "vm", "pip", "kv", "alert", "acr"]

    def pick(i: int) -> int:
        return rng.choices(range(9), [16, 18, 8, 12, 14, 10, 6, 12, 4])[0]

    wanted = {0: "blob tls", 1: "setting http", 4: "vm image", 3: "db", 2: "typed", 7: "alert", 5: "open"}
    kinds = [pick(i) for i in range(n)]
    o: dict[str, int] = {}
    step = 20
    for k, names in wanted.items():
        for name in names.split():
            kinds[step] = k
            o[name] = step
            step += 6
    o.update(region=step, tags=step + 3, api=step + 5, depends=step + 7, twin=step + 10)
    kinds[o["depends"]] = 1
    kinds[o["twin"]] = kinds[o["twin"] - 15]
    for i in range(n):
        k = kinds[i]
        type_ = types[k]
        base = f"{short[k]}-{rng.choice(['pay', 'crm', 'edi', 'bi', 'portal', 'track'])}-{rng.choice(['prod', 'prod', 'test'])}-{hexes(rng, 4)}{i:02d}"
        parameters[f"{type_.split('/')[-1]}_{base.replace('-', '_')}_name"] = {"defaultValue": base, "type": "String"}
        name = f"[parameters('{type_.split('/')[-1]}_{base.replace('-', '_')}_name')]"
        props: dict[str, Any] = {
            0: lambda: {"dnsEndpointType": "Standard", "minimumTlsVersion": "TLS1_2", "allowBlobPublicAccess": False, "allowSharedKeyAccess": True, "supportsHttpsTrafficOnly": True, "accessTier": rng.choice(["Hot", "Cool"]),
                        "networkAcls": {"bypass": "AzureServices", "virtualNetworkRules": [], "ipRules": [{"value": f"20.{rng.randint(1, 250)}.{rng.randint(1, 250)}.{rng.randint(1, 250)}", "action": "Allow"}], "defaultAction": "Deny"}},
            1: lambda: {"enabled": True, "httpsOnly": True, "reserved": True, "clientAffinityEnabled": False, "serverFarmId": "[resourceId('Microsoft.Web/serverfarms', parameters('serverfarms_main_name'))]",
                        "siteConfig": {"numberOfWorkers": rng.randint(1, 4), "linuxFxVersion": rng.choice(["DOTNETCORE|8.0", "NODE|20-lts", "PYTHON|3.12"]), "alwaysOn": True, "http20Enabled": True, "minTlsVersion": "1.2",
                                       "appSettings": [{"name": "WEBSITE_RUN_FROM_PACKAGE", "value": "1"}, {"name": "REGION_TAG", "value": hexes(rng, 6)}]}},
            2: lambda: {"perSiteScaling": False, "elasticScaleEnabled": False, "maximumElasticWorkerCount": 1, "reserved": True, "targetWorkerCount": 0, "zoneRedundant": False},
            3: lambda: {"collation": "SQL_Latin1_General_CP1_CI_AS", "maxSizeBytes": rng.choice([2147483648, 34359738368, 268435456000]), "catalogCollation": "SQL_Latin1_General_CP1_CI_AS", "zoneRedundant": False, "requestedBackupStorageRedundancy": "Geo", "isLedgerOn": False},
            4: lambda: {"hardwareProfile": {"vmSize": rng.choice(["Standard_D4s_v5", "Standard_B2ms", "Standard_E8s_v5"])}, "storageProfile": {"imageReference": {"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"},
                        "osDisk": {"osType": "Linux", "createOption": "FromImage", "caching": "ReadWrite", "diskSizeGB": rng.choice([64, 128])}}, "osProfile": {"adminUsername": "azops", "linuxConfiguration": {"disablePasswordAuthentication": True}}},
            5: lambda: {"ipAddress": f"20.{rng.randint(30, 120)}.{rng.randint(1, 250)}.{rng.randint(1, 250)}", "publicIPAddressVersion": "IPv4", "publicIPAllocationMethod": "Static", "idleTimeoutInMinutes": 4, "ipTags": []},
            6: lambda: {"tenantId": "6f1d2c9e-55a0-4c1b-9a57-0b3c6c1d2e11", "enableSoftDelete": True, "softDeleteRetentionInDays": 90, "enableRbacAuthorization": True, "publicNetworkAccess": "Disabled"},
            7: lambda: {"description": f"CPU above {rng.randint(70, 95)} for {base}", "severity": rng.choice([2, 3]), "enabled": True, "evaluationFrequency": "PT1M", "windowSize": "PT5M", "criteria": {"allOf": [{"threshold": rng.randint(70, 95), "metricName": "CpuPercentage", "operator": "GreaterThan", "timeAggregation": "Average"}]}},
            8: lambda: {"adminUserEnabled": False, "policies": {"retentionPolicy": {"days": 7, "status": "disabled"}}, "zoneRedundancy": "Disabled"},
        }[k]()  # fmt: skip
        one: dict[str, Any] = {"type": type_, "apiVersion": api[type_], "name": name, "location": "westeurope"}
        if k in (0, 2, 3):
            one["sku"] = {"name": ["Standard_LRS", "", "P1v3", "GP_S_Gen5"][k], "tier": ["Standard", "", "PremiumV3", "GeneralPurpose"][k], "capacity": rng.randint(1, 4)}
        one["tags"] = {"costCenter": f"CC-{rng.randint(100, 999)}", "owner": ".".join(person(rng)).lower(), "env": base.split("-")[2]}
        if k in (1, 7):
            one["dependsOn"] = ["[resourceId('Microsoft.Web/serverfarms', parameters('serverfarms_main_name'))]"]
        one["properties"] = props
        resources.append(one)
    r = resources
    r[o["blob"]]["properties"]["allowBlobPublicAccess"] = True
    r[o["tls"]]["properties"]["minimumTlsVersion"] = "TLS1_0"
    secret = letters(rng, 28)
    r[o["setting"]]["properties"]["siteConfig"]["appSettings"].append({"name": "SMTP_PASSWORD", "value": secret})
    r[o["http"]]["properties"]["httpsOnly"] = False
    r[o["vm"]]["properties"]["hardwareProfile"]["vmSize"] = "Standard_M416ms_v2"
    r[o["image"]]["properties"]["osProfile"]["linuxConfiguration"]["disablePasswordAuthentication"] = False
    r[o["db"]]["properties"]["maxSizeBytes"] = 1
    r[o["typed"]]["sku"]["capacity"] = "three"
    r[o["alert"]]["properties"].update(enabled=False, severity=0)
    r[o["open"]]["properties"]["ipAddress"] = "0.0.0.0"
    r[o["region"]]["location"] = "brazilsouth"
    del r[o["tags"]]["tags"]
    r[o["api"]]["apiVersion"] = "2015-06-15-preview"
    r[o["depends"]]["dependsOn"] = ["[resourceId('Microsoft.Cache/Redis', parameters('Redis_gone_name'))]"]
    r[o["twin"]]["name"] = r[o["twin"] - 15]["name"]
    twin = r[o["twin"]]["name"].split("'")[1]
    counts = {t: sum(one["type"] == t for one in r) for t in types}
    document = {"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0", "parameters": parameters, "variables": {}, "resources": r, "outputs": {"resourceCount": {"type": "int", "value": n + 9}}}
    text = json.dumps(document, indent=2)

    def rare(name: str, field: str, value: str, usual: str) -> tuple[tuple[str, ...], ...]:
        """The ways in which a reply may tell a rare boolean."""
        low = field.lower()
        many = str(text.count(f'"{field}": {usual}'))
        spelled = tuple((form.format(low, value),) for form in ('"{}": {}', "{}: {}", "{}={}", "{} = {}"))
        return (*w(name, low), *w(name, value), *spelled, (low, value, usual, many), (low, f"{value} 1"), (low, f"1 {value}"), (low, f"{value} (1"), (low, f"{value}: 1"))

    def w(name: str, *words: str) -> tuple[tuple[str, ...], ...]:
        return at(where(o[name], r[o[name]]["name"].split("'")[1]), *words)

    def p(name: str, rest: str = "") -> str:
        return f"/resources/{o[name]}{rest}"

    sites, vms = counts["Microsoft.Web/sites"], counts["Microsoft.Compute/virtualMachines"]
    return text, [
        Fact("rare value", rare("blob", "allowBlobPublicAccess", "true", "false"), ("allowBlobPublicAccess",), p("blob", "/properties/allowBlobPublicAccess"), queries=("SELECT name, properties.allowBlobPublicAccess FROM resources WHERE properties.allowBlobPublicAccess = 1",)),
        Fact("rare value", (("tls1_0",),), ("minimumTlsVersion", "TLS1_0"), p("tls", "/properties/minimumTlsVersion"), queries=("SELECT properties.minimumTlsVersion, count(*) AS n, min(name) AS name FROM resources GROUP BY 1",)),
        Fact("secret", (("smtp_password",), *w("setting", "appsettings", "secret")), ("PASSWORD",), p("setting", "/properties/siteConfig/appSettings/2/value"), hidden=secret, queries=("SELECT name FROM appSettings WHERE name LIKE '%PASSWORD%' OR name LIKE '%SECRET%'",)),
        Fact("rare value", rare("http", "httpsOnly", "false", "true"), ("httpsOnly",), p("http", "/properties/httpsOnly"), queries=("SELECT name, properties.httpsOnly FROM resources WHERE properties.httpsOnly = 0",)),
        Fact("outlier", (("standard_m416ms_v2",),), ("vmSize",), p("vm", "/properties/hardwareProfile/vmSize"), queries=("SELECT properties.hardwareProfile.vmSize, count(*) AS n FROM resources GROUP BY 1",)),
        Fact("rare value", rare("image", "disablePasswordAuthentication", "false", "true"), ("disablePasswordAuthentication",), p("image"), queries=(
            "SELECT name, properties.osProfile.linuxConfiguration.disablePasswordAuthentication FROM resources WHERE properties.osProfile.linuxConfiguration.disablePasswordAuthentication = 0",)),
        Fact("outlier", w("db", "maxsizebytes"), ("maxSizeBytes",), p("db", "/properties/maxSizeBytes"), queries=("SELECT n, name, properties.maxSizeBytes FROM resources WHERE properties.maxSizeBytes IS NOT NULL ORDER BY 3 LIMIT 3",)),
        Fact("changed type", (*w("typed", "three"), ("capacity", "three")), ("capacity",), p("typed", "/sku/capacity"), queries=("SELECT name, sku.capacity FROM resources WHERE typeof(sku.capacity) = 'text'",)),
        Fact("rare status", (*w("alert", "enabled"), *w("alert", "severity"), ("severity", "0", "2", "3"), ("enabled", "false", "severity")), ('"severity": 0', "severity"), p("alert", "/properties"), queries=("SELECT name, properties.enabled, properties.severity FROM resources WHERE properties.enabled = 0",)),
        Fact("rare value", (("brazilsouth",),), ("location",), p("region", "/location"), queries=("SELECT location, count(*) AS n FROM resources GROUP BY 1",)),
        Fact("missing field", w("tags", "tags"), ('"tags"',), p("tags"), queries=("SELECT n, name, tags.owner FROM resources WHERE tags.owner IS NULL",)),
        Fact("rare value", (("2015-06-15-preview",),), ("apiVersion", "preview"), p("api", "/apiVersion"), queries=("SELECT apiVersion, count(*) AS n FROM resources GROUP BY 1 ORDER BY 1",)),
        Fact("contradiction", (("redis_gone_name",), ("microsoft.cache/redis",)), ("dependsOn", "Redis"), p("depends", "/dependsOn"), queries=("SELECT dependsOn, count(*) AS n FROM resources GROUP BY 1",)),
        Fact("duplicate", ((twin, "2"), (twin, "twice"), (twin, "duplicate"), (f"/{o['twin']}/name", f"/{o['twin'] - 15}"), (twin, f"/{o['twin']}"), (twin, f"{o['twin']}|")), (twin,), p("twin", "/name"), queries=("SELECT name, count(*) AS times FROM resources GROUP BY 1 HAVING count(*) > 1",)),
        Fact("contradiction", (("resourcecount", str(n + 9), str(n)), ("resources", str(n + 9), str(n))), ("resourceCount",), "/outputs/resourceCount/value", queries=("SELECT count(*) AS resources, (SELECT value FROM leaf WHERE path LIKE '%resourceCount%value') AS told FROM resources",)),
        Fact("count", (*counted("microsoft.web/sites", sites), *counted("virtualmachines", vms)), ("Microsoft.Web/sites",), queries=("SELECT type, count(*) AS n FROM resources GROUP BY 1 ORDER BY 2 DESC",)),
    ]  # fmt: skip
