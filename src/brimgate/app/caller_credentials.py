"""What an upstream gets for each caller: decided once, with every combination refused that would mix callers."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from brimgate.config.declarations import CALLER_BEARER, AuthOptions, Upstream
from brimgate.errors import ConfigError, Forbidden, OperatorError
from brimgate.guard.auth import is_token
from brimgate.guard.credential import CallerCredential
from brimgate.guard.principal import Principal
from brimgate.http.asgi import Header
from brimgate.http.client import Origin

if TYPE_CHECKING:
    from brimgate.back.rest.api import RestApi

_AUTHORIZATION: Final = b"authorization"
_BEARER: Final = b"bearer "
_SOURCES: Final = (
    "upstream_credential: {from: HEADER} (callers send it), {per_principal: {NAME: …}} (you keep it) or {static: …} (all "
    "act as one user)"
)


def needs_callers(one: Upstream, api: "RestApi | None") -> bool:
    """Return whether an upstream works with the token of each caller, and with nobody else's."""
    return api.needs_callers if api is not None else one.has_caller_env


def check_callers(name: str, one: Upstream, api: "RestApi | None", auth: AuthOptions) -> None:
    """Raise OperatorError for what cannot work, or would give a caller the data of another."""
    key, given = f"upstreams.{name}.upstream_credential", one.upstream_credential
    has_source = bool(given.header or given.per_principal or given.static)
    if has_source and not one.url and not needs_callers(one, api):
        kind = (
            f"a command has one environment for all callers, unless its `env` has {CALLER_BEARER}"
            if one.command
            else "an API has one account for all, unless its declaration says `auth: {kind: caller}`"
        )
        raise OperatorError(f"{key} is for a server with a url: {kind}")
    if given.per_principal and auth.mode == "none":
        raise OperatorError(f"{key}.per_principal needs `auth`: without it, callers have no names")
    if given.static and auth.mode == "upstream_token":
        raise OperatorError(
            f"{key}.static and auth.mode upstream_token mix users: callers show tokens of their own, and would all act as "
            "one user. Remove it, or use another auth.mode"
        )
    if needs_callers(one, api) and not has_source:
        _check_own_tokens(name, api, auth)


def _check_own_tokens(name: str, api: "RestApi | None", auth: AuthOptions) -> None:
    """Check that what callers show us is a token of the upstream."""
    if auth.mode == "none":
        return
    if auth.mode != "upstream_token":
        raise OperatorError(
            f"upstreams.{name} needs a token of each caller, and auth.mode {auth.mode} takes tokens that are not its own: "
            f"set auth.mode upstream_token, or {_SOURCES}"
        )
    if api is not None and not _is_at(auth.verify_url, api.origin):
        raise OperatorError(
            f"upstreams.{name} gets the tokens of callers, and auth.verify_url checks them at another origin: it must be "
            f"{api.origin}"
        )


def _is_at(url: str, origin: Origin) -> bool:
    try:
        return Origin.of(url) == origin
    except ConfigError:
        return False


class CallerCredentials:
    """Equips the callers of one upstream."""

    def __init__(
        self, name: str, one: Upstream, api: "RestApi | None", *, auth: AuthOptions, takes_bearer: bool
    ) -> None:
        """Create them. `takes_bearer` says whether the upstream gets what callers show us."""
        check_callers(name, one, api, auth)
        given = one.upstream_credential
        self._name = name
        self.is_open = auth.mode == "none"
        self.are_needed = needs_callers(one, api)
        self._takes_bearer = takes_bearer or (self.are_needed and auth.mode == "upstream_token")
        self._credential: CallerCredential | None = None
        self._must_show = self.are_needed and (api is None or not api.has_own_token)
        if given.header or given.per_principal or given.static:
            self._credential = CallerCredential(
                name, given.header, given.per_principal, given.sent_as, given.static
            )
            headers = (*map(str.lower, one.headers), *map(str.lower, one.forward_headers))
            if self._credential.name in headers:
                raise OperatorError(
                    f"upstreams.{name}.upstream_credential and `headers` or `forward_headers` both send "
                    f"{self._credential.name}: remove one"
                )

    @property
    def are_sent(self) -> bool:
        """Whether the upstream gets anything of callers."""
        return self._credential is not None or self._takes_bearer or self.are_needed

    def equipped(self, principal: Principal, token: str, headers: list[Header]) -> Principal:
        """Return a caller with what the upstream gets for it. Raise AccessRefused if that is missing."""
        if self._credential is not None:
            return replace(principal, credential=self._credential.of(principal.name, headers))
        if self._takes_bearer and token:
            bearer = (_AUTHORIZATION, f"Bearer {token}".encode("ascii"))
            return replace(principal, credential=(bearer,), token=token)
        if self.are_needed and self.is_open:
            return self._as_shown(principal, headers)
        return principal

    def _as_shown(self, principal: Principal, headers: list[Header]) -> Principal:
        """Return a caller of this machine with the token that it sends, which nobody but the upstream checks."""
        shown = [value for name, value in headers if name == _AUTHORIZATION]
        if not shown and not self._must_show:
            return principal
        token = shown[0][len(_BEARER) :].strip().decode("latin-1") if shown else ""
        if len(shown) != 1 or shown[0][: len(_BEARER)].lower() != _BEARER or not is_token(token):
            raise Forbidden(
                f"the server {self._name} needs a token of yours: send the header Authorization: Bearer TOKEN"
            )
        return replace(principal, credential=((_AUTHORIZATION, b"Bearer " + token.encode("ascii")),))


def token_of(principal: Principal) -> str:
    """Return the bare credential that the upstream gets for a caller; empty if there is none."""
    return principal.credential[0][1].decode("latin-1").rpartition(" ")[2] if principal.credential else ""
