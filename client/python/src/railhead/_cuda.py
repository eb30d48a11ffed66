"""CUDA's driver, as far as bytes are moved: copies on a stream of our own, and memory named to an RDMA adapter."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import cache
from typing import Any

from railhead import errors
from railhead._memory import Region, View

_STREAM_NON_BLOCKING = 1
_EVENT_DISABLE_TIMING = 2
_HOST_REGISTER_PORTABLE = 1
_RANGE_HANDLE_DMA_BUF = 1
_ALREADY_REGISTERED = 712
_NOT_READY = 600

_CURRENT_CONTEXT = 0
_TO_ALL_DEVICES = 200

_FlushFunction = ctypes.CFUNCTYPE(c_int, c_void_p)

_FUNCTIONS: dict[str, list[Any]] = {
    "cuInit": [c_uint],
    "cuDeviceGet": [c_void_p, c_int],
    "cuDevicePrimaryCtxRetain": [c_void_p, c_int],
    "cuCtxPushCurrent_v2": [c_void_p],
    "cuCtxPopCurrent_v2": [c_void_p],
    "cuStreamCreate": [c_void_p, c_uint],
    "cuStreamSynchronize": [c_void_p],
    "cuMemHostRegister_v2": [c_void_p, c_size_t, c_uint],
    "cuMemHostUnregister": [c_void_p],
    "cuMemcpyHtoDAsync_v2": [c_uint64, c_void_p, c_size_t, c_void_p],
    "cuMemcpyDtoHAsync_v2": [c_void_p, c_uint64, c_size_t, c_void_p],
    "cuEventCreate": [c_void_p, c_uint],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuEventQuery": [c_void_p],
    "cuEventSynchronize": [c_void_p],
    "cuEventDestroy_v2": [c_void_p],
    "cuFlushGPUDirectRDMAWrites": [c_int, c_int],
    "cuMemGetHandleForAddressRange": [c_void_p, c_uint64, c_size_t, c_int, c_uint64],
}


@cache
def _driver() -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(os.environ.get("RAILHEAD_CUDA_LIBRARY", "libcuda.so.1"))
    except OSError as error:
        raise errors.Unavailable(f"no CUDA driver: {error}") from error
    for name, arguments in _FUNCTIONS.items():
        function = getattr(loaded, name, None)
        if function is not None:
            function.restype, function.argtypes = c_int, arguments
    return loaded


def _check(result: int, what: str) -> None:
    if result:
        raise errors.RailheadError(f"{what}: CUDA's error {result}")


class Event:
    """The end of the copies that were begun before it."""

    def __init__(self, device: Device, handle: c_void_p) -> None:
        self._device = device
        self._handle = handle

    def is_over(self) -> bool:
        result: int = _driver().cuEventQuery(self._handle)
        if result != _NOT_READY:
            _check(result, "cuEventQuery")
        return result != _NOT_READY

    def wait(self) -> None:
        with self._device:
            _check(_driver().cuEventSynchronize(self._handle), "cuEventSynchronize")

    def __del__(self) -> None:
        _driver().cuEventDestroy_v2(self._handle)


class Device:
    """
    One GPU, by its primary context, with a stream for the copies of this package.

    Threads: any; a context is current only within a call. Copies are ordered by the stream and not by the program's: who
    passes an array by DLPack has its earlier work done first, and a call returns when its copies are over.
    """

    def __init__(self, number: int) -> None:
        driver = _driver()
        device, self._context, self._stream = c_int(), c_void_p(), c_void_p()
        _check(driver.cuInit(0), "cuInit")
        _check(driver.cuDeviceGet(byref(device), number), "cuDeviceGet")
        _check(driver.cuDevicePrimaryCtxRetain(byref(self._context), device), "cuDevicePrimaryCtxRetain")
        self.flush = _FlushFunction(self._flush)
        with self:
            _check(driver.cuStreamCreate(byref(self._stream), _STREAM_NON_BLOCKING), "cuStreamCreate")

    def __enter__(self) -> Device:
        _check(_driver().cuCtxPushCurrent_v2(self._context), "cuCtxPushCurrent")
        return self

    def __exit__(self, *_: object) -> None:
        _driver().cuCtxPopCurrent_v2(byref(c_void_p()))

    @property
    def stream(self) -> int:
        return self._stream.value or 0

    def settle(self) -> None:
        """Waits for all that the stream was made to wait for."""
        with self:
            _check(_driver().cuStreamSynchronize(self._stream), "cuStreamSynchronize")

    def pin(self, memory: View) -> None:
        """So that copies from and to this memory of the host overlap with others; for every GPU."""
        with self:
            result = _driver().cuMemHostRegister_v2(memory.address, memory.nbytes, _HOST_REGISTER_PORTABLE)
        if result != _ALREADY_REGISTERED:
            _check(result, "cuMemHostRegister")

    def unpin(self, memory: View) -> None:
        with self:
            _driver().cuMemHostUnregister(memory.address)

    def from_host(self, to: int, source: int, nbytes: int) -> Event:
        with self:
            _check(_driver().cuMemcpyHtoDAsync_v2(to, source, nbytes, self._stream), "cuMemcpyHtoDAsync")
            return self._record()

    def to_host(self, to: int, source: int, nbytes: int) -> Event:
        with self:
            _check(_driver().cuMemcpyDtoHAsync_v2(to, source, nbytes, self._stream), "cuMemcpyDtoHAsync")
            return self._record()

    def _flush(self, _context: int | None) -> int:
        """What an adapter wrote becomes visible; the library calls this on the thread that collects completions."""
        try:
            with self:
                result: int = _driver().cuFlushGPUDirectRDMAWrites(_CURRENT_CONTEXT, _TO_ALL_DEVICES)
                return result
        except Exception:  # nothing may be raised through the library
            return 1

    def _record(self) -> Event:
        event = c_void_p()
        _check(_driver().cuEventCreate(byref(event), _EVENT_DISABLE_TIMING), "cuEventCreate")
        made = Event(self, event)
        _check(_driver().cuEventRecord(event, self._stream), "cuEventRecord")
        return made

    def dma_buf(self, memory: View) -> tuple[int, int]:
        """A descriptor of the pages that the memory lies in, the caller's to close, and where in them it begins."""
        page = os.sysconf("SC_PAGESIZE")
        first = memory.address & -page
        end = (memory.address + memory.nbytes + page - 1) & -page
        function = getattr(_driver(), "cuMemGetHandleForAddressRange", None)
        if function is None:
            raise errors.Unavailable("CUDA's driver knows no dma-buf; it takes 11.7 or later")
        descriptor = c_int(-1)
        with self:
            _check(function(byref(descriptor), first, end - first, _RANGE_HANDLE_DMA_BUF, 0), "cuMemGetHandleForAddressRange")
        return descriptor.value, memory.address - first


_devices: dict[int, Device] = {}
_lock = threading.Lock()


def device(number: int) -> Device:
    with _lock:
        if number not in _devices:
            _devices[number] = Device(number)
        return _devices[number]


class CudaRegion(Region):
    """A GPU's memory, written by the adapter itself: by a dma-buf, else by address where a peer memory module knows it."""

    def register(self, session: Any) -> int:
        assert self.memory.cuda is not None
        if session.via != "verbs":
            raise errors.Unavailable("a GPU's memory is registered over verbs only")
        owner = device(self.memory.cuda)
        buffer: int
        try:
            descriptor, offset = owner.dma_buf(self.memory)
        except errors.RailheadError:
            buffer = session.register(self.memory, -1, 0, owner.flush)
        else:
            try:
                buffer = session.register(self.memory, descriptor, offset, owner.flush)
            finally:
                os.close(descriptor)
        return buffer
