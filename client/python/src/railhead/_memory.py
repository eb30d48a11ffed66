"""Addresses of other people's memory, and memory of our own that a gateway can reach."""

from __future__ import annotations

import ctypes
import fcntl
import math
import mmap
import os
import re
import threading
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from copy import copy as copy_of
from itertools import accumulate
from typing import Any, NamedTuple

from railhead import _native

_HOST_DEVICES = (1, 3, 13)  # DLPack's CPU, CUDA's pinned and managed memory
_CUDA = 2

# Windows that a gateway may still touch, with what keeps them mapped: until the process ends.
held: list[object] = []


class _Export(ctypes.Structure):
    """A Py_buffer: as long as it lives, the object's memory neither moves nor goes."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]

    def __del__(self) -> None:
        _release_buffer(self)  # does nothing where there is none


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_Export), ctypes.c_int]
_get_buffer.restype = ctypes.c_int
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_Export)]
_release_buffer.restype = None
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule_pointer.restype = ctypes.c_void_p
_PyBUF_SIMPLE, _PyBUF_WRITABLE = 0, 1


class View(NamedTuple):
    """`nbytes` bytes from `address`, in a GPU's memory where `cuda` is its number; there as long as `owner` is."""

    address: int
    nbytes: int
    owner: object
    cuda: int | None = None

    def contains(self, other: View) -> bool:
        return (self.cuda == other.cuda and self.address <= other.address
                and other.address + other.nbytes <= self.address + self.nbytes)

    def part(self, start: int, nbytes: int) -> View:
        if nbytes == self.nbytes and not start:
            return self
        return View(self.address + start, nbytes, self.owner, self.cuda)


_FIELD_NAME = re.compile(":[^:]*:")  # in a buffer's format


def view(buffer: Any, *, writable: bool) -> View:
    """Any C-contiguous memory. BufferError and TypeError say what is wrong with it."""
    if isinstance(buffer, View):
        return buffer
    export = _Export()
    try:
        _get_buffer(buffer, export, _PyBUF_WRITABLE if writable else _PyBUF_SIMPLE)
    except TypeError:
        if not hasattr(buffer, "__dlpack__"):
            raise TypeError(f"neither the buffer protocol nor DLPack: {type(buffer).__name__}") from None
        return _by_dlpack(buffer)
    except ValueError as error:  # NumPy's word for it
        raise BufferError(str(error)) from error
    _refuse_objects(buffer)
    return View(export.buf or 0, export.len, export)


def _refuse_objects(buffer: Any) -> None:
    """Python objects lie in memory as pointers, which are nobody else's, and which the next look follows."""
    try:
        format_ = memoryview(buffer).format
        has_objects = "O" in format_ and "O" in _FIELD_NAME.sub("", format_)
    except ValueError:  # NumPy has types that a buffer's format has no letter for
        has_objects = buffer.dtype.hasobject
    if has_objects:
        raise TypeError(f"a buffer of Python objects: {type(buffer).__name__}")


def _by_dlpack(array: Any) -> View:
    device, number = array.__dlpack_device__()
    if device != _CUDA and device not in _HOST_DEVICES:
        raise TypeError(f"neither memory of the host nor CUDA's: DLPack device {device}")
    capsule = _settled(array, number) if device == _CUDA else array.__dlpack__()
    tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    shape = tensor.shape[: tensor.ndim]
    if tensor.strides and not _is_contiguous(shape, tensor.strides[: tensor.ndim]):
        raise BufferError("the array is not C-contiguous")
    nbytes = math.prod(shape) * ((tensor.bits * tensor.lanes + 7) // 8)
    address = (tensor.data or 0) + tensor.byte_offset
    return View(address, nbytes, (capsule, array), number if device == _CUDA else None)


def _settled(array: Any, number: int) -> Any:
    """What the program began on a GPU's array is over: an adapter knows nothing of streams."""
    from railhead import _cuda

    device = _cuda.device(number)
    capsule = array.__dlpack__(stream=device.stream)
    device.settle()
    return capsule


def _is_contiguous(shape: list[int], strides: list[int]) -> bool:
    expected = 1
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and stride != expected:
            return 0 in shape
        expected *= length
    return True


class Region:
    """
    Memory that is registered with sessions, each of which has its handle. What a gateway may still touch is kept mapped.

    Not thread-safe: the client's lock is held around every call that changes it. Owners' threads register a `twin`.
    """

    descriptors = threading.RLock()  # the collector of garbage may come to it in the midst of a thread's use
    is_released = False

    def __init__(self, memory: View, descriptor: int | None = None) -> None:
        self.memory = memory
        self._descriptor = descriptor

    def buffer(self, session: Any) -> int:
        """Its handle; registers it where `session` does not know it yet."""
        if not self.is_known(session):
            session.handles[self] = self.register(session)
        return self.known(session)

    def register(self, session: Any) -> int:
        buffer: int = session.register(self.memory, self._descriptor)
        return buffer

    def known(self, session: Any) -> int:
        """Its handle; 0 where the session does not know it."""
        buffer: int = session.handles.get(self, 0)
        return buffer

    def is_known(self, session: Any) -> bool:
        is_known: bool = session.handles.get(self, 0) != 0
        return is_known

    def twin(self) -> Region | None:
        """The same memory by a descriptor of its own, which goes when it is released; None where this one is."""
        made = copy_of(self)
        with Region.descriptors:
            if self.is_released:
                return None
            made._descriptor = None if self._descriptor is None else os.dup(self._descriptor)
        return made

    def release(self, *sessions: Any) -> None:
        """Returns when the gateways of these sessions touch it no more."""
        with Region.descriptors:
            self.is_released = True
            descriptor, self._descriptor = self._descriptor, None
        for session in sessions:
            if buffer := session.handles.pop(self, 0):
                session.release(buffer)
        if descriptor is not None:
            os.close(descriptor)


def begin_again() -> None:
    """In a child of fork, where no thread is that held the lock."""
    Region.descriptors = threading.RLock()


class Regions:
    """Regions by where they lie, which may overlap. Immutable, so that who looks one up takes no lock."""

    def __init__(self, regions: Iterable[Region] = ()) -> None:
        self._regions = sorted(regions, key=lambda region: region.memory.address)
        self._starts = [region.memory.address for region in self._regions]
        ends = (region.memory.address + region.memory.nbytes for region in self._regions)
        self._reaches = list(accumulate(ends, max))
        self._known: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # by session

    def __iter__(self) -> Iterator[Region]:
        return iter(self._regions)

    def around(self, view: View) -> Region | None:
        """One that the view lies in."""
        address, nbytes, _, cuda = view
        end = address + nbytes
        at = bisect_right(self._starts, address) - 1
        while at >= 0 and self._reaches[at] >= end:
            region = self._regions[at]
            start, length, _, there = region.memory
            if end <= start + length and there == cuda:
                return region
            at -= 1
        return None

    def known_to(self, session: Any) -> Any:
        """As batch.c looks them up."""
        changes = len(session.handles), session.releases
        before, known = self._known.get(session, (None, None))
        if before != changes:
            handles = [(region.memory, handle) for region in self._regions if (handle := region.known(session))]
            known = (_native.Region * len(handles))()
            reach = 0
            for each, ((start, nbytes, _, cuda), handle) in zip(known, handles, strict=True):
                each.start, each.end, each.buffer = start, start + nbytes, handle
                each.reach = reach = max(reach, each.end)
                each.cuda = -1 if cuda is None else cuda
            self._known[session] = changes, known
        return known

    def with_(self, region: Region) -> Regions:
        return Regions([*self._regions, region])

    def without(self, region: Region) -> Regions:
        return Regions(each for each in self._regions if each is not region)


def count_of(shape: int | tuple[int, ...]) -> int:
    """Numbers in an array of that shape."""
    dimensions = shape if isinstance(shape, tuple) else (shape,)
    if any(each < 0 for each in dimensions):
        raise ValueError(f"not a shape: {shape}")
    return math.prod(dimensions)


def allocate(nbytes: int, shared: bool) -> tuple[Any, Region]:
    """A zeroed array of bytes, page-aligned, and its region. Shared memory fits every fabric, anonymous memory verbs."""
    if not 0 < nbytes < 1 << 63:
        raise ValueError(f"not a length of memory: {nbytes}")
    descriptor = _sealed(nbytes) if shared else None
    try:
        mapping = _Mapping(nbytes, descriptor)
    except BaseException:
        if descriptor is not None:
            os.close(descriptor)
        raise
    array: Any = (ctypes.c_ubyte * nbytes).from_address(mapping.address)
    array.mapping = mapping
    # The region keeps the mapping, not the array: when the array is gone, nobody can come to a window any more.
    return array, Region(View(mapping.address, nbytes, mapping), descriptor)


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mmap.restype = ctypes.c_void_p
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class _Mapping:
    """Pages, until nothing refers to them. Python's own mmap would hold a second descriptor for each."""

    def __init__(self, nbytes: int, descriptor: int | None) -> None:
        flags = mmap.MAP_SHARED if descriptor is not None else mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        mapped = _libc.mmap(None, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1 if descriptor is None else descriptor, 0)
        if mapped == ctypes.c_void_p(-1).value:
            raise MemoryError(f"{nbytes} bytes cannot be mapped: {os.strerror(ctypes.get_errno())}")
        self.address: int = mapped
        self._nbytes = nbytes

    # At the program's end the module's own names may be gone.
    def __del__(self, unmap: Callable[[int, int], object] = _libc.munmap) -> None:
        if "address" in self.__dict__:
            unmap(self.address, self._nbytes)


def _sealed(nbytes: int) -> int:
    descriptor = os.memfd_create("railhead", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, nbytes)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def copy(to: int, source: int, nbytes: int) -> None:
    """Other threads run meanwhile."""
    ctypes.memmove(to, source, nbytes)


