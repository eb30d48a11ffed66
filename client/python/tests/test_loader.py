"""Loaders that go on where another one was left. Run by a Python that has torch; see check."""

from __future__ import annotations

import io
import pickle
import tarfile
from dataclasses import dataclass
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader  # noqa: E402

from railhead import torch as rtorch  # noqa: E402
from railhead._jobs import Read  # noqa: E402

RECORD = 10

# More workers than this machine has processors.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@dataclass
class Had:
    """What a client answers of an object."""

    size: int = 0
    length: int = 0


OBJECTS = {f"s3://b/{i}": bytes((i * 50 + at // RECORD) % 256 for at in range(RECORD * (3 + 2 * i))) for i in range(5)}


class Memory:
    """A client whose objects are in the test: 5 shards with different counts of records, and of samples."""

    def get(self, url: str) -> bytes:
        return OBJECTS[url] if "tar" not in url else tar(int(url[-1]))

    def get_all(self, urls: list[str]) -> list[bytes]:
        return [self.get(url) for url in urls]

    def head(self, url: str) -> Had:
        return Had(size=len(OBJECTS[url]))

    def get_many(self, reads: list[Any]) -> list[Had]:
        for read in reads:
            assert isinstance(read, Read)
            data = OBJECTS[read.url][read.start:read.start + read.buffer.nelement()]
            read.buffer.view(-1).copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
        return [Had(length=read.buffer.nelement()) for read in reads]


def tar(number: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for sample in range(2 + number):
            member = tarfile.TarInfo(f"{number}-{sample}.txt")
            member.size = 1
            made.addfile(member, io.BytesIO(b"x"))
    return out.getvalue()


def first(record: Any) -> int:
    return int(record[0])


def key(sample: dict[str, Any]) -> str:
    return str(sample["__key__"])


CLIENT: Any = Memory()


def records(**options: Any) -> Any:
    return rtorch.Records(list(OBJECTS), RECORD, batch=4, transform=first, client=CLIENT, **options)


def shards(**options: Any) -> Any:
    return rtorch.Shards([f"s3://b/tar{i}" for i in range(5)], buffer=3, transform=key, client=CLIENT, **options)


def objects(**_: Any) -> Any:
    return rtorch.Objects(list(OBJECTS), transform=first, client=CLIENT)


def listed(batches: Any) -> list[Any]:
    return [batch.tolist() if isinstance(batch, torch.Tensor) else batch for batch in batches]


@pytest.mark.parametrize("make", [records, shards, objects])
@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("shuffle", [False, True])
def test_what_is_left_of_an_epoch_comes_in_the_same_order(make: Any, workers: int, shuffle: bool) -> None:
    def loader() -> Any:
        is_sampled = make is objects
        return rtorch.Loader(make(shuffle=shuffle), batch_size=3, num_workers=workers, shuffle=is_sampled and shuffle)

    whole = loader()
    whole.set_epoch(2)
    expected = listed(whole)
    assert whole.state_dict()["epoch"] == 3
    for taken in range(0, len(expected) + 1, 2):
        left = loader()
        left.set_epoch(2)
        batches = iter(left)
        before = listed(next(batches) for _ in range(taken))
        state = pickle.loads(pickle.dumps(left.state_dict()))
        del batches
        again = loader()
        again.load_state_dict(state)
        again.set_epoch(2)
        assert before + listed(again) == expected
        assert again.state_dict()["epoch"] == 3


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_that_persist_go_on_too(start: str) -> None:
    expected = listed(rtorch.Loader(records(shuffle=True), batch_size=2, num_workers=2))
    loader = rtorch.Loader(records(shuffle=True), batch_size=2, num_workers=2, persistent_workers=True,
                           multiprocessing_context=start)
    batches = iter(loader)
    assert listed(next(batches) for _ in range(3)) == expected[:3]
    state = loader.state_dict()
    for _ in batches:
        pass
    loader.load_state_dict(state)
    assert listed(loader) == expected[3:]
    loader.set_epoch(0)
    assert listed(loader) == expected
    loader.set_epoch(0)
    next(iter(loader))
    assert listed(loader) == expected, "an iteration that was left is not gone on with unasked"


def test_items_without_batches() -> None:
    loader = rtorch.Loader(records(), batch_size=None)
    expected = listed(loader)
    loader.set_epoch(0)
    batches = iter(loader)
    next(batches)
    again = rtorch.Loader(records(), batch_size=None)
    again.load_state_dict(loader.state_dict())
    assert listed(again) == expected[1:]


def test_state_of_a_worker_is_the_data_sets_own() -> None:
    """As torchdata's StatefulDataLoader asks for it."""
    dataset = records(shuffle=True)
    expected = list(dataset)
    items = iter(dataset)
    for _ in range(10):
        next(items)
    again = records(shuffle=True)
    again.load_state_dict(dataset.state_dict())
    assert list(again) == expected[10:]
    assert list(again) == expected


def test_state_of_other_workers_is_refused() -> None:
    state = rtorch.Loader(records(), num_workers=2).state_dict()
    with pytest.raises(ValueError, match="of 2 workers, not of 3"):
        rtorch.Loader(records(), num_workers=3).load_state_dict(state)
    with pytest.raises(ValueError, match="the data set's own"):
        rtorch.Loader(records(), shuffle=True)


def test_loaders_of_torch_are_as_before() -> None:
    assert sorted(listed(DataLoader(records(), batch_size=None, num_workers=2))) == sorted(listed(records()))
