"""Bars on loads that take long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = bool | Callable[[int], object] | None


@contextmanager
def reporting(progress: Progress, total: int | None, name: str, *, delay: float = 0) -> Iterator[Callable[[int], object] | None]:
    """What is to be called with bytes that came. A bar is shown on terminals, after `delay` seconds."""
    if callable(progress) or not progress:
        yield progress if callable(progress) else None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc=name, unit="B", unit_scale=True, unit_divisor=1024, delay=delay, disable=None) as bar:
        yield bar.update
