"""Ways to authenticate, as the configuration chooses them, and what of it cannot work or would be unsafe."""

from typing import Final
from urllib.parse import urlsplit

from brimgate.config.declarations import AuthOptions, Config
from brimgate.config.placeholders import fill, problems_of
from brimgate.errors import ConfigError, OperatorError
from brimgate.guard.auth import Authenticator, Fingerprints
from brimgate.guard.oauth import ASYMMETRIC, ClaimRules
from brimgate.guard.origin import is_confidential, is_loopback
from brimgate.guard.proxies import UNIX, TrustedProxies
from brimgate.guard.static_keys import StaticKeys, is_digest
from brimgate.guard.verdicts import VerdictCache
from brimgate.http.client import Origin

TOKEN_MODES: Final = ("static", "upstream_token", "jwt", "introspection")
OAUTH_MODES: Final = ("jwt", "introspection")
_NEEDED: Final = {
    "static": ("keys",),
    "upstream_token": ("verify_url",),
    "jwt": ("issuer",),
    "introspection": ("introspection_url", "issuer", "client_id"),
    "proxy": ("principal_header", "trusted_proxies"),
}


def make_authenticator(
    config: Config, fingerprints: Fingerprints, others: VerdictCache | None = None
) -> Authenticator | None:
    """Return what checks tokens, if callers show any. Only what is used is imported. `others` are the replicas."""
    auth = config.auth
    match auth.mode:
        case "static":
            return StaticKeys(auth.keys)
        case "upstream_token":
            from brimgate.guard.upstream_token import UpstreamTokens

            return UpstreamTokens(
                auth.verify_url,
                auth.user_url,
                seconds=auth.cache_seconds,
                refusal_seconds=auth.refusal_seconds,
                fingerprints=fingerprints,
                others=others,
            )
        case "jwt":
            return _make_jwt(auth, fingerprints)
        case "introspection":
            from brimgate.guard.introspection import IntrospectedTokens

            return IntrospectedTokens(
                auth.introspection_url,
                auth.client_id,
                fill(auth.client_secret),
                ClaimRules(auth.issuer, auth.leeway_seconds),
                seconds=auth.cache_seconds,
                refusal_seconds=auth.refusal_seconds,
                fingerprints=fingerprints,
                others=others,
            )
        case "none" | "proxy":
            return None


def _make_jwt(auth: AuthOptions, fingerprints: Fingerprints) -> Authenticator:
    try:
        from brimgate.guard.issuer_keys import IssuerKeys
        from brimgate.guard.jwt import JwtTokens
    except ModuleNotFoundError as error:
        raise OperatorError(
            f"auth.mode jwt needs the package {error.name}: pip install 'brimgate[auth]'"
        ) from None
    return JwtTokens(
        IssuerKeys(auth.issuer, auth.jwks_url),
        ClaimRules(auth.issuer, auth.leeway_seconds),
        auth.algorithms,
        seconds=auth.cache_seconds,
        refusal_seconds=auth.refusal_seconds,
        fingerprints=fingerprints,
    )


def check_auth(config: Config) -> None:
    """Raise OperatorError for what cannot work, or would let the wrong people in."""
    auth = config.auth
    host = config.server.host
    if auth.mode == "none" and not config.server.socket and not is_loopback(host):
        raise OperatorError(
            f"will not listen on {host}: anyone who reaches it could use the servers behind us. Set `auth.mode`, for "
            "example static, with a key made by `brimgate key new NAME`; or listen on 127.0.0.1, or on a Unix socket"
        )
    missing = [name for name in _NEEDED.get(auth.mode, ()) if not getattr(auth, name)]
    if missing:
        raise OperatorError(f"auth.mode {auth.mode} needs {' and '.join(f'auth.{name}' for name in missing)}")
    if auth.user_url and Origin.of(auth.user_url) != Origin.of(auth.verify_url):
        raise OperatorError(
            "auth.user_url must have the origin of auth.verify_url: a token goes nowhere else"
        )
    if UNIX in auth.trusted_proxies and not config.server.socket:
        raise OperatorError("auth.trusted_proxies: `unix` needs server.socket, which the proxy connects to")
    for name, digests in auth.keys.items():
        if not name.strip() or not digests or not all(map(is_digest, digests)):
            raise OperatorError(f"auth.keys.{name} must be what `brimgate key new {name}` prints: sha256:…")
    try:
        TrustedProxies(auth.trusted_proxies)
    except ValueError as error:
        raise OperatorError(f"auth.trusted_proxies: {error}") from None
    if auth.mode in OAUTH_MODES:
        _check_oauth(config)
    _check_transit(config)


def _check_oauth(config: Config) -> None:
    auth, public = config.auth, config.server.public_url
    if not public or urlsplit(public).path.strip("/") or urlsplit(public).query:
        raise OperatorError(
            f"auth.mode {auth.mode} needs server.public_url, the URL that clients use, without a path: tokens are for it"
        )
    urls = {"server.public_url": public, "auth.issuer": auth.issuer}
    urls |= {"auth.jwks_url": auth.jwks_url, "auth.introspection_url": auth.introspection_url}
    for name, url in urls.items():
        if url and not is_confidential(url):
            raise OperatorError(f"{name} must begin with https://, or with http:// on this machine")
    unsafe = sorted(set(auth.algorithms) - ASYMMETRIC.keys())
    if unsafe or not auth.algorithms:
        raise OperatorError(
            f"auth.algorithms has {', '.join(unsafe) or 'nothing'}: only asymmetric ones are safe, which are "
            f"{', '.join(ASYMMETRIC)}"
        )
    for problem in problems_of(auth.client_secret):
        raise OperatorError(f"auth.client_secret: {problem}")


def _check_transit(config: Config) -> None:
    """Refuse to pass on what callers show us: it is for us, and whoever gets it could use it here in their name."""
    auth = config.auth
    if auth.mode not in TOKEN_MODES:
        return
    for name, one in config.upstreams.items():
        shown = (*one.forward_headers, one.upstream_credential.header)
        if "authorization" not in {header.strip().lower() for header in shown}:
            continue
        if auth.mode == "upstream_token" and _have_same_origin(fill(one.url), auth.verify_url):
            continue
        raise OperatorError(
            f"upstreams.{name} gets the header Authorization of callers, which holds the token that they show us "
            f"(auth.mode {auth.mode}): a server that gets it could use it here in their name. Let callers send the "
            "server's own in another header, with upstream_credential: {from: X-Upstream-Token}"
        )


def _have_same_origin(url: str, other: str) -> bool:
    try:
        return Origin.of(url) == Origin.of(other)
    except ConfigError:
        return False
