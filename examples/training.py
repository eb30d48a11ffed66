"""Training: epochs over a sharded dataset, in another order each.

Records of one size, here images of 224 by 224 points, lie in shards. Each epoch visits each record once: the shards
in an order of its own, and the records of each shard in another. railhead.torch.Records reads the records of a batch
where they lie, the next batch ahead; plain S3 reads whole shards, the next one ahead. The step that is trained is the smallest
there is, and not counted: what is measured is what the loader costs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
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
    weights: torch.Tensor = field(default_factory=lambda: torch.zeros(INPUTS, requires_grad=True))

    def epoch(self, batches: Iterable[torch.Tensor], watch: Stopwatch) -> int:
        seen = np.zeros(len(self.dataset.records), np.int64)
        for batch in batches:
            with watch.aside():
                numbers = batch[:, :8].numpy().copy().view("<u8").ravel()
                check(numbers.max() < len(seen) and np.array_equal(batch.numpy(), self.dataset.records[numbers]),
                                 "a record is not the one whose number it has")
                seen[numbers] += 1
                self.step(batch)
        check(bool((seen == 1).all()), f"{(seen != 1).sum()} records did not come once in the epoch")
        return self.dataset.records.nbytes

    def step(self, batch: torch.Tensor) -> None:
        inputs = batch[:, 8 : 8 + INPUTS].float() / 255
        loss = ((inputs * self.weights).sum(1) - inputs.mean(1)).square().mean()
        self.weights.grad = None
        loss.backward()
        with torch.no_grad():
            self.weights -= 0.01 * self.weights.grad


def by_railhead(site: Site, shards: list[str], trained: Trained) -> Way:
    records = Records([site.url(shard) for shard in shards], RECORD, shuffle=True, seed=site.options.seed, batch=BATCH,
                      client=site.client)
    epochs = count()

    def way(watch: Stopwatch) -> int:
        records.set_epoch(next(epochs))
        return trained.epoch(DataLoader(records, batch_size=BATCH), watch)

    return way


@dataclass
class PlainRecords(IterableDataset):
    """The same order by boto3: whole shards, the next one ahead, shuffled here."""

    s3: Any
    site: Site
    shards: list[str]
    random: random.Random

    def get(self, shard: str) -> torch.Tensor:
        body = self.s3.get_object(Bucket=self.site.bucket, Key=self.site.key(shard))["Body"].read()
        return torch.frombuffer(bytearray(body), dtype=torch.uint8).view(-1, RECORD)

    def __iter__(self) -> Iterator[torch.Tensor]:
        order = self.random.sample(self.shards, len(self.shards))
        with ThreadPoolExecutor(1) as thread:
            ahead = thread.submit(self.get, order[0])
            for following in [*order[1:], None]:
                shard = ahead.result()
                if following:
                    ahead = thread.submit(self.get, following)
                yield from (shard[i] for i in self.random.sample(range(len(shard)), len(shard)))


def by_boto3(site: Site, s3: Any, shards: list[str], trained: Trained) -> Way:
    records = PlainRecords(s3, site, shards, random.Random(site.options.seed))
    return lambda watch: trained.epoch(DataLoader(records, batch_size=BATCH), watch)


def work(site: Site) -> None:
    torch.set_num_threads(1)  # what it does is not to be counted
    trained = Trained(Dataset.make(site.options.nbytes, site.random))
    shards: list[str] = []
    for shard in trained.dataset.shards():
        shards.append(f"train-{len(shards):05d}")
        site.write(shards[-1], shard)
    print(f"{len(trained.dataset.records)} records of {RECORD // KIB} KiB in {len(shards)} shards; batches of {BATCH}")

    ours = by_railhead(site, shards, trained)
    watch = Stopwatch()
    first = watch.read(ours(watch))
    site.tell(f"The first epoch, which the gateway had to fetch from the store: {first.nbytes / MIB / first.seconds:.1f} MiB/s.")
    ways = {"railhead": ours}
    for name, s3 in site.plain.items():
        ways[name] = by_boto3(site, s3, shards, trained)
    site.compare("epochs", ways)


if __name__ == "__main__":
    sys.exit(comparison.main("training", __doc__, "128MiB", work))
