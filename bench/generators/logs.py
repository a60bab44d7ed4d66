"""Logs in the syntaxes people run into, with a few lines that occur once."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random

from bench.generators import log_messages as say
from bench.generators.encodings import compact, pretty
from bench.generators.log_messages import SLOTS, Message, Surprise
from bench.generators.planting import QUIET_SHARE
from bench.generators.sample import Draft, Mark, Recipe
from bench.generators.vocabulary import EPOCH, SERVICES, ip, skewed, token

Entry = Message | Surprise
# The head line of an entry; `text` is its message, filled in.
Syntax = Callable[[Random, datetime, Entry, str], str]

_SLOT = re.compile(r"\{(\w+)\}")


def log(syntax: Syntax, count: int, messages: Sequence[Message], *surprises: Surprise) -> Recipe:
    def build(rng: Random) -> Draft:
        entries = _entries(rng, count, messages, surprises)
        lines: list[str] = []
        marks: list[Mark] = []
        now = EPOCH
        for entry in entries:
            now += timedelta(seconds=rng.expovariate(1.5))
            name = token(rng)
            text = _fill(rng, entry.text, name)
            if isinstance(entry, Surprise):
                marks.append(Mark(entry.kind, len(lines), (name, *_fragments(entry.text))))
            lines.append(syntax(rng, now, entry, text))
            lines.extend(_trace(rng, entry.trace))
        return "\n".join([*lines, ""]).encode(), marks

    return build


def _as_list(recipe: Recipe) -> Recipe:
    """The log as a list of its lines, as servers with a `tail` tool answer."""

    def build(rng: Random) -> Draft:
        data, marks = recipe(rng)
        return pretty({"source": "stdout", "lines": data.decode().splitlines()}), marks

    return build


def _as_text(recipe: Recipe) -> Recipe:
    """The log as one string of an object, as servers with a shell tool answer."""

    def build(rng: Random) -> Draft:
        data, marks = recipe(rng)
        return compact({"exit_code": 0, "stdout": data.decode(), "stderr": ""}), marks

    return build


def _entries(
    rng: Random, count: int, messages: Sequence[Message], surprises: Sequence[Surprise]
) -> list[Entry]:
    entries: list[Entry] = [*rng.choices(messages, [message.weight for message in messages], k=count)]
    spots = rng.sample(range(int(count * QUIET_SHARE), count), len(surprises))
    for spot, surprise in zip(spots, surprises, strict=True):
        entries[spot] = surprise
    return entries


def _fill(rng: Random, text: str, name: str) -> str:
    return _SLOT.sub(lambda slot: name if slot[1] == "token" else str(SLOTS[slot[1]](rng)), text)


def _fragments(text: str) -> list[str]:
    """The fixed parts long enough to tell a message by."""
    parts = (part.strip(' "') for part in _SLOT.split(text)[::2])
    return [part for part in parts if len(part) >= 12 and '"' not in part]


def _trace(rng: Random, error: str | None) -> list[str]:
    if error is None:
        return []
    lines = ["Traceback (most recent call last):"]
    for module in rng.sample(SERVICES, 3):
        lines += [
            f'  File "/srv/app/{module}.py", line {rng.randint(10, 400)}, in run',
            f"    {module}.call(job)",
        ]
    return [*lines, f"{error}: {rng.choice(SERVICES)} gave up after {rng.randint(1, 30)} s"]


def _comma_time(now: datetime) -> str:
    return now.strftime("%Y-%m-%d %H:%M:%S,") + f"{now.microsecond // 1000:03d}"


def _zulu(now: datetime) -> str:
    return now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _syslog(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    process = "" if entry.source == "kernel" else f"[{rng.randint(400, 32000)}]"
    return f"{now:%b %d %H:%M:%S} mx-0{rng.randint(1, 3)} {entry.source}{process}: {text}"


def _log4j(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return f"{_comma_time(now)} {entry.level:<5} [exec-{rng.randint(1, 16)}] {entry.source} - {text}"


def _hadoop(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return f"{now:%y%m%d %H%M%S} {rng.randint(10, 9999)} {entry.level} {entry.source}: {text}"


def _python(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return f"{_comma_time(now)} - {entry.source} - {entry.level} - {text}"


def _bracketed(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return f"[{_zulu(now)}] [{entry.level.lower()}] [{entry.source}] {text}"


def _glog(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return f"{entry.level[0]}{now:%m%d %H:%M:%S.%f} {rng.randint(1, 40):7d} {entry.source}] {text}"


def _logfmt(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    extra = f" trace_id={token(rng, 16)}" if rng.random() < 0.3 else ""
    return f'time={_zulu(now)} level={entry.level.lower()} component={entry.source} msg="{text}"{extra}'


def _json_line(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    row: dict[str, object] = {
        "ts": _zulu(now),
        "level": entry.level.lower(),
        "logger": entry.source,
        "msg": text,
    }
    if rng.random() < 0.6:
        row |= {"request_id": token(rng, 12), "client": ip(rng)}
    row["cpu_ms"] = skewed(rng, 3, 0.4)
    return json.dumps(row, separators=(",", ":"))


def _tracing(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return f"{_zulu(now)} {entry.level:>5} {entry.source.replace('.', '::')}: {text}"


def _compose(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return f"{rng.choice(SERVICES[:4]) + '-1':<12} | {now:%H:%M:%S} {entry.level:<7} {text}"


def _postgres(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return f"{now:%Y-%m-%d %H:%M:%S.%f} UTC [{rng.randint(900, 31000)}] {entry.source} {entry.level}:  {text}"


def _nginx(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return f"{ip(rng)} - - [{now:%d/%b/%Y:%H:%M:%S} +0000] {text}"


def _bare(rng: Random, now: datetime, entry: Entry, text: str) -> str:
    return text


RECIPES: dict[str, Recipe] = {
    "log-syslog": log(_syslog, 2200, say.MAIL, say.MAIL_ONCE, say.MAIL_LOGIN),
    "log-nginx": log(_nginx, 2000, say.ACCESS, say.ACCESS_500, say.ACCESS_ONCE),
    "log-nginx-bytes": log(_nginx, 3500, say.ACCESS, say.ACCESS_HUGE),
    "log-json-lines": log(_json_line, 1500, say.SHOP, say.SHOP_ERROR, say.SHOP_ONCE),
    "log-json-lines-slow": log(_json_line, 2500, say.SHOP, say.SHOP_SLOW, say.SHOP_FATAL),
    "log-log4j": log(_log4j, 2500, say.SHOP, say.SHOP_ERROR, say.SHOP_SLOW, say.SHOP_ONCE),
    "log-log4j-large": log(_log4j, 16000, say.SHOP, say.SHOP_FATAL, say.SHOP_ONCE),
    "log-hadoop": log(_hadoop, 4000, say.STORAGE, say.STORAGE_ERROR, say.STORAGE_HUGE),
    "log-python-tracebacks": log(_python, 1600, say.WORKER, say.WORKER_ERROR, say.WORKER_ONCE),
    "log-bracketed": log(_bracketed, 1200, say.WORKER, say.WORKER_CRITICAL),
    "log-noisy-errors": log(_python, 2400, say.NOISY, say.NOISY_ONCE),
    "log-glog": log(_glog, 2400, say.SCHEDULER, say.SCHEDULER_ERROR, say.SCHEDULER_ONCE),
    "log-glog-fatal": log(_glog, 900, say.SCHEDULER, say.SCHEDULER_FATAL),
    "log-logfmt": log(_logfmt, 1800, say.STORAGE, say.STORAGE_ERROR, say.STORAGE_ONCE),
    "log-tracing": log(_tracing, 1500, say.STORAGE, say.STORAGE_ONCE),
    "log-compose": log(_compose, 3000, say.SHOP, say.SHOP_ERROR),
    "log-postgres": log(_postgres, 1700, say.DATABASE, say.DATABASE_ERROR, say.DATABASE_SLOW),
    "log-postgres-panic": log(_postgres, 2600, say.DATABASE, say.DATABASE_PANIC),
    "log-build": log(_bare, 2000, say.BUILD, say.BUILD_ERROR),
    "log-list-of-lines": _as_list(log(_log4j, 1300, say.STORAGE, say.STORAGE_ERROR, say.STORAGE_ONCE)),
    "log-in-a-string": _as_text(log(_python, 1500, say.WORKER, say.WORKER_ERROR)),
}
