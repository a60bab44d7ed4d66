"""`python -m brimgate.sandboxes.demo`: an MCP server on stdio with answers as large as real ones.

It needs nothing but the standard library, reads no files, and gives the same answers every time.
"""

import sys
from contextlib import suppress

from brimgate.sandboxes.demo.session import Session


def main() -> None:
    session = Session()
    for line in sys.stdin.buffer:
        if answer := line.strip() and session.answer(line):
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
