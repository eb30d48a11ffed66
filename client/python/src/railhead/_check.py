"""python -m railhead check: whether objects arrive whole in a device's memory."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from railhead.client import Client
from railhead.errors import RailheadError

_REGISTERED = "registered"
_COPIED = "copied"


class NotHere(RailheadError):
    """No torch, or no such device."""


class WrongBytes(RailheadError):
    """What arrived is not what the object has over HTTP."""


def run(urls: list[str], device: str, via: str, as_json: bool) -> None:
    torch, where, name = _device(device)
    with Client(fabric="http") as plain:
        contents = {url: plain.get(url) for url in urls}
    for way in (_COPIED, _REGISTERED):
        with Client(fabric=via) as client:
            buffers = {url: torch.zeros(max(len(data), 1), dtype=torch.uint8, device=where) for url, data in contents.items()}
            with ExitStack() as registered:
                if way == _REGISTERED:
                    for buffer in buffers.values():
                        registered.enter_context(client.register(buffer))
                used, seconds = _read(client, buffers)
            _compare(buffers, contents, way)
            total = sum(map(len, contents.values()))
            _tell({"device": name, "way": way, "via": used, "memory": client.report().memory,
                   "mib_per_s": round(total / seconds / (1 << 20), 1)}, as_json)


def _device(device: str) -> tuple[Any, Any, str]:
    try:
        import torch
    except ImportError as error:
        raise NotHere(f"no torch: {error}") from error
    where = torch.device(device)
    if where.type != "cuda":
        return torch, where, where.type
    if not torch.cuda.is_available():
        raise NotHere("torch sees no GPU")
    return torch, where, torch.cuda.get_device_name(where)


def _read(client: Client, buffers: dict[str, Any]) -> tuple[str, float]:
    begun = time.perf_counter()
    got = client.get_many(list(buffers.items()))
    return ", ".join(sorted({each.via for each in got})), time.perf_counter() - begun


def _compare(buffers: dict[str, Any], contents: dict[str, bytes], way: str) -> None:
    for url in _wrong(buffers, contents):
        raise WrongBytes(f"{url}: wrong bytes in {way} memory")


def _wrong(buffers: dict[str, Any], contents: dict[str, bytes]) -> Iterator[str]:
    for url, data in contents.items():
        if bytes(buffers[url].cpu().numpy()[: len(data)]) != data:
            yield url


def _tell(record: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(record))
    else:
        print(f"{record['device']}, {record['way']} memory, over {record['via']}: whole, {record['mib_per_s']} MiB/s; "
              f"memory: {record['memory']}")
