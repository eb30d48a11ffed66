"""
The gateways that share objects out among them: which owns what, and sessions with them. A read at its owner needs no transfer
between gateways. What an owner does not do, the gateway that the client was given does: home.
"""

from __future__ import annotations

import _thread
import ctypes
import ipaddress
import json
import socket
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import urllib3

from railhead import _native, errors
from railhead._http import Opener, signed
from railhead._memory import Region
from railhead._session import Session
from railhead._settings import Settings, checked_endpoint

_LOOK_SECONDS = 30.0
_DOUBT_SECONDS = 1.0  # before home is asked again, after an owner could not be reached
_ANSWER_SECONDS = 5.0
_ANSWER_BYTES = 1 << 20
_LONGEST_SECONDS = 60.0  # for an owner that hangs to be given up
_PAUSE_SECONDS = 6.0  # before an owner is tried again; twice as long each time, up to 16 times
_MOST_DOUBLINGS = 4


class _Work:
    """
    What one thread does at a time, and again where somebody asked meanwhile. Who asks does not wait. Its own threads alone take
    `busy`, but where none can be started: an interrupt, which comes to the main thread, would leave it locked.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._is_asked = False
        self._aside: deque[tuple[Callable[[], object], threading.Lock]] = deque()  # each with what is released afterwards
        self._coming = threading.Lock()  # held until the last thread that was started looks what there is to do
        self.busy = threading.Lock()     # held by who is at it
        self._by = 0                     # the thread that is

    def ask(self) -> None:
        """For it to be done on a thread of its own."""
        self._is_asked = True
        self._begin()

    def aside(self, work: Callable[[], object], *, wait: bool) -> None:
        """Something else, by that thread. `wait`: returns when it is done, or who is at it does not come to an end."""
        if self._by == threading.get_ident():
            work()
            return
        done = threading.Lock()
        done.acquire()
        self._aside.append((work, done))
        has_thread = self._begin()
        if wait and has_thread:
            done.acquire(timeout=_LONGEST_SECONDS)
        elif wait:
            self._run()

    def _begin(self) -> bool:
        """False where there are no more threads, as when the program ends."""
        if self.busy.locked() or self._coming.locked():
            return True
        coming = threading.Lock()
        coming.acquire()
        try:
            _thread.start_new_thread(self._come, (coming,))  # at once or not at all, whenever an interrupt comes
        except RuntimeError:
            return False
        self._coming = coming
        return True

    def _come(self, coming: threading.Lock) -> None:
        coming.release()
        self._run()

    def _run(self) -> None:
        if not self.busy.acquire(blocking=False):
            return  # who is at it looks again
        try:
            self._by = threading.get_ident()
            while self._is_asked or self._aside:
                self._do()
        finally:
            self._by = 0
            self.busy.release()
            if self._is_asked or self._aside:  # since it looked
                self._begin()

    def _do(self) -> None:
        while self._aside:
            work, done = self._aside.popleft()
            try:
                work()
            finally:
                done.release()
        if self._is_asked:
            self._is_asked = False
            self._work()


class _Member:
    """
    Another gateway. Threads: calls read `session` and what it knows, and add to `wanted`; all else is changed by who holds
    `work.busy` alone, and may wait for the gateway.
    """

    def __init__(self, settings: Settings, work: Callable[[_Member], object]) -> None:
        self._settings = settings
        self.work = _Work(lambda: work(self))
        self.session: Session | None = None
        self._opened: tuple[weakref.ref[Session], ...] = ()
        self.wanted: set[Region] = set()
        self.is_over = False  # it owns nothing any more
        self.is_due = False   # its session's credentials may have been renewed
        self._failures = 0
        self._retry_at = 0.0

    @property
    def sessions(self) -> list[Session]:
        """The session, and those that were in its place while calls are in them."""
        return [session for ref in self._opened if (session := ref()) is not None]

    def is_to_be_settled(self, *, has_ended: bool) -> bool:
        """Whether something is to be done that can be done now. `has_ended`: its session, as far as is known."""
        session = self.session
        if self.is_over or self.is_due:
            return session is not None
        is_lacking = session is None or has_ended or not self.wanted <= session.handles.keys()
        return is_lacking and time.monotonic() >= self._retry_at

    def has_released(self) -> bool:
        """Whether one of its sessions knows memory that was released."""
        return any(region.is_released for session in self.sessions for region in list(session.handles))

    def settle(self, fabric: int) -> bool:
        """Opens a session, and lets it know of the memory that is wanted alone; False where the gateway cannot be reached."""
        self.is_due = False
        if self.is_over:
            self.session = None
            return True
        try:
            session = self._standing(fabric)
            for region in self.wanted.copy().difference(session.handles):
                self._register(region, session)
            is_done = session.is_open()  # memory that it is told of may end it
        except (errors.RailheadError, OSError, ValueError, MemoryError):
            is_done = False
        if is_done:
            self._failures, self._retry_at = 0, 0.0
        else:
            self._retry_at = time.monotonic() + _PAUSE_SECONDS * (1 << min(self._failures, _MOST_DOUBLINGS))
            self._failures += 1
        return is_done

    def _standing(self, fabric: int) -> Session:
        """
        It ends with its credentials. One that is replaced, or is no owner's any more, closes after the last call that has
        something under way in it: never while a call may look into it. That is this thread's: it may wait for the gateway.
        """
        session = self.session
        if session is not None and not session.is_open():
            self.session = session = None
        if session is None or (self._settings.are_renewed and session.credentials != self._settings.credentials()):
            session = Session(self._settings, fabric, Opener(self._settings), owner=True)
            session.closes_by(partial(_close_aside, weakref.ref(self.work)))
            self._opened = *(ref for ref in self._opened if ref() is not None), weakref.ref(session)
            self.session = session
        return session

    def give_back(self) -> None:
        """Returns when the gateway has let go of memory that was released, in the sessions that were replaced, too."""
        for session in self.sessions:
            for region in [region for region in list(session.handles) if region.is_released]:
                if buffer := session.handles.pop(region):
                    session.release(buffer)

    def _register(self, region: Region, session: Session) -> None:
        """What it does not take goes home. OSError where there are no more descriptors."""
        twin = region.twin()
        if twin is None:
            self.wanted.discard(region)
            return
        buffer = 0
        try:
            with suppress(errors.RailheadError, OSError, MemoryError, ValueError):
                buffer = twin.register(session)
        finally:
            session.handles[region] = buffer
            twin.release()

    def end(self) -> None:
        """After the last call."""
        sessions = self.sessions
        self.session = None
        self.wanted.clear()
        for session in sessions:
            session.close()


def _close_aside(work: weakref.ref[_Work], close: Callable[[], object]) -> None:
    """By who drops a session last, which may be an event loop. Where nobody has the member any more, there."""
    there = work()
    if there is None:
        close()
    else:
        there.aside(close, wait=False)


@dataclass(frozen=True)
class _Placement:
    """`run`: bytes. `members`: None is home; `hashes` are of their names."""

    run: int
    hashes: ctypes.Array[ctypes.c_uint64]
    members: tuple[_Member | None, ...]

    def owner(self, bucket: str, key: str, first: int) -> _Member | None:
        names = [name.encode(errors="replace") for name in (bucket, key)]  # others no gateway takes
        at: int = _native.library().railhead_owner(self.hashes, len(self.members), *names, first // self.run)
        return self.members[at]


class Owners:
    """
    Threads: any. No call waits here: sessions are opened, memory is registered, and home is asked who owns what, on threads of
    its own. Those hold this, and not the client.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.RLock()  # of the members; who holds it waits for nothing
        self._members: dict[str, _Member] = {}
        self._over: list[_Member] = []  # those that may have something under way
        self._placement: _Placement | None = None
        self._own: set[str] = set()     # buckets of which each gateway has its own objects
        self._fabric = 0
        self._look = _Work(self._look_now)
        self._look_at = float("inf")
        self._is_closed = False

    def begin(self, fabric: int) -> None:
        """There is a session with home, by this fabric."""
        self._fabric = fabric
        if _native.knows_owners():
            self._look_at = 0.0
            self.look_if_due()

    @property
    def are_known(self) -> bool:
        """Whether objects are shared out, and others may own something."""
        self.look_if_due()
        return self._placement is not None

    def session(self, bucket: str, key: str, first: int, region: Region | None = None) -> Session | None:
        """One with the owner of the byte, which knows the region; None: home is to be asked. Does not wait."""
        placement = self._placement
        member = placement.owner(bucket, key, first) if placement is not None and bucket not in self._own else None
        if member is None:
            return None
        session = member.session
        is_open = session is not None and session.is_open()  # nobody frees it while there is a call
        if is_open and (region is None or region.is_known(session)):
            return session
        if region is not None:
            member.wanted.add(region)
        self._settle(member, has_ended=not is_open)
        return None

    def is_own(self, bucket: str) -> None:
        """Objects of the bucket are each gateway's own, as an owner said."""
        self._own.add(bucket)

    def give_back(self, region: Region, *, wait: bool) -> None:
        """A released region. `wait`: returns when no owner touches it any more. Else it is kept mapped for as long as one may."""
        for member in self._all():
            member.wanted.discard(region)
            if not wait:
                self._settle(member)
            elif member.sessions:
                member.work.aside(member.give_back, wait=True)

    def __str__(self) -> str:
        """With how many of the others there is a session, as far as calls know; empty where nothing is shared out."""
        placement = self._placement
        others = {member for member in placement.members if member is not None} if placement is not None else set()
        standing = [member for member in others if member.session is not None]
        return f"sessions with {len(standing)} of {len(others)} other gateways" if others else ""

    def sessions(self) -> list[Session]:
        """All in which a call may have something under way."""
        return [session for member in self._all() for session in member.sessions]

    def _all(self) -> list[_Member]:
        with self._lock:
            return [*self._members.values(), *self._over]

    # ---- On threads of its own ----

    def _settle(self, member: _Member, *, has_ended: bool = False) -> None:
        """Looks into no session, which the member's own thread may be about to free."""
        is_due = member.has_released() or member.is_to_be_settled(has_ended=has_ended)
        if is_due and not self._is_closed:
            member.work.ask()

    def _settle_now(self, member: _Member) -> None:
        has_ended = member.session is not None and not member.session.is_open()
        if member.is_to_be_settled(has_ended=has_ended) and not self._is_closed and not member.settle(self._fabric):
            self._look_at = min(self._look_at, time.monotonic() + _DOUBT_SECONDS)
        member.give_back()  # what was released while it was registered, too
        if self._is_closed:
            member.end()  # who closed may not have waited

    def look_if_due(self) -> None:
        """By calls: who reads nothing asks nothing."""
        if time.monotonic() >= self._look_at and not self._is_closed:
            self._look.ask()

    def _look_now(self) -> None:
        self._look_at = time.monotonic() + _LOOK_SECONDS
        with suppress(errors.RailheadError, OSError, ValueError, urllib3.exceptions.HTTPError):
            self._place(_ask(self._settings))
        are_renewed = self._settings.are_renewed
        for member in self._all():
            member.is_due |= are_renewed
            self._settle(member)

    def _place(self, answer: Any) -> None:
        rule, run, urls = _placement_of(answer)
        own = None if rule != _native.PLACEMENT_RULE else {name: self._url_of(url) for name, url in urls.items()}
        with self._lock:
            if self._is_closed:
                return
            before, self._members = self._members, {}
            members = [] if own is None or len(own) < 2 else [self._member(url, before) for url in own.values()]
            hashes = [_native.library().railhead_member(name.encode()) for name in (own or {})] if members else []
            self._placement = _Placement(run, (ctypes.c_uint64 * len(hashes))(*hashes), tuple(members)) if any(members) else None
            self._own = set()
            for url, member in before.items():
                if url not in self._members:
                    member.is_over = True
                    self._over.append(member)
            self._over = [member for member in self._over if member.sessions or member.work.busy.locked()]

    def _member(self, url: str, before: dict[str, _Member]) -> _Member | None:
        if not url:
            return None
        if url not in self._members:
            self._members[url] = before.get(url) or _Member(replace(self._settings, endpoint=url, fallback=None),
                                                             self._settle_now)
        return self._members[url]

    def _url_of(self, url: str) -> str:
        """Empty where home takes what the member owns."""
        try:
            found = checked_endpoint("a member", url)
        except ValueError:
            return ""
        is_downgrade = self._settings.endpoint.startswith("https:") and not found.startswith("https:")
        is_out_of_reach = self._fabric == _native.LOOPBACK and not _is_here(urlsplit(found).hostname or "")
        return "" if found == self._settings.endpoint or is_downgrade or is_out_of_reach else found

    # ---- The end ----

    def close(self, *, wait: bool) -> None:
        """
        After the last call. `wait`: returns when all gateways have let go of the memory. Else, as by the garbage collector, a
        thread that is at work with one of them does so.
        """
        with self._lock:
            self._is_closed = True
            self._placement = None
        for member in self._all():
            if wait or member.sessions:
                member.work.aside(member.end, wait=wait)


def _placement_of(answer: Any) -> tuple[str, int, dict[str, str]]:
    """Of the gateway's answer the rule, a run's bytes, and the members' URLs by name; ValueError where it makes no sense."""
    placement = answer.get("placement") if isinstance(answer, dict) else None
    if placement is None:
        return "", 0, {}
    rule, run, members = (placement.get(name) for name in ("rule", "run", "members"))
    if rule != _native.PLACEMENT_RULE:
        return "", 0, {}
    if not isinstance(run, int) or run < 1 or not isinstance(members, dict) or not all(
            isinstance(url, str) for url in members.values()):
        raise ValueError("the gateway's placement is none")
    return rule, run, members


def _ask(settings: Settings) -> Any:
    """What the gateway says of itself and the others."""
    url = f"{settings.endpoint}/.railhead/endpoints"
    with urllib3.PoolManager(ca_certs=settings.ca, retries=False) as pool:
        answer = pool.request("GET", url, headers=signed(settings, "GET", url), timeout=_ANSWER_SECONDS, redirect=False,
                              preload_content=False)
        body = answer.read(_ANSWER_BYTES)
    if answer.status != 200:
        raise errors.Unavailable(f"HTTP {answer.status}")
    return json.loads(body)


def _is_here(host: str) -> bool:
    """Whether it is this host: a gateway of another one may have a socket of the same path."""
    with suppress(OSError, ValueError):
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)[0]
        if ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
            return True
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind(address)
            return True
    return False
