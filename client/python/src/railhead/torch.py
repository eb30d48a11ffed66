"""Tensors and data sets of objects."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from railhead import errors
from railhead._calls import Read
from railhead._datasets import Objects, Records, Shards
from railhead._progress import Progress, reporting
from railhead.client import Client, connect

__all__ = ["Objects", "Records", "Shards", "empty", "load_safetensors", "safetensors_metadata"]

_LENGTH_BYTES = 8
_HEADER_GUESS = 64 << 10
_MOST_HEADER = 100_000_000  # the format's own limit
_ALIGNMENT = 64
_BAR_AFTER_SECONDS = 2.0

_TYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "F16": "float16", "BF16": "bfloat16",
    "I32": "int32", "U32": "uint32", "F32": "float32", "F64": "float64", "I64": "int64", "U64": "uint64",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu", "F4": "float4_e2m1fn_x2", "C64": "complex64"}
_PAIRS = {"F4"}  # the file counts numbers, torch bytes of two


def empty(client: Client, shape: int | tuple[int, ...], dtype: Any = None) -> torch.Tensor:
    """A zeroed CPU tensor in memory that the gateway can reach."""
    kind = dtype or torch.get_default_dtype()
    dimensions = shape if isinstance(shape, tuple) else (shape,)
    nbytes = math.prod(dimensions) * torch.empty(0, dtype=kind).element_size()
    memory = torch.frombuffer(client.buffer(max(nbytes, 1)), dtype=torch.uint8)
    return memory[:nbytes].view(kind).view(dimensions)


@dataclass(frozen=True)
class _Tensor:
    name: str
    kind: Any
    shape: tuple[int, ...]
    begin: int  # in the file's data
    end: int


@dataclass(frozen=True)
class _File:
    """A safetensors file's header: `data` is the byte where the tensors' data begins."""

    url: str
    etag: str
    data: int
    tensors: tuple[_Tensor, ...]
    metadata: Mapping[str, str]


def load_safetensors(url: str, device: Any = "cpu", *, client: Client | None = None, names: Iterable[str] | None = None,
                     progress: Progress = None) -> dict[str, torch.Tensor]:
    """All tensors of a file, or those of `names`, in one storage that they share."""
    with_client = client or connect()
    file = _read_header(with_client, url)
    wanted = file.tensors if names is None else _named(file, names)
    runs, places, total = _lay_out(wanted)
    storage = _storage(with_client, total, torch.device(device))
    reads = [Read(url, storage[at:at + end - begin], file.data + begin) for begin, end, at in runs]
    _read(with_client, file, storage, reads, progress)
    return {each.name: _tensor(storage, each, places[each.name]) for each in wanted}


def safetensors_metadata(url: str, *, client: Client | None = None) -> Mapping[str, str]:
    return _read_header(client or connect(), url).metadata


def _read(client: Client, file: _File, storage: torch.Tensor, reads: list[Read], progress: Progress) -> None:
    bar, delay = (True, _BAR_AFTER_SECONDS) if progress is None else (progress, 0.0)
    total = sum(read.buffer.nelement() for read in reads)
    with reporting(bar, total, file.url.rpartition("/")[2], delay=delay, is_wanted=progress is not None) as tell:
        if storage.device.type == "cpu":
            got = client.get_many(reads, progress=tell)
        else:
            with client.register(storage):
                got = client.get_many(reads, progress=tell)
    for read, each in zip(reads, got, strict=True):
        if each.etag != file.etag:
            raise errors.PreconditionFailed("the file changed while it was read", url=file.url)
        if each.length != read.buffer.nelement():
            raise ValueError(f"{file.url}: the file is shorter than its header says")


def _read_header(client: Client, url: str) -> _File:
    guess = bytearray(_HEADER_GUESS)
    got = client.get_into(url, guess)
    nbytes = int.from_bytes(guess[:_LENGTH_BYTES], "little")
    data = _LENGTH_BYTES + nbytes
    if got.length < _LENGTH_BYTES or nbytes > _MOST_HEADER or data > got.size:
        raise ValueError(f"not a safetensors file: {url}")
    text = bytes(guess[_LENGTH_BYTES:data])
    if data > got.length:
        rest = bytearray(data - got.length)
        if client.get_into(url, rest, start=got.length).etag != got.etag:
            raise errors.PreconditionFailed("the file changed while it was read", url=url)
        text += rest
    try:
        header = json.loads(text)
        metadata = header.pop("__metadata__", {})
        tensors = tuple(_entry(name, entry, got.size - data) for name, entry in header.items())
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"not a safetensors file: {url}: {error}") from error
    return _File(url, got.etag, data, tuple(sorted(tensors, key=lambda each: (each.begin, each.end))), metadata)


def _entry(name: str, entry: Mapping[str, Any], data_bytes: int) -> _Tensor:
    kind = getattr(torch, _TYPES.get(entry["dtype"], ""), None)
    if kind is None:
        raise ValueError(f"{name}: this torch has no {entry['dtype']}")
    begin, end = entry["data_offsets"]
    shape = _shape(entry)
    nbytes = math.prod(shape) * torch.empty(0, dtype=kind).element_size()
    if not 0 <= begin <= end <= data_bytes or end - begin != nbytes:
        raise ValueError(f"{name}: bytes {begin} to {end} are no {entry['dtype']}{list(shape)}")
    return _Tensor(name, kind, shape, begin, end)


def _shape(entry: Mapping[str, Any]) -> tuple[int, ...]:
    shape = tuple(entry["shape"])
    if entry["dtype"] not in _PAIRS:
        return shape
    *outer, last = shape
    if last % 2:
        raise ValueError(f"a row of {last} numbers does not end with a byte")
    return (*outer, last // 2)


def _named(file: _File, names: Iterable[str]) -> tuple[_Tensor, ...]:
    asked = set(names)
    missing = asked - {each.name for each in file.tensors}
    if missing:
        raise KeyError(f"{file.url} has no {', '.join(sorted(missing))}")
    return tuple(each for each in file.tensors if each.name in asked)


def _lay_out(tensors: Iterable[_Tensor]) -> tuple[list[tuple[int, int, int]], dict[str, int], int]:
    """Runs of the file (first byte, last, place in the storage), each tensor's place, and the storage's length."""
    runs: list[tuple[int, int, int]] = []
    places = {}
    total = 0
    for each in tensors:
        if runs and each.begin <= runs[-1][1]:
            first, last, at = runs[-1]
            runs[-1] = (first, max(last, each.end), at)
        elif each.end > each.begin:
            at = total + -total % _ALIGNMENT + each.begin % _ALIGNMENT
            runs.append((each.begin, each.end, at))
        places[each.name] = runs[-1][2] + each.begin - runs[-1][0] if each.end > each.begin else 0
        total = runs[-1][2] + runs[-1][1] - runs[-1][0] if runs else 0
    return runs, places, total


def _storage(client: Client, nbytes: int, device: torch.device) -> torch.Tensor:
    if device.type == "cpu":
        return empty(client, max(nbytes, 1), torch.uint8)
    return torch.empty(max(nbytes, 1), dtype=torch.uint8, device=device)


def _tensor(storage: torch.Tensor, tensor: _Tensor, at: int) -> torch.Tensor:
    data = storage[at:at + tensor.end - tensor.begin]
    if at % torch.empty(0, dtype=tensor.kind).element_size():
        data = data.clone()  # the file has it where no such number may lie
    return data.view(tensor.kind).view(tensor.shape)
