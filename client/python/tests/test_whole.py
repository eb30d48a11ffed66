"""Reads that go at once, as one batch: into memory that the session knows. They are what they would be one by one."""

from __future__ import annotations

import asyncio
import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Rack, content, environment_of, under_way

import railhead
from railhead import _memory, _native, _whole
from railhead._session import _AT_BITS, Batch, Box
from railhead._whole import Got, Whole

MIB = 1 << 20
PATIENCE = 60
SIZES = [0, 1, 100, 5000, MIB, 9 * MIB]


class Counted:
    """A library whose calls are counted."""

    def __init__(self) -> None:
        self._library = _native.library()
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self._library, name)


@pytest.fixture(scope="module")
def objects(running: Rack) -> dict[str, bytes]:
    with running.client() as client:
        made = {f"s3://data/whole-{nbytes}": content(nbytes, nbytes) for nbytes in SIZES}
        for url, data in made.items():
            client.put_from(url, data)
        return made


def known(client: railhead.Client, count: int, nbytes: int) -> list[memoryview]:
    """Buffers that the session knows."""
    whole = client.buffer(count * nbytes)
    client.get_into("s3://data/whole-1", whole)
    whole[:] = bytes(len(whole))
    return [whole[i * nbytes:(i + 1) * nbytes] for i in range(count)]


def is_whole(client: railhead.Client, reads: list[Any]) -> bool:
    """Whether the reads are a batch."""
    return Whole.of(client._paths, Box(), reads) is not None


def test_as_much_as_there_is(client: railhead.Client, objects: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    buffers = known(client, 32, 3 * MIB)
    for _ in range(30):
        reads, expected = [], []
        for buffer in dice.sample(buffers, dice.randrange(1, 33)):
            url = dice.choice(list(objects))
            start = dice.choice([0, 0, dice.randrange(max(1, len(objects[url])))])
            room = dice.choice([1, 100, 5000, 3 * MIB])
            length = dice.choice([None, 1, room])
            reads.append(railhead.Read(url, buffer[:room], start, length))
            expected.append(objects[url][start:start + min(room, length or room)])
        assert is_whole(client, reads)
        moved = client.report().bytes_by_path["loopback"]
        with monkeypatch.context() as context:
            context.setattr(_whole, "Transfer", None)
            got = client.get_many(reads)
        assert [each.length for each in got] == [len(each) for each in expected]
        assert [bytes(read.buffer[:len(data)]) for read, data in zip(reads, expected, strict=True)] == expected
        assert [each.size for each in got] == [len(objects[read.url]) for read in reads]
        assert client.report().bytes_by_path["loopback"] == moved + sum(map(len, expected))
        planned = client.get_many(reads, progress=lambda _: None)
        assert [(each.length, each.size, each.etag, each.via) for each in got] == [
            (each.length, each.size, each.etag, each.via) for each in planned]


def test_what_needs_a_plan_is_none(client: railhead.Client, objects: dict[str, bytes]) -> None:
    url, buffers = "s3://data/whole-5000", known(client, 33, 5000)
    assert is_whole(client, [(url, buffer) for buffer in buffers[:32]])
    assert is_whole(client, [(url, buffer) for buffer in buffers]), "more than go at once"
    assert not is_whole(client, [])
    assert not is_whole(client, [(url, buffers[0]), (url, buffers[1][:0])]), "nothing to be moved"
    assert not is_whole(client, [(url, buffers[0]), (url, bytearray(100))]), "to be copied"
    assert not is_whole(client, [(url, client.buffer(100))]), "to be registered"
    assert not is_whole(client, [(url, *known(client, 1, 9 * MIB))]), "more than one piece"


class Refused:
    """No memory."""


@pytest.mark.parametrize("buffer", [b"read-only", Refused(), memoryview(bytearray(9))[::2]], ids=["read-only", "none", "strided"])
def test_what_cannot_be_read_into_is_refused_before_anything_is_asked(client: railhead.Client, objects: dict[str, bytes],
                                                                      buffer: Any) -> None:
    (good,) = known(client, 1, 5000)
    with pytest.raises((TypeError, BufferError)):
        client.get_many([("s3://data/whole-5000", good), ("s3://data/whole-5000", buffer)])
    assert bytes(good) == bytes(5000)


@pytest.mark.parametrize("more", [(-1,), (1 << 63,), (0, -1), ("0",), (None,), (0, 1, 2)], ids=str)
def test_span_that_is_none_is_refused(client: railhead.Client, objects: dict[str, bytes], more: tuple[Any, ...]) -> None:
    (good,) = known(client, 1, 5000)
    with pytest.raises((TypeError, ValueError)):
        client.get_many([("s3://data/whole-5000", good, *more)])
    assert bytes(good) == bytes(5000)


@pytest.mark.parametrize("url", ["data/key", "s3:///key", "s3://data/", "s4://data/key", "s3://data/a\0b", 5], ids=str)
def test_url_that_is_none_is_refused(client: railhead.Client, objects: dict[str, bytes], url: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        client.get_many([(url, *known(client, 1, 5000))])


def test_reads_of_many_kinds_are_a_batch(client: railhead.Client, objects: dict[str, bytes]) -> None:
    np = pytest.importorskip("numpy")
    data = objects["s3://data/whole-5000"]
    buffers = known(client, 6, 5000)
    fields = np.frombuffer(buffers[2], dtype=[("Objects", "u1"), ("b", "u1")])
    reads: list[Any] = [
        ["s3://data/whole-5000", buffers[0]], ("railhead://data/whole-5000", np.frombuffer(buffers[1], dtype="u2")),
        ("s3://data/whole-5000", fields), railhead.Read("s3://data/whole-5000", buffers[3], np.int64(1000), np.uint8(200)),
        ("s3://data/whole-5000", _memory.view(buffers[4], writable=True)), ("s3://data/whole-5000", buffers[5].cast("H"))]
    assert is_whole(client, reads)
    assert [got.length for got in client.get_many(reads)] == [5000, 5000, 5000, 200, 5000, 5000]
    expected = [data, data, data, data[1000:1200].ljust(5000, b"\0"), data, data]
    assert [bytes(buffer) for buffer in buffers] == expected


def test_python_objects_are_not_read_over(client: railhead.Client, objects: dict[str, bytes]) -> None:
    (buffer,) = known(client, 1, 4000)
    pointers = (ctypes.py_object * 500).from_buffer(buffer)
    with pytest.raises(TypeError, match="a buffer of Python objects"):
        client.get_many([("s3://data/whole-5000", pointers)])
    assert bytes(buffer) == bytes(4000)


class Interrupting:
    """An array that an interrupt comes to while it is looked at for the first time."""

    come = False

    def __dlpack__(self) -> None:
        raise AssertionError

    def __dlpack_device__(self) -> tuple[int, int]:
        if not self.come:
            self.come = True
            raise KeyboardInterrupt
        raise TypeError


def test_interrupt_while_the_memory_is_looked_at_is_raised(client: railhead.Client, objects: dict[str, bytes]) -> None:
    (good,) = known(client, 1, 5000)
    with pytest.raises(KeyboardInterrupt):
        client.get_many([("s3://data/whole-5000", good), ("s3://data/whole-5000", Interrupting())])
    assert bytes(good) == bytes(5000)


def test_nothing_is_kept_of_reads_that_are_over(client: railhead.Client, objects: dict[str, bytes]) -> None:
    np = pytest.importorskip("numpy")
    (buffer,) = known(client, 1, 5000)
    url, start = "".join(["s3://data/", "whole-5000"]), np.int64(1000)
    reads: list[Any] = [railhead.Read(url, buffer, start, 3000)] * 4
    each: list[Any]
    counted = (url, buffer, start, reads[0], Got)
    view = _memory.view(buffer, writable=True)
    for each in (reads, [(url, view)] * 4, [*reads, ("s3://data/none", buffer)], [*reads, (url, buffer[:0])]):
        client.get_many(each, return_exceptions=True)
        before = [*map(sys.getrefcount, counted), sys.getallocatedblocks()]
        for _ in range(200):
            client.get_many(each, return_exceptions=True)
        after = [*map(sys.getrefcount, counted), sys.getallocatedblocks()]
        assert after[:-1] == before[:-1]
        assert after[-1] - before[-1] < 150
    del each, view
    buffer.release()  # which it cannot be while somebody looks at it


def test_without_the_part_in_c_all_is_planned(client: railhead.Client, objects: dict[str, bytes],
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "batch", lambda: None)
    buffers = known(client, 3, 5000)
    reads = [("s3://data/whole-5000", buffer) for buffer in buffers]
    assert not is_whole(client, reads)
    assert [got.length for got in client.get_many(reads)] == [5000] * 3
    assert [bytes(buffer) for buffer in buffers] == [objects["s3://data/whole-5000"]] * 3


def test_who_is_alone_is_waken_once(client: railhead.Client, objects: dict[str, bytes]) -> None:
    reads = [("s3://data/whole-5000", buffer) for buffer in known(client, 8, 5000)]
    session: Any = client._paths.session()
    for others in (False, True):
        session._library = counted = Counted()
        if others:  # as if somebody else had a request under way
            session._pending[1 << 40] = Batch(Box(), session, 1)
        assert [got.length for got in client.get_many(reads)] == [5000] * 8
        session._pending.pop(1 << 40, None)
        session._library = _native.library()
        assert counted.calls["railhead_submit"] == 1
        assert bool(counted.calls["railhead_wait"]) == others
        assert bool(counted.calls["railhead_wait_all"]) != others


def test_many_are_read_some_at_a_time(client: railhead.Client, objects: dict[str, bytes]) -> None:
    buffers = known(client, 500, 5000)
    reads = [("s3://data/whole-5000" if at % 3 else "s3://data/whole-100", buffer) for at, buffer in enumerate(buffers)]
    most = 0
    session: Any = client._paths.session()
    submit = session.submit

    def watched(batch: Batch, first: int, end: int) -> None:
        nonlocal most
        submit(batch, first, end)
        assert 0 < len(set(batch.ids[:end])) == end, "numbers to cancel them by"
        most = max(most, len(batch.left))

    session.submit = watched
    for missing in (False, True):
        if missing:
            reads[100] = reads[400] = ("s3://data/none", buffers[100])
        results = client.get_many(reads, return_exceptions=True)
        assert [isinstance(each, railhead.NotFound) for each in results] == [missing and at in (100, 400) for at in range(500)]
        for (url, _), buffer, got in zip(reads, buffers, results, strict=True):
            if isinstance(got, Got):
                assert got.length == len(objects[url])
                assert bytes(buffer[:got.length]) == objects[url]
                buffer[:] = bytes(5000)
    assert most == 32
    with pytest.raises(railhead.NotFound):
        client.get_many(reads)
    assert not session._pending


@pytest.mark.parametrize("again", [1, 3])
def test_memory_that_others_give_back_meanwhile(client: railhead.Client, objects: dict[str, bytes], again: int) -> None:
    buffers = known(client, 40, 5000)
    reads = [("s3://data/whole-5000", buffer) for buffer in buffers]
    session: Any = client._paths.session()
    submit, left = session.submit, again

    def later(batch: Batch, first: int, end: int) -> None:
        nonlocal left
        if left:
            left -= 1
            session.releases += 1
        submit(batch, first, end)

    session.submit = later
    assert [got.length for got in client.get_many(reads)] == [5000] * 40
    assert [bytes(buffer) for buffer in buffers] == [objects["s3://data/whole-5000"]] * 40
    assert left == 0


def test_region_that_is_just_being_given_back_is_looked_up_again(client: railhead.Client, objects: dict[str, bytes],
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "batch", lambda: None)
    buffers = known(client, 2, 5000)
    handle_of, given_back = _memory.Region.known, [0]
    monkeypatch.setattr(_memory.Region, "known",
                        lambda region, session: given_back.pop() if given_back else handle_of(region, session))
    assert [got.length for got in client.get_many([("s3://data/whole-5000", buffer) for buffer in buffers])] == [5000] * 2
    assert not given_back
    assert [bytes(buffer) for buffer in buffers] == [objects["s3://data/whole-5000"]] * 2


def test_session_that_ends_among_many(own_rack: Rack) -> None:
    with own_rack.client(fabric="loopback") as client:
        client.put_from("s3://data/whole-1", b"1")
        buffers = known(client, 500, 1)
        session: Any = client._paths.session()
        submit = session.submit

        def killing(batch: Batch, first: int, end: int) -> None:
            if first:
                os.killpg(own_rack.gateway.pid, signal.SIGKILL)
                own_rack.gateway.wait(PATIENCE)
                own_rack.start_gateway_again()
                session.submit = submit
            submit(batch, first, end)

        session.submit = killing
        assert [got.length for got in client.get_many([("s3://data/whole-1", buffer) for buffer in buffers])] == [1] * 500
        assert [bytes(buffer) for buffer in buffers] == [b"1"] * 500


@pytest.mark.parametrize("others", [0, 7])
def test_missing_object_is_its_own_read_s_error(client: railhead.Client, objects: dict[str, bytes], others: int) -> None:
    data = objects["s3://data/whole-5000"]
    buffers = known(client, others + 3, 5000)
    reads: list[Any] = [(f"s3://data/{'none' if at == 1 else 'whole-5000'}", buffer) for at, buffer in enumerate(buffers)]
    reads[2] = railhead.Read("s3://data/whole-100", buffers[2], 200)
    assert is_whole(client, reads)
    results = client.get_many(reads, return_exceptions=True)
    assert isinstance(results[1], railhead.NotFound)
    assert (results[1].status, results[1].code, results[1].url) == (404, "NoSuchKey", "s3://data/none")
    assert isinstance(results[2], railhead.RangeNotSatisfiable)
    for at in [0, *range(3, others + 3)]:
        assert (results[at].length, bytes(buffers[at])) == (5000, data)
    with pytest.raises((railhead.NotFound, railhead.RangeNotSatisfiable)):
        client.get_many(reads)
    assert client._paths._session is not None
    assert not client._paths._session._pending


@pytest.mark.parametrize(("key", "why"), [("k" * 9000, "too long"), ("\udc80", "surrogates")], ids=["long", "no UTF-8"])
def test_key_that_no_message_takes_is_its_own_read_s_error(client: railhead.Client, objects: dict[str, bytes], key: str,
                                                           why: str) -> None:
    buffers = known(client, 3, 5000)
    reads = list(zip(["s3://data/whole-5000", f"s3://data/{key}", "s3://data/whole-5000"], buffers, strict=True))
    first, second, third = client.get_many(reads, return_exceptions=True)
    assert first.length == third.length == 5000
    assert why in str(second)
    with pytest.raises(ValueError, match=why):
        client.get_many(reads)


def test_url_without_a_key_is_refused_before_anything_is_asked(client: railhead.Client, objects: dict[str, bytes]) -> None:
    buffers = known(client, 2, 5000)
    with pytest.raises(ValueError, match="not s3://"):
        client.get_many([("s3://data/whole-5000", buffers[0]), ("s3://data", buffers[1])])
    assert bytes(buffers[0]) == bytes(5000)


def test_key_of_other_letters(client: railhead.Client, objects: dict[str, bytes]) -> None:
    buffers = known(client, 2, 5000)
    url = "s3://data/Schlüssel/пять/五"
    client.put_from(url, content(5000, 5))
    client.get_many([(url, buffers[0]), ("s3://data/whole-5000", buffers[1])])
    assert [bytes(buffer) for buffer in buffers] == [content(5000, 5), objects["s3://data/whole-5000"]]


def test_what_the_gateway_does_not_serve_goes_over_http(running: Rack, objects: dict[str, bytes]) -> None:
    with running.client(fabric="http") as direct:
        direct.put_from("s3://off/object", content(5000, 6))
    with running.client() as client:
        buffers = known(client, 3, 5000)
        reads = list(zip(["s3://data/whole-5000", "s3://off/object", "s3://data/whole-5000"], buffers, strict=True))
        with pytest.raises(railhead.FallbackWarning):
            client.get_many(reads)
        assert client._paths._session is not None
        assert not client._paths._session._pending
        with pytest.warns(railhead.FallbackWarning):
            got = client.get_many(reads)
        assert [each.via for each in got] == ["loopback", "http", "loopback"]
        assert bytes(buffers[1]) == content(5000, 6)
    with running.client(fabric="loopback") as client:
        reads[1] = ("s3://off/object", known(client, 1, 5000)[0])
        with pytest.raises(railhead.NotServed):
            client.get_many(reads[1:2])


@pytest.fixture
def stopped_store(own_rack: Rack) -> Iterator[Callable[[], str]]:
    """Stops the store; the URL of an object that the gateway does not have."""
    url = f"s3://data/cold-whole-{time.monotonic_ns()}"
    with own_rack.client(own_rack.store_endpoint, fabric="http") as direct:
        direct.put_from(url, content(MIB, 1))
        direct.put_from("s3://data/whole-1", b"1")

    def stop() -> str:
        os.kill(own_rack.store.pid, signal.SIGSTOP)
        return url

    yield stop
    os.kill(own_rack.store.pid, signal.SIGCONT)


def test_first_error_cancels_the_rest(own_rack: Rack, stopped_store: Callable[[], str]) -> None:
    with own_rack.client(fabric="loopback") as client:
        buffers = known(client, 8, MIB)
        cold = stopped_store()
        reads = [("s3://off/object", buffers[0]), *((cold, buffer) for buffer in buffers[1:])]
        assert is_whole(client, reads)
        begun = time.monotonic()
        with pytest.raises(railhead.NotServed):
            client.get_many(reads)
        assert time.monotonic() - begun < 30, "not the deadline's end"
        assert client._paths._session is not None
        assert not client._paths._session._pending


def test_deadline(own_rack: Rack, stopped_store: Callable[[], str]) -> None:
    with own_rack.client(fabric="loopback", deadline=3) as client:
        buffers = known(client, 2, MIB)
        reads = list(zip([stopped_store(), "s3://data/whole-1"], buffers, strict=True))
        late, got = client.get_many(reads, return_exceptions=True)
        assert isinstance(late, railhead.DeadlineExceeded)
        assert (got.length, bytes(buffers[1][:1])) == (1, b"1")


def test_cancelled_returns_when_the_windows_are_free(own_rack: Rack, stopped_store: Callable[[], str]) -> None:
    async def work(client: railhead.Client, reads: list[Any]) -> None:
        task = asyncio.create_task(client.aget_many(reads))
        session: Any = client._paths.session()
        await asyncio.to_thread(wait_until_under_way, client, len(reads))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 30)
        assert not session._pending
        assert not session._watchers

    with own_rack.client(fabric="loopback") as client:
        buffers = known(client, 4, MIB)
        cold = stopped_store()
        asyncio.run(work(client, [(cold, buffer) for buffer in buffers]))
        os.kill(own_rack.store.pid, signal.SIGCONT)
        client.get_many([(cold, buffer) for buffer in buffers])
        assert [bytes(buffer) for buffer in buffers] == [content(MIB, 1)] * 4, "the session goes on"


def wait_until_under_way(client: railhead.Client, count: int) -> None:
    while under_way(client) < count:
        time.sleep(0.01)


INTERRUPTED = """
import railhead, sys
client = railhead.Client(fabric="loopback")
buffers = [client.buffer(1 << 20) for _ in range(3)]
client.get_many([("s3://data/whole-1", buffer) for buffer in buffers])
print("ready", client.via, flush=True)
sys.stdin.readline()
try:
    client.get_many([(sys.argv[1], buffer) for buffer in buffers])
except KeyboardInterrupt:
    assert not client._paths._session._pending
    print("interrupted", flush=True)
"""


def test_interrupt_returns_when_the_windows_are_free(own_rack: Rack, stopped_store: Callable[[], str]) -> None:
    cold = stopped_store()
    os.kill(own_rack.store.pid, signal.SIGCONT)
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED, cold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, **environment_of(own_rack)})
    try:
        assert child.stdin
        assert child.stdout
        assert child.stdout.readline() == "ready loopback\n"
        stopped_store()
        child.stdin.write("\n")
        child.stdin.flush()
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=PATIENCE)
        assert said == "interrupted\n"
    finally:
        child.kill()
        child.wait()


def test_gateway_killed_meanwhile(own_rack: Rack, stopped_store: Callable[[], str]) -> None:
    with own_rack.client(fabric="loopback") as client:
        buffers = known(client, 3, MIB)
        cold = stopped_store()
        raised: list[BaseException] = []

        def read() -> None:
            try:
                client.get_many([(cold, buffer) for buffer in buffers])
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=read)
        thread.start()
        wait_until_under_way(client, 3)
        os.killpg(own_rack.gateway.pid, signal.SIGKILL)
        own_rack.gateway.wait(PATIENCE)
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert isinstance(raised[0], railhead.ConnectionLost), "nobody is there to be asked again"
        os.kill(own_rack.store.pid, signal.SIGCONT)
        own_rack.start_gateway_again()
        for _ in range(2):
            client.get_many([(cold, buffer) for buffer in buffers])
            assert [bytes(buffer) for buffer in buffers] == [content(MIB, 1)] * 3


class Reader:
    """Reads some again and again, and looks at what came."""

    def __init__(self, client: railhead.Client, objects: dict[str, bytes], seed: int) -> None:
        dice = random.Random(seed)
        small = [url for url, data in objects.items() if 0 < len(data) <= MIB]
        self.client = client
        self.objects = objects
        self.reads: list[Any] = [(dice.choice(small), buffer) for buffer in known(client, dice.randrange(1, 12), MIB)]

    def check(self) -> None:
        for url, buffer in self.reads:
            assert bytes(buffer[:len(self.objects[url])]) == self.objects[url]
            buffer[:] = bytes(len(buffer))

    def by_thread(self) -> None:
        own = bytearray(MIB)
        for i in range(60):
            self.client.get_many(self.reads)
            self.check()
            if i % 7 == 0:
                self.client.get_into("s3://data/whole-5000", own)
                with pytest.raises(railhead.NotFound):
                    self.client.get_many([*self.reads, ("s3://data/none", self.reads[0][1])])

    def by_loop(self) -> None:
        async def work() -> None:
            for _ in range(60):
                half = len(self.reads) // 2
                await asyncio.gather(self.client.aget_many(self.reads[:half]), self.client.aget_many(self.reads[half:]))
                self.check()

        asyncio.run(work())


def test_threads_and_loops_share_a_session(running: Rack, objects: dict[str, bytes]) -> None:
    failures: list[BaseException] = []

    def kept(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    with running.client(fabric="loopback") as client:
        readers = [Reader(client, objects, seed) for seed in range(4)]
        works = [readers[0].by_thread, readers[1].by_loop, readers[2].by_thread, readers[3].by_loop]
        threads = [threading.Thread(target=kept, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * PATIENCE)
            assert not thread.is_alive(), "a completion did not reach who waits for it"
    assert not failures, failures


# ---- Against a session that answers what it is told ----


class Session:
    via = "loopback"
    releases = 0

    def reserve(self) -> int:
        return 1

    def submit(self, batch: Batch, first: int, end: int) -> None:
        batch.ids[first:end] = list(range(first + 1, end + 1))
        batch.left.update(range(first, end))

    def cancel(self, box: Box) -> None:
        self.cancelled = True


def whole_of(count: int, nbytes: int) -> tuple[Whole, Counter[str]]:
    moved: Counter[str] = Counter()
    paths: Any = SimpleNamespace(count=lambda via, length: moved.update({via: length}), settings=SimpleNamespace(in_flight=4),
                                 check_open=lambda: None)
    session: Any = Session()
    whole = Whole(paths, Box(), session, [(f"s3://a/{i}", _memory.View(4096, nbytes, None)) for i in range(count)])
    for request in whole.requests:
        request.window = nbytes
    return whole, moved


def come(whole: Whole, at: int, moved: int, size: int, **more: Any) -> bool:
    """A completion of its own between two of others'; whether who waits is waken."""
    texts = dict.fromkeys(("etag", "version_id", "code", "message", "headers"), b"")
    users = [7, whole.first_user + at, (whole.number + 1) << _AT_BITS]
    completions = (_native.Completion * 3)()
    for completion, user in zip(completions, users, strict=True):
        completion.user = user
    for name, value in {**texts, "bytes": moved, "object_bytes": size, **more}.items():
        setattr(completions[1], name, value)
    return whole.came(completions, users)


def test_is_waken_by_the_last() -> None:
    whole, moved = whole_of(3, 100)
    steps = whole.run(fail_fast=True)
    next(steps)
    woken = [come(whole, at, 100, 200, etag=b'"e"', cache=1) for at in (2, 0, 0, 1)]
    assert woken == [False, False, False, True]
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == [Got(100, 200, '"e"', "loopback", "hit")] * 3
    assert moved == {"loopback": 300}
    assert whole.box.whole is None


def test_asks_for_more_when_half_has_come() -> None:
    whole, moved = whole_of(7, 100)
    steps = whole.run(fail_fast=True)
    next(steps)
    assert (set(whole.left), whole.box.whole) == ({0, 1, 2, 3}, None), "four at a time"
    assert [come(whole, at, 100, 200) for at in (3, 1)] == [False, True]
    next(steps)
    assert set(whole.left) == {0, 2, 4, 5}
    assert [come(whole, at, 100, 200) for at in (0, 4)] == [False, True]
    next(steps)
    assert (set(whole.left), whole.box.whole) == ({2, 5, 6}, whole)
    assert [come(whole, at, 100, 200) for at in (2, 5, 6)] == [False, False, True]
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == [Got(100, 200, "", "loopback", "none")] * 7
    assert moved == {"loopback": 700}


@pytest.mark.parametrize("size", [150, 50])
def test_short_of_bytes_is_an_error(size: int) -> None:
    whole, _ = whole_of(2, 100)
    steps = whole.run(fail_fast=True)
    next(steps)
    assert come(whole, 1, 30, size)
    with pytest.raises(railhead.StoreError, match="30 bytes came in place of"):
        _drained(steps, whole)


def test_memory_that_is_held_is_an_error() -> None:
    whole, _ = whole_of(2, 100)
    steps = whole.run(fail_fast=True)
    next(steps)
    assert come(whole, 0, 100, 100, flags=_native.WINDOW_HELD)
    with pytest.raises(railhead.MemoryHeld):
        _drained(steps, whole)


def _drained(steps: Any, whole: Whole) -> None:
    """After the first error it still waits for the other; whatever is thrown in meanwhile."""
    next(steps)
    assert whole.box.whole is None
    steps.throw(KeyboardInterrupt())
    for at in list(whole.left):
        come(whole, at, 0, 0, result=_native.CANCELLED, code=b"cancelled")
    next(steps)


def test_interrupted_submission_waits_for_what_was_taken() -> None:
    whole, _ = whole_of(3, 100)

    def submit(batch: Batch, first: int, end: int) -> None:
        batch.ids[0] = 1
        batch.left.add(0)  # as Session.submit leaves it
        raise KeyboardInterrupt

    whole._session.submit = submit  # type: ignore[method-assign]
    steps = whole.run(fail_fast=True)
    next(steps)
    come(whole, 0, 100, 100)
    with pytest.raises(KeyboardInterrupt):
        next(steps)


def test_asks_for_no_more_when_the_client_is_closed() -> None:
    whole, _ = whole_of(7, 100)
    steps = whole.run(fail_fast=False)
    next(steps)

    def closed() -> None:
        raise ValueError("the client is closed")

    whole._paths.check_open = closed  # type: ignore[method-assign]
    for at in (0, 1):
        come(whole, at, 0, 0, result=_native.CANCELLED, code=b"cancelled")
    next(steps)
    assert set(whole.left) == {2, 3}
    for at in (2, 3):
        come(whole, at, 0, 0, result=_native.CANCELLED, code=b"cancelled")
    with pytest.raises(ValueError, match="closed"):
        next(steps)


def test_interrupt_before_it_has_begun_to_wait_for_the_rest() -> None:
    whole, _ = whole_of(2, 100)
    steps, drain, tries = whole.run(fail_fast=True), whole.drain, 0
    next(steps)

    def interrupted() -> Any:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise KeyboardInterrupt
        yield from drain()

    whole.drain = interrupted  # type: ignore[method-assign]
    steps.throw(RuntimeError("why it ends"))
    assert tries == 2
    for at in (0, 1):
        come(whole, at, 100, 100)
    with pytest.raises(RuntimeError, match="why it ends"):
        next(steps)
