"""The client's calls as steps, which a thread or an event loop has done."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from typing import Any

from railhead import _memory, errors
from railhead._http import said
from railhead._jobs import PIECE_BYTES, Get, Head, Parts, Put, Read, span, stored
from railhead._memory import View
from railhead._paths import Paths
from railhead._progress import Progress, reporting
from railhead._ring import COPIED_BYTES
from railhead._session import Box, Outcome
from railhead._settings import PUT_BYTES, split
from railhead._transfer import Steps, Transfer
from railhead._whole import Got, Whole, got_of

_PART_BYTES = 8 << 20
_MOST_PARTS = 10_000
_FIRST_BYTES = 256 << 10  # of an object that may be small


@dataclass(frozen=True)
class Stored:
    """What was written."""

    etag: str
    version_id: str | None
    via: str


@dataclass(frozen=True)
class Info:
    """An object; of lists without version, content type and metadata."""

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


def _read(paths: Paths, url: str, view: View, start: int) -> Get | Head:
    # Nothing to be moved: but whether the object is there, and how large, is known afterwards.
    return Get(url, view, start, piece_bytes=_piece_bytes(paths, view)) if view.nbytes else Head(url)


def get_into(paths: Paths, box: Box, read: Read) -> Steps[Got]:
    got = yield from get_many(paths, box, [read], None, False)
    only: Got = got[0]
    return only


@dataclass(frozen=True)
class Want:
    """Bytes that are wanted as such: to the object's end without a length. `version` where it is known."""

    url: str
    start: int = 0
    length: int | None = None
    version: Outcome | None = None


def get_all(paths: Paths, box: Box, wants: Iterable[Want], progress: Progress = None,
            return_exceptions: bool = False) -> Steps[list[Any]]:
    """One request for each that is small: how long an object is, is known with its first bytes."""
    with reporting(progress, None, "read") as tell:
        begun = [(want, *_begin(want)) for want in wants]
        fail_fast = not return_exceptions
        yield from Transfer(paths, box, tell, fail_fast=fail_fast).run([job for _, _, job in begun if job])
        made, rest = [], []
        for want, first, job in begun:
            result, more = _rest(paths, want, first, job) if job and not job.error else (job.error if job else b"", None)
            made.append(result)
            rest.append(more)
        yield from Transfer(paths, box, tell, fail_fast=fail_fast).run([job for job in rest if job])
    return [more.error if more and more.error else result for result, more in zip(made, rest, strict=True)]


def _begin(want: Want) -> tuple[bytes, Get | Head | None]:
    span(want.start, want.length)
    if want.length == 0:
        return b"", Head(want.url)
    nbytes = min(_FIRST_BYTES if want.length is None else want.length, PIECE_BYTES)
    if want.version is not None:
        nbytes = min(nbytes, want.version.size - want.start)
    if nbytes <= 0:
        return b"", None
    first, view = _new_bytes(nbytes)
    return first, Get(want.url, view, want.start, version=want.version, piece_bytes=COPIED_BYTES)


def _rest(paths: Paths, want: Want, first: bytes, job: Get | Head) -> tuple[bytes, Get | None]:
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
    return made, Get(want.url, rest, want.start + job.moved, piece_bytes=_piece_bytes(paths, rest), version=job.outcome)


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


def head(paths: Paths, box: Box, url: str) -> Steps[Info]:
    job = Head(url)
    yield from Transfer(paths, box).run([job])
    assert job.outcome is not None
    return _info(url, job.outcome)


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
    headers: dict[str, str]
    if_none_match: bool
    upload_id: str = ""
    etag: str = ""
    version_id: str | None = None

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        bucket, key = split(self.url)
        return self.paths.http().call(self.url, operation, Bucket=bucket, Key=key, **arguments)

    def send(self, box: Box, first_number: int, buffer: Any, part_bytes: int) -> Steps[dict[int, str]]:
        """In parts of one size, up to twice `part_bytes`, or what fits into the ring; their ETags."""
        view = _memory.view(buffer, writable=False)
        count = max(1, view.nbytes // min(part_bytes, self.paths.settings.ring // 2))
        job = Parts(self.url, view, self.upload_id, -(-view.nbytes // count), first_number=first_number)
        yield from Transfer(self.paths, box).run([job])
        return job.etags

    def create(self) -> None:
        self.upload_id = said(self._call("create_multipart_upload", **stored(self.headers)), "UploadId", self.url)

    def complete(self, etags: Mapping[int, str]) -> None:
        """What fails is aborted, unless it may have been done, or may still be."""
        parts = [{"PartNumber": number, "ETag": etags[number]} for number in sorted(etags)]
        try:
            answer = self._call("complete_multipart_upload", UploadId=self.upload_id, MultipartUpload={"Parts": parts},
                                IfNoneMatch="*" if self.if_none_match else None)
        except errors.OutcomeUnknown:
            raise
        except BaseException:
            self.abort()
            raise
        self.etag, self.version_id = said(answer, "ETag", self.url), answer.get("VersionId")

    def abort(self) -> None:
        # What is raised is why it is aborted.
        with suppress(errors.RailheadError):
            if self.upload_id:
                self._call("abort_multipart_upload", UploadId=self.upload_id)


def put_from(paths: Paths, box: Box, url: str, buffer: Any, content_type: str | None, metadata: Mapping[str, str] | None,
             if_none_match: bool, progress: Progress) -> Steps[Stored]:
    view = _memory.view(buffer, writable=False)
    headers = {f"x-amz-meta-{name.lower()}": value for name, value in (metadata or {}).items()}
    if content_type:
        headers["content-type"] = content_type
    # Others a store mangles, each in its own way, and botocore refuses.
    if any(not text.isascii() or mark in text for line in headers.items() for text in line for mark in "\r\n\0"):
        raise ValueError("content type and metadata are one line of ASCII each")
    with reporting(progress, view.nbytes, "write") as tell:
        transfer = Transfer(paths, box, tell)
        if view.nbytes <= PUT_BYTES:
            job = Put(url, view, headers, if_none_match=if_none_match)
            yield from transfer.run([job])
            assert job.outcome is not None
            return Stored(job.outcome.etag, job.outcome.version_id or None, job.via)
        upload = Upload(paths, url, headers, if_none_match)
        return (yield from _in_parts(transfer, upload, view))


def _in_parts(transfer: Transfer, upload: Upload, view: View) -> Steps[Stored]:
    part_bytes = max(_PART_BYTES, -(-view.nbytes // _MOST_PARTS))
    try:
        yield upload.create
        job = Parts(upload.url, view, upload.upload_id, part_bytes)
        yield from transfer.run([job])
    except BaseException:
        yield upload.abort
        raise
    yield partial(upload.complete, job.etags)
    return Stored(upload.etag, upload.version_id, job.via)


def listed(paths: Paths, url: str, recursive: bool) -> Iterator[Info]:
    bucket, prefix = split(url, with_key=False)
    scheme = url.partition("://")[0]
    for page in paths.http().list(url, bucket, prefix, "" if recursive else "/"):
        objects = [Info(f"{scheme}://{bucket}/{each['Key']}", each["Size"], each["ETag"],
                        each["LastModified"].astimezone(timezone.utc))
                   for each in page.get("Contents", ())]
        folders = [Info(f"{scheme}://{bucket}/{each['Prefix']}", 0, "", None) for each in page.get("CommonPrefixes", ())]
        yield from sorted(objects + folders, key=lambda each: each.url)


def delete(paths: Paths, url: str) -> Steps[None]:
    bucket, key = split(url)
    yield partial(paths.http().call, url, "delete_object", Bucket=bucket, Key=key)
