"""An interrupt wherever Python looks for one: the call ends with it, and only when the gateway has let go."""

from __future__ import annotations

import dis
import itertools
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import pytest
from conftest import KEYS, Rack, content

import railhead
from railhead import _drive, _memory, _native, _session, _whole
from railhead._jobs import Get
from railhead._owners import _Work
from railhead._session import Box, Outcome, Stale, ThreadBox
from railhead._transfer import Transfer
from railhead._whole import Whole

MIB = 1 << 20
DATA = content(MIB, 5)
PATIENCE = 10


class Interrupt:
    """Once, at the place of that number in the code of these functions."""

    def __init__(self, number: int, functions: list[Any]) -> None:
        self.came_at = ""
        self._left = number
        self._codes: set[CodeType] = {function.__code__ for function in functions}
        self._before: dict[FrameType, int] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code not in self._codes:
            return None
        frame.f_trace_opcodes = True
        if event == "exception":
            self._before.pop(frame, None)  # a call that raises is not followed by a look
        if event == "opcode":
            before = self._before.get(frame, frame.f_lasti)
            self._before[frame] = frame.f_lasti
            if _looks(frame.f_code.co_code[before], frame.f_lasti - before):
                self._left -= 1
                if self._left < 0:
                    self.came_at = f"{frame.f_code.co_name}, line {frame.f_lineno}"
                    raise KeyboardInterrupt  # which ends the tracing
        return self

    def within(self, call: Callable[[], object]) -> None:
        sys.settrace(self)
        try:
            call()
        finally:
            sys.settrace(None)


def _looks(instruction: int, distance: int) -> bool:
    """Whether CPython looks for signals when it is done: it is a call, a function's beginning, or a jump back."""
    return dis.opname[instruction].startswith(("CALL", "RESUME")) or distance < 0


def is_free(client: railhead.Client) -> bool:
    """Whether nothing of the client's is with the gateway."""
    session, ring = client._paths._session, client._paths._ring
    assert session is not None
    return not session._pending and not client._paths.calls and (ring is None or ring._free == [(0, ring.region.memory.nbytes)])


def others_can_read(client: railhead.Client) -> bool:
    thread = threading.Thread(target=client.get, args=("s3://data/interrupts",), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return not thread.is_alive()


@pytest.mark.parametrize(("kind", "count"), [
    ("direct", 3), ("copied", 3), ("direct", 40), ("missing", 3), ("missing and copied", 3)])
def test_anywhere(running: Rack, kind: str, count: int) -> None:
    session = _session.Session
    functions = [railhead.Client._run, _drive.by_thread, session.wait, session._leads, session._ring, session._collect,
                 session._hand_out, session._forget, session.submit, session.cancel, _whole._ask, Whole.begin, Whole._ask_all,
                 Whole._ask, Whole.came, Whole.end, _whole._drain, Whole.drain, Transfer._drain]
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/interrupts", DATA)
        buffers = [memoryview(bytearray(MIB)) if "copied" in kind else client.buffer(MIB) for _ in range(count)]
        reads = [("s3://data/interrupts", buffer) for buffer in buffers]
        client.get_many(reads)
        if "missing" in kind:
            reads[0] = ("s3://data/none", buffers[0])
        for number in itertools.count():
            interrupt = Interrupt(number, functions)
            try:
                interrupt.within(lambda: client.get_many(reads))
            except KeyboardInterrupt:
                assert interrupt.came_at
            except railhead.NotFound:
                assert "missing" in kind
            if not interrupt.came_at:
                break
            assert others_can_read(client), interrupt.came_at
            assert is_free(client), interrupt.came_at
        assert number > 20


class AtOnce:
    """A session whose requests are done at once, those of the first batch as `first`. Needed where nothing can come, it fails."""

    via = "loopback"
    is_owner = False
    releases = 0

    def __init__(self, first: Outcome | Exception | None) -> None:
        self.handles: dict[Any, int] = {}
        self.box: Box | None = None
        self._first = first

    def is_open(self) -> bool:
        return True

    def register(self, memory: object, descriptor: int | None) -> int:
        return 1

    def reserve(self) -> int:
        return 1

    def submit(self, batch: Any, first: int, end: int) -> None:
        self.box = batch.box
        if isinstance(self._first, Exception):
            error, self._first = self._first, None
            raise error
        batch.ids[:] = range(1, end + 1)
        for piece, *_ in batch._submissions:
            done = Outcome(moved=piece.view.nbytes, size=MIB, etag="etag")
            batch.box.arrived.append(((piece, batch), self._first or done))
        self._first = None

    def cancel(self, box: Box) -> None:
        pass

    def release(self, buffer: int) -> None:
        pass

    def close(self) -> None:
        pass

    def __call__(self) -> None:
        assert self.box is not None
        assert self.box.arrived


@pytest.mark.parametrize("first", [
    None, Outcome(_native.ENDED, held=True), ValueError("of many"), railhead.ConnectionLost("it went"), Stale()])
def test_anywhere_in_what_has_come(first: Outcome | Exception | None) -> None:
    functions = [Transfer._submit, Transfer._refused, Transfer._await, Transfer._came, Transfer._hold, Transfer._take_in,
                 Transfer._drain, Transfer._take_back]
    for number in itertools.count():
        with railhead.Client("http://127.0.0.1:1", credentials=KEYS, region="us-east-1", ring=16 * MIB) as client:
            paths, session, box = client._paths, AtOnce(first), ThreadBox()
            paths._session = session  # type: ignore[assignment]
            ring = paths.ring(None)
            region = ring.region
            transfer = Transfer(paths, box)
            job = Get("s3://data/interrupts", _memory.view(bytearray(MIB), writable=True), piece_bytes=MIB // 4)
            interrupt = Interrupt(number, functions)
            try:
                interrupt.within(lambda: _drive.by_thread(transfer.run([job]), box))  # noqa: B023
            except KeyboardInterrupt:
                assert interrupt.came_at
            assert not transfer._native, interrupt.came_at
            assert ring._is_lost or ring._free == [(0, 16 * MIB)], interrupt.came_at
            assert (ring._is_lost or ring.region is not region) == (
                isinstance(first, Outcome) and session.box is not None)
        if not interrupt.came_at:
            break
    assert number > 20


def test_request_that_cannot_be_described_fails_alone() -> None:
    with railhead.Client("http://127.0.0.1:1", credentials=KEYS, region="us-east-1") as client:
        client._paths._session = AtOnce(None)  # type: ignore[assignment]
        jobs = [Get(f"s3://data/{key}", _memory.view(bytearray(MIB), writable=True)) for key in ("\udc80", "key")]
        box = ThreadBox()
        _drive.by_thread(Transfer(client._paths, box, fail_fast=False).run(jobs), box)
        assert isinstance(jobs[0].error, ValueError)
        assert (jobs[1].error, jobs[1].moved) == (None, MIB)


def test_work_of_owners_threads_goes_on_after_an_interrupt_anywhere() -> None:
    functions = [_Work.ask, _Work.aside, _Work._begin]
    calls: list[Callable[[_Work], object]] = [_Work.ask, lambda work: work.aside(lambda: None, wait=True)]
    for call in calls:
        for number in itertools.count():
            did = threading.Semaphore(0)
            work = _Work(did.release)
            interrupt = Interrupt(number, functions)
            try:
                interrupt.within(lambda: call(work))  # noqa: B023
            except KeyboardInterrupt:
                assert interrupt.came_at
            if not interrupt.came_at:
                break
            while did.acquire(timeout=0.1):
                pass
            work.ask()
            assert did.acquire(timeout=PATIENCE), interrupt.came_at
            work.aside(did.release, wait=True)
            assert did.acquire(blocking=False), interrupt.came_at
        assert number > 2
