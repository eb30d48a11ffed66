"""A DataLoader that says how far it is, and goes on from there."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.utils.data import DataLoader, Sampler, default_collate, default_convert, get_worker_info

from railhead._datasets import Objects, _Divided


class Loader(DataLoader):
    """
    torch's, of this package's data sets. `state_dict` is how far its user is, whatever its workers have read ahead: whoever
    loads it, with as many workers and ranks, gets by its next iteration the batches that were left of the epoch, in the same
    order. An epoch that is over is followed by the next one's state.

    Of Objects `shuffle` and `seed` give the order, which ranks divide among them; the other data sets have their own.
    """

    def __init__(self, dataset: Objects | _Divided, *, shuffle: bool = False, seed: int = 0,
                 collate_fn: Callable[[Any], Any] | None = None, **options: Any) -> None:
        collate = collate_fn or (default_convert if options.get("batch_size", 1) is None else default_collate)
        self._source: _Order | _Divided
        if isinstance(dataset, Objects):
            self._source = options["sampler"] = _Order(len(dataset), shuffle, seed)
        elif shuffle or seed:
            raise ValueError("shuffle and seed are the data set's own")
        else:
            self._source = dataset
        super().__init__(dataset, collate_fn=_Counting(collate, dataset), **options)
        self._parts = 1 if isinstance(dataset, Objects) else max(1, self.num_workers)
        self._forget()

    def set_epoch(self, epoch: int) -> None:
        """Of another epoch nothing was given."""
        if epoch != self._source.epoch:
            self._source.set_epoch(epoch)
            self._forget()

    def _forget(self) -> None:
        self._given, self._next, self._is_loaded = [0] * self._parts, 0, False

    def __iter__(self) -> Iterator[Any]:
        if not self._is_loaded:
            self._forget()
        self._is_loaded = False
        self._source.begin_at(self._next, self._given)
        for part, given, batch in super().__iter__():
            self._given[part] = given if isinstance(self._source, _Divided) else self._given[part] + given
            self._next = (part + 1) % self._parts
            yield batch
        self._source.set_epoch(self._source.epoch + 1)
        self._forget()

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self._source.epoch, "next": self._next, "given": list(self._given)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if len(state["given"]) != self._parts:
            raise ValueError(f"the state is of {len(state['given'])} workers, not of {self._parts}")
        self._source.set_epoch(state["epoch"])
        self._given, self._next, self._is_loaded = list(state["given"]), state["next"], True


class _Counting:
    """A batch, and how far the worker is that made it."""

    def __init__(self, collate: Callable[[Any], Any], dataset: Any) -> None:
        self._collate = collate
        self._dataset = dataset

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_dataset": None}  # a worker has its own

    def __call__(self, items: Any) -> tuple[int, int, Any]:
        worker = get_worker_info()
        dataset = worker.dataset if worker else self._dataset
        if isinstance(dataset, _Divided):
            return dataset.part, dataset.given, self._collate(items)
        return 0, len(items) if isinstance(items, list) else 1, self._collate(items)


class _Order(Sampler):
    """Of one epoch: each index once, in one rank."""

    def __init__(self, length: int, shuffle: bool, seed: int) -> None:
        self._length, self._shuffle, self._seed = length, shuffle, seed
        self._passed = 0
        self.epoch = 0
        distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
        self._rank = torch.distributed.get_rank() if distributed else 0
        self._ranks = torch.distributed.get_world_size() if distributed else 1

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def begin_at(self, _first: int, given: list[int]) -> None:
        self._passed = given[0]

    def __len__(self) -> int:
        return len(range(self._rank, self._length, self._ranks))

    def __iter__(self) -> Iterator[int]:
        order = list(range(self._length))
        if self._shuffle:
            random.Random(f"{self._seed} {self.epoch}").shuffle(order)
        yield from order[self._rank::self._ranks][self._passed:]
