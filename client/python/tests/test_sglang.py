"""SGLang's HiCache backend by the interface of SGLang 0.5.23, which stands here as a fake."""

from __future__ import annotations

import ctypes
import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import KEYS, ScriptedStore, content
from dict_store import DictStore

import railhead

PAGE = 1000


class FakeStorage:
    """Of HiCacheStorage what a backend uses."""

    def register_mem_pool_host(self, mem_pool_host: Any) -> None:
        self.mem_pool_host = mem_pool_host


class FakeTensor:
    def __init__(self, memory: bytearray) -> None:
        self.memory = memory

    def data_ptr(self) -> int:
        return ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def numel(self) -> int:
        return len(self.memory)

    def element_size(self) -> int:
        return 1


class FakePool:
    """Pages of a K and a V buffer each, in one tensor."""

    def __init__(self, pages: int) -> None:
        self.memory = bytearray(2 * PAGE * pages)
        self.kv_buffer = FakeTensor(self.memory)
        self.layout, self.dtype = "page_first", "torch.bfloat16"

    def get_page_buffer_meta(self, indices: list[int]) -> tuple[list[int], list[int]]:
        start = self.kv_buffer.data_ptr()
        return [start + (2 * page + at) * PAGE for page in indices for at in range(2)], [PAGE] * (2 * len(indices))


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    names = ["sglang", "sglang.srt", "sglang.srt.mem_cache", "sglang.srt.mem_cache.hicache_storage"]
    for name in names:
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules[names[-1]].HiCacheStorage = FakeStorage  # type: ignore[attr-defined]
    monkeypatch.delitem(sys.modules, "railhead.engines.sglang", raising=False)
    yield importlib.import_module("railhead.engines.sglang")
    sys.modules.pop("railhead.engines.sglang", None)


@pytest.fixture
def store(scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch) -> DictStore:
    scripted.script = DictStore()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)
    return scripted.script


def config(scripted: ScriptedStore, **extra: Any) -> Any:
    return types.SimpleNamespace(model_name="m", tp_rank=0, tp_size=2, extra_config={
        "url": "s3://kv-a/", "endpoint": scripted.endpoint, "fabric": "http", "region": "us-east-1", **extra})


def test_pages_are_written_found_and_read(module: Any, scripted: ScriptedStore, store: DictStore) -> None:
    backend, pool, pages = module.RailheadHiCache(config(scripted), None), FakePool(4), [f"{at:064x}" for at in range(4)]
    backend.register_mem_pool_host(pool)
    pool.memory[:] = content(len(pool.memory))
    before = bytes(pool.memory)
    assert backend.batch_exists(pages) == 0
    assert backend.batch_set_v1(pages[:3], [0, 1, 2]) == [True] * 3
    assert backend.batch_exists(pages) == 3
    assert backend.exists(pages[2])
    pool.memory[:] = bytes(len(pool.memory))
    assert backend.batch_get_v1(pages, [0, 1, 2, 3]) == [True, True, True, False]
    assert pool.memory[:6 * PAGE] == before[:6 * PAGE]
    assert (backend.batch_get_v1([], []), backend.batch_set_v1([], [])) == ([], [])
    # Half of a page is none.
    del store.objects[f"/kv-a/m/tp0of2pp0of1cp0of1-page_first-torch.bfloat16/{pages[1]}.1"]
    assert backend.batch_get_v1(pages[:3], [0, 1, 2]) == [True, False, True]
    backend.clear()
    assert store.objects == {}
    backend.close()


def test_an_error_is_a_miss(module: Any, scripted: ScriptedStore, store: DictStore) -> None:
    backend, pool = module.RailheadHiCache(config(scripted), None), FakePool(1)
    backend.register_mem_pool_host(pool)
    assert backend.batch_set_v1(["k"], [0]) == [True]
    store.broken = True
    assert backend.batch_exists(["k"]) == 0
    assert backend.batch_get_v1(["k"], [0]) == [False]
    assert backend.batch_set_v1(["l"], [0]) == [False]
    backend.close()


def test_pages_that_are_held_are_no_misses(module: Any, scripted: ScriptedStore, store: DictStore,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    def held(*_: Any) -> None:
        raise railhead.MemoryHeld("held")

    backend = module.RailheadHiCache(config(scripted), None)
    backend.register_mem_pool_host(FakePool(1))
    monkeypatch.setattr(backend._blocks, "get_into", held)
    with pytest.raises(railhead.MemoryHeld):
        backend.batch_get_v1(["k"], [0])
    backend.close()


def test_a_configuration_without_a_url_is_refused(module: Any) -> None:
    with pytest.raises(ValueError, match="url"):
        module.RailheadHiCache(types.SimpleNamespace(extra_config={}), None)


def test_ranks_and_layouts_never_share_a_name(module: Any, scripted: ScriptedStore, store: DictStore) -> None:
    first = config(scripted)
    others = [types.SimpleNamespace(**{**vars(first), name: value})
              for name, value in (("tp_rank", 1), ("pp_rank", 1), ("pp_size", 2), ("attn_cp_rank", 1))]
    pool = FakePool(1)
    pool.layout = "layer_first"
    pools = [FakePool(1)] * (1 + len(others)) + [pool]
    for each, its_pool in zip([first, *others, first], pools, strict=True):
        backend = module.RailheadHiCache(each)
        backend.register_mem_pool_host(its_pool)
        assert backend.batch_exists(["page"]) == 0
        assert backend.batch_set_v1(["page"], [0]) == [True]
        backend.close()
    assert len(store.objects) == 2 * len(pools)
