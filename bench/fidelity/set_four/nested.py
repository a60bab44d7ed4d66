"""Objects, maps of like objects, and lists inside lists."""

# ruff: noqa: SIM905

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Items, Notes
from bench.fidelity.planted import Parts, kind

LABS = {
    "2823-3": ("Potassium [Moles/volume] in Serum or Plasma", "mmol/L", 4.2, 0.3, 3.5, 5.1),
    "2951-2": ("Sodium [Moles/volume] in Serum or Plasma", "mmol/L", 140, 2, 135, 145),
    "2345-7": ("Glucose [Mass/volume] in Serum or Plasma", "mg/dL", 92, 7, 70, 110),
    "718-7": ("Hemoglobin [Mass/volume] in Blood", "g/dL", 14, 0.8, 12, 17),
    "2160-0": ("Creatinine [Mass/volume] in Serum or Plasma", "mg/dL", 0.9, 0.1, 0.6, 1.2),
}


@kind("fhir_bundle", "nested")
def fhir_bundle(rng: random.Random) -> Parts:
    """A searchset Bundle of Observations from a FHIR R4 server."""
    size = rng.randint(88, 98)
    clock = w.Clock(rng, datetime(2025, 2, rng.randint(3, 20), 7), 1200, 9000)
    patients = [str(one) for one in rng.sample(range(1000, 9999), 24)]
    items: list[dict] = []
    for _ in range(size):
        code = w.pick(rng, {"2823-3": 30, "2951-2": 24, "2345-7": 22, "718-7": 14, "2160-0": 10})
        name, unit, middle, spread, low, high = LABS[code]
        taken = clock.tick()
        value = round(w.near(rng, middle, spread, low, high), 1)
        ident = f"obs-{w.hexes(rng, 10)}"
        items.append(
            {
                "fullUrl": f"https://fhir.clinic.example/r4/Observation/{ident}",
                "resource": {
                    "resourceType": "Observation",
                    "id": ident,
                    "meta": {
                        "versionId": "1",
                        "lastUpdated": f"{taken + timedelta(hours=2):%Y-%m-%dT%H:%M:%SZ}",
                    },
                    "identifier": [
                        {"system": "urn:lab:accession", "value": f"A{rng.randint(10**7, 10**8 - 1)}"}
                    ],
                    "status": "final",
                    "category": [
                        {
                            "coding": [
                                {
                                    "system": "http://terminology.hl7.org/CodeSystem/observation-category",
                                    "code": "laboratory",
                                }
                            ]
                        }
                    ],
                    "code": {"coding": [{"system": "http://loinc.org", "code": code, "display": name}]},
                    "subject": {"reference": f"Patient/{rng.choice(patients)}"},
                    "effectiveDateTime": f"{taken:%Y-%m-%dT%H:%M:%SZ}",
                    "issued": f"{taken + timedelta(minutes=rng.randint(30, 110)):%Y-%m-%dT%H:%M:%SZ}",
                    "performer": [{"reference": f"Organization/lab-{rng.randint(1, 3)}"}],
                    "valueQuantity": {
                        "value": value,
                        "unit": unit,
                        "system": "http://unitsofmeasure.org",
                        "code": unit,
                    },
                    "interpretation": [{"coding": [{"code": "N", "display": "Normal"}]}],
                    "referenceRange": [
                        {"low": {"value": low, "unit": unit}, "high": {"value": high, "unit": unit}}
                    ],
                },
                "search": {"mode": "match"},
            }
        )
    every = [one["resource"] for one in items]
    spots = w.spots(rng, size, 11, apart=3)
    wrong, panic, units, absent, double, ahead, note, anon, draft, version, oops = spots
    every[wrong]["status"] = "entered-in-error"
    name, unit, *_ = LABS["2823-3"]
    every[panic]["code"]["coding"][0].update(code="2823-3", display=name)
    level = round(rng.uniform(9.1, 9.9), 1)
    every[panic]["valueQuantity"].update(value=level, unit=unit, code=unit)
    every[panic]["interpretation"][0]["coding"][0].update(code="HH", display="Critical high")
    every[panic]["referenceRange"] = [
        {"low": {"value": 3.5, "unit": unit}, "high": {"value": 5.1, "unit": unit}}
    ]
    every[units]["valueQuantity"].update(unit="[lb_av]", code="[lb_av]")
    del every[absent]["valueQuantity"]
    every[absent]["dataAbsentReason"] = {"coding": [{"code": "error", "display": "Error"}]}
    every[double]["identifier"][0]["value"] = every[double - 1]["identifier"][0]["value"]
    future = f"2052-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}T08:15:00Z"
    every[ahead]["effectiveDateTime"] = future
    every[note]["note"] = [{"text": "Specimen grossly hemolyzed, recollect before treatment"}]
    del every[anon]["subject"]
    every[draft]["status"] = "preliminary"
    every[version]["meta"]["versionId"] = str(rng.randint(41, 77))
    told = "Timeout while reading from lab interface LIS-2; results are incomplete"
    items[oops]["resource"] = {
        "resourceType": "OperationOutcome",
        "id": f"warn-{w.hexes(rng, 6)}",
        "issue": [{"severity": "error", "code": "timeout", "diagnostics": told}],
    }
    items[oops]["search"]["mode"] = "outcome"
    del items[oops]["fullUrl"]
    said = size + rng.randint(60, 140)
    every = [one["resource"] for one in items]
    n = Items("/entry", [[one["id"]] for one in every])
    get = "SELECT resource.id, resource.{0} FROM t WHERE {1}".format
    asked = get("status", "resource.status <> 'final'")
    n.one("error", wrong, ["entered-in-error"], "/resource/status", "entered-in-error", "status", sql=asked)
    asked = "SELECT resource.id, resource.valueQuantity.value, resource.interpretation FROM t WHERE "
    asked += "resource.interpretation LIKE '%Critical%'"
    spelled = [level, "Critical high", "HH"]
    n.one("outlier", panic, spelled, "/resource/valueQuantity/value", "Critical", "interpretation", sql=asked)
    asked = "SELECT resource.valueQuantity.unit, count(*) AS n, min(resource.id) AS id FROM t GROUP BY 1"
    n.one("rare value", units, ["lb_av"], "/resource/valueQuantity/unit", "unit", "lb_av", sql=asked)
    n.lost(
        absent,
        "valueQuantity",
        "/resource/dataAbsentReason",
        more=["dataAbsentReason"],
        sql="SELECT resource.id, resource.valueQuantity.value FROM t WHERE resource.valueQuantity.value IS NULL",
    )
    accession = every[double]["identifier"][0]["value"]
    asked = "SELECT resource.identifier, count(*) AS n FROM t GROUP BY 1 HAVING n > 1"
    n.twice(double - 1, double, accession, "/resource/identifier/0/value", "identifier", sql=asked)
    asked = "SELECT resource.id, resource.effectiveDateTime FROM t ORDER BY 2 DESC LIMIT 2"
    n.one("time jump", ahead, [future, future[:10]], "/resource/effectiveDateTime", "2052", sql=asked)
    asked = get("note", "resource.note IS NOT NULL")
    n.one("rare value", note, ["hemolyzed"], "/resource/note", "hemolyzed", "note", sql=asked)
    n.lost(anon, "subject", "/resource", sql=get("subject.reference", "resource.subject.reference IS NULL"))
    asked = get("status", "resource.status <> 'final'")
    n.one("rare value", draft, ["preliminary"], "/resource/status", "preliminary", sql=asked)
    number = every[version]["meta"]["versionId"]
    asked = get("meta.versionId", "resource.meta.versionId <> '1'")
    n.one("outlier", version, [number], "/resource/meta/versionId", "versionId", number, sql=asked)
    spelled = ["OperationOutcome", "Timeout while reading", "LIS-2"]
    asked = "SELECT n, resource.id, resource.resourceType FROM t WHERE resource.resourceType <> 'Observation'"
    n.one("error", oops, spelled, "/resource/issue/0", "OperationOutcome", "error", sql=asked)
    n.say(
        "contradiction",
        (("total", str(said), str(size)), (str(said), str(size), "entry"), (str(said), str(size), "entries")),
        "total",
        pointer="/total",
        sql="SELECT value AS total, (SELECT count(*) FROM t) AS entries FROM leaf WHERE path LIKE '%total'",
        derived=True,
    )
    codes = Counter(one["code"]["coding"][0]["code"] for one in every if "code" in one)
    short = {"2823-3": "Potassium [Moles/volume] in Serum or Plasma"}
    asked = "SELECT json_extract(resource.code.coding, '$[0].code') AS code, count(*) AS n FROM t GROUP BY 1"
    n.tally(codes["2823-3"], ["2823-3", short["2823-3"]], "Potassium", sql=asked)
    states = Counter(one.get("status") for one in every)
    n.tally(
        states["final"], ["final"], "final", sql="SELECT resource.status, count(*) AS n FROM t GROUP BY 1"
    )
    n.tally(size, ["entry", "entries", "items", "rows"], "entry", sql="SELECT count(*) AS entries FROM t")
    moments = sorted(one["effectiveDateTime"] for one in every if one.get("effectiveDateTime", "9") < "2050")
    asked = "SELECT min(resource.effectiveDateTime) AS a, max(resource.effectiveDateTime) AS b FROM t WHERE "
    ends = [*w.span(moments[0][:10], moments[-1][:10]), (moments[0][:10], future[:10])]
    asked += "resource.effectiveDateTime < '2050'"
    n.say("range", tuple(ends), "effectiveDateTime", moments[0][:7], sql=asked, derived=True)
    body = {"resourceType": "Bundle", "id": w.uuid(rng), "type": "searchset", "total": said}
    link = [{"relation": "self", "url": "https://fhir.clinic.example/r4/Observation?category=laboratory"}]
    return n.parts(json.dumps({**body, "link": link, "entry": items}, indent=2))


@kind("cloudformation", "nested")
def cloudformation(rng: random.Random) -> Parts:
    """A CloudFormation template as JSON: a map of resources."""
    resources: dict[str, dict] = {}
    names = w.distinct(rng, 150, lambda r: w.camel(r.choice(w.PLAIN), r.choice(w.THINGS)))
    by: dict[str, list[str]] = {}

    def put(suffix: str, type_: str, properties: dict, **more: object) -> str:
        name = (
            names.pop() if names else w.camel(rng.choice(w.PLAIN), rng.choice(w.THINGS)) + "Extra"
        ) + suffix
        resources[name] = {"Type": type_, **more, "Properties": properties}
        by.setdefault(suffix, []).append(name)
        return name

    def tags() -> list[dict]:
        return [{"Key": "team", "Value": rng.choice(w.TEAMS)}, {"Key": "stage", "Value": {"Ref": "Stage"}}]

    for _ in range(rng.randint(30, 34)):
        role = put(
            "Role",
            "AWS::IAM::Role",
            {
                "AssumeRolePolicyDocument": {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"Service": "lambda.amazonaws.com"},
                            "Action": "sts:AssumeRole",
                        }
                    ],
                },
                "ManagedPolicyArns": ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"],
                "Tags": tags(),
            },
        )
        function = put(
            "Function",
            "AWS::Lambda::Function",
            {
                "Handler": "app.handler",
                "Runtime": "python3.12",
                "MemorySize": rng.choice((256, 512, 1024)),
                "Timeout": rng.choice((10, 15, 30)),
                "Role": {"Fn::GetAtt": [role, "Arn"]},
                "Code": {"S3Bucket": {"Ref": "ArtifactBucket"}, "S3Key": f"{w.hexes(rng, 32)}.zip"},
                "Environment": {"Variables": {"STAGE": {"Ref": "Stage"}, "LOG_LEVEL": "info"}},
                "TracingConfig": {"Mode": "Active"},
                "Tags": tags(),
            },
            DependsOn=[role],
        )
        put(
            "LogGroup",
            "AWS::Logs::LogGroup",
            {"LogGroupName": {"Fn::Sub": f"/aws/lambda/${{{function}}}"}, "RetentionInDays": 30},
        )
    for _ in range(rng.randint(20, 23)):
        put(
            "Table",
            "AWS::DynamoDB::Table",
            {
                "TableName": f"shop-{w.two(rng)}-{rng.randint(100, 999)}",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
                "Tags": tags(),
            },
            DeletionPolicy="Retain",
        )
    for _ in range(rng.randint(15, 18)):
        put(
            "Queue",
            "AWS::SQS::Queue",
            {
                "MessageRetentionPeriod": 345600,
                "VisibilityTimeout": rng.choice((60, 90, 120)),
                "KmsMasterKeyId": "alias/aws/sqs",
                "Tags": tags(),
            },
        )
    for _ in range(rng.randint(10, 12)):
        put(
            "Bucket",
            "AWS::S3::Bucket",
            {
                "BucketName": {"Fn::Sub": f"{w.two(rng)}-${{AWS::AccountId}}"},
                "VersioningConfiguration": {"Status": "Enabled"},
                "PublicAccessBlockConfiguration": dict.fromkeys(
                    "BlockPublicAcls BlockPublicPolicy IgnorePublicAcls RestrictPublicBuckets".split(), True
                ),
            },
        )
    order = list(resources)
    rng.shuffle(order)
    resources = {name: resources[name] for name in order}

    def take(suffix: str, count: int) -> list[str]:
        return [by[suffix][k] for k in w.spots(rng, len(by[suffix]), count, apart=2, low=0, high=1)]

    def of(name: str) -> dict:
        return resources[name]["Properties"]

    old, slow, wide, leak, lost = take("Function", 5)
    of(old)["Runtime"] = "nodejs12.x"
    of(slow)["Timeout"] = 900
    of(wide)["MemorySize"] = 10240
    secret = w.alnum(rng, 26)
    of(leak)["Environment"]["Variables"]["PAYMENT_API_SECRET"] = secret
    ghost = "MissingLegacyTopic"
    resources[lost]["DependsOn"].append(ghost)
    drop, bare, twin = take("Table", 3)
    resources[drop]["DeletionPolicy"] = "Delete"
    of(bare)["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] = False
    other = by["Table"][by["Table"].index(twin) - 1]
    of(twin)["TableName"] = of(other)["TableName"]
    (open_,) = take("Queue", 1)
    del of(open_)["KmsMasterKeyId"]
    (public,) = take("Bucket", 1)
    of(public)["AccessControl"] = "PublicReadWrite"
    (admin,) = take("Role", 1)
    of(admin)["ManagedPolicyArns"] = ["arn:aws:iam::aws:policy/AdministratorAccess"]
    (brief,) = take("LogGroup", 1)
    of(brief)["RetentionInDays"] = 1
    n = Notes()

    def one(
        what: str, name: str, telling: list, path: str, *searches: str, hidden: str = "", sql: str = ""
    ) -> None:
        n.say(
            what,
            w.pairs(telling, [name]),
            *searches,
            pointer=f"/Resources/{name}{path}",
            hidden=hidden,
            sql=sql or (),
        )

    get = "SELECT key, Properties.{0} FROM t WHERE {1}".format
    top = "SELECT key, Properties.{0} FROM t ORDER BY 2 DESC LIMIT 2".format
    asked = get("Runtime", "Properties.Runtime <> 'python3.12'")
    one("rare value", old, ["nodejs12.x"], "/Properties/Runtime", "Runtime", "nodejs", sql=asked)
    one("outlier", slow, ["900"], "/Properties/Timeout", "Timeout", "900", sql=top("Timeout"))
    one("outlier", wide, ["10240"], "/Properties/MemorySize", "MemorySize", "10240", sql=top("MemorySize"))
    one(
        "secret",
        leak,
        ["PAYMENT_API_SECRET", "secret"],
        "/Properties/Environment/Variables/PAYMENT_API_SECRET",
        "SECRET",
        "Variables",
        hidden=secret,
        sql="SELECT key, 'PAYMENT_API_SECRET' AS name FROM t WHERE "
        "Properties.Environment.Variables.PAYMENT_API_SECRET IS NOT NULL",
    )
    asked = "SELECT key, DependsOn FROM t WHERE DependsOn LIKE '%Missing%'"
    one("contradiction", lost, [ghost], "/DependsOn", ghost, "DependsOn", sql=asked)
    asked = "SELECT key, DeletionPolicy FROM t WHERE DeletionPolicy = 'Delete'"
    told = ['"Delete"', "Delete", "DeletionPolicy"]
    one("rare value", drop, told, "/DeletionPolicy", "DeletionPolicy", '"Delete"', sql=asked)
    field = "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled"
    one(
        "rare value",
        bare,
        ["PointInTimeRecoveryEnabled"],
        "/Properties/PointInTimeRecoverySpecification/PointInTimeRecoveryEnabled",
        "PointInTimeRecoveryEnabled",
        "false",
        sql=f"SELECT key, Properties.{field} AS PointInTimeRecoveryEnabled FROM t WHERE NOT Properties.{field}",  # noqa: S608
    )
    table = of(twin)["TableName"]
    n.say(
        "duplicate",
        (*w.same(table), (twin, other, table), (f"{table}|2",)),
        table,
        "TableName",
        pointer=f"/Resources/{twin}/Properties/TableName",
        sql="SELECT Properties.TableName, count(*) AS n FROM t WHERE Properties.TableName IS NOT NULL GROUP BY 1 "
        "HAVING n > 1",
        derived=True,
    )
    n.say(
        "missing field",
        w.gone([open_], "KmsMasterKeyId"),
        "KmsMasterKeyId",
        pointer=f"/Resources/{open_}/Properties",
        sql=get("KmsMasterKeyId", "Type = 'AWS::SQS::Queue' AND Properties.KmsMasterKeyId IS NULL"),
        derived=True,
    )
    asked = get("AccessControl", "Properties.AccessControl IS NOT NULL")
    one("rare value", public, ["PublicReadWrite"], "/Properties/AccessControl", "PublicRead", sql=asked)
    asked = get("ManagedPolicyArns", "Properties.ManagedPolicyArns LIKE '%Admin%'")
    one(
        "rare value",
        admin,
        ["AdministratorAccess"],
        "/Properties/ManagedPolicyArns/0",
        "Administrator",
        sql=asked,
    )
    asked = get("RetentionInDays", "Properties.RetentionInDays < 30")
    told = ["RetentionInDays 1", "RetentionInDays=1", "RetentionInDays: 1", '"RetentionInDays": 1', "|1"]
    told += ["RetentionInDays"]
    one("outlier", brief, told, "/Properties/RetentionInDays", "RetentionInDays", sql=asked)
    types = Counter(one["Type"] for one in resources.values())
    asked = "SELECT Type, count(*) AS n FROM t GROUP BY 1"
    for type_ in ("AWS::Lambda::Function", "AWS::DynamoDB::Table", "AWS::SQS::Queue"):
        n.tally(types[type_], [type_], type_, sql=asked)
    labels = ["Resources", "resources", "members", "entries", "keys", "rows"]
    n.tally(len(resources), labels, "Resources", sql="SELECT count(*) AS resources FROM t")
    stage = {"Stage": {"Type": "String", "Default": "prod"}, "ArtifactBucket": {"Type": "String"}}
    body = {"AWSTemplateFormatVersion": "2010-09-09", "Description": "Shop backend", "Parameters": stage}
    return n.parts(json.dumps({**body, "Resources": resources}, indent=2))


@kind("jupyter_notebook", "nested")
def jupyter_notebook(rng: random.Random) -> Parts:
    """A notebook in nbformat 4.5 with its outputs."""
    cells: list[dict] = []
    number = 0
    size = rng.randint(150, 165)
    for i in range(size):
        ident = w.hexes(rng, 8)
        if rng.random() < 0.34 and i:
            source = [f"## {w.heading(rng)}\n", "\n", w.paragraph(rng, 2, 4)]
            cells.append({"cell_type": "markdown", "id": ident, "metadata": {}, "source": source})
            continue
        number += 1
        frame, field = f"df_{rng.choice(w.THINGS)}", rng.choice(w.THINGS)
        source = [f"{frame} = load('{rng.choice(w.THINGS)}')\n", f"{frame}.groupby('{field}').mean()"]
        if rng.random() < 0.5:
            rows = [
                f"{one:<12}{rng.uniform(10, 99):8.2f}\n" for one in rng.sample(w.THINGS, rng.randint(6, 12))
            ]
            output: dict = {"name": "stdout", "output_type": "stream", "text": rows}
        else:
            rows = [
                f"{k}  {one:<12}{rng.randint(100, 999)}\n" for k, one in enumerate(rng.sample(w.THINGS, 8))
            ]
            output = {
                "data": {"text/plain": rows},
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        cells.append(
            {
                "cell_type": "code",
                "execution_count": number,
                "id": ident,
                "metadata": {},
                "outputs": [output],
                "source": source,
            }
        )
    code = [i for i, one in enumerate(cells) if one["cell_type"] == "code"]
    text = [i for i, one in enumerate(cells) if one["cell_type"] == "markdown"]
    spots = [code[k] for k in w.spots(rng, len(code), 9, apart=3)]
    error, warn, leak, never, redo, loss, clash, shell, many = spots
    todo, raw = (text[k] for k in w.spots(rng, len(text), 2, apart=3))
    column = "net_revenue_eur"
    cells[error]["outputs"] = [
        {
            "ename": "KeyError",
            "evalue": f"'{column}'",
            "output_type": "error",
            "traceback": [
                "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m",
                "\x1b[0;31mKeyError\x1b[0m                                  Traceback (most recent call last)",
                f"\x1b[0;31mKeyError\x1b[0m: '{column}'",
            ],
        }
    ]
    dropped = rng.randint(21_000, 48_000)
    told = f"UserWarning: {dropped} rows with unparsable dates were dropped\n"
    cells[warn]["outputs"] = [{"name": "stderr", "output_type": "stream", "text": [told]}]
    secret = "sk-" + w.alnum(rng, 40)
    cells[leak]["source"].insert(0, f"client = OpenAI(api_key='{secret}')\n")
    cells[never].update(execution_count=None, outputs=[])
    again = number + rng.randint(40, 80)
    cells[redo]["execution_count"] = again
    for output in cells[redo]["outputs"]:
        if "execution_count" in output:
            output["execution_count"] = again
    cells[loss]["outputs"] = [
        {"name": "stdout", "output_type": "stream", "text": ["epoch 12/40 loss=nan val_accuracy=0.0312\n"]}
    ]
    cells[clash]["id"] = cells[clash - 1]["id"]
    cells[shell]["source"] = ["!rm -rf ../data/raw/2024"]
    cells[shell]["outputs"] = []
    wide = rng.randint(180_000, 240_000)
    rows = [f"{rng.choice(w.THINGS):<12}{rng.randint(100, 999)}\n" for _ in range(7)]
    rows.append(f"outliers    {wide}.00\n")
    cells[many]["outputs"] = [{"name": "stdout", "output_type": "stream", "text": rows}]
    cells[todo]["source"].append("\n\n**TODO: the 2023 baseline is wrong, do not publish this figure**")
    cells[raw] = {"cell_type": "raw", "id": cells[raw]["id"], "metadata": {}, "source": ["%% begin appendix"]}
    n = Items("/cells", [[one["id"]] for one in cells])
    get = "SELECT n, id, {0} FROM cells WHERE {1}".format
    asked = get("outputs", "outputs LIKE '%\"error\"%'")
    n.one("error", error, ["KeyError", column], "/outputs/0", "KeyError", "ename", sql=asked)
    told = ["unparsable dates", "UserWarning", dropped]
    asked = get("outputs", "outputs LIKE '%stderr%'")
    n.one("rare value", warn, told, "/outputs/0/text/0", "UserWarning", "stderr", sql=asked)
    told = ["api_key", "api key", "openai", "secret"]
    asked = get("'api_key' AS what", "source LIKE '%api_key%'")
    n.one("secret", leak, told, "/source/0", "api_key", "sk-", hidden=secret, sql=asked)
    asked = get("execution_count", "cell_type = 'code' AND execution_count IS NULL")
    told = ["execution_count", "not executed", "never run", "not run"]
    n.one(
        "rare value", never, told, "/execution_count", "execution_count", '"execution_count": null', sql=asked
    )
    asked = "SELECT n, id, execution_count FROM cells ORDER BY 3 DESC LIMIT 2"
    n.one("outlier", redo, [again], "/execution_count", "execution_count", str(again), sql=asked)
    asked = get("outputs", "outputs LIKE '%nan%'")
    n.one("outlier", loss, ["loss=nan"], "/outputs/0/text/0", "nan", "loss", sql=asked)
    asked = "SELECT id, count(*) AS n FROM cells GROUP BY 1 HAVING n > 1"
    n.twice(clash - 1, clash, cells[clash]["id"], "/id", "id", sql=asked)
    asked = get("source", "source LIKE '%rm -rf%'")
    n.one("rare value", shell, ["rm -rf"], "/source/0", "rm -rf", "!", sql=asked)
    asked = get("outputs", f"outputs LIKE '%{wide}%'")
    n.one("outlier", many, [wide], "/outputs/0/text/7", str(wide), "outliers", sql=asked)
    asked = get("source", "source LIKE '%TODO%'")
    n.one("rare value", todo, ["TODO", "baseline is wrong"], "/source", "TODO", "do not publish", sql=asked)
    asked = get("cell_type", "cell_type NOT IN ('code', 'markdown')")
    n.one("rare value", raw, ["raw", "begin appendix"], "/cell_type", "raw", "appendix", sql=asked)
    types = Counter(one["cell_type"] for one in cells)
    asked = "SELECT cell_type, count(*) AS n FROM cells GROUP BY 1"
    n.tally(types["code"], ["code"], '"code"', sql=asked)
    n.tally(types["markdown"], ["markdown"], '"markdown"', sql=asked)
    n.tally(size, ["cells", "items", "rows"], "cell_type", sql="SELECT count(*) AS cells FROM cells")
    outputs = [one for cell in cells for one in cell.get("outputs", [])]
    kinds = Counter(one["output_type"] for one in outputs)
    asked = "SELECT output_type, count(*) AS n FROM outputs GROUP BY 1"
    n.tally(kinds["execute_result"], ["execute_result"], "execute_result", sql=asked)
    n.tally(kinds["stream"], ["stream"], "stream", sql=asked)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    meta = {"kernelspec": kernel, "language_info": {"name": "python", "version": "3.11.8"}}
    return n.parts(
        json.dumps({"cells": cells, "metadata": meta, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    )


@kind("coverage_json", "nested")
def coverage_json(rng: random.Random) -> Parts:
    """`coverage json` with branches: one line, a map of files."""
    paths = w.distinct(
        rng, rng.randint(112, 122), lambda r: f"src/shop/{r.choice(w.TEAMS)}/{r.choice(w.THINGS)}.py"
    )
    paths.sort()
    files: dict[str, dict] = {}

    def summary(done: list[int], lost: list[int], out: int, branches: int, partial: int) -> dict:
        hit = branches - partial
        rate = (len(done) + hit) / max(1, len(done) + len(lost) + branches) * 100
        return {
            "covered_lines": len(done),
            "num_statements": len(done) + len(lost),
            "percent_covered": rate,
            "percent_covered_display": f"{rate:.0f}",
            "missing_lines": len(lost),
            "excluded_lines": out,
            "num_branches": branches,
            "num_partial_branches": partial,
            "covered_branches": hit,
            "missing_branches": partial,
        }

    def make(size: int, rate: float, out: int = 0, partial: int | None = None, branches: int = 0) -> dict:
        lines = sorted(rng.sample(range(1, int(size * 1.6)), size))
        lost = sorted(rng.sample(lines, round(size * (1 - rate))))
        done = [one for one in lines if one not in set(lost)]
        branches = branches or rng.randint(10, 30)
        partial = rng.randint(0, 3) if partial is None else partial
        far = int(size * 1.6)
        return {
            "executed_lines": done,
            "summary": summary(done, lost, out, branches, partial),
            "missing_lines": lost,
            "excluded_lines": list(range(far, far + out)),
            "executed_branches": [[one, one + 1] for one in done[:4]],
            "missing_branches": [[one, one + 2] for one in done[5 : 5 + min(partial, 9)]],
        }

    for path in paths:
        files[path] = make(rng.randint(70, 140), rng.uniform(0.86, 0.97))
    zero, huge, out, wrong, both, partial, lost, low, show = (
        paths[k] for k in w.spots(rng, len(paths), 9, apart=4)
    )
    dead = rng.randint(90, 120)
    files[zero] = make(dead, 0.0, branches=12, partial=12)
    files[zero]["executed_branches"] = []
    large = rng.randint(1400, 1900)
    files[huge] = make(large, 0.93)
    excluded = rng.randint(310, 390)
    files[out] = make(96, 0.92, excluded)
    files[wrong]["summary"].update(percent_covered=100.0, percent_covered_display="100")
    twice = files[both]["missing_lines"][1]
    files[both]["executed_lines"] = sorted([*files[both]["executed_lines"], twice])
    loose = rng.randint(61, 77)
    files[partial] = make(120, 0.9, 0, loose, 190)
    del files[lost]["missing_lines"]
    files[low] = make(110, 0.31)
    files[show]["summary"]["percent_covered_display"] = "n/a"
    alien = "/usr/lib/python3/dist-packages/yaml/loader.py"
    files[alien] = make(60, 0.9)
    files = dict(sorted(files.items(), key=lambda one: (one[0] == alien, one[0])))
    order = [*paths[: len(paths) // 2], alien, *paths[len(paths) // 2 :]]
    files = {path: files[path] for path in order}
    sums = [one["summary"] for one in files.values()]
    real = sum(one["num_statements"] for one in sums)
    said = real + rng.randint(3000, 5000)
    covered, missed = (sum(one[key] for one in sums) for key in ("covered_lines", "missing_lines"))
    branches = sum(one["num_branches"] for one in sums)
    hit = sum(one["covered_branches"] for one in sums)
    rate = (covered + hit) / (said + branches) * 100
    totals = {
        "covered_lines": covered,
        "num_statements": said,
        "percent_covered": rate,
        "percent_covered_display": f"{rate:.0f}",
        "missing_lines": missed,
        "excluded_lines": excluded,
        "num_branches": branches,
        "num_partial_branches": sum(one["num_partial_branches"] for one in sums),
        "covered_branches": hit,
        "missing_branches": branches - hit,
    }
    n = Notes()

    def place(path: str, rest: str) -> str:
        return "/files/" + path.replace("/", "~1") + rest

    def one(what: str, path: str, telling: list, rest: str, *searches: str, sql: str = "") -> None:
        short = path.removeprefix("src/shop/")
        n.say(
            what,
            w.pairs(telling, [short, place(path, "")]),
            *searches,
            pointer=place(path, rest),
            sql=sql or (),
        )

    top = "SELECT key, summary.{0} FROM t ORDER BY 2 {1} LIMIT 3".format
    told = ["0.0", "0%", "0 %", "percent_covered 0", "percent_covered=0", "|0", "covered_lines 0"]
    one(
        "outlier",
        zero,
        told,
        "/summary/percent_covered",
        "percent_covered",
        '"covered_lines": 0',
        sql=top("percent_covered", ""),
    )
    field = "num_statements"
    one("outlier", huge, [large], f"/summary/{field}", field, str(large), sql=top(field, "DESC"))
    field = "excluded_lines"
    one("outlier", out, [excluded], f"/summary/{field}", field, str(excluded), sql=top(field, "DESC"))
    asked = "SELECT key, summary.percent_covered, summary.missing_lines FROM t WHERE summary.percent_covered = 100 "
    told = ["100.0", "100%", "100 %", "|100", "=100", ": 100", " 100"]
    one("contradiction", wrong, told, "/summary/percent_covered", "100.0", "percent_covered", sql=asked)
    n.say(
        "contradiction",
        tuple(
            (both.removeprefix("src/shop/"), str(twice), word)
            for word in ("both", "executed", "overlap", "|")
        ),
        str(twice),
        "executed_lines",
        pointer=place(both, "/executed_lines"),
        sql="SELECT t.key, e.value FROM t, json_each(t.executed_lines) e, json_each(t.missing_lines) m "
        "WHERE e.value = m.value",
        derived=True,
    )
    field = "num_partial_branches"
    one("outlier", partial, [loose], f"/summary/{field}", field, str(loose), sql=top(field, "DESC"))
    n.say(
        "missing field",
        w.gone([lost.removeprefix("src/shop/")], "missing_lines"),
        "missing_lines",
        pointer=place(lost, ""),
        sql="SELECT key, missing_lines FROM t WHERE missing_lines IS NULL",
        derived=True,
    )
    rate_low = files[low]["summary"]["percent_covered"]
    told = [f"{rate_low:.1f}", f"{rate_low:.0f}", str(rate_low), f"{rate_low:.2f}", str(rate_low)[:5]]
    asked = top("percent_covered", "")
    one("outlier", low, told, "/summary/percent_covered", "percent_covered", told[0], sql=asked)
    asked = "SELECT key, summary.percent_covered_display FROM t WHERE summary.percent_covered_display = 'n/a'"
    one("rare value", show, ["n/a"], "/summary/percent_covered_display", "n/a", "display", sql=asked)
    n.say(
        "rare value",
        ((alien,), ("dist-packages/yaml/loader.py",), (place(alien, ""),)),
        "/usr/lib",
        "dist-packages",
        pointer=place(alien, ""),
        sql="SELECT key FROM t WHERE key NOT LIKE 'src/%'",
    )
    n.say(
        "contradiction",
        ((str(said), str(real)),),
        "totals",
        "num_statements",
        pointer="/totals/num_statements",
        sql="SELECT value AS told, (SELECT sum(summary.num_statements) FROM t) AS real FROM leaf "
        "WHERE path LIKE '%totals%num_statements'",
        derived=True,
    )
    forms = [f"{rate:.2f}", f"{rate:.1f}", str(rate), str(rate)[:6], f"{rate:.0f}"]
    asked = "SELECT path, value FROM leaf WHERE path LIKE '%totals%'"
    n.say(
        "summary", w.pairs(["percent_covered"], forms), "totals", pointer="/totals/percent_covered", sql=asked
    )
    asked = "SELECT sum(summary.missing_lines) AS missing_lines FROM t"
    evidence = (("missing_lines", str(missed)), (str(missed), "missing"), (f"{missed}",))
    n.say("total", evidence, "totals", "missing_lines", pointer="/totals/missing_lines", sql=asked)
    asked = "SELECT count(*) AS files FROM t"
    n.tally(len(files), ["files", "entries", "keys", "members", "rows"], "files", sql=asked)
    teams = Counter(path.split("/")[2] for path in paths)
    most, number = teams.most_common(1)[0]
    asked = f"SELECT '{most}' AS folder, count(*) AS n FROM t WHERE key LIKE 'src/shop/{most}/%'"  # noqa: S608
    n.tally(number, [f"src/shop/{most}", f"src/shop/{most}/", most], f"src/shop/{most}/", sql=asked)
    meta = {
        "format": 3,
        "version": "7.6.1",
        "timestamp": "2025-05-19T11:42:07.120455",
        "branch_coverage": True,
    }
    return n.parts(json.dumps({"meta": {**meta, "show_contexts": False}, "files": files, "totals": totals}))


@kind("figma_file", "nested")
def figma_file(rng: random.Random) -> Parts:
    """`GET /v1/files/:key` of Figma: a tree of nodes, and the components it uses."""
    serial = 1
    nodes: list[tuple[str, dict]] = []
    components: dict[str, dict] = {}
    for _ in range(18):
        name = f"{rng.choice(w.THINGS).capitalize()}/{rng.choice(w.PLAIN).capitalize()}"
        key = f"12:{rng.randint(100, 9999)}"
        components[key] = {"key": w.hexes(rng, 40), "name": name, "description": "", "remote": False}
    shades = [{"r": 0.1, "g": 0.1, "b": 0.12, "a": 1.0}, {"r": 0.96, "g": 0.96, "b": 0.97, "a": 1.0}]
    shades.append({"r": 0.05, "g": 0.4, "b": 0.85, "a": 1.0})

    def box(x: float, y: float, width: float, height: float) -> dict:
        return {"x": x, "y": y, "width": width, "height": height}

    def node(kind_: str, name: str, where: dict, pointer: str, **more: object) -> dict:
        nonlocal serial
        serial += rng.randint(1, 3)
        made: dict = {"id": f"4:{serial}", "name": name, "type": kind_, "absoluteBoundingBox": where}
        made |= {"constraints": {"vertical": "TOP", "horizontal": "LEFT"}, "blendMode": "PASS_THROUGH"}
        made |= {
            "fills": [{"blendMode": "NORMAL", "type": "SOLID", "color": dict(rng.choice(shades))}],
            **more,
        }
        nodes.append((pointer, made))
        return made

    pages = []
    names = ["Cover", "Onboarding", "Checkout", "Account", "Settings", "Archive"]
    for p, title in enumerate(names):
        frames = []
        for f in range(rng.randint(4, 5)):
            base = f"/document/children/{p}/children/{f}"
            x = f * 440.0
            frame = node("FRAME", f"{title} {f + 1}", box(x, 0.0, 390.0, 844.0), base, clipsContent=True)
            children = []
            for k in range(rng.randint(7, 10)):
                at, here = box(x + 16, 24.0 + 80 * k, 358.0, 64.0), f"{base}/children/{k}"
                what = w.pick(rng, {"TEXT": 50, "INSTANCE": 30, "RECTANGLE": 20})
                if what == "TEXT":
                    style = {
                        "fontFamily": "Inter",
                        "fontWeight": 400,
                        "fontSize": rng.choice((14.0, 16.0, 20.0)),
                    }
                    words = " ".join(rng.sample(w.THINGS, rng.randint(2, 5))).capitalize()
                    children.append(node(what, words[:20], at, here, characters=words, style=style))
                elif what == "INSTANCE":
                    key = rng.choice(list(components))
                    children.append(node(what, components[key]["name"], at, here, componentId=key))
                else:
                    children.append(node(what, f"Rectangle {rng.randint(1, 90)}", at, here, cornerRadius=8.0))
            frame["children"] = children
            frames.append(frame)
        serial += 1
        pages.append({"id": f"0:{p + 1}", "name": title, "type": "CANVAS", "children": frames})
    texts = [one for one in nodes if one[1]["type"] == "TEXT"]
    uses = [one for one in nodes if one[1]["type"] == "INSTANCE"]
    shapes = [one for one in nodes if one[1]["type"] == "RECTANGLE"]
    hide, lorem, tiny, font, price = (texts[k] for k in w.spots(rng, len(texts), 5, apart=4))
    ghost, lost, clash = (uses[k] for k in w.spots(rng, len(uses), 3, apart=4))
    far, red, clear = (shapes[k] for k in w.spots(rng, len(shapes), 3, apart=3))
    hide[1]["visible"] = False
    lorem[1]["characters"] = "Lorem ipsum dolor sit amet"
    tiny[1]["style"]["fontSize"] = 3.0
    font[1]["style"]["fontFamily"] = "Comic Sans MS"
    price[1]["characters"] = "TODO legal: refund after 14 or 30 days?"
    ghost[1]["componentId"] = "99:31337"
    del lost[1]["componentId"]
    clash[1]["id"] = ghost[1]["id"]
    off = -float(rng.randint(41_000, 78_000))
    far[1]["absoluteBoundingBox"]["x"] = off
    red[1]["fills"][0]["color"] = {"r": 1.0, "g": 0.0, "b": 0.733, "a": 1.0}
    clear[1]["opacity"] = 0.0
    old = sorted(components)[7]
    components[old]["description"] = "DEPRECATED since March, use Button/Primary"
    n = Notes()

    def one(what: str, which: tuple[str, dict], telling: list, rest: str, *searches: str) -> None:
        where, made = which
        n.say(what, w.pairs(telling, [made["id"], where, made["name"]]), *searches, pointer=where + rest)

    one("rare value", hide, ["visible"], "/visible", "visible", '"visible": false')
    one("rare value", lorem, ["Lorem ipsum"], "/characters", "Lorem")
    told = ["fontSize 3", "fontSize: 3", "fontSize=3", '"fontSize": 3.0', "3.0", "fontSize"]
    one("outlier", tiny, told, "/style/fontSize", "fontSize", '"fontSize": 3.0')
    one("rare value", font, ["Comic Sans"], "/style/fontFamily", "fontFamily", "Comic Sans")
    one("rare value", price, ["TODO", "refund after 14"], "/characters", "TODO")
    one("contradiction", ghost, ["99:31337"], "/componentId", "99:31337", "componentId")
    where, made = lost
    places = [made["id"], where]
    n.say("missing field", w.gone(places, "componentId"), "componentId", pointer=where, derived=True)
    both = (ghost[0], clash[0])
    n.say(
        "duplicate",
        (*w.same(clash[1]["id"]), both),
        clash[1]["id"],
        '"id"',
        pointer=f"{clash[0]}/id",
        derived=True,
    )
    one("outlier", far, [off, int(off)], "/absoluteBoundingBox/x", str(int(off)), "absoluteBoundingBox")
    one("rare value", red, ["0.733"], "/fills/0/color", "0.733", "color")
    one("rare value", clear, ["opacity"], "/opacity", "opacity")
    n.say(
        "rare value",
        w.pairs(["DEPRECATED", "Button/Primary"], [old, components[old]["name"], f"/components/{old}"]),
        "DEPRECATED",
        "description",
        pointer=f"/components/{old}/description",
        sql="SELECT key, name, description FROM components WHERE description <> ''",
    )
    kinds = Counter(one["type"] for _, one in nodes)
    n.tally(kinds["TEXT"], ["TEXT"], '"TEXT"', "type")
    n.tally(kinds["INSTANCE"], ["INSTANCE"], '"INSTANCE"', "type")
    n.tally(kinds["FRAME"], ["FRAME", "frames"], '"FRAME"', "type")
    n.tally(len(pages), ["CANVAS", "pages", "/document/children"], "CANVAS")
    head = {
        "name": "Shop app",
        "lastModified": "2025-07-02T09:31:22Z",
        "version": str(rng.randint(10**9, 10**10)),
    }
    tree = {"id": "0:0", "name": "Document", "type": "DOCUMENT", "children": pages}
    body = {"document": tree, "components": components, "schemaVersion": 0, "styles": {}}
    return n.parts(json.dumps({**body, **head, "role": "viewer", "editorType": "figma"}, indent=2))


@kind("graphql_schema", "nested")
def graphql_schema(rng: random.Random) -> Parts:
    """The answer to a GraphQL introspection query."""

    def named(name: str, kind_: str = "SCALAR") -> dict:
        return {"kind": kind_, "name": name, "ofType": None}

    def must(of: dict) -> dict:
        return {"kind": "NON_NULL", "name": None, "ofType": of}

    objects = w.distinct(rng, rng.randint(46, 52), lambda r: w.camel(r.choice(w.PLAIN), r.choice(w.THINGS)))

    def field(name: str, type_: dict, args: list | None = None) -> dict:
        return {
            "name": name,
            "description": w.sentence(rng),
            "args": args or [],
            "type": type_,
            "isDeprecated": False,
            "deprecationReason": None,
        }

    def arg(name: str, type_: dict, default: str | None = None) -> dict:
        return {"name": name, "description": None, "type": type_, "defaultValue": default}

    def type_of(kind_: str, name: str, fields: list | None) -> dict:
        made = {
            "kind": kind_,
            "name": name,
            "description": w.sentence(rng),
            "fields": fields,
            "inputFields": None,
        }
        return {**made, "interfaces": [] if fields else None, "enumValues": None, "possibleTypes": None}

    types, enums = [], []
    for name in objects:
        fields = [field("id", must(named("ID")))]
        for word in rng.sample([one for one in w.THINGS if one != "price"], rng.randint(5, 8)):
            base = w.pick(rng, {"String": 60, "Int": 25, "Boolean": 15})
            fields.append(field(word, must(named(base)) if rng.random() < 0.5 else named(base)))
        fields.append(field("price", must(named("Money"))))
        types.append(type_of("OBJECT", name, fields))
    for _ in range(9):
        made = type_of("ENUM", w.camel(rng.choice(w.PLAIN), rng.choice(w.THINGS), "state"), None)
        values = [{"name": one.upper(), "description": None} for one in rng.sample(w.PLAIN, 5)]
        made["enumValues"] = [{**one, "isDeprecated": False, "deprecationReason": None} for one in values]
        enums.append(made)
    reads = [
        field(
            w.lower_camel(name) + "s",
            {"kind": "LIST", "name": None, "ofType": named(name, "OBJECT")},
            [arg("first", named("Int"), "50"), arg("after", named("String"))],
        )
        for name in objects
    ]
    writes = [
        field("create" + name, named(name, "OBJECT"), [arg("id", must(named("ID")))]) for name in objects
    ]
    types.insert(len(types) // 2, type_of("OBJECT", "Mutation", writes))
    types.insert(len(types) // 3, type_of("OBJECT", "Query", reads))
    for k, made in enumerate(enums):
        types.insert(6 * k + 3, made)
    types.extend(type_of("SCALAR", name, None) for name in ("ID", "String", "Int", "Boolean", "Money"))
    at = {made["name"]: k for k, made in enumerate(types)}
    plain = [at[name] for name in objects]
    old, hash_, note, loose, double, empty, money, hint = (
        plain[k] for k in w.spots(rng, len(plain), 8, apart=3)
    )
    reason = "Replaced by `handle` in version 9; removed on 2026-01-31"
    types[old]["fields"][2].update(isDeprecated=True, deprecationReason=reason)
    types[hash_]["fields"].insert(3, field("passwordHash", named("String")))
    types[note]["fields"][3]["description"] = "INTERNAL: bypasses the tenant check, never expose."
    types[loose]["fields"][0]["type"] = named("ID")
    types[double]["fields"][4]["name"] = types[double]["fields"][2]["name"]
    types[empty]["fields"] = []
    types[money]["fields"][-1]["type"] = must(named("Float"))
    types[hint]["description"] = None
    value = enums[rng.randint(3, 6)]
    value["enumValues"][2].update(isDeprecated=True, deprecationReason="No longer sent by the carrier")
    limit = rng.randint(400, 900) * 1000
    big = w.spots(rng, len(reads), 1)[0]
    reads[big]["args"][0]["defaultValue"] = str(limit)
    wipe, bare = w.spots(rng, len(writes), 2)
    writes[wipe]["name"] = "deleteAllCustomers"
    writes[bare]["args"] = []
    base = "/data/__schema/types"
    n = Items(base, [[one["name"]] for one in types])

    def inner(k: int, f: int) -> str:
        return types[k]["fields"][f]["name"]

    get = "SELECT t.name, f.name, f.{0} FROM t JOIN fields f ON f.parent = t.n WHERE {1}".format
    asked = get("deprecationReason", "f.isDeprecated")
    told = ["Replaced by `handle`", "isDeprecated", "deprecat"]
    n.one("rare value", old, told, "/fields/2/deprecationReason", "isDeprecated", "Replaced by", sql=asked)
    asked = get("name", "f.name LIKE '%password%'")
    n.one("rare value", hash_, ["passwordHash"], "/fields/3", "password", sql=asked)
    asked = get("description", "f.description LIKE '%INTERNAL%'")
    told = ["bypasses the tenant check", "INTERNAL"]
    n.one("rare value", note, told, "/fields/3/description", "INTERNAL", "bypasses", sql=asked)
    asked = get("type.kind", "f.name = 'id' AND f.type.kind <> 'NON_NULL'")
    told = ["NON_NULL", "nullable", '"id"', "id|SCALAR", "id SCALAR", "/fields/0/type"]
    n.one("rare value", loose, told, "/fields/0/type", '"id"', "NON_NULL", sql=asked)
    twice = inner(double, 2)
    n.say(
        "duplicate",
        (
            *((types[double]["name"], twice, word) for word in w.SAME),
            (types[double]["name"], f"{twice}|2"),
            (f"{base}/{double}/fields/2", f"{base}/{double}/fields/4"),
        ),
        types[double]["name"],
        twice,
        pointer=f"{base}/{double}/fields/4/name",
        sql="SELECT t.name, f.name, count(*) AS k FROM t JOIN fields f ON f.parent = t.n GROUP BY 1, 2 HAVING k > 1",
        derived=True,
    )
    n.say(
        "missing field",
        (*w.gone([types[empty]["name"], f"{base}/{empty}"], "fields"), (types[empty]["name"], "0")),
        "fields",
        '"fields": []',
        pointer=f"{base}/{empty}/fields",
        sql="SELECT t.name, count(f.n) AS fields FROM t LEFT JOIN fields f ON f.parent = t.n WHERE t.kind = 'OBJECT' "
        "GROUP BY 1 ORDER BY 2 LIMIT 2",
        derived=True,
    )
    asked = get("type", "f.type LIKE '%Float%' OR f.type.ofType.name = 'Float'")
    asked = get("type.ofType.name", "f.type.ofType.name = 'Float'")
    n.one(
        "changed type",
        money,
        ["Float"],
        f"/fields/{len(types[money]['fields']) - 1}/type",
        "Float",
        sql=asked,
    )
    n.lost(
        hint, "description", "/description", sql="SELECT name, description FROM t WHERE description IS NULL"
    )
    state = value["enumValues"][2]["name"]
    k = types.index(value)
    n.say(
        "rare value",
        w.pairs(
            ["No longer sent by the carrier", "isDeprecated", "deprecat"],
            [state, value["name"], f"{base}/{k}"],
        ),
        "No longer",
        "isDeprecated",
        pointer=f"{base}/{k}/enumValues/2/deprecationReason",
        sql="SELECT name, deprecationReason FROM enumValues WHERE isDeprecated",
    )
    query = at["Query"]
    names = [reads[big]["name"], f"{base}/{query}/fields/{big}", "defaultValue", "first"]
    asked = "SELECT name, defaultValue FROM args ORDER BY number(defaultValue) DESC LIMIT 2"
    place = f"{base}/{query}/fields/{big}/args/0/defaultValue"
    n.say("outlier", w.pairs(w.spell(limit), names), "defaultValue", str(limit), pointer=place, sql=asked)
    mutation = at["Mutation"]
    names = ["Mutation", f"{base}/{mutation}/fields/{wipe}", str(wipe)]
    place = f"{base}/{mutation}/fields/{wipe}/name"
    asked = get("name", "f.name LIKE 'delete%'")
    n.say(
        "rare value", w.pairs(["deleteAllCustomers"], names), "delete", "Mutation", pointer=place, sql=asked
    )
    names = [writes[bare]["name"], f"{base}/{mutation}/fields/{bare}"]
    place = f"{base}/{mutation}/fields/{bare}/args"
    asked = f"SELECT name, args FROM fields WHERE parent = {mutation} AND args IN ('[]', '') OR args IS NULL"  # noqa: S608
    n.say(
        "missing field", w.gone(names, "args", "argument"), "args", '"args": []', pointer=place, derived=True
    )
    kinds = Counter(one["kind"] for one in types)
    asked = "SELECT kind, count(*) AS n FROM t GROUP BY 1"
    n.tally(kinds["OBJECT"], ["OBJECT"], '"OBJECT"', sql=asked)
    n.tally(kinds["ENUM"], ["ENUM"], '"ENUM"', sql=asked)
    n.tally(len(types), ["types", "items", "rows"], "types", sql="SELECT count(*) AS types FROM t")
    asked = f"SELECT count(*) AS Mutation FROM fields WHERE parent = {mutation}"  # noqa: S608
    n.tally(len(writes), ["Mutation", "mutations"], "Mutation", sql=asked)
    body = {"queryType": {"name": "Query"}, "mutationType": {"name": "Mutation"}, "subscriptionType": None}
    return n.parts(json.dumps({"data": {"__schema": {**body, "types": types, "directives": []}}}, indent=2))


@kind("explain_json", "nested")
def explain_json(rng: random.Random) -> Parts:
    """PostgreSQL's EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) of a query over a table with monthly partitions."""
    months = rng.randint(116, 126)
    table = rng.choice(w.THINGS) + "s"
    scans: list[dict] = []
    stamps = []
    for k in range(months):
        stamp = f"{2014 + k // 12}_{k % 12 + 1:02d}"
        stamps.append(stamp)
        rows = rng.randint(800, 1500)
        hit = rng.randint(200, 400)
        scans.append(
            {
                "Node Type": "Index Scan",
                "Parent Relationship": "Member",
                "Parallel Aware": False,
                "Async Capable": False,
                "Scan Direction": "Forward",
                "Index Name": f"{table}_{stamp}_customer_id_idx",
                "Relation Name": f"{table}_{stamp}",
                "Alias": f"o_{k + 1}",
                "Startup Cost": 0.42,
                "Total Cost": round(rows * 0.91, 2),
                "Plan Rows": rows,
                "Plan Width": 24,
                "Actual Startup Time": round(rng.uniform(0.02, 0.09), 3),
                "Actual Total Time": round(rng.uniform(1.1, 3.9), 3),
                "Actual Rows": rows + rng.randint(-90, 90),
                "Actual Loops": 1,
                "Index Cond": "(customer_id > 4000)",
                "Filter": "(state = 'paid'::text)",
                "Rows Removed by Filter": rng.randint(10, 60),
                "Shared Hit Blocks": hit,
                "Shared Read Blocks": rng.randint(0, 30),
                "Shared Dirtied Blocks": 0,
                "Shared Written Blocks": 0,
                "Temp Read Blocks": 0,
                "Temp Written Blocks": 0,
            }
        )
    seq, guess, drop, slow, never, read, cast, dirty, hole, index = w.spots(rng, months, 10, apart=5)
    scans[seq]["Node Type"] = "Seq Scan"
    for key in ("Scan Direction", "Index Name", "Index Cond"):
        del scans[seq][key]
    most = rng.randint(700_000, 990_000)
    scans[guess]["Actual Rows"] = most
    removed = rng.randint(2_000_000, 4_000_000)
    scans[drop]["Rows Removed by Filter"] = removed
    time = round(rng.uniform(8000, 9900), 3)
    scans[slow]["Actual Total Time"] = time
    scans[never].update(
        {"Actual Loops": 0, "Actual Rows": 0, "Actual Total Time": 0.0, "Actual Startup Time": 0.0}
    )
    blocks = rng.randint(180_000, 290_000)
    scans[read]["Shared Read Blocks"] = blocks
    scans[cast]["Filter"] = "((state)::bpchar = 'paid'::bpchar)"
    pages = rng.randint(5100, 8800)
    scans[dirty]["Shared Dirtied Blocks"] = pages
    scans[index]["Index Name"] = f"{table}_{stamps[index]}_customer_id_idx_ccnew1"
    lost, around = stamps[hole], (stamps[hole - 1], stamps[hole + 1])
    gone, marked = (
        scans[hole],
        {k: id(scans[k]) for k in (seq, guess, drop, slow, never, read, cast, dirty, index)},
    )
    scans = [one for one in scans if one is not gone]
    fix = {k: next(i for i, one in enumerate(scans) if id(one) == mark) for k, mark in marked.items()}
    width = {"Plan Width": 24, "Actual Loops": 1}
    total = sum(one["Actual Rows"] for one in scans)
    append = {
        "Node Type": "Append",
        "Parent Relationship": "Outer",
        **width,
        "Actual Rows": total,
        "Plans": scans,
    }
    spill = rng.randint(310_000, 480_000)
    inner = {
        "Node Type": "Seq Scan",
        "Relation Name": "customers",
        "Alias": "c",
        **width,
        "Actual Rows": 51_200,
    }
    hashed = {
        "Node Type": "Hash",
        "Parent Relationship": "Inner",
        **width,
        "Hash Batches": 1,
        "Plans": [inner],
    }
    join = {
        "Node Type": "Hash Join",
        "Hash Cond": "(o.customer_id = c.id)",
        **width,
        "Plans": [append, hashed],
    }
    gather = {"Node Type": "Gather", **width, "Workers Planned": 4, "Workers Launched": 0, "Plans": [join]}
    sort = {
        "Node Type": "Sort",
        **width,
        "Sort Key": ["o.total DESC"],
        "Sort Method": "external merge",
        "Sort Space Used": spill,
        "Sort Space Type": "Disk",
        "Plans": [gather],
    }
    ran = round(rng.uniform(21_000, 29_000), 3)
    plan = {"Node Type": "Limit", **width, "Actual Total Time": ran - 9, "Plans": [sort]}
    timing = {"Generation": 14.1, "Inlining": 0.0, "Optimization": 22.4, "Emission": 80.9, "Total": 117.4}
    planned = round(rng.uniform(310, 480), 3)
    body = {
        "Plan": plan,
        "Planning Time": planned,
        "Triggers": [],
        "JIT": {"Functions": 912, "Timing": timing},
    }
    base = "/0/Plan/Plans/0/Plans/0/Plans/0/Plans/0/Plans"
    n = Items(base, [[one["Relation Name"], one.get("Index Name", one["Alias"])] for one in scans])

    def one(what: str, k: int, telling: list, path: str, *searches: str) -> None:
        n.one(what, fix[k], telling, path, *searches)

    one("rare value", seq, ["Seq Scan"], "/Node Type", "Seq Scan", "Node Type")
    one("outlier", guess, w.spell(most), "/Actual Rows", "Actual Rows", str(most))
    one("outlier", drop, w.spell(removed), "/Rows Removed by Filter", "Rows Removed", str(removed))
    one("outlier", slow, w.spell(time), "/Actual Total Time", "Actual Total Time", str(int(time)))
    told = [
        "Actual Loops 0",
        "Actual Loops: 0",
        '"Actual Loops": 0',
        "Actual Loops=0",
        "never executed",
        "Actual Loops",
    ]
    one("rare value", never, told, "/Actual Loops", "Actual Loops", '"Actual Loops": 0')
    one("outlier", read, w.spell(blocks), "/Shared Read Blocks", "Shared Read Blocks", str(blocks))
    one("rare value", cast, ["bpchar"], "/Filter", "bpchar", "Filter")
    one("outlier", dirty, w.spell(pages), "/Shared Dirtied Blocks", "Dirtied", str(pages))
    one("rare value", index, ["ccnew1", "_ccnew"], "/Index Name", "ccnew", "Index Name")
    n.say("gap", w.gap([f"{table}_{lost}", lost], *around), lost, f"{table}_{lost[:4]}", derived=True)
    place = "/0/Plan/Plans/0"
    words = ["external merge", "Disk", "Sort Space Used"]
    evidence = (*w.pairs([spill], [*words, f"{place}/Sort Space Used"]), ("external merge", "Disk"))
    n.say("outlier", evidence, "external merge", "Disk", pointer=f"{place}/Sort Method")
    place = "/0/Plan/Plans/0/Plans/0/Workers Launched"
    told = ["Workers Launched 0", "Workers Launched: 0", '"Workers Launched": 0', "Workers Launched=0"]
    evidence = (*((one,) for one in told), ("Workers Planned", "Workers Launched"), (place, "0"))
    n.say("contradiction", evidence, "Workers", "Launched", pointer=place)
    asked = 'SELECT "Execution Time", "Planning Time" FROM t'
    n.say(
        "summary",
        w.pairs(["Execution Time"], [ran]),
        "Execution Time",
        pointer="/0/Execution Time",
        sql=asked,
    )
    n.say(
        "summary",
        w.pairs(["Planning Time"], [planned]),
        "Planning Time",
        pointer="/0/Planning Time",
        sql=asked,
    )
    n.tally(len(scans) - 1, ["Index Scan"], "Index Scan", "Node Type")
    n.tally(len(scans), ["Plans", "items", "partitions", "scans"], "Relation Name", "Plans")
    return n.parts(json.dumps([{**body, "Execution Time": ran}], indent=2))


@kind("cost_explorer", "nested")
def cost_explorer(rng: random.Random) -> Parts:
    """`aws ce get-cost-and-usage --granularity DAILY --group-by SERVICE`: days with groups."""
    services = {
        "Amazon Elastic Compute Cloud - Compute": 410.0,
        "Amazon Relational Database Service": 260.0,
        "Amazon Simple Storage Service": 95.0,
        "AWS Lambda": 31.0,
        "Amazon CloudFront": 58.0,
        "AmazonCloudWatch": 44.0,
        "Amazon DynamoDB": 37.0,
        "Amazon Elastic Load Balancing": 29.0,
        "AWS Key Management Service": 6.0,
        "Amazon Route 53": 3.0,
    }
    start = datetime(2025, rng.randint(1, 5), 1, tzinfo=UTC)
    length = rng.randint(56, 62)
    days: list[dict] = []
    for k in range(length):
        day = start + timedelta(days=k)
        groups = [
            {
                "Keys": [name],
                "Metrics": {
                    "UnblendedCost": {"Amount": f"{mean * rng.uniform(0.93, 1.07):.10f}", "Unit": "USD"},
                    "UsageQuantity": {"Amount": f"{mean * rng.uniform(9, 11):.6f}", "Unit": "N/A"},
                },
            }
            for name, mean in services.items()
        ]
        period = {"Start": f"{day:%Y-%m-%d}", "End": f"{day + timedelta(days=1):%Y-%m-%d}"}
        days.append({"TimePeriod": period, "Total": {}, "Groups": groups, "Estimated": False})
    spike, credit, novel, lost, guess, hole, euro, double, free, use = w.spots(rng, length, 10, apart=3)
    names = list(services)

    def cost(k: int, g: int) -> dict:
        return days[k]["Groups"][g]["Metrics"]["UnblendedCost"]

    large = f"{rng.randint(14_000, 29_000)}.{rng.randint(10**9, 10**10 - 1)}"
    cost(spike, 1)["Amount"] = large
    minus = f"-{rng.randint(1100, 1900)}.{rng.randint(10**9, 10**10 - 1)}"
    cost(credit, 2)["Amount"] = minus
    alien = {"Amount": f"{rng.uniform(210, 390):.10f}", "Unit": "USD"}
    usage = {"Amount": "24.000000", "Unit": "N/A"}
    days[novel]["Groups"].append(
        {"Keys": ["Amazon SageMaker"], "Metrics": {"UnblendedCost": alien, "UsageQuantity": usage}}
    )
    absent = names[5]
    del days[lost]["Groups"][5]
    days[guess]["Estimated"] = True
    cost(euro, 0)["Unit"] = "EUR"
    days[double]["Groups"].insert(5, json.loads(json.dumps(days[double]["Groups"][4])))
    cost(free, 3)["Amount"] = "0"
    heavy = f"{rng.randint(700_000, 900_000)}.{rng.randint(100_000, 999_999)}"
    days[use]["Groups"][6]["Metrics"]["UsageQuantity"]["Amount"] = heavy
    gone, around = days[hole]["TimePeriod"]["Start"], (days[hole - 1], days[hole + 1])
    mark = {k: id(days[k]) for k in (spike, credit, novel, lost, guess, euro, double, free, use)}
    days = [day for k, day in enumerate(days) if k != hole]
    fix = {k: next(i for i, day in enumerate(days) if id(day) == value) for k, value in mark.items()}
    base = "/ResultsByTime"
    n = Items(base, [[day["TimePeriod"]["Start"]] for day in days])
    get = (
        "SELECT d.TimePeriod.Start, g.Keys, g.Metrics.UnblendedCost.Amount, g.Metrics.UnblendedCost.Unit FROM "
        "ResultsByTime d JOIN Groups g ON g.parent = d.n {0}"
    ).format
    money = "/Groups/{0}/Metrics/UnblendedCost/Amount".format

    def one(what: str, k: int, telling: list, path: str, *searches: str, sql: str = "") -> None:
        n.one(what, fix[k], telling, path, *searches, sql=sql or ())

    def forms(amount: str) -> list[str]:
        whole = amount.split(".")[0]
        return [amount, whole, f"{float(amount):.2f}", f"{float(amount):.1f}", f"{float(amount):.0f}"]

    asked = get("ORDER BY number(g.Metrics.UnblendedCost.Amount) DESC LIMIT 3")
    one("outlier", spike, forms(large), money(1), forms(large)[1], "Amount", sql=asked)
    asked = get("ORDER BY number(g.Metrics.UnblendedCost.Amount) LIMIT 3")
    one("outlier", credit, forms(minus), money(2), '"-', "Amount", sql=asked)
    asked = get("WHERE g.Keys LIKE '%SageMaker%'")
    one("rare value", novel, ["SageMaker"], f"/Groups/{len(services)}", "SageMaker", "Keys", sql=asked)
    day = days[fix[lost]]["TimePeriod"]["Start"]
    n.say(
        "missing field",
        (*w.gone([day, f"{base}/{fix[lost]}"], absent), (day, f"{len(services) - 1} groups"), (day, "|9")),
        absent,
        "Groups",
        pointer=f"{base}/{fix[lost]}/Groups",
        sql="SELECT d.TimePeriod.Start, count(*) AS k FROM ResultsByTime d JOIN Groups g ON g.parent = d.n GROUP BY 1 "
        "ORDER BY 2 LIMIT 2",
        derived=True,
    )
    asked = "SELECT TimePeriod.Start, Estimated FROM ResultsByTime WHERE Estimated"
    one("rare value", guess, ["Estimated"], "/Estimated", "Estimated", '"Estimated": true', sql=asked)
    asked = get("WHERE g.Metrics.UnblendedCost.Unit <> 'USD'")
    one("rare value", euro, ["EUR"], "/Groups/0/Metrics/UnblendedCost/Unit", "EUR", "Unit", sql=asked)
    day = days[fix[double]]["TimePeriod"]["Start"]
    n.say(
        "duplicate",
        (
            *((day, names[4], word) for word in w.SAME),
            (day, f'{names[4]}"]|2'),
            (f"{base}/{fix[double]}/Groups/4", f"{base}/{fix[double]}/Groups/5"),
            *((f"{base}/{fix[double]}", word) for word in w.SAME),
        ),
        names[4],
        "Keys",
        pointer=f"{base}/{fix[double]}/Groups/5",
        sql="SELECT d.TimePeriod.Start, g.Keys, count(*) AS k FROM ResultsByTime d JOIN Groups g ON g.parent = d.n "
        "GROUP BY 1, 2 HAVING k > 1",
        derived=True,
    )
    told = ['"0"', "Amount 0", "Amount: 0", "Amount=0", "|0|", "zero", " 0 "]
    asked = get("WHERE number(g.Metrics.UnblendedCost.Amount) = 0")
    one("outlier", free, told, money(3), '"Amount": "0"', "Amount", sql=asked)
    asked = "SELECT d.TimePeriod.Start, g.Keys, g.Metrics.UsageQuantity.Amount FROM ResultsByTime d JOIN Groups g ON "
    asked += "g.parent = d.n ORDER BY number(g.Metrics.UsageQuantity.Amount) DESC LIMIT 2"
    path = "/Groups/6/Metrics/UsageQuantity/Amount"
    one("outlier", use, forms(heavy), path, "UsageQuantity", forms(heavy)[1], sql=asked)
    first, second = (one["TimePeriod"]["Start"] for one in around)
    asked = (
        "SELECT a, b FROM (SELECT TimePeriod.Start AS b, lag(TimePeriod.Start) OVER (ORDER BY n) AS a FROM "
    )
    asked += "ResultsByTime) WHERE julianday(b) - julianday(a) > 1"
    evidence = tuple(one for one in w.gap([], first, second) if one != (first, second))
    evidence += (*((gone, word) for word in w.LEAP[:9]), (first, second, "gap"))
    n.say("gap", evidence, gone, first, sql=asked, derived=True)
    n.tally(
        len(days),
        ["ResultsByTime", "days", "items", "rows"],
        "TimePeriod",
        sql="SELECT count(*) AS days FROM ResultsByTime",
    )
    groups = [one for day in days for one in day["Groups"]]
    n.tally(len(groups), ["Groups", "groups"], "Keys", sql="SELECT count(*) AS groups FROM Groups")
    ends = (days[0]["TimePeriod"]["Start"], days[-1]["TimePeriod"]["Start"])
    asked = "SELECT min(TimePeriod.Start) AS a, max(TimePeriod.Start) AS b FROM ResultsByTime"
    more = w.span(ends[0], days[-1]["TimePeriod"]["End"])
    n.say("range", (*w.span(*ends), *more), "Start", ends[0], sql=asked, derived=True)
    total = sum(float(one["Metrics"]["UnblendedCost"]["Amount"]) for one in groups)
    asked = "SELECT round(sum(number(Metrics.UnblendedCost.Amount)), 2) AS total FROM Groups"
    spelled = ((f"{total:.2f}",), (f"{total:.1f}",), (f"{total:.0f}", "total"), (f"{total:.0f}", "sum"))
    n.say("total", spelled, "UnblendedCost", sql=asked, derived=True)
    compute = sum(
        float(one["Metrics"]["UnblendedCost"]["Amount"]) for one in groups if one["Keys"] == [names[0]]
    )
    asked = "SELECT Keys, round(sum(number(Metrics.UnblendedCost.Amount)), 2) AS total FROM Groups GROUP BY 1"
    spelled = (("Compute", f"{compute:.2f}"), ("Compute", f"{compute:.1f}"), ("Compute", f"{compute:.0f}"))
    n.say("total", spelled, "Compute", "UnblendedCost", sql=asked, derived=True)
    group = [{"Type": "DIMENSION", "Key": "SERVICE"}]
    body = {"GroupDefinitions": group, "ResultsByTime": days, "DimensionValueAttributes": []}
    return n.parts(json.dumps(body, indent=4))
