"""Judge the lines of a diff: which changes alter what the program does, allows or checks."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine.maps.credentials_scan import SECRET_WORDS, secret_in
from brimgate.engine.maps.line_filter import LineFilter
from brimgate.engine.maps.phrases import brief
from brimgate.engine.maps.survey import MUST_SEE, SLIGHTLY_ODD, WORTH_A_LOOK

_TOKEN: Final = re.compile(r"[^\W\d]\w*+|\d++(?>(?:[._]\d++)*)|[=!<>]=?+|&&|\|\||\S")
_FLIPS: Final = (
    ("and", "or"), ("&&", "||"), ("==", "!="), ("===", "!=="), ("<", "<="), (">", ">="), ("<", ">"), ("<=", ">="),
    ("<", ">="), (">", "<="), ("True", "False"), ("true", "false"), ("TRUE", "FALSE"), ("any", "all"), ("min", "max"),
    ("allow", "deny"), ("Allow", "Deny"), ("ALLOW", "DENY"), ("ACCEPT", "DROP"), ("enabled", "disabled"), ("enable", "disable"),
    ("yes", "no"), ("on", "off"), ("required", "optional"), ("private", "public"), ("INNER", "LEFT"), ("ASC", "DESC"),
    ("https", "http"), ("SUCCESS", "FAILURE"),
)  # fmt: skip
_PAIRS: Final = frozenset([*_FLIPS, *((b, a) for a, b in _FLIPS)])
_NEGATIONS: Final = ("not", "!", "unless")
_NUMBER: Final = re.compile(r"\d++(?>(?:_\d++)*)(?:\.\d++)?$")
_VERSION: Final = re.compile(r"(?<![\w.])v?(\d{1,4}(?:\.\d{1,6}){1,3})(?:-[\w.]{1,30})?(?![\w.])")
_WEIGHTY: Final = re.compile(
    r"admin|auth|permi|role|allow|deny|secur|verif|valid|amount|price|total|limit|quota|tls|ssl|encrypt|crypt"
    r"|password|token|public|delete"
    r"|enabled|protect|strict|safe|dry.?run|readonly|read_only",
    re.IGNORECASE,
)
_CHECK: Final = re.compile(
    r"\b(?:raise|throw|panic!?\(|abort\(|assert\w*|verify\w*|[Vv]alidate\w*|[Aa]uthori[sz]e\w*|[Aa]uthenticate\w*"
    r"|require_\w+|check_\w+|ensure_\w+|has_perm\w*|[Pp]ermission\w*|login_required|csrf\w*|[Ss]aniti[sz]e\w*|html\.escape"
    r"|is_admin|isAdmin|is_authenticated|isAuthenticated|PreAuthorize|Secured|before_action|rate_?[Ll]imit\w*"
    r"|constant_time\w*|compare_digest)\b"
)
_GUARD: Final = re.compile(r"\b(?:if|unless|guard|elif|else if)\b|^@|\bassert")
_SAFETY: Final = re.compile(
    r"\b(?:with \w*lock|\.acquire\(|\.rollback\(|SELECT .{1,80} FOR UPDATE|@transaction|\.lock\(|synchronized|WHERE\b)"
)
_PRIVILEGE: Final = re.compile(
    r"0\.0\.0\.0/0|::/0|chmod\s+(?:-R\s+)?(?:0?777|a\+rwx)|\b0?777\b.{0,20}mode|mode.{0,10}\b0?777\b"
    r"|verify\s*=\s*False|InsecureSkipVerify:\s*true"
    r"|rejectUnauthorized:\s*false|NODE_TLS_REJECT_UNAUTHORIZED|--no-verify|--insecure\b|strict_?ssl\W{1,4}false"
    r"|privileged:\s*true"
    r"|allowPrivilegeEscalation:\s*true|runAsUser:\s*0\b|hostNetwork:\s*true|NOPASSWD|cluster-admin"
    r"|AdministratorAccess|USER root\b"
    r"|[\"']?(?:Action|Resource|Principal|AWS|verbs|resources|apiGroups)[\"']?\s*[:=]\s*\[?\s*[\"']\*[\"']"
    r"|Allow-Origin\W{1,6}\*|ALLOWED_HOSTS\s*=\s*\[?['\"]\*"
    r"|\bacl\W{1,6}public-read|publicly_accessible\s*=\s*true|permissions:\s*write-all|GRANT ALL|csrf_exempt"
    r"|DEBUG\s*=\s*True|@PermitAll|permitAll\(\)"
    r"|(?:role|roles)\W{1,6}(?:admin|owner|superuser)\b|is_admin\s*=\s*True|is_superuser\s*=\s*True|skip_auth"
    r"|disable_auth|\bsudo\s"
)
_DANGER: Final = re.compile(
    r"(?<![\w.])eval\(|(?<![\w.])exec\(|os\.system\(|shell\s*=\s*True|pickle\.loads?\(|yaml\.load\((?!.{0,80}Safe)"
    r"|dangerouslySetInnerHTML|\.innerHTML\s*="
    r"|\brm -rf +[\"\']?(?:/|~)|DROP (?:TABLE|DATABASE)|TRUNCATE TABLE|curl [^|]{1,200}\|\s*(?:sudo )?(?:ba)?sh\b"
    r"|except(?: Exception| BaseException)?:\s*(?:pass|continue)"
    r"|catch\s*\([^)]{0,60}\)\s*\{\s*\}|hashlib\.md5\(|\bDELETE FROM \w+\s*;|--force\b(?!-with)"
)
_LEFTOVER: Final = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK)\b|\bconsole\.(?:log|debug)\(|\bdebugger;|set_trace\(|\bbreakpoint\(\)|\bdbg!\("
    r"|(?<![\w.])print\(\s*f?[\"'](?:debug|DEBUG|here|HERE|xxx|XXX|>>>)|\bvar_dump\(|binding\.pry"
)
_SKIPPED_TEST: Final = re.compile(
    r"@pytest\.mark\.(?:skip|xfail)|@unittest\.skip|pytest\.skip\(|\b(?:it|test|describe)\.(?:skip|only)\("
    r"|@Ignore|@Disabled"
    r"|\bt\.Skip\w*\(|#\[ignore|continue-on-error:\s*true|allow_failure:\s*true"
)
_TEST: Final = re.compile(
    r"\s*(?:async )?(?:def (test_\w+)|func (Test\w+)|(?:it|test)\(\s*[\"'`]([^\"'`]{1,120}))"
)
_CONFLICT: Final = re.compile(r"(?:<{7}|>{7}) \S|={7}$")
_COMMENT: Final = re.compile(r"\s*+(?:#(?!\[)|//|--|/\*|\*|<!--|;|%|rem )\s*+", re.IGNORECASE)
_TEST_PATH: Final = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_|_test\.|\.(?:test|spec)\.", re.IGNORECASE
)
_DOCS: Final = (".md", ".rst", ".txt", ".adoc", ".po", ".svg", ".snap", ".lock", ".csv")
_LOCKS: Final = (
    "package-lock.json",
    "go.sum",
    "pnpm-lock.yaml",
    "yarn.lock",
    "uv.lock",
    "Cargo.lock",
    "poetry.lock",
)
_PIPELINES: Final = (".yml", ".yaml")
_HINT: Final = LineFilter(
    *SECRET_WORDS,
    "<<<<<<<", ">>>>>>>", "BEGIN", "0/0", "::/0", "777", "a.rwx", "verify", "reject", "insecure", "strict",
    "privilege", "runAsUser",
    "hostNetwork", "NOPASSWD", "admin", "USER root", "[\"']\\*", "Allow-Origin", "public", "write-all", "GRANT",
    "csrf", "DEBUG", "Permit",
    "role", "owner", "superuser", "skip", "disable", "sudo", "eval", "exec", "system", "shell", "pickle", "yaml.load",
    "innerHTML", "rm -rf",
    "DROP", "TRUNCATE", "curl", "except", "catch", "md5", "DELETE", "--force", "TODO", "FIXME", "XXX", "HACK",
    "console", "trace", "breakpoint",
    "dbg!", "print", "var_dump", "pry", "xfail", "only", "xit", "xdescribe", "fit\\(", "fdescribe", "ignore",
    "continue-on", "allow_failure",
)  # fmt: skip
_NAME_ONLY: Final = re.compile(r"\W*+\w++\W*+$")
_MIN_ALIKE: Final = 0.5


@dataclass(slots=True)
class Change:
    """One changed line: where it stands in its file and in the text."""

    text: str
    number: int
    line: int
    tokens: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class ChangeBlock:
    """Removed and added lines next to each other."""

    path: str
    removed: list[Change] = field(default_factory=list[Change])
    added: list[Change] = field(default_factory=list[Change])
    is_whole_file: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    kind: str
    """What remarks are counted by: a kind that is frequent is told once."""
    score: float
    line: int
    text: str
    factor: float = 0.0


def is_test(path: str) -> bool:
    return bool(_TEST_PATH.search(path))


def is_lock(path: str) -> bool:
    return path.endswith(_LOCKS)


def judge(block: ChangeBlock, moved_in: frozenset[str], moved_out: frozenset[str]) -> Iterator[Remark]:
    """Tell what a block changes in meaning; lines that stand elsewhere in the diff with the other sign only moved."""
    if is_lock(block.path):
        return
    is_code = not block.path.endswith(_DOCS)
    lost: list[Change] = []
    still_checks = any(_CHECK.search(one.text) for one in block.added) if block.removed else False
    for old, new in _pairs(block):
        if new is None:
            lost.append(old)
            continue
        yield from _rewritten(block.path, old, new, is_code)
        if is_code and not still_checks and _is_check(old.text) and not is_test(block.path):
            text = (
                f"{block.path}:{old.number} no longer checks: {brief(old.text, 110)} ⇒ {brief(new.text, 110)}"
            )
            yield Remark("check removed", WORTH_A_LOOK, new.line, text)
    if is_code and not block.is_whole_file:
        yield from _lost(block, [one for one in lost if one.text.strip() not in moved_in])
    for new in block.added:
        if new.text.strip() not in moved_out:
            yield from _added(block, new, is_code)


def _pairs(block: ChangeBlock) -> Iterator[tuple[Change, Change | None]]:
    """Pair each removed line with the added line that says nearly the same, in order."""
    for one in (*block.removed, *block.added) if block.removed and block.added else ():
        one.tokens = _TOKEN.findall(one.text)
    tokens = [frozenset(one.tokens) for one in block.added]
    begin = 0
    for old in block.removed:
        mine = frozenset(old.tokens)
        best, best_share = -1, _MIN_ALIKE
        for index in range(begin, min(begin + 6, len(tokens))):
            share = 2 * len(mine & tokens[index]) / (len(mine) + len(tokens[index]) or 1)
            if share > best_share:
                best, best_share = index, share
        yield old, (block.added[best] if best >= 0 else None)
        begin = max(begin, best + 1)


def _rewritten(path: str, old: Change, new: Change, is_code: bool) -> Iterator[Remark]:
    comment = _COMMENT.match(new.text)
    if comment and len(old.text) > 6 and new.text[comment.end() :].strip() == old.text.strip():
        yield Remark(
            "commented out",
            WORTH_A_LOOK,
            new.line,
            f"{_where(path, old, new)} commented out: {brief(new.text)}",
        )
    if not is_code or comment:
        return
    gone, come = _difference(old.tokens, new.tokens)
    if version := _version(old.text, new.text):
        kind, score, told, factor = version[0], version[1], version[0], 0.0
    elif flip := _flip(gone, come):
        kind, score, told, factor = (
            f"flip {flip}",
            WORTH_A_LOOK + (2 if _WEIGHTY.search(new.text) else 0),
            flip,
            0.0,
        )
    elif joined := _joined(old, new):
        is_grave = _CHECK.search(new.text) or _WEIGHTY.search(new.text)
        kind, score, told, factor = f"condition {joined}", WORTH_A_LOOK + (3 if is_grave else 0), joined, 0.0
    elif number := _number(gone, come):
        kind, score, told, factor = "number", WORTH_A_LOOK, f"{number[0]} → {number[1]}", number[2]
    else:
        return
    if is_test(path):
        score = SLIGHTLY_ODD
    text = f"{_where(path, old, new)} {told}: {brief(old.text, 110)} ⇒ {brief(new.text, 110)}"
    yield Remark(kind, score, new.line, text, factor)


def _where(path: str, old: Change, new: Change) -> str:
    return f"{path}:{old.number}" + (f"→{new.number}" if new.number != old.number else "")


def _difference(old: Sequence[str], new: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """Return the tokens that went and that came, leaving out how both lines begin and end."""
    begin, shorter = 0, min(len(old), len(new))
    while begin < shorter and old[begin] == new[begin]:
        begin += 1
    end = 0
    while end < shorter - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    before, after = Counter(old[begin : len(old) - end]), Counter(new[begin : len(new) - end])
    return before - after, after - before


def _flip(gone: Counter[str], come: Counter[str]) -> str:
    if len(gone) <= 3 and len(come) <= 3:
        for old in gone:
            for new in come:
                if (old, new) in _PAIRS:
                    return f"`{old}` → `{new}`"
    for word in _NEGATIONS:
        if come[word] and not gone[word] and not gone and len(come) <= 3:
            return f"`{word}` added"
        if gone[word] and not come[word] and not come and len(gone) <= 3:
            return f"`{word}` removed"
    return ""


def _joined(old: Change, new: Change) -> str:
    """Tell that a condition has one more part, so that it holds less often or more often."""
    if not _GUARD.search(old.text) or not _GUARD.search(new.text):
        return ""
    for words, effect in ((("and", "&&"), "holds less often now"), (("or", "||"), "holds more often now")):
        before, after = (sum(token in words for token in one.tokens) for one in (old, new))
        if after == before + 1:
            return f"`{next(word for word in words if word in new.tokens)}` added, {effect}"
    return ""


def _number(gone: Counter[str], come: Counter[str]) -> tuple[str, str, float] | None:
    old = [one for one in gone if _NUMBER.match(one)]
    new = [one for one in come if _NUMBER.match(one)]
    if len(old) != 1 or len(new) != 1 or len(gone) > 2 or len(come) > 2:
        return None
    was, now = float(old[0].replace("_", "")), float(new[0].replace("_", ""))
    low, high = sorted((was, now))
    factor = high / low if low else (high + 1) * 2
    # Where a name changes too, it may be the number of something else.
    return old[0], new[0], factor if len(gone) == 1 else factor / 4


def _version(old: str, new: str) -> tuple[str, float] | None:
    """Compare the versions of two lines that name the same thing."""
    if "." not in old or "." not in new:
        return None
    before, after = _VERSION.findall(old), _VERSION.findall(new)
    if len(before) != 1 or len(after) != 1 or before == after:
        return None
    if before[0].count(".") < 2 and not re.search(r"(?:==|>=|~=|[~^@:\"'v])" + re.escape(before[0]), old):
        return None
    was, now = ([int(part) for part in one[0].split(".")] for one in (before, after))
    if before[0].count(".") < 2 and was[0] == now[0] == 0:
        return None
    if now < was:
        return "version lowered", WORTH_A_LOOK + 1
    return ("major version raised", SLIGHTLY_ODD + 1) if now[0] > was[0] else None


def _is_check(text: str) -> bool:
    if _NAME_ONLY.match(text):
        return False  # One of several imported names.
    if text.lstrip().startswith(("import ", "from ", "def ", "use ", "class ", "fn ", "func ")):
        return False
    return bool(_CHECK.search(text)) and not _COMMENT.match(text) and text.lstrip()[:1] not in ("'", '"')


def _lost(block: ChangeBlock, lost: Sequence[Change]) -> Iterator[Remark]:
    """Tell of removed checks once for each run of lines, and of removed tests."""
    run: list[Change] = []
    for one in [*lost, None]:
        if one is not None and (not run or one.number == run[-1].number + 1):
            run.append(one)
            continue
        yield from _lost_run(block, run)
        run = [one] if one is not None else []


def _lost_run(block: ChangeBlock, run: Sequence[Change]) -> Iterator[Remark]:
    tests = [found for one in run if (found := _TEST.match(one.text))]
    if tests:
        names = ", ".join(next(name for name in one.groups() if name) for one in tests[:4])
        text = f"{block.path}:{run[0].number} test removed: {names}"
        yield Remark("test removed", WORTH_A_LOOK + 1, run[0].line, text)
        return
    guards = [one for one in run if _GUARD.search(one.text)]
    strong = [one for one in run if _is_check(one.text)]
    in_test = is_test(block.path)
    if strong and not any(_CHECK.search(new.text) for new in block.added) and not (in_test and block.added):
        score = SLIGHTLY_ODD if in_test else MUST_SEE if guards or len(run) <= 4 else WORTH_A_LOOK
        shown = " ".join(one.text.strip() for one in run if one in guards or one in strong)
        text = (
            f"{block.path}:{run[0].number} {'assertion' if in_test else 'check'} removed: {brief(shown, 160)}"
        )
        yield Remark("assertion removed" if in_test else "check removed", score, run[0].line, text)
    elif safety := next((one for one in run if _SAFETY.search(one.text)), None):
        text = f"{block.path}:{safety.number} removed: {brief(safety.text)}"
        yield Remark("safety removed", WORTH_A_LOOK, safety.line, text)


def _added(block: ChangeBlock, new: Change, is_code: bool) -> Iterator[Remark]:
    if not _HINT(new.text):
        return
    where = f"{block.path}:{new.number}"
    # Tests try what must not be done, with made-up secrets.
    worst = SLIGHTLY_ODD if is_test(block.path) else MUST_SEE
    if secret := secret_in(new.text):
        yield Remark("secret added", worst, new.line, f"{where} secret added: {secret}")
    elif new.text[:7] in ("<<<<<<<", ">>>>>>>") and _CONFLICT.match(new.text):
        yield Remark("conflict marker", MUST_SEE, new.line, f"{where} conflict marker: {brief(new.text)}")
    elif not is_code or len(new.text) < 6:
        return
    elif _PRIVILEGE.search(new.text):
        yield Remark("privilege widened", worst, new.line, f"{where} wider access: {brief(new.text)}")
    elif _SKIPPED_TEST.search(new.text) and (is_test(block.path) or block.path.endswith(_PIPELINES)):
        score = SLIGHTLY_ODD if block.is_whole_file else WORTH_A_LOOK
        yield Remark("test skipped", score, new.line, f"{where} test skipped: {brief(new.text)}")
    elif _DANGER.search(new.text):
        yield Remark(
            "dangerous call", min(worst, WORTH_A_LOOK), new.line, f"{where} dangerous: {brief(new.text)}"
        )
    elif _LEFTOVER.search(new.text):
        yield Remark("left over", SLIGHTLY_ODD + 1, new.line, f"{where} left over: {brief(new.text)}")
