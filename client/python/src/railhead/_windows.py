"""One object in several pieces of memory: one request with a list of windows, where the gateway takes one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from railhead import _native, errors
from railhead._jobs import Job, Piece, Put
from railhead._memory import View
from railhead._options import PutOptions
from railhead._session import Outcome

MOST_WINDOWS = 64


def around(views: Sequence[View]) -> View | None:
    """The memory from the first to the last of them; None where they are too many for one request, or lie in several GPUs."""
    if not 1 < len(views) <= MOST_WINDOWS or len({view.cuda for view in views}) > 1 or not all(view.nbytes for view in views):
        return None
    start = min(view.address for view in views)
    return View(start, max(view.address + view.nbytes for view in views) - start, views, views[0].cuda)


def overlap(views: Sequence[View]) -> bool:
    ordered = sorted(views, key=lambda view: view.address)
    return any(one.address + one.nbytes > other.address for one, other in pairwise(ordered))


def _list(views: Sequence[View], piece: Piece, request: _native.Request) -> None:
    """In place of the one window that the piece's view would be. The request keeps the list alive."""
    base = piece.view.address - request.offset
    request.windows = (_native.Window * len(views))(*[_native.Window(view.address - base, view.nbytes) for view in views])
    request.windows_count = len(views)
    request.offset = request.window = 0


class WindowsGet(Job):
    """Reads a whole object into `views`, in this order, all within one registered region. Never by HTTP, and never copied."""

    operation = _native.GET
    may_be_copied = False
    outcome: Outcome | None = None

    def __init__(self, url: str, views: Sequence[View], span: View) -> None:
        super().__init__(url)
        self.views = views
        self._span = span

    def first(self, at_once: int) -> list[Piece]:
        return [Piece(self, self._span)]

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        self.outcome, self.via = outcome, piece.via
        return []

    def fits(self) -> bool:
        """Whether the object filled the views exactly."""
        total = sum(view.nbytes for view in self.views)
        return self.outcome is not None and self.error is None and self.outcome.moved == self.outcome.size == total

    def describe(self, piece: Piece, request: _native.Request) -> None:
        _list(self.views, piece, request)

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        raise errors.NotServed("several windows go by a gateway's channel alone", url=self.url)


class WindowsPut(Put):
    """Writes one object from `views`, in this order, all within one registered region. Never by HTTP, and never copied."""

    may_be_copied = False

    def __init__(self, url: str, views: Sequence[View], span: View, options: PutOptions) -> None:
        super().__init__(url, span, options)
        self.views = views

    def describe(self, piece: Piece, request: _native.Request) -> None:
        super().describe(piece, request)
        _list(self.views, piece, request)

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        raise errors.NotServed("several windows go by a gateway's channel alone", url=self.url)
