"""What one call wants of one object, and the pieces that it takes."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any, NamedTuple

from railhead import _memory, _native, errors
from railhead._memory import View
from railhead._options import NEWEST, PutOptions, ReadOptions
from railhead._ring import Slot
from railhead._session import Outcome
from railhead._settings import split

NOTHING = View(0, 0, None)
PIECE_BYTES = 8 << 20  # of memory that the gateway writes itself; what is copied has slots
_MOST_TRIES = 3        # of an object that changes while it is read


class Read(NamedTuple):
    """What is to be read: from `start`, as much as fits into the buffer, or `length` bytes if that is less."""

    url: str
    buffer: Any
    start: int = 0
    length: int | None = None

    def target(self) -> tuple[View, int]:
        """Where its bytes go, and where in the object they begin."""
        view = _memory.view(self.buffer, writable=True)
        start, length = span(self.start, self.length)
        return view if length is None else view.part(0, min(length, view.nbytes)), start


def span(start: int, length: int | None) -> tuple[int, int | None]:
    """As Python's own integers: NumPy's overflow where they meet an address."""
    first, most = index(start), None if length is None else index(length)
    if not 0 <= first < 1 << 63 or (most is not None and most < 0):
        raise ValueError("start is not negative and less than 2**63, length not negative")
    return first, most


class Piece:
    """
    One request; `view` is its window, `first` the byte of the object where it begins, `number` a part's. Of all that most never
    have, the class has the value: making one is cheap.
    """

    slot: Slot | None = None
    copied = False
    by_http = False
    is_pinned = False  # to a version
    at_home = False  # the owner of its bytes could not do it
    tries = 0
    via = ""
    outcome: Outcome | None = None

    def __init__(self, job: Job, view: View, first: int = 0, number: int = 0) -> None:
        self.job = job
        self.view = view
        self.first = first
        self.number = number

    def describe(self, request: _native.Request, user: int, buffer: int, base: int) -> None:
        """Into a request of zeroes."""
        job, window = self.job, self.slot.memory if self.slot is not None else self.view
        request.operation, request.user = job.operation, user
        request.bucket, request.key = job.bucket.encode(), job.key.encode()
        request.buffer, request.offset, request.window = buffer, window.address - base, self.view.nbytes
        job.describe(self, request)


class Job:
    """`url` is one object's. What fails first is its error."""

    operation = 0
    writes = False
    is_idempotent = True
    has_window = True
    at_owners = False     # whether the gateways that own its bytes are asked for them
    may_be_copied = True  # whether the ring may stand for the memory
    error: Exception | None = None
    via = ""

    def __init__(self, url: str) -> None:
        self.url = url
        self.bucket, self.key = split(url)

    def fail(self, error: Exception) -> None:
        self.error = self.error or error

    def first(self, at_once: int) -> Iterable[Piece]:
        """What is asked for before anything has come: no more than `at_once` of what may not be there."""
        raise NotImplementedError

    def came(self, piece: Piece, outcome: Outcome) -> Iterable[Piece]:
        """After a piece is done: what is to be asked for now."""
        raise NotImplementedError

    def refused(self, piece: Piece, error: Exception) -> Iterable[Piece]:
        """After a piece failed: what is to be asked for now."""
        self.fail(error)
        return ()

    def describe(self, piece: Piece, request: _native.Request) -> None:
        """What is in the request but for operation, object and window."""

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        """The same, by plain S3; blocks."""
        raise NotImplementedError


class Get(Job):
    """
    Reads into `view` what the object has from `start`, all of one version: `version`, where it is known before. Else the first
    answer tells the version and the size, and what is asked for from then on names the version. What was asked for by then may
    be of another, or lie behind the object's end. If all that has come is not one whole version, all is read again, now by a
    first piece alone.
    """

    operation = _native.GET
    at_owners = True
    moved = 0
    _asked = 0        # up to where in the view
    _left = 0         # pieces that have not come
    _is_torn = False  # whether what has come is of two versions
    _tries = 0

    def __init__(self, url: str, view: View, start: int = 0, *, piece_bytes: int = PIECE_BYTES,
                 version: Outcome | None = None, options: ReadOptions = NEWEST) -> None:
        super().__init__(url)
        self.view = view
        self.start = start
        self.options = options
        self.outcome = version
        self._piece_bytes = piece_bytes
        self._is_given = version is not None
        self._total = self._total_of(version) if version is not None else -1

    def first(self, at_once: int) -> list[Piece]:
        """One piece alone is as long as it can be."""
        step = self._piece_bytes
        first = step if at_once == 1 else step - self.start % step
        return self._ask(self._total if self._is_given else min(self.view.nbytes, first + (at_once - 1) * step), first)

    def _total_of(self, version: Outcome) -> int:
        return max(0, min(self.view.nbytes, version.size - self.start))

    def _ask(self, end: int, first: int = 0) -> list[Piece]:
        """
        Pieces end at multiples of their length in the object, so that each lies in one run, which has one owner. The first is of
        `first` bytes, where that is not 0.
        """
        step, start = self._piece_bytes, self.start
        if self._asked == 0 and end == self.view.nbytes <= step:  # as most are
            self._asked, self._left = end, self._left + 1
            return [self._piece(self.view, start)]
        pieces, at = [], self._asked
        while at < end:
            nbytes = min(first or step - (start + at) % step, end - at)
            first = 0
            pieces.append(self._piece(self.view.part(at, nbytes), start + at))
            at += nbytes
        self._asked = max(self._asked, end)
        self._left += len(pieces)
        return pieces

    def _piece(self, view: View, first: int) -> Piece:
        piece = Piece(self, view, first)
        if self.options is not NEWEST:
            piece.by_http = True
        return piece

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        moved, left = outcome.moved, outcome.size - piece.first
        self.moved += moved
        self.via = self.via or piece.via
        expected = piece.view.nbytes
        if left < expected:
            expected = max(0, left)
        if moved != expected:
            self.fail(errors.StoreError(f"{moved} bytes came in place of {expected}", url=self.url))
            return []
        more: list[Piece] = []
        if self.outcome is None:
            self.outcome, self._total = outcome, self._total_of(outcome)
            if self._total > self._asked:
                more = self._ask(self._total)
        elif not self._is_given and (outcome.etag, outcome.size) != (self.outcome.etag, self.outcome.size):
            self._is_torn = True
        return more + self._done()

    def refused(self, piece: Piece, error: Exception) -> list[Piece]:
        is_behind = isinstance(error, errors.RangeNotSatisfiable) and piece.first > self.start
        is_other = isinstance(error, errors.PreconditionFailed)
        if self._is_given or not (is_behind or is_other):
            self.fail(error)
            return []
        return self._done()

    def _done(self) -> list[Piece]:
        """One piece more: after the last, all is there, or all is asked for again, when nothing is under way any more."""
        self._left -= 1
        if self._left or self.error or (self.moved == self._total and not self._is_torn):
            return []
        self._tries += 1
        if self._tries == _MOST_TRIES:
            self.fail(errors.PreconditionFailed("the object changed while it was read", status=412, url=self.url))
            return []
        self.moved = self._asked = 0
        self.outcome, self._total, self._is_torn = None, -1, False
        self.at_owners = False  # of which one may not know yet what another does
        return self.first(1)

    def describe(self, piece: Piece, request: _native.Request) -> None:
        if self.outcome is not None:
            request.if_match = self.outcome.etag.encode()
            piece.is_pinned = True
        if piece.first:
            request.flags = _native.RANGE
            request.range_first, request.range_last = piece.first, piece.first + piece.view.nbytes - 1

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        memory = piece.slot.memory.part(0, piece.view.nbytes) if piece.slot else piece.view
        span = (piece.first, piece.first + piece.view.nbytes - 1) if piece.first else None
        outcome: Outcome = http.get(self.url, self.bucket, self.key, memory, span, self.outcome.etag if self.outcome else "",
                                    self.options)
        return outcome


class Head(Job):
    """Asks what there is to be known of an object."""

    operation = _native.HEAD
    has_window = False
    outcome: Outcome | None = None

    def __init__(self, url: str, options: ReadOptions = NEWEST) -> None:
        super().__init__(url)
        self.options = options

    def first(self, at_once: int) -> list[Piece]:
        piece = Piece(self, NOTHING)
        piece.by_http = self.options is not NEWEST
        return [piece]

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        self.outcome, self.via = outcome, piece.via
        return []

    def describe(self, piece: Piece, request: _native.Request) -> None:
        request.buffer, request.offset, request.window = None, 0, 0

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        outcome: Outcome = http.head(self.url, self.bucket, self.key, self.options)
        return outcome


class Put(Job):
    """Writes one object by one request."""

    operation = _native.PUT
    writes = True
    is_idempotent = False

    def __init__(self, url: str, view: View, options: PutOptions) -> None:
        super().__init__(url)
        self.view = view
        self._options = options
        self.outcome: Outcome | None = None

    def first(self, at_once: int) -> list[Piece]:
        # The channel does not serve an object without bytes.
        piece = Piece(self, self.view)
        piece.by_http = not self.view.nbytes or bool(self._options.others)
        return [piece]

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        self.outcome, self.via = outcome, piece.via
        return []

    def describe(self, piece: Piece, request: _native.Request) -> None:
        lines = {**self._options.headers(), **({"if-none-match": "*"} if self._options.if_none_match else {})}
        request.headers = "".join(f"{name}: {value}\n" for name, value in lines.items()).encode() or None

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        memory = piece.slot.memory.part(0, piece.view.nbytes) if piece.slot else piece.view
        outcome: Outcome = http.put(
            self.url, memory, "put_object", Bucket=self.bucket, Key=self.key, **self._options.arguments(),
            IfNoneMatch="*" if self._options.if_none_match else None)
        return outcome


class Parts(Job):
    """Writes the parts of a multipart upload. A part that is sent twice is one part."""

    operation = _native.UPLOAD_PART
    writes = True

    def __init__(self, url: str, view: View, upload_id: str, part_bytes: int, options: PutOptions, *,
                 first_number: int = 1) -> None:
        super().__init__(url)
        self.view = view
        self._options = options.of_parts()
        self._upload_id = upload_id
        self._part_bytes = part_bytes
        self._first_number = first_number
        self.etags: dict[int, str] = {}

    def first(self, at_once: int) -> list[Piece]:
        starts = range(0, self.view.nbytes, self._part_bytes)
        pieces = [Piece(self, self.view.part(at, min(self._part_bytes, self.view.nbytes - at)), number=self._first_number + i)
                  for i, at in enumerate(starts)]
        for piece in pieces:
            piece.by_http = bool(self._options)
        return pieces

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        self.etags[piece.number], self.via = outcome.etag, piece.via
        return []

    def describe(self, piece: Piece, request: _native.Request) -> None:
        request.part_number = piece.number
        request.upload_id = self._upload_id.encode()

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        memory = piece.slot.memory.part(0, piece.view.nbytes) if piece.slot else piece.view
        outcome: Outcome = http.put(self.url, memory, "upload_part", Bucket=self.bucket, Key=self.key,
                                    UploadId=self._upload_id, PartNumber=piece.number, **self._options)
        return outcome

