"""A namespace of blocks, over plain S3 and over a gateway's channel."""

from __future__ import annotations

import ctypes
import select
import threading
from collections.abc import Iterator, Sequence

import pytest
from conftest import Rack, ScriptedStore, content
from dict_store import DictStore

import railhead
from railhead import _memory, _native
from railhead._jobs import Get, Put
from railhead._session import Box
from railhead._transfer import Transfer
from railhead._windows import WindowsPut, around
from railhead.kv import KV, Queue, Reason, Removed, Written


@pytest.fixture
def store(scripted: ScriptedStore) -> DictStore:
    scripted.script = DictStore()
    return scripted.script


@pytest.fixture
def blocks(scripted: ScriptedStore, store: DictStore) -> Iterator[KV]:
    with scripted.client() as client, client.kv("s3://kv-a/p/") as made:
        yield made


def keys(count: int, first: int = 0) -> list[str]:
    return [content(32, first + at).hex() for at in range(count)]


def test_blocks_are_stored_found_read_and_deleted(blocks: KV, store: DictStore) -> None:
    names, wanted = keys(5), [content(1000 + at, at) for at in range(5)]
    assert blocks.exists(names) == [False] * 5
    assert blocks.prefix(names) == 0
    assert blocks.put_from(names[:4], wanted[:4]) == [Written.STORED] * 4
    assert set(store.objects) == {f"/kv-a/p/{name}" for name in names[:4]}
    assert blocks.exists([names[4], *names[:4]]) == [False, True, True, True, True]
    assert blocks.prefix(names) == 4
    into = [bytearray(len(each)) for each in wanted]
    assert blocks.get_into(names, into) == [True] * 4 + [False]
    assert into[:4] == [bytearray(each) for each in wanted[:4]]
    assert blocks.delete(names[:1]) == [True]
    assert blocks.prefix(names) == 0
    assert blocks.clear() == 3
    assert store.objects == {}
    assert blocks.stats()[:6] == (4, 1, 4, 0, 0, 4)
    assert blocks.stats().errors == {}


def test_a_block_that_is_held_moves_nothing(blocks: KV, store: DictStore) -> None:
    assert blocks.put_from(["k"], [b"first"]) == [Written.STORED]
    assert blocks.put_from(["k", "l"], [b"other", b"new"]) == [Written.EXISTS, Written.STORED]
    assert store.objects["/kv-a/p/k"] == b"first"


def test_a_block_of_another_size_is_a_miss(blocks: KV) -> None:
    blocks.put_from(["k"], [b"12345"])
    assert blocks.get_into(["k"], [bytearray(4)]) == [False]
    assert blocks.get_into(["k"], [bytearray(6)]) == [False]
    assert blocks.get_into(["k"], [bytearray(5)]) == [True]


def test_a_window_may_have_several_pieces(blocks: KV) -> None:
    memory = bytearray(content(100))
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert blocks.put_from(["k"], [[(address + 50, 10), (address, 20)]]) == [Written.STORED]
    into = bytearray(30)
    assert blocks.get_into(["k"], [into]) == [True]
    assert into == memory[50:60] + memory[:20]
    first, second = bytearray(10), bytearray(20)
    assert blocks.get_into(["k"], [[first, second]]) == [True]
    assert first + second == into
    assert blocks.get_into(["k"], [[first, bytearray(19)]]) == [False]


def test_s3_counts_a_use_and_gives_no_lease(blocks: KV) -> None:
    blocks.put_from(["k"], [b"x"])
    assert blocks.touch(["k", "none"]) == [True, False]
    assert blocks.lease(["k"], 1) == [False]
    assert blocks.stats().errors == {"NotServed": 1}
    with pytest.raises(railhead.NotServed):
        blocks.usage()
    with pytest.raises(railhead.NotServed):
        blocks.removals(1)
    with pytest.raises(ValueError, match="seconds"):
        blocks.removals(0)
    assert blocks.exists(["k"]) == [True]
    for seconds in (0, -1, 601):
        with pytest.raises(ValueError, match="seconds"):
            blocks.lease(["k"], seconds)


def test_a_key_of_bytes_is_its_digits(blocks: KV) -> None:
    assert blocks.put_from([b"\x00\xff"], [b"x"]) == [Written.STORED]
    assert blocks.exists(["00ff", b"\x00\xff", b"\x00"]) == [True, True, False]


def test_nothing_is_asked_for_no_keys(blocks: KV, scripted: ScriptedStore) -> None:
    assert (blocks.exists([]), blocks.prefix([]), blocks.get_into([], []), blocks.put_from([], []), blocks.delete([])) == (
        [], 0, [], [], [])
    assert scripted.asked == []


def test_an_error_is_a_miss_that_is_counted(scripted: ScriptedStore, store: DictStore,
                                            caplog: pytest.LogCaptureFixture) -> None:
    with scripted.client() as client, client.kv("s3://kv-a/") as blocks:
        blocks.put_from(["k"], [b"x"])
        store.broken = True
        assert blocks.exists(["k"]) == [False]
        assert blocks.prefix(["k"]) == 0
        assert blocks.get_into(["k"], [bytearray(1)]) == [False]
        assert blocks.put_from(["l"], [b"y"]) == [Written.REFUSED]
        stats = blocks.stats()
        assert stats.errors == {"AccessDenied": 4}
        assert "403" in stats.last_error or "AccessDenied" in stats.last_error
        assert stats.refused == 1
        assert "taken for a miss" in caplog.text
        with pytest.raises(railhead.AccessDenied):
            blocks.delete(["k"])


def test_memory_that_is_held_is_no_miss(blocks: KV, monkeypatch: pytest.MonkeyPatch) -> None:
    held = railhead.MemoryHeld("held")
    memory = bytearray(10)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    pieces = [(address, 3), (address + 4, 3)]
    with monkeypatch.context() as patch:
        # The first piece is missing, and the second one's memory is held.
        patch.setattr(blocks._client, "get_many", lambda *_, **__: [railhead.NotFound(), held])
        with pytest.raises(railhead.MemoryHeld):
            blocks.get_into(["k"], [pieces])
    monkeypatch.setattr(blocks, "_span", around)
    monkeypatch.setattr(blocks, "_transfer", lambda jobs: [job.fail(held) for job in jobs])
    with pytest.raises(railhead.MemoryHeld):
        blocks.get_into(["k"], [pieces])
    with pytest.raises(railhead.MemoryHeld):
        blocks.put_from(["k"], [pieces])
    assert blocks.stats().errors == {}


def test_memory_that_is_held_outweighs_other_errors(blocks: KV) -> None:
    transfer = Transfer(blocks._client._paths, Box())
    job = Get("s3://kv-a/k", _memory.view(bytearray(1), writable=True))
    job.fail(railhead.StoreError("before"))
    transfer._hold(job.first(1)[0])
    assert isinstance(job.error, railhead.MemoryHeld)
    steps = transfer.run([])
    next(steps)
    with pytest.raises(railhead.MemoryHeld):  # and no error of the client's
        steps.throw(railhead.ConnectionLost())


def test_pieces_that_are_not_served_at_last_are_copied(blocks: KV, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = bytearray(b"abcdef")
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    answers = iter([railhead.StoreError(code="SlowDown"), railhead.NotServed()])
    transfer = blocks._transfer

    def scripted(jobs: Sequence[Put]) -> None:
        if all(isinstance(job, WindowsPut) for job in jobs):
            answer = next(answers)
            for job in jobs:
                job.fail(answer)
        else:
            transfer(jobs)

    monkeypatch.setattr(blocks, "_span", around)
    monkeypatch.setattr(blocks, "_transfer", scripted)
    assert blocks.put_from(["k"], [[(address + 4, 2), (address, 2)]]) == [Written.STORED]
    monkeypatch.undo()
    into = bytearray(4)
    assert blocks.get_into(["k"], [into]) == [True]
    assert into == b"efab"


def test_mistakes_are_raised(blocks: KV) -> None:
    with pytest.raises(ValueError, match="empty"):
        blocks.exists(["k", ""])
    with pytest.raises(ValueError, match=r"shorter|longer"):
        blocks.get_into(["k"], [])
    with pytest.raises(ValueError, match="BUCKET"):
        blocks._client.kv("kv-a/p")


def test_results_wait_behind_a_descriptor(blocks: KV) -> None:
    poller = select.poll()
    poller.register(blocks.event_fd(), select.POLLIN)
    assert poller.poll(0) == []
    wanted: dict[int, object] = {blocks.submit_put(["k"], [b"abc"]): [Written.STORED]}
    done = dict(drained(blocks, poller, 1))
    assert done == wanted
    into = bytearray(3)
    wanted = {blocks.submit_exists(["k", "l"]): [True, False], blocks.submit_prefix(["k", "l"]): 1,
              blocks.submit_get(["k"], [into]): [True]}
    assert dict(drained(blocks, poller, 3)) == wanted
    assert into == b"abc"
    assert drained(blocks, poller, 0) == []
    failed = blocks.submit_exists([""])
    [(number, error)] = drained(blocks, poller, 1)
    assert number == failed
    assert isinstance(error, ValueError)


def drained(blocks: KV, poller: select.poll, count: int) -> list[tuple[int, object]]:
    done: list[tuple[int, object]] = []
    while len(done) < count:
        assert poller.poll(20_000)
        done += blocks.drain()
    assert poller.poll(0) == []
    return done


def test_what_waits_its_turn_is_dropped_by_the_close() -> None:
    queue, go, ran = Queue(threads=1), threading.Event(), []
    queue.submit(lambda: go.wait(20))
    queue.submit(lambda: ran.append(1))
    closer = threading.Thread(target=queue.close)
    closer.start()
    while not queue._threads._shutdown:
        pass
    go.set()
    closer.join(20)
    assert not closer.is_alive()
    assert ran == []
    queue.close()


# ---- Over the channel ----


def test_hundreds_of_blocks_go_over_the_channel(kv_rack: Rack) -> None:
    names = [f"llama@{name}" for name in keys(512)]
    with kv_rack.client(fabric="loopback") as client, client.kv("s3://kv-a/many/") as blocks:
        source, into = client.empty(512 << 12), client.empty(512 << 12)
        memoryview(source)[:] = content(512 << 12)  # type: ignore[arg-type]
        at = [slice(i << 12, (i + 1) << 12) for i in range(512)]
        assert blocks.exists(names) == [False] * 512
        assert blocks.put_from(names, [source[each] for each in at]) == [Written.STORED] * 512
        assert blocks.put_from(names[:3], [source[each] for each in at[:3]]) == [Written.EXISTS] * 3
        assert blocks.exists([*names, "llama@none"]) == [True] * 512 + [False]
        assert blocks.prefix([*names[:300], "none", *names[300:]]) == 300
        assert blocks.get_into(names, [into[each] for each in at]) == [True] * 512
        assert bytes(into) == bytes(source)
        assert blocks.delete(names[:2]) == [True, True]
        assert blocks.clear() == 510
        assert blocks.exists(names) == [False] * 512
        assert blocks.stats().errors == {}
        assert client.report().bytes_by_path["loopback"] >= 2 * (512 << 12)


def test_several_pieces_of_memory_go_by_one_request(kv_rack: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    arena = bytearray(content(4 << 20))
    address = ctypes.addressof(ctypes.c_char.from_buffer(arena))
    half = 2 << 20

    def pieces(at: int) -> list[tuple[int, int]]:
        return [(address + at + (1 << 20), 300_000), (address + at, 1000), (address + at + 5000, 500_000)]

    with kv_rack.client(fabric="loopback") as client, client.kv("s3://kv-a/pieces/") as blocks:
        blocks.register(address, len(arena))
        with monkeypatch.context() as patch:
            patch.setattr(client, "get_many", None)
            patch.setattr("railhead.kv._joined", None)
            assert blocks.put_from(["k", "l"], [pieces(0), pieces(0)]) == [Written.STORED] * 2
            assert blocks.put_from(["k"], [pieces(0)]) == [Written.EXISTS]
            assert blocks.get_into(["k", "none"], [pieces(half), pieces(half + 6000)]) == [True, False]
            assert blocks.get_into(["k"], [pieces(half)[:2]]) == [False]
            assert blocks.get_into(["k"], [[*pieces(half), (address + half + 4000, 1)]]) == [False]
            assert blocks.get_into(["l"], [pieces(half)]) == [True]
        for (at, nbytes) in pieces(0):
            start = at - address
            assert arena[start:start + nbytes] == arena[half + start:half + start + nbytes]
        other = bytearray(501_000)
        assert blocks.get_into(["k"], [[(address + half, 300_000), other]]) == [True]
        assert blocks.stats().errors == {}
        assert blocks.stats()[:4] == (3, 3, 2, 1)


def test_a_gateway_of_before_has_the_pieces_one_by_one(kv_rack: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("railhead._windows._list", unsupported)
    with kv_rack.client(fabric="loopback") as client, client.kv("s3://kv-a/before/") as blocks:
        memory = client.empty(1 << 20)
        memoryview(memory)[:] = content(1 << 20)  # type: ignore[arg-type]
        assert blocks.put_from(["k"], [[memory[5000:6000], memory[:2000]]]) == [Written.STORED]
        assert blocks.get_into(["k"], [[memory[10_000:11_500], memory[20_000:21_500]]]) == [True]
        assert bytes(memory[10_000:11_500]) + bytes(memory[20_000:21_500]) == bytes(memory[5000:6000]) + bytes(memory[:2000])
        assert blocks.stats().errors == {}


def unsupported(views: object, piece: object, request: _native.Request) -> None:
    """A code that the library knows and the gateway does not say to know is done at once."""
    request.operation = _native.USAGE
    request.buffer, request.offset, request.window, request.headers = None, 0, 0, None
    request.bucket = b"data"


def test_leased_blocks_stay_while_others_go(kv_rack: Rack) -> None:
    with kv_rack.client(fabric="loopback") as client, client.kv("s3://kv-a/leased/") as blocks:
        memory = client.empty(8 << 20)
        assert blocks.put_from(["leased", "used", "unused"], [memory[:1000]] * 3) == [Written.STORED] * 3
        assert blocks.lease(["leased", "none"], 600) == [True, False]
        usage = blocks.usage()
        assert usage[:3] == (3, 3 * 4096, 4096)
        assert usage.limit_bytes >= 64 << 20
        for at in range(40):
            assert blocks.touch(["used", "none"]) == [True, False]
            assert blocks.put_from([f"large{at}"], [memory]) == [Written.STORED]
        assert blocks.exists(["leased", "used", "unused", "large0", "large39"]) == [True, True, False, False, True]
        assert blocks.clear() > 2
        assert blocks.stats().errors == {}


def test_removals_are_told(kv_rack: Rack) -> None:
    with (kv_rack.client(fabric="loopback") as client, client.kv("s3://kv-a/told/") as blocks,
          client.kv("s3://kv-a/") as others):
        assert blocks.put_from(["a b", "k"], [b"block", b"other"]) == [Written.STORED] * 2
        assert others.put_from(["untold"], [b"block"]) == [Written.STORED]
        assert blocks.removals() == ([], True)
        assert blocks.removals(0.001) == ([], False)
        assert blocks.delete(["a b"]) == [True]
        assert others.delete(["untold"]) == [True]
        assert blocks.removals() == ([Removed("a b", Reason.DELETED)], False)
        number = blocks.submit_removals(60)
        assert blocks.delete(["k"]) == [True]
        assert select.select([blocks.event_fd()], [], [], 60)[0]
        assert blocks.drain() == [(number, ([Removed("k", Reason.DELETED)], False))]


def test_memory_by_its_address_is_reached_directly(kv_rack: Rack) -> None:
    arena = bytearray(content(1 << 20))
    address = ctypes.addressof(ctypes.c_char.from_buffer(arena))
    with kv_rack.client(fabric="loopback") as client, client.kv("s3://kv-a/arena/") as blocks:
        blocks.register(address, len(arena))
        assert blocks.put_from(["k"], [(address, 1 << 19)]) == [Written.STORED]
        assert blocks.get_into(["k"], [(address + (1 << 19), 1 << 19)]) == [True]
        assert arena[:1 << 19] == arena[1 << 19:]
        assert client.report().memory.startswith("as it is registered")


def test_more_than_a_gateway_takes_at_once_is_stored_in_turns(kv_rack: Rack) -> None:
    with kv_rack.client(fabric="loopback") as client, client.kv("s3://kv-a/large/") as blocks:
        arena = client.empty(8 * (12 << 20))
        windows = [arena[at * (12 << 20):(at + 1) * (12 << 20)] for at in range(8)]
        assert blocks.put_from([f"k{at}" for at in range(8)], windows) == [Written.STORED] * 8
        assert blocks.clear() == 8


def test_a_bucket_of_a_store_has_no_blocks(kv_rack: Rack) -> None:
    with kv_rack.client(fabric="loopback") as client, client.kv("s3://data/p/") as blocks:
        assert blocks.exists(["k"]) == [False]
        assert blocks.stats().errors == {"NotServed": 1}
        assert "unsupported" in blocks.stats().last_error


def test_a_gateway_that_is_killed_costs_misses_alone(kv_rack: Rack) -> None:
    with kv_rack.client(fabric="loopback", deadline=5) as client, client.kv("s3://kv-a/killed/") as blocks:
        assert blocks.put_from(["k"], [b"x"]) == [Written.STORED]
        kv_rack.gateway.kill()
        kv_rack.gateway.wait()
        assert blocks.exists(["k"]) == [False]
        assert blocks.get_into(["k"], [bytearray(1)]) == [False]
        assert blocks.put_from(["l"], [b"y"]) == [Written.REFUSED]
        assert sum(blocks.stats().errors.values()) == 3
        kv_rack.start_gateway_again()
        assert blocks.exists(["k"]) == [False]
        assert blocks.put_from(["k"], [b"x"]) == [Written.STORED]
