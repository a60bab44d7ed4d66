"""What Prometheus gets from `serve`: the metrics of this process, and of all workers that serve the same port."""

import asyncio
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from brimgate import __version__
from brimgate.app import worker_metrics
from brimgate.front.mcp.request import HttpExchange
from brimgate.front.mcp.router import answer_document
from brimgate.platform import resident_bytes
from brimgate.relay.protocol import message as rpc
from brimgate.watch.metrics import CONTENT_TYPE, Metrics, exposition, merged
from brimgate.watch.recorder import Recorder

if TYPE_CHECKING:
    from brimgate.front.mcp.peers import Peers

PATH: Final = "/metrics"


class Scrape:
    def __init__(self, recorder: Recorder, look: "Callable[[Metrics], None]") -> None:
        """Create it. `look` sets what is not counted but looked up now, such as the number of sessions."""
        self._recorder, self._look = recorder, look
        self._began = time.time()
        self._workers: tuple[Path, str, Peers] | None = None
        self._telling = asyncio.Lock()

    def join(self, folder: Path, own: str, peers: "Peers") -> None:
        """Be one of several workers, who tell what all of them have counted."""
        self._workers = folder, own, peers

    async def answer(self, exchange: HttpExchange) -> None:
        """Answer with the metrics: to another worker with its own share, to others with all of them."""
        exchange.log_level = "debug"  # it comes every few seconds
        own = await self._own()
        if exchange.is_from_peer:
            await answer_document(exchange, rpc.encode(own))
            return
        documents = [own, *await self._of_others()]
        text = await asyncio.to_thread(lambda: exposition(merged(documents)))
        await exchange.answer(200, text, [(b"content-type", CONTENT_TYPE), (b"cache-control", b"no-store")])

    async def keep_last(self) -> None:
        """Leave what was counted to the workers that stay. We are about to end."""
        if self._workers is not None:
            await self._own()

    async def _of_others(self) -> list[worker_metrics.Document]:
        if self._workers is None:
            return []
        folder, own, peers = self._workers
        answers = await peers.ask_all(PATH)
        return await asyncio.to_thread(worker_metrics.of_others, folder, own, answers)

    async def _own(self) -> dict[str, Any]:
        async with self._telling:  # what is kept must be the last that was told
            await asyncio.to_thread(self._recorder.count)
            self._set_gauges()
            return await asyncio.to_thread(self._told)

    def _told(self) -> dict[str, Any]:
        with self._recorder.counting:  # all of an answer, or nothing of it
            document = self._recorder.metrics.document()
        if self._workers is not None:
            folder, own, _ = self._workers
            worker_metrics.keep(folder, own, document)
        return document

    def _set_gauges(self) -> None:
        metrics = self._recorder.metrics
        metrics.set("brimgate_build_info", (__version__, platform.python_version()))
        metrics.set("process_cpu_seconds_total", (), time.process_time())
        metrics.set("process_resident_memory_bytes", (), resident_bytes())
        metrics.set("process_start_time_seconds", (), self._began)
        metrics.clear("brimgate_alert_active")
        for alert in self._recorder.alerts:
            metrics.set("brimgate_alert_active", (alert["alert"], alert["subject"]))
        self._look(metrics)
