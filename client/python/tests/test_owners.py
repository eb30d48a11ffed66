"""Parts of objects come from the gateways that own them, and from home what those do not do."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import gc
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import rack
from conftest import KEYS, content
from gateways import RUN, Gateway, Gateways, owner_of, running, until

import railhead
from railhead import _memory, _native, _owners
from railhead._jobs import Get
from railhead._owners import Owners
from railhead._session import Box, Outcome, ThreadBox
from railhead._settings import settle
from railhead._transfer import Transfer
from railhead._whole import Shares, Whole

RUNS = 5
DATA = content(RUNS * RUN + 1000, 9)
URLS = {"g0": "http://127.0.0.1:1", "g1": "http://127.0.0.1:2", "g2": "http://127.0.0.1:3"}
PLACEMENT = {"rule": "2", "run": RUN, "members": URLS}


# ---- With gateways ----

@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateways]:
    if os.environ.get("RAILHEAD_NO_GATEWAY"):
        pytest.skip("no gateway: ./railhead is not built")
    try:
        with running(tmp_path_factory.mktemp("three")) as made:
            with made.client() as client:
                client.put_from("s3://data/object", DATA)
            yield made
    except rack.CannotStart as reason:
        pytest.skip(f"no gateway: {reason}")


@pytest.fixture
def client(three: Gateways) -> Iterator[railhead.Client]:
    """One that has sessions with all three."""
    with three.client() as made:
        await_owners(three, made)
        yield made


def await_owners(three: Gateways, client: railhead.Client) -> None:
    """Sessions are opened, and memory is registered, behind the reads: until then all goes home."""
    part = memoryview(bytearray(1000))

    def is_shared() -> bool:
        before = three.moved()
        for index in range(RUNS):
            client.get_into("s3://data/object", part, start=index * RUN)
        return moved_since(three, before) == expected(three, dict.fromkeys(range(RUNS), 1000))

    until(is_shared)


def await_known(client: railhead.Client, *memory: Any) -> None:
    """Until the owners know the memory."""
    for each in memory:
        view = _memory.view(each, writable=True)
        region = client._paths.region(view)
        assert region is not None
        session = client._paths.session()
        assert session is not None
        client._paths.register(region, session)
        for member in client._paths.owners._all():
            member.wanted.add(region)
            client._paths.owners._settle(member)
    regions = [client._paths.region(_memory.view(each, writable=True)) for each in memory]
    until(lambda: all(region in session.handles for region in regions for session in client._paths.owners.sessions()))


def moved_since(three: Gateways, before: list[float]) -> list[float]:
    return [now - then for now, then in zip(three.moved(), before, strict=True)]


def expected(three: Gateways, runs: dict[int, int], key: str = "object") -> list[float]:
    """Bytes that each gateway moves, of so many of each run."""
    moved = [0.0] * len(three.each)
    for index, nbytes in runs.items():
        moved[three.owner(key, index)] += nbytes
    return moved


WHOLE = {**dict.fromkeys(range(RUNS), RUN), RUNS: 1000}


def test_each_part_comes_from_its_owner(three: Gateways, client: railhead.Client) -> None:
    buffer = client.buffer(len(DATA))
    await_known(client, buffer)
    before = three.moved()
    got = client.get_into("s3://data/object", buffer)
    assert buffer == DATA
    assert (got.length, got.size, got.via) == (len(DATA), len(DATA), "loopback")
    assert moved_since(three, before) == expected(three, WHOLE)
    assert len([nbytes for nbytes in expected(three, WHOLE) if nbytes]) > 1, "several gateways had a part in it"
    assert "owners: sessions with 2 of 2 other gateways" in str(client.report())


def test_memory_of_the_program_s_own_is_copied_from_owners_too(three: Gateways, client: railhead.Client) -> None:
    before = three.moved()
    assert client.get("s3://data/object") == DATA
    assert moved_since(three, before) == expected(three, WHOLE)


def test_part_that_begins_within_a_run_goes_to_two_owners(three: Gateways, client: railhead.Client) -> None:
    buffer = client.buffer(2 * RUN)
    await_known(client, buffer)
    before = three.moved()
    assert client.get_into("s3://data/object", buffer, start=RUN // 2).length == 2 * RUN
    assert buffer == DATA[RUN // 2:RUN // 2 + 2 * RUN]
    assert moved_since(three, before) == expected(three, {0: RUN // 2, 1: RUN, 2: RUN // 2})


def test_event_loops_read_from_owners(three: Gateways, client: railhead.Client) -> None:
    buffers = [client.buffer(len(DATA)) for _ in range(2)]
    await_known(client, *buffers)
    before = three.moved()

    async def read() -> None:
        await asyncio.gather(*(client.aget_into("s3://data/object", buffer) for buffer in buffers))

    asyncio.run(read())
    assert buffers == [DATA] * 2
    assert moved_since(three, before) == [2 * nbytes for nbytes in expected(three, WHOLE)]


def test_filesystem_reads_from_owners(three: Gateways) -> None:
    fsspec = pytest.importorskip("railhead.fsspec")
    fs = fsspec.RailheadFileSystem(endpoint=three.each[0].endpoint, credentials=KEYS, region="us-east-1", fabric="loopback",
                                   skip_instance_cache=True)
    with fs.client as client:
        await_owners(three, client)
        before = three.moved()
        assert fs.cat_file("data/object", start=RUN, end=3 * RUN) == DATA[RUN:3 * RUN]
        assert moved_since(three, before) == expected(three, {1: RUN, 2: RUN})


def test_threads_wait_in_several_sessions(three: Gateways, client: railhead.Client) -> None:
    """Some in one session, most in three: whoever leads hands out to all."""
    failed: list[BaseException] = []

    def read(index: int) -> None:
        try:
            memory = memoryview(bytearray(len(DATA) if index % 2 else RUN))
            for _ in range(5):
                client.get_into("s3://data/object", memory, start=0 if index % 2 else RUN)
                assert memory == (DATA if index % 2 else DATA[RUN:2 * RUN])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=read, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_batch_is_shared_among_owners(three: Gateways, client: railhead.Client) -> None:
    objects = {f"small{i}": content(5000 + i, i) for i in range(60)}
    for key, data in objects.items():
        client.put_from(f"s3://data/{key}", data)
    memory = client.buffer(len(objects) << 13)
    await_known(client, memory)
    reads: list[Any] = [(f"s3://data/{key}", memory[i << 13:(i + 1) << 13]) for i, key in enumerate(objects)]
    if _native.batch() is not None:
        assert isinstance(Whole.of(client._paths, ThreadBox(), reads), Shares)
    before = three.moved()
    got = client.get_many(reads)
    assert [each.length for each in got] == [len(data) for data in objects.values()]
    assert all(buffer[:len(data)] == data for (_, buffer), data in zip(reads, objects.values(), strict=True))
    wanted = [0.0] * 3
    for key, data in objects.items():
        wanted[three.owner(key, 0)] += len(data)
    assert moved_since(three, before) == wanted
    memory[:] = bytes(len(memory))
    assert asyncio.run(client.aget_many(reads)) == [each._replace(cache="hit") for each in got]
    assert all(buffer[:len(data)] == data for (_, buffer), data in zip(reads, objects.values(), strict=True))
    reads[7] = ("s3://data/absent", reads[7][1])
    missing = client.get_many(reads, return_exceptions=True)
    assert [at for at, each in enumerate(missing) if isinstance(each, railhead.NotFound)] == [7]
    with pytest.raises(railhead.NotFound):
        client.get_many(reads)
    reads[7] = ("s3://data/\udc80", reads[7][1])
    with_no_name = client.get_many(reads, return_exceptions=True)
    assert [at for at, each in enumerate(with_no_name) if isinstance(each, Exception)] == [7]


def test_cache_only_objects_are_home_s(three: Gateways, client: railhead.Client) -> None:
    """Each gateway has an object of this name, with other bytes."""
    for at in range(3):
        with three.client(at) as other:
            for i in range(6):
                other.put_from(f"s3://kv/mine{i}", content(1000, 10 * i + at))
    for i in range(6):
        assert client.get(f"s3://kv/mine{i}") == content(1000, 10 * i)
        with pytest.raises(railhead.NotFound):
            client.get(f"s3://kv/absent{i}")
    assert "kv" in client._paths.owners._own, "owners are not asked each time"
    memory = client.buffer(6 << 10)
    await_known(client, memory)
    client.get_many([(f"s3://kv/mine{i}", memory[i << 10:(i + 1) << 10]) for i in range(6)])
    assert all(memory[i << 10:(i << 10) + 1000] == content(1000, 10 * i) for i in range(6))


def test_batch_of_cache_only_objects_is_home_s(three: Gateways, client: railhead.Client) -> None:
    """Owners decline what no other read has told of yet."""
    for at in range(3):
        with three.client(at) as other:
            for i in range(6):
                other.put_from(f"s3://kv/batch{i}", content(1000, 10 * i + at))
    memory = client.buffer(6 << 10)
    await_known(client, memory)
    assert not client._paths.owners._own
    got = client.get_many([(f"s3://kv/batch{i}", memory[i << 10:(i + 1) << 10]) for i in range(6)])
    assert [each.length for each in got] == [1000] * 6
    assert all(memory[i << 10:(i << 10) + 1000] == content(1000, 10 * i) for i in range(6))


def test_what_is_not_there_is_asked_of_one_gateway(client: railhead.Client) -> None:
    for i in range(6):
        with pytest.raises(railhead.NotFound):
            client.get(f"s3://data/absent{i}")


def test_object_that_is_written_anew_is_read_whole(three: Gateways, client: railhead.Client) -> None:
    for version in range(3):
        data = content(3 * RUN, version)
        client.put_from("s3://data/anew", data)
        assert client.get("s3://data/anew") == data


def test_rule_that_is_not_known_leaves_all_at_home(three: Gateways, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "PLACEMENT_RULE", "1")
    with three.client() as client:
        before = three.moved()
        until(lambda: client.get("s3://data/object", length=1000) and client._paths.owners._look_at > 1)
        assert client.get("s3://data/object") == DATA
        assert moved_since(three, before)[1:] == [0, 0]


def test_library_that_does_not_know_the_rule_leaves_all_at_home(three: Gateways, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "knows_owners", lambda: False)
    with three.client() as client:
        before = three.moved()
        assert client.get("s3://data/object") == DATA
        assert moved_since(three, before) == [len(DATA), 0, 0]


def test_memory_is_given_back_to_all(client: railhead.Client) -> None:
    before = [len(session._registered) for session in client._paths.owners.sessions()]
    buffer = client.buffer(4096)
    await_known(client, buffer)
    assert [len(session._registered) for session in client._paths.owners.sessions()] == [count + 1 for count in before]
    del buffer
    gc.collect()
    assert client._paths.session() is not None  # who comes next releases it
    until(lambda: [len(session._registered) for session in client._paths.owners.sessions()] == before)


def test_registered_buffer_is_the_program_s_again_afterwards(client: railhead.Client, three: Gateways) -> None:
    """Over loopback such memory is copied; what matters is that nobody holds it."""
    memory = bytearray(8192)
    with client.register(memory):
        client.get_into("s3://data/object", memory)
    memory.extend(b"x")  # which it could not while somebody looks at it


@pytest.fixture
def last(three: Gateways) -> Iterator[Gateway]:
    """An owner that is no other test's when this one is over."""
    gateway = three.each[2]
    yield gateway
    if gateway.process_or_none() is None:
        gateway.start_again()
    three.await_all()


def test_owner_that_dies_is_done_without(three: Gateways, client: railhead.Client, last: Gateway) -> None:
    buffer = client.buffer(len(DATA))
    await_known(client, buffer)
    stop, failed, rounds = threading.Event(), [], 0

    def read() -> None:
        nonlocal rounds
        try:
            while not stop.is_set():
                buffer[:] = bytes(len(DATA))
                assert client.get_into("s3://data/object", buffer).length == len(DATA)
                assert buffer == DATA
                rounds += 1
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    until(lambda: rounds > 1 or failed)
    last.kill()
    killed_at = rounds
    until(lambda: rounds > killed_at + 2 or failed)
    stop.set()
    thread.join()
    assert not failed


def test_owner_that_hangs_keeps_its_window_alone(three: Gateways, client: railhead.Client, last: Gateway) -> None:
    """It may still write there: what is copied comes by another slot, from home."""
    assert any(three.owner("object", index) == 2 for index in range(RUNS))
    os.killpg(last.process.pid, signal.SIGSTOP)
    try:
        assert client.get("s3://data/object") == DATA
    finally:
        os.killpg(last.process.pid, signal.SIGCONT)


# ---- Without ----

GONE = Outcome(_native.ENDED, message="the session is over")


def store_says(status: int) -> Outcome:
    return Outcome(_native.STORE, status, code="Code")


@pytest.mark.parametrize(("outcome", "is_pinned", "is_repeated"), [
    (GONE, False, True), (Outcome(_native.NOT_SERVED, code="own"), False, True), (Outcome(_native.TIMED_OUT), False, True),
    (store_says(503), False, True), (store_says(412), True, True), (store_says(404), True, True), (store_says(403), False, True),
    (store_says(404), False, False), (store_says(416), False, False), (Outcome(_native.CANCELLED), False, False)])
def test_what_an_owner_does_not_do_is_home_s(outcome: Outcome, is_pinned: bool, is_repeated: bool) -> None:
    """That an object, or a byte of it, is not there is known to an owner as well, unless the others' version has it."""
    with railhead.Client(URLS["g0"], credentials=KEYS, fabric="loopback") as client:
        transfer = Transfer(client._paths, Box())
        job = Get("s3://data/object", _memory.view(bytearray(8), writable=True))
        piece, = job.first(1)
        piece.is_pinned = is_pinned
        session: Any = SimpleNamespace(is_owner=True, via="loopback")
        transfer._native[piece] = session, SimpleNamespace()
        transfer._came(piece, outcome)
        assert (list(transfer._ready) == [piece]) == piece.at_home == is_repeated
        assert (job.error is None) == is_repeated
        assert not transfer._lost, "the session with home stands"
        assert ("data" in client._paths.owners._own) == (outcome.code == "own")


def test_window_that_an_owner_holds_leaves_the_ring_whole() -> None:
    with railhead.Client(URLS["g0"], credentials=KEYS, fabric="loopback", ring=16 << 20) as client:
        transfer = Transfer(client._paths, Box())
        ring = client._paths.ring(None)
        for _ in range(3):
            piece, = Get("s3://data/object", _memory.view(bytearray(8), writable=True)).first(1)
            piece.slot = ring.acquire(16 << 20, Box())
            assert piece.slot is not None
            session: Any = SimpleNamespace(is_owner=True, via="loopback")
            transfer._native[piece] = session, SimpleNamespace()
            transfer._came(piece, GONE._replace(held=True))
            assert piece.slot is None
            assert list(transfer._ready) == [piece]
            transfer._ready.clear()


def test_outcome_that_is_handed_out_twice_is_not_taken_for_home_s() -> None:
    """As after an interrupt in the midst of it: the piece is under way at home by then."""
    with railhead.Client(URLS["g0"], credentials=KEYS, fabric="loopback") as client:
        box = Box()
        transfer = Transfer(client._paths, box)
        piece, = Get("s3://data/object", _memory.view(bytearray(8), writable=True)).first(1)
        owner, home = (type("Fake", (), {"is_owner": is_owner, "via": "loopback"})() for is_owner in (True, False))
        batches: list[Any] = [object(), object()]
        for session, batch in ((owner, batches[0]), (home, batches[1])):
            transfer._native[piece] = session, batch
            box.put((piece, batches[0]), GONE)
            list(transfer._await())
        assert piece.at_home
        assert list(transfer._native) == [piece]
        box.put((piece, batches[1]), Outcome(moved=8, size=8, etag="etag"))
        list(transfer._await())
        assert not transfer._native
        assert piece.job.error is None


def test_thread_in_several_sessions_is_waken_by_who_hands_out_to_it() -> None:
    """Another leads in both, so no descriptor tells."""
    box, looked = ThreadBox(), threading.Event()
    reads = [os.pipe() for _ in range(2)]
    sessions: list[Any] = [SimpleNamespace(event_fd=read, glance=lambda _: looked.set()) for read, _ in reads]

    def hand_out() -> None:
        looked.wait()
        box.put("piece", None)

    thread = threading.Thread(target=hand_out)
    thread.start()
    for _ in range(2):  # the second time it is there already
        box.wait_in(sessions)
        assert box.arrived[0] == ("piece", None)
    thread.join()
    assert not box.polls
    for read, write in reads:
        os.close(read)
        os.close(write)


def test_thread_in_several_sessions_looks_where_there_is_no_descriptor_for_a_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(os, "eventfd", refuse)
    box, looks = ThreadBox(), []
    reads = [os.pipe() for _ in range(2)]

    def glance(_: object) -> None:
        looks.append(0)
        if len(looks) == 5:
            box.put("piece", None)

    sessions: list[Any] = [SimpleNamespace(event_fd=read, glance=glance) for read, _ in reads]
    box.wait_in(sessions)
    assert box.arrived[0] == ("piece", None)
    for read, write in reads:
        os.close(read)
        os.close(write)


class FakeSession:
    """With an owner. `opening`: what happens when one is opened."""

    made: list[FakeSession]
    opening: Any
    via = "loopback"
    is_owner = True
    credentials = KEYS

    def __init__(self, settings: Any, fabric: int, http: Any, *, owner: bool = False) -> None:
        assert owner
        self.endpoint = settings.endpoint
        self.handles: dict[Any, int] = {}
        self.released: list[int] = []
        self.is_closed = False
        self.registering: Any = lambda: None
        type(self).opening()
        type(self).made.append(self)

    def is_open(self) -> bool:
        return not self.is_closed

    def register(self, memory: Any, descriptor: int | None) -> int:
        self.registering()
        if descriptor is not None:
            os.fstat(descriptor)
        return 100 + len(self.handles)

    def release(self, buffer: int) -> None:
        self.released.append(buffer)

    def close(self) -> None:
        self.is_closed = True

    def closes_by(self, aside: Any) -> None:
        pass


class Directory:
    """What home answers; `asked`: how often."""

    def __init__(self) -> None:
        self.answer: Any = {"placement": PLACEMENT}
        self.asked = 0

    def ask(self, _: Any) -> Any:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def directory(monkeypatch: pytest.MonkeyPatch) -> Directory:
    made = Directory()
    FakeSession.made = []
    FakeSession.opening = staticmethod(lambda: None)
    monkeypatch.setattr(_owners, "_ask", made.ask)
    monkeypatch.setattr(_owners, "Session", FakeSession)
    return made


def owners_of(endpoint: str = URLS["g0"]) -> Owners:
    made = Owners(settle(endpoint, "loopback", "us-east-1", None, KEYS, None, 1.0, 1, 16 << 20))
    made.begin(_native.LOOPBACK)
    return made


def region_of(nbytes: int = 4096) -> _memory.Region:
    array, region = _memory.allocate(nbytes, shared=True)
    region.array = array  # type: ignore[attr-defined]
    return region


KEY_OF_G1 = next(key for key in map(str, range(100)) if owner_of("data", key, 0, 3) == 1)


def test_owners_are_those_of_the_published_rule() -> None:
    library = _native.library()
    names = [f"g{at}" for at in range(3)]
    hashes = (ctypes.c_uint64 * 3)(*(library.railhead_member(name.encode()) for name in names))
    for key in ("a/key", "Zürich/日本/\U0001F682", *map(str, range(50))):
        for index in range(4):
            assert library.railhead_owner(hashes, 3, b"data", key.encode(), index) == owner_of("data", key, index, 3)


def test_owner_knows_memory_before_it_is_asked(directory: Directory) -> None:
    owners, region = owners_of(), region_of()
    until(lambda: owners.session("data", KEY_OF_G1, 0, region))
    session: Any = owners.session("data", KEY_OF_G1, 0, region)
    assert session.endpoint == URLS["g1"]
    assert region.known(session) == 100
    assert owners.session("data", KEY_OF_G1, 0, region_of()) is None
    owners.close(wait=True)
    assert all(each.is_closed for each in FakeSession.made)


def test_nothing_waits_for_an_owner(directory: Directory) -> None:
    come, other, region = threading.Event(), region_of(), region_of()
    FakeSession.opening = staticmethod(come.wait)
    owners = owners_of()
    until(lambda: owners.are_known)
    assert all(owners.session("data", KEY_OF_G1, 0, other) is None for _ in range(100))
    come.set()
    until(lambda: owners.session("data", KEY_OF_G1, 0))
    session: Any = owners.session("data", KEY_OF_G1, 0)
    come.clear()
    session.registering = come.wait
    assert all(owners.session("data", KEY_OF_G1, 0, region) is None for _ in range(100))
    come.set()
    until(lambda: owners.session("data", KEY_OF_G1, 0, region))
    owners.close(wait=True)


@pytest.mark.parametrize("answer", [
    {}, [], {"placement": None}, {"placement": {**PLACEMENT, "rule": "3"}}, {"placement": {**PLACEMENT, "run": 0}},
    {"placement": {**PLACEMENT, "members": {"g0": URLS["g0"]}}}, {"placement": {**PLACEMENT, "members": {"g0": 1, "g1": 2}}},
    {"placement": {**PLACEMENT, "members": {"g0": URLS["g0"], "g1": "http://192.0.2.1:1", "g2": "no URL"}}},
    OSError("home is gone"), railhead.Unavailable("HTTP 503")])
def test_answer_that_names_no_owner_leaves_all_at_home(directory: Directory, answer: Any) -> None:
    directory.answer = answer
    owners = owners_of()
    until(lambda: directory.asked and not owners._look.busy.locked())
    assert not owners.are_known
    assert owners.session("data", KEY_OF_G1, 0, region_of()) is None
    assert not FakeSession.made
    assert str(owners) == ""


def test_gateway_that_lists_itself_by_http_is_not_asked_from_https(directory: Directory) -> None:
    owners = owners_of("https://127.0.0.1:9")
    until(lambda: directory.asked and not owners._look.busy.locked())
    assert not owners.are_known


def test_owner_that_cannot_be_reached_is_tried_later_and_home_is_asked_soon(directory: Directory) -> None:
    tries: list[float] = []

    def refuse() -> None:
        tries.append(0)
        raise railhead.Unavailable("nobody listens")

    FakeSession.opening = staticmethod(refuse)
    owners = owners_of()
    until(lambda: len(tries) == 2)
    until(lambda: not any(member.work.busy.locked() for member in owners._all()))
    for _ in range(100):
        assert owners.session("data", KEY_OF_G1, 0, region_of()) is None
    assert len(tries) == 2, "one of each owner"
    until(lambda: owners.are_known and directory.asked == 2)


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.EMFILE, "too many open files")])
def test_owner_that_this_process_has_no_room_for_is_tried_later(directory: Directory, error: Exception) -> None:
    tries: list[float] = []

    def refuse(*_: object) -> Any:
        tries.append(0)
        raise error

    region = region_of()
    if isinstance(error, OSError):
        region.twin = refuse  # type: ignore[method-assign]
    else:
        FakeSession.opening = staticmethod(refuse)
    owners = owners_of()
    until(lambda: owners.are_known)
    member = owners._members[URLS["g1"]]
    until(lambda: owners.session("data", KEY_OF_G1, 0, region) or member._failures)
    for _ in range(100):
        assert owners.session("data", KEY_OF_G1, 0, region) is None
    until(lambda: not any(member.work.busy.locked() for member in owners._all()))
    assert len(tries) <= 2, "one of each owner"
    assert member._failures == 1
    if isinstance(error, OSError):
        del region.twin
    FakeSession.opening = staticmethod(lambda: None)
    member._retry_at = 0.0
    until(lambda: owners.session("data", KEY_OF_G1, 0, region))


def test_owner_whose_session_ends_with_memory_it_is_told_of_is_tried_later(directory: Directory) -> None:
    owners, region = owners_of(), region_of()
    until(lambda: owners.session("data", KEY_OF_G1, 0))
    session: Any = owners.session("data", KEY_OF_G1, 0)

    def end() -> None:
        session.is_closed = True
        raise railhead.ConnectionLost("it went")

    session.registering = end
    assert owners.session("data", KEY_OF_G1, 0, region) is None
    member = owners._members[URLS["g1"]]
    until(lambda: member._failures == 1 and not member.work.busy.locked())
    for _ in range(100):
        assert owners.session("data", KEY_OF_G1, 0, region) is None
    until(lambda: not member.work.busy.locked())
    assert [each for each in FakeSession.made if each.endpoint == URLS["g1"]] == [session]
    member._retry_at = 0.0
    until(lambda: owners.session("data", KEY_OF_G1, 0, region))
    assert member._failures == 0


def test_session_that_was_replaced_is_told_of_released_memory_and_closed(directory: Directory) -> None:
    owners, regions = owners_of(), [region_of() for _ in range(2)]
    for region in regions:
        until(lambda region=region: owners.session("data", KEY_OF_G1, 0, region))  # type: ignore[misc]
    replaced: Any = owners.session("data", KEY_OF_G1, 0)
    replaced.is_closed = True  # as by the gateway; a call has something under way in it
    until(lambda: owners.session("data", KEY_OF_G1, 0))
    replaced.is_closed = False
    for released, region in enumerate(regions, 1):
        region.release()
        owners.give_back(region, wait=released == 2)
        until(lambda released=released: len(replaced.released) == released)  # type: ignore[misc]
    owners.close(wait=True)
    assert replaced.is_closed


def test_session_that_may_be_closed_meanwhile_is_not_looked_into(directory: Directory) -> None:
    owners = owners_of()
    until(lambda: len(owners.sessions()) == 2)
    until(lambda: not any(member.work.busy.locked() for member in owners._all()))
    looks: list[int] = []
    for each in FakeSession.made:
        each.is_open = lambda: not looks.append(0)  # type: ignore[method-assign, func-returns-value]
    assert str(owners) == "sessions with 2 of 2 other gateways"
    owners._look_at = 0.0
    owners.look_if_due()
    until(lambda: directory.asked == 2 and not owners._look.busy.locked())
    assert not looks


def test_session_with_a_member_that_is_gone_closes_with_its_last_call(directory: Directory) -> None:
    owners = owners_of()
    until(lambda: len(owners.sessions()) == 2)
    directory.answer = {"placement": {**PLACEMENT, "members": {name: URLS[name] for name in ("g0", "g2")}}}
    member = owners._members[URLS["g1"]]
    under_way: Any = owners.session("data", KEY_OF_G1, 0)
    owners._look_at = 0.0
    owners.look_if_due()
    until(lambda: member.session is None)
    assert not under_way.is_closed, "a call may be in it"
    assert under_way in owners.sessions(), "for who closes the client to cancel it"
    FakeSession.made.clear()
    del under_way
    gc.collect()
    assert [session.handles for session in owners.sessions()] == [{}]


def test_memory_that_is_released_while_an_owner_learns_of_it_is_given_back(directory: Directory) -> None:
    owners, region = owners_of(), region_of()
    until(lambda: owners.session("data", KEY_OF_G1, 0))
    session: Any = owners.session("data", KEY_OF_G1, 0)
    begun, come = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        come.wait()

    session.registering = slow
    owners.session("data", KEY_OF_G1, 0, region)
    begun.wait()
    region.release()  # its descriptor is another's from now on
    owners.give_back(region, wait=False)
    assert session.released == []
    come.set()
    until(lambda: session.released == [100])
    assert region not in session.handles


def test_who_gives_memory_back_waits_for_owners(directory: Directory) -> None:
    owners, region = owners_of(), region_of()
    until(lambda: owners.session("data", KEY_OF_G1, 0, region))
    session: Any = owners.session("data", KEY_OF_G1, 0, region)
    region.release()
    owners.give_back(region, wait=True)
    assert session.released == [100]


def test_memory_that_an_owner_refuses_goes_home(directory: Directory) -> None:
    owners, region = owners_of(), region_of()
    until(lambda: owners.session("data", KEY_OF_G1, 0))
    session: Any = owners.session("data", KEY_OF_G1, 0)
    tries = []

    def refuse() -> None:
        tries.append(0)
        raise railhead.Unavailable("no more buffers")

    session.registering = refuse
    owners.session("data", KEY_OF_G1, 0, region)
    until(lambda: region in session.handles)
    assert owners.session("data", KEY_OF_G1, 0, region) is None
    assert len(tries) == 1


def test_collector_of_garbage_waits_for_nobody(directory: Directory) -> None:
    come = threading.Event()
    FakeSession.opening = staticmethod(come.wait)
    owners = owners_of()
    until(lambda: any(member.work.busy.locked() for member in owners._all()))
    owners.close(wait=False)
    come.set()
    until(lambda: FakeSession.made and all(each.is_closed for each in FakeSession.made))


def test_client_that_is_closed_opens_nothing(directory: Directory) -> None:
    owners = owners_of()
    until(lambda: len(owners.sessions()) == 2)
    owners.close(wait=True)
    owners.begin(_native.LOOPBACK)
    assert owners.session("data", KEY_OF_G1, 0, region_of()) is None
    assert directory.asked == 1


def test_client_that_is_forgotten_is_not_kept(tmp_path: Path) -> None:
    client = railhead.Client(URLS["g0"], fabric="loopback", credentials=KEYS, region="us-east-1")
    gone = client._closing
    del client
    gc.collect()
    assert not gone.alive
