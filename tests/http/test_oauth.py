"""`auth.mode: jwt` and `introspection`: an OAuth resource server, over real sockets, with a real authorization server."""

import base64
import hashlib
import hmac
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from brimgate.app.authenticators import check_auth
from brimgate.errors import OperatorError
from tests.config.running import configured
from tests.http.authorization_server import SUBJECT
from tests.http.issuer import (
    LET_IN,
    PUBLIC,
    Issuer,
    authorization_server,
    bearer,
    enter,
    gate,
    settings,
    written,
)
from tests.http.raw_upstream import Called, raw_upstream
from tests.http.serving import (
    FAULTY,
    Answer,
    Serving,
    exchange,
    modern,
    next_event,
    serve,
    text_of,
    wait_until,
)

WELL_KNOWN = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with authorization_server() as running:
        yield running


@pytest.fixture(scope="module")
def serving(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    access = {
        "scope:use": {"upstreams": ["a"], "tools": ["echo"]},
        "scope:b": {"upstreams": ["b"]},
        "scope:all": {},
    }
    folder = tmp_path_factory.mktemp("gate")
    with gate(folder, issuer, required_scopes=["use"], access=access, algorithms=["RS256", "ES256"]) as one:
        yield one


def challenge(answer: Answer) -> dict[str, str]:
    """The parameters of WWW-Authenticate."""
    scheme, _, rest = answer.headers["www-authenticate"].partition(" ")
    assert scheme == "Bearer"
    return dict(re.findall(r'(\w+)="([^"]*)"', rest))


# Tokens


@pytest.mark.parametrize(
    "head",
    [{}, {"alg": "ES256"}, {"typ": "JWT"}, {"typ": None}, {"x5t": "x" * 600}],
    ids=["RS256", "ES256", "JWT", "no type", "long header"],
)
def test_a_token_of_the_issuer_lets_its_owner_in(
    serving: Serving, issuer: Issuer, head: dict[str, Any]
) -> None:
    assert enter(serving, issuer.token(head=head)).status == LET_IN
    serving.wait_for_line(f"principal={SUBJECT}")


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": [f"{PUBLIC}/mcp/a", "x"]},
        {"aud": PUBLIC},
        {"aud": f"{PUBLIC}/"},
        {"scope": None, "scp": ["use"]},
    ],
    ids=["several audiences", "all of the gateway", "with a slash", "scopes in a list"],
)
def test_other_ways_to_say_the_same(serving: Serving, issuer: Issuer, claims: dict[str, Any]) -> None:
    assert enter(serving, issuer.token(claims.pop("aud", f"{PUBLIC}/mcp/a"), **claims)).status == LET_IN


def part(document: Any) -> str:
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def public_keys(issuer: Issuer) -> list[dict[str, Any]]:
    return issuer.ask("/jwks").json["keys"]


def good_claims(issuer: Issuer, **more: Any) -> dict[str, Any]:
    now = int(time.time())
    usual = {"iss": issuer.url, "sub": SUBJECT, "aud": f"{PUBLIC}/mcp/a", "scope": "use", "iat": now}
    return usual | {"exp": now + 600} | more


def unsigned(issuer: Issuer) -> str:
    kid = public_keys(issuer)[0]["kid"]
    return f"{part({'alg': 'none', 'kid': kid, 'typ': 'at+jwt'})}.{part(good_claims(issuer))}."


def confused(issuer: Issuer, secret: Callable[[dict[str, Any]], bytes]) -> str:
    """Signed by HMAC with what everyone knows of the key."""
    key = public_keys(issuer)[0]
    head = f"{part({'alg': 'HS256', 'kid': key['kid'], 'typ': 'at+jwt'})}.{part(good_claims(issuer))}"
    return f"{head}.{part(hmac.digest(secret(key), head.encode(), 'sha256'))}"


def forged(issuer: Issuer, **head: Any) -> str:
    """Signed by a key of our own, under the name of one of the issuer's."""
    own = RSAKey.generate_key(2_048)
    named = {
        "alg": "RS256",
        "kid": public_keys(issuer)[0]["kid"],
        "typ": "at+jwt",
        "jwk": own.as_dict(private=False),
    }
    return jwt.encode(named | head, good_claims(issuer), own, algorithms=["RS256"])


def changed(token: str) -> str:
    head, claims, signature = token.split(".")
    said = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    return f"{head}.{part(said | {'sub': 'root'})}.{signature}"


def of_another_curve(issuer: Issuer) -> str:
    own = ECKey.generate_key("P-384")
    head = {"alg": "ES384", "kid": public_keys(issuer)[1]["kid"]}
    return jwt.encode(head, good_claims(issuer), own, algorithms=["ES384"])


BAD: dict[str, Callable[[Issuer], str]] = {
    "expired": lambda one: one.token(exp=int(time.time()) - 120),
    "without an expiry": lambda one: one.token(exp=None),
    "an expiry that is no time": lambda one: one.token(exp=10**400),
    "not valid yet": lambda one: one.token(nbf=int(time.time()) + 600),
    "issued in the future": lambda one: one.token(iat=int(time.time()) + 600),
    "another issuer": lambda one: one.token(iss="https://evil.example.com"),
    "the issuer with a slash": lambda one: one.token(iss=one.url + "/"),
    "without an issuer": lambda one: one.token(iss=None),
    "another audience": lambda one: one.token("https://other.example.com/mcp"),
    "the other upstream": lambda one: one.token(f"{PUBLIC}/mcp/b"),
    "a longer audience": lambda one: one.token(f"{PUBLIC}/mcp/a/more"),
    "without an audience": lambda one: one.token(None),
    "without a subject": lambda one: one.token(sub=None),
    "another type": lambda one: one.token(head={"typ": "logout+jwt"}),
    "bound to a key": lambda one: one.token(cnf={"jkt": "x"}),
    "alg none": unsigned,
    "key confusion by PEM": lambda one: confused(
        one, lambda key: RSAKey.import_key(key).as_pem(private=False)
    ),
    "key confusion by JSON": lambda one: confused(one, lambda key: json.dumps(key).encode()),
    "key confusion by modulus": lambda one: confused(one, lambda key: key["n"].encode()),
    "a key of its own": forged,
    "an unknown key": lambda one: forged(one, kid="unknown"),
    "a key id that is no text": lambda one: f"{part({'alg': 'RS256', 'kid': {}})}.{part(good_claims(one))}.x",
    "a critical extension": lambda one: forged(one, crit=["b64"], b64=True),
    "an algorithm that is not configured": of_another_curve,
    "changed claims": lambda one: changed(one.token()),
    "claims that are no object": lambda one: f"{one.token().split('.')[0]}.{part([1])}.x",
    "a header that is no object": lambda one: f"{part([1])}.{part(good_claims(one))}.x",
    "a deep header": lambda one: f"{part(b'[' * 3_000)}.e30.x",
    "no JWT": lambda one: "opaque-" + "x" * 40,
    "two parts": lambda one: one.token().rpartition(".")[0],
}
"""Tokens that must not let anybody in."""


@pytest.mark.parametrize("what", BAD)
def test_a_token_that_is_not_for_us_is_refused(what: str, serving: Serving, issuer: Issuer) -> None:
    token = BAD[what](issuer)
    for _ in range(2):  # also when the refusal is remembered
        answer = enter(serving, token)
        assert answer.status == 401
        told = challenge(answer)
        assert (told["error"], told["scope"]) == ("invalid_token", "use")
        assert told["resource_metadata"] == f"{PUBLIC}{WELL_KNOWN}/mcp/a"
        assert told["error_description"] == answer.json["error"]["message"]
        assert (answer.json["id"], answer.json["error"]["code"]) == ("hello", -32001)
        assert token not in answer.body.decode() + str(answer.headers)
    assert not [line for line in serving.lines if token in line]


ROUTES = [
    (method, path) for path in ("/mcp/a", "/sse/a", "/messages/a") for method in ("GET", "POST", "DELETE")
]


@pytest.mark.parametrize(("method", "path"), [*ROUTES, ("POST", "/sse/ticket")])
@pytest.mark.parametrize("what", ["", "expired", "another audience", "alg none", "a key of its own"])
def test_every_route_refuses_alike(
    method: str, path: str, what: str, serving: Serving, issuer: Issuer
) -> None:
    answer = enter(serving, BAD[what](issuer) if what else "", path, method)
    assert answer.status == 401
    where = {"/messages/a": "/sse/a", "/sse/ticket": ""}.get(path, path)
    assert challenge(answer)["resource_metadata"] == f"{PUBLIC}{WELL_KNOWN}{where}"


def test_a_token_for_one_server_is_refused_by_another_also_once_it_is_known(
    serving: Serving, issuer: Issuer
) -> None:
    token = issuer.token(scope="use all")
    assert [enter(serving, token, path).status for path in ("/mcp/a", "/mcp/b", "/mcp/a")] == [
        LET_IN,
        401,
        LET_IN,
    ]


def test_a_name_that_looks_like_a_scope_is_none(serving: Serving, issuer: Issuer) -> None:
    """Whoever may choose a name must not get the allow-list of a scope by it."""
    token = issuer.token(f"{PUBLIC}/mcp/b", sub="scope:all")
    assert enter(serving, token, "/mcp/b").status == 403


def test_both_eras_and_sse_take_tokens(serving: Serving, issuer: Issuer) -> None:
    token = issuer.token(PUBLIC)
    client = serving.client(path="/mcp/a", **bearer(token))
    client.initialize()
    assert text_of(client.call("echo")) == "ok"
    answer = modern(serving, "tools/list", path="/mcp/a", authorization=f"Bearer {token}")
    # The server behind it speaks only the older era, and that is no matter of tokens.
    assert answer.status == 404
    ticket = enter(serving, token, "/sse/ticket").json["ticket"]
    connection = serving.connect()
    connection.request("GET", f"/sse/a?ticket={ticket}")
    assert next_event(serving.answer_of(connection))["event"] == "endpoint"


# Scopes


def test_a_token_without_a_required_scope_is_told_all_that_it_needs(serving: Serving, issuer: Issuer) -> None:
    answer = enter(serving, issuer.token(scope="b other"))
    assert answer.status == 403
    told = challenge(answer)
    assert (told["error"], told["scope"]) == ("insufficient_scope", "b use")
    assert told["resource_metadata"] == f"{PUBLIC}{WELL_KNOWN}/mcp/a"


def test_what_another_scope_would_allow_is_a_403_with_it(serving: Serving, issuer: Issuer) -> None:
    token = issuer.token(PUBLIC)
    assert challenge(enter(serving, token, "/mcp/b"))["scope"] == "all b use"
    client = serving.client(path="/mcp/a", **bearer(token))
    client.initialize()
    assert [tool["name"] for tool in client.request("tools/list")["result"]["tools"]] == [
        "echo",
        "brimgate_read",
    ]
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "pid", "arguments": {}}}
    answer = client.post(call)
    assert (answer.status, answer.json["id"]) == (403, 7)
    assert challenge(answer) | {"error_description": ""} == {
        "realm": "brimgate",
        "resource_metadata": f"{PUBLIC}{WELL_KNOWN}/mcp/a",
        "error": "insufficient_scope",
        "error_description": "",
        "scope": "all use",
    }


# Metadata


@pytest.mark.parametrize("path", ["/mcp/a", "/sse/a", "/mcp/b", ""])
def test_metadata_name_the_url_of_the_client_and_who_gives_out_tokens(
    path: str, serving: Serving, issuer: Issuer
) -> None:
    answer = serving.get(WELL_KNOWN + path, origin="http://localhost:6274")
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == "http://localhost:6274"
    scopes = {"/mcp/b": ["all", "b", "use"], "": ["all", "b", "use"]}.get(path, ["all", "use"])
    assert answer.json == {
        "resource": PUBLIC + path,
        "authorization_servers": [issuer.url],
        "bearer_methods_supported": ["header"],
        "resource_name": "Brimgate",
        "scopes_supported": scopes,
    }


def test_where_there_is_one_server_all_metadata_lead_to_it(issuer: Issuer, tmp_path: Path) -> None:
    with gate(tmp_path, issuer, names=("my notes",)) as serving:
        found = {
            path: serving.get(WELL_KNOWN + path).json for path in ("", "/mcp", "/sse", "/mcp/my%20notes")
        }
        assert [one["resource"].removeprefix(PUBLIC) for one in found.values()] == [
            "/mcp",
            "/mcp",
            "/sse",
            "/mcp/my%20notes",
        ]
        assert all("scopes_supported" not in one for one in found.values())
        for one in found.values():
            assert enter(serving, issuer.token(one["resource"]), "/mcp").status == LET_IN
        told = challenge(enter(serving, "", "/mcp/my%20notes"))
        assert told["resource_metadata"] == f"{PUBLIC}{WELL_KNOWN}/mcp/my%20notes"
        assert "scope" not in told


def test_a_rest_api_has_metadata_and_takes_tokens_of_its_own(issuer: Issuer, tmp_path: Path) -> None:
    config = {"server": {"public_url": PUBLIC}, "auth": settings(issuer)}
    options = ("--config", str(written(tmp_path, config)), "--pack", "hostaway", "--sandbox")
    with serve(*options, command=()) as serving:
        answer = enter(serving, "", "/api/v1/listings", "GET")
        assert (answer.status, answer.json["error"]["code"]) == (401, "unauthorized")
        where = challenge(answer)["resource_metadata"].removeprefix(PUBLIC)
        resource = serving.get(where).json["resource"]
        assert resource == f"{PUBLIC}/api/v1"
        assert enter(serving, issuer.token(resource), "/api/v1/listings", "GET").status == 200
        assert enter(serving, issuer.token(f"{PUBLIC}/other"), "/api/v1/listings", "GET").status == 401


NOWHERE = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/openid-configuration",
    "/.well-known/oauth-protected-resource/nowhere",
    "/register",
]


def is_oauth_error(answer: Answer) -> bool:
    assert (answer.status, answer.headers["content-type"]) == (404, "application/json")
    assert answer.headers["access-control-allow-origin"] == "http://localhost:6274"
    return answer.json["error"] == "not_found" and bool(answer.json["error_description"])


def test_clients_can_parse_that_there_is_no_login_in_any_mode(serving: Serving, tmp_path: Path) -> None:
    page = {"origin": "http://localhost:6274"}
    with serve() as is_open:
        for one in (serving, is_open):
            assert all(is_oauth_error(one.get(path, **page)) for path in NOWHERE)
            assert is_oauth_error(exchange(one.connect(), "POST", "/register", {}, page))
        for path in (WELL_KNOWN, f"{WELL_KNOWN}/mcp"):
            assert is_oauth_error(is_open.get(path, **page))
        assert ".well-known" not in is_open.get("/nowhere").body.decode()


# Keys


def test_new_keys_are_found_and_old_ones_forgotten(issuer: Issuer, tmp_path: Path) -> None:
    """What is cached needs no key: a token that was verified stays valid, a new one of the same key is not."""
    with gate(tmp_path, issuer) as serving:
        known, unseen = issuer.token(jti="1"), issuer.token(jti="2")
        assert enter(serving, known).status == LET_IN
        before = issuer.count("/jwks")
        issuer.control(rotate=True)
        assert enter(serving, issuer.token()).status == LET_IN
        assert issuer.count("/jwks") == before + 1
        assert [enter(serving, known).status, enter(serving, unseen).status] == [LET_IN, 401]


def test_unknown_keys_cost_the_issuer_little(issuer: Issuer, tmp_path: Path) -> None:
    with gate(tmp_path, issuer) as serving:
        assert enter(serving, issuer.token()).status == LET_IN
        before = issuer.count("/jwks")
        same = {
            enter(serving, issuer.token(head={"kid": "made-up"}, jti=str(number))).status
            for number in range(20)
        }
        assert (same, issuer.count("/jwks")) == ({401}, before + 1)
        others = [
            enter(serving, issuer.token(head={"kid": f"made-up-{number}"})).status for number in range(30)
        ]
        assert set(others) == {401, 503}
        assert issuer.count("/jwks") <= before + 10
        assert enter(serving, issuer.token(jti="good")).status == LET_IN


def test_an_issuer_that_is_away_locks_nobody_out_whose_key_is_known(tmp_path: Path) -> None:
    with authorization_server() as issuer, gate(tmp_path, issuer) as serving:
        known, unseen, stranger = (issuer.token(jti=one) for one in "123")
        stranger = issuer.token(head={"kid": "new"})
        assert enter(serving, known).status == LET_IN
        issuer.control(is_down=True)
        assert [enter(serving, one).status for one in (known, unseen)] == [LET_IN, LET_IN]
        answer = enter(serving, stranger)
        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert serving.get("/readyz").status == 200


@pytest.mark.slow
def test_nobody_is_let_in_or_called_invalid_before_the_issuer_is_there(tmp_path: Path) -> None:
    with authorization_server() as issuer:
        issuer.control(is_down=True)
        with gate(tmp_path, issuer) as serving:
            answer = enter(serving, issuer.token())
            assert (answer.status, answer.json["error"]["code"]) == (503, -32001)
            wait_until(lambda: serving.get("/readyz").status == 503, "not ready")
            issuer.control(is_down=False)
            wait_until(lambda: enter(serving, issuer.token()).status == LET_IN, "it is let in")


@pytest.mark.parametrize(
    "metadata",
    [{"issuer": "https://evil.example.com"}, {"jwks_uri": "http://127.0.0.2:1/jwks"}, {"jwks_uri": 7}],
    ids=["of another issuer", "keys elsewhere", "no address"],
)
def test_metadata_that_lead_elsewhere_are_not_followed(metadata: dict[str, Any], tmp_path: Path) -> None:
    with authorization_server() as issuer:
        issuer.control(metadata=metadata)
        with gate(tmp_path, issuer) as serving:
            assert enter(serving, issuer.token()).status == 503
            assert issuer.count("/jwks") == 0
        with gate(tmp_path, issuer, jwks_url=f"{issuer.url}/jwks") as serving:
            assert enter(serving, issuer.token()).status == LET_IN


# Introspection


@pytest.fixture(scope="module")
def asking(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with gate(
        tmp_path_factory.mktemp("asking"), issuer, mode="introspection", required_scopes=["use"]
    ) as one:
        yield one


def opaque(issuer: Issuer, name: str, **says: Any) -> str:
    usual = {"active": True, "aud": f"{PUBLIC}/mcp/a", "scope": "use", "sub": SUBJECT}
    issuer.control(
        opaque=name, says={key: value for key, value in (usual | says).items() if value is not None}
    )
    return name


def test_the_authorization_server_is_asked_once_about_a_token(asking: Serving, issuer: Issuer) -> None:
    token = opaque(issuer, "opaque-1", exp=time.time() + 600, iss=issuer.url)
    assert {enter(asking, token).status for _ in range(20)} == {LET_IN}
    assert issuer.count(f"/introspect {token}") == 1
    asking.wait_for_line(f"principal={SUBJECT}")
    assert {enter(asking, "unknown").status for _ in range(20)} == {401}
    assert issuer.count("/introspect unknown") == 1


@pytest.mark.parametrize(
    ("says", "status"),
    [
        ({}, LET_IN),
        ({"sub": None, "client_id": "robot"}, LET_IN),
        ({"active": False}, 401),
        ({"active": "true"}, 503),
        ({"active": None}, 503),
        ({"aud": None}, 401),
        ({"aud": f"{PUBLIC}/mcp/b"}, 401),
        ({"iss": "https://evil.example.com"}, 401),
        ({"nbf": 1e10}, 401),
        ({"sub": None}, 401),
        ({"exp": 1}, 401),
        ({"scope": "other"}, 403),
    ],
    ids=str,
)
def test_what_the_authorization_server_says_counts(
    says: dict[str, Any], status: int, asking: Serving, issuer: Issuer
) -> None:
    name = hashlib.sha256(repr(says).encode()).hexdigest()
    answer = enter(asking, opaque(issuer, name, **says))
    assert answer.status == status
    if status in (401, 403):
        assert challenge(answer)["resource_metadata"] == f"{PUBLIC}{WELL_KNOWN}/mcp/a"


def test_a_revoked_token_is_refused_once_it_is_asked_about_again(issuer: Issuer, tmp_path: Path) -> None:
    with gate(tmp_path, issuer, mode="introspection", cache_seconds=0, refusal_seconds=0) as serving:
        token = opaque(issuer, "opaque-2")
        assert enter(serving, token).status == LET_IN
        issuer.control(revoke=token)
        assert enter(serving, token).status == 401


def test_without_an_answer_known_tokens_are_served_and_others_wait(tmp_path: Path) -> None:
    with authorization_server() as issuer, gate(tmp_path, issuer, mode="introspection") as serving:
        known, unseen = (opaque(issuer, name) for name in ("known", "unseen"))
        assert enter(serving, known).status == LET_IN
        issuer.control(is_down=True)
        assert [enter(serving, one).status for one in (known, unseen)] == [LET_IN, 503]
        issuer.control(is_down=False)
        assert enter(serving, unseen).status == LET_IN


def test_credentials_of_ours_that_are_wrong_are_no_fault_of_the_caller(
    issuer: Issuer, tmp_path: Path
) -> None:
    with gate(tmp_path, issuer, mode="introspection", client_secret="wrong-canary") as serving:  # noqa: S106
        answer = enter(serving, opaque(issuer, "opaque-3"))
        assert answer.status == 503
        assert "auth.client_secret" in answer.json["error"]["message"]
        wait_until(lambda: serving.get("/readyz").status == 503, "not ready")
    assert not [line for line in serving.all_lines() if "wrong-canary" in line]


# What cannot work


def refused(folder: Path, config: dict[str, Any], **env: str) -> str:
    """Why it does not start."""
    with serve("--config", str(written(folder, config)), command=(), env=env) as serving:
        assert serving.process.wait(60) == 2
    return "\n".join(serving.all_lines())


@pytest.mark.parametrize(
    ("auth", "server", "reason"),
    [
        ({}, {"public_url": ""}, "needs server.public_url"),
        ({}, {"public_url": f"{PUBLIC}/mcp"}, "without a path"),
        ({}, {"public_url": "http://gate.example.com"}, "server.public_url must begin with https"),
        ({"issuer": "http://login.example.com"}, {}, "auth.issuer must begin with https"),
        ({"issuer": ""}, {}, "needs auth.issuer"),
        ({"jwks_url": "http://login.example.com/jwks"}, {}, "auth.jwks_url must begin with https"),
        ({"algorithms": ["RS256", "HS256"]}, {}, "auth.algorithms has HS256"),
        ({"algorithms": ["none"]}, {}, "auth.algorithms has none"),
        ({"algorithms": []}, {}, "auth.algorithms has nothing"),
        ({"mode": "introspection", "introspection_url": "http://x.example.com"}, {}, "must begin with https"),
        ({"mode": "introspection", "client_id": ""}, {}, "needs auth.client_id"),
        ({"mode": "introspection"}, {}, "auth.client_secret: the variable GATE_SECRET is not set"),
    ],
    ids=str,
)
def test_what_would_let_the_wrong_people_in_does_not_start(
    auth: dict[str, Any], server: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    one = Issuer("https://login.example.com")
    config = {
        "upstreams": {"a": {"command": FAULTY[0], "args": FAULTY[1:]}},
        "server": {"public_url": PUBLIC} | server,
        "auth": settings(one, **auth),
    }
    with pytest.raises(OperatorError, match=re.escape(reason)):
        check_auth(configured(tmp_path, json.dumps(config)))


@pytest.mark.parametrize(
    "given", [{"forward_headers": ["Authorization"]}, {"upstream_credential": {"from": "Authorization"}}]
)
@pytest.mark.parametrize("mode", ["jwt", "introspection", "static", "upstream_token"])
def test_the_token_of_a_caller_is_not_passed_on(given: dict[str, Any], mode: str, tmp_path: Path) -> None:
    auth = settings(Issuer("https://login.example.com"), mode=mode) | {"client_secret": "x"}
    auth |= {"keys": {"ada": ["sha256:" + "0" * 64]}, "verify_url": "https://login.example.com/token"}
    config = {
        "upstreams": {"tracker": {"url": "https://tracker.example.com/mcp", **given}},
        "server": {"public_url": PUBLIC},
        "auth": auth,
    }
    with pytest.raises(OperatorError, match=r"upstreams\.tracker gets the header Authorization of callers"):
        check_auth(configured(tmp_path, json.dumps(config)))


def test_the_token_of_the_upstream_may_go_to_it(tmp_path: Path) -> None:
    config = {
        "upstreams": {
            "tracker": {"url": "https://tracker.example.com/mcp", "forward_headers": ["authorization"]}
        },
        "auth": {"mode": "upstream_token", "verify_url": "https://tracker.example.com/api/v1/token/test"},
    }
    with serve("--config", str(written(tmp_path, config)), command=()) as serving:
        assert serving.port


@pytest.mark.parametrize("where", [f"{WELL_KNOWN}/mcp", WELL_KNOWN])
def test_a_server_that_wants_a_login_of_its_own_is_not_served_with_it(where: str, tmp_path: Path) -> None:
    """Tokens that clients get through us would be for our URL, and the server must refuse them."""

    def answer(called: Called) -> bool:
        found = {"resource": "x", "authorization_servers": ["https://login.example.com"]}
        if called.target != where:
            return called.answer(b"{}", status="404 Not Found")
        return called.answer(json.dumps(found).encode())

    with raw_upstream({"GET": answer}) as upstream:
        one: dict[str, Any] = {"url": upstream.url, "forward_headers": ["Authorization"]}
        told = refused(tmp_path, {"upstreams": {"tracker": one}})
        assert "upstreams.tracker" in told and "is an OAuth resource" in told
        del one["forward_headers"]
        with serve(
            "--config", str(written(tmp_path, {"upstreams": {"tracker": one}})), command=()
        ) as serving:
            assert serving.port


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "joserfc.py").write_text("raise ModuleNotFoundError(name='joserfc')\n")
    config = {
        "upstreams": {"a": {"command": sys.executable}},
        "server": {"public_url": PUBLIC},
        "auth": settings(Issuer("https://login.example.com")),
    }
    assert "pip install 'brimgate[auth]'" in refused(tmp_path, config, PYTHONPATH=str(tmp_path))


def test_a_reload_that_would_let_the_wrong_people_in_changes_nothing(issuer: Issuer, tmp_path: Path) -> None:
    with gate(tmp_path, issuer, required_scopes=["use"]) as serving:
        path = tmp_path / "brimgate.yaml"
        config = json.loads(path.read_text())
        token = issuer.token()
        assert enter(serving, token).status == LET_IN
        path.write_text(
            json.dumps(config | {"auth": config["auth"] | {"algorithms": ["HS256"], "required_scopes": []}})
        )
        serving.wait_for_line("config_rejected")
        assert [enter(serving, one).status for one in (token, issuer.token(scope=""))] == [LET_IN, 403]
        path.write_text(json.dumps(config | {"auth": config["auth"] | {"required_scopes": ["more"]}}))
        serving.wait_for_line("config_reloaded")
        assert enter(serving, token).status == 403
