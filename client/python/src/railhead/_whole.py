"""Reads that need no plan: one request each, straight into memory that the session knows, all at once."""

from __future__ import annotations

import ctypes
import struct
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from railhead import _native, errors
from railhead._jobs import PIECE_BYTES, Get
from railhead._memory import Region, View
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


_new_object = object.__new__

Wanted = tuple[str, View, int]  # the URL, the memory, and where in the object it begins
_Place = tuple[Region, int, bytes]  # with the session's handle of it; bucket and key as C has them


class Whole(Batch):
    """
    What is `wanted`, as one batch that is of use only whole: its caller is waken when all has come, or when something has not
    come as it should. That is a transfer's from then on, as if it had asked for it.
    """

    def __init__(self, paths: Paths, box: Box, session: Session, wanted: Sequence[Wanted], places: Sequence[_Place]) -> None:
        super().__init__(box, len(wanted))
        self._paths = paths
        self._session = session
        self._via = session.via
        self._wanted = wanted
        self._places = places
        self._troubles: deque[tuple[int, Outcome]] = deque()
        self.done: list[Got | Get | None] = [None] * len(wanted)

    @staticmethod
    def of(paths: Paths, box: Box, wanted: Sequence[Wanted]) -> Whole | None:
        """None where something of it needs a plan."""
        session = paths.standing()
        if session is None or not 0 < len(wanted) <= paths.settings.in_flight:
            return None
        places, region_of = [], paths.region
        for url, view, _ in wanted:
            region = region_of(view) if 0 < view.nbytes <= PIECE_BYTES else None
            if region is None or not (handle := region.known(session)):
                return None
            bucket, key = split(url)
            try:
                places.append((region, handle, f"{bucket}\0{key}\0".encode()))
            except UnicodeEncodeError:
                return None
        return Whole(paths, box, session, wanted, places)

    def fill(self, requests: ctypes.Array[_native.Request], user: int) -> None:
        texts = b"".join(text for _, _, text in self._places)
        self._texts = ctypes.c_char_p(texts)  # alive while the library reads them
        name = ctypes.cast(self._texts, ctypes.c_void_p).value or 0
        pack, at, get, part = _REQUEST.pack_into, 0, _native.GET, _native.RANGE
        for (_, (address, nbytes, _, _), start), (region, handle, text) in zip(self._wanted, self._places, strict=True):
            flags, last = (part, start + nbytes - 1) if start else (0, 0)
            pack(requests, at, get, flags, name, name + text.index(0) + 1, 0, 0, 0, 0, handle,
                 address - region.memory.address, nbytes, start, last, 0, 0, user)
            at += _REQUEST_BYTES
            name += len(text)
            user += 1

    def came(self, at: int, completion: _native.Completion) -> bool:
        _, view, start = self._wanted[at]
        moved, size, expected = completion.bytes, completion.object_bytes, view.nbytes
        if size - start < expected:
            expected = max(0, size - start)
        if completion.result == _native.OK and moved == expected and not completion.flags & _native.WINDOW_HELD:
            self.done[at] = made = _new_object(Got)
            # As Got(...), which takes twice as long.
            made.__dict__.update(length=moved, size=size, etag=completion.etag.decode(), via=self._via,
                                 cache=_native.CACHE[completion.cache])
        else:
            self._troubles.append((at, outcome_of(completion)))
        self.left.discard(at)
        if self.left and not self._troubles:
            return False
        self.box.arrived.append((None, None))
        return True

    def run(self, transfer: Transfer) -> Steps[list[Get]]:
        """What was not asked for. `done` has, at its place, what was: a Got, or what the transfer has to do with."""
        box, left = self.box, self.left
        try:
            try:
                self._session.submit(self)
            except (errors.ConnectionLost, ValueError):
                # Of many, all were refused for one of them.
                return [self._get(at) for at in range(len(self._wanted))]
            box.whole = self
            is_left = True
            while is_left:
                yield self._session
                box.arrived.clear()
                is_left = bool(left)  # before it looks for troubles: none comes behind the last
                self._see_to_troubles(transfer)
        except BaseException:
            yield from self._drain()
            raise
        finally:
            box.whole = None
            self._paths.count(self._via, sum(each.length for each in self.done if isinstance(each, Got)))
        return []

    def _get(self, at: int) -> Get:
        url, view, start = self._wanted[at]
        self.done[at] = job = Get(url, view, start)
        return job

    def _see_to_troubles(self, transfer: Transfer) -> None:
        while self._troubles:
            at, outcome = self._troubles.popleft()
            if self.done[at] is None:  # not yet seen to
                transfer.take(self._get(at), outcome, self._session)

    def _drain(self) -> Steps[None]:
        """Nothing that is thrown in meanwhile is a reason to leave memory with the gateway."""
        self.box.whole = None
        self._session.cancel(self.box)
        while self.left:
            try:
                yield self._session
                self.box.arrived.clear()
            except AssertionError:
                raise
            except BaseException:  # noqa: S112
                continue
