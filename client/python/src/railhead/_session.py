"""A session of librailhead's: requests go in by any thread, completions come out to whoever waits."""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import os
import select
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from railhead import _native, errors
from railhead._memory import Region, View, held
from railhead._settings import Credentials, Settings

_ROOM = 64
_COMPLETION_BYTES = ctypes.sizeof(_native.Completion)
_ID_BYTES = ctypes.sizeof(ctypes.c_uint64)
_WAIT_MILLIS = 200  # how long a signal handler of Python's may have to wait
_LOOK_MILLIS = 10   # between two looks of who has no bell
_OWNER_MILLIS = 5000  # for an owner to answer what a session has to ask but for requests
_AT_BITS = 20       # of a request's number: its place in its batch; the batch's own number, of 44 bits, is before them
ACKNOWLEDGED = "x-railhead-acknowledged"  # of an answer to a write: where it is safe
MOST_OF_A_BATCH = 1 << _AT_BITS

Completions = ctypes.Array[_native.Completion]


class Outcome(NamedTuple):
    """A request's completion. `error` is set where `result` is not OK; `held`: the window may still be touched."""

    result: int = _native.OK
    status: int = 0
    moved: int = 0
    size: int = 0
    etag: str = ""
    version_id: str = ""
    headers: str = ""
    last_modified_millis: int = 0
    cache: int = 0
    code: str = ""
    message: str = ""
    request_id: str = ""
    held: bool = False
    error: Exception | None = None
    acknowledged: str = "store"  # of a write
    via: str = ""  # where it is not by the session or the gateway


class Box:
    """
    Where what one call waits for arrives, from any thread. One waits at a time. `whole`: what it waits for, where that is of no
    use before its last request is done, or one has failed.
    """

    whole: Batch | None = None

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.arrived: deque[tuple[Any, Any]] = deque()

    def put(self, what: Any, outcome: Any) -> None:
        self.arrived.append((what, outcome))
        self.wake()

    def wake(self) -> None:
        """Tells who waits, where somebody does, that something has arrived."""

    def is_awaited(self) -> bool:
        """Whether whose it is may still come and look."""
        return True

    def take(self) -> list[tuple[Any, Any]]:
        taken = []
        while self.arrived:
            taken.append(self.arrived.popleft())
        return taken


class Stale(Exception):
    """Memory was given back since its handles were looked up."""


class _Bell:
    """A descriptor that is readable once it was rung. It is there as long as who may ring it."""

    def __init__(self) -> None:
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def ring(self) -> None:
        os.eventfd_write(self.descriptor, 1)

    def still(self) -> None:
        with suppress(BlockingIOError):  # nobody rang
            os.eventfd_read(self.descriptor)

    # At the program's end the module's own names may be gone.
    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if "descriptor" in self.__dict__:
            close(self.descriptor)


class ThreadBox(Box):
    """
    Waited for by a thread, at a lock that who wakes it releases: a condition is Python's own code, in the midst of which an
    interrupt would leave its lock held. Who has requests in several sessions waits at their descriptors, and at a bell.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waken = threading.Lock()
        self._waken.acquire()
        self._bell: _Bell | None = None
        self.polls = False  # it waits at descriptors

    def wake(self) -> None:
        with suppress(RuntimeError):  # it is waken already
            self._waken.release()
        if self._bell is not None:
            self._bell.ring()

    def wait(self) -> None:
        while not self.arrived:
            self._waken.acquire()

    def doze(self) -> None:
        """Until it is waken, for whatever reason; but not for long."""
        self._waken.acquire(timeout=_WAIT_MILLIS / 1000)

    def wait_in(self, sessions: Sequence[Session]) -> None:
        """Returns once something has arrived: its owner has a request under way in each of the sessions."""
        if self._bell is None:
            with suppress(OSError):  # as many descriptors are open as may be: it looks often
                self._bell = _Bell()
        bell, poll = self._bell, select.poll()
        for descriptor in (*([] if bell is None else [bell.descriptor]), *(session.event_fd for session in sessions)):
            poll.register(descriptor, select.POLLIN)
        self.polls = True
        try:
            while not self.arrived:
                if bell is not None:
                    bell.still()
                for session in sessions:
                    session.glance(self)
                if not self.arrived:
                    poll.poll(_WAIT_MILLIS if bell is not None else _LOOK_MILLIS)
        finally:
            self.polls = False


class LoopBox(Box):
    """Waited for by a task of an event loop."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.get_running_loop()
        self._there = asyncio.Event()

    def wake(self) -> None:
        try:
            if threading.get_ident() == self.thread:
                self._there.set()
            else:
                self.loop.call_soon_threadsafe(self._there.set)
        except RuntimeError:
            return  # the loop is closed: nobody waits there any more, and who hands out has others

    def is_awaited(self) -> bool:
        return not self.loop.is_closed()

    async def wait(self) -> None:
        await self._there.wait()
        self._there.clear()

    async def wait_in(self, sessions: Sequence[Session]) -> None:
        """Where its owner has requests under way."""
        watched: list[Session] = []
        try:
            for session in sessions:
                session.watch(self.loop)
                watched.append(session)
            await self.wait()
        finally:
            for session in watched:
                session.unwatch(self.loop)


class Batch:
    """
    `count` requests of one box, with what their windows lie in: that is alive until the last has its completion. `left`: those
    that were submitted and have none yet. Their numbers are `first_user` and what follows, and, of the library, `ids`, where 0 is
    not taken. `releases`: the session's, before the handles in them were looked up.
    """

    def __init__(self, box: Box, session: Session, count: int) -> None:
        self.box = box
        self.releases = session.releases
        self.number = session.reserve()
        self.first_user = self.number << _AT_BITS
        self.requests = (_native.Request * count)()
        self.ids = (ctypes.c_uint64 * count)()
        self.left: set[int] = set()

    def came(self, completions: Completions, users: list[int]) -> bool:
        """
        Of completions, whose numbers are `users`, takes in those that are its own: whether who waits is to be waken. By whoever
        leads; a second time, to the same effect, where the first was interrupted.
        """
        raise NotImplementedError

    def outcome(self, completion: _native.Completion) -> Outcome:
        """What the batch holds is held for ever where the gateway may still touch it."""
        if completion.flags & _native.WINDOW_HELD:
            held.append(self)
        return outcome_of(completion)


class Session:
    """
    Threads: every method may be called by any. Completions are collected by one at a time, the leader: a thread that waits
    for one of its own, or an event loop whose descriptor became readable. It hands each to the box of who asked.

    Memory: a request's window is kept alive until its completion was collected, for ever if the gateway may still touch it.
    """

    def __init__(self, settings: Settings, fabric: int, http: Any, *, owner: bool = False) -> None:
        """`owner`: with one of several gateways, for what all of them serve alike. It has less time: nobody waits for it."""
        self._library = _native.library()
        self.fabric = fabric
        self.via = "verbs" if fabric == _native.VERBS else "loopback"
        self.is_owner = owner
        self._http = http  # called by the library while it connects
        self.releases = 0  # of memory, so far, under the lock: a handle that was looked up before one of them may be another's
        self._pending: dict[int, Batch] = {}
        self._registered: dict[int, View] = {}
        self.handles: dict[Region, int] = {}  # of memory that this session knows; 0: it does not take it
        self._to_release: list[int] = []
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._leader: object = None  # under the lock, where it was None; given up without it
        self._array = (_native.Completion * _ROOM)()
        self._users = memoryview(self._array).cast("B").cast("Q")[::_COMPLETION_BYTES // 8]  # each one's first number
        self._watchers: dict[asyncio.AbstractEventLoop, int] = {}
        handle = ctypes.c_void_p()
        # Before there is a session: an interrupt may come with it.
        self.close: weakref.finalize[..., Session] = weakref.finalize(
            self, _close, self._library, handle, self._pending, self._registered)
        self.close.atexit = False  # daemon threads may be in it; to the gateway the process's end is as good
        self.credentials = settings.credentials()  # with which it ends
        options = _options(settings, self.credentials, fabric, http.function)
        if owner:
            options.shared_only, options.timeout_millis = 1, _OWNER_MILLIS
        result = self._library.railhead_connect(ctypes.byref(options), ctypes.byref(handle))
        if http.interrupt is not None:
            raise http.interrupt
        if result != _native.OK:
            raise of_result(result, http.failure or _native.last_error())
        self._handle = handle
        self.event_fd: int = self._library.railhead_event_fd(handle)

    def is_open(self) -> bool:
        return self.close.alive and bool(self._library.railhead_is_open(self._handle))

    def closes_by(self, aside: Callable[[Callable[[], object]], object]) -> None:
        """Who closes it, or drops it last, hands to `aside` what there is to be done. Before another thread has it."""
        before = self.close.detach()
        if before is not None:
            _, function, arguments, _ = before
            self.close = weakref.finalize(self, aside, partial(function, *arguments))
            self.close.atexit = False

    @staticmethod
    def _check(result: int) -> None:
        if result != _native.OK:
            raise of_result(result, _native.last_error())

    # ---- Memory ----

    def register(self, memory: View, descriptor: int | None, offset: int = 0, flush: Any = None) -> int:
        """With a descriptor: memory of a memfd, or, with a function that flushes it, a GPU's of a dma-buf."""
        kind = _native.HOST
        if flush is not None:
            kind = _native.DEVICE
        elif descriptor is not None and self.fabric == _native.LOOPBACK:
            kind = _native.MEMFD
        wanted = _native.Memory(kind=kind, descriptor=-1, address=memory.address, bytes=memory.nbytes, offset=offset,
                                flush=ctypes.cast(flush, ctypes.c_void_p) if flush else None)
        if descriptor is not None and kind != _native.HOST:
            wanted.descriptor = descriptor
        buffer = ctypes.c_void_p()
        self._check(self._library.railhead_register(self._handle, ctypes.byref(wanted), ctypes.byref(buffer)))
        assert buffer.value
        self._registered[buffer.value] = memory
        return buffer.value

    def release(self, buffer: int) -> None:
        """Returns when the gateway touches the memory no more; where it cannot be brought to that, the memory is kept."""
        if self.close.alive:
            with self._lock:
                self.releases += 1
            self._to_release.append(buffer)
            for each in self._to_release.copy():
                result = self._library.railhead_release(each)
                if result != _native.BUSY:  # others' reads are under way: until the next release
                    self._to_release.remove(each)
                    memory = self._registered.pop(each)
                    if result == _native.HELD:
                        held.append(memory)

    # ---- Requests ----

    def reserve(self) -> int:
        """A batch's number."""
        return next(self._numbers)

    def submit(self, batch: Batch, first: int, end: int) -> None:
        """Those of its requests: all, or, with an error, none; after an interrupt those that were taken are `left`."""
        with self._lock:
            if batch.releases != self.releases:
                raise Stale
            try:
                self._pending[batch.number] = batch
                batch.left.update(range(first, end))
                ids = ctypes.c_uint64.from_buffer(batch.ids, first * _ID_BYTES)
                result = self._library.railhead_submit(self._handle, batch.requests[first], end - first, ids)
                if result != _native.OK:
                    self._check(result)
            except BaseException:
                # An interrupt may have come after it has taken them.
                batch.left.difference_update([at for at in range(first, end) if not batch.ids[at]])
                if not batch.left:
                    self._pending.pop(batch.number, None)
                raise

    def cancel(self, box: Box) -> None:
        """Of the requests of one box. Each has its completion all the same."""
        with self._lock:
            numbers = []
            for batch in [batch for batch in list(self._pending.values()) if batch.box is box]:
                # An interrupt may have kept them from the library, and this from being known.
                batch.left.difference_update([at for at in batch.left.copy() if not batch.ids[at]])
                if not batch.left:
                    self._pending.pop(batch.number, None)
                numbers += [batch.ids[at] for at in batch.left.copy()]
            if numbers and self.close.alive:
                self._library.railhead_cancel(self._handle, (ctypes.c_uint64 * len(numbers))(*numbers), len(numbers))

    def wait(self, box: ThreadBox) -> None:
        """Returns once something has arrived in the box, whose owner has a request under way here."""
        try:
            while not box.arrived:
                if self._leads(box):
                    self._collect(_WAIT_MILLIS, box)
                else:
                    self._follow(box)
        finally:
            # No call before it leads no more: an interrupt comes with calls.
            if self._leader is box:
                self._leader = None
                self._ring()

    def glance(self, box: ThreadBox) -> None:
        """Hands out what has come, unless somebody else does so, or nothing of the box is under way here any more."""
        try:
            if self._leads(box) and any(batch.box is box for batch in list(self._pending.values())):
                self._collect(0, box)
        finally:
            if self._leader is box:
                self._leader = None
                self._ring()

    def _leads(self, who: object) -> bool:
        """From now on, where nobody does."""
        if self._leader is None:
            with self._lock:
                if self._leader is None:
                    self._leader = who
        return self._leader is who

    def _follow(self, box: ThreadBox) -> None:
        """Whoever leads wakes it when it leads no more, unless an interrupt keeps it from that."""
        while not box.arrived and self._leader is not None:
            box.doze()

    def _ring(self) -> None:
        """Somebody else is to lead; who has nothing pending yet finds that nobody does."""
        if not self._pending:
            return
        for box in {batch.box for batch in list(self._pending.values())}:
            # The descriptor tells who polls it, but of what an interrupt left.
            if isinstance(box, ThreadBox) and (not box.polls or self._users[0]):
                box.wake()
        if self._users[0]:  # an interrupt came before all was handed out, and no descriptor tells of it
            for loop in list(self._watchers):
                with suppress(RuntimeError):  # a loop that is closed
                    loop.call_soon_threadsafe(self._readable)

    def _collect(self, millis: int, mine: Box | None = None) -> None:
        """
        What an interrupt left is handed out first: each completion is in the array until its box has it. Who leads looks into its
        own box, which has no need to be waken; where nobody else has anything under way, it waits for all of what is of use only
        whole.
        """
        got = _ROOM  # at most, where an interrupt keeps it from being known
        if self._users[0]:
            self._hand_out(mine, got)
            if mine is not None and mine.arrived:
                return
        if self._users[1]:
            ctypes.memset(self._array, 0, ctypes.sizeof(self._array))  # which an interrupt had kept from that
        whole = mine.whole if mine is not None else None
        try:
            if whole is not None and len(self._pending) == 1:
                # Whoever submits from now on has a higher number.
                got = self._library.railhead_wait_all(self._handle, self._array, _ROOM, whole.ids[-1], millis)
            else:
                got = self._library.railhead_wait(self._handle, self._array, _ROOM, millis)
        finally:
            self._hand_out(mine, got)
        if got == _native.ENDED:
            raise AssertionError("a request has no completion, and the session is over")
        if got < 0:
            self._check(got)

    def _hand_out(self, mine: Box | None, most: int) -> None:
        users = self._users[:max(0, most)].tolist()
        if 0 in users:
            del users[users.index(0):]
        if not users:
            return
        boxes = set()
        for number in {user >> _AT_BITS for user in users}:
            batch = self._pending.get(number)  # none where an interrupt came after it
            if batch is not None:
                if batch.came(self._array, users) and batch.box is not mine:
                    boxes.add(batch.box)
                if not batch.left:
                    self._forget(batch)
        for box in boxes:
            box.wake()
        self._users[0] = 0  # from now on nobody hands them out again, without their texts
        self._library.railhead_completions_free(self._array, len(users))
        ctypes.memset(self._array, 0, len(users) * _COMPLETION_BYTES)

    def _forget(self, batch: Batch) -> None:
        with self._lock:
            if not batch.left:  # nor has its owner submitted more of it
                self._pending.pop(batch.number, None)

    # ---- Event loops ----

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """On the loop's thread, before its task waits."""
        watchers = self._watchers.get(loop, 0)
        if watchers == 0:
            loop.add_reader(self.event_fd, self._readable)
        self._watchers[loop] = watchers + 1

    def unwatch(self, loop: asyncio.AbstractEventLoop) -> None:
        self._watchers[loop] -= 1
        if self._watchers[loop] == 0:
            del self._watchers[loop]
            loop.remove_reader(self.event_fd)

    def _readable(self) -> None:
        # Where another leads, it collects them, and the descriptor is readable no more.
        collector = object()
        try:
            if self._pending and self._leads(collector):
                self._collect(0)
        finally:
            if self._leader is collector:
                self._leader = None
                self._ring()


def _close(library: ctypes.CDLL, handle: ctypes.c_void_p, pending: dict[int, Batch],
           registered: dict[int, View]) -> None:
    if handle and library.railhead_close(handle) == _native.HELD:
        held.extend([*pending.values(), *registered.values()])


def _options(settings: Settings, credentials: Credentials, fabric: int, http: Any) -> _native.Options:
    options = _native.Options()
    _native.library().railhead_options_init(ctypes.byref(options), ctypes.sizeof(options))
    options.fabric = fabric
    options.endpoint = settings.endpoint.encode()
    options.region = settings.region.encode()
    options.access_key = credentials.access_key.encode()
    options.secret_key = credentials.secret_key.encode()
    options.session_token = credentials.session_token.encode() if credentials.session_token else None
    options.request_timeout_millis = max(1, int(settings.deadline * 1000))
    options.http = http
    return options


def outcome_of(completion: _native.Completion) -> Outcome:
    result = completion.result
    code = message = request_id = ""
    headers = completion.headers.decode(errors="replace")
    if result != _native.OK:
        code, message = completion.code.decode(), completion.message.decode(errors="replace")
        request_id = request_id_in(headers)
    return Outcome(
        result, completion.status, completion.bytes, completion.object_bytes, completion.etag.decode(),
        completion.version_id.decode(), headers, completion.last_modified_millis,
        completion.cache, code, message, request_id, (completion.flags & _native.WINDOW_HELD) != 0,
        acknowledged=_line_of(headers, ACKNOWLEDGED) or "store")


def request_id_in(headers: str) -> str:
    """As the gateway's logs name the request of an answer that is no success."""
    return _line_of(headers, "x-railhead-request-id")


def _line_of(headers: str, wanted: str) -> str:
    for line in headers.splitlines():
        name, _, value = line.partition(":")
        if name == wanted:
            return value.strip()
    return ""


def of_result(result: int, message: str, url: str = "", code: str = "") -> Exception:
    """The error for one of the library's codes."""
    kinds: dict[int, type[errors.RailheadError]] = {
        _native.UNAVAILABLE: errors.Unavailable, _native.REFUSED: errors.AccessDenied,
        _native.TIMED_OUT: errors.DeadlineExceeded, _native.ENDED: errors.ConnectionLost,
        _native.UNKNOWN: errors.OutcomeUnknown, _native.CANCELLED: errors.Cancelled,
        _native.NOT_SERVED: errors.NotServed, _native.HELD: errors.MemoryHeld}
    if result == _native.ARGUMENT:
        return ValueError(message)
    if result == _native.NO_MEMORY:
        return MemoryError(message)
    said: bytes = _native.library().railhead_result_text(result)
    text = f"{said.decode()}: {code}" if code else said.decode()
    return kinds.get(result, errors.RailheadError)(message or text, code=code, url=url)
