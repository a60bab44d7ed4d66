"""Documents whose matter is deep: suites of tests, a realm."""

# ruff: noqa: S608

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Items, Notes
from bench.fidelity.planted import Parts, kind
from bench.fidelity.set_six.words import beside, field


def _spec(rng: random.Random, title: str, file: str, line: int, project: str, when: datetime) -> dict:
    """One test that passed."""
    worker = rng.randint(0, 5)
    result = {
        "workerIndex": worker,
        "parallelIndex": worker,
        "status": "passed",
        "duration": int(w.near(rng, 2600, 1700, 220, 9800)),
        "errors": [],
        "stdout": [],
        "stderr": [],
        "retry": 0,
        "startTime": f"{when:%Y-%m-%dT%H:%M:%S}.{rng.randint(1, 999):03d}Z",
        "attachments": [],
    }
    test = {
        "timeout": 30_000,
        "annotations": [],
        "expectedStatus": "passed",
        "projectId": project,
        "projectName": project,
    }
    test |= {"results": [result], "status": "expected"}
    ident = f"{w.hexes(rng, 20)}-{w.hexes(rng, 20)}"
    return {
        "title": title,
        "ok": True,
        "tags": [],
        "tests": [test],
        "id": ident,
        "file": file,
        "line": line,
        "column": 3,
    }


@kind("playwright_json", "nested")
def playwright_json(rng: random.Random) -> Parts:
    """Playwright's JSON reporter: suites of files with nested suites of specs, and the statistics at the end."""
    start = datetime(2025, rng.randint(3, 8), rng.randint(2, 26), 11, rng.randint(0, 50), tzinfo=UTC)
    now, suites, specs = start, [], []
    for team in rng.sample(w.TEAMS, 17):
        file, line, blocks = f"{team}.spec.ts", 5, []
        for thing in rng.sample(w.THINGS, rng.randint(2, 4)):
            found: list[dict] = []
            top = line
            for _ in range(rng.randint(3, 6)):
                line += rng.randint(8, 40)
                now += timedelta(seconds=rng.uniform(0.3, 3.5))
                title = f"should {rng.choice(w.DOING)} the {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)}"
                found.append(
                    _spec(rng, title, file, line, rng.choice(("chromium", "chromium", "firefox")), now)
                )
                specs.append(
                    (found[-1], f"/suites/{len(suites)}/suites/{len(blocks)}/specs/{len(found) - 1}")
                )
            blocks.append(
                {
                    "title": f"{thing} {rng.choice(('page', 'dialog', 'form', 'list'))}",
                    "file": file,
                    "line": top,
                    "column": 6,
                    "specs": found,
                }
            )
            line += 12
        suites.append({"title": file, "file": file, "column": 0, "line": 0, "specs": [], "suites": blocks})
    size = len(specs)
    spots = w.spots(rng, size, 13, apart=4)
    fail, flaky, hang, skip, slow, leak, noise, known, twin, safari, jump, empty, patient = spots
    tests = [one["tests"][0] for one, _ in specs]
    results = [one["results"][0] for one in tests]
    want, got = f"Total: {rng.randint(110, 190)}.50", f"Total: {rng.randint(210, 290)}.50"
    at = f"/builds/shop/e2e/{specs[fail][0]['file']}"
    error = {
        "message": "Error: expect(locator).toHaveText(expected) failed\n\n"
        f'Locator: getByTestId("cart-total")\nExpected: "{want}"\nReceived: "{got}"',
        "stack": f"Error: expect(locator).toHaveText(expected) failed\n    at {at}:{specs[fail][0]['line'] + 6}:41",
        "location": {"file": at, "line": specs[fail][0]["line"] + 6, "column": 41},
    }
    results[fail].update(
        status="failed", error=error, errors=[{"message": error["message"], "location": error["location"]}]
    )
    tests[fail]["status"], specs[fail][0]["ok"] = "unexpected", False
    first = json.loads(json.dumps(results[flaky]))
    trouble = "Error: page.goto: net::ERR_CONNECTION_RESET at https://staging.shop.example/login"
    first.update(status="failed", error={"message": trouble}, errors=[{"message": trouble}])
    results[flaky]["retry"] = 1
    tests[flaky].update(results=[first, results[flaky]], status="flaky")
    late = "Test timeout of 30000ms exceeded while waiting for getByRole('button', { name: 'Export' })"
    results[hang].update(
        status="timedOut",
        duration=30_000 + rng.randint(11, 90),
        error={"message": late},
        errors=[{"message": late}],
    )
    tests[hang]["status"], specs[hang][0]["ok"] = "unexpected", False
    bug = f"SHOP-{rng.randint(3100, 8900)}"
    tests[skip].update(
        annotations=[{"type": "fixme", "description": f"blocked by {bug}"}],
        expectedStatus="skipped",
        status="skipped",
    )
    results[skip].update(status="skipped", duration=0)
    took = rng.randint(21_000, 28_500)
    results[slow]["duration"] = took
    secret = w.alnum(rng, 44)
    results[leak]["stdout"] = [{"text": f"login as qa@example.org, session_token={secret}\n"}]
    results[noise]["stderr"] = [
        {
            "text": "(node:4711) UnhandledPromiseRejectionWarning: TypeError: "
            "Cannot read properties of undefined (reading 'id')\n"
        }
    ]
    tests[known]["expectedStatus"] = "failed"
    results[known]["status"] = "failed"
    specs[twin][0]["id"] = specs[twin - 2][0]["id"]
    tests[safari].update(projectId="Mobile Safari", projectName="Mobile Safari")
    past = "2001-09-0" + str(rng.randint(1, 9))
    results[jump]["startTime"] = f"{past}T01:46:40.000Z"
    tests[empty]["results"] = []
    tests[patient]["timeout"] = 900_000
    passed = Counter(one["status"] for one in tests)
    told = passed["expected"] + rng.randint(7, 19)
    stats = {
        "startTime": f"{start:%Y-%m-%dT%H:%M:%S}.004Z",
        "duration": (now - start).total_seconds() * 1000 + 1204.5,
    }
    stats |= {
        "expected": told,
        "skipped": passed["skipped"],
        "unexpected": passed["unexpected"],
        "flaky": passed["flaky"],
    }
    config = {
        "configFile": "/builds/shop/playwright.config.ts",
        "rootDir": "/builds/shop/e2e",
        "forbidOnly": True,
        "fullyParallel": True,
    }
    config |= {
        "maxFailures": 0,
        "metadata": {"actualWorkers": 6},
        "preserveOutput": "always",
        "reporter": [["json", None]],
        "version": "1.44.1",
        "workers": 6,
    }
    n = Notes()

    def one(
        what: str,
        k: int,
        telling: list,
        path: str,
        *searches: str,
        more: tuple = (),
        hidden: str = "",
        sql: tuple | str = (),
    ) -> None:
        spec, place = specs[k]
        names = [spec["title"], f"{spec['file']}:{spec['line']}", place, *more]
        names += [spec["id"], spec["id"][:20]] if k not in (twin, twin - 2) else []
        asked = sql or (beside(searches[0], '"title":'),)
        n.say(
            what,
            w.pairs(telling, [one for one in names if one not in telling]),
            *searches,
            pointer=place + path,
            hidden=hidden,
            sql=asked,
        )

    one(
        "failing test",
        fail,
        [got, "toHaveText", "cart-total"],
        "/tests/0/results/0/error",
        "toHaveText",
        '/"status": ?"failed"/',
        "unexpected",
        more=("Expected", want),
    )
    one(
        "rare status",
        flaky,
        ["flaky", "ERR_CONNECTION_RESET"],
        "/tests/0/status",
        "flaky",
        "CONNECTION_RESET",
        more=("retry", "page.goto"),
    )
    one(
        "failing test",
        hang,
        ["timedOut", "timeout of 30000ms"],
        "/tests/0/results/0",
        "timedOut",
        "exceeded",
        more=("Export", "exceeded while"),
    )
    one(
        "rare status",
        skip,
        [bug, "fixme"],
        "/tests/0/annotations/0",
        "fixme",
        "skipped",
        "blocked",
        more=("fixme", "blocked by", "skipped"),
    )
    spelled = [str(took), f"{took / 1000:.1f}s", f"{took / 1000:.1f} s", f"{took / 1000:.2f}"]
    one(
        "outlier",
        slow,
        spelled,
        "/tests/0/results/0/duration",
        '/"duration": ?2\\d{4}/',
        "duration",
        str(took),
        more=("duration",),
    )
    asked = (
        "SELECT n, 'session_token' AS word, 'stdout' AS place FROM lines WHERE text LIKE '%session_token%'",
    )
    one(
        "secret",
        leak,
        ["session_token"],
        "/tests/0/results/0/stdout/0",
        "token",
        "session",
        more=("stdout", "secret", "login as"),
        hidden=secret,
        sql=asked,
    )
    one(
        "error",
        noise,
        ["UnhandledPromiseRejection", "Cannot read properties"],
        "/tests/0/results/0/stderr/0",
        "Unhandled",
        "stderr",
        more=("TypeError", "stderr", "reading"),
    )
    told_ = ["expectedStatus", "expected to fail", "test.fail"]
    one(
        "rare value",
        known,
        told_,
        "/tests/0/expectedStatus",
        '/"expectedStatus": ?"failed"/',
        "expectedStatus",
    )
    ident = specs[twin][0]["id"]
    asked = 'SELECT text, count(*) AS duplicates FROM lines WHERE text REGEXP \'"id": "\' GROUP BY 1 HAVING count(*) > 1'
    evidence = (
        *w.same(ident),
        *w.same(ident[:20]),
        (specs[twin - 2][0]["title"], specs[twin][0]["title"], "id"),
        (specs[twin - 2][1], specs[twin][1]),
    )
    n.say("duplicate", evidence, ident[:20], '"id"', pointer=specs[twin][1] + "/id", sql=asked, derived=True)
    one(
        "rare value",
        safari,
        ["Mobile Safari"],
        "/tests/0/projectName",
        "Safari",
        "projectName",
        more=("projectName", "projectId"),
    )
    one(
        "time jump",
        jump,
        [past, "2001-09", "2001"],
        "/tests/0/results/0/startTime",
        "2001-",
        "startTime",
        more=("startTime",),
    )
    words = [f"results {word}" for word in ("[]", "empty", "are empty", "is empty", "missing")]
    words += [
        "no results",
        "no result",
        "without results",
        "results: []",
        '"results": []',
        "empty results",
        "did not run",
        "never ran",
        "not run",
        "empty list",
        "results (empty",
        "results[0]",
    ]
    one(
        "missing field",
        empty,
        words,
        "/tests/0/results",
        "results",
        '/"results": ?\\[\\]/',
        sql=(beside('/"results": ?\\[\\]/', '"title":'),),
    )
    one("outlier", patient, ["900000"], "/tests/0/timeout", "900000", "timeout", more=("timeout",))
    real = passed["expected"]
    evidence = (
        *w.pairs([told], [real]),
        *(
            (str(told), "expected", word)
            for word in ("contradict", "differ", "mismatch", "not match", "instead")
        ),
    )
    n.say(
        "contradiction",
        evidence,
        '"expected"',
        str(told),
        pointer="/stats/expected",
        sql=(
            "SELECT count(*) AS real, "
            + str(told)
            + ' AS told FROM lines WHERE text REGEXP \'"status": ?"expected"\'',
        ),
        derived=True,
    )
    n.tally(size, ["specs", "tests", "test", "cases"], '"projectId"', sql=w.how_many("specs", '"projectId"'))
    states = ["expected", "status expected", 'status "expected"']
    n.tally(real, states, '/"status": ?"expected"/', sql=w.how_many("expected", '/"status": ?"expected"/'))
    return n.parts(json.dumps({"config": config, "suites": suites, "errors": [], "stats": stats}, indent=2))


def _client(rng: random.Random, name: str) -> dict:
    """One ordinary client of a realm."""
    home = f"https://{name}.example.org"
    return {
        "id": w.uuid(rng),
        "clientId": name,
        "name": name.replace("-", " ").capitalize(),
        "rootUrl": home,
        "surrogateAuthRequired": False,
        "enabled": True,
        "alwaysDisplayInConsole": False,
        "clientAuthenticatorType": "client-secret",
        "secret": "**********",
        "redirectUris": [f"{home}/callback", f"{home}/silent"],
        "webOrigins": [home],
        "notBefore": 0,
        "bearerOnly": False,
        "consentRequired": False,
        "standardFlowEnabled": True,
        "implicitFlowEnabled": False,
        "directAccessGrantsEnabled": False,
        "serviceAccountsEnabled": rng.random() < 0.3,
        "publicClient": False,
        "frontchannelLogout": True,
        "protocol": "openid-connect",
        "attributes": {
            "access.token.lifespan": rng.choice(("300", "600", "900")),
            "client.secret.creation.time": str(rng.randint(1_690_000_000, 1_740_000_000)),
            "pkce.code.challenge.method": "S256",
            "post.logout.redirect.uris": "+",
        },
        "fullScopeAllowed": False,
        "nodeReRegistrationTimeout": -1,
        "defaultClientScopes": ["web-origins", "acr", "profile", "roles", "email"],
        "optionalClientScopes": ["address", "phone", "offline_access"],
    }


def _user(rng: random.Random, name: str, groups: list[str]) -> dict:
    """One ordinary user of a realm."""
    first, last = name.split()
    return {
        "id": w.uuid(rng),
        "createdTimestamp": rng.randint(1_640_000_000, 1_744_000_000) * 1000,
        "username": w.login(name),
        "enabled": rng.random() < 0.93,
        "totp": True,
        "emailVerified": True,
        "firstName": first,
        "lastName": last,
        "email": f"{w.login(name)}@example.org",
        "credentials": [
            {
                "id": w.uuid(rng),
                "type": "password",
                "createdDate": rng.randint(1_690_000_000, 1_744_000_000) * 1000,
                "credentialData": '{"hashIterations":210000,"algorithm":"pbkdf2-sha512","additionalParameters":{}}',
            }
        ],
        "disableableCredentialTypes": [],
        "requiredActions": [],
        "realmRoles": ["default-roles-shop"],
        "notBefore": 0,
        "groups": rng.sample(groups, rng.randint(1, 2)),
    }


@kind("keycloak_realm", "nested")
def keycloak_realm(rng: random.Random) -> Parts:
    """A realm that Keycloak exported: groups, users and clients with their settings."""
    teams = rng.sample(w.TEAMS, 16)
    groups = [
        {
            "id": w.uuid(rng),
            "name": team,
            "path": f"/{team}",
            "attributes": {},
            "realmRoles": [f"{team}-reader"],
            "subGroups": [],
        }
        for team in teams
    ]
    users = [
        _user(rng, name, [one["path"] for one in groups]) for name in w.people(rng, rng.randint(118, 128))
    ]
    clients = [
        _client(rng, name)
        for name in w.distinct(
            rng, 52, lambda r: f"{r.choice(w.TEAMS)}-{r.choice(('ui', 'api', 'app', 'portal'))}"
        )
    ]
    raw, admin, twin, bare, guest, md5, must, old = w.spots(rng, len(users), 8, apart=5)
    star, public, leak, off, saml, life, implicit = w.spots(rng, len(clients), 7, apart=3)
    users[raw].update(emailVerified=False, enabled=True)
    users[admin]["realmRoles"].append("realm-admin")
    users[twin]["email"] = users[twin - 2]["email"]
    del users[bare]["email"]
    users[guest]["email"] = "k.helper1988@gmail.com"
    users[md5]["credentials"][0]["credentialData"] = (
        '{"hashIterations":1,"algorithm":"md5","additionalParameters":{}}'
    )
    users[must]["totp"] = False
    born = datetime(2009, rng.randint(1, 12), rng.randint(2, 27), tzinfo=UTC)
    users[old]["createdTimestamp"] = int(born.timestamp() * 1000)
    clients[star]["redirectUris"] = ["*"]
    clients[public].update(publicClient=True, directAccessGrantsEnabled=True)
    secret = w.alnum(rng, 32)
    clients[leak]["secret"] = secret
    clients[off]["enabled"] = False
    clients[saml]["protocol"] = "saml"
    clients[life]["attributes"]["access.token.lifespan"] = "31536000"
    clients[implicit]["implicitFlowEnabled"] = True
    realm = {
        "id": w.uuid(rng),
        "realm": "shop",
        "displayName": "Shop",
        "accessTokenLifespan": 300,
        "ssoSessionIdleTimeout": 1800,
        "ssoSessionMaxLifespan": 36_000,
        "enabled": True,
        "sslRequired": "external",
        "registrationAllowed": False,
        "bruteForceProtected": True,
        "failureFactor": 10,
        "roles": {
            "realm": [
                {
                    "id": w.uuid(rng),
                    "name": f"{team}-reader",
                    "composite": False,
                    "clientRole": False,
                    "attributes": {},
                }
                for team in teams
            ]
        },
        "groups": groups,
        "users": users,
        "clients": clients,
        "keycloakVersion": "24.0.3",
    }
    a = Items("/users", [[one["username"], one["id"]] for one in users])
    c = Items("/clients", [[one["clientId"], one["id"]] for one in clients])
    get = "SELECT username, {0} FROM t WHERE {1}".format
    asked = (get("emailVerified", "NOT emailVerified"), w.find('/"emailVerified": ?false/'))
    field(
        a,
        "rare value",
        raw,
        ["emailVerified", "not verified", "unverified"],
        "/emailVerified",
        '/"emailVerified": ?false/',
        "emailVerified",
        sql=asked,
    )
    asked = (get("realmRoles", "realmRoles LIKE '%realm-admin%'"), w.find("realm-admin"))
    a.one("rare value", admin, ["realm-admin"], "/realmRoles/1", "admin", "realmRoles", sql=asked)
    mail = users[twin]["email"]
    asked = "SELECT email, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1"
    evidence = (
        *w.same(mail),
        (mail, users[twin]["username"]),
        (f"/users/{twin - 2}", f"/users/{twin}", "email"),
    )
    a.say("duplicate", evidence, mail, "email", pointer=f"/users/{twin}/email", sql=asked, derived=True)
    a.lost(bare, "email", sql=get("'email missing' AS note", "email IS NULL"))
    a.one(
        "rare value",
        guest,
        ["gmail.com", "k.helper1988"],
        "/email",
        "gmail",
        "email",
        sql=(get("email", "email NOT LIKE '%@example.org'"), w.find("gmail")),
    )
    told = ["md5", '"hashIterations":1,', "hashIterations 1", "hashIterations: 1", "hashIterations=1"]
    a.one(
        "rare value",
        md5,
        told,
        "/credentials/0/credentialData",
        "md5",
        "hashIterations",
        sql=(get("credentials", "credentials LIKE '%md5%'"), w.find("md5")),
    )
    field(
        a,
        "rare value",
        must,
        ["totp"],
        "/totp",
        '/"totp": ?false/',
        "totp",
        sql=(get("totp", "NOT totp"), w.find('/"totp": ?false/')),
    )
    stamp = users[old]["createdTimestamp"]
    asked = "SELECT username, createdTimestamp FROM t ORDER BY 2 LIMIT 2"
    a.one(
        "time jump",
        old,
        [stamp, f"{born:%Y-%m-%d}", f"{born:%Y-%m}", "2009"],
        "/createdTimestamp",
        "createdTimestamp",
        str(stamp),
        sql=asked,
    )
    told = ["redirectUris", "redirect URI", 'redirectUris: ["*"]', '"*"', "wildcard"]
    field(
        c,
        "error",
        star,
        told,
        "/redirectUris/0",
        '"*"',
        "redirectUris",
        sql=(beside('/^ *"\\*"/', '"clientId"'),),
    )
    field(
        c,
        "rare value",
        public,
        ["publicClient", "directAccessGrants"],
        "/publicClient",
        '/"publicClient": ?true/',
        "publicClient",
        "directAccessGrants",
        sql=(beside('/"publicClient": ?true/', '"clientId"'),),
    )
    field(
        c,
        "secret",
        leak,
        ["secret"],
        "/secret",
        '"secret"',
        "secret",
        hidden=secret,
        sql=(beside('/"secret": ?"[^*]/', '"clientId"').replace("a.text,", "'secret' AS word,", 1),),
    )
    field(
        c,
        "rare value",
        off,
        ["enabled", "disabled"],
        "/enabled",
        '/"enabled": ?false/',
        "enabled",
        sql=(beside('/"enabled": ?false/', '"clientId"') + " AND owner IS NOT NULL",),
    )
    c.one(
        "rare value", saml, ["saml"], "/protocol", "saml", "protocol", sql=(beside('"saml"', '"clientId"'),)
    )
    c.one(
        "outlier",
        life,
        ["31536000"],
        "/attributes/access.token.lifespan",
        "lifespan",
        "31536000",
        sql=(beside("31536000", '"clientId"'),),
    )
    field(
        c,
        "rare value",
        implicit,
        ["implicitFlow", "implicit flow"],
        "/implicitFlowEnabled",
        '/"implicitFlowEnabled": ?true/',
        "implicitFlow",
        sql=(beside('/"implicitFlowEnabled": ?true/', '"clientId"'),),
    )
    c.items[:0] = a.items
    c.tally(
        len(users),
        ["users", "user"],
        '"username"',
        sql=("SELECT count(*) AS users FROM t", w.how_many("users", '"username"')),
    )
    return c.parts(json.dumps(realm, indent=2))
