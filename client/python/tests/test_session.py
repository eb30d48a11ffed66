"""Sessions of a library that does what it is told."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest
from conftest import KEYS

from railhead import _native
from railhead._http import Opener
from railhead._session import Session
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
    return Session(settings, _native.LOOPBACK, Opener(settings), threading.Condition())


def test_interrupt_as_it_is_connected_closes_it(library: Library) -> None:
    library.interrupts = True
    with pytest.raises(KeyboardInterrupt):
        connect()
    gc.collect()
    assert library.asked.count("railhead_close") == 1


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
