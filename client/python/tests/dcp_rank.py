"""One of two processes that save or load a sharded state: dcp_rank.py save|load RENDEZVOUS URL. See test_dcp."""

from __future__ import annotations

import os
import sys
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

import railhead
from railhead.engines.dcp import RailheadReader, RailheadWriter


def state(rows: Any, columns: Any) -> dict[str, Any]:
    mesh = init_device_mesh("cpu", (2,))
    there = torch.arange(64 * 48.0).view(64, 48)
    return {"rows": distribute_tensor(there, mesh, [rows]), "columns": distribute_tensor(-there, mesh, [columns]),
            "whole": torch.arange(10.0), "step": 5}


def main(what: str, rendezvous: str, url: str) -> None:
    dist.init_process_group("gloo", init_method=rendezvous, rank=int(os.environ["RANK"]), world_size=2)
    with railhead.Client(fabric="loopback") as client:
        if what == "save":
            dcp.save(state(Shard(0), Shard(1)), storage_writer=RailheadWriter(url, client=client))
        else:
            wanted, into = state(Shard(1), Replicate()), state(Shard(1), Replicate())
            for name in ("rows", "columns"):
                into[name].to_local().zero_()
            into["whole"].zero_()
            dcp.load(into, storage_reader=RailheadReader(url, client=client))
            for name in ("rows", "columns"):
                assert torch.equal(into[name].to_local(), wanted[name].to_local()), name
            assert torch.equal(into["whole"], wanted["whole"])
        assert client.report().bytes_by_path["loopback"] > 0
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
