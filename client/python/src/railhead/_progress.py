"""Bars on loads that take long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

Progress = bool | Callable[[int], object] | None


def reporting(progress: Progress, total: int | None, name: str, *, delay: float = 0,
              is_wanted: bool = True) -> AbstractContextManager[Callable[[int], object] | None]:
    """What is to be called with bytes that came. A bar is shown on terminals, after `delay` seconds."""
    bars = _tqdm(is_wanted) if progress is True else None
    if bars is None:
        return nullcontext(progress if callable(progress) else None)
    return _on_a_bar(bars, total, name, delay)


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
        return None
    return tqdm
