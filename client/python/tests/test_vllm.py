"""vLLM's secondary tier by the interface of vLLM 0.32.0, which stands here as fakes; test_vllm_package has the package itself."""

from __future__ import annotations

import ctypes
import enum
import importlib
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from conftest import KEYS, Rack, ScriptedStore, content, environment_of, pause
from dict_store import DictStore

import railhead

CHUNK = 4096


class FakeResult(enum.Enum):
    MISS = 1
    HIT = 2
    RETRY = 3


class FakeKind(enum.Enum):
    STORAGE = "STORAGE"
    REMOTE = "REMOTE"


class FakeCounter(NamedTuple):
    documentation: str
    labelnames: tuple[str, ...] = ()


class FakeStats:
    def __init__(self) -> None:
        self.counters: dict[tuple[str, tuple[str, ...]], float] = {}

    def increase_counter(self, name: str, value: float = 1, labelvalues: tuple[str, ...] = ()) -> None:
        self.counters[name, labelvalues] = self.counters.get((name, labelvalues), 0) + value


@dataclass
class FakeJobResult:
    job_id: int
    success: bool
    successful_keys: Any = None
    transfer_time: float | None = None
    transfer_bytes: int | None = None


class FakeManager:
    """Of SecondaryTierManager what a tier has from it."""

    def __init__(self, offloading_spec: Any, primary_kv_view: memoryview, tier_type: str, detector: Any = None) -> None:
        assert primary_kv_view.strides is not None
        self._block_size_bytes = primary_kv_view.strides[0]
        self.locality: Any = None


class FakeLookup:
    """Of AsyncLookupManager what a tier calls: here it asks when the step ends."""

    def __init__(self, tier_type: str) -> None:
        self.results: dict[bytes, bool | None] = {}

    def lookup(self, key: bytes, req_context: Any) -> bool | None:
        return self.results.setdefault(key, None)

    def flush(self) -> None:
        wanted = [key for key, result in self.results.items() if result is None]
        self.results.update(zip(wanted, self.batch_lookup(wanted, None), strict=True))

    def batch_lookup(self, keys: list[bytes], req_context: Any) -> Any:
        raise NotImplementedError

    def mark_miss(self, keys: list[bytes]) -> None:
        self.results.update(dict.fromkeys(keys, False))

    def cleanup(self, req_id: str) -> None:
        self.results.clear()

    def shutdown(self) -> None:
        pass


class FakeMapper:
    base_path = "/llama_0123456789ab"
    rank = 3
    blocks_per_file = 0

    @classmethod
    def from_offloading_spec(cls, root: str, spec: Any, blocks_per_file: int = 1, parallel_agnostic: bool = False) -> FakeMapper:
        assert (root, parallel_agnostic) == ("", True)
        assert blocks_per_file == spec.blocks_per_chunk
        return cls()


class Spec(NamedTuple):
    blocks_per_chunk: int = 2


class Request(NamedTuple):
    req_id: str = "r"


@dataclass
class Job:
    job_id: int
    keys: list[bytes]
    chunk_ids: list[int]
    is_promotion: bool


@dataclass
class Arena:
    """The CPU tier's memory."""

    memory: bytearray = field(default_factory=lambda: bytearray(content(16 * CHUNK)))

    def view(self) -> memoryview:
        return memoryview(self.memory).cast("B", (16, CHUNK))

    def chunk(self, at: int) -> bytes:
        return bytes(self.memory[at * CHUNK:(at + 1) * CHUNK])


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    contents: dict[str, dict[str, Any]] = {
        "vllm.distributed.kv_transfer.kv_connector.v1.offloading.metrics": {"OffloadingConnectorStats": FakeStats},
        "vllm.v1.kv_offload.base": {
            "Locality": FakeKind, "LookupResult": FakeResult, "Medium": FakeKind, "OffloadingCounterMetadata": FakeCounter,
            "RequestOffloadingContext": object, "get_offload_block_hash": lambda key: key[:-4],
            "get_offload_group_idx": lambda key: int.from_bytes(key[-4:], "big")},
        "vllm.v1.kv_offload.file_mapper": {"FileMapper": FakeMapper},
        "vllm.v1.kv_offload.tiering.async_lookup": {"AsyncLookupManager": FakeLookup},
        "vllm.v1.kv_offload.tiering.base": {"JobResult": FakeJobResult, "SecondaryTierManager": FakeManager}}
    for path in contents:
        parts = path.split(".")
        for end in range(1, len(parts) + 1):
            name = ".".join(parts[:end])
            made = types.ModuleType(name)
            made.__dict__.update(contents.get(name, {}))
            monkeypatch.setitem(sys.modules, name, made)
    monkeypatch.delitem(sys.modules, "railhead.engines.vllm", raising=False)
    yield importlib.import_module("railhead.engines.vllm")
    sys.modules.pop("railhead.engines.vllm", None)


@pytest.fixture
def store(scripted: ScriptedStore) -> DictStore:
    scripted.script = DictStore()
    return scripted.script


@pytest.fixture
def arena() -> Arena:
    return Arena()


@pytest.fixture
def tier(module: Any, scripted: ScriptedStore, store: DictStore, arena: Arena, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)
    made = module.RailheadTier(offloading_spec=Spec(), primary_kv_view=arena.view(), tier_type="RailheadTier",
                               backpressure_detector=None, url="s3://kv-a/", locality="REMOTE", endpoint=scripted.endpoint,
                               fabric="http", region="us-east-1")
    yield made
    made.shutdown()


def keys(count: int, group: int = 0) -> list[bytes]:
    return [content(32, at) + group.to_bytes(4, "big") for at in range(count)]


def finished(tier: Any) -> dict[int, FakeJobResult]:
    tier.drain_jobs()
    return {each.job_id: each for each in tier.get_finished_jobs()}


def looked_up(tier: Any, wanted: list[bytes]) -> list[FakeResult]:
    for key in wanted:
        tier.lookup(key, Request())
    tier.on_schedule_end(None)
    return [tier.lookup(key, Request()) for key in wanted]


def test_chunks_are_stored_looked_up_and_loaded(tier: Any, store: DictStore, arena: Arena) -> None:
    names = keys(4)
    assert tier.lookup(names[0], Request()) is FakeResult.RETRY
    assert looked_up(tier, names) == [FakeResult.MISS] * 4
    tier.on_request_finished(Request())
    tier.submit_store(Job(1, names[:3], [5, 0, 7], is_promotion=False))
    stored = finished(tier)[1]
    assert (stored.success, stored.transfer_bytes) == (True, 3 * CHUNK)
    assert tier.get_finished_jobs() == []
    assert looked_up(tier, names) == [FakeResult.HIT] * 3 + [FakeResult.MISS]
    wanted = [arena.chunk(at) for at in (5, 0, 7)]
    arena.memory[:] = bytes(16 * CHUNK)
    tier.submit_load(Job(2, names[:3], [1, 2, 3], is_promotion=True))
    loaded = finished(tier)[2]
    assert (loaded.success, loaded.transfer_bytes) == (True, 3 * CHUNK)
    assert [arena.chunk(at) for at in (1, 2, 3)] == wanted
    assert not any(arena.chunk(0))
    assert tier.get_stats() is None


def test_names_tell_models_ranks_and_groups_apart(tier: Any, store: DictStore) -> None:
    tier.submit_store(Job(1, keys(1) + keys(1, group=11), [0, 1], is_promotion=False))
    assert finished(tier)[1].success
    assert sorted(store.objects) == [f"/kv-a/llama_0123456789ab@3@{group}@{content(32).hex()}" for group in "0b"]


def test_a_chunk_that_is_held_moves_nothing(tier: Any) -> None:
    for job, moved in ((1, CHUNK), (2, 0)):
        tier.submit_store(Job(job, keys(1), [0], is_promotion=False))
        done = finished(tier)[job]
        assert (done.success, done.transfer_bytes) == (True, moved)


def test_a_load_that_finds_some_keeps_those_and_asks_for_the_others_no_more(tier: Any, store: DictStore) -> None:
    names = keys(3)
    tier.submit_store(Job(1, names, [0, 1, 2], is_promotion=False))
    assert finished(tier)[1].success
    assert looked_up(tier, names) == [FakeResult.HIT] * 3
    store.objects.pop(next(name for name in store.objects if content(32, 1).hex() in name))
    tier.submit_load(Job(2, names, [3, 4, 5], is_promotion=True))
    done = finished(tier)[2]
    assert (done.success, done.successful_keys) == (False, (names[0], names[2]))
    assert [tier.lookup(name, Request()) for name in names] == [FakeResult.HIT, FakeResult.MISS, FakeResult.HIT]


def test_errors_are_misses_and_failed_jobs_and_are_counted_once(tier: Any, store: DictStore) -> None:
    names = keys(2)
    store.broken = True
    assert looked_up(tier, names) == [FakeResult.MISS] * 2
    tier.submit_store(Job(1, names, [0, 1], is_promotion=False))
    tier.submit_load(Job(2, names, [2, 3], is_promotion=True))
    done = finished(tier)
    assert [(done[job].success, done[job].successful_keys) for job in (1, 2)] == [(False, None)] * 2
    counters = tier.get_stats().counters
    [(name, labels)] = counters
    assert name == "vllm:kv_offload_railhead_errors"
    assert labels == ("AccessDenied",)
    assert counters[name, labels] >= 3
    assert tier.get_stats() is None
    assert type(tier).build_metric_definitions({})[name].labelnames == ("kind",)


def test_a_job_of_a_closed_client_fails(tier: Any) -> None:
    tier._client.close()
    tier.submit_load(Job(1, keys(2), [0, 1], is_promotion=True))
    assert not finished(tier)[1].success
    assert tier.get_stats().counters == {("vllm:kv_offload_railhead_errors", ("ValueError",)): 1}


def test_a_job_whose_memory_is_held_is_never_reported(tier: Any, store: DictStore, monkeypatch: pytest.MonkeyPatch,
                                                      caplog: pytest.LogCaptureFixture) -> None:
    names = keys(3)

    def held(*_: Any) -> None:
        raise railhead.MemoryHeld("held")

    with monkeypatch.context() as patch:
        patch.setattr(tier._blocks, "get_into", held)
        patch.setattr(tier._blocks, "put_from", held)
        tier.submit_load(Job(1, names[:1], [0], is_promotion=True))
        tier.submit_store(Job(2, names[1:2], [1], is_promotion=False))
        with pytest.raises(railhead.MemoryHeld):
            tier.drain_jobs()
    assert tier.get_finished_jobs() == []
    tier.submit_store(Job(3, names[2:], [2], is_promotion=False))
    with pytest.raises(railhead.MemoryHeld):
        tier.drain_jobs()
    assert [each.job_id for each in tier.get_finished_jobs()] == [3]
    assert caplog.text.count("never reported") == 1
    assert tier.get_stats().counters == {("vllm:kv_offload_railhead_errors", ("MemoryHeld",)): 2}


def test_a_gateway_that_is_killed_in_the_midst_fails_the_jobs(module: Any, kv_rack: Rack, arena: Arena,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment_of(kv_rack).items():
        monkeypatch.setenv(name, value)
    tier = module.RailheadTier(Spec(), arena.view(), "RailheadTier", url="s3://kv-a/killed/", fabric="loopback")
    names = keys(3)
    tier.submit_store(Job(1, names, [0, 1, 2], is_promotion=False))
    assert finished(tier)[1].success
    pause(kv_rack.gateway)  # so that jobs are under way when it ends
    tier.submit_load(Job(2, names, [4, 5, 6], is_promotion=True))
    tier.submit_store(Job(3, keys(5)[3:], [7, 8], is_promotion=False))
    assert tier.get_finished_jobs() == []
    kv_rack.gateway.kill()
    kv_rack.gateway.wait()
    done = finished(tier)
    assert [(done[job].success, done[job].successful_keys) for job in (2, 3)] == [(False, None)] * 2
    assert sum(tier.get_stats().counters.values()) >= 2
    kv_rack.start_gateway_again()
    tier.submit_store(Job(4, names, [0, 1, 2], is_promotion=False))
    tier.drain_jobs()
    tier.submit_load(Job(5, names, [4, 5, 6], is_promotion=True))
    assert finished(tier)[5].success
    assert [arena.chunk(at) for at in (4, 5, 6)] == [arena.chunk(at) for at in (0, 1, 2)]
    tier.shutdown()


def test_the_cpu_tier_is_registered_once(tier: Any, arena: Arena) -> None:
    address = ctypes.addressof(ctypes.c_char.from_buffer(arena.memory))
    assert [(region.memory.address, region.memory.nbytes) for region in tier._client._paths.regions] == [(address, 16 * CHUNK)]
    assert (tier.medium, tier.locality) == (FakeKind.STORAGE, FakeKind.REMOTE)


def test_parameters_that_are_none_are_named(module: Any, arena: Arena) -> None:
    with pytest.raises(ValueError, match="bucket"):
        module.RailheadTier(Spec(), arena.view(), "RailheadTier", url="s3://kv-a/", bucket="kv-a")
    with pytest.raises(TypeError, match="url"):
        module.RailheadTier(Spec(), arena.view(), "RailheadTier")
