"""One call's requests, from first to last: which go out when, by which way, and what is done about those that fail."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from railhead import _cuda, _native, errors
from railhead._jobs import Job, Piece
from railhead._memory import Region, View, copy
from railhead._paths import Paths
from railhead._ring import Ring, Slot
from railhead._session import Batch, Box, Completions, Outcome, Session, Stale, of_result

Result = TypeVar("Result")
# What a transfer needs next: to have a function called that blocks, or to be waken when its box has something, by leading
# in the session where it has requests, or by looking into several of them.
Need = Callable[[], Any] | Session | tuple[Session, ...] | None
Steps = Generator[Need, Any, Result]

_MOST_TRIES = 3
_OWN = "own"  # of a refusal: each gateway has such objects of its own
_AT_ONCE = 8  # pieces of an object of which nothing is known: asking a gateway in vain costs little


# A piece, the buffer that its window lies in with the address where that begins, and that buffer's region.
_Submission = tuple[Piece, int, int, object]
# What goes out next, by session, each with the session's releases before the buffers were looked up.
_Batches = dict[Session, tuple[int, list[_Submission]]]


class _Lost(Exception):
    """The session ended while memory was registered with it."""


class _Pieces(Batch):
    """Of a transfer, each of which is handed to it as soon as it has come."""

    def __init__(self, box: Box, session: Session, submissions: list[_Submission], releases: int) -> None:
        super().__init__(box, session, len(submissions))
        self.releases = releases
        self._submissions = submissions
        for at, ((piece, buffer, base, _), request) in enumerate(zip(submissions, self.requests, strict=True)):
            piece.describe(request, self.first_user + at, buffer, base)

    def came(self, completions: Completions, users: list[int]) -> bool:
        for place, user in enumerate(users):
            at = user - self.first_user
            if 0 <= at < len(self._submissions):
                self.box.arrived.append(((self._submissions[at][0], self), self.outcome(completions[place])))
                self.left.discard(at)
        return True


class Transfer:
    """
    The pieces of some jobs, `in_flight` of them at a time. It yields its needs to a driver, which is a thread's or an event
    loop's, and whatever is thrown into it, it ends only when no request of its own is under way any more. With the first error
    it is over if it is to `fail_fast`; else errors are their jobs'.
    """

    def __init__(self, paths: Paths, box: Box, progress: Callable[[int], object] | None = None, *,
                 fail_fast: bool = True) -> None:
        self._paths = paths
        self._box = box
        self._progress = progress
        self._ready: deque[Piece] = deque()
        # Under way, in which batch, in the session, or in one with the owner of its bytes.
        self._native: dict[Piece, tuple[Session, object]] = {}
        self._http: set[Piece] = set()     # under way on a thread
        self._copying: deque[tuple[_cuda.Event, Piece]] = deque()
        self._slots: list[Slot] = []       # that came to the box
        self._asked = False                # for a slot
        self._session: Session | None = None
        self._lost = False                 # the session: another one when nothing is under way in it
        self._fail_fast = fail_fast
        self._memory_held: errors.MemoryHeld | None = None

    def take(self, job: Job, outcome: Outcome, session: Session) -> None:
        """The outcome of the job's first and only piece, which somebody else asked for. What is still to be done, `run` does."""
        self._session = session
        [piece] = job.first(1)
        self._came(piece, outcome)
        self._check(piece)

    @property
    def is_done(self) -> bool:
        return not self._ready

    def run(self, jobs: Sequence[Job]) -> Steps[None]:
        try:
            self._session = yield from self._open()
            self._paths.owners.look_if_due()
            for job in jobs:
                self._ready.extend(job.first(_AT_ONCE if self._session is not None else 1))
            while self._ready or self._native or self._http or self._copying:
                if self._ready:
                    yield from self._start()
                yield from self._await()
        except BaseException as error:
            try:
                yield from self._drain()
            except AssertionError:
                raise
            except BaseException:  # an interrupt, before it had begun
                yield from self._drain()
            if self._memory_held not in (None, error) and isinstance(error, Exception):
                raise self._memory_held from error
            raise
        finally:
            self._let_go()

    # ---- Starting ----

    def _open(self) -> Steps[Session | None]:
        session = self._paths.standing()
        if session is None:
            session = yield self._paths.session
        return session

    def _start(self) -> Steps[None]:
        self._paths.check_open()
        if self._session is not None and self._paths.is_replaced(self._session):
            self._lost = True
        if self._lost and self._session not in self._sessions():
            self._session = yield from self._open()
            self._lost = False
        batches: _Batches = {}
        if self._session is not None:
            batches[self._session] = self._session.releases, []
        count = 0
        try:
            ready, in_flight = self._ready, self._paths.settings.in_flight
            while ready and not self._lost and len(self._native) + len(self._http) + count < in_flight:
                piece = ready[0]
                region = None if piece.job.error else self._known(piece)
                if region is not None and self._add(batches, piece, region):
                    ready.popleft()
                elif not (yield from self._start_one(batches)):
                    break
                count = sum([len(batch) for _, batch in batches.values()])
        except BaseException:
            for _, batch in batches.values():
                for piece, _, _, _ in batch:
                    self._release(piece)
            raise
        self._submit_all(batches)

    def _start_one(self, batches: _Batches) -> Steps[bool]:
        """The first that is ready; False where it has to wait for its place. It stays ready until it has begun."""
        piece = self._ready[0]
        if not piece.job.error:
            try:
                region = yield from self._place(piece)
            except _Lost as lost:
                self._lost = True
                piece.tries += 1
                if piece.tries == _MOST_TRIES:
                    piece.job.fail(errors.ConnectionLost(str(lost), url=piece.job.url))
                    self._check(piece)
                return False
            if piece.copied and piece.slot is None:
                return False
            if piece.slot is not None and piece.job.writes:
                yield from self._fetch(piece, piece.slot)
            if self._session is None or piece.by_http:
                self._http.add(piece)
                self._paths.begin(piece, self._box)
            elif not self._add(batches, piece, region):
                return False
        else:
            self._release(piece)
        self._ready.popleft()
        return True

    def _add(self, batches: _Batches, piece: Piece, region: Region | None) -> bool:
        """False where somebody has just given the region back."""
        session = self._session_of(piece, region)
        if session not in batches:
            batches[session] = session.releases, []
        buffer, base = (region.known(session), region.memory.address) if region is not None else (0, 0)
        if region is not None and not buffer:
            return False
        batches[session][1].append((piece, buffer, base, region))
        return True

    def _session_of(self, piece: Piece, region: Region | None) -> Session:
        """One with the owner of the piece's first byte, unless that is not to be had: nothing waits for an owner."""
        assert self._session is not None
        job = piece.job
        if region is None or piece.at_home or not job.at_owners:
            return self._session
        return self._paths.owners.session(job.bucket, job.key, piece.first, region) or self._session

    def _submit_all(self, batches: _Batches) -> None:
        """After an interrupt what has not been submitted is given back."""
        try:
            for session in list(batches):
                releases, batch = batches[session]
                if batch:
                    self._submit(session, batch, releases)
                del batches[session]
        except BaseException:
            for _, batch in batches.values():
                for piece, _, _, _ in batch:
                    if piece not in self._native:
                        self._release(piece)
            raise

    def _submit(self, session: Session, batch: list[_Submission], releases: int) -> None:
        pieces = [piece for piece, _, _, _ in batch]
        submitted = None
        try:
            try:
                submitted = _Pieces(self._box, session, batch, releases)
                self._native.update(dict.fromkeys(pieces, (session, submitted)))
                session.submit(submitted, 0, len(batch))
            except errors.ConnectionLost as error:
                for piece in pieces:
                    self._box.put((piece, submitted), Outcome(_native.ENDED, message=str(error)))
            except ValueError as error:
                self._refused(session, batch, releases, error)
            except Stale:
                for piece in pieces:
                    del self._native[piece]
                self._ready.extendleft(reversed(pieces))  # for all to be looked up anew
        except BaseException:
            for at, piece in enumerate(pieces):
                _, asked = self._native.get(piece, (None, None))  # of many that were refused, one by one, in another batch
                if asked in (None, submitted) and (submitted is None or not submitted.ids[at]):
                    self._native.pop(piece, None)
                    self._release(piece)
            raise

    def _refused(self, session: Session, batch: list[_Submission], releases: int, error: ValueError) -> None:
        """Of many, all for one of them."""
        if len(batch) == 1:
            piece, asked = batch[0][0], object()
            self._box.put((piece, asked), Outcome(_native.STORE, error=error))
            self._native[piece] = session, asked
        else:
            for each in batch:
                self._submit(session, [each], releases)

    def _known(self, piece: Piece) -> Region | None:
        """Where the piece's bytes are moved with no more ado, as those of most are: memory that the session knows."""
        if self._session is None or piece.by_http or piece.copied or not piece.job.has_window:
            return None
        region = self._paths.region(piece.view)
        return region if region is not None and region.is_known(self._session) else None

    def _place(self, piece: Piece) -> Steps[Region | None]:
        """Where the piece's bytes can be moved by its way: in the program's memory, or in a slot of the ring."""
        session = None if piece.by_http else self._session
        if not piece.job.has_window:
            return None
        region = self._paths.region(piece.view) if session is not None and not piece.copied else None
        if region is not None and session is not None:
            if not (yield from self._register(region, session)):
                return region
        elif session is None and not piece.copied and piece.view.cuda is None:
            return None
        if not piece.job.may_be_copied:
            piece.by_http = True  # where the job says that it is not served
            return None
        ring = yield from self._ring(piece.view)
        piece.copied = True
        if piece.slot is None:
            piece.slot = self._slot(ring, piece.view.nbytes)
        if piece.slot is None:
            return None
        if session is not None:
            refused = yield from self._register(piece.slot.region, session)
            if refused and not self._paths.falls_back(refused):
                raise errors.Unavailable(refused, url=piece.job.url)
            piece.by_http = bool(refused)
        return piece.slot.region

    def _register(self, region: Region, session: Session) -> Steps[str]:
        """Why the region cannot be known to the session; _Lost where there is no session any more."""
        if region.is_known(session):
            return ""
        refused: str = yield lambda: self._paths.register(region, session)
        if refused and not session.is_open():
            raise _Lost(refused)
        return refused

    def _ring(self, view: View) -> Steps[Ring]:
        ring = self._paths.standing_ring(view.cuda)
        if ring is None:
            ring = yield lambda: self._paths.ring(view.cuda)
        return ring

    def _slot(self, ring: Ring, nbytes: int) -> Slot | None:
        for slot in self._slots:
            if slot.memory.nbytes >= nbytes:
                self._slots.remove(slot)
                return slot
        if self._asked:
            return None
        slot_or_none = ring.acquire(nbytes, self._box)
        self._asked = slot_or_none is None
        return slot_or_none

    def _fetch(self, piece: Piece, slot: Slot) -> Steps[None]:
        """What is to be sent from a slot has to be there first."""
        to, source, nbytes = slot.memory.address, piece.view.address, piece.view.nbytes
        if piece.view.cuda is None:
            copy(to, source, nbytes)
        else:
            yield _cuda.device(piece.view.cuda).to_host(to, source, nbytes).wait

    # ---- Ending ----

    def _await(self) -> Steps[None]:
        if self._copying and not self._native and not self._http:
            yield self._copying[0][0].wait
            self._reap()
            return
        if not (self._native or self._http or self._asked):
            return
        yield self._where()
        # One by one, each in the box until it is dealt with: after an error, or an interrupt, who drains it finds it there.
        arrived = self._box.arrived
        while arrived:
            what, outcome = arrived[0]
            if isinstance(what, Slot):
                self._take_in(what)
            elif (piece := self._awaited(what)) is not None:
                try:
                    self._came(piece, outcome)
                except BaseException:
                    if piece not in self._native and piece not in self._http:
                        self._release(piece)
                    raise
                if piece.job.error:
                    self._check(piece)
            arrived.popleft()
        if self._copying:
            self._reap()

    def _where(self) -> Session | tuple[Session, ...] | None:
        """Where it has something under way."""
        sessions = tuple(self._sessions())
        return sessions if len(sessions) > 1 else sessions[0] if sessions else None

    def _sessions(self) -> dict[Session, None]:
        return dict.fromkeys([session for session, _ in self._native.values()])

    def _awaited(self, what: Any) -> Piece | None:
        """Whose outcome it is; None where that is not under way in its batch any more: an interrupt has some handed out again."""
        piece, batch = what if isinstance(what, tuple) else (what, None)
        if batch is None:
            return piece if piece in self._http else None
        _, submitted = self._native.get(piece, (None, None))
        return piece if submitted is batch else None

    def _came(self, piece: Piece, outcome: Outcome) -> None:
        if outcome.held:
            self._hold(piece)
        by_http = piece in self._http
        self._http.discard(piece)
        session, _ = self._native.pop(piece, (self._session, None))
        if outcome.result == _native.OK:
            piece.via = outcome.via or "http" if by_http or session is None else session.via
            self._paths.count(piece.via, outcome.moved)
            self._deliver(piece, outcome)
        elif self._is_to_be_repeated(piece, outcome, by_http, session):
            self._release(piece)
            self._ready.append(piece)
        else:
            self._release(piece)
            self._ready.extend(piece.job.refused(piece, outcome.error or error_of(outcome, piece.job.url)))

    def _check(self, piece: Piece) -> None:
        if self._fail_fast and piece.job.error:
            raise piece.job.error

    def _hold(self, piece: Piece) -> None:
        if piece.slot is None:
            # In place of an error before it, after which the memory might be used again.
            self._memory_held = piece.job.error = errors.MemoryHeld("the gateway may still touch the buffer", url=piece.job.url)
        else:
            self._paths.lose(piece.slot)
            piece.slot = None

    def _is_to_be_repeated(self, piece: Piece, outcome: Outcome, by_http: bool, session: Session | None) -> bool:
        if by_http or piece.job.error:
            return False
        if session is not None and session.is_owner:
            return self._is_home_s(piece, outcome)
        if outcome.result == _native.ENDED or (outcome.result == _native.UNKNOWN and piece.job.is_idempotent):
            self._lost = True
            piece.tries += 1
            return piece.tries < _MOST_TRIES
        if outcome.result == _native.NOT_SERVED and self._paths.falls_back(f"{outcome.code}: {outcome.message}".rstrip(": ")):
            piece.by_http = True
            return True
        self._lost |= outcome.result == _native.UNKNOWN and outcome.status == 0
        return False

    def _is_home_s(self, piece: Piece, outcome: Outcome) -> bool:
        """What an owner did not do; but that nothing is there is known there as well as at home."""
        if outcome.code == _OWN:
            self._paths.owners.is_own(piece.job.bucket)
        if outcome.result == _native.CANCELLED:
            return False
        piece.at_home = not (outcome.result == _native.STORE and outcome.status in (404, 416) and not piece.is_pinned)
        return piece.at_home

    def _deliver(self, piece: Piece, outcome: Outcome) -> None:
        # First of all: the job knows whether so many bytes can have come.
        more = piece.job.came(piece, outcome)
        if more:
            self._ready.extend(more)
        if piece.slot is not None and not piece.job.writes and outcome.moved and not piece.job.error:
            to, source = piece.view.address, piece.slot.memory.address
            if piece.view.cuda is not None:
                piece.outcome = outcome
                self._copying.append((_cuda.device(piece.view.cuda).from_host(to, source, outcome.moved), piece))
                return
            copy(to, source, outcome.moved)
        if piece.slot is not None:
            self._release(piece)
        if self._progress:
            self._tell(outcome.moved)

    def _reap(self) -> None:
        """Slots whose copies to a GPU are over."""
        while self._copying and self._copying[0][0].is_over():
            _, piece = self._copying.popleft()
            self._release(piece)
            assert piece.outcome is not None
            self._tell(piece.outcome.moved)

    def _tell(self, moved: int) -> None:
        if self._progress and moved:
            self._progress(moved)

    def _release(self, piece: Piece) -> None:
        if piece.slot is not None:
            slot, piece.slot = piece.slot, None
            self._paths.free(slot)

    def _drain(self) -> Steps[None]:
        """Nothing that is thrown in meanwhile is a reason to leave memory with the gateway."""
        self._progress = None
        while self._native or self._http or self._copying:
            try:
                for session in self._sessions():
                    session.cancel(self._box)
                while self._native or self._http or self._copying:
                    if self._native or self._http:
                        yield self._where()
                    else:
                        yield self._copying[0][0].wait
                    self._take_back()
            except AssertionError:
                raise
            except BaseException as error:
                if self._copying and isinstance(error, errors.RailheadError):
                    self._copying.clear()  # CUDA does not say that these copies are over: their slots stay

    def _take_back(self) -> None:
        while self._box.arrived:
            what, outcome = self._box.arrived[0]
            if isinstance(what, Slot):
                self._take_in(what)
            elif (piece := self._awaited(what)) is not None:
                if outcome.held:
                    self._hold(piece)
                self._release(piece)
                self._native.pop(piece, None)
                self._http.discard(piece)
            self._box.arrived.popleft()
        self._reap()

    def _take_in(self, slot: Slot) -> None:
        """One that came to the box, once, where an interrupt left it there."""
        if slot not in self._slots:
            self._slots.append(slot)
        self._asked = False

    def _let_go(self) -> None:
        for piece in self._ready:
            self._release(piece)
        if self._asked:
            for slot in self._paths.withdraw(self._box):
                self._take_in(slot)
        for slot in self._slots:
            self._paths.free(slot)


def error_of(outcome: Outcome, url: str) -> Exception:
    if outcome.result == _native.STORE:
        return errors.of_store(outcome.status, outcome.code, outcome.message, url, outcome.request_id)
    error = of_result(outcome.result, outcome.message, url, outcome.code)
    if isinstance(error, errors.RailheadError):
        error.status = outcome.status
        error.request_id = outcome.request_id
    return error


