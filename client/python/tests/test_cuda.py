"""Copies to and from a GPU, by a driver that is made here: no test of this project's ran on a GPU."""

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Rack, content, needs_cc

import railhead
from railhead import _cuda, _memory

pytestmark = needs_cc
MIB = 1 << 20


class OnTheGpu:
    """An array that says by DLPack that it is a GPU's; its bytes are the host's."""

    def __init__(self, nbytes: int, data: bytes = b"") -> None:
        self.memory = bytearray(data or nbytes)
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: Any = None) -> Any:
        self.streams.append(stream)
        numpy = pytest.importorskip("numpy")
        return numpy.frombuffer(self.memory, numpy.uint8).__dlpack__()


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ctypes.CDLL]:
    library = tmp_path / "libcuda.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Werror", Path(__file__).with_name("fake_cuda.c"), "-o", library],
                   check=True)
    monkeypatch.setenv("RAILHEAD_CUDA_LIBRARY", str(library))
    _cuda._driver.cache_clear()
    _cuda._devices.clear()
    yield _cuda._driver()
    _cuda._driver.cache_clear()
    _cuda._devices.clear()


def counter(driver: ctypes.CDLL, name: str) -> int:
    return ctypes.c_int.in_dll(driver, f"fake_cuda_{name}").value


@pytest.mark.parametrize("fabric", ["loopback", "http"])
def test_bytes_are_there_when_the_call_returns(running: Rack, driver: ctypes.CDLL, fabric: str) -> None:
    data = content(40 * MIB + 5)
    with running.client(fabric=fabric, ring=32 * MIB) as client:
        client.put_from("s3://data/gpu", data)
        array = OnTheGpu(len(data))
        moved: list[int] = []
        [got] = client.get_many([("s3://data/gpu", array)], progress=moved.append)
        assert (got.length, got.via) == (len(data), fabric)
        assert array.memory == data
        assert sum(moved) == len(data)
        assert array.streams == [_cuda.device(0).stream], "the program's own work on it comes first"
        assert counter(driver, "copies") == 41
        assert counter(driver, "pending_at_most") > 1, "copies overlap with one another and with requests"


def test_put(running: Rack, driver: ctypes.CDLL) -> None:
    for nbytes in (MIB, 20 * MIB):
        data = content(nbytes, 8)
        with running.client(fabric="loopback", ring=32 * MIB) as client:
            client.put_from("s3://data/from-gpu", OnTheGpu(nbytes, data))
            assert client.get("s3://data/from-gpu") == data


def test_copy_that_fails(running: Rack, driver: ctypes.CDLL) -> None:
    data = content(20 * MIB)
    with running.client(fabric="loopback", ring=32 * MIB) as client:
        client.put_from("s3://data/gpu", data)
        ctypes.c_int.in_dll(driver, "fake_cuda_fail_after").value = 7
        with pytest.raises(railhead.RailheadError, match="CUDA's error 700"):
            client.get_into("s3://data/gpu", OnTheGpu(len(data)))
        ctypes.c_int.in_dll(driver, "fake_cuda_fail_after").value = -1
        array = OnTheGpu(len(data))
        client.get_into("s3://data/gpu", array)
        assert array.memory == data, "the ring is whole again"


def test_registered_where_there_is_no_adapter_is_copied(running: Rack, driver: ctypes.CDLL) -> None:
    data = content(3 * MIB)
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/gpu", data)
        array = OnTheGpu(len(data))
        with client.register(array):
            client.get_into("s3://data/gpu", array)
        assert array.memory == data
        assert "over verbs only" in client.report().memory


def test_no_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAILHEAD_CUDA_LIBRARY", str(tmp_path / "none.so"))
    _cuda._driver.cache_clear()
    _cuda._devices.clear()
    with pytest.raises(railhead.Unavailable, match="no CUDA driver"):
        _memory.view(OnTheGpu(10), writable=True)
    _cuda._driver.cache_clear()


def test_descriptor_of_a_gpu_s_memory(driver: ctypes.CDLL) -> None:
    """Without cuMemGetHandleForAddressRange the memory is named by its address, as peer memory modules know it."""
    named = []

    class Session:
        via = "verbs"
        handles: dict[Any, int] = {}  # noqa: RUF012

        def register(self, memory: _memory.View, descriptor: int, offset: int, flush: Any) -> int:
            named.append((memory.address, descriptor, offset, flush is not None))
            return 7

    region = _cuda.CudaRegion(_memory.View(4096 * 3 + 100, 5000, None, cuda=0))
    assert region.buffer(Session()) == 7
    assert named == [(4096 * 3 + 100, -1, 0, True)]
