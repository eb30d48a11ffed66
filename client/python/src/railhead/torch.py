"""Tensors and data sets of objects."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from railhead import errors
from railhead._checkpoint import HEADER_GUESS, LENGTH_BYTES, Files, files_of, header_of
from railhead._datasets import Objects, Records, Shards
from railhead._jobs import Read
from railhead._loader import Loader
from railhead._memory import count_of
from railhead._progress import Progress, reporting
from railhead._whole import Got
from railhead.client import Client, connect

__all__ = ["Loader", "Objects", "Records", "Shards", "empty", "load_safetensors", "safetensors_metadata"]

_ALIGNMENT = 64
_BAR_AFTER_SECONDS = 2.0
_MOST_NAMED = 8  # in one error

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


def load_safetensors(url: str, device: Any = None, *, client: Client | None = None, names: Iterable[str] | None = None,
                     progress: Progress = None, into: torch.nn.Module | None = None) -> dict[str, torch.Tensor]:
    """
    All tensors, or those of `names`, of a file, of an index's files, or of a folder's: in one storage that they share, on the
    CPU or `device`; or in the memory that the parameters and buffers of `into` have, which are what is returned then.
    """
    if into is not None and device is not None:
        raise ValueError("a module's parameters are on their own devices: give into or device, not both")
    with_client = client or connect()
    wanted = _wanted(url, _read_headers(with_client, files_of(with_client, url)), None if names is None else set(names))
    if into is not None:
        return _load_into(with_client, url, wanted, into, names is None, progress)
    forms = {each.name: _form(file, each) for file, tensors in wanted for each in tensors}
    laid = []
    total = 0
    for file, tensors in wanted:
        base = total + -total % _ALIGNMENT
        runs, places, length = _lay_out(tensors)
        laid.append((file, tensors, base, runs, places))
        total = base + length
    storage = _storage(with_client, total, torch.device("cpu" if device is None else device))
    reads = [(file, Read(file.url, storage[base + at:base + at + end - begin], file.data + begin))
             for file, _, base, runs, _ in laid for begin, end, at in runs]
    with with_client.register(storage) if storage.device.type != "cpu" else nullcontext():
        _read(with_client, url, reads, progress)
    return {each.name: _tensor(storage, each, base + places[each.name], *forms[each.name])
            for _, tensors, base, _, places in laid for each in tensors}


def safetensors_metadata(url: str, *, client: Client | None = None) -> Mapping[str, str]:
    """What the files say of themselves."""
    with_client = client or connect()
    return {name: text for file, _ in _read_headers(with_client, files_of(with_client, url))
            for name, text in file.metadata.items()}


def _wanted(url: str, files: list[tuple[_File, Iterable[str] | None]],
            names: set[str] | None) -> list[tuple[_File, tuple[_Tensor, ...]]]:
    """The tensors that are asked for, by their files."""
    found = [(file, file.tensors if of_index is None else _named(file, of_index)) for file, of_index in files]
    owners: dict[str, str] = {}
    for file, tensors in found:
        for each in tensors:
            if owners.setdefault(each.name, file.url) != file.url:
                raise ValueError(f"{each.name} is in more than one file: {owners[each.name]} and {file.url}")
    if names is None:
        return found
    if missing := names - owners.keys():
        raise KeyError(f"{url} has no {', '.join(sorted(missing))}")
    return [(file, tuple(each for each in tensors if each.name in names)) for file, tensors in found]


def _load_into(client: Client, url: str, wanted: list[tuple[_File, tuple[_Tensor, ...]]], module: torch.nn.Module,
               is_whole: bool, progress: Progress) -> dict[str, torch.Tensor]:
    """Nothing is written before all tensors are known to fit."""
    targets = {name: each.detach() for name, each in module.state_dict(keep_vars=True).items() if isinstance(each, torch.Tensor)}
    _check_fit(url, wanted, targets, is_whole)
    loaded: dict[str, torch.Tensor] = {}
    reads, copies = [], []
    for file, tensors in wanted:
        for each in tensors:
            target = loaded[each.name] = targets[each.name]
            if not target.nelement():
                continue
            memory = target if target.is_contiguous() else torch.empty(target.shape, dtype=target.dtype, device=target.device)
            reads.append((file, Read(file.url, memory.view(-1).view(torch.uint8), file.data + each.begin)))
            if memory is not target:
                copies.append((target, memory))
    _read(client, url, reads, progress)
    for target, memory in copies:
        target.copy_(memory)
    return loaded


def _check_fit(url: str, wanted: list[tuple[_File, tuple[_Tensor, ...]]], targets: Mapping[str, torch.Tensor],
               is_whole: bool) -> None:
    there = {each.name: _form(file, each) for file, tensors in wanted for each in tensors}
    wrong = [f"unexpected {name}, which the module does not have" for name in there if name not in targets]
    if is_whole:
        # Of parameters that are one memory, as tied weights, files have one.
        held = {_memory_of(targets[name]) for name in there if name in targets}
        wrong += [f"missing {name}" for name, target in targets.items() if name not in there and _memory_of(target) not in held]
    for name, (kind, shape) in there.items():
        target = targets.get(name)
        if target is None:
            continue
        if target.device.type == "meta":
            wrong.append(f"{name} has no memory in the module: it is on the meta device (module.to_empty gives it some)")
        elif (kind, shape) != (target.dtype, tuple(target.shape)):
            wrong.append(f"mismatched {name}: {kind}{list(shape)} in the file, {target.dtype}{list(target.shape)} in the module")
    if wrong:
        more = f"; and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        raise ValueError(f"{url} does not fit the module: {'; '.join(wrong[:_MOST_NAMED])}{more}")


def _memory_of(tensor: torch.Tensor) -> tuple[Any, ...]:
    where = tensor.data_ptr() or id(tensor)  # what is empty shares nothing
    return tensor.device, where, tuple(tensor.shape), tensor.stride()


def _read(client: Client, url: str, reads: list[tuple[_File, Read]], progress: Progress) -> None:
    bar, delay = (True, _BAR_AFTER_SECONDS) if progress is None else (progress, 0.0)
    total = sum(read.buffer.nelement() for _, read in reads)
    name = url.rstrip("/").rpartition("/")[2]
    with reporting(bar, total, name, delay=delay, is_wanted=progress is not None) as tell:
        got = client.get_many([read for _, read in reads], progress=tell)
    for (file, read), each in zip(reads, got, strict=True):
        if each.etag != file.etag:
            raise errors.PreconditionFailed("the file changed while it was read", url=file.url)
        if each.length != read.buffer.nelement():
            raise ValueError(f"{file.url}: the file is shorter than its header says")


def _read_headers(client: Client, files: Files) -> list[tuple[_File, Iterable[str] | None]]:
    guesses = [(url, bytearray(HEADER_GUESS)) for url in files]
    return [(_header(client, url, guess, got), files[url])
            for (url, guess), got in zip(guesses, client.get_many(guesses), strict=True)]


def _header(client: Client, url: str, guess: bytearray, got: Got) -> _File:
    text = header_of(client, url, guess, got)
    data = LENGTH_BYTES + len(text)
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
    """As an index says."""
    asked = set(names)
    missing = asked - {each.name for each in file.tensors}
    if missing:
        raise ValueError(f"{file.url} has no {', '.join(sorted(missing))}, which its index says are in it")
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
