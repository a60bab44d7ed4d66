"""Stands before a server and writes down every line that goes in and every line that comes out, byte for byte.

python tap.py FOLDER COMMAND ARGS…
"""

import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import IO, Final

ASKED: Final = "asked.jsonl"
ANSWERED: Final = "answered.jsonl"


def copy(source: IO[bytes], target: IO[bytes], journal: Path) -> None:
    with journal.open("ab", buffering=0) as notes:
        for line in source:
            notes.write(line)
            target.write(line)
            target.flush()


def main(folder: str, *command: str) -> int:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin
        assert server.stdout
        answers = (server.stdout, sys.stdout.buffer, Path(folder) / ANSWERED)
        back = Thread(target=copy, args=answers, daemon=True)
        back.start()
        copy(sys.stdin.buffer, server.stdin, Path(folder) / ASKED)
        server.stdin.close()
        back.join()
    return server.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
