"""Data sets of objects, as torch.utils.data has them. They may be pickled, and used by DataLoader's workers."""

from __future__ import annotations

import io
import random
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from multiprocessing.context import get_spawning_popen
from typing import Any, TypeVar

import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from railhead._jobs import Read
from railhead.client import Client, connect

Item = TypeVar("Item")
Transform = Callable[[Any], Any] | None

_MOST_WORKERS = 1024


class Objects(Dataset):
    """One item for each URL: `transform` of its bytes, or they themselves as a uint8 tensor."""

    def __init__(self, urls: Sequence[str], transform: Transform = None, *, client: Client | None = None) -> None:
        self._urls = list(urls)
        self._transform = transform or _tensor_of
        self._client = client

    def __len__(self) -> int:
        return len(self._urls)

    def __getitem__(self, index: int) -> Any:
        return self._transform((self._client or connect()).get(self._urls[index]))

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """A batch, many requests at a time; DataLoader calls it from torch 2.0 on."""
        got = (self._client or connect()).get_all([self._urls[index] for index in indices])
        return [self._transform(each) for each in got]


def _tensor_of(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)


class _Divided(IterableDataset):
    """
    Shards, each of one worker of one rank: that the data set was made in, where torch.distributed is initialised.

    What a worker has given of an epoch is a count of items: their order is the same each time. `state_dict` and
    `load_state_dict` are one process's, as loaders call them in each worker; `_resume` has the counts of all workers.
    """

    def __init__(self, urls: Sequence[str], shuffle: bool, seed: int, transform: Transform, client: Client | None) -> None:
        self._urls = list(urls)
        self._shuffle = shuffle
        self._seed = seed
        self._epoch = _shared(0)
        # For the next iteration: the part that the first worker has, and how many items of each part are passed over.
        self._resume = torch.zeros(1 + _MOST_WORKERS, dtype=torch.int64).share_memory_()
        self._resumed = 0
        self.part, self.given = 0, 0
        self._transform = transform
        self._client = client
        distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
        self._rank = torch.distributed.get_rank() if distributed else 0
        self._ranks = torch.distributed.get_world_size() if distributed else 1

    def set_epoch(self, epoch: int) -> None:
        """Of what is iterated over from now on, here and by workers that have started, too."""
        self._epoch.fill_(epoch)

    @property
    def epoch(self) -> int:
        return int(self._epoch.item())

    def state_dict(self) -> dict[str, int]:
        return {"epoch": self.epoch, "items": self.given}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        self.set_epoch(state["epoch"])
        self._resumed = state["items"]

    def begin_at(self, first: int, given: Sequence[int]) -> None:
        """Of the next iteration, by all workers: `given` items of each part are passed over; the first has part `first`."""
        if len(given) > _MOST_WORKERS:
            raise ValueError(f"more than {_MOST_WORKERS} workers")
        self._resume.zero_()
        self._resume[0] = first
        self._resume[1:1 + len(given)] = torch.tensor(given, dtype=torch.int64)

    def __getstate__(self) -> dict[str, Any]:
        """A worker that is started gets the epoch itself, every other copy one of its own."""
        if get_spawning_popen() is not None:
            return dict(self.__dict__)
        return {**self.__dict__, "_epoch": self._epoch.item(), "_resume": self._resume.tolist()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        shared = {name: state[name] if isinstance(state[name], torch.Tensor) else _shared(state[name])
                  for name in ("_epoch", "_resume")}
        self.__dict__.update(state, **shared)

    def __iter__(self) -> Iterator[Any]:
        urls, epoch = list(self._urls), self._epoch.item()
        if self._shuffle:
            # One order for all, so that what they divide is the whole.
            random.Random(f"{self._seed} {epoch}").shuffle(urls)
        worker = get_worker_info()
        workers, place = (worker.num_workers, worker.id) if worker else (1, 0)
        number = (place + int(self._resume[0])) % workers
        mine = urls[self._rank * workers + number::self._ranks * workers]
        order = random.Random(f"{self._seed} {epoch} {self._rank} {number}")
        passed = self._resumed or int(self._resume[1 + number])
        self.part, self.given, self._resumed = number, passed, 0
        for item in self._items(self._client or connect(), mine, order, passed):
            made = self._transform(item) if self._transform else item
            self.given += 1
            yield made

    def _items(self, client: Client, urls: list[str], order: random.Random, passed: int) -> Iterator[Any]:
        """Without the first `passed`."""
        raise NotImplementedError


def _shared(numbers: int | list[int]) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int64).share_memory_()


class Records(_Divided):
    """Records of one size, from shards that have nothing else: uint8 tensors [record_bytes]."""

    def __init__(self, urls: Sequence[str], record_bytes: int, *, shuffle: bool = False, seed: int = 0, batch: int = 64,
                 transform: Transform = None, client: Client | None = None) -> None:
        if record_bytes < 1 or batch < 1:
            raise ValueError("record_bytes and batch are at least 1")
        super().__init__(urls, shuffle, seed, transform, client)
        self._record_bytes = record_bytes
        self._batch = batch

    def _items(self, client: Client, urls: list[str], order: random.Random, passed: int) -> Iterator[torch.Tensor]:
        for batch in _ahead(self._batches(client, urls, order, passed), lambda each: self._read(client, *each)):
            yield from batch

    def _batches(self, client: Client, urls: list[str], order: random.Random, passed: int) -> Iterator[tuple[str, list[int]]]:
        for url in urls:
            size = client.head(url).size
            if size % self._record_bytes:
                raise ValueError(f"{url}: {size} bytes are no whole records of {self._record_bytes}")
            numbers = list(range(size // self._record_bytes))
            if self._shuffle:
                order.shuffle(numbers)
            numbers, passed = numbers[passed:], max(0, passed - len(numbers))
            for at in range(0, len(numbers), self._batch):
                yield url, numbers[at:at + self._batch]

    def _read(self, client: Client, url: str, numbers: list[int]) -> torch.Tensor:
        made = torch.empty((len(numbers), self._record_bytes), dtype=torch.uint8)
        if self._shuffle:
            reads = [Read(url, made[i], number * self._record_bytes) for i, number in enumerate(numbers)]
        else:
            reads = [Read(url, made, numbers[0] * self._record_bytes)]
        if sum(got.length for got in client.get_many(reads)) != made.nelement():
            raise ValueError(f"{url}: the shard became shorter while it was read")
        return made


class Shards(_Divided):
    """Samples of tar files: the files of one name without their ends, such as "jpg", in the order in which they lie there."""

    def __init__(self, urls: Sequence[str], *, shuffle: bool = False, seed: int = 0, buffer: int = 1000,
                 transform: Transform = None, client: Client | None = None) -> None:
        super().__init__(urls, shuffle, seed, transform, client)
        self._buffer = buffer

    def _items(self, client: Client, urls: list[str], order: random.Random, passed: int) -> Iterator[dict[str, Any]]:
        """What is passed over is read all the same: only a shard says how many samples it has."""
        shards = _ahead(iter(urls), client.get)
        samples = (sample for shard in shards for sample in _samples(shard))
        return islice(_shuffled(samples, self._buffer, order) if self._shuffle else samples, passed, None)


def _samples(shard: bytes) -> Iterator[dict[str, Any]]:
    sample: dict[str, Any] = {}
    with tarfile.open(fileobj=io.BytesIO(shard)) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if content is None:
                continue
            folder, slash, name = member.name.rpartition("/")
            stem, _, end = name.partition(".")
            key = folder + slash + stem
            if sample and sample["__key__"] != key:
                yield sample
                sample = {}
            sample["__key__"] = key
            sample[end] = content.read()
    if sample:
        yield sample


def _shuffled(items: Iterable[Item], room: int, order: random.Random) -> Iterator[Item]:
    held: list[Item] = []
    for item in items:
        held.append(item)
        if len(held) >= room:
            at = order.randrange(len(held))
            held[at], held[-1] = held[-1], held[at]
            yield held.pop()
    order.shuffle(held)
    yield from held


def _ahead(tasks: Iterator[Any], work: Callable[[Any], Item]) -> Iterator[Item]:
    """The work on one task is under way while the last one's result is used."""
    with ThreadPoolExecutor(1, "railhead-ahead") as thread:
        under_way = None
        for task in tasks:
            following = thread.submit(work, task)
            if under_way is not None:
                yield under_way.result()
            under_way = following
        if under_way is not None:
            yield under_way.result()
