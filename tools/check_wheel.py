"""Build the wheel, install it alone in a clean environment, and use it there."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def call(*command: str | Path, **options: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
        call(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", home, ROOT)
        (wheel,) = home.glob("brimgate-*.whl")
        venv.create(home / "env", with_pip=True)
        python = home / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        inside = (python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
        call(*inside, "--require-hashes", "-r", ROOT / "requirements" / "runtime.txt")
        call(*inside, "--no-deps", wheel)
        # From an empty folder, so that the source tree cannot be what is imported.
        out = call(python, "-m", "brimgate", "demo", cwd=home)
        if "exact" not in out or "NOT" in out:
            sys.exit(f"the installed wheel's demo said:\n{out}")
        # The pack is found by its entry point, and its rules and samples are in the wheel.
        call(python, "-m", "brimgate", "measure", cwd=home)
        # So are the declaration of the other and the rules of its paths; the SDK it needs is an extra.
        (home / "brimgate.yaml").write_text("upstreams: {hostaway: {pack: hostaway}}")
        call(python, "-m", "brimgate", "check", "brimgate.yaml", cwd=home)
        call(python, "-c", "from brimgate.rest import BrimgateMiddleware", cwd=home)
        call(
            python,
            "-c",
            "import brimgate.engine.tokens.estimator as t; assert t.Estimator().count('water ' * 9000) > 5000",
            cwd=home,
        )
        print(
            f"wheel: {wheel.name} ({wheel.stat().st_size // 1024} KiB) installed and used in a clean environment"
        )


if __name__ == "__main__":
    main()
