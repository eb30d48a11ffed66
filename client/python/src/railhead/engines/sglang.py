"""
SGLang's dynamic HiCache backend: pages of KV go to a gateway's cache-only objects, and come back from there.

    --hicache-storage-backend dynamic --hicache-storage-backend-extra-config '{"backend_name": "railhead", "interface_v1": 1,
        "module_path": "railhead.engines.sglang", "class_name": "RailheadHiCache", "url": "s3://kv-llama/"}'

Written for SGLang 0.5.23. An error of the gateway is a miss or a failed write. MemoryHeld is raised: the gateway may still touch
pages of that call, which SGLang would use for something else after a miss. It ends the thread of SGLang that called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sglang.srt.mem_cache.hicache_storage import HiCacheStorage

from railhead.client import Client
from railhead.kv import Written

_KNOWN = ("endpoint", "fabric", "region", "profile")


# Each has a share of a page of its own: a rank and how many there are. Versions know some of them.
_RANKS = (("tp", "tp_rank", "tp_size"), ("pp", "pp_rank", "pp_size"), ("cp", "attn_cp_rank", "attn_cp_size"))


def _rank(config: Any) -> str:
    return "".join(f"{name}{getattr(config, rank, 0)}of{getattr(config, size, 1)}" for name, rank, size in _RANKS)


class RailheadHiCache(HiCacheStorage):
    """
    Of the extra config: `url`, s3://BUCKET/PREFIX, and what the client takes of `endpoint`, `fabric`, `region` and `profile`. A
    page is one object for each of its buffers, K and V apart, so that each is moved without a copy. Each rank has its own names,
    and so has each layout and type of element: bytes of one mean something else to another.
    """

    def __init__(self, storage_config: Any, kwargs: Any = None) -> None:
        extra = storage_config.extra_config or {}
        if "url" not in extra:
            raise ValueError("the extra config of hicache-storage-backend has no url: s3://BUCKET/PREFIX")
        self._client = Client(**{name: extra[name] for name in _KNOWN if name in extra})
        self._url = f"{extra['url'].rstrip('/')}/{storage_config.model_name}/{_rank(storage_config)}"
        self._blocks = self._client.kv(f"{self._url}/")

    def register_mem_pool_host(self, mem_pool_host: Any) -> None:
        super().register_mem_pool_host(mem_pool_host)
        self._blocks.close()
        self._blocks = self._client.kv(f"{self._url}-{mem_pool_host.layout}-{mem_pool_host.dtype}/")
        buffers = mem_pool_host.kv_buffer
        for each in buffers if isinstance(buffers, (list, tuple)) else [buffers]:
            self._blocks.register(each.data_ptr(), each.numel() * each.element_size())

    def _pages(self, keys: Sequence[str], host_indices: Any) -> tuple[list[str], list[tuple[int, int]]]:
        """Each page's objects and their windows, as many for one as for another."""
        addresses, sizes = self.mem_pool_host.get_page_buffer_meta(host_indices)
        per = len(addresses) // len(keys)
        names = [f"{key}.{at}" for key in keys for at in range(per)]
        return names, [(int(address), int(size)) for address, size in zip(addresses, sizes, strict=True)]

    def batch_get_v1(self, keys: Sequence[str], host_indices: Any, extra_info: Any = None) -> list[bool]:
        if not keys:
            return []
        names, windows = self._pages(keys, host_indices)
        return _whole(self._blocks.get_into(names, windows), len(keys))

    def batch_set_v1(self, keys: Sequence[str], host_indices: Any, extra_info: Any = None) -> list[bool]:
        if not keys:
            return []
        names, windows = self._pages(keys, host_indices)
        written = self._blocks.put_from(names, windows)
        return _whole([each is not Written.REFUSED for each in written], len(keys))

    def batch_exists(self, keys: Sequence[str], extra_info: Any = None) -> int:
        """Pages that lead, by their first buffers: one that lost another is a miss of the read."""
        return self._blocks.prefix([f"{key}.0" for key in keys])

    def exists(self, key: str) -> bool:
        return self._blocks.exists([f"{key}.0"])[0]

    def clear(self) -> None:
        self._blocks.clear()

    def close(self) -> None:
        self._blocks.close()
        self._client.close()

    # ---- Of the interface before v1, which SGLang does not call with `interface_v1` ----

    def get(self, key: str, target_location: Any = None, target_sizes: Any = None) -> Any:
        raise NotImplementedError("set interface_v1")

    def set(self, key: str, value: Any = None, target_location: Any = None, target_sizes: Any = None) -> Any:
        raise NotImplementedError("set interface_v1")

    def batch_get(self, keys: Any, target_locations: Any = None, target_sizes: Any = None) -> Any:
        raise NotImplementedError("set interface_v1")

    def batch_set(self, keys: Any, values: Any = None, target_locations: Any = None, target_sizes: Any = None) -> Any:
        raise NotImplementedError("set interface_v1")


def _whole(flags: list[bool], pages: int) -> list[bool]:
    per = len(flags) // pages
    return [all(flags[at:at + per]) for at in range(0, len(flags), per)]
