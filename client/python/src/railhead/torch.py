"""Tensors and data sets of objects."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from railhead import errors
from railhead._datasets import Objects, Records, Shards
from railhead._jobs import Read
from railhead._memory import count_of
from railhead._progress import Progress, reporting
from railhead.client import Client, connect

__all__ = ["Objects", "Records", "Shards", "empty", "load_safetensors", "safetensors_metadata"]

_LENGTH_BYTES = 8
_HEADER_GUESS = 64 << 10
_MOST_HEADER = 100_000_000  # the format's own limit
_ALIGNMENT = 64
_BAR_AFTER_SECONDS = 2.0

# What the format has: bits of a number, and what torch calls it, which has none of six bits.
_TYPES = {
    "BOOL": (8, "bool"), "U8": (8, "uint8"), "I8": (8, "int8"), "I16": (16, "int16"), "U16": (16, "uint16"),
    "F16": (16, "float16"), "BF16": (16, "bfloat16"), "I32": (32, "int32"), "U32": (32, "uint32"), "F32": (32, "float32"),
    "F64": (64, "float64"), "I64": (64, "int64"), "U64": (64, "uint64"), "C64": (64, "complex64"),
    "F8_E4M3": (8, "float8_e4m3fn"), "F8_E5M2": (8, "float8_e5m2"), "F8_E4M3FNUZ": (8, "float8_e4m3fnuz"),
    "F8_E5M2FNUZ": (8, "float8_e5m2fnuz"), "F8_E8M0": (8, "float8_e8m0fnu"), "F6_E2M3": (6, ""), "F6_E3M2": (6, ""),
    "F4": (4, "float4_e2m1fn_x2")}
_PAIRS = {"F4"}  # the file counts numbers, torch bytes of two


def empty(client: Client, shape: int | tuple[int, ...], dtype: Any = None) -> torch.Tensor:
    """A zeroed CPU tensor in memory that the gateway can reach."""
    kind = dtype or torch.get_default_dtype()
    nbytes = count_of(shape) * torch.empty(0, dtype=kind).element_size()
    memory = torch.frombuffer(client.buffer(max(nbytes, 1)), dtype=torch.uint8)
    return memory[:nbytes].view(kind).view(shape)


@dataclass(frozen=True)
class _Tensor:
    """As the file says: `kind` and `shape` are the format's, not torch's."""

    name: str
    kind: str
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
    forms = [_form(file, each) for each in wanted]
    runs, places, total = _lay_out(wanted)
    storage = _storage(with_client, total, torch.device(device))
    reads = [Read(url, storage[at:at + end - begin], file.data + begin) for begin, end, at in runs]
    _read(with_client, file, storage, reads, progress)
    return {each.name: _tensor(storage, each, places[each.name], *form) for each, form in zip(wanted, forms, strict=True)}


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
        tensors, metadata = _parsed(text, got.size - data)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(f"not a safetensors file: {url}: {error}") from error
    return _File(url, got.etag, data, tensors, metadata)


def _parsed(text: bytes, data_bytes: int) -> tuple[tuple[_Tensor, ...], dict[str, str]]:
    header = json.loads(text.decode(), object_pairs_hook=_each_once)
    metadata = header.pop("__metadata__", None)
    if metadata is not None and not all(isinstance(each, str) for each in metadata.values()):
        raise ValueError("metadata that is no text")
    tensors = sorted((_entry(name, entry) for name, entry in header.items()), key=lambda each: (each.begin, each.end))
    if [0, *(each.end for each in tensors)] != [*(each.begin for each in tensors), data_bytes]:
        raise ValueError("the tensors do not follow one another from the first byte to the last")
    return tuple(tensors), metadata or {}


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name that is there twice")
    return made


def _entry(name: str, entry: Mapping[str, Any]) -> _Tensor:
    kind, shape, (begin, end) = entry["dtype"], _counts(entry["shape"]), _counts(entry["data_offsets"])
    bits, _ = _TYPES[kind]
    # What has no numbers has strides all the same, which are to be numbers of torch's.
    if math.prod(shape) * bits != (end - begin) * 8 or math.prod(each or 1 for each in shape) >= 1 << 63:
        raise ValueError(f"{name}: bytes {begin} to {end} are no {kind}{list(shape)}")
    return _Tensor(name, kind, shape, begin, end)


def _counts(numbers: Any) -> tuple[int, ...]:
    if not isinstance(numbers, list) or any(type(each) is not int or each < 0 for each in numbers):
        raise ValueError(f"not a list of counts: {numbers!r:.100}")
    return tuple(numbers)


def _form(file: _File, tensor: _Tensor) -> tuple[Any, tuple[int, ...]]:
    """Type and shape of torch's tensor."""
    kind, shape = getattr(torch, _TYPES[tensor.kind][1], None), tensor.shape
    if kind is None:
        raise ValueError(f"{file.url}: {tensor.name}: this torch has no {tensor.kind}")
    if tensor.kind in _PAIRS:
        *outer, last = shape
        if last % 2:
            raise ValueError(f"{file.url}: {tensor.name}: a row of {last} numbers does not end with a byte")
        shape = (*outer, last // 2)
    return kind, shape


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


def _tensor(storage: torch.Tensor, tensor: _Tensor, at: int, kind: Any, shape: tuple[int, ...]) -> torch.Tensor:
    data = storage[at:at + tensor.end - tensor.begin]
    if at % torch.empty(0, dtype=kind).element_size():
        data = data.clone()  # the file has it where no such number may lie
    return data.view(kind).view(shape)
