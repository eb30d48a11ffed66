"""Objects as files of a shell: get, put, ls and cat of the command line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Tell:
    """How a command tells that it succeeded: people on a terminal, others where they ask."""

    verbose: bool = False
    json: bool = False

    def done(self, text: str, **record: Any) -> None:
        if self.json:
            print(json.dumps(record))
        if self.verbose or sys.stderr.isatty():
            print(text, file=sys.stderr)

    def moved(self, url: str, nbytes: int, begun: float, via: str, cache: str, etag: str) -> None:
        millis = round((time.monotonic() - begun) * 1000)
        cache = "" if cache == "none" else cache
        self.done(", ".join([f"{nbytes:,} bytes", f"{millis:,} ms", *filter(None, (via, cache))]), url=url, bytes=nbytes,
                  millis=millis, via=via, cache=cache, etag=etag)


def get(client: Client, url: str, target: str | None, tell: Tell) -> None:
    """Into a file, which is there once all has come, or whole into what is none, such as a pipe or a device."""
    name = target if target is not None else last_name(url)
    if name == STANDARD:
        if tell.json:
            raise ValueError("--json needs a file: the standard output has the object's bytes")
        _read(client, url, sys.stdout.buffer, tell)
        return
    path = Path(name)
    if path.is_dir():
        path = path / last_name(url)
    if has_no_size(path):
        with path.open("wb", buffering=0) as out:
            _read(client, url, out, tell)
        return
    with replacing(path) as out:
        _read(client, url, out, tell)


def cat(client: Client, urls: list[str]) -> None:
    for url in urls:
        _read(client, url, sys.stdout.buffer, Tell())


def put(client: Client, source: str, url: str, tell: Tell) -> None:
    """A file, or all that comes out of what is none."""
    target = url
    if url.endswith("/"):
        if source == STANDARD:
            raise ValueError(f"the standard input has no name: give one behind {url}")
        target = url + Path(source).name
    if source == STANDARD:
        _send(client, sys.stdin.buffer, target, None, tell)
        return
    with Path(source).open("rb") as file:
        memory = mapped(file)  # not closed here: a thread that waits for all may hold it a moment longer
        _send(client, file if memory is None else memory, target, None if memory is None else len(memory), tell)


def prefetch(client: Client, urls: list[str], tell: Tell) -> bool:
    """Whether all are held now."""
    names: list[str] = []
    for url in urls:
        names += [info.url for info in client.list(url)] if url.endswith("/") else [url]
    begun = time.monotonic()
    done = client.prefetch(names)
    for each in done:
        columns = [each.state, _column(each.length), each.url, *filter(None, [each.reason])]
        print(json.dumps(each._asdict()) if tell.json else "\t".join(columns))
    millis = round((time.monotonic() - begun) * 1000)
    Tell(tell.verbose).done(f"{len(done):,} objects, {sum(each.length for each in done):,} bytes, {millis:,} ms")
    return all(each.state in ("filled", "held") for each in done)


def ls(client: Client, url: str, tell: Tell) -> None:
    """Lines as `railhead ls` has them: time, bytes, name; without a bucket, buckets."""
    begun, count, nbytes = time.monotonic(), 0, 0
    lists_buckets = url in ("s3://", "railhead://")
    for fields in _buckets(client) if lists_buckets else _objects(client, url):
        count, nbytes = count + 1, nbytes + fields.get("bytes", 0)
        print(json.dumps(fields) if tell.json else "\t".join(_column(each) for each in reversed(fields.values())))
    sys.stdout.flush()
    millis = round((time.monotonic() - begun) * 1000)
    Tell(tell.verbose).done(f"{count:,} {'buckets' if lists_buckets else 'objects'}, {nbytes:,} bytes, {millis:,} ms, http")


def _buckets(client: Client) -> Iterator[dict[str, Any]]:
    for bucket in client.call("", "list_buckets").get("Buckets", ()):
        yield {"name": bucket["Name"], "created": _text(bucket["CreationDate"])}


def _objects(client: Client, url: str) -> Iterator[dict[str, Any]]:
    for info in client.list(url):
        yield {"key": split(info.url)[1], "bytes": info.size, "last_modified": _text(info.last_modified)}


def _column(value: Any) -> str:
    return f"{value:12}" if isinstance(value, int) else str(value)


def last_name(url: str) -> str:
    name = split(url)[1].rpartition("/")[2]
    if name in ("", ".", ".."):
        raise ValueError(f"{url} names no file: give --output")
    return name


def _text(moment: Any) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else "-"


# ---- Reading ----

def _read(client: Client, url: str, out: BinaryIO, tell: Tell) -> None:
    begun = time.monotonic()
    info = client.head(url)
    words = ("", "")
    with reporting(True, info.size, url.rpartition("/")[2], delay=_BAR_AFTER_SECONDS, is_wanted=False) as moved:
        for got, chunk in _chunks(client, info):
            words = words if any(words) else (got.via, got.cache)
            _write(out, chunk)
            if moved:
                moved(len(chunk))
    tell.moved(url, info.size, begun, *words, info.etag)


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

def _send(client: Client, source: Any, url: str, size: int | None, tell: Tell) -> None:
    name = url.rpartition("/")[2]
    begun = time.monotonic()
    written = 0

    def count(moved: int) -> None:
        nonlocal written
        written += moved
        if on_bar:
            on_bar(moved)

    with reporting(True, size, name, delay=_BAR_AFTER_SECONDS, is_wanted=False) as on_bar:
        stored = client.put_from(url, source, progress=count)
    tell.moved(url, written, begun, stored.via, "", stored.etag)
