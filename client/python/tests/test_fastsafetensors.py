"""fastsafetensors' loader with files of a gateway: by the package itself."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Rack, ScriptedStore
from dict_store import DictStore
from test_vllm_loader import safetensors

import railhead

torch = pytest.importorskip("torch")
fastsafetensors = pytest.importorskip("fastsafetensors", reason="no fastsafetensors; pip install fastsafetensors==0.5.0")

from railhead.engines.fastsafetensors import RailheadFileLoader  # noqa: E402

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
