"""Every option of Brimgate, declared once."""

from dataclasses import dataclass
from typing import Final, Literal

from brimgate.engine.options import option, overriding
from brimgate.engine.policy import (
    Annotate,
    AnswerOptions,
    Blobs,
    CallOptions,
    Form,
    Mode,
    OutputSchema,
    Switch,
)
from brimgate.engine.tokens.estimator import MIN_BUDGET, Family


@dataclass(frozen=True)
class Override:
    """Options for some tools or endpoints only. A key that is not given has the value set for all."""

    enabled: bool | None = overriding(CallOptions, "enabled")
    mode: Mode | None = overriding(CallOptions, "mode")
    threshold: int | None = option(
        None,
        "token budget of an answer, whatever its shape",
        minimum=MIN_BUDGET,
        aliases=("output_token_threshold",),
    )
    object_threshold: int | None = overriding(AnswerOptions, "object_threshold")
    default_page_size: int | None = overriding(AnswerOptions, "default_page_size")
    chunk_size: int | None = overriding(AnswerOptions, "chunk_size")
    chunk_threshold: int | None = overriding(AnswerOptions, "chunk_threshold")
    text_slack: float | None = overriding(AnswerOptions, "text_slack")
    enable_pagination: bool | None = overriding(AnswerOptions, "enable_pagination")
    enable_summarization: bool | None = overriding(AnswerOptions, "enable_summarization")
    highlights: bool | None = overriding(AnswerOptions, "highlights")
    fields: tuple[str, ...] | None = option(
        None,
        "fields of an item to show first on a page; the rest is one call away",
        example="[id, guest.name, status]",
    )
    sections: dict[str, tuple[str, ...]] = option(
        {},
        "named groups of fields, which `brimgate_read(fields=…)` accepts",
        example="{guest: [guestName, guestEmail], money: [price, currency]}",
    )
    keywords: tuple[str, ...] | None = overriding(AnswerOptions, "keywords")
    format: Form | None = overriding(AnswerOptions, "format")
    compact: Switch | None = overriding(AnswerOptions, "compact")
    strip_vectors: bool | None = overriding(AnswerOptions, "strip_vectors")
    strip_empty: bool | None = overriding(AnswerOptions, "strip_empty")
    strip_fields: tuple[str, ...] | None = overriding(AnswerOptions, "strip_fields")
    max_blob_bytes: int | None = overriding(AnswerOptions, "max_blob_bytes")
    blobs: Blobs | None = overriding(AnswerOptions, "blobs")
    output_schema: OutputSchema | None = overriding(CallOptions, "output_schema")
    annotate: Annotate | None = overriding(CallOptions, "annotate")
    rollout: int | None = overriding(CallOptions, "rollout")
    hidden: bool | None = option(
        None, "hide the tool from the list and refuse calls to it; on a REST path, answer 404"
    )
    max_description_chars: int | None = option(
        None,
        "shorten longer descriptions in the list of tools; the rest is one call of the read tool away",
        minimum=1,
    )


@dataclass(frozen=True)
class RolloutOverride:
    """Whether the calls of some callers are protected, whatever holds for the tool."""

    mode: Mode | None = overriding(CallOptions, "mode")
    rollout: int | None = overriding(CallOptions, "rollout")


@dataclass(frozen=True, kw_only=True)
class ContextProtection(AnswerOptions, CallOptions):
    """How answers are kept within their budget."""

    model: str = option(
        "", "model to count tokens for, such as gpt-5 or claude-sonnet-5", flag="--model", metavar="NAME"
    )
    token_family: Family | None = option(
        None, "token family to count in, if `model` does not decide it", flag="--family"
    )
    token_multiplier: float = option(1.0, "factor to apply to every token count", minimum=0.05, maximum=20)
    catalog_tokens: int = option(
        10_000, "warn in the log if a server's list of tools takes more tokens; 0: never", minimum=0
    )
    trim_tools: bool = option(
        False,
        "leave out of the list of tools what says nothing: titles that repeat the name, empty descriptions, `$schema`, "
        "`additionalProperties: true`",
    )
    principals: dict[str, RolloutOverride] = option(
        {},
        "`mode` and `rollout` by the name of a principal of `brimgate serve`; `*` matches anything; the last match wins",
    )
    cursor_ttl_seconds: int = option(600, "seconds a cursor stays valid", minimum=60, maximum=86_400)
    tools: dict[str, Override] = option(
        {}, "rules by tool name; `*` matches anything; if several match, the last one wins"
    )
    endpoints: dict[str, Override] = option(
        {},
        "rules by REST path; `*` matches anything, `{name}` one segment; if several match, the last one wins",
        aliases=("endpoint_overrides",),
    )


CALLER_BEARER: Final = "{caller: bearer}"
"""Stands in `env` for the token of each caller."""


@dataclass(frozen=True)
class UpstreamCredential:
    """The credential that an upstream gets for each caller, apart from the one that the caller shows us."""

    header: str = option(
        "", "header of the client's request that holds it", aliases=("from",), example="X-Upstream-Token"
    )
    per_principal: dict[str, str] = option(
        {},
        "credential by the name of the principal; `${NAME}` is filled in from the environment",
        secret=True,
        example="{alice: ${ALICE_TOKEN}}",
    )
    static: str = option(
        "",
        "one credential for all callers without one of their own; `${NAME}` is filled in from the environment",
        secret=True,
        example="${TEAM_TOKEN}",
    )
    sent_as: str = option(
        "Authorization: Bearer {}",
        "header that the upstream gets, with {} for the credential",
        aliases=("as",),
    )


@dataclass(frozen=True)
class Upstream:
    """One upstream: a command that starts it, the address of one that runs, or a REST API."""

    command: str = option("", "command that starts the server", reloadable=False)
    args: tuple[str, ...] = option(
        (),
        "arguments of the command; here, in `env`, `headers` and `url`, `${NAME}` is filled in from the environment",
        reloadable=False,
        listed=True,
    )
    env: dict[str, str] = option(
        {},
        "environment variables to add for the server; `{caller: bearer}` is the token of each caller, who then has a process "
        "of its own",
        secret=True,
        reloadable=False,
        callers=True,
    )
    cwd: str = option("", "working directory of the server", reloadable=False)
    url: str = option("", "URL of a running server, instead of a command", reloadable=False)
    transport: Literal["auto", "http", "sse"] = option(
        "auto",
        "`sse` for servers of 2024-11-05; `auto` uses it if the URL ends in /sse",
        reloadable=False,
    )
    headers: dict[str, str] = option(
        {}, "HTTP headers to send to the server, such as Authorization", secret=True, reloadable=False
    )
    forward_headers: tuple[str, ...] = option(
        (),
        "HTTP headers of the client to forward, besides those of MCP; they also tell callers apart",
        reloadable=False,
    )
    upstream_credential: UpstreamCredential = option(
        UpstreamCredential(), "credential that the server gets for each caller", reloadable=False
    )
    chained: bool = option(
        False,
        "the server is another Brimgate that you trust: what it has bounded passes up to the hard cap, with its notice",
    )
    pack: str = option("", "pack (plugin) for the server's system; `brimgate packs` lists them")
    api: str = option(
        "",
        "file that declares tools on a REST API, instead of a server (default: the pack's, if it has one)",
        reloadable=False,
    )
    base_url: str = option("", "base URL of that API, instead of the declared one", reloadable=False)
    tools: dict[str, Override] = option({}, "rules by tool name for this server only; they are applied last")

    @property
    def has_caller_env(self) -> bool:
        """Whether the environment of its process has the token of a caller."""
        return CALLER_BEARER in self.env.values()

    def env_for(self, token: str = "") -> dict[str, str]:
        """Return the environment for the process of a caller. Without a token the variable is as in our own."""
        given = {name: token if text == CALLER_BEARER else text for name, text in self.env.items()}
        return {name: text for name, text in given.items() if text or self.env[name] != CALLER_BEARER}

    @property
    def is_rest(self) -> bool:
        """Whether it is neither started nor called as an MCP server: we serve its declared tools ourselves."""
        return not self.command and not self.url


@dataclass(frozen=True)
class AccessRule:
    """What some callers may use."""

    upstreams: tuple[str, ...] = option(("*",), "servers by name; `*` matches anything")
    tools: tuple[str, ...] = option(("*",), "tools by name; `*` matches anything")


@dataclass(frozen=True)
class AuthOptions:
    """Who may use `brimgate serve`."""

    mode: Literal["none", "static", "upstream_token", "jwt", "introspection", "proxy"] = option(
        "none",
        "how callers prove who they are: `none` (this machine only), `static` (keys made by `brimgate key new`), "
        "`upstream_token` (the token of the server behind us), `jwt` and `introspection` (OAuth), `proxy` (a reverse proxy "
        "has checked it)",
        flag="--auth",
    )
    keys: dict[str, tuple[str, ...]] = option(
        {},
        "static: SHA-256 digests of the keys of each principal, as `brimgate key new NAME` prints them; several are valid "
        "at once",
        secret=True,
    )
    verify_url: str = option(
        "", "upstream_token: URL that answers 2xx with JSON to a valid token and 401 or 403 to others"
    )
    user_url: str = option(
        "", "upstream_token: URL of the same origin that says whose a token is, for the log"
    )
    cache_seconds: float = option(
        300, "seconds that a checked token is not checked again", minimum=0, maximum=3_600
    )
    refusal_seconds: float = option(
        30, "seconds that a refused token is not checked again", minimum=0, maximum=3_600
    )
    issuer: str = option("", "jwt, introspection: URL of the authorization server")
    audience: tuple[str, ...] = option(
        (), "jwt, introspection: audiences to accept, besides our own URLs below `server.public_url`"
    )
    required_scopes: tuple[str, ...] = option((), "jwt, introspection: scopes that every token must have")
    jwks_url: str = option("", "jwt: URL of the issuer's key set (default: as the issuer's metadata say)")
    algorithms: tuple[str, ...] = option(
        ("ES256", "RS256"), "jwt: signature algorithms to accept; only asymmetric ones"
    )
    leeway_seconds: float = option(30, "jwt: seconds that clocks may differ", minimum=0, maximum=60)
    introspection_url: str = option("", "introspection: URL to ask (RFC 7662)")
    client_id: str = option("", "introspection: our own id there")
    client_secret: str = option(
        "", "introspection: our own secret there; `${NAME}` is filled in", secret=True
    )
    principal_header: str = option(
        "", "proxy: header in which a trusted proxy names the caller", example="X-Forwarded-User"
    )
    trusted_proxies: tuple[str, ...] = option(
        (),
        "addresses or networks of reverse proxies whose X-Forwarded-For is believed; `unix`: whoever uses our Unix socket",
        example="[127.0.0.1, 10.0.0.0/8]",
    )
    legacy_query_token: bool = option(
        False, "accept `GET /sse?token=…` from old clients: tokens in URLs end up in the logs of proxies"
    )
    access: dict[str, AccessRule] = option(
        {},
        "allow-lists by the name of a principal, `scope:NAME` or `*` for everyone; if there are any, whatever none allows "
        "is neither listed nor callable",
    )
    admins: tuple[str, ...] = option(
        (),
        "principals by name, or `scope:NAME`, who may see the statistics of all callers; others see their own",
        example="[alice, scope:admin]",
    )
    attempts_per_address: int = option(
        60, "tokens that are not known yet that one address may try in a minute", minimum=1
    )
    attempts: int = option(600, "tokens that are not known yet that are tried in a minute", minimum=1)


@dataclass(frozen=True)
class LimitOverride:
    """The limit for one upstream or some tools, in place of the general one."""

    requests: int = option(100, "requests in a window", minimum=1)
    window_seconds: float = option(900, "length of the window in seconds", minimum=1, maximum=86_400)
    block_seconds: float = option(60, "seconds that are refused after the limit", minimum=0, maximum=86_400)


@dataclass(frozen=True)
class RequestLimits:
    """How much each caller of `brimgate serve` may ask for."""

    requests: int = option(
        0, "requests of a principal in a window; auto: 100, or no limit where `auth.mode` is none", auto=True
    )
    window_seconds: float = option(900, "length of the window in seconds", minimum=1, maximum=86_400)
    block_seconds: float = option(
        60, "seconds in which everything is refused once the limit is exceeded", minimum=0, maximum=86_400
    )
    reads: int = option(0, "calls of the read tool in a window; auto: ten times `requests`", auto=True)
    concurrency: int = option(
        0, "calls of a principal at a time; auto: 32, or no limit where `auth.mode` is none", auto=True
    )
    sessions: int = option(
        0,
        "sessions of a principal; auto: a tenth of `max_sessions`, or all where `auth.mode` is none",
        auto=True,
    )
    processes: int = option(
        0,
        "server processes of a principal; auto: a tenth of `max_processes`, or all where `auth.mode` is none",
        auto=True,
    )
    legacy_headers: bool = option(False, "send X-RateLimit-Limit, -Remaining and -Reset as well")
    upstreams: dict[str, LimitOverride] = option({}, "limits by upstream, in place of `requests`")
    tools: dict[str, LimitOverride] = option(
        {}, "limits by tool, in place of those of the upstream; `*` matches anything; the last match wins"
    )


@dataclass(frozen=True)
class Server:
    """How `brimgate serve` listens, and which clients it accepts."""

    host: str = option("127.0.0.1", "address to listen on", reloadable=False, flag="--host")
    port: int = option(
        3_010,
        "port to listen on; 0 takes a free one",
        minimum=0,
        maximum=65_535,
        reloadable=False,
        flag="--port",
    )
    socket: str = option(
        "",
        "path of a Unix socket to listen on, instead of host and port; only our own user may connect",
        reloadable=False,
        flag="--socket",
    )
    tls_cert: str = option(
        "",
        "file with the certificate chain (PEM) to serve https with; read again on SIGHUP and when this file changes",
        flag="--tls-cert",
    )
    tls_key: str = option(
        "", "file with its private key (PEM), without a passphrase (default: in `tls_cert`)", flag="--tls-key"
    )
    public_url: str = option(
        "",
        "URL under which clients reach this server, without a path; OAuth needs it",
        example="https://gate.example.com",
    )
    allowed_hosts: tuple[str, ...] = option(
        (), "host names to accept, besides those of this machine", example="[gate.example.com]"
    )
    allowed_origins: tuple[str, ...] = option(
        (),
        "web origins to accept (CORS), besides those of this machine",
        example='["https://app.example.com"]',
    )
    json_response: bool = option(
        False, "answer with plain JSON instead of an event stream, for clients such as n8n"
    )
    max_body_bytes: int = option(4 << 20, "largest request body in bytes", minimum=1_024)
    max_connections: int = option(1_000, "most connections at a time", minimum=1, reloadable=False)
    max_sessions: int = option(500, "most sessions at a time", minimum=1)
    max_processes: int = option(100, "most server processes at a time", minimum=1)
    process: Literal["shared", "per_client"] = option(
        "shared",
        "for clients since 2026-07-28, which have no session: `shared` serves all calls of a caller by one process; "
        "`per_client` starts one for each client program of a caller, so that logs that name no call reach no other",
    )
    session_idle_seconds: float = option(
        1_800, "session timeout: seconds until an unused session ends", minimum=1
    )
    session_dropped_seconds: float = option(
        60, "seconds until a session ends whose connection was cut, unless its client reconnects", minimum=1
    )
    health_details: bool = option(
        False,
        "show all of /health to everyone; without it, callers from elsewhere who are not authenticated see the status alone",
    )
    health_interval_seconds: float = option(
        15,
        "least seconds between two health checks of an upstream, while somebody asks for /health or /metrics",
        minimum=0.1,
    )
    dashboard: bool = option(
        True,
        "show a dashboard at /dashboard: to callers their own answers, to `auth.admins` those of all",
        reloadable=False,
    )
    metrics_port: int = option(
        0,
        "port of its own for /metrics, where nobody is asked who they are; 0: only on the port of the clients, for "
        "`auth.admins`",
        minimum=0,
        maximum=65_535,
        reloadable=False,
    )
    metrics_host: str = option("127.0.0.1", "address to listen on for that port", reloadable=False)
    workers: int = option(
        1,
        "processes that serve the same port; more than one need a `store` that they share",
        minimum=1,
        maximum=64,
        reloadable=False,
        flag="--workers",
    )
    replica: str = option(
        "",
        "beginning of the name of this replica, and so of the ids of its sessions: a load balancer finds them by it",
        reloadable=False,
        example="a",
    )
    engine_processes: int = option(
        1,
        "processes that work on large answers, so that small ones need not wait; they start when there are several. "
        "0: none",
        minimum=0,
        maximum=64,
        reloadable=False,
    )
    grace_seconds: float = option(10, "seconds to finish running calls at shutdown", minimum=0)


@dataclass(frozen=True)
class Telemetry:
    """What is recorded of answers, and who is told when something is wrong."""

    enabled: bool = option(
        True,
        "keep a record of every answer: sizes, times and outcomes, nothing of its content",
        reloadable=False,
    )
    file: str = option(
        "", "SQLite file of the records (default: records.db in the state folder)", reloadable=False
    )
    max_bytes: int = option(
        256 << 20, "largest size of that file; the oldest records go first", minimum=1 << 20, reloadable=False
    )
    max_days: float = option(90, "days that a record is kept", minimum=0.01, reloadable=False)
    exhibits: Literal["all", "arguments", "off"] = option(
        "all",
        "what the dashboard can show of the ten largest answers of every hour, for a week, with secrets masked: `all` (the "
        "arguments of the call, and what was sent), `arguments`, or `off`. `serve` keeps it in memory, `run` and the other "
        "commands in that file",
    )
    redact: tuple[str, ...] = option(
        (),
        "regular expressions (RE2) for what else is masked there, and in what the dashboard shows of held answers",
        example=r"['[\\w.+-]+@[\\w.-]+']",
    )
    otel: bool = option(
        False,
        "send spans and metrics by OpenTelemetry, with `run` and `serve`; where to, and all else, is told by the standard "
        "OTEL_* variables",
        reloadable=False,
    )
    otel_content: bool = option(
        False,
        "also send the arguments and results of calls, or the beginning of them, as attributes of spans",
        reloadable=False,
    )
    savings_line: bool = option(True, "write one line about what was saved when `brimgate run` ends")
    sample_share: float = option(
        0.01, "share of replies whose estimate is compared with a count of their tokens", minimum=0, maximum=1
    )
    count_url: str = option(
        "",
        "URL of the provider's token counter, for samples of models whose tokenizer is not public. It gets the text of "
        "the sampled replies",
        example="https://api.anthropic.com/v1/messages/count_tokens",
    )
    count_key: str = option("", "API key for it; `${NAME}` is filled in from the environment", secret=True)
    count_model: str = option("", "model that it counts for", example="claude-sonnet-5")
    alert_oversized_share: float = option(
        0.05, "share of oversized answers in a window above which there is an alert", minimum=0, maximum=1
    )
    alert_window_seconds: float = option(900, "length of that window", minimum=1, maximum=86_400)
    alert_least_answers: int = option(20, "answers that a window must have to say anything", minimum=1)
    webhook_url: str = option(
        "",
        "URL that gets every alert as JSON by POST; `${NAME}` is filled in from the environment",
        secret=True,
    )
    webhook_secret: str = option(
        "",
        "key that signs what is sent there (HMAC-SHA256 in X-Brimgate-Signature); `${NAME}` is filled in",
        secret=True,
    )


@dataclass(frozen=True)
class Config:
    """The whole configuration."""

    mode: Literal["production", "development"] = option(
        "production", "`development` strips nothing and logs at debug level unless told otherwise"
    )
    log_level: Literal["debug", "info", "warning", "error"] | None = option(
        None, "log level (default: info)", flag="--log-level"
    )
    log_format: Literal["text", "json"] = option(
        "text", "log format: text for people, JSON for programs", reloadable=False, flag="--log-format"
    )
    read_tool: str = option(
        "brimgate_read", "name of the added tool that reads on from a cursor", reloadable=False
    )
    max_result_bytes: int = option(64 << 20, "largest message in bytes", minimum=1 << 16, reloadable=False)
    call_timeout_seconds: float = option(
        0,
        "seconds without an answer or progress until a call ends with an error and the upstream is told to cancel it; "
        "0: no limit",
        minimum=0,
    )
    store: str = option(
        "folder",
        "where answers are held: `memory`; `folder`, one of your own, from which `run`, `call`, `read` and `reduce` read on "
        "(`serve` uses memory then); or the URL of a Redis or Valkey that all replicas of `serve` share (also REDIS_URL): "
        "redis://, rediss:// or unix://; `${NAME}` is filled in from the environment",
        reloadable=False,
    )
    redis_timeout_seconds: float = option(
        0.2,
        "seconds that anybody waits for that Redis or Valkey: after that it is left alone until it answers again",
        minimum=0.01,
        maximum=10,
        reloadable=False,
    )
    redis_prefix: str = option(
        "brimgate:",
        "beginning of all keys in that Redis or Valkey: gateways with another one share nothing",
        reloadable=False,
    )
    wrapper_log: str = option(
        "",
        "log file for formatter failures in `brimgate call` (default: wrapper.log in the state folder)",
    )
    upstreams: dict[str, Upstream] = option({}, "servers by name")
    server: Server = option(Server(), "how `brimgate serve` listens, and which clients it accepts")
    auth: AuthOptions = option(AuthOptions(), "who may use `brimgate serve`")
    limits: RequestLimits = option(RequestLimits(), "how much each caller of `brimgate serve` may ask for")
    telemetry: Telemetry = option(Telemetry(), "what is recorded of answers, and who is told of trouble")
    context_protection: ContextProtection = option(
        ContextProtection(), "how answers are kept within their budget"
    )

    @property
    def effective_log_level(self) -> str:
        return self.log_level or ("debug" if self.mode == "development" else "info")
