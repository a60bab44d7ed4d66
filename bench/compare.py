"""`python -m bench.compare OLD [ROUNDS] [PART…]`: the benchmarks of another checkout and of this one, taken in turns.

Prints the median of each figure in both, and their ratio: the machines are shared, so only figures of one run compare.
OLD is a checkout with an environment of its own (`.venv`).
"""

import re
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("cpu", "relay", "http", "calls")
_ROW = re.compile(r"^\| (?P<what>[^|]+?) \| [^|]* \| (?P<measured>[^|]+?) \|", re.MULTILINE)
_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
_TOLERANCE = 1.15


def main() -> int:
    old, *rest = sys.argv[1:]
    rounds = int(rest[0]) if rest else 5
    parts = rest[1:] or PARTS
    homes = {"old": Path(old).resolve(), "new": ROOT}
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number in range(rounds):
        for name in ("old", "new") if number % 2 == 0 else ("new", "old"):
            for what, value in measured(homes[name], parts):
                figures[what][name].append(value)
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    worse = 0
    print("| what | old | new | new / old |\n|---|---|---|---|")
    for what, found in figures.items():
        if not found["old"] or not found["new"]:
            continue
        before, after = statistics.median(found["old"]), statistics.median(found["new"])
        ratio = after / before if before else 1.0
        worse += ratio > _TOLERANCE
        print(f"| {what} | {before:g} | {after:g} | {ratio:.2f} |")
    print(f"\n{worse} figures are more than {_TOLERANCE - 1:.0%} larger")
    return 0


def measured(home: Path, parts: tuple[str, ...] | list[str]) -> list[tuple[str, float]]:
    """The first number of each row. The name of the project is left out: it was another once."""
    command = [str(home / ".venv" / "bin" / "python"), "-m", "bench", *parts]
    out = subprocess.run(command, capture_output=True, text=True, cwd=home, check=True).stdout
    found: list[tuple[str, float]] = []
    for row in _ROW.finditer(out):
        number = _NUMBER.search(row["measured"])
        if number and row["what"] not in ("what", "---"):
            found.append((re.sub(r"\b[A-Za-z]+gate\b", "…", row["what"]), float(number[0].replace(",", ""))))
    return found


if __name__ == "__main__":
    sys.exit(main())
