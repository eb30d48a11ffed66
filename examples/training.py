"""Training: epochs over a sharded dataset, in another order each.

Records of one size, here images of 224 by 224 points, lie in shards. Each epoch visits each record once: the shards in an order
of its own, and the records of each shard in another. Whole shards are read, the next one ahead, into two pieces of
memory by turns; Railhead and plain S3 differ only in how. railhead.torch.Records is the same in two lines, without memory for
whole shards: it reads a batch's records where they lie. The step that is trained is the smallest there is, and not
counted: what is measured is what the loader costs, with a copy of each batch to where it is trained on.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import railhead.torch
import torch
from railhead.torch import Records
from torch.utils.data import DataLoader, IterableDataset

import comparison
from comparison import Site
from measuring import KIB, MIB, Stopwatch, Way, check

RECORD = 224 * 224 * 3  # bytes: an image that size, three bytes for each point
BATCH = 32
INPUTS = 256  # bytes of a record that the model looks at
SHARD_RECORDS = 128


@dataclass(frozen=True)
class Dataset:
    """Random records whose first eight bytes are their number."""

    records: np.ndarray

    @staticmethod
    def make(nbytes: int, random: np.random.Generator) -> Dataset:
        number = max(BATCH, nbytes // RECORD)
        records = random.integers(256, size=(number, RECORD), dtype=np.uint8)
        records[:, :8] = np.arange(number, dtype="<u8")[:, None].view(np.uint8)
        return Dataset(records)

    def shards(self) -> list[np.ndarray]:
        return [self.records[first : first + SHARD_RECORDS] for first in range(0, len(self.records), SHARD_RECORDS)]


@dataclass
class Trained:
    """A linear model, and the data set that it is trained on."""

    dataset: Dataset
    received: torch.Tensor = field(init=False)  # memory of an epoch's batches: a device's would be
    weights: torch.Tensor = field(default_factory=lambda: torch.zeros(INPUTS, requires_grad=True))

    def __post_init__(self) -> None:
        self.received = torch.zeros(self.dataset.records.shape, dtype=torch.uint8)

    def epoch(self, batches: Iterable[torch.Tensor], watch: Stopwatch) -> int:
        """Looks at the batches, and trains, once all have come: before that, a shard is read beside it."""
        seen, have = np.zeros(len(self.dataset.records), np.int64), 0
        for batch in batches:
            check(have + len(batch) <= len(seen), "the epoch has too many records")
            self.received[have : have + len(batch)] = batch
            have += len(batch)
        watch.stop()
        for batch in self.received[:have].split(BATCH):
            numbers = batch[:, :8].numpy().copy().view("<u8").ravel()
            check(numbers.max() < len(seen) and np.array_equal(batch.numpy(), self.dataset.records[numbers]),
                  "a record is not the one whose number it has")
            np.add.at(seen, numbers, 1)
            self.step(batch)
        self.received.zero_()
        check(bool((seen == 1).all()), f"{(seen != 1).sum()} records did not come once in the epoch")
        return self.dataset.records.nbytes

    def step(self, batch: torch.Tensor) -> None:
        inputs = batch[:, 8 : 8 + INPUTS].float() / 255
        loss = ((inputs * self.weights).sum(1) - inputs.mean(1)).square().mean()
        self.weights.grad = None
        loss.backward()
        with torch.no_grad():
            self.weights -= 0.01 * self.weights.grad


@dataclass
class WholeShards(IterableDataset):
    """Batches of records, none across two shards. `read` fills memory with a shard, on a thread of its own."""

    shards: dict[str, int]  # records of each
    memory: tuple[torch.Tensor, torch.Tensor]  # each [records of the largest, RECORD]
    read: Callable[[str, torch.Tensor], object]
    random: random.Random

    def __iter__(self) -> Iterator[torch.Tensor]:
        order = self.random.sample(list(self.shards), len(self.shards))
        with ThreadPoolExecutor(1) as thread:
            ahead = thread.submit(self.fill, 0, order[0])
            for position in range(len(order)):
                shard = ahead.result()
                if position + 1 < len(order):
                    ahead = thread.submit(self.fill, position + 1, order[position + 1])
                # Each batch is a copy: the shard's memory is filled again while the last batch may still be used.
                yield from (shard[some] for some in torch.tensor(self.random.sample(range(len(shard)), len(shard))).split(BATCH))

    def fill(self, turn: int, name: str) -> torch.Tensor:
        shard = self.memory[turn % 2][: self.shards[name]]
        self.read(name, shard)
        return shard


def by_shard(site: Site, shards: dict[str, int], trained: Trained, read: Callable[[str, torch.Tensor], object]) -> Way:
    # Memory that the gateway writes into directly; boto3 has the same.
    memory = [railhead.torch.empty(site.client, (max(shards.values()), RECORD), torch.uint8) for _ in range(2)]
    whole = WholeShards(shards, (memory[0], memory[1]), read, random.Random(site.options.seed))
    return lambda watch: trained.epoch(DataLoader(whole, batch_size=None), watch)


def by_records(site: Site, shards: dict[str, int], trained: Trained) -> Way:
    records = Records([site.url(shard) for shard in shards], RECORD, shuffle=True, seed=site.options.seed, batch=BATCH,
                      client=site.client)
    epochs = count()

    def way(watch: Stopwatch) -> int:
        records.set_epoch(next(epochs))
        return trained.epoch(DataLoader(records, batch_size=BATCH), watch)

    return way


def read_by_boto3(site: Site, s3: Any, name: str, shard: torch.Tensor) -> None:
    site.read_into(s3, name, memoryview(shard.numpy()).cast("B"))


def work(site: Site) -> None:
    torch.set_num_threads(1)  # what it does is not to be counted
    trained = Trained(Dataset.make(site.options.nbytes, site.random))
    shards: dict[str, int] = {}
    for shard in trained.dataset.shards():
        name = f"train-{len(shards):05d}"
        shards[name] = len(shard)
        site.write(name, shard)
    print(f"{len(trained.dataset.records)} records of {RECORD // KIB} KiB in {len(shards)} shards; batches of {BATCH}")

    ours = by_shard(site, shards, trained, lambda name, shard: site.client.get_into(site.url(name), shard))
    watch = Stopwatch()
    first = watch.read(ours(watch))
    site.tell(f"The first epoch, which the gateway had to fetch from the store: {first.nbytes / MIB / first.seconds:.1f} MiB/s.")
    ways = {"railhead": ours, "railhead, Records": by_records(site, shards, trained)}
    for way, s3 in site.plain.items():
        ways[way] = by_shard(site, shards, trained, partial(read_by_boto3, site, s3))
    site.compare("epochs", ways)


if __name__ == "__main__":
    sys.exit(comparison.main("training", __doc__, "128MiB", work))
