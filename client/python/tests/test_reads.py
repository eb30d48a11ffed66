"""A read in pieces, played against a store that is a list of versions: in any order, while the object changes."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator

import pytest
from conftest import KEYS

import railhead
from railhead import _calls, _memory, _transfer
from railhead._jobs import Get, Piece
from railhead._owners import Owners
from railhead._session import Box, Outcome
from railhead._transfer import _AT_ONCE

PART = 100


class Store:
    """One object. What is asked of it is counted; `before` is called ahead of each answer."""

    def __init__(self, data: bytes, before: Callable[[Store], None] | None = None) -> None:
        self.data = data
        self.version = 1
        self.asked: list[int] = []
        self.before = before

    def put(self, data: bytes) -> None:
        self.data, self.version = data, self.version + 1

    def answer(self, piece: Piece, if_match: str) -> Outcome | railhead.RailheadError:
        self.asked.append(piece.first)
        if self.before is not None:
            self.before(self)
        if if_match not in ("", f'"{self.version}"'):
            return railhead.PreconditionFailed("another", status=412)
        if piece.first >= len(self.data) and piece.first:
            return railhead.RangeNotSatisfiable("behind the end", status=416)
        part = self.data[piece.first:piece.first + piece.view.nbytes]
        ctypes.memmove(piece.view.address, part, len(part))
        return Outcome(moved=len(part), size=len(self.data), etag=f'"{self.version}"')


def play(job: Get, store: Store, dice: random.Random, at_once: int = _AT_ONCE) -> None:
    """Answers come in any order; what is asked names the version as it was known then."""
    under_way: list[tuple[Piece, str]] = []

    def ask(pieces: list[Piece]) -> None:
        under_way.extend((piece, job.outcome.etag if job.outcome else "") for piece in pieces)

    ask(job.first(at_once))
    while under_way and not job.error:
        piece, if_match = under_way.pop(dice.randrange(len(under_way)))
        answer = store.answer(piece, if_match)
        ask(job.came(piece, answer) if isinstance(answer, Outcome) else list(job.refused(piece, answer)))


def read_of(nbytes: int, start: int = 0, version: Outcome | None = None) -> tuple[Get, bytearray]:
    buffer = bytearray(nbytes)
    return Get("s3://a/b", _memory.view(buffer, writable=True), start, piece_bytes=PART, version=version), buffer


@pytest.mark.parametrize("size", [0, 1, PART - 1, PART, PART + 1, 8 * PART - 1, 8 * PART, 8 * PART + 1, 20 * PART + 3])
@pytest.mark.parametrize("room", [1, PART, PART + 1, 8 * PART, 20 * PART, 30 * PART])
@pytest.mark.parametrize("start", [0, 1, PART])
def test_as_much_as_there_is(size: int, room: int, start: int) -> None:
    dice = random.Random(size + room + start)
    store = Store(dice.randbytes(size))
    job, buffer = read_of(room, start)
    play(job, store, dice)
    if start and start >= size:
        assert isinstance(job.error, railhead.RangeNotSatisfiable)
        return
    expected = store.data[start:start + room]
    assert job.error is None
    assert (job.moved, bytes(buffer[:len(expected)])) == (len(expected), expected)
    assert job.outcome is not None
    assert job.outcome.size == size
    assert len(store.asked) == len(set(store.asked)), "nothing is asked for twice"


def test_pieces_go_together_before_anything_is_known() -> None:
    job, _ = read_of(30 * PART)
    first = job.first(_AT_ONCE)
    assert [piece.first for piece in first] == [PART * i for i in range(8)]
    rest = job.came(first[3], Outcome(moved=PART, size=20 * PART, etag='"1"'))
    assert [piece.first for piece in rest] == [PART * i for i in range(8, 20)]


def test_pieces_end_where_runs_do() -> None:
    job, _ = read_of(3 * PART, start=PART // 2)
    pieces = job.first(_AT_ONCE)
    assert [(piece.first, piece.view.nbytes) for piece in pieces] == [
        (PART // 2, PART // 2), (PART, PART), (2 * PART, PART), (3 * PART, PART // 2)]
    assert len(read_of(30 * PART, start=PART // 2)[0].first(_AT_ONCE)) == _AT_ONCE
    assert len(read_of(PART, start=PART // 2)[0].first(_AT_ONCE)) == 1, "as one request where one will do"


def test_piece_that_goes_alone_is_not_cut_where_a_run_ends() -> None:
    """Over HTTP, the next is not asked for before it has come."""
    job, _ = read_of(3 * PART, start=PART // 2)
    piece, = job.first(1)
    assert (piece.first, piece.view.nbytes) == (PART // 2, PART)
    rest = job.came(piece, Outcome(moved=PART, size=20 * PART, etag='"1"'))
    assert [(piece.first, piece.view.nbytes) for piece in rest] == [
        (PART // 2 + PART, PART // 2), (2 * PART, PART), (3 * PART, PART // 2)]
    assert [piece.view.nbytes for piece in read_of(PART - 1, start=PART // 2)[0].first(1)] == [PART - 1]


@pytest.mark.parametrize("start", [0, 1, PART - 1])
def test_as_much_as_there_is_one_piece_first(start: int) -> None:
    store = Store(random.Random(start).randbytes(5 * PART + 3))
    job, buffer = read_of(6 * PART, start)
    play(job, store, random.Random(start), at_once=1)
    assert bytes(buffer[:job.moved]) == store.data[start:]


def test_one_version_whatever_happens() -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    outcomes = {_play_with_changes(dice) for _ in range(3000)}
    assert outcomes == {(None, False), (None, True), (railhead.PreconditionFailed, True)}


def _play_with_changes(dice: random.Random) -> tuple[type | None, bool]:
    """The kind of its error, and whether the object changed."""
    change = dice.choice([0.0, 0.02, 0.1, 0.5])
    versions = [dice.randbytes(dice.randrange(15 * PART))]

    def before(store: Store) -> None:
        if dice.random() < change:
            versions.append(dice.randbytes(dice.choice([len(versions[-1]), dice.randrange(15 * PART)])))
            store.put(versions[-1])

    job, buffer = read_of(dice.randrange(1, 20 * PART))
    play(job, Store(versions[0], before), dice, dice.choice([1, _AT_ONCE]))
    if job.error is not None:
        return type(job.error), len(versions) > 1
    assert job.outcome is not None
    data = versions[int(job.outcome.etag.strip('"')) - 1]
    assert (job.moved, job.outcome.size) == (min(len(buffer), len(data)), len(data))
    assert buffer[:job.moved] == data[:job.moved]
    return None, len(versions) > 1


@pytest.mark.parametrize("after", range(2, 11))
def test_change_between_pieces_is_read_again(after: int) -> None:
    dice = random.Random(after)
    newer = dice.randbytes(6 * PART)

    def before(store: Store) -> None:
        if len(store.asked) == after:
            store.put(newer)

    store = Store(dice.randbytes(10 * PART), before)
    job, buffer = read_of(10 * PART)
    play(job, store, dice)
    assert job.error is None
    assert (job.moved, bytes(buffer[:6 * PART])) == (6 * PART, newer)


def test_object_that_grows_between_pieces_is_read_again() -> None:
    """A piece that lay behind the end is missing: the answers agree on nothing that says so but the size."""
    dice = random.Random(2)
    longer = dice.randbytes(3 * PART)
    store = Store(b"")
    job, _ = read_of(3 * PART)
    first, second, third = job.first(_AT_ONCE)
    for piece in (second, third):
        assert not list(job.refused(piece, railhead.RangeNotSatisfiable("behind the end")))
    store.put(longer)
    answer = store.answer(first, "")
    assert isinstance(answer, Outcome)
    (again,) = job.came(first, answer)
    assert (again.first, job.moved, job.outcome) == (0, 0, None)
    assert not job.at_owners, "which need not know the same version yet"
    assert job.error is None


def test_object_that_does_not_come_to_rest() -> None:
    dice = random.Random(3)
    store = Store(dice.randbytes(9 * PART), lambda store: store.put(dice.randbytes(9 * PART)))
    job, _ = read_of(9 * PART)
    play(job, store, dice)
    assert isinstance(job.error, railhead.PreconditionFailed)
    assert len(store.asked) <= 3 * 9


def test_version_that_the_caller_names_is_not_read_again() -> None:
    dice = random.Random(4)
    store = Store(dice.randbytes(3 * PART))
    job, _ = read_of(3 * PART, version=Outcome(size=3 * PART, etag='"0"'))
    play(job, store, dice)
    assert isinstance(job.error, railhead.PreconditionFailed)
    assert len(store.asked) == 1


@pytest.mark.parametrize("missing", [1, PART])
def test_truncated_answer(missing: int) -> None:
    job, _ = read_of(3 * PART)
    first, *_ = job.first(_AT_ONCE)
    job.came(first, Outcome(moved=PART - missing, size=3 * PART, etag='"1"'))
    assert isinstance(job.error, railhead.StoreError)


def test_more_bytes_than_there_is_room_for_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []
    monkeypatch.setattr(_transfer, "copy", lambda _to, _source, nbytes: copied.append(nbytes))
    for moved in (16, 1 << 30):
        job, _ = read_of(16)
        piece, = job.first(1)
        with railhead.Client("http://127.0.0.1:1", credentials=KEYS) as client:
            piece.slot = client._paths.ring(None).acquire(16, Box())
            _transfer.Transfer(client._paths, Box())._deliver(piece, Outcome(moved=moved, size=1 << 30, etag='"1"'))
        assert isinstance(job.error, railhead.StoreError) == (moved > 16)
    assert copied == [16]


class AtOnce:
    """A transfer. Home has the object's second version; the owner of its beginning still has the first."""

    data = bytes(random.Random(5).randbytes(1 << 20))

    def __init__(self, *_: object, fail_fast: bool) -> None:
        self.home, self.owner = Store(b""), Store(self.data[::-1][:-7])
        self.home.put(self.data)

    def run(self, jobs: list[Get]) -> Iterator[None]:
        for job in jobs:
            pieces = list(job.first(_AT_ONCE))
            while pieces and not job.error:
                piece = pieces.pop(0)
                store = self.owner if job.at_owners and not piece.first else self.home
                answer = store.answer(piece, job.outcome.etag if job.outcome else "")
                pieces += job.came(piece, answer) if isinstance(answer, Outcome) else job.refused(piece, answer)
            if job.error:
                raise job.error
        yield from ()


def test_object_whose_beginning_an_owner_has_of_another_version_is_read_again_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_calls, "Transfer", AtOnce)
    with railhead.Client("http://127.0.0.1:1", credentials=KEYS, region="us-east-1", fabric="loopback") as client:
        wants = [_calls.Want("s3://a/b"), _calls.Want("s3://a/b", 100, 50)]
        monkeypatch.setattr(Owners, "are_known", True)
        assert client._get_ranges(wants) == [AtOnce.data, AtOnce.data[100:150]]
