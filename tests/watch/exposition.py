"""Read the text format of Prometheus, strictly and without a line of the code that writes it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

Labels = frozenset[tuple[str, str]]
_NAME: Final = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_SAMPLE: Final = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_LABEL: Final = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)')
_ESCAPES: Final = {r"\\": "\\", r"\n": "\n", r"\"": '"'}
_SUFFIXES: Final = ("_bucket", "_sum", "_count")


@dataclass
class Exposed:
    kind: str
    doc: str
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict[tuple[str, Labels], float])


class Exposition:
    def __init__(self, text: bytes) -> None:
        """Read it. Whatever a scrape would stumble over is an AssertionError."""
        self.families: dict[str, Exposed] = {}
        decoded = text.decode("utf-8")
        assert decoded.endswith("\n")
        for line in decoded[:-1].split("\n"):
            assert line and line == line.strip() and "\r" not in line and "\0" not in line, repr(line)
            if line.startswith("# HELP "):
                name, _, doc = line.removeprefix("# HELP ").partition(" ")
                assert name not in self.families and doc
                self.families[name] = Exposed("", doc)
            elif line.startswith("# TYPE "):
                name, _, kind = line.removeprefix("# TYPE ").partition(" ")
                assert not self.families[name].kind and not self.families[name].samples
                self.families[name].kind = kind
            else:
                self._read(line)
        for name, family in self.families.items():
            assert family.samples, f"{name} has nothing to tell"
            if family.kind == "histogram":
                self._check_histogram(name, family)

    def _read(self, line: str) -> None:
        found = _SAMPLE.fullmatch(line)
        assert found, repr(line)
        name, inside, number = found[1], found[2] or "", found[3]
        labels = list(_labels(inside))
        assert len({one for one, _ in labels}) == len(labels), f"a label stands twice in {line!r}"
        last = [*self.families][-1]
        family = self.families[last]
        allowed = {last + ending for ending in _SUFFIXES} if family.kind == "histogram" else {last}
        assert name in allowed, f"{name} stands below {last}"
        key = name, frozenset(labels)
        assert key not in family.samples, f"twice: {line!r}"
        family.samples[key] = float(number)

    @staticmethod
    def _check_histogram(name: str, family: Exposed) -> None:
        of: dict[Labels, list[tuple[float, float]]] = {}
        for (sample, labels), value in family.samples.items():
            if sample == f"{name}_bucket":
                bound = float(dict(labels)["le"])
                rest = frozenset(one for one in labels if one[0] != "le")
                of.setdefault(rest, []).append((bound, value))
        for labels, buckets in of.items():
            assert buckets == sorted(buckets) and buckets[-1][0] == float("inf")
            counts = [count for _, count in buckets]
            assert counts == sorted(counts), "buckets are cumulative"
            assert counts[-1] == family.samples[f"{name}_count", labels]
            assert (f"{name}_sum", labels) in family.samples

    def series(self, sample: str, **wanted: str) -> dict[Labels, float]:
        """The series of this sample that have these labels; empty if there are none."""
        return {
            labels: value
            for family in self.families.values()
            for (name, labels), value in family.samples.items()
            if name == sample and wanted.items() <= dict(labels).items()
        }

    def sum(self, sample: str, **wanted: str) -> float:
        return sum(self.series(sample, **wanted).values())

    def by(self, sample: str, label: str, **wanted: str) -> dict[str, float]:
        """The sums by one label."""
        sums: dict[str, float] = {}
        for labels, value in self.series(sample, **wanted).items():
            told = dict(labels).get(label, "")
            sums[told] = sums.get(told, 0.0) + value
        return sums

    def counting(self) -> dict[tuple[str, Labels], float]:
        """All that must never get less."""
        return {
            key: value
            for family in self.families.values()
            if family.kind != "gauge"
            for key, value in family.samples.items()
        }


def _labels(inside: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(inside):
        found = _LABEL.match(inside, at)
        assert found, repr(inside[at:])
        yield found[1], re.sub(r"\\.", lambda one: _ESCAPES[one[0]], found[2])
        at = found.end()
