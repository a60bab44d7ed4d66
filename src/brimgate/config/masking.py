"""Mask secrets inside command lines.

Mask too much rather than too little: a masked port costs a look into the file, a shown password must be changed.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

MASK: Final = "•••"

_SECRET_WORDS: Final = frozenset(
    [
        "key",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "authkey",
        "token",
        "accesstoken",
        "authtoken",
        "secret",
        "clientsecret",
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "pass",
        "pw",
        "pwd",
        "pat",
        "auth",
        "authorization",
        "credential",
        "credentials",
        "creds",
        "bearer",
        "cookie",
        "jwt",
        "signature",
        "sig",
        "dsn",
        "pin",
        "pincode",
        "otp",
        "cvv",
        "cvc",
    ]
)
_LAST_WORD: Final = re.compile(r"[A-Za-z][a-z]*\Z|[A-Z]+\Z")
_LOCK_CODE: Final = re.compile(
    r"(?:door|gate|lock|entry|entrance|access|security|alarm|safe|wifi)[_.-]?code\Z", re.IGNORECASE
)
_LONG_NAME: Final = 16
_LONG_WORD: Final = re.compile(r"(?=[^A-Za-z]{0,40}[A-Za-z])[A-Za-z0-9_-]{20,500}={0,2}")
_DIGITS: Final = re.compile("[0-9]+")
_RANDOM_TURNS: Final = 3
_PLACEHOLDER: Final = re.compile(r"\$\{[A-Za-z0-9_]+\}")
"""It says where a secret is, and is none."""
_ASSIGNED: Final = re.compile(r"([\w.-]++)(\s*[=:]\s*)(?=\S)")
_NAMED: Final = re.compile(r"""(?<![\w.-])([\w.-]++)(["']?\s*[=:]\s*|\s+)""")
_VALUE: Final = re.compile(
    r"""(")[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|(')[^'\\]*(?:\\.[^'\\]*)*(?:'|\\?\Z)"""
    r"""|(?:bearer|basic|token)\s+[^\s"']+|[^\s"'&;,}]+""",
    re.IGNORECASE | re.DOTALL,
)
"""Without a group that may not give back (`*+`): Python 3.11.2 reads those wrongly, and showed a secret."""
_KNOWN: Final = re.compile(
    r"\b(?:sk-[\w-]{8,}|gh[opsu]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|xox[abeprs]-[\w-]{8,}|AKIA[0-9A-Z]{12,}"
    r"|AIza[\w-]{20,}|eyJ[\w-]{8,}[\w.-]*|npm_\w{8,}|hf_\w{8,})"
)


def masked_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    return tuple(_masked_arguments(arguments))


def _masked_arguments(arguments: Sequence[str]) -> Iterator[str]:
    after_name = False
    for argument in arguments:
        is_value = after_name and not argument.startswith("--")
        is_secret = (is_value and not _PLACEHOLDER.fullmatch(argument)) or _is_random(argument)
        yield MASK if is_secret else masked(argument)
        after_name = not after_name and _announces_a_secret(argument)


def _announces_a_secret(argument: str) -> bool:
    """Return whether the next argument may be a secret: after `--api-key`, and after the bare word `token`."""
    if argument.startswith("-"):
        return names_a_secret(argument)
    return re.sub("[_.-]", "", argument[:40]).lower() in _SECRET_WORDS


def _is_random(argument: str) -> bool:
    """Return whether it is long, and letters and digits take turns as in no name: a key, as a rule."""
    return bool(_LONG_WORD.fullmatch(argument)) and len(_DIGITS.findall(argument)) >= _RANDOM_TURNS


def masked(text: str) -> str:
    """Mask what looks like a secret in one argument or in the name of a program."""
    found = _ASSIGNED.match(text)
    if found and "=" in found[2] and not names_a_secret(found[1]):
        found = _ASSIGNED.match(text, found.end())  # --header=Authorization: …
    if found and names_a_secret(found[1]):
        return f"{text[: found.end()]}{MASK}"
    return masked_text(text)


def masked_text(text: str) -> str:
    """Mask what looks like a secret in a longer text, where a name at its beginning says nothing of all the rest."""
    text = re.sub(r"\S+", lambda word: _mask_login(word[0]), text) if "://" in text else text
    return _KNOWN.sub(MASK, _mask_named(text))


def names_a_secret(name: str) -> bool:
    """Decide by the last word: `--api-key`, `GITHUB_TOKEN`, `clientSecret`; not `--max-tokens`, nor `--token-file`."""
    name = name.rstrip("0123456789_.-")[-40:]
    if _LOCK_CODE.search(name):
        return True
    last = _LAST_WORD.search(re.split(r"[_.-]", name)[-1])
    return last is not None and last[0].lower() in _SECRET_WORDS


def _mask_login(address: str) -> str:
    """Return `postgres://user:•••@host`. A name alone is masked only if it is as long as a token."""
    scheme, slashes, rest = address.partition("://")
    login, at, host = rest.rpartition("@")
    user, colon, _ = login.partition(":")
    if not at or (not colon and len(login) < _LONG_NAME):
        return address
    return f"{scheme}{slashes}{user if colon else ''}{colon}{MASK}@{host}"


def _mask_named(text: str) -> str:
    """Mask secrets that follow their name within a longer text: in queries, JSON, shell command lines."""
    parts: list[str] = []
    at = 0
    for found in _NAMED.finditer(text):
        by_space = found[2].isspace()
        if found.start() < at or (by_space and found[1][0] != "-") or not names_a_secret(found[1]):
            continue
        value = _VALUE.match(text, found.end())
        if value is not None:
            quote = value[1] or value[2] or ""
            parts += [text[at : found.end()], f"{quote}{MASK}{quote}"]
            at = value.end()
    return "".join(parts) + text[at:]
