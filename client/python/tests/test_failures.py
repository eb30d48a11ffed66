"""What is left when either side dies in mid-transfer, stops, or comes back."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import Rack, content, descriptors, environment_of

import railhead
from railhead import _jobs
from railhead._session import Outcome

MIB = 1 << 20
DATA = content(8 * MIB, 4)
PATIENCE = 60


class Reader(threading.Thread):
    """Reads without a pause, checking every byte, until something is raised."""

    def __init__(self, client: railhead.Client, url: str, direct: bool) -> None:
        super().__init__(daemon=True)
        self.rounds = 0
        self.raised: BaseException | None = None
        self._client, self._url = client, url
        self._buffers = [client.buffer(len(DATA)) if direct else memoryview(bytearray(len(DATA))) for _ in range(4)]
        self.start()

    def run(self) -> None:
        try:
            while True:
                self._client.get_many([(self._url, buffer) for buffer in self._buffers])
                assert all(buffer == DATA for buffer in self._buffers)
                self.rounds += 1
        except BaseException as error:
            self.raised = error

    def wait_for_rounds(self, count: int) -> None:
        end = time.monotonic() + PATIENCE
        while self.rounds < count:
            assert time.monotonic() < end
            assert self.raised is None, self.raised
            time.sleep(0.01)


def test_gateway_killed_and_started_again(own_rack: Rack) -> None:
    with own_rack.client() as client:
        client.put_from("s3://data/object", DATA)
        readers = [Reader(client, "s3://data/object", direct) for direct in (True, False)]
        for reader in readers:
            reader.wait_for_rounds(2)
        os.killpg(own_rack.gateway.pid, signal.SIGKILL)
        for reader in readers:
            reader.join(PATIENCE)
            assert not reader.is_alive()
            # Plain S3 was tried, and is gone too; or the warning that it is tried is an error here.
            assert isinstance(reader.raised, railhead.ConnectionLost | railhead.FallbackWarning)
        own_rack.start_gateway_again()
        client._paths._retry_at = 0
        buffer = client.buffer(len(DATA))
        assert client.get_into("s3://data/object", buffer).via == "loopback", "it connected again"
        assert buffer == DATA


def test_gateway_that_comes_back_at_once_is_not_noticed(own_rack: Rack) -> None:
    with own_rack.client(fabric="loopback") as client:
        client.put_from("s3://data/object", DATA)
        buffers = [client.buffer(len(DATA)), memoryview(bytearray(len(DATA)))]
        client.get_many([("s3://data/object", buffer) for buffer in buffers])
        own_rack.start_gateway_again()
        for buffer in buffers:
            buffer[:] = bytes(len(DATA))
        assert {got.via for got in client.get_many([("s3://data/object", buffer) for buffer in buffers])} == {"loopback"}
        assert all(buffer == DATA for buffer in buffers)


def test_named_fabric_without_a_gateway(own_rack: Rack) -> None:
    with own_rack.client(fabric="loopback") as client:
        client.put_from("s3://data/object", DATA)
        gc.collect()
        before = descriptors()
        os.killpg(own_rack.gateway.pid, signal.SIGKILL)
        own_rack.gateway.wait(PATIENCE)
        with pytest.raises(railhead.ConnectionLost):
            client.get("s3://data/object")
        with pytest.raises(railhead.ConnectionLost):
            client.put_from("s3://data/object", DATA)
        gc.collect()
        assert descriptors() <= before, "the session that ended is closed"


def test_put_under_way_when_the_gateway_is_killed_is_unknown(own_rack: Rack) -> None:
    with own_rack.client(fabric="loopback") as client:
        client.put_from("s3://data/warm", DATA)
        os.kill(own_rack.store.pid, signal.SIGSTOP)
        raised: list[BaseException] = []

        def put() -> None:
            try:
                client.put_from("s3://data/put", DATA)
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=put)
        thread.start()
        try:
            session = client._paths._session
            assert session is not None
            while not session._pending:
                time.sleep(0.01)
            time.sleep(0.2)  # until it is with the gateway; before, it would be repeated, and fail by another name
            os.killpg(own_rack.gateway.pid, signal.SIGKILL)
            own_rack.gateway.wait(PATIENCE)
            thread.join(PATIENCE)
        finally:
            os.kill(own_rack.store.pid, signal.SIGCONT)
        assert isinstance(raised[0], railhead.OutcomeUnknown), raised


def test_store_that_does_not_answer(own_rack: Rack) -> None:
    with own_rack.client(own_rack.store_endpoint, fabric="http") as direct:
        direct.put_from("s3://data/cold-store", DATA)
    with own_rack.client(fabric="loopback", deadline=1) as client:
        assert client.via == "loopback"
        os.kill(own_rack.store.pid, signal.SIGSTOP)
        try:
            with pytest.raises(railhead.DeadlineExceeded) as caught:
                client.get("s3://data/cold-store")
            assert isinstance(caught.value, TimeoutError)
        finally:
            os.kill(own_rack.store.pid, signal.SIGCONT)


CLIENT = """
import sys, railhead
client = railhead.Client(fabric="loopback")
buffers = [client.buffer(1 << 20) for _ in range(16)]
while True:
    client.get_many([("s3://data/object", buffer) for buffer in buffers])
    print("read", flush=True)
"""


def test_killed_client_leaves_the_gateway_to_others(running: Rack) -> None:
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/object", DATA)
        for _ in range(3):
            child = subprocess.Popen([sys.executable, "-c", CLIENT], stdout=subprocess.PIPE,
                                     env={**os.environ, **environment_of(running)})
            assert child.stdout
            assert child.stdout.readline() == b"read\n"
            child.kill()
            child.communicate()
        assert client.get("s3://data/object") == DATA


INTERRUPTED = """
import railhead, signal
client = railhead.Client(fabric="loopback")
buffer = bytearray(1 << 20)
print("ready", client.via, flush=True)
try:
    client.get_into("s3://data/cold-interrupt", buffer)
except KeyboardInterrupt:
    assert not client._paths._session._pending
buffer.append(1)  # which it could not while somebody holds it
print("interrupted", flush=True)
"""


def test_interrupt_returns_when_the_window_is_free(own_rack: Rack) -> None:
    with own_rack.client(own_rack.store_endpoint, fabric="http") as direct:
        direct.put_from("s3://data/cold-interrupt", DATA)
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True,
                             env={**os.environ, **environment_of(own_rack)})
    os.kill(own_rack.store.pid, signal.SIGSTOP)
    try:
        assert child.stdout
        assert child.stdout.readline() == "ready loopback\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=PATIENCE)
        assert said == "interrupted\n"
    finally:
        os.kill(own_rack.store.pid, signal.SIGCONT)
        child.kill()
        child.wait()


ENDING = """
import railhead, threading, time
from railhead import _native

class Watched:
    waiting = 0

    def __init__(self):
        self.library = _native.library()

    def __getattr__(self, name):
        return getattr(self.library, name)

    def railhead_wait(self, *arguments):
        self.waiting += 1
        got = self.library.railhead_wait(*arguments)
        self.waiting -= 1
        return got

    railhead_wait_all = railhead_wait

    def railhead_close(self, handle):
        print("closed while somebody waits" if self.waiting else "closed", flush=True)
        return self.library.railhead_close(handle)

watched = Watched()
_native.library = lambda: watched
client = railhead.Client(fabric="loopback")
assert client.via == "loopback"
threading.Thread(target=client.get, args=("s3://data/cold-ending",), daemon=True).start()
while not watched.waiting:
    time.sleep(0.01)
"""


def test_end_of_the_program_frees_nothing_under_its_daemon_threads(own_rack: Rack) -> None:
    with own_rack.client(own_rack.store_endpoint, fabric="http") as direct:
        direct.put_from("s3://data/cold-ending", DATA)
    os.kill(own_rack.store.pid, signal.SIGSTOP)
    try:
        ended = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=False, timeout=PATIENCE,
                               env={**os.environ, **environment_of(own_rack)})
    finally:
        os.kill(own_rack.store.pid, signal.SIGCONT)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("times", [1, 2, 3])
def test_object_that_changes_while_it_is_read(running: Rack, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    versions = [content(12 * MIB + i, i) for i in range(4)]
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/changing", versions[0])
        learnt, changed = _jobs.Get.came, 0

        def overwrite(self: _jobs.Get, piece: _jobs.Piece, outcome: Outcome) -> list[_jobs.Piece]:
            nonlocal changed
            if self.outcome is None and changed < times:
                changed += 1
                client.put_from("s3://data/changing", versions[changed])
            return learnt(self, piece, outcome)

        buffer = bytearray(13 * MIB)  # copied, so that its pieces are of 1 MiB
        with monkeypatch.context() as context:
            context.setattr(_jobs.Get, "came", overwrite)
            if times == 3:
                with pytest.raises(railhead.PreconditionFailed):
                    client.get_into("s3://data/changing", buffer)
            else:
                got = client.get_into("s3://data/changing", buffer)
                assert (got.length, got.size) == (12 * MIB + times, 12 * MIB + times)
                assert buffer[:got.length] == versions[times]
        assert client.get("s3://data/changing") == versions[times]


def test_multipart_upload_that_fails_is_aborted(running: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    with running.client(fabric="loopback") as client:
        monkeypatch.setattr(_jobs.Parts, "came", _fail)
        with pytest.raises(ZeroDivisionError):
            client.put_from("s3://data/parts", bytes(20 * MIB))
        assert not client.call("", "list_multipart_uploads", Bucket="data", Prefix="parts").get("Uploads")
        with pytest.raises(railhead.NotFound):
            client.head("s3://data/parts")


def _fail(*_: object) -> None:
    raise ZeroDivisionError


def test_no_library(running: Rack, tmp_path: Path) -> None:
    program = """
import railhead, warnings
warnings.simplefilter("ignore")
client = railhead.Client()
print(client.get("s3://data/object")[:4].hex(), client.via)
"""
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/object", DATA)
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=PATIENCE,
                          env={**os.environ, **environment_of(running), "RAILHEAD_LIBRARY": str(tmp_path / "none.so")})
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith(f"{DATA[:4].hex()} http: loopback: ")
    assert "none.so" in said.stdout
