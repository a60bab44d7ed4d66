"""Logins and API tokens: who asks, and by which right."""

import base64
import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from brimgate.sandboxes.vikunja.bodies import DATE, FLAG, MAP, TEXT, WHOLE, Fields, fill, read_body, require
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.dates import read, write
from brimgate.sandboxes.vikunja.errors import (
    BAD_GRANT,
    BAD_MODEL,
    FORBIDDEN,
    NO_PASSWORD,
    UNAUTHORIZED,
    WRONG_PASSWORD,
    Failed,
    Plain,
)
from brimgate.sandboxes.vikunja.paging import answer_page
from brimgate.sandboxes.vikunja.settings import Settings
from brimgate.sandboxes.vikunja.store import Store, User
from brimgate.sandboxes.vikunja.wire import answer_json, deleted
from brimgate.sandboxes.wire import Answer, Request

Json = dict[str, Any]
Grants = dict[str, list[str]]
PREFIX: Final = "tk_"
_FAR_SECONDS: Final = 365 * 24 * 3_600
_TOKEN: Final[Fields] = {"title": TEXT, "permissions": MAP, "expires_at": DATE, "owner_id": WHOLE}
_LOGIN: Final[Fields] = {"username": TEXT, "password": TEXT, "totp_passcode": TEXT, "long_token": FLAG}


@dataclass(slots=True)
class ApiToken:
    id: int
    text: str
    owner: str
    """The username: rows of users are made anew on a reset, tokens stay."""
    title: str
    permissions: Grants
    expires_at: str
    created: str

    def shape(self) -> Json:
        return {
            "id": self.id,
            "title": self.title,
            "permissions": self.permissions,
            "expires_at": self.expires_at,
            "created": self.created,
        }


@dataclass(slots=True)
class Bearer:
    """Who a request comes from. A login has no token and may do everything."""

    username: str
    token: ApiToken | None = None


def _now() -> str:
    return write(datetime.fromtimestamp(time.time()).astimezone())


class Tokens:
    """Expiry goes by the real clock, not by that of the sandbox: so do those who ask for a token."""

    def __init__(self, settings: Settings, everything: Grants) -> None:
        self._settings, self._everything = settings, everything
        self._tokens: dict[str, ApiToken] = {}
        self._last = 0
        self._secret = hashlib.sha256(f"{settings.seed}/jwt".encode()).digest()
        self.restore()

    def restore(self) -> None:
        """Make the tokens of the settings good again if they were revoked. All others stay as they are."""
        for name, text in self._settings.tokens.items():
            if text not in self._tokens:
                self.issue(name, "sandbox", self._everything, _FAR_SECONDS, text)

    def issue(self, owner: str, title: str, permissions: Grants, seconds: float, text: str = "") -> ApiToken:
        """Make a token. Everything it may do can be given as an empty map only by /control, not by users."""
        self._last += 1
        ends = write(datetime.fromtimestamp(time.time() + seconds).astimezone())
        text = text or PREFIX + secrets.token_hex(20)
        made = ApiToken(self._last, text, owner, title, permissions or self._everything, ends, _now())
        self._tokens[text] = made
        return made

    def revoke(self, text: str) -> bool:
        return self._tokens.pop(text, None) is not None

    def revoke_all(self, owner: str) -> int:
        mine = [text for text, token in self._tokens.items() if token.owner == owner]
        return sum(self.revoke(text) for text in mine)

    def bearer(self, authorization: str) -> Bearer:
        """Return who a header names, or refuse it."""
        kind, _, text = authorization.partition(" ")
        if kind != "Bearer" or not text:
            raise Failed(UNAUTHORIZED)
        if text.startswith(PREFIX):
            token = self._tokens.get(text)
            if token is None or token.expires_at <= _now():
                raise Failed(UNAUTHORIZED)
            return Bearer(token.owner, token)
        return Bearer(self._claims(text)["username"])

    def _claims(self, text: str) -> Json:
        head, _, signature = text.rpartition(".")
        try:
            claims: Json = msgspec.json.decode(_from_base64(head.partition(".")[2]), type=Json)
        except (msgspec.DecodeError, ValueError):
            raise Failed(UNAUTHORIZED) from None
        is_signed = hmac.compare_digest(self._sign(head).encode(), signature.encode())
        if not is_signed or claims.get("exp", 0) <= time.time():
            raise Failed(UNAUTHORIZED)
        return claims

    def _sign(self, text: str) -> str:
        return _base64(hmac.digest(self._secret, text.encode(), "sha256"))

    def login(self, request: Request, store: Store) -> Answer:
        try:
            told = fill(read_body(request), _LOGIN)
        except Failed:
            raise Plain(400, "Please provide a username and password.") from None
        if not told["username"] or not told["password"]:
            raise Failed(NO_PASSWORD)
        user = store.user_named(told["username"])
        if user is None or not user.password or user.password != told["password"]:
            raise Failed(WRONG_PASSWORD)
        cookie = f"vikunja_refresh_token={secrets.token_hex(32)}; Path=/api/v1/user/token; HttpOnly"
        return answer_json(200, {"token": self._jwt(user)}, (("set-cookie", cookie),))

    def _jwt(self, user: User) -> str:
        claims: Json = {
            "type": 1,
            "id": user.id,
            "username": user.username,
            "is_admin": False,
            "exp": int(time.time()) + self._settings.jwt_seconds,
            "sid": secrets.token_hex(16),
            "jti": secrets.token_hex(16),
        }
        head = _base64(msgspec.json.encode({"alg": "HS256", "typ": "JWT"}))
        head += "." + _base64(msgspec.json.encode(claims))
        return f"{head}.{self._sign(head)}"

    def list_tokens(self, call: Call) -> Answer:
        wanted = call.parameter("s").lower()
        mine = [one for one in self._tokens.values() if one.owner == call.user.username]
        found = [one for one in mine if wanted in one.title.lower()]
        return answer_page(call, found, lambda one: one.shape() | {"owner_id": call.user.id})

    def create(self, call: Call) -> Answer:
        """Make a token for the caller. Its text is in this answer and nowhere else."""
        told = call.body(_TOKEN)
        require(told, "title", "permissions", "expires_at")
        if told["owner_id"] not in (0, call.user.id):
            raise Failed(FORBIDDEN)
        self._check(told["permissions"])
        seconds = (read(told["expires_at"]) - read(_now())).total_seconds()
        made = self.issue(call.user.username, told["title"], told["permissions"], seconds)
        made.expires_at = told["expires_at"]
        shape = made.shape()
        return answer_json(
            201,
            {"id": shape.pop("id"), "title": shape.pop("title"), "token": made.text}
            | shape
            | {"owner_id": call.user.id},
        )

    def _check(self, permissions: Json) -> None:
        for group, granted in permissions.items():
            known = self._everything.get(group.replace("-", "_"))
            if not isinstance(granted, list):
                raise Failed(BAD_MODEL, "Bad Request")
            if known is None:
                raise Failed(BAD_GRANT, "", group)
            for one in granted:  # pyright: ignore[reportUnknownVariableType]
                if one not in known:
                    raise Failed(BAD_GRANT, one, group)  # pyright: ignore[reportUnknownArgumentType]

    def delete(self, call: Call) -> Answer:
        wanted = call.number("token")
        mine = [one for one in self._tokens.values() if one.owner == call.user.username and one.id == wanted]
        if not mine:
            raise Failed(FORBIDDEN)
        self.revoke(mine[0].text)
        return deleted()


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _from_base64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
