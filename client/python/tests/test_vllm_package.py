"""vLLM's secondary tier with the package itself, its manager of tiers and its CPU tier, and no engine: that wants a GPU."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from conftest import KEYS, Rack

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    np = pytest.importorskip("numpy")
    pytest.importorskip("vllm.v1.kv_offload.tiering.spec", reason="no vLLM; its pins are in docs/kv-engines.md")
    from vllm.v1.kv_offload import config as vllm_config
    from vllm.v1.kv_offload.base import LookupResult, ReqContext, ScheduleEndContext, make_offload_key
    from vllm.v1.kv_offload.factory import OffloadingSpecFactory

pytestmark = [pytest.mark.filterwarnings("ignore")]
CHUNKS = 12


def tiers(url: str, running: Rack) -> Any:
    tier = {"type": "RailheadTier", "module_path": "railhead.engines.vllm", "url": url, "fabric": "loopback",
            "endpoint": running.endpoint, "region": "us-east-1"}
    wanted = vllm_config.OffloadingConfig(
        groups=(vllm_config.OffloadingGroupConfig(16, ("l0", "l1"), 0),), worker_kv_bytes_per_block=256 << 10,
        enable_kv_cache_events=True, engine_id=f"t{os.getpid()}{time.monotonic_ns()}",
        extra_config={"spec_name": "TieringOffloadingSpec", "cpu_bytes_to_use": 16 << 20, "secondary_tiers": [tier]},
        model=vllm_config.OffloadingModelConfig("tiny", "bfloat16"), cache=vllm_config.OffloadingCacheConfig(16, 1),
        parallel=vllm_config.OffloadingParallelConfig(0, 1, 1, 1, 1, 1, 0, 1, None, True))
    return OffloadingSpecFactory.create_spec(wanted).get_manager()


def step(manager: Any) -> None:
    manager._maybe_process_finished_jobs()
    manager.on_schedule_end(ScheduleEndContext(set(), set()))


def until(manager: Any, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        step(manager)
        time.sleep(0.005)


def stored(manager: Any, keys: list[Any]) -> dict[Any, Any]:
    arena = np.asarray(manager.primary_tier.get_kv_memoryview())
    context = ReqContext("writes")
    manager.on_new_request(context)
    out = manager.prepare_store(keys, context)
    random = np.random.default_rng(1)
    wanted = {}
    for key, chunk in zip(out.keys_to_store, out.store_spec.chunk_ids, strict=True):
        arena[chunk] = random.integers(-128, 127, arena.shape[1]).astype(arena.dtype)
        wanted[key] = arena[chunk].copy()
    manager.complete_store(out.keys_to_store, context)
    step(manager)
    manager.on_request_finished(context)
    until(manager, lambda: not manager._jobs)
    return wanted


def looked_up(manager: Any, keys: list[Any], context: Any) -> dict[Any, Any]:
    manager.on_new_request(context)
    results: dict[Any, Any] = {}

    def is_known() -> bool:
        results.update({key: manager.lookup(key, context) for key in keys})
        return all(result in (LookupResult.HIT, LookupResult.MISS) for result in results.values())

    until(manager, is_known)
    return results


def test_a_second_engine_has_what_the_first_offloaded(kv_rack: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)
    keys = [make_offload_key(hashlib.sha256(f"{at}".encode()).digest(), 0) for at in range(CHUNKS)]
    missing = make_offload_key(b"\0" * 32, 0)
    first = tiers("s3://kv-a/vllm/", kv_rack)
    wanted = stored(first, keys)
    first.shutdown()
    second, context = tiers("s3://kv-a/vllm/", kv_rack), ReqContext("reads")
    assert looked_up(second, [*keys, missing], context) == {**dict.fromkeys(keys, LookupResult.HIT), missing: LookupResult.MISS}
    arena = np.asarray(second.primary_tier.get_kv_memoryview())
    chunks = second.prepare_load(keys, context).chunk_ids
    assert [np.array_equal(arena[chunk], wanted[key]) for key, chunk in zip(keys, chunks, strict=True)] == [True] * CHUNKS
    second.complete_load(keys, context)
    second.on_request_finished(context)
    del arena
    second.shutdown()


def test_a_gateway_that_is_killed_costs_misses_alone(kv_rack: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)
    keys = [make_offload_key(hashlib.sha256(f"killed{at}".encode()).digest(), 0) for at in range(CHUNKS)]
    manager = tiers("s3://kv-a/vllm-killed/", kv_rack)
    stored(manager, keys)
    manager.primary_tier.reset_cache()
    kv_rack.gateway.kill()
    kv_rack.gateway.wait()
    assert looked_up(manager, keys, ReqContext("reads")) == dict.fromkeys(keys, LookupResult.MISS)
    [tier] = manager.secondary_tiers
    assert tier.get_stats() is not None
    manager.shutdown()
    kv_rack.start_gateway_again()
