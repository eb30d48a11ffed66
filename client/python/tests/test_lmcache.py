"""LMCache's L2 adapter by the interface of LMCache 0.5.6, which stands here as fakes: the package has 6 GB."""

from __future__ import annotations

import importlib
import select
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from conftest import KEYS, ScriptedStore, content
from dict_store import DictStore

import railhead


class FakeBitmap:
    def __init__(self, size: int) -> None:
        self.bits = [False] * size

    def set(self, at: int) -> None:
        self.bits[at] = True


class FakeStoreResult(int):
    def __new__(cls, success: bool, bytes_transferred: int) -> FakeStoreResult:
        return super().__new__(cls, bytes_transferred if success else -1)


class FakeInterface:
    """Of L2AdapterInterface what an adapter calls."""

    def __init__(self, max_capacity_bytes: int = 0) -> None:
        self.told: list[tuple[str, Any]] = []

    def _notify_keys_stored(self, keys: list[Any], sizes: list[int]) -> None:
        self.told.append(("stored", list(zip(keys, sizes, strict=True))))

    def _notify_keys_accessed(self, keys: list[Any]) -> None:
        self.told.append(("accessed", keys))

    def _notify_keys_deleted(self, keys: list[Any], sizes: list[int]) -> None:
        self.told.append(("deleted", list(zip(keys, sizes, strict=True))))


class Key(NamedTuple):
    chunk_hash: bytes
    model_name: str = "meta-llama/Llama-3.1-8B"
    kv_rank: int = 1
    object_group_id: int = 10
    cache_salt: str = ""


class Chunk:
    """Of a MemoryObj what an adapter reads."""

    def __init__(self, memory: bytearray) -> None:
        self.byte_array = memoryview(memory)


class Memory(NamedTuple):
    ptr: int
    size: int
    align_bytes: int = 4096
    stable_registration_size: int | None = None


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    contents: dict[str, dict[str, Any]] = {"lmcache.lmcache_native": {"Bitmap": FakeBitmap},
                "lmcache.v1.distributed.internal_api": {"L2StoreResult": FakeStoreResult},
                "lmcache.v1.distributed.l2_adapters.base": {"L2AdapterInterface": FakeInterface}}
    for name in ("lmcache", "lmcache.v1", "lmcache.v1.distributed", "lmcache.v1.distributed.l2_adapters", *contents):
        made = types.ModuleType(name)
        made.__dict__.update(contents.get(name, {}))
        monkeypatch.setitem(sys.modules, name, made)
    monkeypatch.delitem(sys.modules, "railhead.engines.lmcache", raising=False)
    yield importlib.import_module("railhead.engines.lmcache")
    sys.modules.pop("railhead.engines.lmcache", None)


@pytest.fixture
def store(scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch) -> DictStore:
    scripted.script = DictStore()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)
    return scripted.script


@pytest.fixture
def adapter(module: Any, scripted: ScriptedStore, store: DictStore) -> Iterator[Any]:
    made = module.RailheadL2Adapter({"url": "s3://kv-a/l/", "endpoint": scripted.endpoint, "fabric": "http",
                                     "region": "us-east-1"})
    yield made
    made.close()


def await_readable(descriptor: int) -> None:
    assert select.select([descriptor], [], [], 20)[0]


def stored(adapter: Any, keys: list[Key], chunks: list[Chunk]) -> int:
    task = adapter.submit_store_task(keys, chunks)
    await_readable(adapter.get_store_event_fd())
    [(done, result)] = adapter.pop_completed_store_tasks().items()
    assert done == task
    return int(result)


def looked_up(adapter: Any, keys: list[Key]) -> list[bool]:
    task = adapter.submit_lookup_and_lock_task(keys, {})
    await_readable(adapter.get_lookup_and_lock_event_fd())
    bits: list[bool] = adapter.query_lookup_and_lock_result(task).bits
    assert adapter.query_lookup_and_lock_result(task) is None
    return bits


def loaded(adapter: Any, keys: list[Key], chunks: list[Chunk]) -> list[bool]:
    task = adapter.submit_load_task(keys, chunks)
    await_readable(adapter.get_load_event_fd())
    bits: list[bool] = adapter.query_load_result(task).bits
    assert adapter.query_load_result(task) is None
    return bits


def keys(count: int) -> list[Key]:
    return [Key(content(32, at)) for at in range(count)]


def test_chunks_are_stored_looked_up_and_loaded(adapter: Any, store: DictStore) -> None:
    names, memory = keys(4), [bytearray(content(5000, at)) for at in range(4)]
    assert looked_up(adapter, names) == [False] * 4
    assert stored(adapter, names[:3], [Chunk(each) for each in memory[:3]]) == 15000
    assert looked_up(adapter, names) == [True, True, True, False]
    into = [bytearray(5000) for _ in range(4)]
    assert loaded(adapter, names, [Chunk(each) for each in into]) == [True, True, True, False]
    assert into[:3] == memory[:3]
    adapter.submit_unlock(names)
    adapter.delete(names[:1])
    assert looked_up(adapter, names[:2]) == [False, True]
    assert adapter.told[0] == ("stored", [(key, 5000) for key in names[:3]])
    assert ("deleted", [(names[0], 5000)]) in adapter.told
    assert ("accessed", names[:3]) in adapter.told
    assert adapter.report_status()["is_healthy"]
    assert adapter.report_status()["hits"] == 3
    assert len(store.objects) == 2


def test_a_chunk_that_is_held_is_a_success_and_moves_nothing(adapter: Any) -> None:
    [name] = keys(1)
    assert stored(adapter, [name], [Chunk(bytearray(b"same"))]) == 4
    assert stored(adapter, [name], [Chunk(bytearray(b"same"))]) == 0
    assert [what for what, _ in adapter.told] == ["stored"]


def test_salts_and_models_are_apart(adapter: Any) -> None:
    one = Key(b"\1" * 32)
    stored(adapter, [one], [Chunk(bytearray(b"x"))])
    others = [one._replace(cache_salt="s"), one._replace(model_name="m"), one._replace(kv_rank=2),
              one._replace(object_group_id=11)]
    assert looked_up(adapter, [one, *others]) == [True, False, False, False, False]


def test_the_three_descriptors_are_distinct(adapter: Any) -> None:
    assert len({adapter.get_store_event_fd(), adapter.get_lookup_and_lock_event_fd(), adapter.get_load_event_fd()}) == 3


def test_a_store_that_fails_says_so_and_a_load_misses(adapter: Any, store: DictStore) -> None:
    names = keys(2)
    stored(adapter, names[:1], [Chunk(bytearray(b"x"))])
    store.broken = True
    assert stored(adapter, names, [Chunk(bytearray(b"x")), Chunk(bytearray(b"y"))]) == -1
    assert looked_up(adapter, names) == [False, False]
    assert loaded(adapter, names[:1], [Chunk(bytearray(1))]) == [False]
    assert adapter.report_status()["errors"]
    store.broken = False
    assert looked_up(adapter, names) == [True, False]


def test_a_task_whose_memory_is_held_is_never_reported(adapter: Any, store: DictStore, monkeypatch: pytest.MonkeyPatch,
                                                       caplog: pytest.LogCaptureFixture) -> None:
    def held(*_: Any) -> None:
        raise railhead.MemoryHeld("held")

    with monkeypatch.context() as patch:
        patch.setattr(adapter._blocks, "get_into", held)
        patch.setattr(adapter._blocks, "put_from", held)
        load = adapter.submit_load_task(keys(1), [Chunk(bytearray(1))])
        adapter.submit_store_task(keys(1), [Chunk(bytearray(1))])
        await_readable(adapter.get_load_event_fd())
        await_readable(adapter.get_store_event_fd())
    assert adapter.query_load_result(load) is None
    assert adapter.pop_completed_store_tasks() == {}
    assert adapter.report_status()["held_tasks"] == 2
    assert caplog.text.count("never reported") == 1
    assert loaded(adapter, keys(1), [Chunk(bytearray(1))]) == [False]


def test_a_task_of_a_closed_client_misses(adapter: Any) -> None:
    adapter._client.close()
    assert looked_up(adapter, keys(3)) == [False] * 3


def test_parameters_that_are_none_are_named(module: Any) -> None:
    with pytest.raises(ValueError, match="no url"):
        module.RailheadL2Adapter({})
    with pytest.raises(ValueError, match="bucket"):
        module.RailheadL2Adapter({"url": "s3://kv-a/", "bucket": "kv-a"})


def test_the_arena_is_registered(module: Any, scripted: ScriptedStore, store: DictStore) -> None:
    arena = bytearray(1 << 16)
    import ctypes

    address = ctypes.addressof(ctypes.c_char.from_buffer(arena))
    made = module.RailheadL2Adapter({"url": "s3://kv-a/", "endpoint": scripted.endpoint, "fabric": "http",
                                     "region": "us-east-1"}, l1_memory_desc=Memory(address, len(arena)))
    assert [region.memory.address for region in made._client._paths.regions] == [address]
    chunk = Chunk(arena)
    chunk.byte_array = memoryview(arena)[100:200]
    assert stored(made, keys(1), [chunk]) == 100
    made.close()
