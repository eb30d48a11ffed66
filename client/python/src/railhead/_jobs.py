"""What one call wants of one object, and the pieces that it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from railhead import _native
from railhead._memory import View
from railhead._ring import Slot
from railhead._session import Outcome
from railhead._settings import split

NOTHING = View(0, 0, None)
PIECE_BYTES = 8 << 20  # of memory that the gateway writes itself; what is copied has slots


@dataclass(eq=False)
class Piece:
    """One request; `view` is its window, `first` the byte of the object where it begins."""

    job: Job
    view: View
    first: int = 0
    number: int = 0  # of a part
    slot: Slot | None = None
    copied: bool = False
    by_http: bool = False
    tries: int = 0
    via: str = ""
    outcome: Outcome | None = None

    def request(self, buffer: int, base: int) -> _native.Request:
        window = self.slot.memory if self.slot else self.view
        made = _native.Request(buffer=buffer, offset=window.address - base, window=self.view.nbytes)
        self.job.describe(self, made)
        return made


class Job:
    """`url` is one object's. What fails first is its error."""

    writes = False
    is_idempotent = True
    has_window = True

    def __init__(self, url: str) -> None:
        self.url = url
        self.bucket, self.key = split(url)
        self.error: Exception | None = None
        self.via = ""

    def fail(self, error: Exception) -> None:
        self.error = self.error or error

    def first(self) -> Iterable[Piece]:
        raise NotImplementedError

    def came(self, piece: Piece, outcome: Outcome) -> Iterable[Piece]:
        """After a piece is done: what is to be asked for now."""
        raise NotImplementedError

    def describe(self, piece: Piece, request: _native.Request) -> None:
        request.bucket, request.key = self.bucket.encode(), self.key.encode()

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        """The same, by plain S3; blocks."""
        raise NotImplementedError


class Get(Job):
    """
    Reads into `view` what the object has from `start`. The first piece tells the object's version and size, the others are
    of that version.
    """

    def __init__(self, url: str, view: View, start: int = 0, *, piece_bytes: int = PIECE_BYTES,
                 version: Outcome | None = None) -> None:
        super().__init__(url)
        self.view = view
        self.start = start
        self.moved = 0
        self._piece_bytes = piece_bytes
        self.outcome = version  # where it is not known before: the first piece's

    def first(self) -> list[Piece]:
        if self.outcome is not None:
            return self._pieces(0, self.outcome.size)
        return [self._piece(0, min(self.view.nbytes, self._piece_bytes))]

    def _pieces(self, begin: int, size: int) -> list[Piece]:
        total = min(self.view.nbytes, size - self.start)
        return [self._piece(at, min(self._piece_bytes, total - at)) for at in range(begin, total, self._piece_bytes)]

    def _piece(self, at: int, nbytes: int) -> Piece:
        return Piece(self, self.view.part(at, nbytes), self.start + at)

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        self.moved += outcome.moved
        self.via = self.via or piece.via
        expected = max(0, min(piece.view.nbytes, outcome.size - piece.first))
        if outcome.moved != expected:
            self.fail(ValueError(f"{self.url}: {outcome.moved} bytes came in place of {expected}"))
            return []
        if self.outcome is not None:
            return []
        self.outcome = outcome
        return self._pieces(piece.view.nbytes, outcome.size)

    def describe(self, piece: Piece, request: _native.Request) -> None:
        super().describe(piece, request)
        request.operation = _native.GET
        if self.outcome:
            request.if_match = self.outcome.etag.encode()
        if piece.first:
            request.flags = _native.RANGE
            request.range_first, request.range_last = piece.first, piece.first + piece.view.nbytes - 1

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        memory = piece.slot.memory.part(0, piece.view.nbytes) if piece.slot else piece.view
        span = (piece.first, piece.first + piece.view.nbytes - 1) if piece.first else None
        outcome: Outcome = http.get(self.url, self.bucket, self.key, memory, span, self.outcome.etag if self.outcome else "")
        return outcome


class Head(Job):
    """Asks what there is to be known of an object."""

    has_window = False

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.outcome: Outcome | None = None

    def first(self) -> list[Piece]:
        return [Piece(self, NOTHING)]

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        self.outcome, self.via = outcome, piece.via
        return []

    def describe(self, piece: Piece, request: _native.Request) -> None:
        super().describe(piece, request)
        request.operation = _native.HEAD
        request.buffer, request.offset, request.window = None, 0, 0

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        outcome: Outcome = http.head(self.url, self.bucket, self.key)
        return outcome


class Put(Job):
    """Writes one object by one request."""

    writes = True
    is_idempotent = False

    def __init__(self, url: str, view: View, headers: dict[str, str], *, if_none_match: bool = False) -> None:
        super().__init__(url)
        self.view = view
        self._headers = headers
        self._if_none_match = if_none_match
        self.outcome: Outcome | None = None

    def first(self) -> list[Piece]:
        # The channel does not serve an object without bytes.
        return [Piece(self, self.view, by_http=not self.view.nbytes)]

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        self.outcome, self.via = outcome, piece.via
        return []

    def describe(self, piece: Piece, request: _native.Request) -> None:
        super().describe(piece, request)
        request.operation = _native.PUT
        lines = {**self._headers, **({"if-none-match": "*"} if self._if_none_match else {})}
        request.headers = "".join(f"{name}: {value}\n" for name, value in lines.items()).encode() or None

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        memory = piece.slot.memory.part(0, piece.view.nbytes) if piece.slot else piece.view
        outcome: Outcome = http.put(
            self.url, memory, "put_object", Bucket=self.bucket, Key=self.key, **stored(self._headers),
            IfNoneMatch="*" if self._if_none_match else None)
        return outcome


class Parts(Job):
    """Writes the parts of a multipart upload. A part that is sent twice is one part."""

    writes = True

    def __init__(self, url: str, view: View, upload_id: str, part_bytes: int, *, first_number: int = 1) -> None:
        super().__init__(url)
        self.view = view
        self._upload_id = upload_id
        self._part_bytes = part_bytes
        self._first_number = first_number
        self.etags: dict[int, str] = {}

    def first(self) -> list[Piece]:
        starts = range(0, self.view.nbytes, self._part_bytes)
        return [Piece(self, self.view.part(at, min(self._part_bytes, self.view.nbytes - at)), number=self._first_number + i)
                for i, at in enumerate(starts)]

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        self.etags[piece.number], self.via = outcome.etag, piece.via
        return []

    def describe(self, piece: Piece, request: _native.Request) -> None:
        super().describe(piece, request)
        request.operation, request.part_number = _native.UPLOAD_PART, piece.number
        request.upload_id = self._upload_id.encode()

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        memory = piece.slot.memory.part(0, piece.view.nbytes) if piece.slot else piece.view
        outcome: Outcome = http.put(self.url, memory, "upload_part", Bucket=self.bucket, Key=self.key,
                                    UploadId=self._upload_id, PartNumber=piece.number)
        return outcome


def stored(headers: dict[str, str]) -> dict[str, Any]:
    """As botocore names what goes with an object."""
    prefix = "x-amz-meta-"
    metadata = {name[len(prefix):]: value for name, value in headers.items() if name.startswith(prefix)}
    return {"ContentType": headers.get("content-type"), "Metadata": metadata}
