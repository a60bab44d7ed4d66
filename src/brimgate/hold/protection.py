"""The engine with a memory: it puts documents into a store, and cursors lead there."""

import os
import secrets
from base64 import b64decode
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Final

from brimgate.engine.cursor import Binding, Cursor, KeyRing, check_key, peek
from brimgate.engine.decision import asked_outcome
from brimgate.engine.document import Document, Position
from brimgate.engine.policy import USUAL_PAGE, Policy
from brimgate.engine.query import BLOCK, FOCUS, WHOLE, Query, View
from brimgate.engine.replies.formatted import AnswerFormat
from brimgate.engine.replies.reply import Reply
from brimgate.engine.replies.text import Gate
from brimgate.errors import CursorError, OperatorError
from brimgate.hold.live_lists import ListState, LiveList, LiveLists, items_needed
from brimgate.hold.stores.contract import SnapshotStore
from brimgate.platform import create_private, is_private, make_private_dir

KEY_VARIABLE: Final = "BRIMGATE_CURSOR_KEY"
DEFAULT_TTL_SECONDS: Final = 600
_MAX_OPENED_BYTES: Final = 128 << 20
_TOOL: Final = b"\0tool"
"""The key of the tool's name, stored beside its snapshot; keys of views have four bytes."""
_NAMED_VIEWS: Final = {b"": WHOLE, FOCUS.key(): FOCUS, BLOCK.key(): BLOCK}
_USUAL: Final = Policy()


@dataclass(frozen=True)
class Protection:
    """Holds what the engine holds back, and reads on from a cursor."""

    policy: Policy
    ring: KeyRing
    store: SnapshotStore
    ttl_seconds: int = DEFAULT_TTL_SECONDS
    live_lists: LiveLists = field(default_factory=LiveLists)
    opened_documents: "OpenedDocuments" = field(default_factory=lambda: OpenedDocuments())

    def protect(
        self,
        data: bytes,
        binding: Binding,
        now: float,
        answer_format: AnswerFormat | None = None,
        live_list: LiveList | None = None,
    ) -> Reply | None:
        """Return the bounded first reply to an answer, or None when it fits and goes out unchanged."""
        held = self.hold(data, binding, now, live_list)
        document = held.document
        try:
            return Gate(document, self.policy, held.issue, answer_format=answer_format).first()
        except Exception:  # noqa: BLE001  # whatever we got wrong, the answer stays bounded and readable
            return self._last_resort(document, held)

    def _last_resort(self, document: Document, held: "HeldAnswer") -> Reply | None:
        """Return the answer as plain text in chunks. This makes no assumption about the content, so none can fail."""
        plain = replace(self.policy, highlights=False)
        reply = Gate(
            document.as_text, plain, lambda view, at: held.issue(replace(view, scope="text"), at)
        ).first()
        return reply and replace(reply, record=reply.record | {"degraded": True})

    def holding(self, binding: Binding, now: float, answer_format: AnswerFormat | None = None) -> "Holder":
        """Return what holds the parts of one answer."""
        return Holder(self, binding, now, answer_format)

    def hold(
        self, data: bytes, binding: Binding, now: float, live_list: LiveList | None = None
    ) -> "HeldAnswer":
        """Hold an answer.

        `live_list` is given if its list is still being fetched; more of it may have arrived meanwhile.
        """
        state = live_list.state() if live_list is not None else None
        if live_list is None or state is None or state.is_complete:
            return HeldAnswer(self, binding, self._read(data if state is None else state.data), now)
        snapshot = secrets.token_bytes(8)  # another answer may begin with the same items, then differ
        self.live_lists.add(binding.principal, snapshot, live_list, now, now + self.ttl_seconds)
        document = self.opened_documents.of_list(binding.principal, snapshot, live_list, state)
        return HeldAnswer(self, binding, document, now, snapshot)

    def select(self, data: bytes, binding: Binding, query: Query, now: float) -> Reply:
        """Reply to a query about an answer that is not held yet."""
        held = self.hold(data, binding, now)
        reply = Gate(held.document, self.policy, held.issue).read(FOCUS, Position(0), query)
        return replace(reply, outcome=asked_outcome(reply.record["kind"]))

    def read(
        self,
        cursor_text: str,
        binding: Binding,
        query: Query,
        now: float,
        answer_format: AnswerFormat | None = None,
    ) -> Reply:
        held, view, position = self.opened(cursor_text, binding, now)
        return Gate(held.document, self.policy, held.issue, answer_format=answer_format).read(
            view, position, query
        )

    def opened(self, cursor_text: str, binding: Binding, now: float) -> "tuple[HeldAnswer, View, Position]":
        """Return what a cursor leads to: a held answer, the view of it, and where to continue."""
        cursor = self.ring.unseal(cursor_text, binding, int(now // 60))
        document = self._held(cursor, binding, now)
        view = self._view(cursor, binding)
        return HeldAnswer(self, binding, document, now, cursor.snapshot), view, cursor.position

    def live_list(self, cursor_text: str, binding: Binding, now: float) -> LiveList | None:
        """Return the live list of the answer that a cursor leads to, or None if all of it is here."""
        cursor = self.ring.unseal(cursor_text, binding, int(now // 60))
        found = self.live_lists.of(binding.principal, cursor.snapshot, now)
        return None if found is None or found.is_complete else found

    async def fill(self, cursor_text: str, binding: Binding, query: Query, now: float) -> None:
        """Fetch as much of a live list as a query needs. Raise UpstreamError if it cannot be fetched.

        It runs on the event loop, and so asks no store: live lists have a place of their own.
        """
        live_list = self.live_list(cursor_text, binding, now)
        if live_list is not None:
            held, view, position = self.opened(cursor_text, binding, now)
            limit = query.limit or view.limit or self.policy.page_size
            await live_list.reach(items_needed(held.document, view, position, query, limit))

    def section(self, cursor_text: str, binding: Binding, path: str, now: float) -> bytes:
        """Return the value at a path of a held answer, as it was sent."""
        cursor = self.ring.unseal(cursor_text, binding, int(now // 60))
        document = self._held(cursor, binding, now)
        return document.raw(document.resolve(path))

    def _held(self, cursor: Cursor, binding: Binding, now: float) -> Document:
        principal, snapshot, minute = binding.principal, cursor.snapshot, int(now // 60)
        live_list = self.live_lists.of(principal, snapshot, now)
        if live_list is not None and not (state := live_list.state()).is_complete:
            return self.opened_documents.of_list(principal, snapshot, live_list, state)
        if live_list is not None:
            self._settle(principal, snapshot, live_list.data, now)
        known = self.opened_documents.of(principal, snapshot)
        if known is not None and self.store.renew(principal, snapshot, 0, minute):
            return known
        data = self.store.get(principal, snapshot, minute)
        if data is None:
            self.opened_documents.drop(principal, snapshot)
            raise CursorError
        return self.opened_documents.add(principal, snapshot, self._read(data))

    def _read(self, data: bytes) -> Document:
        return Document.read(data) if self.policy.reads_odd_json else Document(data)

    def _settle(self, principal: str, snapshot: bytes, data: bytes, now: float) -> None:
        """Make a snapshot of a list that is complete."""
        views = self.live_lists.take(principal, snapshot)
        self.store.put(principal, snapshot, data, self.expires_minute(now), int(now // 60))
        for key, view in views.items():
            self.store.put_view(principal, snapshot, key, view)
        self.opened_documents.drop(principal, snapshot)  # it has only the beginning

    def expires_minute(self, now: float) -> int:
        """Return when a cursor that is issued now expires.

        Rounded up to the minute: it lives at least as long as promised, and its text changes only once a minute.
        """
        return int(-(-(now + self.ttl_seconds) // 60))

    def owner(self, cursor_text: str, principal: str, upstream: str) -> Binding:
        """Return the binding that a cursor must have for `read`: the name of the tool is kept beside the answer."""
        tool = self._kept_view(principal, peek(cursor_text).snapshot, _TOOL)
        return Binding(principal, upstream, tool.decode())

    def live_owner(self, cursor_text: str, principal: str, upstream: str) -> Binding | None:
        """Return the same if the cursor leads to a live list, else None. Asks no store."""
        tool = self.live_lists.get_view(principal, peek(cursor_text).snapshot, _TOOL)
        return None if tool is None else Binding(principal, upstream, tool.decode())

    def _kept_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes:
        view = self.live_lists.get_view(principal, snapshot, key)
        if view is None and (principal, snapshot) not in self.live_lists:
            # Of a list that is still being fetched no store knows, and we may be on the event loop.
            view = self.store.get_view(principal, snapshot, key)
        if view is None:
            raise CursorError
        return view

    def _view(self, cursor: Cursor, binding: Binding) -> View:
        if cursor.view in _NAMED_VIEWS:
            return _NAMED_VIEWS[cursor.view]
        return View.unpack(self._kept_view(binding.principal, cursor.snapshot, cursor.view))


@dataclass(frozen=True, slots=True)
class Holder:
    """Holds the parts of one answer, for one caller and tool."""

    protection: Protection
    binding: Binding
    now: float
    answer_format: AnswerFormat | None = None

    def __call__(self, data: bytes, policy: Policy) -> Reply | None:
        """Do as `Protection.protect`, under whatever policy a part needs."""
        protection = replace(self.protection, policy=policy)
        return protection.protect(data, self.binding, self.now, self.answer_format)

    def block(self, raw: bytes) -> str:
        """Hold a content block that is read whole. Return its cursor."""
        return self.protection.hold(raw, self.binding, self.now).issue(BLOCK, Position(0))

    def has(self, cursor: str) -> bool:
        """Return whether there was room for what a cursor leads to, and still is."""
        try:
            self.protection.owner(cursor, self.binding.principal, self.binding.upstream)
        except CursorError:
            return False
        return True


class OpenedDocuments:
    """The documents in use, with the index of what was already opened, so that page k costs a slice.

    A store has only bytes. The most recently used stay opened, as many as fit.
    """

    def __init__(self, most_bytes: int = _MAX_OPENED_BYTES) -> None:
        self._most_bytes = most_bytes
        self._documents: OrderedDict[tuple[str, bytes], Document] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def of(self, principal: str, snapshot: bytes) -> Document | None:
        with self._lock:
            found = self._documents.get((principal, snapshot))
            if found is not None:
                self._documents.move_to_end((principal, snapshot))
            return found

    def of_list(self, principal: str, snapshot: bytes, live_list: LiveList, state: ListState) -> Document:
        """Return the document of a live list as it is now."""
        known = self.of(principal, snapshot)
        if known is not None and len(known.data) == len(state.data):
            return known
        return self.add(principal, snapshot, _document_of(live_list, state))

    def add(self, principal: str, snapshot: bytes, document: Document) -> Document:
        with self._lock:
            self._drop((principal, snapshot))
            self._documents[principal, snapshot] = document
            self._bytes += len(document.data)
            while self._bytes > self._most_bytes and len(self._documents) > 1:
                self._drop(next(iter(self._documents)))
        return document

    def drop(self, principal: str, snapshot: bytes) -> None:
        with self._lock:
            self._drop((principal, snapshot))

    def _drop(self, key: tuple[str, bytes]) -> None:
        found = self._documents.pop(key, None)
        if found is not None:
            self._bytes -= len(found.data)


def _document_of(live_list: LiveList, state: ListState) -> Document:
    expected = 0 if state.is_complete else state.total
    return Document(state.data, expected=expected, growing=live_list.pointer, has_end=state.is_total_known)


class HeldAnswer:
    """One answer on its way into the store; it gets there with its first cursor."""

    def __init__(
        self, protection: Protection, binding: Binding, document: Document, now: float, snapshot: bytes = b""
    ) -> None:
        self._protection = protection
        self._binding = binding
        self.document = document
        self._is_beginning = document.is_beginning
        self._now = now
        self._snapshot = snapshot
        self._is_stored = False
        self.has_issued = False
        """Whether there is a cursor to it."""

    def issue(self, view: View, position: Position) -> str:
        protection = self._protection
        self.has_issued = True
        expires = protection.expires_minute(self._now)
        if not self._snapshot:
            self._snapshot = protection.ring.snapshot_id(self.document.original, self._binding)
        self._keep(_TOOL, self._binding.tool.encode(), expires)
        view = view if view == BLOCK else self._with_choices(view)
        key = b"" if view == WHOLE else view.key()
        if key not in _NAMED_VIEWS:
            self._keep(key, view.pack(), expires)
        return protection.ring.seal(Cursor(self._snapshot, expires, position, key), self._binding)

    def _keep(self, key: bytes, view: bytes, expires: int) -> None:
        """Keep a view, and with the first one the answer itself: beside its live list, or in the store."""
        protection, principal, snapshot = self._protection, self._binding.principal, self._snapshot
        if self._is_beginning and protection.live_lists.put_view(
            principal, snapshot, key, view, 60.0 * expires
        ):
            return
        if not self._is_stored and not self._is_beginning:
            minute = int(self._now // 60)
            if not protection.store.renew(principal, snapshot, expires, minute):
                protection.store.put(principal, snapshot, self.document.original, expires, minute)
            protection.opened_documents.add(principal, snapshot, self.document)
            self._is_stored = True
        protection.store.put_view(principal, snapshot, key, view)

    def _with_choices(self, view: View) -> View:
        """Keep the form and page size that an answer began with in its cursors."""
        policy = self._protection.policy
        form = view.form or ("" if policy.format == _USUAL.format else policy.format)
        # 50 is what REST takes for `auto`.
        limit = view.limit or (0 if policy.default_page_size == USUAL_PAGE else policy.default_page_size)
        return replace(view, form=form, limit=limit)


def ring_from_environment() -> KeyRing | None:
    """Return the keys in BRIMGATE_CURSOR_KEY (base64, comma separated, the first seals), or None."""
    text = os.environ.get(KEY_VARIABLE, "").strip()
    if not text:
        return None
    try:
        return KeyRing(*(b64decode(part, validate=True) for part in text.replace(",", " ").split()))
    except ValueError:
        raise OperatorError(
            f"{KEY_VARIABLE} must be base64, such as the output of: openssl rand -base64 32"
        ) from None


def process_ring() -> KeyRing:
    """Return keys for one process. Its cursors die with it, unless the environment gives keys to share."""
    return ring_from_environment() or KeyRing(secrets.token_bytes(32))


def ring_beside(folder: Path) -> KeyRing:
    """Return keys that outlive the process, from a file beside the file store."""
    given = ring_from_environment()
    if given is not None:
        return given
    home = folder / "keys"
    make_private_dir(home)
    path = home / "cursor.key"
    if not path.exists():
        create_private(path, secrets.token_bytes(32))
    if not path.is_file():
        raise OperatorError(f"{path} should be the file with the cursor key, and is not a file")
    if not is_private(path):
        raise OperatorError(f"{path} can be read by others: chmod 600 {path}")
    key = path.read_bytes()
    check_key(key)
    return KeyRing(key)
