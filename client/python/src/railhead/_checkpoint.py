"""Which files a model's tensors are in: one, those that an index names, or those of a folder. And a file's header."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from railhead import errors
from railhead._settings import split
from railhead._whole import Got
from railhead.client import Client

_SUFFIX = ".safetensors"
_INDEX_SUFFIX = ".safetensors.index.json"
_FIRST = ("model" + _INDEX_SUFFIX, "model" + _SUFFIX)  # as Hugging Face looks for them

LENGTH_BYTES = 8            # of the header's length, with which a file begins
HEADER_GUESS = 64 << 10     # of a file's first bytes, which most headers fit in
_MOST_HEADER = 100_000_000  # the format's own limit

# Names of tensors by their file's URL; None: all that it has.
Files = Mapping[str, Iterable[str] | None]


def files_of(client: Client, url: str) -> Files:
    key = split(url, with_key=False)[1]
    if key.endswith(".json"):
        return _of_index(client, url)
    if not key or key.endswith("/"):
        found = _in_folder(client, url if key.endswith("/") else url.rstrip("/") + "/")
        if not found:
            raise errors.NotFound(f"no *{_SUFFIX} in this folder", url=url)
        return found
    if not key.endswith(_SUFFIX) and not _is_there(client, url):
        return _in_folder(client, url + "/") or {url: None}
    return {url: None}


def _is_there(client: Client, url: str) -> bool:
    try:
        client.head(url)
    except errors.NotFound:
        return False
    return True


def _in_folder(client: Client, folder: str) -> Files:
    names = [each.url[len(folder):] for each in client.list(folder, recursive=False)]
    indices = [name for name in names if name.endswith(_INDEX_SUFFIX)]
    for name in _FIRST:
        if name in names:
            return files_of(client, folder + name)
    if len(indices) > 1:
        raise ValueError(f"{folder} has more than one index: {', '.join(indices)}")
    if indices:
        return _of_index(client, folder + indices[0])
    return {folder + name: None for name in names if name.endswith(_SUFFIX)}


def _of_index(client: Client, url: str) -> Files:
    folder = url.rpartition("/")[0] + "/"
    files: dict[str, list[str]] = {}
    for name, file in _weight_map(url, client.get(url)).items():
        files.setdefault(folder + file, []).append(name)
    return files


def _weight_map(url: str, text: bytes) -> dict[str, str]:
    try:
        weights: Any = json.loads(text)["weight_map"]
        if not all(isinstance(file, str) and file.endswith(_SUFFIX) for file in weights.values()):
            raise ValueError(f"a tensor in what is no *{_SUFFIX}")
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(f"not an index of safetensors files: {url}: {error}") from error
    made: dict[str, str] = weights
    return made


def header_of(client: Client, url: str, guess: bytearray, got: Got) -> bytes:
    """The header's text, whose first bytes are in the guess; the rest is read. ValueError where it is none."""
    nbytes = int.from_bytes(guess[:LENGTH_BYTES], "little")
    end = LENGTH_BYTES + nbytes
    if got.length < LENGTH_BYTES or nbytes > _MOST_HEADER or end > got.size:
        raise ValueError(f"not a safetensors file: {url}")
    text = bytes(guess[LENGTH_BYTES:end])
    if end > got.length:
        rest = bytearray(end - got.length)
        if client.get_into(url, rest, start=got.length).etag != got.etag:
            raise errors.PreconditionFailed("the file changed while it was read", url=url)
        text += rest
    return text
