"""Objects as files of a shell: get, put, ls and cat of the command line."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from railhead import errors
from railhead._calls import Info
from railhead._local import has_no_size, mapped, replacing
from railhead._progress import reporting
from railhead._settings import split
from railhead._whole import Got
from railhead.client import Client

_CHUNK_BYTES = 32 << 20
_BAR_AFTER_SECONDS = 1.0
STANDARD = "-"  # input or output


def get(client: Client, url: str, target: str | None) -> None:
    """Into a file, which is there once all has come, or whole into what is none, such as a pipe or a device."""
    name = target if target is not None else last_name(url)
    if name == STANDARD:
        _read(client, url, sys.stdout.buffer)
        return
    path = Path(name)
    if path.is_dir():
        path = path / last_name(url)
    if has_no_size(path):
        with path.open("wb", buffering=0) as out:
            _read(client, url, out)
        return
    with replacing(path) as out:
        _read(client, url, out)


def cat(client: Client, urls: list[str]) -> None:
    for url in urls:
        _read(client, url, sys.stdout.buffer)


def put(client: Client, source: str, url: str) -> None:
    """A file, or all that comes out of what is none."""
    target = url
    if url.endswith("/"):
        if source == STANDARD:
            raise ValueError(f"the standard input has no name: give one behind {url}")
        target = url + Path(source).name
    if source == STANDARD:
        _send(client, sys.stdin.buffer, target, None)
        return
    with Path(source).open("rb") as file:
        memory = mapped(file)  # not closed here: a thread that waits for all may hold it a moment longer
        _send(client, file if memory is None else memory, target, None if memory is None else len(memory))


def ls(client: Client, url: str, out: Callable[[str], object]) -> None:
    """Lines as `railhead ls` has them: time, bytes, name; without a bucket, buckets."""
    if url in ("s3://", "railhead://"):
        for bucket in client.call("", "list_buckets").get("Buckets", ()):
            out(f"{_text(bucket['CreationDate'])}\t{bucket['Name']}")
        return
    for info in client.list(url):
        out(f"{_text(info.last_modified)}\t{info.size:12}\t{split(info.url)[1]}")


def last_name(url: str) -> str:
    name = split(url)[1].rpartition("/")[2]
    if name in ("", ".", ".."):
        raise ValueError(f"{url} names no file: give --output")
    return name


def _text(moment: Any) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else "-"


# ---- Reading ----

def _read(client: Client, url: str, out: BinaryIO) -> None:
    begun = time.monotonic()
    info = client.head(url)
    words: tuple[str, ...] = ()
    with reporting(True, info.size, url.rpartition("/")[2], delay=_BAR_AFTER_SECONDS, is_wanted=False) as tell:
        for got, chunk in _chunks(client, info):
            words = words or (got.via, got.cache)
            _write(out, chunk)
            if tell:
                tell(len(chunk))
    _say(info.size, time.monotonic() - begun, *words)


def _chunks(client: Client, info: Info) -> Iterator[tuple[Got, memoryview]]:
    """An object's bytes of one version; the next are read while the last are used."""
    buffers = [client.buffer(max(1, min(info.size, _CHUNK_BYTES))) for _ in range(2)]
    with ThreadPoolExecutor(1, "railhead-ahead") as thread:
        def ask(start: int) -> Future[Got]:
            length = min(len(buffers[0]), info.size - start)
            return thread.submit(client.get_into, info.url, buffers[start // len(buffers[0]) % 2], start=start, length=length)

        following = ask(0) if info.size else None
        for start in range(0, info.size, len(buffers[0])):
            assert following is not None
            got = following.result()
            if got.etag != info.etag or got.length != min(len(buffers[0]), info.size - start):
                raise errors.PreconditionFailed("the object changed while it was read", url=info.url)
            end = start + got.length
            following = ask(end) if end < info.size else None
            yield got, buffers[start // len(buffers[0]) % 2][:got.length]


def _write(out: BinaryIO, chunk: memoryview) -> None:
    left = chunk
    while left:
        left = left[out.write(left):]
    out.flush()


# ---- Writing ----

def _send(client: Client, source: Any, url: str, size: int | None) -> None:
    name = url.rpartition("/")[2]
    begun = time.monotonic()
    written = 0

    def count(moved: int) -> None:
        nonlocal written
        written += moved
        if tell:
            tell(moved)

    with reporting(True, size, name, delay=_BAR_AFTER_SECONDS, is_wanted=False) as tell:
        stored = client.put_from(url, source, progress=count)
    _say(written, time.monotonic() - begun, stored.via)


def _say(nbytes: int, seconds: float, *words: str) -> None:
    """On terminals: what was done."""
    if sys.stderr.isatty():
        print(", ".join([f"{nbytes:,} bytes", f"{seconds * 1000:,.0f} ms", *words]), file=sys.stderr)
