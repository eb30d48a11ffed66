"""
LMCache's L2 plugin (multi-process mode): KV chunks go to a gateway's cache-only objects, and come back from there.

    lmcache server --l2-adapter '{"type": "plugin", "module_path": "railhead.engines.lmcache", "class_name": "RailheadL2Adapter",
        "adapter_params": {"url": "s3://kv-llama/"}}'

Written for LMCache 0.5.6. An error of the gateway is a miss or a failed store, counted in `report_status`. A task whose memory
the gateway may still touch is never reported as done, so that LMCache keeps that memory.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmcache.lmcache_native import Bitmap
from lmcache.v1.distributed.internal_api import L2StoreResult
from lmcache.v1.distributed.l2_adapters.base import L2AdapterInterface

from railhead import errors
from railhead.client import Client
from railhead.kv import Queue, Written

_LOG = logging.getLogger(__name__)
_MOST_SIZES = 1 << 16
_KNOWN = ("url", "endpoint", "fabric", "region", "profile")


class RailheadL2Adapter(L2AdapterInterface):
    """
    `params`: `url`, s3://BUCKET/PREFIX, and what the client takes of `endpoint`, `fabric`, `region` and `profile`. What is not
    named is the environment's. The arena of `l1_memory_desc` is registered once, so that chunks need no copy where the gateway
    reaches it.

    Lookups lock nothing: what the gateway evicts before it is loaded is a miss of the load. Threads: any.
    """

    def __init__(self, params: Mapping[str, Any], l1_memory_desc: Any = None) -> None:
        super().__init__(max_capacity_bytes=0)  # the gateway evicts by itself
        unknown = sorted(set(params) - set(_KNOWN))
        if unknown or "url" not in params:
            raise ValueError(f"adapter_params are url and {', '.join(_KNOWN[1:])}: {', '.join(unknown) or 'no url'}")
        options = {name: params[name] for name in _KNOWN[1:] if name in params}
        self._client = Client(**options)
        self._blocks = self._client.kv(params["url"])
        if l1_memory_desc is not None:
            stable = getattr(l1_memory_desc, "stable_registration_size", None)
            self._blocks.register(l1_memory_desc.ptr, stable or l1_memory_desc.size)
        self._stores, self._lookups, self._loads = Queue(), Queue(), Queue()
        self._lock = threading.Lock()
        self._done: dict[int, dict[int, Any]] = {id(queue): {} for queue in (self._stores, self._lookups, self._loads)}
        self._held = 0  # tasks that are never reported
        self._sizes: OrderedDict[Any, int] = OrderedDict()  # of what was stored last and not deleted

    # ---- Descriptors, one for each kind of task ----

    def get_store_event_fd(self) -> int:
        return self._stores.event_fd()

    def get_lookup_and_lock_event_fd(self) -> int:
        return self._lookups.event_fd()

    def get_load_event_fd(self) -> int:
        return self._loads.event_fd()

    # ---- Tasks ----

    def submit_store_task(self, keys: Sequence[Any], objects: Sequence[Any]) -> int:
        return self._stores.submit(lambda: self._store(list(keys), [each.byte_array for each in objects]))

    def _store(self, keys: list[Any], windows: list[memoryview]) -> Any:
        written = self._blocks.put_from(names(keys), windows)
        held = [(key, len(window)) for key, window, each in zip(keys, windows, written, strict=True)
                if each is not Written.REFUSED]
        with self._lock:
            new = [(key, size) for key, size in held if key not in self._sizes]
            self._sizes.update(new)
            while len(self._sizes) > _MOST_SIZES:
                self._sizes.popitem(last=False)  # the gateway evicts, and tells nobody
        if new:
            self._notify_keys_stored([key for key, _ in new], [size for _, size in new])
        moved = sum(len(window) for window, each in zip(windows, written, strict=True) if each is Written.STORED)
        return L2StoreResult(len(held) == len(keys), moved)

    def pop_completed_store_tasks(self) -> dict[int, Any]:
        with self._lock:
            self._gather(self._stores)
            done = self._done[id(self._stores)]
            self._done[id(self._stores)] = {}
        return {task: result if not isinstance(result, BaseException) else L2StoreResult(False, 0)
                for task, result in done.items()}

    def submit_lookup_and_lock_task(self, keys: Sequence[Any], group_layout_descs: Any = None) -> int:
        return self._submit(self._lookups, keys, self._lookup)

    def _lookup(self, keys: list[Any]) -> list[bool]:
        held = self._blocks.exists(names(keys))
        accessed = [key for key, is_held in zip(keys, held, strict=True) if is_held]
        if accessed:
            self._notify_keys_accessed(accessed)
        return held

    def query_lookup_and_lock_result(self, task_id: int) -> Any:
        return self._bitmap(self._lookups, task_id)

    def submit_unlock(self, keys: Sequence[Any]) -> None:
        """Nothing is locked."""

    def submit_load_task(self, keys: Sequence[Any], objects: Sequence[Any]) -> int:
        windows = [each.byte_array for each in objects]
        return self._submit(self._loads, keys, lambda wanted: self._blocks.get_into(names(wanted), windows))

    @staticmethod
    def _submit(queue: Queue, keys: Sequence[Any], call: Callable[[list[Any]], list[bool]]) -> int:
        wanted = list(keys)

        def guarded() -> list[bool]:
            try:
                return call(wanted)
            except errors.MemoryHeld:
                raise
            except Exception:  # a closed client, or a key that cannot be sent: none is held
                _LOG.exception("a task of %d keys", len(wanted))
                return [False] * len(wanted)

        return queue.submit(guarded)

    def query_load_result(self, task_id: int) -> Any:
        return self._bitmap(self._loads, task_id)

    def _bitmap(self, queue: Queue, task_id: int) -> Any:
        """None while the task is under way."""
        with self._lock:
            self._gather(queue)
            if task_id not in self._done[id(queue)]:
                return None
            flags = self._done[id(queue)].pop(task_id)
        bitmap = Bitmap(len(flags))
        for at, flag in enumerate(flags):
            if flag:
                bitmap.set(at)
        return bitmap

    def _gather(self, queue: Queue) -> None:
        """Under the lock."""
        for task, result in queue.drain():
            if isinstance(result, errors.MemoryHeld):
                self._hold(task, result)
            else:
                self._done[id(queue)][task] = result

    def _hold(self, task: int, error: errors.MemoryHeld) -> None:
        """Never reports the task: LMCache would use its memory for something else."""
        self._held += 1
        if self._held == 1:
            _LOG.error("task %d is never reported as done: %s", task, error)

    # ---- The rest ----

    def delete(self, keys: Sequence[Any]) -> None:
        gone = self._blocks.delete(names(keys))
        with self._lock:
            sizes = [(key, self._sizes.pop(key)) for key, is_gone in zip(keys, gone, strict=True)
                     if is_gone and key in self._sizes]
        if sizes:
            self._notify_keys_deleted([key for key, _ in sizes], [size for _, size in sizes])

    def report_status(self) -> dict[str, Any]:
        stats = self._blocks.stats()
        return {"is_healthy": True, "type": "railhead", "held_tasks": self._held, **stats._asdict()}

    def close(self) -> None:
        for queue in (self._stores, self._lookups, self._loads):
            queue.close()
        self._blocks.close()
        self._client.close()


def names(keys: Sequence[Any]) -> list[str]:
    """The hash comes last, so that keys of one model, rank, group and salt travel as bytes."""
    return [f"{key.model_name}@{key.kv_rank:08x}@{key.object_group_id:x}@{key.cache_salt}@{key.chunk_hash.hex()}" for key in keys]
