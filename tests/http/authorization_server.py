"""A small real authorization server, as a process: metadata, keys, login, tokens, introspection.

`python authorization_server.py` prints its address. It consents by itself. `/control` is for the tests: what they do to
it, and what was asked of it.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, Key, KeyParameters, RSAKey

SUBJECT = "ada@example.com"
RESOURCE_SERVER = ("gate way", "s3cret:&é")
"""The credentials that introspection asks for: whoever does not encode them is refused."""


class State:
    """All that the server remembers."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.keys: dict[str, Key] = {}
        self.counts: dict[str, int] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: dict[str, dict[str, Any]] = {}
        """What introspection tells, by token."""
        self.refreshing: dict[str, dict[str, str]] = {}
        self.is_down = False
        self.metadata: dict[str, Any] = {}
        self.lifetime = 3_600
        self.rotate()

    def rotate(self, *, kinds: tuple[str, ...] = ("RS256", "ES256")) -> None:
        """Replace all keys."""
        self.keys = {}
        for algorithm in kinds:
            name = f"{algorithm}-{secrets.token_hex(4)}"
            about: KeyParameters = {"kid": name, "alg": algorithm, "use": "sig"}
            self.keys[algorithm] = (
                RSAKey.generate_key(2_048, about)
                if algorithm == "RS256"
                else ECKey.generate_key("P-256", about)
            )

    def mint(self, claims: dict[str, Any], header: dict[str, Any], key: str = "") -> str:
        """Sign what a test wants to see signed. None among the claims leaves one out."""
        now = int(time.time())
        usual = {"iss": self.issuer, "sub": SUBJECT, "iat": now, "exp": now + self.lifetime}
        said = {name: value for name, value in (usual | claims).items() if value is not None}
        algorithm = header.get("alg", "RS256")
        private = self.keys[key or algorithm]
        head = {"alg": algorithm, "kid": private.kid, "typ": "at+jwt"} | header
        token = jwt.encode({name: value for name, value in head.items() if value is not None}, said, private)
        self.tokens[token] = said | {"active": True, "token_type": "Bearer"}
        return token


class Handler(BaseHTTPRequestHandler):
    state: ClassVar[State]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "json" in self.headers.get("Content-Type", ""):
            self._answer(json.loads(body))
        else:
            self._answer({name: values[0] for name, values in parse_qs(body.decode()).items()})

    def _answer(self, given: dict[str, Any]) -> None:
        path = urlsplit(self.path).path
        if path == "/control":
            self._say(200, self._control(given))
            return
        self.state.counts[path] = self.state.counts.get(path, 0) + 1
        routes = {
            "/.well-known/oauth-authorization-server": self._metadata,
            "/jwks": self._jwks,
            "/authorize": self._authorize,
            "/token": self._token,
            "/register": self._register,
            "/introspect": self._introspect,
        }
        if self.state.is_down or path not in routes:
            self._say(
                503 if self.state.is_down else 404, {"error": "down" if self.state.is_down else "unknown"}
            )
            return
        routes[path](given)

    def _say(self, status: int, document: Any, **headers: str) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        for name, value in (
            {"Content-Type": "application/json", "Content-Length": str(len(body))} | headers
        ).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        pass

    # What OAuth knows

    def _metadata(self, _: dict[str, Any]) -> None:
        issuer = self.state.issuer
        usual = {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "registration_endpoint": f"{issuer}/register",
            "introspection_endpoint": f"{issuer}/introspect",
            "jwks_uri": f"{issuer}/jwks",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
        }
        self._say(200, usual | self.state.metadata)

    def _jwks(self, _: dict[str, Any]) -> None:
        self._say(200, {"keys": [key.as_dict(private=False) for key in self.state.keys.values()]})

    def _register(self, given: dict[str, Any]) -> None:
        self._say(201, given | {"client_id": secrets.token_hex(8), "token_endpoint_auth_method": "none"})

    def _authorize(self, _: dict[str, Any]) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        if asked.get("code_challenge_method") != "S256" or not asked.get("resource"):
            self._say(400, {"error": "invalid_request"})
            return
        code = secrets.token_urlsafe(16)
        self.state.codes[code] = asked
        back = {"code": code, "state": asked.get("state", ""), "iss": self.state.issuer}
        self._say(302, {}, Location=f"{asked['redirect_uri']}?{urlencode(back)}")

    def _token(self, given: dict[str, Any]) -> None:
        if given.get("grant_type") == "refresh_token":
            asked = self.state.refreshing.get(given.get("refresh_token", ""), {})
        else:
            asked = self.state.codes.pop(given.get("code", ""), {})
            digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
            proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            asked = asked if proof == asked.get("code_challenge") else {}
        if not asked or given.get("resource") != asked["resource"]:
            self._say(400, {"error": "invalid_grant"})
            return
        about = {"aud": asked["resource"], "scope": asked.get("scope", ""), "client_id": asked["client_id"]}
        refresh = secrets.token_urlsafe(16)
        self.state.refreshing[refresh] = asked
        answer = {"token_type": "Bearer", "expires_in": self.state.lifetime, "refresh_token": refresh}
        self._say(200, answer | {"access_token": self.state.mint(about, {}), "scope": about["scope"]})

    def _introspect(self, given: dict[str, Any]) -> None:
        scheme, _, shown = self.headers.get("Authorization", "").partition(" ")
        known = base64.b64decode(shown).decode().split(":") if scheme == "Basic" else []
        if tuple(map(unquote, known)) != RESOURCE_SERVER:
            self._say(401, {"error": "invalid_client"})
            return
        asked = f"/introspect {given['token']}"
        self.state.counts[asked] = self.state.counts.get(asked, 0) + 1
        found = self.state.tokens.get(given["token"], {"active": False})
        self._say(200, found if found.get("exp", time.time() + 1) > time.time() else {"active": False})

    # What the tests do

    def _control(self, given: dict[str, Any]) -> dict[str, Any]:
        state = self.state
        if "rotate" in given:
            state.rotate()
        for name in ("is_down", "metadata", "lifetime"):
            if name in given:
                setattr(state, name, given[name])
        if "opaque" in given:
            state.tokens[given["opaque"]] = given["says"]
        if "revoke" in given:
            state.tokens.pop(given["revoke"], None)
        if "claims" in given:
            return {"token": state.mint(given["claims"], given.get("header", {}), given.get("key", ""))}
        return {"counts": state.counts}


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Handler.state = State(f"http://127.0.0.1:{server.server_port}")
    print(Handler.state.issuer, flush=True)  # noqa: T201
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
