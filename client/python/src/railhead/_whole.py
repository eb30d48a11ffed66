"""Reads that need no plan: one request each, straight into memory that the session knows."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from railhead import _memory, _native, errors
from railhead._jobs import PIECE_BYTES, Get, Head, Read
from railhead._paths import Paths
from railhead._session import MOST_OF_A_BATCH, Batch, Box, Completions, Outcome, Session, Stale
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

    def __init__(self, paths: Paths, box: Box, session: Session, reads: list[Any]) -> None:
        super().__init__(box, session, len(reads))
        self._paths = paths
        self._session = session
        self._reads = reads
        self._windows: object = None
        self._fail_fast = True
        self._transfer: Transfer | None = None
        self._enough = 0  # so few are left that more can be asked for
        self._troubles: list[tuple[int, Outcome]] = []
        self.done: list[Got | Get | None] = [None] * len(reads)

    @staticmethod
    def of(paths: Paths, box: Box, reads: list[Any]) -> Whole | None:
        """None where something of it needs a plan."""
        session = paths.standing()
        if session is None or not 0 < len(reads) <= MOST_OF_A_BATCH or _native.batch() is None:
            return None
        made = Whole(paths, box, session, reads)
        made._windows = made._describe()
        return made if made._windows is not None else None

    def _describe(self) -> object:
        regions = self._paths.regions.known_to(self._session)
        return _native.batch().railhead_describe(self._reads, len(self._reads), _writable, regions, len(regions), PIECE_BYTES,
                                                 self.first_user, self.requests)

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
        self._fail_fast = fail_fast
        try:
            asked = yield from self._ask_all()
        except BaseException:
            try:
                yield from self._drain()
            except AssertionError:
                raise
            except BaseException:  # an interrupt, before it had begun
                yield from self._drain()
            raise
        finally:
            self.box.whole = None
            self._paths.count(self._session.via, sum([each.length for each in self.done if isinstance(each, Got)]))
        not_asked = [self._job(at) for at in range(asked, len(self._reads))]
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
            self.box.arrived.clear()

    def _ask(self, asked: int, count: int) -> tuple[int, int]:
        """For as many more as there is room for: how many were asked for then, and how many will be."""
        in_flight = self._paths.settings.in_flight
        end = min(count, asked + in_flight - len(self.left))
        self._enough = in_flight // 2 if end < count else 0
        try:
            self._session.submit(self, asked, end)
        except (errors.ConnectionLost, ValueError, Stale):
            # Of many, all were refused for one of them: a transfer asks for each.
            self._enough = 0
            end = count = asked
        self.box.whole = self if end == count else None
        return end, count

    def _job(self, at: int) -> Get:
        read = Read(*self._reads[at])
        self.done[at] = job = Get(read.url, *read.target())
        return job

    def _drain(self) -> Steps[None]:
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
