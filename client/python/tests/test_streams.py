"""What has no size before it was read: pipes, files of the kernel's, file objects."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import Rack, Request, ScriptedStore, content, take_uploads

import railhead
from railhead import _options

MIB = 1 << 20
SIZES = [0, 1, 16 * MIB - 1, 16 * MIB, 16 * MIB + 1, 40 * MIB + 3]


class Trickle:
    """A file object that has a read and nothing else, and gives few bytes at a time."""

    def __init__(self, data: bytes, most: int = MIB - 1) -> None:
        self._file = io.BytesIO(data)
        self._most = most

    def read(self, nbytes: int) -> bytes:
        return self._file.read(min(nbytes, self._most))


@pytest.fixture
def fs(environment: Rack) -> Any:
    pytest.importorskip("fsspec")
    from railhead.fsspec import RailheadFileSystem

    made = RailheadFileSystem(skip_instance_cache=True)
    yield made
    made.client.close()


def through_fifo(folder: Path, data: bytes) -> Path:
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    threading.Thread(target=fifo.write_bytes, args=(data,), daemon=True).start()
    return fifo


@pytest.mark.parametrize("nbytes", SIZES)
def test_file_object_is_stored_to_its_end(client: railhead.Client, nbytes: int) -> None:
    data = content(nbytes)
    stored = client.put_from("s3://data/stream", Trickle(data), content_type="text/x", metadata={"a": "b"})
    info = client.head("s3://data/stream")
    assert (info.etag, info.content_type, dict(info.metadata)) == (stored.etag, "text/x", {"a": "b"})
    assert client.get("s3://data/stream") == data


def test_file_object_is_stored_from_where_it_is(client: railhead.Client) -> None:
    file = io.BytesIO(b"0123456789")
    file.seek(4)
    client.put_from("s3://data/stream", file)
    assert client.get("s3://data/stream") == b"456789"
    told: list[int] = []
    asyncio.run(client.aput_from("s3://data/stream", Trickle(bytes(33 * MIB)), progress=told.append))
    assert client.head("s3://data/stream").size == sum(told) == 33 * MIB


def test_pipe_is_stored_to_its_end(client: railhead.Client) -> None:
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdout.write('hello' * 100_000)"],
                          stdout=subprocess.PIPE, bufsize=0) as process:
        client.put_from("s3://data/stream", process.stdout)
    assert client.get("s3://data/stream") == b"hello" * 100_000


@pytest.mark.parametrize(("file", "error"), [
    (io.StringIO("text"), TypeError), ("text", TypeError), (None, TypeError), (7, TypeError)])
def test_what_has_no_bytes_is_refused(client: railhead.Client, file: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        client.put_from("s3://data/refused", file)
    with pytest.raises(railhead.NotFound):
        client.head("s3://data/refused")


def test_pipe_that_does_not_block_is_refused(client: railhead.Client) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with open(reading, "rb", buffering=0) as file, pytest.raises(BlockingIOError):  # noqa: PTH123
        client.put_from("s3://data/refused", file)
    os.close(writing)


def test_upload_of_a_file_that_fails_is_aborted(scripted: ScriptedStore) -> None:
    class Broken(Trickle):
        def read(self, nbytes: int) -> bytes:
            read = super().read(nbytes)
            if not read:
                raise OSError("the disk is gone")
            return read

    scripted.script = take_uploads
    with scripted.client() as client, pytest.raises(OSError, match="the disk is gone"):
        client.put_from("s3://b/k", Broken(bytes(20 * MIB)))
    assert len(scripted.came("DELETE /b/k?uploadId=u")) == 1
    assert not scripted.came("POST /b/k?uploadId")


def test_parts_of_what_has_no_size_grow(scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upload has 10 000 parts at most."""
    monkeypatch.setattr(_options, "_PARTS_OF_A_SIZE", 2)
    sizes: list[int] = []

    def take(request: Request) -> None:
        if "partNumber" in request.path:
            sizes.append(len(request.body))
        take_uploads(request)

    scripted.script = take
    with scripted.client() as client:
        client.put_from("s3://b/k", Trickle(bytes(90 * MIB), 90 * MIB))
    assert sum(sizes) == 90 * MIB
    assert sorted(sizes) == [2 * MIB, 8 * MIB, 8 * MIB, 16 * MIB, 16 * MIB, 16 * MIB, 24 * MIB] or max(sizes) > 8 * MIB


@pytest.mark.parametrize("nbytes", [0, 5, 17 * MIB])
def test_fifo_is_stored_to_its_end(fs: Any, tmp_path: Path, nbytes: int) -> None:
    data = content(nbytes)
    fs.put_file(through_fifo(tmp_path, data), "data/fifo")
    assert fs.cat("data/fifo") == data


def test_put_of_a_fifo(fs: Any, tmp_path: Path) -> None:
    fs.put(str(through_fifo(tmp_path, b"hello")), "data/fifo")
    assert fs.cat("data/fifo") == b"hello"


@pytest.mark.parametrize("path", ["/proc/self/cmdline", "/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled"])
def test_file_of_the_kernel_is_stored_whole(fs: Any, path: str) -> None:
    if not Path(path).exists():
        pytest.skip(f"no {path}")
    fs.put_file(path, "data/kernel")
    assert fs.cat("data/kernel") == Path(path).read_bytes() != b""


def test_object_is_read_into_what_has_no_size(fs: Any, tmp_path: Path) -> None:
    fs.pipe("data/at-once", b"hello")
    fs.get_file("data/at-once", os.devnull)
    assert Path(os.devnull).is_char_device()
    os.mkfifo(tmp_path / "out")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "out").read_bytes()))
    reader.start()
    fs.get_file("data/at-once", tmp_path / "out")
    reader.join()
    assert read == [b"hello"]
    assert (tmp_path / "out").is_fifo()


def test_file_object_can_be_piped(fs: Any) -> None:
    fs.pipe_file("data/at-once", Trickle(b"hello"))
    assert fs.cat("data/at-once") == b"hello"
