"""A REST API behind `brimgate serve`, as protected REST: `/api/v1/…`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from brimgate.config.declarations import Config
from brimgate.config.rule_reader import endpoint_rules, rollout_for
from brimgate.engine.policy import ToolRule
from brimgate.front.api.routes import Routes
from brimgate.front.mcp.errors import HttpError
from brimgate.front.mcp.request import PRINCIPAL, HttpExchange
from brimgate.front.rest.middleware import ProtectedApp
from brimgate.front.rest.response import Failure
from brimgate.watch.log import Log

if TYPE_CHECKING:
    from brimgate.back.rest.api import RestApi
    from brimgate.back.rest.model import Api
    from brimgate.guard.principal import Principal
    from brimgate.hold.protection import Protection

VERSION: Final = "v1"


def prefixes_of(config: Config) -> dict[str, str]:
    """Return under which path each REST API is served as REST, by its name."""
    names = [name for name, one in config.upstreams.items() if one.is_rest]
    return {name: f"/api/{VERSION}" if len(names) == 1 else f"/api/{name}/{VERSION}" for name in names}


class ServedApi:
    def __init__(
        self,
        name: str,
        api: "RestApi",
        prefix: str,
        config: Config,
        protection: "Callable[[], Protection]",
        log: Log,
        *,
        admitted: Callable[[HttpExchange], AbstractAsyncContextManager[None]],
        api_of: "Callable[[RestApi, Principal], RestApi]",
        budget: int | None,
    ) -> None:
        """Create it. `admitted` lets a request in and decides whose it is, as for the same upstream over MCP.

        `api_of` returns the API with the credential of a caller.
        """
        self._name, self._budget, self._config = name, budget, config
        self._admitted = admitted
        self.app = ProtectedApp(
            Routes(
                api,
                prefix,
                lambda path: self.app.rules(path).hidden,
                lambda scope: api_of(api, scope[PRINCIPAL]),
            ),
            self._rules(config),
            _lasting(protection(), config),
            details=details_of(api.api, prefix),
            principal=itemgetter(PRINCIPAL),
            max_bytes=config.max_result_bytes,
            report=log.decided,
            upstream=name,
            personal=self._personal,
        )

    async def handle(self, exchange: HttpExchange) -> None:
        try:
            async with self._admitted(exchange):
                await exchange.hand_to(self.app)
        except HttpError as refusal:
            if exchange.status:
                raise
            # Clients of REST read our errors in the form of REST.
            failure = Failure(refusal.status, refusal.word, refusal.text)
            await exchange.answer_json(failure.body, refusal.headers, refusal.status)

    def _rules(self, config: Config) -> Any:
        pack = config.upstreams[self._name].pack
        return endpoint_rules(config, [pack] if pack else [], self._budget)

    def _personal(self, rule: ToolRule, principal: "Principal") -> ToolRule:
        rollout = rollout_for(self._config, principal.name)
        return rule if rollout is None else rule.rolled_out(rollout.mode, rollout.rollout)

    def apply(self, config: Config) -> None:
        self._config = config
        self.app.rules = self._rules(config)
        self.app.protection = _lasting(self.app.protection, config)


def details_of(api: "Api", prefix: str) -> dict[str, str]:
    """Return where one item of a list is found: at the list's own path plus its key, if there is such a route."""
    routes = {route for tool in api.tools.values() for route in tool.routes}
    return {
        prefix + route: f"{quote(prefix)}{route}/{{{tool.paging.key}}}"
        for tool in api.tools.values()
        if tool.paging is not None and tool.paging.key
        for route in tool.routes
        if any(_leads_into(other, route) for other in routes)
    }


def _leads_into(route: str, listed: str) -> bool:
    rest = route.removeprefix(listed + "/")
    return rest != route and rest.startswith("{") and "/" not in rest


def _lasting(protection: "Protection", config: Config) -> "Protection":
    return replace(protection, ttl_seconds=config.context_protection.cursor_ttl_seconds)
