"""Registered memory that other memory is copied through."""

from __future__ import annotations

import bisect
import threading
from collections import deque
from dataclasses import dataclass

from railhead import errors
from railhead._memory import Region, View, allocate
from railhead._session import Box

COPIED_BYTES = 1 << 20  # of a read at a time: small enough to be in the processor's cache when it is copied out
_ALIGNMENT = 4096
_MOST_REGIONS = 8  # of a ring: in all but the last a gateway may still touch something


@dataclass(frozen=True, eq=False)
class Slot:
    """Of whoever acquired it until it is released; one that a gateway may still touch is lost. Of 0 bytes: ask anew."""

    memory: View
    region: Region
    at: int
    nbytes: int


class Ring:
    """
    Slots are given in the order in which they are asked for, so that a large one has its turn too. They are cut from one region,
    and from a new one as soon as one is lost. Threads: any.
    """

    def __init__(self, nbytes: int, shared: bool) -> None:
        self._nbytes = nbytes
        self._shared = shared
        self.regions: list[Region] = []
        self._waiting: deque[tuple[Box, int]] = deque()
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        if len(self.regions) == _MOST_REGIONS:
            raise errors.MemoryHeld("gateways may still touch the memory that is copied through")
        _, self.region = allocate(self._nbytes, self._shared)
        self.regions.append(self.region)
        self._free = [(0, self._nbytes)]  # by place: where, how long
        self._is_lost = False

    def acquire(self, nbytes: int, box: Box) -> Slot | None:
        """None: a slot comes to the box when there is one, as (slot, None)."""
        if nbytes > self._nbytes:
            raise ValueError(f"{nbytes} bytes at a time do not fit into the ring")
        with self._lock:
            if self._is_lost:
                self._begin()
            slot = None if self._waiting else self._take(nbytes)
            if slot is None:
                self._waiting.append((box, nbytes))
            return slot

    def _take(self, nbytes: int) -> Slot | None:
        wanted = max(nbytes + -nbytes % _ALIGNMENT, _ALIGNMENT)
        for i, (at, length) in enumerate(self._free):
            if length >= wanted:
                self._free[i:i + 1] = [(at + wanted, length - wanted)] if length > wanted else []
                return Slot(self.region.memory.part(at, nbytes), self.region, at, wanted)
        return None

    def release(self, slot: Slot) -> None:
        given = []
        with self._lock:
            if slot.region is not self.region or self._is_lost or not slot.nbytes:
                return
            self._put_back(slot.at, slot.nbytes)
            while self._waiting and (next_slot := self._take(self._waiting[0][1])):
                given.append((self._waiting.popleft()[0], next_slot))
        for box, next_slot in given:
            box.put(next_slot, None)

    def lose(self, slot: Slot) -> None:
        """A gateway may touch it as long as the process lives. Who waits asks again, for memory in place of all of the region."""
        with self._lock:
            if slot.region is not self.region:
                return
            self._is_lost = True
            waiting, self._waiting = self._waiting, deque()
        for box, _ in waiting:
            box.put(Slot(slot.memory.part(0, 0), slot.region, 0, 0), None)

    def _put_back(self, at: int, nbytes: int) -> None:
        i = bisect.bisect(self._free, (at, 0))
        if i < len(self._free) and at + nbytes == self._free[i][0]:
            nbytes += self._free.pop(i)[1]
        if i > 0 and sum(self._free[i - 1]) == at:
            at, before = self._free.pop(i - 1)
            i, nbytes = i - 1, nbytes + before
        self._free.insert(i, (at, nbytes))

    def forget(self, box: Box) -> None:
        """Nothing comes to the box any more."""
        with self._lock:
            self._waiting = deque(each for each in self._waiting if each[0] is not box)
