"""Reads that need no plan: one request each, straight into memory that the session knows, all at once."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from railhead import _native, errors
from railhead._jobs import PIECE_BYTES, Get, Head
from railhead._memory import View
from railhead._paths import Paths
from railhead._session import Batch, Box, Outcome, Session, outcome_of
from railhead._settings import split
from railhead._transfer import Steps, Transfer

# A Request as _native has it: setting its fields one by one takes five times as long.
_REQUEST = struct.Struct("@IIPPPPPPPQQQQIIQ32x")
_REQUEST_BYTES = ctypes.sizeof(_native.Request)


@dataclass(frozen=True)
class Got:
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


_new_object, _set = object.__new__, object.__setattr__

Wanted = tuple[str, View, int]  # the URL, the memory, and where in the object it begins


class _Name:
    """Bucket and key where C reads them."""

    def __init__(self, url: str) -> None:
        bucket, key = (each.encode() for each in split(url))
        self._text = ctypes.c_char_p(bucket + b"\0" + key)
        self.bucket = ctypes.cast(self._text, ctypes.c_void_p).value
        assert self.bucket
        self.key = self.bucket + len(bucket) + 1


_name = lru_cache(4096)(_Name)  # programs read the same again


class Whole(Batch):
    """
    What is `wanted`, as one batch that is of use only whole: its caller is waken when all has come, or when something has not
    come as it should. That is a transfer's from then on, as if it had asked for it.
    """

    def __init__(self, paths: Paths, box: Box, session: Session, wanted: Sequence[Wanted]) -> None:
        super().__init__(box, session, len(wanted))
        self._paths = paths
        self._session = session
        self._wanted = wanted
        self._names: list[_Name] = []
        self._troubles: list[tuple[int, Outcome]] = []
        self._moved = 0
        self.done: list[Got | Get | None] = [None] * len(wanted)

    @staticmethod
    def of(paths: Paths, box: Box, wanted: Sequence[Wanted]) -> Whole | None:
        """None where something of it needs a plan."""
        session = paths.standing()
        if session is None or not 0 < len(wanted) <= paths.settings.in_flight:
            return None
        made = Whole(paths, box, session, wanted)
        return made if made._describe() else None

    def _describe(self) -> bool:
        requests, names, session, around = self.requests, self._names, self._session, self._paths.regions.around
        pack, at, get, user = _REQUEST.pack_into, 0, _native.GET, self.first_user
        for url, view, start in self._wanted:
            address, nbytes, _, _ = view
            region = around(view) if 0 < nbytes <= PIECE_BYTES else None
            if region is None or not (handle := region.known(session)):
                return False
            try:
                name = _name(url)
            except UnicodeEncodeError:
                return False
            names.append(name)
            flags, last = (_native.RANGE, start + nbytes - 1) if start else (0, 0)
            pack(requests, at, get, flags, name.bucket, name.key, 0, 0, 0, 0, handle, address - region.memory.address, nbytes,
                 start, last, 0, 0, user)
            at += _REQUEST_BYTES
            user += 1
        return True

    def came(self, at: int, completion: _native.Completion) -> bool:
        _, (_, expected, _, _), start = self._wanted[at]
        moved, size = completion.bytes, completion.object_bytes
        if size - start < expected:
            expected = max(0, size - start)
        if completion.result == _native.OK and moved == expected and not completion.flags & _native.WINDOW_HELD:
            if at in self.left:
                self._moved += moved
            self.done[at] = made = _new_object(Got)
            # As Got(...), which takes twice as long.
            _set(made, "__dict__", {"length": moved, "size": size, "etag": completion.etag.decode(), "via": self._session.via,
                                    "cache": _native.CACHE[completion.cache]})
        else:
            self._troubles.append((at, outcome_of(completion)))
        self.left.discard(at)
        if self.left and not self._troubles:
            return False
        self.box.arrived.append((None, None))
        return True

    def run(self, *, fail_fast: bool) -> Steps[list[Any]]:
        """Each one's Got, or its error."""
        box, transfer, not_asked = self.box, None, []
        try:
            try:
                self._session.submit(self)
            except (errors.ConnectionLost, ValueError):
                # Of many, all were refused for one of them.
                not_asked = [self._job(at) for at in range(len(self._wanted))]
            box.whole = self
            while True:
                is_last = not self.left  # before it looks for troubles: none comes behind the last
                if self._troubles:
                    transfer = transfer or Transfer(self._paths, box, fail_fast=fail_fast)
                    self._give_to(transfer)
                if is_last:
                    break
                yield self._session
                box.arrived.clear()
        except BaseException:
            yield from self._drain()
            raise
        finally:
            box.whole = None
            if self._moved:
                self._paths.count(self._session.via, self._moved)
        if not_asked:
            transfer = Transfer(self._paths, box, fail_fast=fail_fast)
        if transfer is None:
            return list(self.done)
        if not_asked or not transfer.is_done:
            yield from transfer.run(not_asked)
        return [got_of(each) if isinstance(each, Get) else each for each in self.done]

    def _job(self, at: int) -> Get:
        url, view, start = self._wanted[at]
        self.done[at] = job = Get(url, view, start)
        return job

    def _give_to(self, transfer: Transfer) -> None:
        while self._troubles:
            at, outcome = self._troubles.pop(0)
            if self.done[at] is None:  # not yet given
                transfer.take(self._job(at), outcome, self._session)

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
