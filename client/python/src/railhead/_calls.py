"""The client's calls as steps, which a thread or an event loop has done."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from typing import Any

from railhead import _memory, _unfinished, errors
from railhead._http import acknowledged, said
from railhead._jobs import PIECE_BYTES, Get, Head, Parts, Piece, Put, Read, span
from railhead._memory import View
from railhead._options import NEWEST, PART_BYTES, PutOptions, ReadOptions, part_bytes
from railhead._paths import Paths
from railhead._progress import Progress, reporting
from railhead._ring import COPIED_BYTES
from railhead._session import Box, Outcome
from railhead._settings import PUT_BYTES, split
from railhead._transfer import Steps, Transfer
from railhead._whole import Got, Whole, got_of

_MOST_PARTS = 10_000
_FIRST_BYTES = 256 << 10  # of an object that may be small


@dataclass(frozen=True)
class Stored:
    """What was written. `acknowledged`: "store", or "disk" of a gateway's, from where the store gets it: see Client.flush."""

    etag: str
    version_id: str | None
    via: str
    acknowledged: str = "store"


@dataclass(frozen=True)
class Info:
    """An object; of lists without version, content type and metadata. The ETag is "" where a list has none."""

    url: str
    size: int
    etag: str
    last_modified: datetime | None
    version_id: str | None = None
    content_type: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


def _piece_bytes(paths: Paths, view: View) -> int:
    return PIECE_BYTES if view.nbytes <= COPIED_BYTES or paths.reaches(view) else COPIED_BYTES


def get_many(paths: Paths, box: Box, reads: Iterable[Read | tuple[str, Any]], progress: Progress,
             return_exceptions: bool) -> Steps[list[Any]]:
    asked = list(reads)
    whole = None if progress else Whole.of(paths, box, asked)
    if whole is not None:
        return (yield from whole.run(fail_fast=not return_exceptions))
    wanted = [Read(*each) for each in asked]
    targets = [read.target() for read in wanted]
    jobs = [_read(paths, read.url, *target) for read, target in zip(wanted, targets, strict=True)]
    with reporting(progress, sum(view.nbytes for view, _ in targets), "read") as tell:
        yield from Transfer(paths, box, tell, fail_fast=not return_exceptions).run(jobs)
    return [got_of(job) for job in jobs]


def _read(paths: Paths, url: str, view: View, start: int, options: ReadOptions = NEWEST) -> Get | Head:
    # Nothing to be moved: but whether the object is there, and how large, is known afterwards.
    if not view.nbytes:
        return Head(url, options)
    return Get(url, view, start, piece_bytes=_piece_bytes(paths, view), options=options)


def get_into(paths: Paths, box: Box, read: Read, options: ReadOptions, progress: Progress = None) -> Steps[Got]:
    if options is NEWEST:
        [got] = yield from get_many(paths, box, [read], progress, False)
    else:
        job = _read(paths, read.url, *(target := read.target()), options)
        with reporting(progress, target[0].nbytes, "read") as tell:
            yield from Transfer(paths, box, tell).run([job])
        got = got_of(job)
    only: Got = got
    return only


@dataclass(frozen=True)
class Want:
    """Bytes that are wanted as such: to the object's end without a length. `version` where it is known."""

    url: str
    start: int = 0
    length: int | None = None
    version: Outcome | None = None
    options: ReadOptions = NEWEST


def get_all(paths: Paths, box: Box, wants: Iterable[Want], progress: Progress = None,
            return_exceptions: bool = False) -> Steps[list[Any]]:
    """
    One request for each that is small: how long an object is, is known with its first bytes. Where an owner
    has them of another version than home, the object is read again at home.
    """
    asked = list(wants)
    with reporting(progress, None, "read") as tell:
        transfer = partial(Transfer, paths, box, tell, fail_fast=not return_exceptions)
        got, torn = yield from _get_all(paths, transfer, asked, paths.owners.are_known)
        if torn:
            again, _ = yield from _get_all(paths, transfer, [asked[at] for at in torn], False)
            for at, each in zip(torn, again, strict=True):
                got[at] = each
    return got


def _get_all(paths: Paths, transfer: Callable[[], Transfer], wants: list[Want],
             at_owners: bool) -> Steps[tuple[list[Any], list[int]]]:
    """Each one's bytes, or its error, and the places of those that have to be read again, at home."""
    begun = [(want, *_begin(want, at_owners)) for want in wants]
    yield from transfer().run([job for _, _, job in begun if job])
    made, rest = [], []
    for want, first, job in begun:
        result, more = _rest(paths, want, first, job) if job and not job.error else (job.error if job else b"", None)
        made.append(result)
        rest.append(more)
    yield from transfer().run([job for job in rest if job])
    return ([more.error if more and more.error else result for result, more in zip(made, rest, strict=True)],
            [at for at, more in enumerate(rest) if more and more.is_torn])


class _Rest(Get):
    """What is behind an object's first bytes, of their version. `is_torn`: home has another than the owner of those."""

    is_torn = False

    def refused(self, piece: Piece, error: Exception) -> list[Piece]:
        if not self.at_owners or not isinstance(error, errors.PreconditionFailed):
            return super().refused(piece, error)
        self.is_torn = True
        return []


def _begin(want: Want, at_owners: bool) -> tuple[bytes, Get | Head | None]:
    span(want.start, want.length)
    if want.length == 0:
        return b"", Head(want.url, want.options)
    nbytes = min(_FIRST_BYTES if want.length is None else want.length, PIECE_BYTES)
    if want.version is not None:
        nbytes = min(nbytes, want.version.size - want.start)
    if nbytes <= 0:
        return b"", None
    first, view = _new_bytes(nbytes)
    job = Get(want.url, view, want.start, version=want.version, piece_bytes=COPIED_BYTES, options=want.options)
    job.at_owners = at_owners
    return first, job


def _rest(paths: Paths, want: Want, first: bytes, job: Get | Head) -> tuple[bytes, _Rest | None]:
    """The whole, of which what the first request brought is there, and what brings the others."""
    if isinstance(job, Head):
        return b"", None
    assert job.outcome is not None
    left = job.outcome.size - want.start
    total = left if want.length is None else min(left, want.length)
    if job.moved == total:
        return first[:total], None
    made, view = _new_bytes(total)
    _memory.copy(view.address, job.view.address, job.moved)
    rest = view.part(job.moved, total - job.moved)
    more = _Rest(want.url, rest, want.start + job.moved, piece_bytes=_piece_bytes(paths, rest), version=job.outcome,
                 options=want.options)
    more.at_owners = job.at_owners and want.version is None
    return made, more


def get(paths: Paths, box: Box, want: Want) -> Steps[bytes]:
    got = yield from get_all(paths, box, [want])
    only: bytes = got[0]
    return only


_bytes_of_size = ctypes.pythonapi.PyBytes_FromStringAndSize
_bytes_of_size.argtypes = [ctypes.c_char_p, ctypes.c_ssize_t]
_bytes_of_size.restype = ctypes.py_object


def _new_bytes(nbytes: int) -> tuple[bytes, View]:
    """Bytes that may be written until somebody else sees them, as C has them made."""
    made: bytes = _bytes_of_size(None, nbytes)
    return made, _memory.view(made, writable=False)


def head(paths: Paths, box: Box, url: str, options: ReadOptions) -> Steps[Info]:
    job = Head(url, options)
    yield from Transfer(paths, box).run([job])
    assert job.outcome is not None
    return _info(url, job.outcome)


def head_all(paths: Paths, box: Box, urls: Iterable[str]) -> Steps[list[Info | Exception]]:
    """Each one's Info, or its error."""
    jobs = [Head(url) for url in urls]
    yield from Transfer(paths, box, fail_fast=False).run(jobs)
    return [_info(job.url, job.outcome) if job.outcome is not None else job.error or AssertionError() for job in jobs]


def _info(url: str, outcome: Outcome) -> Info:
    lines = (line.split(": ", 1) for line in outcome.headers.splitlines() if ": " in line)
    headers = {name.lower(): value for name, value in lines}
    millis = outcome.last_modified_millis
    prefix = "x-amz-meta-"
    return Info(
        url, outcome.size, outcome.etag, datetime.fromtimestamp(millis / 1000, timezone.utc) if millis else None,
        outcome.version_id or None, headers.get("content-type") or None,
        {name[len(prefix):]: value for name, value in headers.items() if name.startswith(prefix)})


@dataclass
class Upload:
    """A multipart upload. What it has of the store is known here, whatever becomes of the call that asked."""

    paths: Paths
    url: str
    options: PutOptions
    upload_id: str = ""
    etag: str = ""
    version_id: str | None = None
    via: str = ""
    acknowledged: str = "store"

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        bucket, key = split(self.url)
        return self.paths.http().call(self.url, operation, Bucket=bucket, Key=key, **arguments)

    def send(self, box: Box, first_number: int, buffer: Any, part_bytes: int,
             tell: Callable[[int], object] | None = None) -> Steps[dict[int, str]]:
        """In parts of one size, up to twice `part_bytes`, or what fits into the ring; their ETags."""
        view = _memory.view(buffer, writable=False)
        count = max(1, view.nbytes // min(part_bytes, self.paths.settings.ring // 2))
        job = Parts(self.url, view, self.upload_id, -(-view.nbytes // count), self.options, first_number=first_number)
        yield from Transfer(self.paths, box, tell).run([job])
        self.via = job.via
        return job.etags

    def create(self) -> None:
        self.upload_id = said(self.call("create_multipart_upload", **self.options.arguments()), "UploadId", self.url)
        _unfinished.begun(self.abort)

    def complete(self, etags: Mapping[int, str]) -> None:
        """What fails is aborted, unless it may have been done, or may still be."""
        parts = [{"PartNumber": number, "ETag": etags[number]} for number in sorted(etags)]
        try:
            answer = self.call("complete_multipart_upload", UploadId=self.upload_id, MultipartUpload={"Parts": parts},
                                IfNoneMatch="*" if self.options.if_none_match else None, **self.options.of_parts())
        except errors.OutcomeUnknown:
            _unfinished.over(self.abort)
            raise
        except BaseException:
            self.abort()
            raise
        _unfinished.over(self.abort)
        self.etag, self.version_id = said(answer, "ETag", self.url), answer.get("VersionId")
        self.acknowledged = acknowledged(answer)

    def abort(self) -> None:
        # What is raised is why it is aborted.
        with suppress(errors.RailheadError):
            if self.upload_id:
                self.call("abort_multipart_upload", UploadId=self.upload_id)
        _unfinished.over(self.abort)


def put_from(paths: Paths, box: Box, url: str, source: Any, options: PutOptions, progress: Progress) -> Steps[Stored]:
    view = _view_or_none(source)
    with reporting(progress, view.nbytes if view is not None else None, "write") as tell:
        if view is None:
            return (yield from _from_file(paths, box, url, source, options, tell))
        return (yield from _from_memory(paths, Transfer(paths, box, tell), url, view, options))


def _view_or_none(source: Any) -> View | None:
    """None of what is to be read, such as a file."""
    try:
        return _memory.view(source, writable=False)
    except TypeError:
        if not callable(getattr(source, "read", None)):
            raise
        return None


def _from_memory(paths: Paths, transfer: Transfer, url: str, view: View, options: PutOptions) -> Steps[Stored]:
    if view.nbytes > PUT_BYTES:
        return (yield from _in_parts(paths, transfer, url, view, options))
    job = Put(url, view, options)
    yield from transfer.run([job])
    assert job.outcome is not None
    return Stored(job.outcome.etag, job.outcome.version_id or None, job.via, job.outcome.acknowledged)


def _in_parts(paths: Paths, transfer: Transfer, url: str, view: View, options: PutOptions) -> Steps[Stored]:
    upload = Upload(paths, url, options)
    try:
        yield upload.create
        job = Parts(url, view, upload.upload_id, max(PART_BYTES, -(-view.nbytes // _MOST_PARTS)), options)
        yield from transfer.run([job])
    except BaseException:
        yield upload.abort
        raise
    yield partial(upload.complete, job.etags)
    return Stored(upload.etag, upload.version_id, job.via, upload.acknowledged)


def _from_file(paths: Paths, box: Box, url: str, file: Any, options: PutOptions,
               tell: Callable[[int], object] | None) -> Steps[Stored]:
    """Up to the end, whatever size it has: pipes have none, and of files in /proc it is 0."""
    block: bytearray = yield partial(_read_block, file, PUT_BYTES)
    if len(block) < PUT_BYTES:
        view = _memory.view(block, writable=False)
        return (yield from _from_memory(paths, Transfer(paths, box, tell), url, view, options))
    upload = Upload(paths, url, options)
    etags: dict[int, str] = {}
    try:
        yield upload.create
        while block:
            etags |= yield from upload.send(box, len(etags) + 1, block, part_bytes(len(etags)), tell)
            block = yield partial(_read_block, file, max(PUT_BYTES, part_bytes(len(etags))))
    except BaseException:
        yield upload.abort
        raise
    yield partial(upload.complete, etags)
    return Stored(upload.etag, upload.version_id, upload.via, upload.acknowledged)


def _read_block(file: Any, nbytes: int) -> bytearray:
    """Fewer bytes at the file's end alone."""
    block = bytearray()
    while len(block) < nbytes:
        more = file.read(nbytes - len(block))
        if more is None:
            raise BlockingIOError("the file does not block, and has nothing to read for now")
        if isinstance(more, str):
            raise TypeError("a text file: open it in binary mode")
        if not more:
            break
        block += more
    return block


def listed(paths: Paths, url: str, recursive: bool) -> Iterator[Info]:
    bucket, prefix = split(url, with_key=False)
    scheme = url.partition("://")[0]
    for page in paths.http().list(url, bucket, prefix, "" if recursive else "/"):
        # A store may list an object that is just being written, which has no ETag yet.
        objects = [Info(f"{scheme}://{bucket}/{each['Key']}", each["Size"], each.get("ETag", ""),
                        each["LastModified"].astimezone(timezone.utc))
                   for each in page.get("Contents", ())]
        folders = [Info(f"{scheme}://{bucket}/{each['Prefix']}", 0, "", None) for each in page.get("CommonPrefixes", ())]
        yield from sorted(objects + folders, key=lambda each: each.url)


def delete(paths: Paths, url: str) -> Steps[None]:
    bucket, key = split(url)
    yield partial(paths.http().call, url, "delete_object", Bucket=bucket, Key=key)
