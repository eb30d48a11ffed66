"""Checkpoint: a sharded model's state, saved and restored.

Each rank's part is a safetensors file of its own. It is written from memory by put_from, in parts where it is large, and read
by load_safetensors: the header first, then all tensors straight into their storage, many requests at a time.
Where torch has it, torch.distributed.checkpoint does the same by RailheadWriter and RailheadReader, from and into the tensors.
Plain S3 uploads and downloads by boto3's transfer manager (parts of 8 MiB, ten at a time), and parses.

A save is over once it is acknowledged. Where a gateway does that at its own disk (acknowledge: disk), a flush comes before the
checkpoint is looked at in the store, and before one is deleted: one copy on one disk is none to rely on.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import safetensors.torch
import torch
from railhead.torch import load_safetensors

import comparison
from comparison import Site
from measuring import MIB, Stopwatch, Way, check

RANKS = 4
LAYERS = 8  # of each rank's part, a matrix and a bias each

State = dict[str, torch.Tensor]
Write = Callable[[str, bytes], None]
Load = Callable[["Shard"], State]
BY_DCP = "railhead, torch.distributed.checkpoint"


@dataclass(frozen=True)
class Shard:
    """One rank's part: the tensors, and the file that they make."""

    name: str
    state: State
    file: bytes

    @staticmethod
    def make(rank: int, nbytes: int, random: np.random.Generator) -> Shard:
        width = max(8, int((nbytes / LAYERS / 4) ** 0.5))
        state = {}
        for layer in range(LAYERS):
            state[f"layers.{layer}.weight"] = torch.from_numpy(random.standard_normal((width, width), np.float32))
            state[f"layers.{layer}.bias"] = torch.from_numpy(random.standard_normal(width, np.float32))
        file = safetensors.torch.save(state, metadata={"rank": str(rank)})
        return Shard(f"rank-{rank:05d}.safetensors", state, file)


STEPS = count()


def save(site: Site, shards: list[Shard], write: Write) -> Way:
    """Each pass writes a checkpoint of its own, looks at it in the store, and deletes it."""

    def way(watch: Stopwatch) -> int:
        folder = f"step-{next(STEPS):06d}"
        for shard in shards:
            write(f"{folder}/{shard.name}", shard.file)
        with watch.aside():
            site.flush(f"{folder}/")
            for shard in shards:
                check(site.read(f"{folder}/{shard.name}") == shard.file, f"{folder}/{shard.name}")
            site.delete(f"{folder}/{shard.name}" for shard in shards)
        return sum(len(shard.file) for shard in shards)

    return way


def restore(shards: list[Shard], load: Load) -> Way:
    def way(watch: Stopwatch) -> int:
        for shard in shards:
            state = load(shard)
            with watch.aside():
                check_same(state, shard)
            del state  # as large as the next one
        return sum(len(shard.file) for shard in shards)

    return way


def has_dcp() -> bool:
    """Looks for torch's checkpoints: Debian's torch may be too old."""
    try:
        from torch.distributed.checkpoint import StorageWriter  # noqa: F401
    except ImportError:
        return False
    return True


def save_dcp(site: Site, shards: list[Shard]) -> Way:
    """Writes each rank's part as a checkpoint of its own here: one process has all of them."""

    def way(watch: Stopwatch) -> int:
        folder = f"step-{next(STEPS):06d}"
        for shard in shards:
            write_dcp(site, shard, f"{folder}/{shard.name}")
        with watch.aside():
            for shard in shards:
                check_same(load_dcp(site, shard, f"{folder}/{shard.name}"), shard)
            site.flush(f"{folder}/")
            site.delete(each.url.removeprefix(site.url("")) for each in site.client.list(site.url(f"{folder}/")))
        return sum(len(shard.file) for shard in shards)

    return way


def write_dcp(site: Site, shard: Shard, name: str) -> None:
    import torch.distributed.checkpoint as dcp
    from railhead.engines.dcp import RailheadWriter

    dcp.save(shard.state, storage_writer=RailheadWriter(site.url(name), client=site.client), no_dist=True)


def load_dcp(site: Site, shard: Shard, name: str) -> State:
    import torch.distributed.checkpoint as dcp
    from railhead.engines.dcp import RailheadReader

    state = {key: torch.empty_like(tensor) for key, tensor in shard.state.items()}
    dcp.load(state, storage_reader=RailheadReader(site.url(name), client=site.client), no_dist=True)
    return state


def check_same(state: State, shard: Shard) -> None:
    right = state.keys() == shard.state.keys() and all(
        torch.equal(state[name], tensor) for name, tensor in shard.state.items())
    check(right, shard.name)


def work(site: Site) -> None:
    torch.set_num_threads(1)  # its comparisons are not to be counted
    shards = [Shard.make(rank, site.options.nbytes // RANKS, site.random) for rank in range(RANKS)]
    print(f"{RANKS} ranks' parts of {len(shards[0].file) / MIB:.1f} MiB, one after the other")

    def upload(s3: Any) -> Write:
        def upload_fileobj(name: str, file: bytes) -> None:
            s3.upload_fileobj(io.BytesIO(file), site.bucket, site.key(name))
        return upload_fileobj

    def download(s3: Any) -> Load:
        def download_fileobj(shard: Shard) -> State:
            body = io.BytesIO()
            s3.download_fileobj(site.bucket, site.key(shard.name), body)
            return safetensors.torch.load(body.getvalue())
        return download_fileobj

    saves = {"railhead": save(site, shards, site.put_from)}
    loads = {"railhead": restore(shards, lambda shard: load_safetensors(site.url(shard.name), client=site.client))}
    if has_dcp():
        saves[BY_DCP] = save_dcp(site, shards)
        loads[BY_DCP] = restore(shards, lambda shard: load_dcp(site, shard, f"dcp/{shard.name}"))
    for name, s3 in site.plain.items():
        saves[name] = save(site, shards, upload(s3))
        loads[name] = restore(shards, download(s3))

    site.compare("save", saves)
    site.tell(comparison.WRITES)
    for shard in shards:
        site.put_from(shard.name, shard.file)
        if has_dcp():
            write_dcp(site, shard, f"dcp/{shard.name}")
    site.compare("restore", loads)


if __name__ == "__main__":
    sys.exit(comparison.main("checkpoint", __doc__, "256MiB", work))
