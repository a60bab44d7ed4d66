"""The bars on `auth`: what it costs a call to know who calls, to count it and to keep it apart from others."""

import asyncio
import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from bench.driver import ROOT
from bench.http import PEERS, PYTHON, RAW_HTTP
from bench.load import Crowd, Process
from bench.report import Row
from brimgate.guard.static_keys import digest_of, new_key

CLIENTS = 16
EACH = 120
"""Calls of each client in one round."""
ROUNDS = 21
TOOL = "bookings-1000"
MOST_ADDED_MS = 0.05
LEAST_TIMES = 15
VERIFIER = [PYTHON, str(ROOT / "bench" / "upstreams" / "verifier.py"), "{port}"]
LIMITS = {"requests": 10**9, "concurrency": 1_000, "sessions": 1_000}


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_rows(Path(folder)))


async def _rows(state: Path) -> list[Row]:
    """Rounds are taken in turns, so that other users of the machine disturb all alike."""
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(RAW_HTTP, state)).wait()
        verifier = stack.enter_context(Process(VERIFIER, state, path="/verify")).wait()
        key = new_key()
        modes: dict[str, dict[str, Any]] = {
            "none": {},
            "static": {"mode": "static", "keys": {"ann": [digest_of(key)]}},
            "upstream_token": {"mode": "upstream_token", "verify_url": verifier.url, "cache_seconds": 3_600},
        }
        crowds: dict[str, Crowd] = {}
        for mode, auth in modes.items():
            command = _gateway(state / f"{mode}.json", upstream.url, auth)
            crowds[mode] = Crowd(
                stack.enter_context(Process(command, state)).wait(), CLIENTS, key if auth else ""
            )
        sdk = [PEERS, "bench/peers/sdk_http.py", upstream.url, "{port}"]
        crowds["sdk"] = Crowd(stack.enter_context(Process(sdk, state)).wait(), CLIENTS)
        rounds = await _measured(crowds)
    return _told(rounds)


def _gateway(path: Path, url: str, auth: dict[str, Any]) -> list[str]:
    document: dict[str, Any] = {"upstreams": {"one": {"url": url}}, "auth": auth, "log_level": "error"}
    path.write_text(json.dumps(document | ({"limits": LIMITS} if auth else {})))
    return [PYTHON, "-m", "brimgate", "serve", "--port", "{port}", "--config", str(path)]


async def _measured(crowds: dict[str, Crowd]) -> dict[str, list[float]]:
    for name, crowd in crowds.items():
        await crowd.open()
        answer = await crowd.call(TOOL)
        assert b'"result"' in answer, f"{name}: {answer[:300]!r}"
        await crowd.cpu_ms_per_call(TOOL, EACH // 4)
    rounds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, crowd in crowds.items():
            each = EACH // 8 if name == "sdk" else EACH
            rounds.setdefault(name, []).append(await crowd.cpu_ms_per_call(TOOL, each))
    for crowd in crowds.values():
        crowd.close()
    return rounds


def _told(rounds: dict[str, list[float]]) -> list[Row]:
    told = ", ".join(f"{name} {median(found):.3f} ms" for name, found in rounds.items())
    out = [Row(f"CPU per call of 1 KB, {CLIENTS} clients, by `auth.mode`, and of the SDK", "", told, True)]
    for mode in ("static", "upstream_token"):
        added = median(
            with_auth - without for with_auth, without in zip(rounds[mode], rounds["none"], strict=True)
        )
        what = f"auth (cached), limit and isolation, over `none`: `{mode}`"
        out.append(Row(what, f"≤ {MOST_ADDED_MS} ms", f"{added:.3f} ms", added <= MOST_ADDED_MS))
    times = median(other / ours for other, ours in zip(rounds["sdk"], rounds["static"], strict=True))
    what = "1 KB with `static`: less CPU than the SDK pass-through"
    return [*out, Row(what, f"≥ {LEAST_TIMES} ×", f"{times:.1f} ×", times >= LEAST_TIMES)]
