"""What must not outlive the process: uploads of parts that somebody began, and partial files that have names."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PATIENCE_SECONDS = 3.0  # less than any supervisor's before it kills
_undo: set[Callable[[], object]] = set()


def begun(undo: Callable[[], object]) -> None:
    _undo.add(undo)


def over(undo: Callable[[], object]) -> None:
    _undo.discard(undo)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """
    Signals unwind as an interrupt does, so that uploads are aborted and what was written is deleted. What cannot be unwound
    soon, such as a request that a store does not answer, is left where it is.
    """
    def leave(number: int, _: object) -> None:
        threading.Thread(target=_leave_at_last, args=(128 + number,), daemon=True).start()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    before = {each: signal.signal(each, leave) for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
              if signal.getsignal(each) != signal.SIG_IGN}  # nohup's, which stays
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _leave_at_last(status: int) -> None:
    time.sleep(_PATIENCE_SECONDS)
    threads = [threading.Thread(target=undo, daemon=True) for undo in _undo.copy()]
    for thread in threads:
        thread.start()
    end = time.monotonic() + _PATIENCE_SECONDS
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    os._exit(status)
