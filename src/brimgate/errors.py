"""Everything Brimgate raises on purpose, split by who must act.

BrimgateError
├── ClientError             the caller asked for something that cannot be: change the request
│   ├── CursorError         invalid or expired cursor: run the tool again
│   └── BadRequest          a parameter is wrong; the message says what is right
├── InputError              what we were given to read cannot be read
│   └── JsonRefused         not strict JSON; treated as text wherever text will do
├── UpstreamError           the server behind us cannot be started or reached, or has gone (kinds: back/http/connection.py)
│   └── UpstreamTimeout     it was reached, and does not answer in the time it was given
└── OperatorError           configuration, keys, files: the operator must act
    └── ConfigError         a configuration file or variable; says which key, where, and what is right
"""


class BrimgateError(Exception):
    """Root of the tree."""


class ClientError(BrimgateError):
    """The caller must change the request."""


class CursorError(ClientError):
    """One message for every reason, so that nothing can be learnt by trying."""

    def __init__(self) -> None:
        super().__init__("invalid or expired cursor: run the tool again from the start")


class BadRequest(ClientError):
    """A parameter is wrong."""


class InputError(BrimgateError):
    """The input cannot be read."""


class JsonRefused(InputError):
    """Not strict JSON."""


class UpstreamError(BrimgateError):
    """The server behind us cannot be reached."""


class UpstreamTimeout(UpstreamError):
    """It did not answer in time."""


class OperatorError(BrimgateError):
    """Configuration, keys or files need the operator."""


class ConfigError(OperatorError):
    """The configuration cannot be used."""
