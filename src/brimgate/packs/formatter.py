"""Run a formatter, and handle one that fails: the caller gets an answer in any case (W-R2)."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, NamedTuple

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.decision import AnswerFormat
from brimgate.errors import JsonRefused
from brimgate.packs.pack import Formatter, Pack, Scene

_MAX_ERROR_CHARS: Final = 300
_FAILURE_SECONDS: Final = 2.0
"""The timeout is longer than for a text: an exit code depends on it."""
TINY_BYTES: Final = 40
"""Nothing that tells what an answer of `[]` means is shorter: that is no failure of a formatter."""
_MAX_LEFT_BEHIND: Final = 4
_left_behind: Final = Counter[int]()
"""Abandoned attempts that still run, by formatter: one that hangs must not fill the process with threads."""
_lock: Final = threading.Lock()
_decode: Final = msgspec.json.Decoder(float_hook=Decimal).decode


class Limits(NamedTuple):
    """The time limits of a formatter (W-R6); the tests use others."""

    most_seconds: float = 0.1
    warning_seconds: float = 0.05


_USUAL: Final = Limits()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a formatter's text was not used, or was late."""

    operation: str
    input_bytes: int
    """Of the whole answer."""
    error: str
    elapsed_ms: float
    is_fatal: bool = True
    """If False, the text was used; it only took long."""

    @property
    def fields(self) -> dict[str, Any]:
        """The fields for a log: nothing of the content."""
        return {
            "operation": self.operation,
            "inputBytes": self.input_bytes,
            "error": self.error,
            "elapsedMs": round(self.elapsed_ms, 1),
        }


OnTrouble = Callable[[Trouble], None]


def answer_format_of(
    pack: Pack, tool: str, make_scene: Callable[[bytes], Scene], on_trouble: OnTrouble
) -> AnswerFormat:
    """Return how the pack formats the answers of a tool; `make_scene` gets each document before it is formatted."""

    def answer_format(document: bytes, first: int, total: int | None, answer_bytes: int) -> str | None:
        scene = replace(make_scene(document), first=first, total=total)
        return format_document(pack, tool, document, scene, on_trouble, answer_bytes=answer_bytes)

    return answer_format


def format_document(
    pack: Pack,
    tool: str,
    document: bytes,
    scene: Scene,
    on_trouble: OnTrouble,
    limits: Limits = _USUAL,
    answer_bytes: int | None = None,
) -> str | None:
    """Format the document with the pack's formatter.

    Return None if there is none or its text cannot be used; report the latter, with the size of the whole answer, of
    which the document may be a page.
    """
    formatter = pack.tool(tool).formatter
    if formatter is None:
        return None
    started = time.perf_counter()

    def tell(error: str, *, is_fatal: bool = True) -> None:
        elapsed = (time.perf_counter() - started) * 1_000
        on_trouble(Trouble(tool, answer_bytes or len(document), error, elapsed, is_fatal))

    if _left_behind[id(formatter)] >= _MAX_LEFT_BEHIND:
        tell(f"still at work on {_MAX_LEFT_BEHIND} answers before this one")
        return None
    attempt = _Attempt(pack, formatter, document, scene)
    # Its output is not our data, which is what standard output is for.
    with redirect_stdout(sys.stderr):
        try:
            threading.Thread(target=attempt.run, daemon=True).start()
        except RuntimeError as error:  # too many threads for the system: the abandoned ones count too
            tell(str(error))
            return None
        is_done = attempt.done.wait(limits.most_seconds)
    if not is_done:
        # Nobody can stop it; we do not wait for its result.
        attempt.leave_behind()
        tell(f"took longer than {limits.most_seconds * 1_000:.0f} ms")
        return None
    if attempt.error:
        tell(attempt.error)
        return None
    if attempt.is_longer:
        if len(document) > TINY_BYTES:
            tell("longer than minified JSON")
        return None
    if time.perf_counter() - started > limits.warning_seconds:
        tell(f"slow: over {limits.warning_seconds * 1_000:.0f} ms", is_fatal=False)
    return attempt.text


def failure_of(pack: Pack, document: bytes) -> str:
    """Return the failure that an answer reports, according to its pack.

    Empty also if the pack fails or takes too long.
    """
    told: list[Any] = []

    def ask() -> None:
        with suppress(BaseException):  # it may come from anyone, and must not cost the answer
            told.append(pack.failure(_decode(document)))

    with redirect_stdout(sys.stderr):
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(_FAILURE_SECONDS)
    return told[0] if told and isinstance(told[0], str) else ""


class _Attempt:
    """One run of a formatter, in a thread of its own so that it can be abandoned."""

    def __init__(self, pack: Pack, formatter: Formatter, document: bytes, scene: Scene) -> None:
        self._pack, self._formatter = pack, formatter
        self._document, self._scene = document, scene
        self.done = threading.Event()
        self.text: str | None = None
        """None also for an answer that reports a failure: that needs no formatting."""
        self.error = ""
        self.is_longer = False
        self._is_left_behind = False

    def leave_behind(self) -> None:
        with _lock:
            if not self.done.is_set():
                self._is_left_behind = True
                _left_behind[id(self._formatter)] += 1

    def run(self) -> None:
        try:
            answer = _decode(self._document)
            if self._pack.failure(answer):
                return
            text: Any = self._formatter(answer, self._scene)
            if not isinstance(text, str) or not text.strip():
                # An answer shown as nothing would be lost without a word.
                self.error = f"returned {'nothing' if isinstance(text, str) else repr(type(text).__name__)}, not a text"
                return
            self.is_longer = len(text.encode("utf-8", "surrogateescape")) > len(
                jsontext.canonical(self._document)
            )
            self.text = text
        except BaseException as error:  # noqa: BLE001  # a formatter may come from anyone, and fail in any way
            self.error = _described(error)[:_MAX_ERROR_CHARS]
        finally:
            with _lock:
                self.done.set()
                _left_behind[id(self._formatter)] -= self._is_left_behind


def _described(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:  # noqa: BLE001  # even that is the formatter's code
        said = ""
    if isinstance(error, KeyError):
        return f"the answer lacks {said}"
    if isinstance(error, JsonRefused | msgspec.DecodeError):
        return f"the answer is not JSON: {said}"
    return f"{type(error).__name__}: {said}"
