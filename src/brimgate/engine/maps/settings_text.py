"""Survey configuration: YAML with one or many documents, TOML, INI, properties and .env files."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.credentials_scan import find_secrets, is_secret_name
from brimgate.engine.maps.like_blocks import BlockLeaf, Comparison, LikeBlock
from brimgate.engine.maps.line_search import per_line
from brimgate.engine.maps.phrases import brief, count, places, tally
from brimgate.engine.maps.settings_tree import (
    SettingNode,
    SettingTree,
    is_null,
    read_pairs,
    read_yaml,
    unquote,
)
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)
from brimgate.engine.textkind import ENTRY

_YAML_LINE: Final = re.compile(
    r"""\s*+(?>(?:- )*)(?:"[^"]{1,80}"|'[^']{1,80}'|[\w.$@/*<&~{}()+-][\w.$@/* <>{}()+-]{0,80}?):(?:\s|\Z)|\s*+- \S"""
)
_PAIR_LINE: Final = re.compile(r"(?:export )?[\w.$@/*\"'\[\]-]{1,120}\s?[=:]\s?(?!=)")
_LIST_LINE: Final = re.compile(r"\s*+(?:[\"'{\d].*[,\]}]|[\]}],?|[\"'][^\"']*+[\"'])\s*+(?:#.*)?\Z")
_TIGHT_PAIR: Final = re.compile(r"(?:export )?[\w.$@/*-]{1,120}=(?!=)")
_SECTION: Final = re.compile(r"\[\[?[\w.\"' :/@*-]{1,120}\]\]?\s*+(?:[#;].*)?\Z")
_FOREIGN: Final = re.compile(
    r"\s*+(?:def |class |import |from \S+ import|return\b|function |const |let |var |public |private |#include"
    r"|\} ?else|if \(|for \(|</?\w"
    r"|diff --git|@@ |\+\+\+ |--- a/)|.*(?:[;{]|=> \{|\):)\Z"
)
_STAMP: Final = re.compile(ENTRY.pattern.decode()[1:])
_SNAPSHOT: Final = re.compile(r"\s*+- [a-z]+ .*\[ref=|\s*+uid=\d+_\d+ ")
_PRESENT: Final = re.compile(
    r"(?:apiVersion|kind|services|version|jobs|on|openapi|swagger|name|metadata|spec|resources|\[package\]"
    r"|\[tool\.|\[project\])\b"
)
_MIN_BLOCKS: Final = 4
_MIN_ALIKE: Final = 0.3
_MAX_DEPTH: Final = 8
_LOCAL: Final = re.compile(
    r"http://(?:localhost|127\.|0\.0\.0\.0|\[?::1|host\.docker|[\w-]+(?:[:/]|\Z)|[\w.-]+\.(?:svc|local"
    r"|internal|cluster)\b|www\.w3\.org|schemas?\.|json-schema)"
)
_RISKS: Final = (
    (
        re.compile(
            r"privileged|host(?:Network|PID|IPC)|allowPrivilegeEscalation|insecureSkipVerify|insecure_skip_verify"
        ),
        "true",
        MUST_SEE,
    ),
    (re.compile(r"runAsNonRoot|readOnlyRootFilesystem"), "false", WORTH_A_LOOK),
    (re.compile(r"runAsUser|runAsGroup"), "0", WORTH_A_LOOK),
    (re.compile(r"(?i)(?:[\w.-]*[._-])?debug(?:_?mode|_enabled)?"), "true", WORTH_A_LOOK),
    (
        re.compile(
            r"(?i)[\w.-]*(?:insecure|skip_?verify|disable_?(?:tls|ssl|auth|verification)|allow_?anonymous)\w*"
        ),
        "true",
        WORTH_A_LOOK + 1,
    ),
    (
        re.compile(
            r"(?i)(?:[\w.-]*[._-])?(?:verify_?(?:ssl|tls|cert\w*)|(?:ssl|tls|cert)_?verif\w*|verify|rejectUnauthorized"
            r"|auth_?enabled|require_?auth|tls_?enabled|ssl_?enabled)"
        ),
        "false",
        WORTH_A_LOOK + 1,
    ),
)
"""Names that, with this value, take a protection away."""
_NEGATED: Final = re.compile(r"(?i)(?:.*[._-])?(?:skip|disable|no|without|ignore)(?![a-z]{3,}\Z)")
_TRUE: Final = {
    "true": "true",
    "yes": "true",
    "on": "true",
    "1": "true",
    "false": "false",
    "no": "false",
    "off": "false",
}
_OPEN: Final = frozenset(("*", "0.0.0.0/0", "::/0", "cluster-admin"))
_OPEN_KEYS: Final = re.compile(
    r"(?i)(?:verbs|resources|apiGroups|origins?|allow\w*|\w*cidr\w*|\w*hosts?|cors\w*|principal|action|name"
    r"|\w*ranges?|ip_?block\w*|\w*origins?)\Z"
)


def recognise(text: TextLines) -> float:
    lines = [line for line in text.sample if line.strip() and line.lstrip()[0] not in "#;"]
    first = lines[0].lstrip() if lines else ""
    if (
        len(lines) < 3
        or first.startswith(("{", "<", "diff "))
        or (first[:1] == "[" and not _SECTION.match(first))
    ):
        return 0.0
    total = len(lines)
    if sum(1 for line in lines[:60] if _SNAPSHOT.match(line)) > 2:
        return 0.0
    stamped = sum(1 for line in lines if _STAMP.match(line))
    foreign = sum(1 for line in lines if _FOREIGN.match(line))
    if (stamped + foreign) * 5 > total:
        return 0.0
    return max(_yaml_likeness(lines), _pairs_likeness(lines))


def _yaml_likeness(lines: list[str]) -> float:
    like = sum(1 for line in lines if _YAML_LINE.match(line))
    keyed = [line.partition(":")[0] for line in lines if line[0] not in " -" and _YAML_LINE.match(line)]
    if not any(line.lstrip(" -").partition(":")[2] for line in lines) or like < 0.5 * len(lines):
        return 0.0
    if len(keyed) == 0 and not lines[0].lstrip().startswith("- "):
        return 0.0
    spoken = sum(1 for line in lines if line[0] not in " -" and line.count(" ") > 6)
    is_repeated = len(keyed) > 6 and len(set(keyed)) * 2 < len(keyed) and "---" not in lines
    nested = sum(1 for line in lines if line[0] in " -" and ":" in line)
    if is_repeated or spoken * 4 > len(lines) or nested * 4 < len(lines):
        return 0.0
    known = any(_PRESENT.match(line) for line in lines[:20])
    return min(0.95, like / len(lines) * (1.0 if known else 0.85))


def _pairs_likeness(lines: list[str]) -> float:
    # Items of a long list stand on lines of their own in TOML, and say nothing.
    lines = [line for line in lines if not _LIST_LINE.match(line)]
    pairs = [line for line in lines if _PAIR_LINE.match(line)]
    sections = sum(1 for line in lines if _SECTION.match(line))
    like = (len(pairs) + sections) / max(len(lines), 1)
    keys = [line.partition("=")[0].strip() for line in pairs]
    with_sign = sum(1 for line in pairs if "=" in line)
    if not pairs or like < 0.6 or with_sign * 2 < len(pairs):
        return 0.0
    tight = sum(1 for line in pairs if _TIGHT_PAIR.match(line) or "." in line.partition("=")[0])
    crowded = sum(1 for line in pairs if line.count("=") > 3)
    if crowded * 3 > len(pairs) or (
        not sections and (tight < 0.7 * len(pairs) or len(set(keys)) < 0.6 * len(keys))
    ):
        return 0.0
    return min(0.95, like * (0.95 if sections else 0.8))


def survey(text: TextLines) -> Survey:
    body = [line for line in text.sample if line.strip() and line.lstrip()[0] not in "#;"]
    is_yaml = _yaml_likeness(body) >= _pairs_likeness(body) if body else True
    tree = read_yaml(text.lines) if is_yaml else read_pairs(text.lines)
    nodes = [node for document in tree.documents for node in _walk(document)]
    groups = _groups(tree, nodes)
    found = [
        *find_secrets(text.lines),
        *_faults(tree, nodes, is_yaml=is_yaml),
        *_risks(nodes),
        *_images(nodes),
    ]
    found += [*_plain_links(nodes), *_contradictions(nodes)]
    lines = _top_lines(tree)
    for name, blocks in groups:
        comparison = Comparison(blocks)
        found += comparison.findings()
        table = comparison.table()
        if table:
            lines.append(MapLine(f"{len(blocks)} {name}: {table}", 6.0))
    return Survey(_title(text, tree, is_yaml=is_yaml), lines, per_line(found))


def _walk(node: SettingNode) -> Iterator[SettingNode]:
    pending = [node]
    while pending:
        top = pending.pop()
        yield top
        pending.extend(reversed(top.children))


def _title(text: TextLines, tree: SettingTree, *, is_yaml: bool) -> str:
    total = count(len(text.lines), "line")
    kinds = Counter(document.text_at("kind") for document in tree.documents if document.text_at("apiVersion"))
    if kinds:
        return f"Kubernetes YAML: {count(sum(kinds.values()), 'object')} in {total}: {tally(kinds, 10)}"
    roots = [node for document in tree.documents for node in document.children]
    if not is_yaml:
        sections = [node for node in roots if node.children]
        settings = sum(len(node.children) for node in sections) + sum(
            1 for node in roots if not node.children
        )
        inside = f" in {count(len(sections), 'section')}" if sections else ""
        return f"settings: {count(settings, 'key')}{inside}, {total}"
    documents = f"{count(len(tree.documents), 'document')}, " if len(tree.documents) > 1 else ""
    items = sum(1 for node in roots if node.is_item)
    return f"YAML: {documents}{count(items, 'item') if items else count(len(roots), 'top key')}, {total}"


def _top_lines(tree: SettingTree) -> list[MapLine]:
    if len(tree.documents) > 1:
        return _document_lines(tree)
    roots = tree.documents[0].children if tree.documents else []
    roots = roots if any(node.key for node in roots) else []
    sized = sorted(roots, key=lambda node: node.line - node.end)
    lines = [MapLine(_cut(_by_prefix(roots) or _named(roots), 60), 9.0)] if roots else []
    for node in sized[:8]:
        inner = [f"{child.key} {_span(child)}" for child in node.children if child.key and child.children]
        if len(inner) > 1:
            lines.append(
                MapLine(f"{node.key} {_span(node)}: {_cut(inner, 24)}", 3.0 + min(3.0, len(inner) / 10))
            )
    return lines


def _document_lines(tree: SettingTree) -> list[MapLine]:
    by_kind: defaultdict[str, list[str]] = defaultdict(list)
    for document in tree.documents:
        kind = document.text_at("kind")
        by_kind[kind].append(f"{_label(document).removeprefix(kind).strip()} {document.line}")
    ranked = sorted(by_kind.items(), key=lambda one: -len(one[1]))
    return [
        MapLine(f"{kind or 'documents'} at line: {_cut(names, 20)}", 7.0 - at / 4)
        for at, (kind, names) in enumerate(ranked[:12])
    ]


def _by_prefix(roots: list[SettingNode]) -> list[str]:
    """Fold `a.b.c=…` and `A_B=…` by their first words, where there are many."""
    if len(roots) < 30 or any(node.children for node in roots):
        return []
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for node in roots:
        groups[re.split(r"[._]", node.key, maxsplit=1)[0]].append(node.line)
    return [f"{lines[0]}-{lines[-1]} {name} {len(lines)}" for name, lines in groups.items() if len(lines) > 1]


def _named(roots: list[SettingNode]) -> list[str]:
    """Return ranges of lines with keys; neighbours of one name, as `[[bin]]` makes them, become one."""
    runs: list[list[SettingNode]] = []
    for node in roots:
        if runs and node.is_item and runs[-1][0].key == node.key:
            runs[-1].append(node)
        else:
            runs.append([node])
    return [
        f"{run[0].line}-{run[-1].end} {run[0].key} ×{len(run)}"
        if len(run) > 1
        else f"{_span(run[0])} {run[0].key}"
        for run in runs
    ]


def _span(node: SettingNode) -> str:
    return str(node.line) if node.end <= node.line else f"{node.line}-{node.end}"


def _cut(names: list[str], most: int) -> str:
    return " · ".join(names[:most]) + (f" · … {len(names) - most} more" if len(names) > most else "")


def _label(node: SettingNode) -> str:
    """Return what a block goes by: its key, or the name in it."""
    kind, name = node.text_at("kind"), node.text_at("metadata", "name")
    if kind and name:
        return f"{kind} {name}"
    for key in ("name", "id", "key", "title", "alias", "job_name", "path", "host", "alert", "record"):
        if (not node.key or node.is_item) and (value := node.text_at(key)):
            return brief(value, 50)
    if node.key:
        return node.key
    first = next((child for child in node.children if child.value), None)
    return f"{first.key} {brief(unquote(first.value or ''), 40)}" if first else f"item at {node.line}"


def _groups(tree: SettingTree, nodes: list[SettingNode]) -> list[tuple[str, list[LikeBlock]]]:
    """Find lists and maps of like blocks, the largest first."""
    found: list[tuple[str, list[SettingNode]]] = []
    by_kind: defaultdict[str, list[SettingNode]] = defaultdict(list)
    for document in tree.documents:
        by_kind[document.text_at("kind")].append(document)
    found += [(kind or "documents", same) for kind, same in by_kind.items() if len(same) >= _MIN_BLOCKS]
    for node in nodes:
        if len(node.children) >= _MIN_BLOCKS:
            found += _alike_children(node)
    found.sort(key=lambda one: -len(one[1]))
    return [(name, [_block(node) for node in same]) for name, same in found[:24]]


def _alike_children(node: SettingNode) -> Iterator[tuple[str, list[SettingNode]]]:
    blocks = [child for child in node.children if child.children]
    by_name: defaultdict[str, list[SettingNode]] = defaultdict(list)
    for block in blocks:
        by_name[block.key if block.is_item and block.key else ""].append(block)
    for name, same in by_name.items():
        if len(same) < _MIN_BLOCKS or (not name and len(same) * 2 < len(node.children)):
            continue
        keys = Counter(child.key for block in same for child in block.children if child.key)
        shared = sum(number for number in keys.values() if number * 2 > len(same))
        if shared > _MIN_ALIKE * sum(keys.values()):
            yield (name or node.key or ("top blocks" if node.indent < 0 else "items"), same)


def _block(node: SettingNode) -> LikeBlock:
    leaves: list[BlockLeaf] = []
    _add_leaves(node, "", 0, leaves)
    return LikeBlock(_label(node), node.line, leaves)


def _add_leaves(node: SettingNode, prefix: str, depth: int, leaves: list[BlockLeaf]) -> None:
    for child in node.children:
        path = prefix
        if child.key:
            path = f"{prefix}.{child.key}" if prefix else child.key
        elif child.children and child.children[0].key == "name" and child.child("value"):
            leaves.append(BlockLeaf(f"{prefix}.{child.text_at('name')}", child.text_at("value"), child.line))
            continue
        if child.children:
            if depth < _MAX_DEPTH:
                _add_leaves(child, path, depth + 1, leaves)
        elif child.value is not None:
            leaves.extend(_values(path, child))
        elif child.key:
            leaves.append(BlockLeaf(path, "", child.line))


def _values(path: str, node: SettingNode) -> Iterator[BlockLeaf]:
    value = node.value or ""
    if node.key == "image" and (image := unquote(value)) and "{" not in image and "$" not in image:
        repository, _, tag = image.partition("@")[0].rpartition(":")
        if "/" in tag or not repository:
            repository, tag = image, "(none)"
        registry = repository.partition("/")[0] if "." in repository.partition("/")[0] else "docker.io"
        yield BlockLeaf(f"{path} registry", registry, node.line)
        yield BlockLeaf(f"{path} tag", tag, node.line)
    elif len(value) <= 200:
        # Quotes tell a text from a number, which matters where all others are numbers.
        plain = unquote(value)
        yield BlockLeaf(path, value if plain.replace(".", "", 1).isdigit() else plain, node.line)


def _faults(tree: SettingTree, nodes: list[SettingNode], *, is_yaml: bool) -> Iterator[Finding]:
    for line, fault in tree.faults[:5]:
        yield Finding(line, WORTH_A_LOOK, fault)
    for node in nodes:
        if len(node.children) < 2:
            continue
        seen: dict[str, SettingNode] = {}
        for child in node.children:
            if not child.key or child.is_item or child.key in ("<<", "import", "include"):
                continue
            first = seen.setdefault(child.key, child)
            if first is not child:
                yield _repeated(first, child, is_yaml=is_yaml)


def _repeated(first: SettingNode, again: SettingNode, *, is_yaml: bool) -> Finding:
    value, before = again.value or "", first.value or ""
    is_hidden = is_secret_name(again.key) or again.children or first.children
    differs = "" if is_hidden else f": {brief(before, 40)}, then {brief(value, 40)}"
    is_same = not again.children and value == before
    score = WORTH_A_LOOK if is_same or (not is_yaml and again.children) else MUST_SEE - 1
    return Finding(
        again.line, score, f"{again.key} a second time, first at {first.line}{'' if is_same else differs}"
    )


def _risks(nodes: list[SettingNode]) -> Iterator[Finding]:
    risky: defaultdict[tuple[str, float], list[int]] = defaultdict(list)
    owner = ""
    for node in nodes:
        if node.value is None:
            continue
        value = unquote(node.value)
        if value in _OPEN:
            owner = node.key or owner
            if _OPEN_KEYS.search(owner):
                risky[f"{owner} {value}", WORTH_A_LOOK].append(node.line)
        meaning = "0" if value == "0" else _TRUE.get(value.lower(), "")
        if meaning and node.key:
            for name, risk, score in _RISKS:
                if (
                    meaning == risk
                    and name.fullmatch(node.key)
                    and (risk == "true" or not _NEGATED.match(node.key))
                ):
                    risky[f"{node.key} {value}", score].append(node.line)
        owner = node.key or owner
    for (text, score), lines in risky.items():
        told = text if len(lines) == 1 else f"{text} ×{len(lines)}, lines {places(lines, 6)}"
        yield Finding(lines[0], score if len(lines) <= 3 else min(score, SLIGHTLY_ODD + 1), told)


def _images(nodes: list[SettingNode]) -> Iterator[Finding]:
    images = [(node, unquote(node.value)) for node in nodes if node.key == "image" and node.value]
    latest = [node.line for node, image in images if image.endswith(":latest")]
    untagged = [
        node.line
        for node, image in images
        if ":" not in image.rpartition("/")[2] and not set(image) & set("${}[")
    ]
    for lines, told in ((latest, "image tagged latest"), (untagged, "image without a tag")):
        if lines:
            is_few = len(lines) <= max(1, len(images) // 5)
            where = (
                f" ({brief(next(image for node, image in images if node.line == lines[0]), 60)})"
                if len(lines) == 1
                else ""
            )
            told = f"{told}{where}" if len(lines) == 1 else f"{told} ×{len(lines)}, lines {places(lines, 6)}"
            yield Finding(lines[0], WORTH_A_LOOK + 1 if is_few else SLIGHTLY_ODD, told)


def _plain_links(nodes: list[SettingNode]) -> Iterator[Finding]:
    safe = sum(1 for node in nodes if node.value and "https://" in node.value)
    plain = [
        node for node in nodes if node.value and "http://" in node.value and not _LOCAL.search(node.value)
    ]
    if plain and safe >= 3 * len(plain):
        for node in plain[:3]:
            yield Finding(
                node.line,
                WORTH_A_LOOK,
                f"{node.key or 'item'} {brief(_no_user(node.value), 70)}: http among {safe} https",
            )


def _no_user(value: str | None) -> str:
    return re.sub(r"://[^/\s@]{1,200}@", "://****@", unquote(value or ""))


def _contradictions(nodes: list[SettingNode]) -> Iterator[Finding]:
    """Tell a setting that has one value in all sections but one. Only names that say the same thing everywhere count."""
    named: defaultdict[str, list[SettingNode]] = defaultdict(list)
    for node in nodes:
        if (
            node.value
            and not is_null(node.value)
            and node.key.isupper()
            and len(node.key) > 4
            and not is_secret_name(node.key)
        ):
            named[node.key].append(node)
    for key, same in named.items():
        counts = Counter(unquote(node.value or "") for node in same)
        if len(same) >= 3 and len(counts) == 2 and min(counts.values()) == 1:
            (usual, often), (odd, _) = counts.most_common(2)
            node = next(node for node in same if unquote(node.value or "") == odd)
            text = f"{key} is {brief(odd, 60)} here, {brief(usual, 60)} in {often} other places"
            yield Finding(node.line, WORTH_A_LOOK if often > 3 else SLIGHTLY_ODD + 1, text)


DETECTOR = Detector("settings", recognise, survey, has_end=False)
