"""Survey plans of Terraform, OpenTofu and Pulumi: what is destroyed or replaced and why, and what opens access."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.line_filter import LineFilter
from brimgate.engine.maps.phrases import bare, brief, count, places, tally
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)

_RESOURCE: Final = re.compile(
    r"\s{0,4}# (?P<name>\S.*?) (?P<what>will be created|will be destroyed|will be updated in-place"
    r"|will be read during apply|must be replaced"
    r"|is tainted, so must be replaced|will be replaced, as requested|will be imported|has changed"
    r"|has been deleted|has been changed"
    r"|will no longer be managed by \w+.*)(?P<more>.*)$"
)
_ACTIONS: Final = {
    "will be created": "create",
    "will be destroyed": "destroy",
    "will be updated in-place": "update",
    "will be read during apply": "read",
    "must be replaced": "replace",
    "is tainted, so must be replaced": "replace",
    "will be replaced, as requested": "replace",
    "will be imported": "import",
    "has changed": "changed outside",
    "has been changed": "changed outside",
    "has been deleted": "deleted outside",
}
_SUMMARY: Final = re.compile(
    r"(?:Plan: |Apply complete! Resources: |Destroy complete! Resources: )(?P<counts>\d.*?)\.?$"
)
_COUNT: Final = re.compile(r"(?P<number>\d++) (?:to )?(?P<word>add|change|destroy|import|forget)")
_PULUMI: Final = re.compile(
    r"[ │├└─]*+(?P<sign>\+-|-\+|\+\+|--|[+~-])\s++[│├└─ ]*+(?P<type>[\w-]++:[\w/.-]++(?::[\w-]++)?)\s++(?P<name>\S++)\s++"
    r"(?P<what>create-replacement|delete-replaced|create|update|delete|replace|import)\b(?P<more>.*)$"
)
_PULUMI_ACTIONS: Final = {
    "create": "create",
    "update": "update",
    "delete": "destroy",
    "replace": "replace",
    "import": "import",
}
_PULUMI_COUNT: Final = re.compile(
    r"\s++(?P<sign>\+-|\+|~|-)\s?(?P<number>\d++) (?:to )?(?P<word>create|update|delete|replace)d?$"
)
_FORCED: Final = re.compile(
    r"\s*+[~+/-]{1,3}+ (?P<name>\S++)\s++=? ?(?P<change>.*?)\s*#\s*forces replacement"
)
_HINT: Final = LineFilter(
    "0/0", "::/0", "public", "encrypt", "protection", "\\*", "skip_final", "force_destroy", "privileged", "admin", "ssl", "tls",
    "backup", "versioning", "logging", "retention", "prevent_destroy", "kms",
)  # fmt: skip
_SENSITIVE: Final = re.compile(
    r"\s*+(?:[+~]|-/\+|\+/-)\s++(?:\S++\s++[=:] )?.*(?:0\.0\.0\.0/0|::/0)|\s*+[+~]\s++\"?(?:Action|Resource"
    r"|Principal|AWS|actions|resources)\"?\s*+[=:]\s*+\[?\s*+\"\*\""
    r"|\s*+[+~]\s++(?:acl\s++= .*public-|publicly_accessible\s++= .*true|\w*public_access\w*\s++= .*true"
    r"|block_public_\w++\s++= .*false"
    r"|ignore_public_acls\s++= .*false|restrict_public_buckets\s++= .*false"
    r"|associate_public_ip_address\s++= .*true|privileged\s++= .*true"
    r"|\w*(?:encrypted|encryption|encryption_enabled|deletion_protection\w*|enable_logging|ssl_enforce\w*"
    r"|\w*ssl_enabled|versioning)\s++= .*false"
    r"|(?:skip_final_snapshot|force_destroy)\s++= .*true|backup_retention_period\s++= \d++ -> 0"
    r"|policy_arn\s++= .*AdministratorAccess)"
    r"|\s*+-\s++(?:deletion_protection|storage_encrypted|encrypted|prevent_destroy|kms_key_id)\b.*-> null"
)
_TRUE_ONLY: Final = re.compile(r"-> true|= true")
_NOTICE: Final = re.compile(r"[│╷| ]*+(?P<what>Error|Warning|error|warning): (?P<text>\S.*)$")
_STATEFUL: Final = re.compile(
    r"db_|rds|database|sql|bucket|s3|disk|volume|ebs|efs|dynamo|redis|elasticache|kms|secret|storage|cluster|vpc|zone|keyspace",
    re.IGNORECASE,
)
_MAX_EACH: Final = 12


@dataclass(slots=True)
class _Resource:
    name: str
    action: str
    line: int
    more: str = ""
    reasons: list[str] = field(default_factory=list[str])

    @property
    def type(self) -> str:
        parts = [part for part in self.name.split("[", 1)[0].split(".") if part]
        typed = [
            part
            for index, part in enumerate(parts)
            if part not in ("module", "data") and (index == 0 or parts[index - 1] != "module")
        ]
        return typed[0] if typed else self.name


@dataclass(slots=True)
class _Plan:
    resources: list[_Resource] = field(default_factory=list[_Resource])
    stated: Counter[str] = field(default_factory=Counter[str])
    summaries: list[int] = field(default_factory=list[int])
    sensitive: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    notices: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    is_pulumi: bool = False


def recognise(text: TextLines) -> float:
    sample = bare(text.sample)
    actions = sum(1 for line in sample if _action(line))
    summary = any(_SUMMARY.match(line) for line in sample)
    title = any(
        line.startswith(
            (
                "Terraform will perform",
                "OpenTofu will perform",
                "Previewing update",
                "Terraform used the selected",
                "OpenTofu used the selected",
            )
        )
        for line in sample
    )
    if actions and (summary or title):
        return 0.97
    return 0.8 if actions >= 3 else 0.7 if summary and title else 0.0


def _action(line: str) -> re.Match[str] | None:
    if "#" in line[:6] and (" will " in line or " has " in line or " must " in line):
        return _RESOURCE.match(line)
    return _PULUMI.match(line) if ":" in line and line[:1] in " +-~│" else None


def survey(text: TextLines) -> Survey:
    plan = _read(bare(text.lines))
    findings = [*_removals(plan), *_sensitive(plan), *_notices(plan), *_contradictions(plan)]
    return Survey(_title(plan), list(_map(plan)), findings)


def _read(lines: Sequence[str]) -> _Plan:
    plan = _Plan()
    for number, line in enumerate(lines, 1):
        if found := _action(line):
            _add_resource(plan, number, found)
        elif found := _SUMMARY.match(line):
            plan.summaries.append(number)
            plan.stated.update({one["word"]: int(one["number"]) for one in _COUNT.finditer(found["counts"])})
        elif plan.is_pulumi and (found := _PULUMI_COUNT.match(line)):
            plan.summaries.append(number)
            plan.stated[_PULUMI_ACTIONS[found["word"]]] += int(found["number"])
        elif "rror: " in line or "arning: " in line:
            if found := _NOTICE.match(line):
                plan.notices.append((number, found["what"].capitalize(), found["text"]))
        elif plan.resources and "forces replacement" in line and (found := _FORCED.match(line)):
            plan.resources[-1].reasons.append(brief(f"{found['name']} {found['change'].lstrip('= ')}", 110))
        elif (
            plan.resources and line.lstrip()[:1] in ("+", "~", "-") and _HINT(line) and _SENSITIVE.match(line)
        ):
            plan.sensitive.append((number, plan.resources[-1].name, line.strip()))
        elif (
            plan.resources
            and line.lstrip().startswith("# (because ")
            and plan.resources[-1].line == number - 1
        ):
            plan.resources[-1].reasons.append(line.strip("# ()"))
    return plan


def _add_resource(plan: _Plan, number: int, found: re.Match[str]) -> None:
    if "sign" in found.re.groupindex:
        plan.is_pulumi = True
        action = _PULUMI_ACTIONS.get(found["what"])
        if action:
            plan.resources.append(
                _Resource(f"{found['type']} {found['name']}", action, number, found["more"].strip())
            )
        return
    action = _ACTIONS.get(found["what"], "forget")
    plan.resources.append(_Resource(found["name"], action, number, found["more"].strip()))


def _removals(plan: _Plan) -> Iterator[Finding]:
    groups: dict[tuple[str, str], list[_Resource]] = defaultdict(list)
    for one in plan.resources:
        if one.action in ("destroy", "replace", "deleted outside"):
            groups[one.action, one.type].append(one)
    for (action, _), group in groups.items():
        many = sum(len(some) for some in groups.values()) > _MAX_EACH and len(group) > 3
        for one in group[:1] if many else group:
            reason = "; ".join(one.reasons[:3]) or one.more
            alike = (
                f" · {len(group) - 1} more of this type (lines {places(other.line for other in group[1:])})"
                if many
                else ""
            )
            text = f"{action.upper()} {one.name}{': ' + reason if reason else ''}{alike}"
            yield Finding(one.line, MUST_SEE + (1 if _STATEFUL.search(one.name) else 0), clip(text))


def _sensitive(plan: _Plan) -> Iterator[Finding]:
    forms: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for one in plan.sensitive:
        forms[" ".join(one[2].split())].append(one)
    for form, group in forms.items():
        number, name, _ = group[0]
        more = (
            f" · {len(group) - 1} more (lines {places(one[0] for one in group[1:])})"
            if len(group) > 1
            else ""
        )
        # What half of the resources have is the habit of this plan, not an exception.
        score = WORTH_A_LOOK + 2 if len(group) <= max(3, len(plan.resources) // 4) else SLIGHTLY_ODD
        yield Finding(number, score, clip(f"{name}: {form}{more}"))


def _notices(plan: _Plan) -> Iterator[Finding]:
    seen: Counter[tuple[str, str]] = Counter((what, text) for _, what, text in plan.notices)
    told: set[tuple[str, str]] = set()
    for number, what, text in plan.notices:
        if (what, text) not in told:
            told.add((what, text))
            times = f" ({seen[what, text]} times)" if seen[what, text] > 1 else ""
            yield Finding(
                number, MUST_SEE if what == "Error" else SLIGHTLY_ODD, clip(f"{what}: {text}{times}")
            )


def _contradictions(plan: _Plan) -> Iterator[Finding]:
    actions = Counter(one.action for one in plan.resources)
    if not plan.summaries or not plan.resources:
        return
    if plan.is_pulumi:
        counted = {word: actions[word] for word in ("create", "update", "destroy", "replace")}
    else:
        counted = {
            "add": actions["create"] + actions["replace"],
            "change": actions["update"],
            "destroy": actions["destroy"] + actions["replace"],
        }
    wrong = [
        f"{plan.stated[word]} to {word}, but {number} are listed"
        for word, number in counted.items()
        if plan.stated[word] != number
    ]
    if wrong:
        yield Finding(plan.summaries[-1], WORTH_A_LOOK + 2, f"the summary says {'; '.join(wrong)}")


def _title(plan: _Plan) -> str:
    actions = Counter(one.action for one in plan.resources)
    tool = "Pulumi preview" if plan.is_pulumi else "infrastructure plan"
    order = (
        "create",
        "update",
        "replace",
        "destroy",
        "import",
        "forget",
        "read",
        "changed outside",
        "deleted outside",
    )
    told = ", ".join(f"{word} {actions[word]:,}" for word in order if actions[word])
    return f"{tool}: {count(len(plan.resources), 'resource')}{': ' + told if told else ''}"


def _map(plan: _Plan) -> Iterator[MapLine]:
    if plan.stated:
        stated = ", ".join(f"{number} to {word}" for word, number in plan.stated.items())
        yield MapLine(f"summary (line {places(plan.summaries)}): {stated}", 7)
    for action in ("destroy", "replace", "update", "create", "changed outside"):
        some = [one for one in plan.resources if one.action == action]
        if some:
            lines = f"lines {some[0].line}-{some[-1].line}" if len(some) > 1 else f"line {some[0].line}"
            yield MapLine(
                f"{action} {len(some):,} ({lines}): {tally(Counter(one.type for one in some))}",
                6 if action in ("destroy", "replace") else 4,
            )


DETECTOR: Final = Detector("infrastructure plan", recognise, survey)
