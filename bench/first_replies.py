"""Compare the CPU of first replies with that of another checkout, kind by kind: `python -m bench.first_replies CHECKOUT`.

Both trees get the same answers, of about 100 KB and of 1 MB, in turns; the best of several runs counts.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.fidelity import planted

ROOT = Path(__file__).resolve().parents[1]
MOST = 1.3
SIZES = (100_000, 1_000_000)
WORKER = """
import sys, time
from pathlib import Path
from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.policy import Policy
from brimgate.engine.tokens.estimator import Estimator
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore
sizes = {"output_token_threshold": 4000, "object_threshold": 4000, "chunk_threshold": 4000, "text_slack": 0.0}
policy = Policy(**sizes, estimator=Estimator("claude"))
for path in sorted(Path(sys.argv[1]).iterdir()):
    data, best = path.read_bytes(), 9e9
    for _ in range(4):
        protection = Protection(policy, KeyRing(bytes(range(7, 39))), MemoryStore())
        began = time.process_time()
        protection.protect(data, Binding("a", "b", "c"), 1_800_000_000.0)
        best = min(best, time.process_time() - began)
    print(path.name, best, flush=True)
"""


def main() -> int:
    import bench.fidelity.set_one  # noqa: F401

    former = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for case in planted.cases(1):
            for size in SIZES:
                (Path(folder) / f"{case.kind}.{size}").write_bytes(sized(case, size))
        ours, theirs = (_measured(tree, folder) for tree in (ROOT, former))
    ratios: dict[int, list[float]] = {size: [] for size in SIZES}
    print("| answer | former ms | ms | ratio |\n|---|---|---|---|")
    for name in sorted(ours):
        ratio = ours[name] / theirs[name]
        ratios[int(name.rpartition(".")[2])].append(ratio)
        print(f"| {name} | {1_000 * theirs[name]:.1f} | {1_000 * ours[name]:.1f} | {ratio:.1f} |")
    for size, found in ratios.items():
        print(
            f"{size:,} bytes: median {median(found):.1f} times, {sum(one <= MOST for one in found)} of {len(found)} within {MOST}"
        )
    return 0


def sized(case: planted.Case, size: int) -> bytes:
    """Return an answer of about so many bytes: repeated, or cut at a line."""
    if not case.is_json:
        text = case.text * (size // len(case.text) + 1)
        return text[: text.rfind("\n", 0, size)].encode()
    value = json.loads(case.text)
    count = max(round(size / len(case.text)), 1)
    return json.dumps(
        value * count if isinstance(value, list) else {f"part{n}": value for n in range(count)}
    ).encode()


def _measured(tree: Path, folder: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", WORKER, folder],
        env={"PYTHONPATH": str(tree / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: float(seconds) for name, seconds in (line.split() for line in done.stdout.splitlines())}


if __name__ == "__main__":
    sys.exit(main())
