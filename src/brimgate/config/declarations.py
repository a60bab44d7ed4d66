"""Every option of Brimgate, declared once."""

from dataclasses import dataclass
from typing import Literal

from brimgate.config.options import option
from brimgate.engine.tokens.families import MIN_BUDGET

Switch = Literal["always", "never"]
Form = Literal["auto", "json", "columns", "table", "lines", "bare", "toon"]
Family = Literal["claude", "claude-3", "o200k", "cl100k", "llama3", "chars4"]


@dataclass(frozen=True)
class Override:
    """Options for some tools or endpoints only. A key that is not given has the value set for all."""

    enabled: bool | None = option(None, "protect their answers at all; `false` is the one-line rollback")
    threshold: int | None = option(
        None,
        "tokens an answer may take, whatever its shape",
        minimum=MIN_BUDGET,
        aliases=("output_token_threshold",),
    )
    page_size: int | None = option(
        None, "items on a page", minimum=1, aliases=("pageSize", "default_page_size")
    )
    chunk_size: int | None = option(None, "lines in a chunk of text", minimum=1, aliases=("chunkSize",))
    pagination_enabled: bool | None = option(None, "page lists, cut texts", aliases=("enable_pagination",))
    summarization_enabled: bool | None = option(
        None, "preview large objects", aliases=("enable_summarization",)
    )
    highlights: bool | None = option(None, "show what stands out from the rest")
    fields: tuple[str, ...] | None = option(
        None,
        "what of an item a page shows first; the rest is one call away",
        example="[id, guest.name, status]",
    )
    sections: dict[str, tuple[str, ...]] = option(
        {},
        "fields that can be asked for by one name",
        example="{guest: [guestName, guestEmail], money: [price, currency]}",
    )
    keywords: tuple[str, ...] | None = option(None, "words whose sentences survive first when a text is cut")
    format: Form | None = option(None, "form to write JSON in")
    compact: Switch | None = option(None, "`always`: write also small answers in a cheaper lossless form")
    strip_vectors: bool | None = option(None, "show the length of an embedding vector instead of its numbers")
    strip_empty: bool | None = option(None, "leave members out of items that are null or empty")
    strip_fields: tuple[str, ...] | None = option(
        None,
        "members of which an item shows the size only; `*` stands for anything",
        example='[_links, "debug_*"]',
    )
    output_schema: Literal["drop", "relax", "keep"] | None = option(
        None, "what becomes of the output schema the tool promises"
    )
    annotate: Literal["always", "reduced"] | None = option(None, "which answers carry the budget record")
    rollout: int | None = option(None, "percent of calls that are protected", minimum=0, maximum=100)
    hidden: bool | None = option(
        None, "leave the tool out of the list, and refuse calls of it; answer 404 at the path"
    )
    max_description_chars: int | None = option(
        None, "cut longer descriptions in the list of tools", minimum=1
    )


@dataclass(frozen=True)
class ContextProtection:
    """How answers are kept within their budget."""

    enabled: bool = option(True, "protect answers at all; `false` lets everything pass as it came")
    output_token_threshold: int = option(
        4_000, "tokens a list or object may take", minimum=MIN_BUDGET, aliases=("tokenBudgetThreshold",)
    )
    object_threshold: int = option(
        2_000, "tokens a single object may take that has a field map (`fields`)", minimum=MIN_BUDGET
    )
    chunk_threshold: int = option(2_000, "tokens a text may take", minimum=MIN_BUDGET)
    hard_output_token_cap: int = option(12_000, "tokens that nothing ever exceeds", minimum=MIN_BUDGET)
    default_page_size: int = option(50, "items on a page", minimum=1, aliases=("defaultPageSize",))
    max_page_size: int = option(200, "items a caller may ask for", minimum=1, aliases=("maxPageSize",))
    chunk_size: int = option(200, "lines in a chunk of text", minimum=1, aliases=("chunkSize",))
    enable_pagination: bool = option(
        True, "page lists, cut texts; without it only the cap holds", aliases=("pagination_enabled",)
    )
    enable_summarization: bool = option(
        True, "preview large objects; without it they are paged", aliases=("summarization_enabled",)
    )
    highlights: bool = option(True, "show what stands out from the rest")
    highlight_share: float = option(
        0.3, "part of the budget for what stands out, at most", minimum=0, maximum=0.9
    )
    format: Form = option("auto", "form to write JSON in; `auto` takes the cheapest lossless one")
    compact: Switch = option("never", "`always`: write also small answers in a cheaper lossless form")
    strip_vectors: bool | None = option(
        None, "show the length of an embedding vector instead of its numbers (default: in production mode)"
    )
    strip_empty: bool = option(False, "leave members out of items that are null or empty")
    strip_fields: tuple[str, ...] = option(
        (), "members of which an item shows the size only; `*` stands for anything"
    )
    keywords: tuple[str, ...] = option((), "words whose sentences survive first when a text is cut")
    model: str = option("", "model to count tokens for, such as gpt-5 or claude-sonnet-5")
    token_family: Family | None = option(None, "token family to count in, where `model` does not tell it")
    token_multiplier: float = option(1.0, "corrects every token count", minimum=0.05, maximum=20)
    cursor_ttl_seconds: int = option(600, "seconds a cursor stays valid", minimum=60, maximum=86_400)
    output_schema: Literal["drop", "relax", "keep"] = option(
        "drop", "what becomes of output schemas: a reduced answer has no structured data to match them"
    )
    annotate: Literal["always", "reduced"] = option("reduced", "which answers carry the budget record")
    rollout: int = option(100, "percent of calls that are protected", minimum=0, maximum=100)
    tools: dict[str, Override] = option(
        {}, "rules by tool name; `*` stands for anything, of several that match the later wins"
    )
    endpoints: dict[str, Override] = option(
        {},
        "rules by REST path; `*` stands for anything, `{name}` for one segment, of several that match the later wins",
        aliases=("endpoint_overrides",),
    )


@dataclass(frozen=True)
class Upstream:
    """One upstream: a command that starts it, the address of one that runs, or a REST API."""

    command: str = option("", "program that starts it", reloadable=False)
    args: tuple[str, ...] = option((), "its arguments", reloadable=False, listed=True)
    env: dict[str, str] = option({}, "environment variables on top of our own", secret=True, reloadable=False)
    cwd: str = option("", "directory to start it in", reloadable=False)
    url: str = option("", "address of a server that runs, instead of a command", reloadable=False)
    transport: Literal["auto", "http", "sse"] = option(
        "auto",
        "`sse` for servers of 2024-11-05; `auto` takes it where the address ends in /sse",
        reloadable=False,
    )
    headers: dict[str, str] = option(
        {}, "HTTP headers sent to it, such as Authorization", secret=True, reloadable=False
    )
    forward_headers: tuple[str, ...] = option(
        (), "HTTP headers of the client that it may see, besides those of MCP", reloadable=False
    )
    pack: str = option("", "what is known of its system: a name that `brimgate packs` lists")
    api: str = option(
        "",
        "file that declares tools on a REST API, instead of a server (default: the pack's, if it has one)",
        reloadable=False,
    )
    base_url: str = option("", "address of that API, instead of the one it declares", reloadable=False)
    tools: dict[str, Override] = option({}, "rules by tool name for this server only; they come last")

    @property
    def is_rest(self) -> bool:
        """Whether it is neither started nor called as an MCP server: we serve its declared tools ourselves."""
        return not self.command and not self.url


@dataclass(frozen=True)
class Server:
    """How `brimgate serve` listens, and which clients it accepts."""

    host: str = option("127.0.0.1", "address to listen on", reloadable=False)
    port: int = option(
        3_010, "port to listen on; 0 takes a free one", minimum=0, maximum=65_535, reloadable=False
    )
    allowed_hosts: tuple[str, ...] = option(
        (), "names clients may call us by, besides those of this machine", example="[gate.example.com]"
    )
    allowed_origins: tuple[str, ...] = option(
        (), "web pages that may call us, besides those of this machine", example='["https://app.example.com"]'
    )
    json_response: bool = option(False, "answer with plain JSON instead of a stream, for clients such as n8n")
    max_body_bytes: int = option(4 << 20, "bytes of a request, at most", minimum=1_024)
    max_connections: int = option(1_000, "connections at once, at most", minimum=1, reloadable=False)
    max_sessions: int = option(500, "sessions at once, at most", minimum=1)
    max_processes: int = option(100, "processes of servers at once, at most", minimum=1)
    session_idle_seconds: float = option(1_800, "a session unused for so long ends", minimum=1)
    session_dropped_seconds: float = option(
        60, "a session whose connection was cut ends after so long, unless its client comes back", minimum=1
    )
    grace_seconds: float = option(10, "for calls under way when we are told to stop", minimum=0)


@dataclass(frozen=True)
class Config:
    """The whole configuration."""

    mode: Literal["production", "development"] = option(
        "production", "`development` strips nothing and logs at debug level unless told otherwise"
    )
    log_level: Literal["debug", "info", "warning", "error"] | None = option(
        None, "least level that is logged (default: info)"
    )
    log_format: Literal["text", "json"] = option(
        "text", "log lines for people or for programs", reloadable=False
    )
    read_tool: str = option("brimgate_read", "name of the tool that reads on", reloadable=False)
    max_result_bytes: int = option(
        256 << 20, "bytes of one message, at most", minimum=1 << 16, reloadable=False
    )
    wrapper_log: str = option(
        "",
        "file where `brimgate call` notes what formatters fail on (default: wrapper.log in the state folder)",
    )
    upstreams: dict[str, Upstream] = option({}, "servers by name")
    server: Server = option(Server(), "how `brimgate serve` listens, and whom it lets in")
    context_protection: ContextProtection = option(
        ContextProtection(), "how answers are kept within their budget"
    )

    @property
    def effective_log_level(self) -> str:
        return self.log_level or ("debug" if self.mode == "development" else "info")
