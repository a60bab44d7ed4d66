"""The same protection in front of a REST API: `app.add_middleware(BrimgateMiddleware)` for any ASGI application."""

import logging
import time
from collections.abc import Callable, Mapping

from brimgate.config.declarations import Config, Override, Telemetry
from brimgate.config.rule_reader import endpoint_rules, rules_by_path
from brimgate.engine.decision import Decision
from brimgate.engine.policy import Policy, ToolRule
from brimgate.engine.replies.rest_frame import ParameterNames
from brimgate.front.rest.middleware import MAX_BYTES, ProtectedApp, Resolve
from brimgate.guard.principal import Principal, principal_of_scope
from brimgate.hold.protection import DEFAULT_TTL_SECONDS, Protection, process_ring
from brimgate.hold.stores.contract import SnapshotStore
from brimgate.hold.stores.memory import MemoryStore
from brimgate.http.asgi import App, Scope
from brimgate.watch.log import log_decisions
from brimgate.watch.recorder import recording

__all__ = [
    "BrimgateMiddleware",
    "Config",
    "Decision",
    "Override",
    "ParameterNames",
    "Policy",
    "Principal",
    "Telemetry",
    "make_endpoint_rules",
]


class RestMiddleware(ProtectedApp):
    """Keeps the answers of a REST API within their budget.

    Add it last, so that it is outermost and sees what goes out.
    """

    def __init__(
        self,
        app: App,
        policy: Policy | Config | None = None,
        *,
        endpoints: Mapping[str, Override] | None = None,
        details: Mapping[str, str] | None = None,
        store: SnapshotStore | None = None,
        principal: Callable[[Scope], str | Principal] = principal_of_scope,
        clock: Callable[[], float] = time.time,
        names: ParameterNames | None = None,
        max_bytes: int = MAX_BYTES,
        report: Callable[[Decision], None] | None = None,
        records: Telemetry | None = None,
    ) -> None:
        """Create the middleware.

        `endpoints` has overrides by path: `*` is anything, `{name}` one segment, the last match wins. `details` says
        where one item of a list is found, such as {"/listings": "/listings/{id}"}. `principal` says whose a request is:
        what is held for one cannot be read by another. By default it is whoever sends the same credentials. `records`
        keeps what became of every answer for `brimgate stats`: `Telemetry()` in your own file.
        """
        ttl = DEFAULT_TTL_SECONDS
        if isinstance(policy, Config):
            ttl = policy.context_protection.cursor_ttl_seconds
        super().__init__(
            app,
            make_endpoint_rules(policy, endpoints),
            Protection(Policy(), process_ring(), store or MemoryStore(), ttl),
            details=details,
            names=names,
            principal=principal,
            clock=clock,
            max_bytes=max_bytes,
            report=recording(report or log_decisions(logging.getLogger("brimgate.rest")), records),
        )


def make_endpoint_rules(
    policy: Policy | Config | None, endpoints: Mapping[str, Override] | None = None
) -> Resolve:
    """Return the rule for each path. Refuse impossible overrides now, not at the first request."""
    if isinstance(policy, Config):
        if endpoints:
            raise ValueError("a Config says what holds for each endpoint: pass it or endpoints, not both")
        return endpoint_rules(policy)
    return rules_by_path(ToolRule(policy or Policy()), (endpoints or {}).items())


BrimgateMiddleware = RestMiddleware
"""The name that users import. The class has its own name, so that a traceback tells it from FastMCP's."""
