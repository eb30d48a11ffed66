"""Order of a rank's items in its object, and the parts in which they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_GATHERED_BYTES = 64 << 20  # of small items, in one piece of memory
_BATCH_BYTES = 512 << 20    # under way at a time, and at most so much memory beside the tensors' own


@dataclass(frozen=True)
class Section:
    """Consecutive bytes of an object that come from one piece of memory: one large tensor's, or those of many small items."""

    items: tuple[Any, ...]  # with their lengths
    nbytes: int


def lay_out(sizes: Iterable[tuple[Any, int]], step: int) -> list[Section]:
    """Large items first, each in parts that S3 takes; small ones behind, of which the last section alone may be short."""
    large: list[Section] = []
    sections: list[Section] = []
    gathered: list[tuple[Any, int]] = []
    nbytes = 0
    for item, size in sizes:
        if size >= step:
            large.append(Section(((item, size),), size))
            continue
        if nbytes + size > max(_GATHERED_BYTES, 2 * step):
            sections.append(Section(tuple(gathered), nbytes))
            gathered, nbytes = [], 0
        gathered.append((item, size))
        nbytes += size
    if gathered:
        sections.append(Section(tuple(gathered), nbytes))
    return [*large, *sections]


def part_bytes(nbytes: int, step: int) -> int:
    """Size of all parts but the last: `step` bytes at least. The last one lacks fewer bytes than there are parts."""
    return -(-nbytes // max(1, nbytes // step))


def batches(each: Iterable[Any], nbytes_of: Callable[[Any], int]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    total = 0
    for one in each:
        nbytes = nbytes_of(one)
        if batch and total + nbytes > _BATCH_BYTES:
            yield batch
            batch, total = [], 0
        batch.append(one)
        total += nbytes
    if batch:
        yield batch


def with_offsets(sections: Iterable[Section], offset: int) -> Iterator[tuple[Section, int]]:
    for section in sections:
        yield section, offset
        offset += section.nbytes
