"""Define every error that Brimgate raises on purpose, grouped by who must act.

BrimgateError
├── ClientError             the caller asked for something impossible and must change the request
│   ├── CursorError         invalid or expired cursor: run the tool again
│   │   └── ListLost        the process that was fetching its list is gone: run the tool again
│   ├── ListElsewhere       another process is still fetching its list: read on there
│   ├── AnswerOutOfReach    the store that holds it cannot be reached now: again in a moment
│   └── BadRequest          a parameter is wrong; the message says what is right
├── AccessRefused           the caller may not do this, or not now
│   ├── Unauthenticated     nobody knows who the caller is
│   ├── Forbidden           the caller is known, and may not do this
│   ├── VerifierDown        who the caller is cannot be found out now
│   └── RateLimited         too many requests: again after a while
├── InputError              the input cannot be read
│   └── JsonRefused         not strict JSON; treated as text wherever text will do
├── UpstreamError           a server or API behind us failed; `kind` names how, for programs
│   ├── UpstreamUnreachable it cannot be started, connected to or called: nothing ran
│   ├── UpstreamLost        it died, or its answer broke off: the call may have run
│   ├── UpstreamTimeout     it was reached but did not answer within the timeout
│   ├── UpstreamRefused     it refuses us, by an error of HTTP or in the handshake
│   ├── UpstreamGarbled     what came is not an answer
│   ├── AnswerTooLarge      its answer is larger than we accept
│   └── ApiError            what a declared REST API told us (back/rest/errors.py)
├── StoreAway               the store that replicas share cannot be used now: do without
└── OperatorError           configuration, keys, files: the operator must act
    └── ConfigError         a configuration file or variable; says which key, where, and what is right
"""


class BrimgateError(Exception):
    """Root of all errors that Brimgate raises."""


class ClientError(BrimgateError):
    """The caller must change the request."""


class CursorError(ClientError):
    """An invalid or expired cursor.

    Every reason has the same message, so that nobody can learn anything by trying.
    """

    def __init__(self, message: str = "invalid or expired cursor: run the tool again from the start") -> None:
        super().__init__(message)


class ListLost(CursorError):
    """The list of a valid cursor was still being fetched, by a process that has ended."""

    def __init__(self) -> None:
        super().__init__(
            "the rest of this list was never fetched, because the brimgate process that was fetching it has ended: "
            "run the tool again from the start"
        )


class ListElsewhere(ClientError):
    """The list of a valid cursor is still being fetched, by another process that runs."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"this list is still being fetched by {where}: read on from this cursor in the session that called the tool. "
            "Once the list is complete there, it can be read from anywhere"
        )


class AnswerOutOfReach(ClientError):
    """What a valid cursor leads to is in a store that does not answer now."""

    def __init__(self) -> None:
        super().__init__(
            "what this cursor leads to is held in a store that cannot be reached now: read on again in a few seconds, "
            "or run the tool again from the start"
        )


class BadRequest(ClientError):
    """A parameter is wrong."""


class AccessRefused(BrimgateError):
    """The caller may not do this, or not now."""

    status: int = 403
    """The HTTP status that the caller gets."""
    word: str = "forbidden"
    """Names it, for programs."""


class Unauthenticated(AccessRefused):
    """Nobody knows who the caller is."""

    word = "unauthorized"

    def __init__(self, message: str, *, error: str = "invalid_token", status: int = 401) -> None:
        """Create it. `error` is the code of RFC 6750; empty if the caller has shown nothing."""
        super().__init__(message)
        self.error, self.status = error, status

    def again(self) -> "Unauthenticated":
        """Return it for another request: one that is raised twice would collect their tracebacks."""
        return Unauthenticated(str(self), error=self.error, status=self.status)


class Forbidden(AccessRefused):
    """The caller is known, and may not do this."""

    def __init__(self, message: str, scopes: tuple[str, ...] = ()) -> None:
        """Create it. `scopes` are those that a token would need."""
        super().__init__(message)
        self.scopes = scopes


class VerifierDown(AccessRefused):
    """Who the caller is cannot be found out now."""

    status = 503
    word = "verifier_down"
    retry_after = 5


class RateLimited(AccessRefused):
    """Too many requests."""

    status = 429
    word = "rate_limited"

    def __init__(
        self, message: str = "Rate limit exceeded", retry_after: int = 1, limit: int = 0, window: float = 0
    ) -> None:
        """Create it. `retry_after` says in how many seconds the same request is admitted."""
        super().__init__(message)
        self.retry_after, self.limit, self.window = retry_after, limit, window
        self.policy = ""
        """The name of the limit that was exceeded."""


class InputError(BrimgateError):
    """The input cannot be read."""


class JsonRefused(InputError):
    """The input is not strict JSON."""


class UpstreamError(BrimgateError):
    """A server or API behind us failed.

    An error that it sent itself, as the answer to a call, is none of these: that call was answered.
    """

    kind: str = "upstream_error"
    """Names what happened, for programs: it stays when the words change."""
    status: int = 502
    """The HTTP status that our REST client gets for it."""
    retry_after: float | None = None
    """After how many seconds another try makes sense, where that is known."""


class UpstreamUnreachable(UpstreamError):
    """The upstream cannot be started, connected to or called: nothing ran."""

    kind = "unreachable"


class UpstreamLost(UpstreamError):
    """The upstream died, or the connection or the answer ended early: the call may have run."""

    kind = "lost"


class UpstreamTimeout(UpstreamError):
    """The upstream did not answer within the timeout."""

    kind = "timeout"
    status = 504


class UpstreamRefused(UpstreamError):
    """The upstream refuses us: with an error of HTTP, or in the handshake."""

    kind = "refused"

    def __init__(self, message: str, answered: int = 0, code: int | None = None) -> None:
        """Create it.

        `answered` is the HTTP status that the upstream answered with; 0 where there was none. `code` is that of its
        JSON-RPC error.
        """
        super().__init__(message)
        self.answered, self.code = answered, code


class UpstreamGarbled(UpstreamError):
    """What came is not an answer: no HTTP, no message, or not what was asked for."""

    kind = "garbled"


class AnswerTooLarge(UpstreamError):
    """The answer is larger than we accept."""

    kind = "too_large"


class StoreAway(BrimgateError):
    """The store that replicas share cannot be used now, or takes nothing. Nobody's call fails for it."""


class OperatorError(BrimgateError):
    """Configuration, keys or files need the operator's attention."""


class ConfigError(OperatorError):
    """The configuration cannot be used."""
