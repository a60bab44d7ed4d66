"""Calls of real servers that have a large answer, the same on every run."""

import json
import sqlite3
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.world import (
    commands_server,
    everything_server,
    filesystem_server,
    git_server,
    memory_server,
    sqlite_server,
)


@dataclass
class Case:
    """One call that has a large answer."""

    command: list[str]
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


def a_long_file(folder: Path) -> Case:
    lines = (
        f"{n:06d} the quick brown fox {n * 7919 % 10_007} jumps over {n % 13} lazy dogs ✓\n"
        for n in range(46_000)
    )
    path = folder / "long.txt"
    path.write_text("".join(lines))
    assert path.stat().st_size > 2_700_000
    return Case(filesystem_server(folder), "read_text_file", {"path": str(path)})


def a_large_graph(folder: Path) -> Case:
    def entity(n: int) -> dict[str, Any]:
        observed = [f"was seen {n * 31 % 997} times", f"likes {n % 7}"]
        return {"type": "entity", "name": f"e{n}", "entityType": "person", "observations": observed}

    path = folder / "graph.jsonl"
    path.write_text("\n".join(json.dumps(entity(n)) for n in range(2_000)))
    return Case(memory_server(path), "read_graph")


def many_rows(folder: Path) -> Case:
    path = folder / "rows.db"
    database = sqlite3.connect(path)
    database.execute("create table orders (id integer primary key, customer text, total real, note text)")
    rows = ((n, f"customer {n % 997}", n * 1.25, None if n % 3 else f"note {n}") for n in range(20_000))
    database.executemany("insert into orders values (?, ?, ?, ?)", rows)
    database.commit()
    database.close()
    return Case(sqlite_server(path), "execute_sql", {"sql": "select * from orders"})


def a_large_diff(folder: Path) -> Case:
    path = folder / "table.txt"
    path.write_text("".join(f"row {n} = {n * n}\n" for n in range(8_000)))
    author = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    for arguments in (("init",), ("add", "."), (*author, "commit", "-m", "before")):
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)
    path.write_text("".join(f"row {n} = {n * n + n % 2}\n" for n in range(8_000)))
    return Case(git_server(), "git_diff_unstaged", {"repo_path": str(folder)})


def a_long_output(_folder: Path) -> Case:
    return Case(commands_server(), "run_command", {"command": "seq 1 100000"})


def a_long_echo(_folder: Path) -> Case:
    message = " ".join(f"Sentence number {n} is about {n * 37 % 101} things." for n in range(3_000))
    return Case(everything_server(), "echo", {"message": message})
