"""Define every error that Brimgate raises on purpose, grouped by who must act.

BrimgateError
├── ClientError             the caller asked for something impossible and must change the request
│   ├── CursorError         invalid or expired cursor: run the tool again
│   └── BadRequest          a parameter is wrong; the message says what is right
├── InputError              the input cannot be read
│   └── JsonRefused         not strict JSON; treated as text wherever text will do
├── UpstreamError           the upstream cannot be started or reached, or has gone (kinds: http/connection.py)
│   └── UpstreamTimeout     the upstream was reached but did not answer within the timeout
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

    def __init__(self) -> None:
        super().__init__("invalid or expired cursor: run the tool again from the start")


class BadRequest(ClientError):
    """A parameter is wrong."""


class InputError(BrimgateError):
    """The input cannot be read."""


class JsonRefused(InputError):
    """The input is not strict JSON."""


class UpstreamError(BrimgateError):
    """The upstream cannot be reached."""


class UpstreamTimeout(UpstreamError):
    """The upstream did not answer within the timeout."""


class OperatorError(BrimgateError):
    """Configuration, keys or files need the operator's attention."""


class ConfigError(OperatorError):
    """The configuration cannot be used."""
