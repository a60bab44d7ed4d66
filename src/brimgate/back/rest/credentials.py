"""Credentials for an API: fixed headers, or a token that is fetched and expires."""

import asyncio
import base64
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, cast
from urllib.parse import urlencode

import msgspec

from brimgate.back.rest.errors import Failures
from brimgate.back.rest.model import Auth, ErrorMap, Setting
from brimgate.back.rest.parameter_declaration import HEADER, OUR_HEADERS
from brimgate.back.rest.response import Misshapen, Opened
from brimgate.back.rest.sender import ApiReply, ApiRequest, Sender
from brimgate.engine import jsontext
from brimgate.errors import OperatorError
from brimgate.http.client import Headers

_UNAUTHENTICATED: Final = 401
_REFUSALS: Final = (_UNAUTHENTICATED, 403)
_MOST_DETAILS: Final = 6
_MOST_TOKEN_CHARS: Final = 16_384
_EARLY_SECONDS: Final = 60.0
"""A token is not used in its last 60 seconds, or in the last tenth of its life if that is shorter."""
_FOR_EVER_SECONDS: Final = 1e9
_FORM: Final = (b"content-type", b"application/x-www-form-urlencoded")
_ACCEPT: Final = (b"accept", b"application/json")
SECRET_KEYS: Final = ("token", "value", "password", "client_secret")


class Resolution:
    """Looks up settings, and reports all missing ones at once."""

    def __init__(self, name: str, variables: Mapping[str, str]) -> None:
        self._name, self._variables = name, variables
        self._missing: dict[str, str] = {}

    def given(self, setting: Setting) -> str:
        """Return the environment's value; empty if there is none."""
        names = (setting.variable, *setting.others) if setting.variable else ()
        return next((found for name in names if (found := self._variables.get(name, "").strip())), "")

    def text(self, setting: Setting, key: str) -> str:
        """Return the value of a setting. Empty counts as missing: a variable is often declared and not filled in."""
        found = self.given(setting) or (setting.text or "").strip()
        if not found and setting.variable:
            self._missing[setting.variable] = key
        return found

    def header(self, setting: Setting, key: str) -> str:
        """Return a value that is valid in a header."""
        found = self.text(setting, key)
        if not all(" " <= char <= "ÿ" and char != "\x7f" for char in found):
            source = setting.variable or key
            raise OperatorError(f"{self._name}: {source} holds characters that no header can: copy it anew")
        return found

    def header_name(self, setting: Setting, key: str) -> str:
        """Return the name of a header for credentials."""
        found = self.text(setting, key)
        is_ours = found.lower() in OUR_HEADERS - {"authorization"}
        if (found or not setting.variable) and (is_ours or not HEADER.fullmatch(found)):
            source = setting.variable or key
            raise OperatorError(f"{self._name}: {source} must be the name of a header that can be set here")
        return found

    def finish(self) -> None:
        if self._missing:
            told = ", ".join(f"{variable} (for {key})" for variable, key in self._missing.items())
            raise OperatorError(
                f"{self._name}: not set in the environment: {told}; set it, or write a `default` beside its `env`"
            )


class Credentials(Protocol):
    async def headers(self) -> Headers: ...

    def renew(self, refused: Headers) -> bool:
        """Return whether a retry with new credentials makes sense after a refusal."""
        ...

    async def close(self) -> None: ...


class Resolved:
    """The settings of `auth`. Has no repr of its own, so it shows none of them."""

    def __init__(self, auth: Auth, resolution: Resolution) -> None:
        self.auth = auth
        self.values = {
            key: (resolution.header_name if key == "name" else resolution.header)(one, f"auth.{key}")
            for key, one in auth.settings.items()
            if auth.kind != "caller" or one.text or resolution.given(one)  # callers bring their own
        }
        self.variables = tuple(one.variable for one in auth.settings.values() if one.variable)

    @property
    def account(self) -> str:
        """An id that all with the same credentials share; nothing can be read from it."""
        told = msgspec.json.encode([self.auth.kind, sorted(self.values.items())])
        return hashlib.sha256(told).hexdigest()

    @property
    def secrets(self) -> tuple[str, ...]:
        plain = [self.values[key] for key in SECRET_KEYS if self.values.get(key)]
        return (*plain, *(value.decode("latin-1").partition(" ")[2] for _, value in self.headers()[:1]))

    def headers(self) -> Headers:
        """Return the headers that stay the same."""
        told = self.values
        match self.auth.kind:
            case "bearer":
                return [(b"authorization", f"Bearer {told['token']}".encode("latin-1"))]
            case "header":
                return [(told["name"].lower().encode("latin-1"), told["value"].encode("latin-1"))]
            case "basic":
                pair = base64.b64encode(f"{told['username']}:{told['password']}".encode())
                return [(b"authorization", b"Basic " + pair)]
            case "caller" if told.get("token"):
                return [(b"authorization", f"Bearer {told['token']}".encode("latin-1"))]
            case "none" | "oauth_client_credentials" | "caller":
                return []


class MissingCredentials:
    """Stands for those of a caller where there is none."""

    def __init__(self, failures: Failures, variables: Sequence[str]) -> None:
        self._failures, self._variables = failures, " or ".join(variables) or "its token"

    async def headers(self) -> Headers:
        raise self._failures.nobody(self._variables)

    def renew(self, refused: Headers) -> bool:
        return False

    async def close(self) -> None:
        pass


class FixedCredentials:
    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    async def headers(self) -> Headers:
        return self._headers

    def renew(self, refused: Headers) -> bool:
        return False

    async def close(self) -> None:
        pass


class ClientCredentials:
    """OAuth 2.0, RFC 6749 section 4.4: one token for all, fetched once however many wait for it."""

    def __init__(self, exchange: Sender, failures: Failures, target: bytes, told: Mapping[str, str]) -> None:
        self._exchange, self._failures, self._target = exchange, failures, target
        self._form = urlencode({"grant_type": "client_credentials", **told}).encode()
        self._headers: Headers = []
        self._until = 0.0
        self._fetching: asyncio.Task[Headers] | None = None
        self._is_closed = False

    async def headers(self) -> Headers:
        if self._headers and time.monotonic() < self._until:
            return self._headers
        if self._fetching is None or self._fetching.done():
            self._fetching = asyncio.get_running_loop().create_task(self._fetch())
            self._fetching.add_done_callback(_note)
        fetching = self._fetching
        try:
            # A caller that goes away does not take the token from the others.
            return await asyncio.shield(fetching)
        except asyncio.CancelledError:
            if self._is_closed and fetching.cancelled():
                raise self._failures.unreachable("the client was closed") from None
            raise

    def renew(self, refused: Headers) -> bool:
        if refused == self._headers:
            self._headers = []
        return True

    async def close(self) -> None:
        self._is_closed = True
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])

    async def _fetch(self) -> Headers:
        # While there is no token, nothing that a caller asked for has run.
        request = ApiRequest(b"POST", self._target, [_FORM, _ACCEPT], self._form, may_run=False)
        reply = await self._exchange.send(request, [])
        if reply.status in (400, 401, 403):
            raise self._failures.unauthorized(reply.status)
        if not 200 <= reply.status < 300:
            raise self._failures.refused(reply.status, "", may_run=False)
        token, seconds = self._token_in(reply.body)
        self._failures.hide(token)
        self._headers = [(b"authorization", b"Bearer " + token.encode("ascii"))]
        self._until = time.monotonic() + seconds - min(_EARLY_SECONDS, seconds / 10)
        return self._headers

    def _token_in(self, body: bytes) -> tuple[str, float]:
        try:
            told: Any = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            told = None
        answer = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
        token, seconds = answer.get("access_token"), answer.get("expires_in")
        if not isinstance(token, str) or not 0 < len(token) <= _MOST_TOKEN_CHARS or not _is_visible(token):
            what = "where a token was asked for, there is no access_token in it"
            raise self._failures.broken(what, may_run=False)
        if (
            isinstance(seconds, bool)
            or not isinstance(seconds, int | float)
            or not 0 < seconds < _FOR_EVER_SECONDS
        ):
            return token, float("inf")  # until it is refused
        return token, float(seconds)


def _is_visible(text: str) -> bool:
    return text.isascii() and all("!" <= char <= "~" for char in text)


def _note(task: "asyncio.Task[Headers]") -> None:
    """Fetch the exception. Those who wait get it; if nobody does, the event loop need not complain."""
    if not task.cancelled():
        task.exception()


class AuthorizedSender:
    def __init__(
        self,
        exchange: Sender,
        credentials: Credentials,
        failures: Failures,
        errors: ErrorMap,
        on_refused: Callable[[], None] = lambda: None,
    ) -> None:
        """Create it. `on_refused` is called when the API does not take the credentials (401)."""
        self._exchange, self._credentials = exchange, credentials
        self._failures, self._errors = failures, errors
        self._on_refused = on_refused

    async def call(self, request: ApiRequest) -> ApiReply:
        headers = await self._credentials.headers()
        reply = await self._exchange.send(request, headers)
        if reply.status in _REFUSALS and self._credentials.renew(headers):
            # It did not run: whoever refuses the credentials has not begun.
            reply = await self._exchange.send(request, await self._credentials.headers())
        if 200 <= reply.status < 300:
            return reply
        if reply.status == _UNAUTHENTICATED:
            self._on_refused()
        raise self._failures.refused(reply.status, self._told(reply), may_run=request.may_run)

    def _told(self, reply: ApiReply) -> str:
        if not self._errors.message or not 400 <= reply.status < 500:
            return ""
        try:
            opened = Opened(reply.body)
            found = [opened.at(self._errors.message)]
            details = opened.at(self._errors.details) if self._errors.details else None
            found += jsontext.elements(details) if details is not None and details.startswith(b"[") else []
            texts = [jsontext.string_value(raw) for raw in found if raw is not None and raw.startswith(b'"')]
            return "; ".join(text.partition("\n")[0] for text in texts[:_MOST_DETAILS])
        except (Misshapen, msgspec.MsgspecError):
            return ""
