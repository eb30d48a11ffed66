"""Bars on loads that take long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

_MIB = 1 << 20
_CELLS = 24
_REDRAW_SECONDS = 0.1

Progress = bool | Callable[[int], object] | None


def reporting(progress: Progress, total: int | None, name: str, *, delay: float = 0,
              is_wanted: bool = True) -> AbstractContextManager[Callable[[int], object] | None]:
    """What is to be called with bytes that came. A bar is shown on terminals, after `delay` seconds."""
    if progress is not True:
        return nullcontext(progress if callable(progress) else None)
    return _on_a_bar(_tqdm(is_wanted), total, name, delay)


@contextmanager
def _on_a_bar(bars: Any, total: int | None, name: str, delay: float) -> Iterator[Callable[[int], object]]:
    with bars(total=total, desc=name, unit="B", unit_scale=True, unit_divisor=1024, delay=delay, disable=None) as bar:
        yield bar.update


def _tqdm(is_wanted: bool) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if is_wanted:
            raise
        return Bar
    return tqdm


class Bar:
    """A line on the standard error, if that is a terminal: where there is no tqdm."""

    def __init__(self, total: int | None, desc: str, delay: float, **_: object) -> None:
        self._total, self._name, self._delay = total, desc, delay
        self._begun, self._done, self._drawn = time.monotonic(), 0, 0.0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def update(self, nbytes: int) -> None:
        self._done += nbytes
        elapsed = time.monotonic() - self._begun
        if elapsed < self._delay or elapsed - self._drawn < _REDRAW_SECONDS or not sys.stderr.isatty():
            return
        self._drawn = elapsed
        print(f"\r\x1b[K{self._line(elapsed)}", end="", file=sys.stderr, flush=True)

    def _line(self, elapsed: float) -> str:
        done, rate = self._done / _MIB, self._done / _MIB / elapsed
        if not self._total:
            return f"{self._name}: {done:.1f} MiB, {rate:.1f} MiB/s"
        cells = "#" * (self._done * _CELLS // self._total)
        return (f"{self._name}: [{cells:{_CELLS}}] {self._done * 100 // self._total} %, {done:.1f} of "
                f"{self._total / _MIB:.1f} MiB, {rate:.1f} MiB/s")
