"""Writes records as a process of its own: PATH BATCHES RECORDS, to which `limit=BYTES` bounds what a file may have."""

import resource
import signal
import sys
from pathlib import Path

from brimgate.watch.recorder import Recorder
from tests.watch.made_records import Told, decision, telemetry


def say(word: str, told: Told) -> None:
    sys.stdout.write(" ".join([word, *sorted(set(told.events))]) + "\n")


def main(path: str, batches: str, records: str, limit: str = "") -> None:
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        most = int(limit.removeprefix("limit="))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    told = Told()
    recorder = Recorder(telemetry(Path(path)), told)
    for _ in range(int(batches)):
        for _ in range(int(records)):
            recorder.take(decision())
        recorder.flush()
    if limit:
        say("limited", told)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    recorder.close(120)
    say("closed", told)


if __name__ == "__main__":
    main(*sys.argv[1:])
