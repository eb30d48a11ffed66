"""vLLM's model loader by the interface of vLLM 0.32.0, which stands here as fakes, and with the package itself where that is."""

from __future__ import annotations

import json
import sys
import types
import warnings
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any, NamedTuple

import pytest
from conftest import KEYS, ScriptedStore
from dict_store import DictStore

import railhead
from railhead.engines import vllm_loader

torch = pytest.importorskip("torch")


class Config(NamedTuple):
    model_loader_extra_config: dict[str, Any]


class FakeLoader:
    def __init__(self, load_config: Config) -> None:
        self.load_config = load_config


class Model:
    """Of a model what a loader calls."""

    def __init__(self) -> None:
        self.loaded: dict[str, Any] = {}

    def load_weights(self, weights: Iterator[tuple[str, Any]]) -> None:
        self.loaded.update(weights)


def safetensors(tensors: dict[str, Any]) -> bytes:
    header: dict[str, Any] = {}
    data = b""
    for name, each in tensors.items():
        raw = bytes(each.view(torch.uint8).tolist())
        header[name] = {"dtype": "F32", "shape": list(each.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Loaders by their format, after the package's own was registered."""
    loaders: dict[str, Any] = {}

    def register(load_format: str) -> Any:
        return lambda loader: loaders.setdefault(load_format, loader)

    contents: dict[str, dict[str, Any]] = {
        "vllm": {}, "vllm.model_executor": {}, "vllm.model_executor.model_loader": {"register_model_loader": register},
        "vllm.model_executor.model_loader.base_loader": {"BaseModelLoader": FakeLoader}}
    for name, inside in contents.items():
        made = types.ModuleType(name)
        made.__dict__.update(inside)
        monkeypatch.setitem(sys.modules, name, made)
    vllm_loader.register()
    return loaders


@pytest.fixture
def options(scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Of a loader, for a model of two files that an index names."""
    scripted.script = store = DictStore()
    files = {"a.safetensors": {"one": torch.arange(4.0), "two": torch.arange(3.0)}, "b.safetensors": {"three": torch.ones(5)}}
    for name, tensors in files.items():
        store.objects[f"/models/llama/{name}"] = safetensors(tensors)
    weights = {tensor: name for name, tensors in files.items() for tensor in tensors}
    store.objects["/models/llama/model.safetensors.index.json"] = json.dumps({"weight_map": weights}).encode()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)
    return {"url": "s3://models/llama/", "endpoint": scripted.endpoint, "fabric": "http", "region": "us-east-1"}


def assert_loaded(model: Model) -> None:
    assert {name: each.tolist() for name, each in model.loaded.items()} == {
        "one": [0, 1, 2, 3], "two": [0, 1, 2], "three": [1, 1, 1, 1, 1]}


def test_a_model_has_the_weights_of_all_files(registered: dict[str, Any], options: dict[str, Any]) -> None:
    model, loader = Model(), registered["railhead"](Config(options))
    loader.download_model(None)
    loader.load_weights(model, None)
    assert_loaded(model)


def test_weights_that_are_not_there_stop_the_load(registered: dict[str, Any], options: dict[str, Any]) -> None:
    loader = registered["railhead"](Config({**options, "url": "s3://models/none/"}))
    with pytest.raises(railhead.NotFound, match="none"):
        loader.load_weights(Model(), None)


class Tracking(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A model that says what it loaded. One of its layers makes its own weights."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        for name in names:
            self.register_parameter(name, torch.nn.Parameter(torch.zeros(1)))
        self.made = torch.nn.Linear(1, 1)
        self.made.quant_method = types.SimpleNamespace(process_weights_after_loading=None)

    def load_weights(self, weights: Iterator[tuple[str, Any]]) -> set[str]:
        return {name for name, _ in weights}


def test_parameters_without_weights_are_named(registered: dict[str, Any], options: dict[str, Any]) -> None:
    plain, quantised = types.SimpleNamespace(quantization=None), types.SimpleNamespace(quantization="fp8")
    loader = registered["railhead"](Config(options))
    loader.load_weights(Tracking("one", "two", "three"), plain)
    loader.load_weights(Tracking("one", "four"), quantised)
    with pytest.raises(ValueError, match=r"llama/ has no weights for five, four$"):
        loader.load_weights(Tracking("one", "four", "five"), plain)


def test_options_that_are_none_are_named(registered: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no url"):
        registered["railhead"](Config({}))
    with pytest.raises(ValueError, match="bucket"):
        registered["railhead"](Config({"url": "s3://models/llama/", "bucket": "models"}))


def test_vllm_finds_the_loader() -> None:
    [point] = [each for each in entry_points(group="vllm.general_plugins") if each.name == "railhead"]
    assert point.load() is vllm_loader.register


@pytest.mark.filterwarnings("ignore")
def test_the_package_itself_takes_the_loader(options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = pytest.importorskip("vllm.config.load", reason="no vLLM; its pins are in docs/kv-engines.md")
        from vllm.model_executor.model_loader import get_model_loader
    vllm_loader.register()
    vllm_loader.register()
    model = Model()
    get_model_loader(config.LoadConfig(load_format="railhead", model_loader_extra_config=options)).load_weights(model, None)
    assert_loaded(model)
