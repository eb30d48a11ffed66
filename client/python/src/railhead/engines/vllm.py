"""
vLLM's secondary tier of KV offloading: chunks of its CPU tier go to a gateway's cache-only objects, and come back from there.

    --kv-transfer-config '{"kv_connector": "OffloadingConnector", "kv_role": "kv_both", "kv_connector_extra_config": {
        "spec_name": "TieringOffloadingSpec", "cpu_bytes_to_use": 8589934592, "secondary_tiers": [{"type": "RailheadTier",
        "module_path": "railhead.engines.vllm", "url": "s3://kv-llama/"}]}}'

Written for vLLM 0.32.0, whose interface of tiers is experimental. An error of the gateway is a miss or a failed job, counted by
kind in the metric vllm:kv_offload_railhead_errors. A job whose memory the gateway may still touch is never reported as finished,
so that vLLM keeps that memory.
"""

from __future__ import annotations

import ctypes
import logging
import select
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from vllm.distributed.kv_transfer.kv_connector.v1.offloading.metrics import OffloadingConnectorStats
from vllm.v1.kv_offload.base import (
    Locality,
    LookupResult,
    Medium,
    OffloadingCounterMetadata,
    RequestOffloadingContext,
    get_offload_block_hash,
    get_offload_group_idx,
)
from vllm.v1.kv_offload.file_mapper import FileMapper
from vllm.v1.kv_offload.tiering.async_lookup import AsyncLookupManager
from vllm.v1.kv_offload.tiering.base import JobResult, SecondaryTierManager

from railhead import errors
from railhead.client import Client
from railhead.kv import KV, Queue, Written

_LOG = logging.getLogger(__name__)
_ERRORS = "vllm:kv_offload_railhead_errors"


class _Names:
    """Names of chunks: what makes bytes of one engine those of another, the group, and the hash, which comes last."""

    def __init__(self, spec: Any) -> None:
        mapper = FileMapper.from_offloading_spec("", spec, blocks_per_file=spec.blocks_per_chunk, parallel_agnostic=True)
        self._base = f"{mapper.base_path.strip('/')}@{mapper.rank}"

    def of(self, keys: Iterable[Any]) -> list[str]:
        return [f"{self._base}@{get_offload_group_idx(key):x}@{get_offload_block_hash(key).hex()}" for key in keys]


class _Lookup(AsyncLookupManager):
    """Asks on a thread of its own, many keys at a time."""

    def __init__(self, blocks: KV, names: _Names, tier_type: str) -> None:
        self._blocks, self._names = blocks, names
        super().__init__(tier_type=tier_type)

    def batch_lookup(self, keys: list[Any], req_context: Any) -> Iterable[bool]:
        return self._blocks.exists(self._names.of(keys))


class _Done(NamedTuple):
    """Result of a job: the chunks that are where they should be, how many were moved, and the seconds that it took."""

    flags: list[bool]
    moved: int
    seconds: float


class RailheadTier(SecondaryTierManager):
    """
    Tier whose configuration is `url`, s3://BUCKET/PREFIX, vLLM's own `locality` and `backpressure`, and the client's `endpoint`,
    `fabric`, `region` and `profile`. The CPU tier's memory is registered once. A chunk is one object.

    Threads: the scheduler's alone, as vLLM calls a tier. Transfers run on `threads` others.
    """

    medium = Medium.STORAGE

    def __init__(self, offloading_spec: Any, primary_kv_view: memoryview, tier_type: str, backpressure_detector: Any = None, *,
                 url: str, locality: str | None = None, threads: int = 4, **client: Any) -> None:
        super().__init__(offloading_spec, primary_kv_view, tier_type, backpressure_detector)
        self.locality = Locality(locality) if locality is not None else None
        self._client = Client(**_known(client))
        self._blocks = self._client.kv(url)
        self._names = _Names(offloading_spec)
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(primary_kv_view))
        self._blocks.register(self._address, primary_kv_view.nbytes)
        self._queue = Queue(threads)
        self._lookup = _Lookup(self._blocks, self._names, tier_type)
        self._jobs: dict[int, Any] = {}  # under way, by the queue's number
        self._finished: list[JobResult] = []
        self._failed: Counter[str] = Counter()  # kinds of what jobs raised, which the namespace has not counted
        self._told: Counter[str] = Counter()
        self._held: errors.MemoryHeld | None = None  # the first, after which the tier's memory is never free again

    # ---- Lookups ----

    def on_new_request(self, req_context: Any) -> Any:
        return RequestOffloadingContext()

    def lookup(self, key: Any, req_context: Any) -> Any:
        held = self._lookup.lookup(key, req_context)
        if held is None:
            return LookupResult.RETRY
        return LookupResult.HIT if held else LookupResult.MISS

    def on_schedule_end(self, context: Any) -> None:
        self._lookup.flush()

    def on_request_finished(self, req_context: Any) -> None:
        self._lookup.cleanup(req_context.req_id)

    # ---- Jobs ----

    def submit_store(self, job_metadata: Any) -> None:
        names, windows = self._of(job_metadata)

        def store() -> _Done:
            begun = time.monotonic()
            written = self._blocks.put_from(names, windows)
            flags = [each is not Written.REFUSED for each in written]
            return _Done(flags, written.count(Written.STORED), time.monotonic() - begun)

        self._jobs[self._queue.submit(store)] = job_metadata

    def submit_load(self, job_metadata: Any) -> None:
        names, windows = self._of(job_metadata)

        def load() -> _Done:
            begun = time.monotonic()
            flags = self._blocks.get_into(names, windows)
            return _Done(flags, sum(flags), time.monotonic() - begun)

        self._jobs[self._queue.submit(load)] = job_metadata

    def _of(self, job: Any) -> tuple[list[str], list[tuple[int, int]]]:
        nbytes = self._block_size_bytes
        return self._names.of(job.keys), [(self._address + int(chunk) * nbytes, nbytes) for chunk in job.chunk_ids]

    def get_finished_jobs(self) -> Sequence[JobResult]:
        self._gather()
        finished, self._finished = self._finished, []
        return finished

    def _gather(self) -> None:
        for number, done in self._queue.drain():
            job = self._jobs.pop(number)
            if isinstance(done, errors.MemoryHeld):
                self._hold(job, done)
            else:
                self._finished.append(self._result(job, done))

    def _hold(self, job: Any, error: errors.MemoryHeld) -> None:
        """Never reports the job: vLLM would use its memory for something else."""
        self._failed[type(error).__name__] += 1
        if self._held is None:
            self._held = error
            _LOG.error("job %s is never reported as finished: %s", job.job_id, error)

    def _result(self, job: Any, done: _Done | BaseException) -> JobResult:
        keys = list(job.keys)
        if isinstance(done, BaseException):  # such as a client that is closed
            self._failed[type(done).__name__] += 1
            done = _Done([False] * len(keys), 0, 0.0)
        there = tuple(key for key, is_there in zip(keys, done.flags, strict=True) if is_there)
        is_partial = job.is_promotion and 0 < len(there) < len(keys)
        if job.is_promotion:  # vLLM would ask for what is not there for ever
            self._lookup.mark_miss([key for key, is_there in zip(keys, done.flags, strict=True) if not is_there])
        return JobResult(job_id=job.job_id, success=len(there) == len(keys), successful_keys=there if is_partial else None,
                         transfer_time=done.seconds, transfer_bytes=done.moved * self._block_size_bytes)

    def drain_jobs(self) -> None:
        """MemoryHeld where a job's memory may still be touched: vLLM is about to use all of it anew."""
        poller = select.poll()
        poller.register(self._queue.event_fd(), select.POLLIN)
        while self._jobs:
            poller.poll()
            self._gather()
        if self._held is not None:
            raise self._held

    def shutdown(self) -> None:
        self._lookup.shutdown()
        self._queue.close()
        self._blocks.close()
        self._client.close()

    # ---- What is told ----

    @classmethod
    def build_metric_definitions(cls, extra_config: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG003
        return {_ERRORS: OffloadingCounterMetadata("Errors of the gateway, taken for misses and failed stores.", ("kind",))}

    def get_stats(self) -> OffloadingConnectorStats | None:
        """Errors since the last call, by kind."""
        counted = Counter(self._blocks.stats().errors) + self._failed
        new, self._told = counted - self._told, counted
        stats = OffloadingConnectorStats()
        for kind, count in new.items():
            stats.increase_counter(_ERRORS, count, (kind,))
        return stats if new else None


def _known(options: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(options.keys() - {"endpoint", "fabric", "region", "profile"})
    if unknown:
        raise ValueError(f"RailheadTier has url, locality, threads, endpoint, fabric, region and profile: {', '.join(unknown)}")
    return options
