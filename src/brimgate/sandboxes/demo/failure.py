"""Generate the text of a tool that fails deep inside a framework: 50 kB of frames, the cause in the last line."""

import random
from typing import Final

_FRAMES: Final = (
    ("starlette/routing.py", "app", "response = await func(request)"),
    (
        "sqlalchemy/engine/base.py",
        "_execute_context",
        "self.dialect.do_execute(cursor, statement, parameters, context)",
    ),
    ("sqlalchemy/orm/session.py", "execute", "return self._execute_internal(statement, params)"),
    ("stays/sync/calendar.py", "push_availability", "await self.channel.update(listing, nights)"),
    ("stays/sync/channel.py", "update", "return await self._send(Change.of(listing, nights))"),
    ("anyio/_backends/_asyncio.py", "run_sync_in_worker_thread", "return await future"),
    ("psycopg/connection.py", "wait", "return waiting.wait(gen, self.pgconn.socket, interval=interval)"),
    ("tenacity/_asyncio.py", "__call__", "do = await self.iter(retry_state=retry_state)"),
)
_BETWEEN: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
_CAUSE: Final = (
    "psycopg.errors.DeadlockDetected: deadlock detected\nDETAIL:  process 4471 waits for process 4468\n"
)


def failure(size: int = 50_000, seed: int = 29) -> str:
    """Return tracebacks, each the cause of the next, of at least `size` characters."""
    chance = random.Random(seed)  # noqa: S311  # made-up data, not secrets
    parts = ["The calendar of listing 206023 was not pushed.\n\n"]
    length = 0
    while length < size:
        parts += [_traceback(chance, attempt=len(parts) // 2 + 1), _BETWEEN]
        length += len(parts[-2]) + len(_BETWEEN)
    return "".join(parts[:-1]) + _CAUSE


def _traceback(chance: random.Random, attempt: int) -> str:
    frames = "".join(_frame(chance) for _ in range(24))
    return f"Traceback (most recent call last):\n{frames}stays.errors.SyncFailed: attempt {attempt} failed\n"


def _frame(chance: random.Random) -> str:
    path, function, line = chance.choice(_FRAMES)
    return f'  File "/srv/app/{path}", line {chance.randint(20, 2_400)}, in {function}\n    {line}\n'
