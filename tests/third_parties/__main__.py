"""Prints what other people's servers and clients get through Brimgate: `python -m tests.third_parties [NAME…]`.

A name is part of that of a server or client; without one all are asked. What is not installed is said.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.third_parties.bars import LEAST_SHARE
from tests.third_parties.environments import what_is_missing
from tests.third_parties.measures import measure
from tests.third_parties.readers import READERS, SHAPES, Reader, read_all
from tests.third_parties.servers import BROWSERS, SERVERS, Place, Server, made_place


def say(*columns: object) -> None:
    line = f"{columns[0]!s:24}{columns[1]!s:26}" + "".join(f"{column!s:>9}" for column in columns[2:])
    sys.stdout.write(line.rstrip() + "\n")
    sys.stdout.flush()


def show_server(server: Server, place: Place, folder: Path) -> None:
    if missing := what_is_missing(server.environment):
        say(server.name, missing)
        return
    for question in server.questions:
        got = measure(server, question, place, folder / server.name.replace("/", "-") / question)
        exact = "yes" if got.is_exact else "no"
        sizes = (got.tokens, got.first_tokens, got.budget, f"{got.share:.0%}")
        say(server.name, question, *sizes, got.replies, exact, got.called.count(got.wanted[-1]))
        if got.difference:
            say("", got.difference)
        if got.share < LEAST_SHARE and not got.is_complete:
            say("", f"begins: {got.begins[:300]!r}")


def show_reader(reader: Reader, folder: Path) -> None:
    if missing := what_is_missing(reader.environment):
        say(reader.name, missing)
        return
    for shape in SHAPES:
        try:
            got = read_all(reader, shape, folder / reader.name / shape)
        except AssertionError as failed:
            say(reader.name, shape, "failed")
            say("", str(failed).strip()[-300:])
            continue
        say(reader.name, shape, got.replies, got.missing, got.repeated, got.called)
        if got.missing:
            say("", f"ends: {got.last[:200]!r}")


def main(names: list[str]) -> None:
    def is_asked(name: str) -> bool:
        return not names or any(part in name for part in names)

    with TemporaryDirectory() as folder, made_place(Path(folder)) as place:
        say("server", "question", "tokens", "first", "budget", "share", "replies", "exact", "calls")
        for server in (*SERVERS, *BROWSERS):
            if is_asked(server.name):
                show_server(server, place, Path(folder) / "journals")
        say("", "")
        say("client", "answer", "replies", "missing", "repeated", "calls")
        for reader in READERS:
            if is_asked(reader.name):
                show_reader(reader, Path(folder) / "readers")


if __name__ == "__main__":
    main(sys.argv[1:])
