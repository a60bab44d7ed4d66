"""Find credentials that stand in a text: their kind, the name they go by and the place, never the value."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.phrases import places
from brimgate.engine.maps.survey import MUST_SEE, SLIGHTLY_ODD, WORTH_A_LOOK

_MAX_HITS: Final = 10_000
"""Places that are looked at closely, so that a text full of `password:` stays quick."""
_SEEN_AFTER: Final = 1_000
_SEEN_BEFORE: Final = 60
_MAX_LISTED: Final = 6
_LEAST_VALUE: Final = 6
"""A shorter value may be a word that stands elsewhere, too."""
_NAMES: Final = (
    r"passw(?:or)?d|passphrase|passcode|passwort|pwd|psk|secret(?:[_-]?(?:access[_-]?)?key)?|token(?:_auth)?"
    r"|(?:api|access|auth|private|encryption|signing|account|storage)[_-]?key|credentials?"
)
_PREFIXES: Final = (
    r"AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|[psr]k_live_|hv[bs]\.[\w-]{20}|sk-[A-Za-z0-9]|AIza|eyJ[\w-]{8}"
    r"|SG\.[\w-]{16}|npm_[A-Za-z0-9]{20}|whsec_|-----BEGIN [A-Z ]{0,20}PRIVATE KEY"
)
_ANY: Final = (
    rf"(://[^\s/@:\"']{{1,64}}:[^\s/@\"']{{1,128}}@)|({_PREFIXES})"
    rf"|((?i:authorization)[\"']?\s{{0,3}}(?:[:=]\s{{0,3}})?[\"']?(?i:bearer|basic|token) )"
    rf"|(?:--[a-z-]{{0,20}}((?i:requirepass|{_NAMES})) |((?i:password|identified by)) ')"
    rf"|((?i:{_NAMES}))[_-]?[0-9]{{0,3}}\\?[\"']?"
    rf"(?:\s{{0,8}}(?::? ?&?(?:'static )?(?i:str|string) ?=|=>|:=|:|=)|>|[ \t]{{0,3}}\r?\n\s{{0,40}}[\"']?value[\"']?\s?[:=])"
    r"|((?i:password|passphrase|passcode|token|api key|secret|authentication text|key-string|(?:ftp|pop3?): pass))"
    r"(?:(?:[ \n][\w'/-]{1,20}){0,6}[ \n](?:is|was|`) ?| (?:[07] )?)[`\"']?[^\s`\"']"
    r"|\b([3-6][0-9]{3}(?:[ -]?[0-9]{4}){3}(?:[ ,]{1,3}(?i:cvv|cvc|exp)[: ]{0,2}[0-9/]{3,5}){0,2})\b"
    r"|(?:(?:thin:|sqlplus )[\w.-]{1,40}/|/[Uu](?:ser)?:[\w.\\-]{1,60} )([^\s/@:\"']{6,64})"
)
"""Where a credential could be; RE2 finds them in a time that grows with the text alone."""
_URL, _KIND, _BEARER, _FLAG, _SQL, _NAME, _TOLD, _CARD, _LOGIN = 1, 2, 3, 4, 5, 6, 7, 8, 9
_CARD_DIGITS: Final = 16
_KINDS: Final = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])", "AWS access key"),
        (r"gh[pousr]_[A-Za-z0-9]{30,255}+", "GitHub token"),
        (r"github_pat_[A-Za-z0-9_]{30,255}+", "GitHub token"),
        (r"glpat-[\w-]{18,64}+", "GitLab token"),
        (r"xox[abeprs]-[\w-]{10,250}+", "Slack token"),
        (r"[psr]k_live_[A-Za-z0-9]{10,255}+", "Stripe live key"),
        (r"hv[bs]\.[\w-]{20,255}+", "Vault token"),
        (r"sk-(?:ant-|proj-|or-)?[\w-]{20,250}+", "API key"),
        (r"AIza[\w-]{35}", "Google API key"),
        (r"eyJ[\w-]{8,800}+\.eyJ[\w-]{4,800}+\.[\w-]{6,}+", "JWT"),
        (r"SG\.[\w-]{16,32}+\.[\w-]{16,64}+", "SendGrid key"),
        (r"npm_[A-Za-z0-9]{36}", "npm token"),
        (r"whsec_[A-Za-z0-9]{16,64}+", "webhook secret"),
    )
)
_RANDOM: Final = re.compile(r"(?<=[\"'`=: ])[A-Za-z0-9+]{8,128}+(?=[\"'`,;)\s]|\.?(?:\s|\Z))")
_RUN: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|.")
_RUN_CHARS: Final = 3
"""Words in camelCase are longer, even if a number follows; runs of random letters and digits are not."""
_LONG_RANDOM: Final = 12
_SHORT_RUN_CHARS: Final = 2
_SECRET_NAME: Final = re.compile(rf"(?:{_NAMES})[_-]?\d{{0,3}}\Z", re.IGNORECASE)
_KEY_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?>(?:\s|\\r|\\n)*)[\"']?\s*+[\w+/=:, -]{16}"
)
_VALUE: Final = re.compile(
    r"\s{0,8}(?:\\?\"(?P<double>[^\"\\\s]{1,300})\\?\"|'(?P<single>[^'\\\s]{1,300})'|(?P<bare>(?:[^\s\"'`,;<\\]|\\(?![nrt])){1,300}))"
    r"(?P<after>.?)"
)
_PLACEHOLDER: Final = re.compile(
    r"\$[{(A-Za-z_]|\$\d[a-z]?\$|\{|<|%[({A-Za-z]|\*{3}|\.{3}|…|[xX]{4}|ENC\[|arn:|sha\d+[:-]|vault:|op://|file:|env[.:]|ref\+"
    r"|(?i:(?:\A|[^a-z])(?:your|my|change|replace|example|dummy|placeholder|redacted|masked|hidden|fake|sample|insert|todo"
    r"|none|null|undefined|test|mock|required|optional|disabled|enabled|sensitive|generated?|default)(?:[^a-z]|\Z))"
    r"|(?i:changeme|change_?this|example|redact|placeholder|yourpass|yourtoken|yourkey|notset|unset|secretref|keyref)"
)
_LEFT: Final = re.compile(r"(?i:change[-_]?(?:me|this|it)|my-test-key|insecure)[\w!-]*\Z")
"""What somebody was meant to replace: short of a secret, yet where it is used it is one that everybody knows."""
_CODE: Final = re.compile(
    r"[()\[\]{}|]|\A[!&*@]|\A(?:self|this|os|process|config|settings|var|local|data|args|env|ctx|cfg)\."
)
_HARMLESS_NAME: Final = re.compile(
    r"(?:\A|[\W_]|(?-i:(?<=[a-z])(?=[A-Z])))(?:page|next|continuation|cursor|csrf|xsrf|cancel(?:lation)?|sync"
    r"|pad|eos|bos|unk|mask|sep|cls|stop|start|end|max|min"
    r"|num|n|per|public|pagination|resume|watch|change|idempotency|forgot|reset|confirm|show|hide|no|use|has|is|with|this)"
    r"[_-]?\Z",
    re.IGNORECASE,
)
_ESCAPE: Final = re.compile(r"\\[nrt]")
_WORD_BEFORE: Final = re.compile(r"[\w.-]{1,60}\Z")
_PLAIN_WORDS: Final = re.compile(r"[A-Za-z]+(?:[-_./ ][A-Za-z]+)*[-_./]?(?:v?\d{1,2})?\Z")
_WEAK: Final = frozenset(
    [
        "admin",
        "root",
        "postgres",
        "guest",
        "password",
        "passw0rd",
        "secret",
        "letmein",
        "qwerty",
        "minioadmin",
        "123456",
        "12345678",
        "1234",
    ]
)


@dataclass(frozen=True, slots=True)
class _Secret:
    line: int
    kind: str
    name: str
    value: str
    score: float = MUST_SEE


def find_secrets(lines: Sequence[str], *, is_sample: bool = False) -> list[Finding]:
    """Return one finding per credential; those with one kind and name become one. Works on any text, line by line.

    Lines of a sample have other numbers in the whole: only the first place is told, which the caller translates.
    """
    return [
        _tell(group[:1] if is_sample else group)
        for group in _grouped(_secrets_in("\n".join(lines).encode("utf-8", "replace")))
    ]


def has_secrets(data: bytes) -> bool:
    """Return whether there is anything that could be a credential, which is quick to see."""
    return _pattern().search(data) is not None


@cache
def _pattern() -> Any:
    import re2  # pyright: ignore[reportMissingTypeStubs]

    return re2.compile(_ANY.encode())  # pyright: ignore[reportUnknownMemberType]


def _secrets_in(data: bytes) -> Iterable[_Secret]:
    pattern = _pattern()
    secrets: dict[tuple[int, str], _Secret] = {}
    line, counted = 1, 0
    for hits, match in enumerate(pattern.finditer(data)):
        if hits >= _MAX_HITS:
            break
        start: int = match.start()
        line, counted = line + data.count(b"\n", counted, start), start
        secret = _judge(data, match, line)
        if (
            secret is not None
            and secrets.setdefault((secret.line, secret.value), secret).kind == "secret value"
        ):
            secrets[secret.line, secret.value] = secret
    return secrets.values()


SECRET_WORDS: Final = (
    "passw", "passphrase", "passcode", "psk", "/user:", "thin:", "secret", "token",
    "api.?key", "access.?key", "private.?key", "credential", "AKIA", "ASIA", "gh[pousr]_",
    "github_pat_", "xox[abeprs]-", "[psr]k[-_]", "hv[bs]\\.", "whsec_", "AIza", "eyJ", "://[^/ ]*@",
)  # fmt: skip
"""A line without one of them has no credential: see `LineFilter`."""


def secret_in(line: str) -> str:
    """Name the first credential of a line, without its value; nothing if it has none."""
    for secret in _secrets_in(line.encode("utf-8", "replace")):
        return _tell([secret]).text
    return ""


def is_secret_name(name: str) -> bool:
    """Return whether values under this name should not be shown."""
    return _SECRET_NAME.search(name) is not None


def _judge(data: bytes, match: Any, line: int) -> _Secret | None:
    start, end = match.start(), match.end()
    if match[_URL] is not None:
        return _in_url(match[_URL].decode("utf-8", "replace"), line)
    if match[_KIND] is not None:
        return _of_kind(data, start, line)
    if match[_TOLD] is not None:
        return _in_words(
            match[_TOLD].decode(), data[end - 1 : end + _SEEN_BEFORE].decode("utf-8", "replace"), line
        )
    if match[_LOGIN] is not None:
        value = match[_LOGIN].decode("utf-8", "replace")
        return (
            _Secret(line, "password of a login", "", value) if _is_password(value, is_quoted=True) else None
        )
    before = data[max(start - _SEEN_BEFORE, 0) : start].decode("utf-8", "replace")
    if match[_CARD] is not None:
        return _card(match[_CARD].decode(), before, line)
    after = data[end : end + _SEEN_AFTER].decode("utf-8", "replace")
    if match[_BEARER] is not None:
        value = after.split("\n", 1)[0].split('"', 1)[0].split("'", 1)[0].split(" ", 1)[0]
        return _Secret(line, "credential", "Authorization header", value) if _is_random(value) else None
    if match[_FLAG] is not None:
        flag = match[_FLAG].decode()
        return _assigned(flag, flag.lower().removeprefix("require"), after, line, is_markup=False)
    if match[_SQL] is not None:
        return _assigned(match[_SQL].decode(), "password", "'" + after, line, is_markup=False)
    found = _WORD_BEFORE.search(_ESCAPE.split(before)[-1])
    name = (found[0] if found else "") + match[_NAME].decode()
    line += data.count(b"\n", start, end)
    return _assigned(name, match[_NAME].decode().lower(), after, line, is_markup=data[end - 1 : end] == b">")


def _card(text: str, before: str, line: int) -> _Secret | None:
    """Judge sixteen digits: two of a check digit, groups of four and a word before them make a payment card."""
    digits = [int(sign) for sign in text if sign.isdigit()][:_CARD_DIGITS]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    is_valid = (doubled + sum(digits[-1::-2])) % 10 == 0
    is_named = re.search(r"(?i)card|visa|pan\b|amex|master", before) is not None
    signs = is_valid + is_named + (text[4] in " -")
    if signs < _CARD_SIGNS or len(set(digits)) < _CARD_VARIETY:
        return None
    return _Secret(line, "card number", "", text)


_CARD_SIGNS: Final = 2
_CARD_VARIETY: Final = 4


def _in_words(name: str, after: str, line: int) -> _Secret | None:
    """Judge what a sentence gives away: `the password of the portal is …`."""
    value = re.split(r"[\s`\"']", after, maxsplit=1)[0].rstrip(".,;:!?)")
    is_secret = _is_random(value) or (name.startswith("pass") and _is_password(value, is_quoted=True))
    return (
        _Secret(line, "secret told in words", name, value)
        if is_secret and not _PLACEHOLDER.search(value)
        else None
    )


def _in_url(url: str, line: int) -> _Secret | None:
    user, _, password = url[3:-1].partition(":")
    if _PLACEHOLDER.search(password) or password.lower() in (
        "pass",
        "password",
        "pwd",
        "pw",
        "secret",
        "token",
    ):
        return None
    if password.isdigit() and len(password) < 6:
        return None
    score = WORTH_A_LOOK if password.lower() in _WEAK or password == user else MUST_SEE
    return _Secret(line, "password in a URL", f"user {user}", password, score)


def _of_kind(data: bytes, start: int, line: int) -> _Secret | None:
    if data[start - 1 : start].isalnum():
        return None
    text = data[start : start + 4 * _SEEN_AFTER].decode("utf-8", "replace")
    if text.startswith("-----"):
        found = _KEY_BLOCK.match(text)
        return _Secret(line, "private key", text[11:].split("-", 1)[0].strip().lower(), "") if found else None
    for pattern, kind in _KINDS:
        found = pattern.match(text)
        if (
            found
            and not _PLACEHOLDER.search(found[0])
            and "EXAMPLE" not in found[0]
            and len(set(found[0])) > 9
        ):
            return _Secret(line, kind, _name_before(data, start), found[0])
    return None


def _name_before(data: bytes, start: int) -> str:
    before = data[max(start - _SEEN_BEFORE, 0) : start].decode("utf-8", "replace").rpartition("\n")[2]
    found = _WORD_BEFORE.search(before.rstrip(" \"':=>(\\"))
    return found[0] if found and before.rstrip(" \"'\\")[-1:] in ("=", ":", ">") else ""


def _assigned(name: str, keyword: str, after: str, line: int, *, is_markup: bool) -> _Secret | None:
    found = _VALUE.match(after.split("\n", 1)[0])
    if found is None or _HARMLESS_NAME.search(name[: -len(keyword)]):
        return None
    quoted = found["double"] or found["single"]
    value = quoted or (found["bare"] or "").rstrip(".)}]")
    if _LEFT.match(value):
        return _Secret(line, "default never changed", name, value, WORTH_A_LOOK)
    if _PLACEHOLDER.search(value) or value.lower() in (name.lower(), keyword) or "://" in value:
        return None
    if (
        not quoted
        and not is_markup
        and (_CODE.search(value) or found["after"] not in ("", " ", ",", ";", '"', "'", "\\"))
    ):
        return None
    is_password = keyword.startswith(("pass", "pwd"))
    if is_password and value.lower() in _WEAK:
        return _Secret(line, "default password", name, value, SLIGHTLY_ODD)
    if _is_password(value, is_quoted=bool(quoted)) if is_password else _is_random(value):
        return _Secret(line, "secret value", name, value)
    return None


def _is_password(value: str, *, is_quoted: bool) -> bool:
    """Return whether it looks chosen as a password: neither a word nor a number nor the name of something."""
    if len(value) < 6 or value.isdigit() or (_PLAIN_WORDS.match(value) and value.count("-") < 3):
        return False
    if not is_quoted and re.fullmatch(r"[a-zA-Z_][\w.]*", value) and not re.search(r"\d", value):
        return False
    return bool(re.search(r"[\d!#%^&+=?@-]", value)) and not value.startswith(("/", "./"))


def _is_random(value: str) -> bool:
    """Return whether a part of it looks random, as no word, path, number or version does."""
    if len(value) < 8 or value.startswith(("/", "./")) or _PLAIN_WORDS.match(value):
        return False
    for part in re.split(r"[-_./:]", value):
        digits = sum(map(str.isdigit, part))
        if len(part) >= 6 and 0 < digits < len(part) and len(set(part)) > 4:
            return True
        if (
            len(part) >= 16
            and not part.isdigit()
            and not part.islower()
            and not part.isupper()
            and len(set(part)) > 9
        ):
            return True
    return False


def _grouped(secrets: Iterable[_Secret]) -> Iterator[list[_Secret]]:
    groups: defaultdict[tuple[str, str], list[_Secret]] = defaultdict(list)
    for secret in secrets:
        name = "" if secret.kind.startswith("default") else secret.name.lower()
        groups[secret.kind, name].append(secret)
    yield from groups.values()


def _tell(group: list[_Secret]) -> Finding:
    first = group[0]
    named = f" ({first.name})" if first.name else ""
    text = f"{first.kind}{named}{': ' + _mask(first.value) if first.value else ''}"
    if len({one.name for one in group}) > 1:
        text = f"{first.kind}: " + ", ".join(f"{one.name} {one.line}" for one in group[:_MAX_LISTED])
        text += f" and {len(group) - _MAX_LISTED} more" if len(group) > _MAX_LISTED else ""
    elif len(group) > 1:
        text += f", {len(group):,} of them, also at {places((one.line for one in group[1:]), _MAX_LISTED)}"
    return Finding(first.line, first.score, text)


def _mask(value: str) -> str:
    """Return the first characters, fewer of a short value."""
    shown = 4 if len(value) >= 16 else 2 if len(value) >= 10 else 0
    return value[:shown] + "****"


def secret_values(data: bytes) -> tuple[str, ...]:
    """Return the values of the credentials in an answer, which nothing that is told of it may repeat."""
    found = {one.value for one in _secrets_in(data) if len(one.value) >= _LEAST_VALUE}
    return tuple(sorted(found, key=len, reverse=True))


def masked_secrets(text: str, values: Sequence[str] = ()) -> str:
    """Return the text with every credential masked that `find_secrets` would tell, and the values that it has found."""
    for value in (*values, *(one.value for one in _secrets_in(text.encode("utf-8", "replace")) if one.value)):
        text = text.replace(value, _mask(value))
    return text


def masked_random(text: str) -> str:
    """Return a line with every assigned value masked that looks random, whatever its name: a line told only because it is odd."""
    return _RANDOM.sub(lambda found: _mask(found[0]) if _is_mixed(found[0]) else found[0], text)


def _is_mixed(value: str) -> bool:
    """Return whether it has digits, small and capital letters in no order, as no hash in hex, name or number has."""
    has_all = any(map(str.isdigit, value)) and any(map(str.islower, value)) and any(map(str.isupper, value))
    most = _RUN_CHARS if len(value) >= _LONG_RANDOM else _SHORT_RUN_CHARS
    return has_all and len(value) <= most * sum(1 for _ in _RUN.finditer(value))
