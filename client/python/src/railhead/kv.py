"""
A namespace of small immutable blocks that a gateway holds in memory, such as the KV cache of an inference engine.

    with railhead.Client() as client, client.kv("s3://kv-llama/rank0/") as blocks:
        blocks.register(arena.ctypes.data, arena.nbytes)
        blocks.put_from(keys, windows)
        held = blocks.prefix(keys)
        blocks.get_into(keys[:held], windows[:held])

A cache may lose what it holds. So `exists`, `prefix`, `lease`, `touch` and `get_into` never raise what a gateway answers: an
error is a miss, counted in `stats()` and logged. Only mistakes in arguments and a closed client are raised, and MemoryHeld by
`get_into` and `put_from`: the gateway may still touch a window of that call, and none of them may be used again.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import os
import threading
import urllib.parse
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from railhead import _memory, _native, errors
from railhead._jobs import Put, Read
from railhead._keys import Keys, ask
from railhead._memory import View
from railhead._options import PutOptions
from railhead._settings import split
from railhead._transfer import Transfer
from railhead._windows import WindowsGet, WindowsPut, around, overlap

if TYPE_CHECKING:
    from railhead._paths import Paths
    from railhead._session import Box
    from railhead._transfer import Steps
    from railhead.client import Client

_LOG = logging.getLogger(__name__)
_AS_BLOCK = PutOptions(if_none_match=True)  # a block that is held moves no bytes
_HELD_STATUS = 412  # of a condition; 409 may mean that another write won, and then nothing needs to be held
_HELD_CODE = "ObjectAlreadyExists"
_NO_ROOM = "SlowDown"  # for this put beside the others that are under way
_THREADS = 4
_MOST_LEASE_MILLIS = 600_000
_MOST_WAIT_SECONDS = 60

# A block's memory: a buffer, an address with a length, or several of these, which the block's bytes fill in turn.
Window = Any


class Written(enum.Enum):
    """What became of one block of `put_from`."""

    STORED = "stored"
    EXISTS = "exists"    # it is held already, and nothing was moved
    REFUSED = "refused"  # it is not stored, or may not be


class Stats(NamedTuple):
    """
    Blocks since the namespace was made. `errors`: how often each kind of error was taken for a miss or a refusal; `last_error`:
    the last one's text.
    """

    hits: int
    misses: int
    stored: int
    existed: int
    refused: int
    deleted: int
    errors: dict[str, int]
    last_error: str


class Usage(NamedTuple):
    """
    Blocks held now, and their memory in bytes; of those that are leased; and the most that all blocks of the tenant may take,
    which it may share with others.
    """

    blocks: int
    bytes: int
    leased_bytes: int
    limit_bytes: int


class Reason(enum.Enum):
    """Why a block was removed: by a client, to make room or by an operator, or at the end of its rule's ttl."""

    DELETED = "d"
    EVICTED = "e"
    EXPIRED = "x"


class Removed(NamedTuple):
    """A block that is gone; its key is without the namespace's prefix."""

    key: str
    reason: Reason


class Removals(NamedTuple):
    """`anew`: removals before these may not have been told; what a caller remembers as held is to be asked for again."""

    removed: list[Removed]
    anew: bool


class Queue:
    """
    Calls that run on threads, and their results behind a descriptor for an event loop of any kind. The descriptor is readable
    while results wait. Threads: any.
    """

    def __init__(self, threads: int = _THREADS) -> None:
        self._threads = ThreadPoolExecutor(threads, "railhead-kv")
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._lock = threading.Lock()
        self._results: deque[tuple[int, Any]] = deque()
        self._last = 0

    def submit(self, call: Callable[[], Any]) -> int:
        """Returns the number that `drain` has with the result, from 1 on."""
        with self._lock:
            self._last += 1
            number = self._last
        self._threads.submit(self._run, number, call)
        return number

    def _run(self, number: int, call: Callable[[], Any]) -> None:
        try:
            result = call()
        except BaseException as error:  # whoever drains has it
            result = error
        with self._lock:
            self._results.append((number, result))
            if self._event >= 0:
                os.eventfd_write(self._event, 1)

    def event_fd(self) -> int:
        """To be polled, and never read or closed."""
        return self._event

    def drain(self) -> list[tuple[int, Any]]:
        """What is done: each call's number, and its result or what it raised. Never waits."""
        with self._lock:
            if self._event < 0:
                raise ValueError("the queue is closed")
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self._event)
            done = list(self._results)
            self._results.clear()
        return done

    def close(self) -> None:
        """Waits for the calls under way; those that wait their turn are dropped."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            if self._event >= 0:
                os.close(self._event)
                self._event = -1


class KV:
    """Blocks under one URL. Threads: any. A window is the gateway's from the call until it returned."""

    def __init__(self, client: Client, url: str) -> None:
        self._client = client
        self._url = url
        split(url, with_key=False)
        self._registered = contextlib.ExitStack()
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._last_error = ""
        self._queue: Queue | None = None
        self._closed = False

    def __enter__(self) -> KV:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends what `submit_...` began, and gives back the registered memory. The client stays open."""
        with self._lock:
            queue, self._queue = self._queue, None
            self._closed = True
        if queue is not None:
            queue.close()
        self._registered.close()

    def register(self, ptr: int, nbytes: int) -> None:
        """Lets the gateway move bytes to and from this memory directly, where it can, until `close`; else they are copied."""
        self._registered.enter_context(self._client.register(View(ptr, nbytes, None)))

    # ---- Blocks ----

    def exists(self, keys: Sequence[str | bytes]) -> list[bool]:
        """Which keys are held. A key of bytes is a hash, and stands for its hexadecimal digits."""
        job = self._ask(_native.EXISTS, keys)
        return job.flags if job is not None else [False] * len(keys)

    def prefix(self, keys: Sequence[str | bytes]) -> int:
        """How many keys are held before the first that is not."""
        job = self._ask(_native.PREFIX, keys)
        return job.leading() if job is not None else 0

    def lease(self, keys: Sequence[str | bytes], seconds: float) -> list[bool]:
        """
        Keeps blocks from being evicted for so long, 10 minutes at most: which are leased. One that is not held is not, nor one
        beyond the tenant's share of leases. A lease ends by itself; another call renews it. S3 has no leases: without a
        gateway's channel none is given.
        """
        millis = round(seconds * 1000)
        if not 0 < millis <= _MOST_LEASE_MILLIS:
            raise ValueError(f"seconds must be more than 0, and at most {_MOST_LEASE_MILLIS // 1000}: {seconds}")
        job = self._ask(_native.LEASE, keys, millis)
        return job.flags if job is not None else [False] * len(keys)

    def touch(self, keys: Sequence[str | bytes]) -> list[bool]:
        """Counts a use of each block, so that others are evicted before it: which are held."""
        job = self._ask(_native.TOUCH, keys)
        return job.flags if job is not None else [False] * len(keys)

    def get_into(self, keys: Sequence[str | bytes], windows: Sequence[Window]) -> list[bool]:
        """
        Reads each block into its window. True: it was held and filled the window exactly; else the content is undefined. It
        raises MemoryHeld where the gateway may still write a window: the call's windows are not to be used again.
        """
        wanted = [(self._url + name, _views(window, writable=True))
                  for name, window in zip(_names(keys), windows, strict=True)]
        hits = self._get_by_lists(wanted)
        left = [at for at in range(len(wanted)) if at not in hits]
        hits.update(zip(left, self._get_by_parts([wanted[at] for at in left]), strict=True))
        self._count(hits=sum(hits.values()), misses=len(hits) - sum(hits.values()))
        return [hits[at] for at in range(len(wanted))]

    def _get_by_lists(self, wanted: Sequence[tuple[str, list[View]]]) -> dict[int, bool]:
        """Blocks with several pieces of one region of memory, each by one request: those that a gateway served so."""
        jobs: dict[int, WindowsGet] = {}
        for at, (url, views) in enumerate(wanted):
            span = self._span(views)
            if span is not None and not overlap(views):
                jobs[at] = WindowsGet(url, views, span)
        self._transfer(list(jobs.values()))
        _raise_held(job.error for job in jobs.values())
        served = {at: job for at, job in jobs.items() if not isinstance(job.error, errors.NotServed)}
        for job in served.values():
            if job.error is not None and not isinstance(job.error, errors.NotFound):
                self._failed(job.error)
        return {at: job.fits() for at, job in served.items()}

    def _get_by_parts(self, wanted: Sequence[tuple[str, list[View]]]) -> list[bool]:
        """Each piece by a request of its own, all of one version."""
        reads: list[Read] = []
        for url, views in wanted:
            start = 0
            for view in views:
                reads.append(Read(url, view, start))
                start += view.nbytes
        try:
            got = self._client.get_many(reads, return_exceptions=True) if reads else []
        except errors.MemoryHeld:
            raise
        except (errors.RailheadError, OSError) as error:
            self._failed(error)
            return [False] * len(wanted)
        _raise_held(got)
        each = iter(got)
        return [self._is_hit(views, [next(each) for _ in views]) for _, views in wanted]

    def _span(self, views: list[View]) -> View | None:
        """The memory that holds all of several pieces, if a gateway reaches it."""
        span = around(views)
        return span if span is not None and self._client._paths.region(span) is not None else None

    def _is_hit(self, views: list[View], got: list[Any]) -> bool:
        for each in got:
            if isinstance(each, Exception):
                if not isinstance(each, errors.NotFound):
                    self._failed(each)
                return False
        total = sum(view.nbytes for view in views)
        return bool(got) and all(each.length == view.nbytes and each.size == total and each.etag == got[0].etag
                                 for each, view in zip(got, views, strict=True))

    def put_from(self, keys: Sequence[str | bytes], windows: Sequence[Window]) -> list[Written]:
        """
        Stores each window as a block. Several pieces of one registered region go as they are, others are joined by a copy. What
        has no room beside others is put again after those, as long as some are stored. It raises MemoryHeld where the gateway may
        still read a window: the call's windows are not to be used again.
        """
        wanted = [(self._url + name, _views(window, writable=False))
                  for name, window in zip(_names(keys), windows, strict=True)]
        jobs = self._put_by_lists([self._put_of(url, views) for url, views in wanted])
        left = [at for at, job in enumerate(jobs) if job.outcome is None and self._is_sendable(job)]
        while left:
            self._send([jobs[at] for at in left])
            again = [at for at in left if getattr(jobs[at].error, "code", "") == _NO_ROOM]
            not_served = [at for at in left if _is_to_be_copied(jobs[at])]
            if len(again) == len(left):
                break
            for at in again:
                jobs[at].error = None
            for at in not_served:
                jobs[at] = _copied(jobs[at])
            left = sorted(again + [at for at in not_served if self._is_sendable(jobs[at])])
        written = [self._written(job) for job in jobs]
        self._count(stored=written.count(Written.STORED), existed=written.count(Written.EXISTS),
                    refused=written.count(Written.REFUSED))
        return written

    def _put_of(self, url: str, views: list[View]) -> Put:
        span = self._span(views)
        return Put(url, _joined(views), _AS_BLOCK) if span is None else WindowsPut(url, views, span, _AS_BLOCK)

    def _put_by_lists(self, jobs: list[Put]) -> list[Put]:
        """Sends those with several pieces of memory: the same jobs, but for those that were not served, and wait to be copied."""
        self._send([job for job in jobs if isinstance(job, WindowsPut)])
        for job in jobs:
            if getattr(job.error, "code", "") == _NO_ROOM:
                job.error = None
        return [_copied(job) if _is_to_be_copied(job) else job for job in jobs]

    def _send(self, jobs: Sequence[Put]) -> None:
        self._transfer(jobs)
        _raise_held(job.error for job in jobs)

    def _transfer(self, jobs: Sequence[Put | WindowsGet]) -> None:
        if not jobs:
            return

        def call(paths: Paths, box: Box) -> Steps[None]:
            yield from Transfer(paths, box, fail_fast=False).run(jobs)

        try:
            self._client._run(call)
        except errors.MemoryHeld:
            raise
        except (errors.RailheadError, OSError) as error:
            for job in jobs:
                if job.outcome is None:
                    job.fail(error)

    def _is_sendable(self, job: Put) -> bool:
        ring = self._client._paths.settings.ring
        if job.view.nbytes > ring and not self._client._paths.reaches(job.view):
            job.fail(ValueError(f"{job.view.nbytes} bytes of memory that is not registered do not fit into the ring"))
        return job.error is None

    def _written(self, job: Put) -> Written:
        if job.error is None:
            return Written.STORED
        if getattr(job.error, "status", 0) == _HELD_STATUS or getattr(job.error, "code", "") == _HELD_CODE:
            return Written.EXISTS
        self._failed(job.error)
        return Written.REFUSED

    def delete(self, keys: Sequence[str | bytes]) -> list[bool]:
        """Removes blocks: which are gone. One that was never there is gone; one that the caller may not remove stays."""
        job = Keys(_native.DELETE, self._url, _names(keys))
        if keys:
            self._run(job)
        self._count(deleted=sum(job.flags))
        return job.flags

    def clear(self) -> int:
        """Removes all blocks of the namespace that the caller may remove: their number."""
        removed = 0
        while True:
            job = Keys(_native.DELETE_PREFIX, self._url)
            self._run(job)
            if job.count == 0:
                self._count(deleted=removed)
                return removed
            removed += job.count

    def usage(self) -> Usage:
        """What the blocks of the namespace take that the caller may read. The gateway looks at each, so ask seldom."""
        job = Keys(_native.USAGE, self._url)
        self._run(job)
        return Usage(job.count, job.number("x-railhead-bytes"), job.number("x-railhead-leased-bytes"),
                     job.number("x-railhead-limit-bytes"))

    def removals(self, seconds: float = 10.0) -> Removals:
        """
        Waits for blocks of the namespace to be removed, so long at most, and never longer than half of the client's deadline.
        The first call begins a subscription of the client's session, and returns at once with `anew`. From then on no removal is
        missed between calls, but for those that `anew` reports: the client was too slow, or had to open another session. One call
        at a time waits. Only keys that the caller may read are told. S3 tells no removals.
        """
        if seconds <= 0:
            raise ValueError(f"seconds must be more than 0: {seconds}")
        most = min(seconds, _MOST_WAIT_SECONDS, self._client._paths.settings.deadline / 2)
        job = Keys(_native.REMOVALS, self._url, (), max(1, int(most * 1000)))
        self._run(job)
        return Removals([_removed(each, self._url) for each in job.line("x-railhead-removed").split()],
                        job.line("x-railhead-anew") == "1")

    # ---- Calls that do not block ----

    def submit_exists(self, keys: Sequence[str | bytes]) -> int:
        return self._submit(lambda: self.exists(keys))

    def submit_prefix(self, keys: Sequence[str | bytes]) -> int:
        return self._submit(lambda: self.prefix(keys))

    def submit_get(self, keys: Sequence[str | bytes], windows: Sequence[Window]) -> int:
        return self._submit(lambda: self.get_into(keys, windows))

    def submit_put(self, keys: Sequence[str | bytes], windows: Sequence[Window]) -> int:
        return self._submit(lambda: self.put_from(keys, windows))

    def submit_delete(self, keys: Sequence[str | bytes]) -> int:
        return self._submit(lambda: self.delete(keys))

    def submit_removals(self, seconds: float = 10.0) -> int:
        """Takes one of the threads of `submit_...` while it waits."""
        return self._submit(lambda: self.removals(seconds))

    def event_fd(self) -> int:
        """A descriptor that is readable while results of `submit_...` wait: to be polled, and never read or closed."""
        return self._own_queue().event_fd()

    def drain(self) -> list[tuple[int, Any]]:
        """What is done of `submit_...`: each number with the call's result, or the exception that it raised. Never waits."""
        return self._own_queue().drain()

    def _submit(self, call: Callable[[], Any]) -> int:
        return self._own_queue().submit(call)

    def _own_queue(self) -> Queue:
        with self._lock:
            if self._closed:
                raise ValueError("the namespace is closed")
            if self._queue is None:
                self._queue = Queue()
            return self._queue

    # ---- What is told ----

    def stats(self) -> Stats:
        with self._lock:
            counts = self._counts
            return Stats(counts["hits"], counts["misses"], counts["stored"], counts["existed"], counts["refused"],
                         counts["deleted"], dict(self._errors), self._last_error)

    def _count(self, **counts: int) -> None:
        with self._lock:
            self._counts.update(counts)

    def _failed(self, error: Exception) -> None:
        kind = type(error).__name__
        with self._lock:
            self._errors[kind] += 1
            self._last_error = str(error)
            is_first = self._errors[kind] == 1
        _LOG.log(logging.WARNING if is_first else logging.DEBUG, "%s: taken for a miss: %s: %s", self._url, kind, error)

    # ---- Requests ----

    def _ask(self, operation: int, keys: Sequence[str | bytes], millis: int = 0) -> Keys | None:
        """None after an error, which is counted."""
        job = Keys(operation, self._url, _names(keys), millis)
        if keys:
            try:
                self._run(job)
            except (errors.RailheadError, OSError) as error:
                self._failed(error)
                return None
        return job

    def _run(self, job: Keys) -> None:
        self._client._run(lambda paths, box: ask(paths, box, job))


def _raise_held(results: Iterable[Any]) -> None:
    """A miss would say that the memory is free."""
    for each in results:
        if isinstance(each, errors.MemoryHeld):
            raise each


def _removed(text: str, url: str) -> Removed:
    """One entry of a header: a letter for the reason, a colon, and the key, percent-encoded."""
    letter, colon, key = text.partition(":")
    if not colon or letter not in {reason.value for reason in Reason}:
        raise errors.StoreError(f"a removed key has no reason: {text!r}", url=url)
    return Removed(urllib.parse.unquote(key), Reason(letter))


def _names(keys: Iterable[str | bytes]) -> list[str]:
    return [key if isinstance(key, str) else key.hex() for key in keys]


def _views(window: Window, *, writable: bool) -> list[View]:
    if isinstance(window, View):
        return [window]
    if isinstance(window, tuple) and len(window) == 2 and isinstance(window[0], int):
        return [View(window[0], window[1], None)]
    if isinstance(window, list):
        return [view for each in window for view in _views(each, writable=writable)]
    return [_memory.view(window, writable=writable)]


def _is_to_be_copied(job: Put) -> bool:
    return isinstance(job, WindowsPut) and isinstance(job.error, errors.NotServed)


def _copied(job: Put) -> Put:
    assert isinstance(job, WindowsPut)
    return Put(job.url, _joined(job.views), _AS_BLOCK)


def _joined(views: Sequence[View]) -> View:
    if len(views) == 1:
        return views[0]
    whole = bytearray(sum(view.nbytes for view in views))
    joined = _memory.view(whole, writable=True)
    at = joined.address
    for view in views:
        _memory.copy(at, view.address, view.nbytes)
        at += view.nbytes
    return joined
