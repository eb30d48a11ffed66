"""Sessions of a library that does what it is told."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import itertools
import os
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from conftest import KEYS
from gateways import until

from railhead import _memory, _native
from railhead._http import Opener
from railhead._owners import _close_aside, _Work
from railhead._paths import Paths
from railhead._session import Batch, Box, LoopBox, Session, Stale
from railhead._settings import settle

HANDLE = 7


class Library:
    """`asked`: the names of the functions that were called."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.interrupts = False

    def __getattr__(self, name: str) -> Callable[..., int]:
        def answer(*_: object) -> int:
            self.asked.append(name)
            return _native.OK

        return answer

    def railhead_connect(self, _options: object, handle: Any) -> int:
        handle._obj.value = HANDLE
        if self.interrupts:
            raise KeyboardInterrupt
        return _native.OK

    def railhead_close(self, handle: ctypes.c_void_p) -> int:
        assert handle.value == HANDLE
        self.asked.append("railhead_close")
        return _native.OK


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library()
    monkeypatch.setattr(_native, "library", lambda: made)
    return made


def connect() -> Session:
    settings = settle("http://127.0.0.1:1", "loopback", "us-east-1", None, KEYS, None, 1.0, 1, 16 << 20)
    return Session(settings, _native.LOOPBACK, Opener(settings))


def test_interrupt_as_it_is_connected_closes_it(library: Library) -> None:
    library.interrupts = True
    with pytest.raises(KeyboardInterrupt):
        connect()
    gc.collect()
    assert library.asked.count("railhead_close") == 1


def test_session_with_an_owner_is_closed_by_the_member_s_thread_alone(library: Library,
                                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    closers: list[int] = []
    monkeypatch.setattr(library, "railhead_close", lambda _: closers.append(threading.get_ident()))
    work = _Work(lambda: None)
    for drop in (lambda _: None, lambda session: session.close()):
        session = connect()
        session.closes_by(partial(_close_aside, weakref.ref(work)))
        drop(session)
        del session
    work.aside(lambda: None, wait=True)
    assert len(closers) == 2
    assert threading.get_ident() not in closers
    session = connect()
    session.closes_by(partial(_close_aside, weakref.ref(work)))
    work.aside(session.close, wait=True)
    assert len(closers) == 3, "by that thread itself, at once"
    session = connect()
    session.closes_by(partial(_close_aside, weakref.ref(work)))
    del work, session
    until(lambda: len(closers) == 4)


class Loop:
    """One that takes no descriptor at first."""

    def __init__(self) -> None:
        self.readers: list[int] = []
        self.refuses = True

    def add_reader(self, descriptor: int, _: object) -> None:
        if self.refuses:
            raise OSError
        self.readers.append(descriptor)


def test_loop_that_does_not_take_the_descriptor_does_not_watch(library: Library) -> None:
    session, loop = connect(), Loop()
    with pytest.raises(OSError):  # noqa: PT011
        session.watch(loop)  # type: ignore[arg-type]
    loop.refuses = False
    for _ in range(2):
        session.watch(loop)  # type: ignore[arg-type]
    assert len(loop.readers) == 1


class Kept(Batch):
    """Two requests; `users`: those that have come, each time."""

    def __init__(self, box: Box, session: Session) -> None:
        super().__init__(box, session, 2)
        self.left.update({0, 1})
        self.users: list[int] = []

    def came(self, completions: Any, users: list[int]) -> bool:
        self.users += users
        self.left.difference_update(user - self.first_user for user in users)
        self.box.arrived.append((None, None))
        return True


def collected(session: Session, batch: Kept) -> None:
    """As the library leaves them."""
    for at in range(2):
        session._array[at].user = batch.first_user + at


def test_completions_whose_texts_are_given_back_are_not_handed_out_again(library: Library) -> None:
    session = connect()
    batch = Kept(Box(), session)
    session._pending[batch.number] = batch
    collected(session, batch)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    library.railhead_completions_free = interrupted  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        session._hand_out(None, 64)
    session._pending[batch.number] = batch
    session._hand_out(None, 64)
    assert len(batch.users) == 2
    del library.railhead_completions_free
    session._collect(0)
    assert not any(session._users.tolist())


def test_what_was_not_handed_out_is_a_loop_s_to_hand_out(library: Library) -> None:
    session = connect()
    read, write = os.pipe()
    session.event_fd = read

    async def wait() -> list[int]:
        box = LoopBox()
        batch = Kept(box, session)
        session._pending[batch.number] = batch
        session.watch(box.loop)
        collected(session, batch)
        await asyncio.to_thread(session._ring)
        await asyncio.wait_for(box.wait(), 10)
        session.unwatch(box.loop)
        return batch.users

    try:
        assert len(asyncio.run(wait())) == 2
    finally:
        os.close(read)
        os.close(write)


def test_memory_that_is_busy_is_given_back_with_the_next(library: Library) -> None:
    session = connect()
    session._registered.update({1: _memory.View(0, 1, None), 2: _memory.View(0, 1, None)})
    answers = {1: [_native.BUSY, _native.OK], 2: [_native.OK]}
    library.railhead_release = lambda buffer: answers[buffer].pop(0)  # type: ignore[attr-defined]
    session.release(1)
    assert set(session._registered) == {1, 2}
    session.release(2)
    assert not session._registered
    assert session.releases == 2


def test_requests_whose_memory_may_have_been_given_back_are_not_submitted(library: Library) -> None:
    session = connect()
    batch = Batch(Box(), session, 1)
    session._registered[1] = _memory.View(0, 1, None)
    session.release(1)
    with pytest.raises(Stale):
        session.submit(batch, 0, 1)
    assert not session._pending
    assert not batch.left
    assert "railhead_submit" not in library.asked


def test_numbers_of_batches_do_not_end(library: Library) -> None:
    session = connect()
    session._numbers = itertools.count(1 << 43)
    batch = Batch(Box(), session, 1)
    batch.requests[0].user = batch.first_user
    assert batch.requests[0].user == batch.first_user


def test_descriptor_of_memory_that_was_refused_is_closed(library: Library) -> None:
    paths = Paths(settle("http://127.0.0.1:1", "loopback", "us-east-1", None, KEYS, None, 1.0, 1, 16 << 20))
    array, region = _memory.allocate(4096, shared=True)
    descriptor = region._descriptor
    assert descriptor is not None
    paths.add(region)
    paths._regions = paths._regions.without(region)  # as after a refusal
    paths.remove(region)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    del array


def test_requests_that_an_interrupt_kept_from_the_library_are_not_waited_for(library: Library) -> None:
    session = connect()
    batch = Batch(Box(), session, 2)
    session._pending[batch.number] = batch
    batch.left.update({0, 1})
    batch.ids[1] = 5
    session.cancel(batch.box)
    assert batch.left == {1}
    batch.ids[1] = 0
    session.cancel(batch.box)
    assert not batch.left
    assert not session._pending
