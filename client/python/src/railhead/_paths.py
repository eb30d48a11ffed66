"""Which way bytes go, and why: a session, or plain S3; and the memory that goes with it."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
import weakref
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from railhead import _cuda, _native, errors
from railhead._http import Opener, PlainS3
from railhead._jobs import Piece
from railhead._memory import Region, Regions, View, held
from railhead._owners import Owners
from railhead._ring import Ring, Slot
from railhead._session import Box, Outcome, Session
from railhead._settings import Settings

_RETRY_SECONDS = 10.0  # between a fallback and the next try of a fabric
_RENEW_SECONDS = 30.0  # between two looks whether credentials have been renewed; they are so minutes before they end
_ENDED_CREDENTIALS = ("ExpiredToken", "InvalidToken", "InvalidAccessKeyId")
_LOOK_SECONDS = 0.01   # between two looks of who closes at the calls that are left


@dataclass(frozen=True)
class Report:
    """
    `bytes_by_path`: moved so far. `memory`: how memory that is the program's own is reached. `fallback`: the store that was
    named, and whether it is in use. `build`: librailhead's release, and whether it has verbs. `owners`: of other gateways that
    own parts of objects, with how many there is a session; empty where there is none.
    """

    via: str
    endpoint: str
    reasons: tuple[str, ...]
    bytes_by_path: dict[str, int]
    memory: str
    fallback: str = ""
    build: str = ""
    owners: str = ""

    def __str__(self) -> str:
        moved = ", ".join(f"{path} {count}" for path, count in sorted(self.bytes_by_path.items())) or "none"
        lines = [f"path: {self.via}", f"endpoint: {self.endpoint}", *(f"not used: {reason}" for reason in self.reasons),
                 f"bytes moved: {moved}", f"memory: {self.memory}", *([f"fallback: {self.fallback}"] if self.fallback else []),
                 *([f"owners: {self.owners}"] if self.owners else []), f"build: {self.build}"]
        return "\n".join(lines)


class Paths:
    """
    Threads: any. `_lock` guards the session, the regions and the ring; who holds it may wait for the gateway.

    `calls`: the boxes of those under way. Each enters before its first step, and is discarded by its caller, who tells nobody, so
    that no interrupt comes between. While there is one, the session and all memory stay.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.calls: set[Box] = set()
        self._lock = threading.RLock()
        self._session: Session | None = None
        self._http: PlainS3 | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._ring: Ring | None = None
        self._pinned_by: _cuda.Device | None = None
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()  # with the gateway itself, which know its memory
        self.owners = Owners(settings)
        self._regions = Regions()
        self._gone: deque[Region] = deque()  # those whose arrays are gone, to be released by whoever comes next
        self._reasons: list[str] = []
        self._warned: set[str] = set()
        self._copied_because = ""
        self._retry_at = 0.0
        self._renew_at = float("inf")  # then the session's credentials are looked at
        self._has_stood = False  # any session
        self._moved: Counter[str] = Counter()
        self._is_closing = False
        self._has_ended = False
        self._process = os.getpid()

    # ---- The session ----

    def standing(self) -> Session | None:
        """
        The session, where there is one that stands, and nothing is to be done about it; does not block. For calls, which have
        looked whose process it is.
        """
        session = self._session
        return session if session is not None and session.is_open() and time.monotonic() < self._renew_at else None

    def is_replaced(self, session: Session) -> bool:
        """By one with newer credentials: what is still to be asked for goes there, where memory is registered."""
        return self._session is not session

    def session(self) -> Session | None:
        """A session, or None for plain S3. An error where a fabric was named and cannot be had."""
        with self._lock:
            self.check_open()
            self._sweep()
            standing = self.standing() or self._renewed()
            if standing is not None or self.settings.fabric == "http":
                return standing
            if (self.settings.fabric == "auto" or self._fallback_reason()) and time.monotonic() < self._retry_at:
                self.falls_back("; ".join(self._reasons))
                return None
            self._session = self._connect()
            return self._session

    def enter(self, box: Box) -> None:
        self.calls.add(box)  # before it looks: who closes looks after it has said so
        self.check_open()

    def check_open(self) -> None:
        if self._is_closing:
            raise ValueError("the client is closed")
        if self._process != os.getpid():
            raise AssertionError("a client of another process")

    def _connect(self) -> Session | None:
        # One that has ended closes with the last call that has something under way in it.
        self._session = None
        self._reasons = []
        for name, fabric in (("loopback", _native.LOOPBACK), ("verbs", _native.VERBS)):
            if self.settings.fabric not in ("auto", name):
                continue
            opener = Opener(self.settings)
            try:
                if name == "verbs":
                    self._check_verbs()
                return self._opened(fabric, opener)
            except (errors.RailheadError, OSError) as error:
                self._reasons.append(f"{name}: {error}")
                if self.settings.fallback and opener.failure:
                    self.http().is_gone(opener.failure)
                elif self.settings.fabric != "auto":
                    # Refused by the gateway, or before by who exchanges a token for credentials.
                    status = opener.status or getattr(error, "status", 0)
                    raise self._of_refusal(status)(f"{name} cannot be used: {error}", status=status) from error
        self._retry_at = time.monotonic() + _RETRY_SECONDS
        self.falls_back("; ".join(self._reasons))
        return None

    def _opened(self, fabric: int, opener: Opener) -> Session:
        """Credentials that were revoked are still good as far as botocore knows: others are tried once."""
        account = self.settings.account.session
        try:
            session = Session(self.settings, fabric, opener)
        except errors.RailheadError:
            if opener.code not in _ENDED_CREDENTIALS or not self.settings.are_renewed:
                raise
            self.settings.account.begin_again(account)
            session = Session(self.settings, fabric, opener)
        self._has_stood = True
        self._sessions.add(session)
        self.owners.begin(fabric)
        self._renew_at = time.monotonic() + _RENEW_SECONDS if self.settings.are_renewed else float("inf")
        return session

    def _renewed(self) -> Session | None:
        """
        The session that stands, or another in its place where its credentials were renewed: the gateway ends it with them. The
        old one closes with the last call that has something under way in it.
        """
        session = self._session
        if session is None or not session.is_open():
            return None
        self._renew_at = time.monotonic() + _RENEW_SECONDS
        with suppress(errors.RailheadError, OSError, ValueError):  # until it has ended, it is as good as another
            if self.settings.credentials() != session.credentials:
                self._session = self._opened(session.fabric, Opener(self.settings))
        return self._session

    def _check_verbs(self) -> None:
        """An error where they cannot be had, whoever answers. OSError where there is no library."""
        if not _native.has_verbs():
            raise errors.Unavailable("this librailhead was built without it (no rdma/rdma_cma.h, of librdmacm-dev)")
        if self.settings.fabric == "auto" and not has_adapter():
            raise errors.Unavailable("this host has no RDMA device")

    def _of_refusal(self, status: int) -> type[errors.RailheadError]:
        """Why a fabric that was named cannot be had: of who asks, of the gateway, or of the fabric."""
        if status in (401, 403):
            return errors.AccessDenied
        return errors.ConnectionLost if self._has_stood else errors.Unavailable

    def falls_back(self, reason: str) -> bool:
        """Whether what cannot go by a fabric goes over HTTP; warns, once for each reason."""
        if self.settings.fabric != "auto":
            return False
        if reason not in self._warned:
            warnings.warn(f"plain S3 in place of RDMA: {reason}", errors.FallbackWarning, stacklevel=_outside())
            self._warned.add(reason)  # not where the warning is an error: that is raised each time
        return True

    # ---- Plain S3 ----

    def http(self) -> PlainS3:
        """Also while the client is being closed, for what a call under way has to put in order."""
        with self._lock:
            if self._has_ended:
                self.check_open()
            if self._http is None:
                self._http = PlainS3(self.settings, self._tell_of_fallback)
            return self._http

    def begin(self, piece: Piece, box: Box) -> None:
        """By plain S3, on a thread of its own; its outcome comes to the box."""
        http = self.http()
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(min(self.settings.in_flight, 16), "railhead-http")
            self._threads.submit(_by_http, http, piece, box)

    def _fallback_reason(self) -> str:
        return self._http.gone_because if self._http is not None else ""

    def _tell_of_fallback(self, reason: str) -> None:
        assert self.settings.fallback is not None
        warnings.warn(f"the gateway is gone, and reads go to {self.settings.fallback.endpoint}: {reason}",
                      errors.FallbackWarning, stacklevel=_outside())

    # ---- Memory ----

    @property
    def regions(self) -> Regions:
        """Registered memory."""
        return self._regions

    def region(self, view: View) -> Region | None:
        """Registered memory that the view lies in."""
        return self._regions.around(view)

    def add(self, region: Region) -> None:
        with self._lock:
            self.check_open()
            self._regions = self._regions.with_(region)

    def remove(self, region: Region) -> None:
        """Returns when no gateway touches it any more."""
        with self._lock:
            self._drop(region)
        self.owners.give_back(region, wait=True)

    def _drop(self, region: Region) -> None:
        self._regions = self._regions.without(region)
        region.release(*self._sessions)

    def abandon(self, region: Region) -> None:
        """By the garbage collector, in the midst of whatever a thread does: takes no lock."""
        self._gone.append(region)

    def _sweep(self) -> None:
        while self._gone:
            self._drop(region := self._gone.popleft())
            self.owners.give_back(region, wait=False)

    def register(self, region: Region, session: Session) -> str:
        """Makes the region known to the session; why it has to be copied, where it cannot be."""
        with self._lock:
            self.check_open()
            self._sweep()
            try:
                region.buffer(session)
            except errors.RailheadError as error:
                if not session.is_open():
                    return str(error)
                self._copied_because = str(error)
                self._regions = self._regions.without(region)
                return str(error)
            return ""

    def reaches(self, view: View) -> bool:
        """Whether it is moved without a copy, as far as is known."""
        return self.region(view) is not None or (self.settings.fabric == "http" and view.cuda is None)

    def standing_ring(self, cuda: int | None) -> Ring | None:
        return self._ring if cuda is None or self._pinned_by is not None else None

    def ring(self, cuda: int | None) -> Ring:
        """Pinned, where it is for a GPU."""
        with self._lock:
            self.check_open()
            if self._ring is None:
                self._ring = Ring(self.settings.ring, shared=True)
            if cuda is not None and self._pinned_by is None:
                device = _cuda.device(cuda)
                device.pin(self._ring.region.memory)
                self._pinned_by = device
            return self._ring

    def free(self, slot: Slot) -> None:
        if self._ring is not None:
            self._ring.release(slot)

    def lose(self, slot: Slot) -> None:
        """A slot that a gateway may still touch. Owners have no need of its region any more."""
        held.append(slot)
        if self._ring is not None:
            self._ring.lose(slot)
            self.owners.give_back(slot.region, wait=False)

    def withdraw(self, box: Box) -> list[Slot]:
        """Slots that came to the box; none comes any more."""
        if self._ring is not None:
            self._ring.forget(box)
        return [what for what, _ in box.take() if isinstance(what, Slot)]

    # ---- What is told ----

    def count(self, via: str, moved: int) -> None:
        if moved:
            self._moved[via] += moved

    @property
    def via(self) -> str:
        session = self.session()
        if session is not None:
            return session.via
        return f"http: {'; '.join(self._reasons) or 'asked for'}"

    def report(self) -> Report:
        via = self.via
        memory = f"copied: {self._copied_because}" if self._copied_because else "as it is registered, else copied"
        return Report(via, self.settings.endpoint, tuple(self._reasons), dict(self._moved), memory, self._of_fallback(),
                      _native.build(), str(self.owners))

    def _of_fallback(self) -> str:
        store, reason = self.settings.fallback, self._fallback_reason()
        return "" if store is None else f"{store.endpoint}, {f'in use: {reason}' if reason else 'not used'}"

    # ---- The end ----

    def close(self) -> None:
        """Refuses calls from now on, has those under way cancelled, and frees all when none is left."""
        if self._process != os.getpid():
            return
        if any(box.thread == threading.get_ident() for box in self._under_way()):
            raise RuntimeError("a call of this thread, or of its event loop, is under way, which could not end meanwhile")
        self._is_closing = True
        while under_way := self._under_way():
            for session in self._all_sessions():
                for box in under_way:
                    session.cancel(box)
            time.sleep(_LOOK_SECONDS)
        self.owners.close(wait=True)
        self.end()

    def _all_sessions(self) -> list[Session]:
        session = self._session
        return [*([] if session is None else [session]), *self.owners.sessions()]

    def _under_way(self) -> list[Box]:
        return [box for box in self.calls.copy() if box.is_awaited()]

    def end(self) -> None:
        """After the last call: also by the garbage collector, which waits for none, since each call holds the client."""
        with self._lock:
            if self._has_ended or self._process != os.getpid():
                return
            self._is_closing = self._has_ended = True
            self.owners.close(wait=False)
            if self._threads is not None:
                self._threads.shutdown(wait=True)
            for region in [*self._regions, *self._gone]:
                region.release(*self._sessions)
            if self._ring is not None:
                for region in self._ring.regions:
                    if self._pinned_by is not None:
                        self._pinned_by.unpin(region.memory)
                    region.release(*self._sessions)
            if self._session is not None:
                self._session.close()
            if self._http is not None:
                self._http.close()


def _outside() -> int:
    """How far up the program's own line is, for a warning that names it."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and Path(frame.f_code.co_filename).parent == Path(__file__).parent:
        frame, level = frame.f_back, level + 1
    return level


def _by_http(http: PlainS3, piece: Piece, box: Box) -> None:
    try:
        outcome = piece.job.by_http(http, piece)
    except Exception as error:  # the box carries it to who waits
        outcome = Outcome(_native.STORE, error=error)
    box.put(piece, outcome)


def has_adapter() -> bool:
    devices = Path("/sys/class/infiniband")
    with suppress(OSError):
        return any(devices.iterdir())
    return False
