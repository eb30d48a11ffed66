"""Reads that need no plan: one request each, straight into memory that the session knows."""

from __future__ import annotations

from functools import partial
from operator import index
from typing import Any, NamedTuple

from railhead import _memory, _native, errors
from railhead._jobs import PIECE_BYTES, Get, Head, Read
from railhead._paths import Paths
from railhead._session import MOST_OF_A_BATCH, Batch, Box, Completions, Outcome, Session, Stale
from railhead._settings import split
from railhead._transfer import Steps, Transfer


class Got(NamedTuple):
    """What was read: `length` bytes of an object that has `size`."""

    length: int
    size: int
    etag: str
    via: str
    cache: str


def got_of(job: Get | Head) -> Got | Exception:
    if job.error is not None:
        return job.error
    assert job.outcome is not None
    moved = job.moved if isinstance(job, Get) else 0
    return Got(moved, job.outcome.size, job.outcome.etag, job.via, _native.CACHE[job.outcome.cache])


_made = partial(tuple.__new__, Got)
_writable = partial(_memory.view, writable=True)


class Whole(Batch):
    """
    Some reads as one batch that is of use only whole, `in_flight` of them at a time: its caller is waken when all has come, when
    more can be asked for, or when something has not come as it should. That is a transfer's from then on, as if it had asked for
    it. What is to be done for each read, batch.c does.
    """

    def __init__(self, paths: Paths, box: Box, session: Session, reads: list[Any], shares: int = 1) -> None:
        """`shares`: batches that go together, each to another gateway."""
        super().__init__(box, session, len(reads))
        self._paths = paths
        self._is_alone = shares == 1
        self._most = max(1, paths.settings.in_flight // shares)
        self._session = session
        self._reads = reads
        self._windows: object = None
        self._fail_fast = True
        self._transfer: Transfer | None = None
        self._asked = 0   # for so many of them
        self._enough = 0  # so few are left that more can be asked for
        self._troubles: list[tuple[int, Outcome]] = []
        self.done: list[Got | Get | None] = [None] * len(reads)

    @staticmethod
    def of(paths: Paths, box: Box, reads: list[Any]) -> Whole | Shares | None:
        """None where something of it needs a plan."""
        session = paths.standing()
        if session is None or not 0 < len(reads) <= MOST_OF_A_BATCH or _native.batch() is None:
            return None
        if paths.owners.are_known:
            return Shares.of(paths, box, session, reads)
        made = Whole(paths, box, session, reads)
        return made if made.is_described() else None

    def is_described(self) -> bool:
        """False where a read needs a plan."""
        regions = self._paths.regions.known_to(self._session)
        self._windows = _native.batch().railhead_describe(self._reads, len(self._reads), _writable, regions, len(regions),
                                                          PIECE_BYTES, self.first_user, self.requests)
        return self._windows is not None

    @property
    def session(self) -> Session:
        return self._session

    def came(self, completions: Completions, users: list[int]) -> bool:
        troubles = _native.batch().railhead_came(completions, len(users), self.first_user, self.requests, _made,
                                                 self._session.via, _native.CACHE, self.done, self.left)
        for place in troubles:
            at = users[place] - self.first_user
            self._troubles.append((at, self.outcome(completions[place])))
            self.left.discard(at)
        if len(self.left) > self._enough and not self._troubles:
            return False
        self.box.arrived.append((None, None))
        return True

    def run(self, *, fail_fast: bool) -> Steps[list[Any]]:
        """Each one's Got, or its error."""
        yield from _ask([self], fail_fast)
        return (yield from self.finish())

    def begin(self, fail_fast: bool) -> Steps[None]:
        """Asks for all, or for as many as it can."""
        self._fail_fast = fail_fast
        self._asked = yield from self._ask_all()

    def end(self) -> None:
        """Nothing is under way any more."""
        self.box.whole = None
        self._paths.count(self._session.via, sum([each.length for each in self.done if isinstance(each, Got)]))

    def finish(self) -> Steps[list[Any]]:
        """What is left is a transfer's."""
        not_asked = [self._job(at) for at in range(self._asked, len(self._reads))]
        if not_asked or not (self._transfer is None or self._transfer.is_done):
            yield from self._others().run(not_asked)
        if self._transfer is None:
            return list(self.done)
        return [got_of(each) if isinstance(each, Get) else each for each in self.done]

    def _others(self) -> Transfer:
        """What is done about those that are to be asked for one by one."""
        if self._transfer is None:
            self._transfer = Transfer(self._paths, self.box, fail_fast=self._fail_fast)
        return self._transfer

    def _ask_all(self) -> Steps[int]:
        """How many were asked for."""
        asked, count = 0, len(self._reads)
        while True:
            if asked < count and len(self.left) <= self._enough:
                if asked:
                    self._paths.check_open()  # it may be closed by now
                asked, count = self._ask(asked, count)
            is_last = asked == count and not self.left  # before it looks for troubles: none comes behind the last
            while self._troubles:
                at, outcome = self._troubles.pop(0)
                if self.done[at] is None:  # not yet given
                    self._others().take(self._job(at), outcome, self._session)
            if is_last:
                return asked
            yield self._session
            if self._is_alone:
                self.box.arrived.clear()

    def _ask(self, asked: int, count: int) -> tuple[int, int]:
        """For as many more as there is room for: how many were asked for then, and how many will be."""
        end = min(count, asked + self._most - len(self.left))
        self._enough = self._most // 2 if end < count else 0
        try:
            self._session.submit(self, asked, end)
        except (errors.ConnectionLost, ValueError, Stale):
            # Of many, all were refused for one of them: a transfer asks for each.
            self._enough = 0
            end = count = asked
        self.box.whole = self if self._is_alone and end == count else None
        return end, count

    def _job(self, at: int) -> Get:
        read = Read(*self._reads[at])
        self.done[at] = job = Get(read.url, *read.target())
        return job

    def drain(self) -> Steps[None]:
        """Nothing that is thrown in meanwhile is a reason to leave memory with the gateway."""
        self.box.whole = None
        while self.left:
            try:
                self._session.cancel(self.box)
                while self.left:
                    yield self._session
                    self.box.arrived.clear()
            except AssertionError:
                raise
            except BaseException:  # noqa: S112
                continue


class Shares:
    """Reads whose bytes several gateways own: a batch for each of them. `places`: where its reads are among all."""

    def __init__(self, wholes: list[Whole], places: list[list[int]]) -> None:
        self._wholes = wholes
        self._places = places

    @staticmethod
    def of(paths: Paths, box: Box, home: Session, reads: list[Any]) -> Whole | Shares | None:
        """None where something of it needs a plan, or memory that an owner is still to know."""
        places: dict[Session, list[int]] = {}
        try:
            for at, read in enumerate(reads):
                bucket, key = split(read[0])
                first = index(read[2]) if len(read) > 2 else 0
                places.setdefault(paths.owners.session(bucket, key, first) or home, []).append(at)
        except Exception:  # who plans finds it again
            return None
        wholes = [Whole(paths, box, session, [reads[at] for at in ats], len(places)) for session, ats in places.items()]
        if not all(whole.is_described() for whole in wholes):
            return None
        return wholes[0] if len(wholes) == 1 else Shares(wholes, list(places.values()))

    def run(self, *, fail_fast: bool) -> Steps[list[Any]]:
        yield from _ask(self._wholes, fail_fast)
        results: list[Any] = [None] * sum(map(len, self._places))
        for whole, ats in zip(self._wholes, self._places, strict=True):
            got = yield from whole.finish()
            for at, each in zip(ats, got, strict=True):
                results[at] = each
        return results


def _ask(wholes: list[Whole], fail_fast: bool) -> Steps[None]:
    """Whatever is thrown in, it ends only when nothing is under way any more."""
    try:
        yield from _ask_together(wholes, fail_fast) if len(wholes) > 1 else wholes[0].begin(fail_fast)
    except BaseException:
        try:
            yield from _drain(wholes)
        except AssertionError:
            raise
        except BaseException:  # an interrupt, before it had begun
            yield from _drain(wholes)
        raise
    finally:
        for whole in wholes:
            whole.end()


def _ask_together(wholes: list[Whole], fail_fast: bool) -> Steps[None]:
    """All look when something has come for one of them, which is told by their common box."""
    steps = {whole: whole.begin(fail_fast) for whole in wholes}
    while True:
        for whole, each in list(steps.items()):
            if next(each, None) is None:
                del steps[whole]
        if not steps:
            return
        sessions = tuple(whole.session for whole in steps)
        yield sessions if len(sessions) > 1 else sessions[0]
        wholes[0].box.arrived.clear()


def _drain(wholes: list[Whole]) -> Steps[None]:
    for whole in wholes:
        yield from whole.drain()
