"""fastsafetensors' loader with files of a gateway: by the package itself."""

from __future__ import annotations

import types
from typing import Any

import pytest
from conftest import Rack, ScriptedStore
from dict_store import DictStore
from test_vllm_loader import safetensors

import railhead

torch = pytest.importorskip("torch")
fastsafetensors = pytest.importorskip("fastsafetensors", reason="no fastsafetensors; pip install fastsafetensors==0.5.0")

from fastsafetensors.st_types import DeviceType  # noqa: E402

from railhead.engines.fastsafetensors import RailheadCopier, RailheadFileLoader  # noqa: E402

FILES: dict[str, dict[str, Any]] = {"a.safetensors": {"one": torch.arange(4.0), "two": torch.arange(3.0)},
                                    "b.safetensors": {"three": torch.ones(50_000)}}


def loaded(client: railhead.Client, urls: list[str], keep: Any = None) -> dict[str, Any]:
    loader = RailheadFileLoader(fastsafetensors.SingleGroup(), client=client)
    loader.set_tensor_filter(keep)
    loader.add_filenames({0: urls})
    buffers = loader.copy_files_to_device()
    try:
        return {name: buffers.get_tensor(name).clone() for name in loader.get_keys()}
    finally:
        buffers.close()
        loader.close()


def assert_same(got: dict[str, Any], *files: str) -> None:
    wanted = {name: each for file in files for name, each in FILES[file].items()}
    assert got.keys() == wanted.keys()
    assert all(torch.equal(got[name], each) for name, each in wanted.items())


@pytest.mark.parametrize("fabric", ["loopback", "http"])
def test_files_of_a_gateway_are_loaded(running: Rack, fabric: str) -> None:
    with running.client(fabric=fabric) as client:
        for name, tensors in FILES.items():
            client.put_from(f"s3://data/fast/{name}", safetensors(tensors))
        assert_same(loaded(client, [f"s3://data/fast/{name}" for name in FILES]), *FILES)


def test_tensors_that_are_not_wanted_are_not_read(scripted: ScriptedStore) -> None:
    scripted.script = store = DictStore()
    store.objects["/data/a"] = safetensors(FILES["a.safetensors"])
    with scripted.client() as client:
        got = loaded(client, ["s3://data/a"], lambda name: name == "two")
        assert {name: each.tolist() for name, each in got.items()} == {"two": [0, 1, 2]}
        moved = sum(client.report().bytes_by_path.values())
    assert moved == len(store.objects["/data/a"]) + FILES["a.safetensors"]["two"].nbytes


class FakeBuffer:
    def get_base_address(self) -> int:
        return 1 << 20


class Recorder:
    """Stands for the framework and the client, and records what is asked of them in this order."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self._paths = self

    def alloc_tensor_memory(self, nbytes: int, device: Any) -> FakeBuffer:
        self.told.append("alloc")
        return FakeBuffer()

    def synchronize(self, device: Any) -> None:
        self.told.append("synchronize")

    def reaches(self, memory: Any) -> bool:
        return True

    def get_many(self, reads: list[Any]) -> list[Any]:
        self.told.append(("read", reads[0].buffer.cuda))
        return [types.SimpleNamespace(etag="e", length=each.buffer.nbytes) for each in reads]


@pytest.mark.parametrize(("index", "gpu"), [(None, 3), (0, 0), (1, 1)])
def test_earlier_work_of_the_gpu_is_over_before_the_read(index: int | None, gpu: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    recorder = Recorder()
    metadata = types.SimpleNamespace(header_length=8, size_bytes=20, src="s3://data/a")
    device = types.SimpleNamespace(type=DeviceType.CUDA, index=index)
    RailheadCopier(recorder, "e", metadata, device, recorder).submit_io(False, 0)  # type: ignore[arg-type]
    assert recorder.told == ["alloc", "synchronize", ("read", gpu)]


def test_a_file_that_changes_is_not_loaded(scripted: ScriptedStore) -> None:
    scripted.script = store = DictStore()
    store.objects["/data/a"] = safetensors(FILES["a.safetensors"])
    with scripted.client() as client:
        loader = RailheadFileLoader(fastsafetensors.SingleGroup(), client=client)
        loader.add_filenames({0: ["s3://data/a"]})
        store.objects["/data/a"] = store.objects["/data/a"][:-4]
        with pytest.raises(railhead.PreconditionFailed, match="changed"):
            loader.copy_files_to_device()


def test_what_is_no_safetensors_file_is_named(scripted: ScriptedStore) -> None:
    scripted.script = store = DictStore()
    store.objects["/data/a"] = b"short"
    with scripted.client() as client:
        loader = RailheadFileLoader(fastsafetensors.SingleGroup(), client=client)
        with pytest.raises(ValueError, match="not a safetensors file: s3://data/a"):
            loader.add_filenames({0: ["s3://data/a"]})
        with pytest.raises(railhead.NotFound):
            loader.add_filenames({0: ["s3://data/none"]})
