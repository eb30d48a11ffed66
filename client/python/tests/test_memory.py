"""Addresses of memory, and the ring."""

import array
import ctypes
import mmap
import os
import random
import signal
import sys
import threading
from itertools import pairwise
from typing import Any

import pytest

import railhead
from railhead import _memory
from railhead._memory import Region, Regions, View
from railhead._ring import _MOST_REGIONS, Ring, Slot
from railhead._session import Box

np = pytest.importorskip("numpy")


def test_address_and_length_of_what_has_a_buffer() -> None:
    numbers = array.array("d", [1, 2, 3])
    view = _memory.view(numbers, writable=True)
    assert (view.address, view.nbytes) == (numbers.buffer_info()[0], 24)
    ctypes.memset(view.address, 0, view.nbytes)
    assert list(numbers) == [0, 0, 0]


def test_memory_is_held_while_there_is_a_view() -> None:
    data = bytearray(100)
    view = _memory.view(data, writable=True)
    with pytest.raises(BufferError):
        data.append(1)
    del view
    data.append(1)


def test_memory_goes_at_the_programs_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    array, region = _memory.allocate(4096, shared=False)
    monkeypatch.setattr(_memory, "_libc", None)
    del array, region  # what is raised now is a warning, and so an error


def test_mapping_cannot_be_closed_while_there_is_a_view() -> None:
    mapping = mmap.mmap(-1, 4096)
    view = _memory.view(mapping, writable=True)
    with pytest.raises(BufferError):
        mapping.close()
    del view
    mapping.close()


@pytest.mark.parametrize("wrong", [b"read-only", memoryview(b"read-only"), np.zeros((4, 4))[:, 1], "text", 7])
def test_what_cannot_be_written(wrong: Any) -> None:
    with pytest.raises((BufferError, TypeError, ValueError)):
        _memory.view(wrong, writable=True)


class Holder(ctypes.Structure):
    _fields_ = (("held", ctypes.py_object),)


@pytest.mark.parametrize("objects", [
    np.array([object()]), np.zeros(3, [("number", "i4"), ("inner", [("held", "O")])]),
    np.zeros(3, [("when", "M8[s]"), ("held", "O")]), memoryview(np.array([object()])), (ctypes.py_object * 3)(), Holder()])
@pytest.mark.parametrize("writable", [True, False])
def test_pointers_to_objects_are_no_bytes(objects: Any, writable: bool) -> None:
    with pytest.raises(TypeError, match="Python objects"):
        _memory.view(objects, writable=writable)


@pytest.mark.parametrize("writable", [True, False])
def test_numbers_of_any_type_and_name_are_bytes(writable: bool) -> None:
    for dtype in ("?", "e", "U4", "M8[s]", [("Other", "i4"), ("O", "f8")]):
        numbers = np.zeros(3, dtype)
        assert _memory.view(numbers, writable=writable)[:2] == (numbers.ctypes.data, numbers.nbytes)


def test_bytes_can_be_read() -> None:
    assert ctypes.string_at(_memory.view(b"abc", writable=False).address, 3) == b"abc"


class OnlyDlpack:
    """As torch's tensors are: without a buffer."""

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped

    def __dlpack__(self, **_: Any) -> Any:
        return self.wrapped.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.wrapped.__dlpack_device__()


def test_arrays_that_numpy_refuses() -> None:
    fixed = np.zeros(4)
    fixed.flags.writeable = False
    with pytest.raises(BufferError, match="read-only"):
        _memory.view(fixed, writable=True)
    for strided in (np.zeros(4)[::2], np.zeros((3, 4)).T):
        with pytest.raises(BufferError, match="contiguous"):
            _memory.view(strided, writable=False)


def test_dlpack() -> None:
    numbers = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    view = _memory.view(OnlyDlpack(numbers[1]), writable=True)
    assert (view.address, view.nbytes, view.cuda) == (numbers.ctypes.data + 24, 24, None)


def test_dlpack_that_is_not_contiguous() -> None:
    with pytest.raises(BufferError, match="contiguous"):
        _memory.view(OnlyDlpack(np.zeros((4, 4))[:, 1]), writable=True)


def test_dlpack_of_a_device_that_is_not_known() -> None:
    class Elsewhere(OnlyDlpack):
        def __dlpack_device__(self) -> Any:
            return 10, 0

    with pytest.raises(TypeError, match="device 10"):
        _memory.view(Elsewhere(np.zeros(4)), writable=True)


def test_slots_do_not_overlap_and_all_come_back() -> None:
    ring = Ring(4 << 20, shared=False)
    dice = random.Random(5)
    taken: list[Slot] = []
    for _ in range(5000):
        if taken and dice.random() < 0.5:
            ring.release(taken.pop(dice.randrange(len(taken))))
            continue
        nbytes = dice.choice([1, 5000, 64 << 10, 1 << 20])
        slot = ring._take(nbytes)
        if slot:
            assert slot.memory.nbytes == nbytes
            taken.append(slot)
        spans = sorted((each.at, each.at + each.nbytes) for each in taken)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    for slot in taken:
        ring.release(slot)
    assert ring._free == [(0, 4 << 20)]


def acquired(ring: Ring, nbytes: int, box: Box) -> Slot:
    slot = ring.acquire(nbytes, box)
    assert slot is not None
    return slot


def test_large_slot_has_its_turn() -> None:
    ring = Ring(1 << 20, shared=False)
    first, large, small = Box(), Box(), Box()
    slots = [acquired(ring, 512 << 10, first) for _ in range(2)]
    assert ring.acquire(1 << 20, large) is None
    assert ring.acquire(1, small) is None
    ring.release(slots[0])
    assert not large.arrived
    assert not small.arrived, "it would overtake"
    ring.release(slots[1])
    [(slot, _)] = large.take()
    assert not small.arrived
    ring.release(slot)
    assert len(small.arrived) == 1


def test_who_gave_up_gets_no_slot() -> None:
    ring = Ring(1 << 20, shared=False)
    slot = acquired(ring, 1 << 20, Box())
    box = Box()
    ring.acquire(1, box)
    ring.forget(box)
    ring.release(slot)
    assert not box.arrived
    assert ring._free == [(0, 1 << 20)]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python warns of fork where there are threads")
def test_child_of_fork_gives_memory_back_though_a_thread_was_at_a_descriptor() -> None:
    _, region = _memory.allocate(4096, shared=True)
    is_held, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        with Region.descriptors:
            is_held.set()
            is_over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        region.release()
        os._exit(0)
    is_over.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    region.release()


def test_memory_with_a_slot_that_is_lost_is_replaced() -> None:
    ring = Ring(1 << 20, shared=False)
    box = Box()
    lost, other = (acquired(ring, 512 << 10, Box()) for _ in range(2))
    assert ring.acquire(1 << 20, box) is None
    ring.lose(lost)
    [(told, _)] = box.take()
    assert told.memory.nbytes == 0, "who waits asks again"
    ring.release(told)
    whole = acquired(ring, 1 << 20, box)
    assert whole.region is not lost.region
    ring.release(other)
    ring.lose(other)
    assert ring.acquire(1, box) is None, "what it was cut from is not given again"
    ring.release(whole)
    for _ in range(len(ring.regions), _MOST_REGIONS + 1):
        ring.lose(acquired(ring, 1, box))
    with pytest.raises(railhead.MemoryHeld):
        ring.acquire(1, box)
    assert len(ring.regions) == _MOST_REGIONS


def test_slot_larger_than_the_ring() -> None:
    with pytest.raises(ValueError, match="ring"):
        Ring(1 << 20, shared=False).acquire((1 << 20) + 1, Box())


def test_part_of_a_view() -> None:
    whole = View(1000, 100, None)
    assert whole.part(10, 20) == View(1010, 20, None)
    assert whole.contains(whole.part(10, 90))
    assert not whole.contains(whole.part(10, 91))
    assert not whole.contains(View(1010, 20, None, cuda=0))


def test_region_around_a_view_is_found_however_they_overlap() -> None:
    chance = random.Random(3)
    for _ in range(200):
        made = [Region(View(chance.randrange(200), 1 + chance.randrange(40), None, chance.choice([None, 0])))
                for _ in range(chance.randrange(20))]
        regions = Regions()
        for region in made:
            regions = regions.with_(region)
        if made:
            regions = regions.without(made.pop(chance.randrange(len(made))))
        for _ in range(50):
            view = View(chance.randrange(240), chance.randrange(30), None)
            found = regions.around(view)
            assert (found is not None) == any(region.memory.contains(view) for region in made)
            assert found is None or (found in made and found.memory.contains(view))
