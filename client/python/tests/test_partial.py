"""Transfers that a signal or an error ends in the middle, against a store that is scripted: nothing is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import KEYS, Request, ScriptedStore, take_uploads

import railhead
from railhead import _local

MIB = 1 << 20
MODIFIED = "Mon, 02 Nov 2026 10:00:00 GMT"
GET_FILE = "import sys; from railhead.fsspec import RailheadFileSystem; RailheadFileSystem().get_file('b/x', sys.argv[1])"


class Stalling:
    """Gives half of an object, takes uploads but no part's end, and leaves the client waiting."""

    def __init__(self) -> None:
        self.reached, self.over = threading.Event(), threading.Event()

    def __call__(self, request: Request) -> None:
        if request.command == "HEAD":
            request.answer(Content_Length="1000", Last_Modified=MODIFIED)
        elif request.command == "GET":
            request.answer(206, bytes(500), Content_Length="1000", Content_Range="bytes 0-999/1000",
                           Last_Modified=MODIFIED)
            self._stall(request)
        elif "partNumber" in request.path:
            self._stall(request)
        else:
            take_uploads(request)

    def _stall(self, request: Request) -> None:
        self.reached.set()
        self.over.wait()
        request.hang_up()


@pytest.fixture
def stalling(scripted: ScriptedStore) -> Iterator[Stalling]:
    scripted.script = made = Stalling()
    yield made
    made.over.set()


def end_in_the_middle(scripted: ScriptedStore, stalling: Stalling, words: list[str], number: signal.Signals) -> int:
    """The exit status. Signals that this process ignores, as under nohup, would be ignored there too."""
    environment = {**os.environ, "RAILHEAD_ENDPOINT": scripted.endpoint, "AWS_ACCESS_KEY_ID": KEYS.access_key,
                   "AWS_SECRET_ACCESS_KEY": KEYS.secret_key, "AWS_REGION": "us-east-1"}
    process = subprocess.Popen(["env", "--default-signal", sys.executable, *words], env=environment)
    try:
        while not stalling.reached.wait(0.1):
            assert process.poll() is None
        process.send_signal(number)
        if words[0] == "-c":
            stalling.over.set()  # a program's own call waits for what goes over HTTP
        return process.wait(60)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("words", [["-m", "railhead", "get", "s3://b/x", "--via", "http", "-o"], ["-c", GET_FILE]])
def test_download_leaves_nothing_beside_its_file(scripted: ScriptedStore, stalling: Stalling, tmp_path: Path,
                                                 words: list[str], number: signal.Signals) -> None:
    if words[0] == "-c":
        pytest.importorskip("fsspec")
    file = tmp_path / "file"
    file.write_bytes(b"older")
    assert end_in_the_middle(scripted, stalling, [*words, str(file)], number) != 0
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_bytes() == b"older"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_upload_of_parts_is_aborted(scripted: ScriptedStore, stalling: Stalling, tmp_path: Path, number: signal.Signals,
                                    status: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(80 * MIB))
    words = ["-m", "railhead", "put", str(file), "s3://b/x", "--via", "http"]
    assert end_in_the_middle(scripted, stalling, words, number) == status
    assert scripted.came("DELETE") == ["DELETE /b/x?uploadId=u"]


def change(request: Request) -> None:
    """Another version than was described."""
    if request.command == "GET":
        request.answer(body=bytes(1000), ETag='"other"', Last_Modified=MODIFIED)
    else:
        request.answer(Content_Length="1000", Last_Modified=MODIFIED)


def refuse(request: Request) -> None:
    if request.command == "GET":
        request.answer(403)
    else:
        change(request)


@pytest.mark.parametrize("answer", [change, refuse])
@pytest.mark.parametrize("is_unnamed", [True, False])
def test_file_of_the_filesystem_is_whole_or_as_it_was(scripted: ScriptedStore, tmp_path: Path, is_unnamed: bool,
                                                      answer: Callable[[Request], None],
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    from railhead.fsspec import RailheadFileSystem

    if not is_unnamed:
        monkeypatch.setattr(_local, "_unnamed", lambda _: None)
    scripted.script = answer
    fs: Any = RailheadFileSystem(endpoint=scripted.endpoint, fabric="http", credentials=KEYS, region="us-east-1",
                                 skip_instance_cache=True)
    (tmp_path / "there").write_bytes(b"older")
    for name in ("there", "new"):
        with pytest.raises(railhead.RailheadError):
            fs.get_file("b/x", tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert (tmp_path / "there").read_bytes() == b"older"
    fs.client.close()


@pytest.mark.parametrize("is_unnamed", [True, False])
def test_file_takes_the_place_of_another(tmp_path: Path, is_unnamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_unnamed:
        monkeypatch.setattr(_local, "_unnamed", lambda _: None)
    (tmp_path / "file").write_bytes(b"older")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    for name, mode in (("link", 0o640), ("new", 0o666 & ~_umask())):
        with _local.replacing(tmp_path / name) as file:
            file.write(b"whole")
        assert (tmp_path / name).read_bytes() == b"whole"
        assert (tmp_path / name).stat().st_mode & 0o777 == mode
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "new"]
    with pytest.raises(IsADirectoryError, match=str(tmp_path)), _local.replacing(tmp_path):
        pytest.fail("it is told before anything is read")
    with pytest.raises(FileNotFoundError, match="none/file"), _local.replacing(tmp_path / "none" / "file"):
        pytest.fail("it is told before anything is read")


def _umask() -> int:
    before = os.umask(0)
    os.umask(before)
    return before
