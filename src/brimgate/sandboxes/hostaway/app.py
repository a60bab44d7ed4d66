"""The sandbox as an ASGI application."""

import asyncio
from typing import Any

from brimgate.sandboxes.faults import SILENT, Faults, deliver, replaces
from brimgate.sandboxes.hostaway.account import Account
from brimgate.sandboxes.hostaway.api import Api
from brimgate.sandboxes.hostaway.control import Control, Journal
from brimgate.sandboxes.hostaway.faults import SHAPES
from brimgate.sandboxes.hostaway.parameters import Parameters
from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.hostaway.tokens import Tokens
from brimgate.sandboxes.hostaway.wire import Limit, Refusal, form_of, read_request, succeed
from brimgate.sandboxes.wire import Answer, Receive, Request, Scope, Send, encode, respond

_TOKENS = "/v1/accessTokens"


class App:
    def __init__(self, settings: Settings) -> None:
        account = Account(settings)
        self._settings, self._api, self._tokens = settings, Api(account), Tokens(settings)
        self._of_address = Limit(settings.rate_ip, settings.rate_window_seconds)
        self._of_account = Limit(settings.rate_account, settings.rate_window_seconds)
        self._faults, self._journal = Faults(), Journal()
        limits = self._of_address, self._of_account
        self._control = Control(account, self._faults, self._tokens, limits, self._journal)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise TypeError(f"only HTTP is served, not {scope['type']}")
        came = asyncio.get_running_loop().time()
        try:
            request = await read_request(scope, receive)
        except Refusal as refusal:
            await respond(send, refusal.answer)
            return
        if self._settings.control and request.path.startswith("/control"):
            await respond(send, self._controlled(request))
            return
        entry = self._journal.note(request)
        fault = self._faults.take(request.path)
        answer = (fault and replaces(fault, SHAPES)) or self._answer(request)
        entry["status"] = None if fault and fault.kind in SILENT else answer.status
        await _wait_until(came + self._settings.delay_seconds)
        await deliver(fault, answer, scope, receive, send)

    def _controlled(self, request: Request) -> Answer:
        try:
            return self._control.answer(request)
        except Refusal as refusal:
            return refusal.answer

    def _answer(self, request: Request) -> Answer:
        try:
            self._of_address.count(request.address)
            if request.path == _TOKENS:
                return self._token(request)
            handler = self._api.route(request.method, request.path)
            self._tokens.check(request.headers.get("authorization", ""))
            self._of_account.count(str(self._settings.account_id))
            return handler(request)
        except Refusal as refusal:
            return refusal.answer

    def _token(self, request: Request) -> Answer:
        match request.method:
            case "POST":
                return Answer(200, encode(self._tokens.issue(form_of(request))))
            case "DELETE":
                self._tokens.revoke(Parameters(request.parameters).text("token") or "")
                return succeed([])
            case _:
                raise Refusal(405, "Method not allowed", allow="POST, DELETE")


async def _wait_until(due: float) -> None:
    left = due - asyncio.get_running_loop().time()
    if left > 0:
        await asyncio.sleep(left)


def make_app(**settings: Any) -> App:
    """Create the application with the given `Settings`."""
    return App(Settings(**settings))
