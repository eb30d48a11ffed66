"""Files of the filesystem: objects that are read in blocks, and written in parts."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fsspec.spec import AbstractBufferedFile

from railhead import errors
from railhead._calls import Upload, Want
from railhead._local import os_error
from railhead._options import PART_BYTES, PutOptions, ReadOptions, part_bytes
from railhead._session import Outcome

if TYPE_CHECKING:
    from railhead.fsspec import RailheadFileSystem


class RailheadFile(AbstractBufferedFile):
    """
    Read in blocks of one version; written in parts that become an object when it is closed, in a transaction when that ends.
    Of one that was discarded, as after an error, also of whoever writes it, nothing is stored any more.
    """

    fs: RailheadFileSystem
    buffer: io.BytesIO
    blocksize: int
    _upload: Upload | None = None
    _is_discarded = False
    _appended_to: Mapping[str, Any] | None = None  # the object whose bytes come first

    def __init__(self, fs: RailheadFileSystem, path: str, mode: str, block_size: int, autocommit: bool, *,
                 reads: ReadOptions, puts: PutOptions, head: Mapping[str, Any] | None = None, **options: Any) -> None:
        self._reads, self._puts = reads, puts
        self._etags: dict[int, str] = {}
        if head is not None:
            self._details = head
        super().__init__(fs, path, mode, block_size, autocommit, **options)
        if mode == "ab" and head is not None:
            self.loc = head["size"]
            self._appended_to = head

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self.mode != "rb" and not self.closed:
            self.discard()
        self.close()

    def __reduce__(self) -> Any:
        again, arguments = super().__reduce__()
        return again, (*arguments[:-1], self._reads.arguments())

    def _fetch_range(self, start: int, end: int) -> bytes:
        version = Outcome(size=self.size, etag=self.details["ETag"])
        url = self.fs._url(self.path)
        got: bytes = self.fs.client._get_ranges([Want(url, start, end - start, version, self._reads)])[0]
        return got

    def _upload_chunk(self, final: bool = False) -> bool:
        try:
            if self._appended_to is not None:
                if final and self.autocommit and not self.buffer.tell():
                    return True
                self._begin_with(self._appended_to)
                self._appended_to = None
            data = self.buffer.getbuffer()
            if not final and len(data) < PART_BYTES:
                return False
            is_whole = final and self.autocommit and self._upload is None
            if len(data) and not is_whole:
                self._send(data)
        except BaseException:
            self.discard()
            raise
        if final and self.autocommit:
            self.commit()
        return True

    def _begin_with(self, head: Mapping[str, Any]) -> None:
        """Copies the bytes that are there at the store where they make a part, else puts them before those that are new."""
        if head["size"] < PART_BYTES:
            written, before = self.buffer.getvalue(), self.fs.client._get_ranges(
                [Want(self.fs._url(self.path), 0, head["size"], Outcome(size=head["size"], etag=head["ETag"]))])[0]
            self.buffer = io.BytesIO(before + written)
            self.buffer.seek(0, io.SEEK_END)
        else:
            self._etags = self.fs._copy_parts(self._begun(), self.path, head)

    def _begun(self) -> Upload:
        if self._upload is None:
            self._upload = self.fs.client._upload(self.fs._url(self.path), self._puts)
            self._upload.create()
        return self._upload

    def _send(self, data: memoryview) -> None:
        upload, sent = self._begun(), len(self._etags)
        self.blocksize = max(self.blocksize, part_bytes(sent))
        self._etags |= self.fs.client._send_parts(upload, sent + 1, data, self.blocksize)

    def commit(self) -> None:
        """Without an upload what is in the buffer is all: after a transaction nothing is."""
        if not self.autocommit:
            self.close()
        url = self.fs._url(self.path)
        if self._is_discarded:
            raise errors.Cancelled("the file was discarded", url=url)
        upload, self._upload = self._upload, None
        with only_new(self._puts.if_none_match, self.path):
            if upload is None:
                self.fs.client._put(url, self.buffer.getbuffer(), self._puts)
            else:
                upload.complete(self._etags)

    def discard(self) -> None:
        self._is_discarded = self.closed = True
        upload, self._upload = self._upload, None
        if upload is not None:
            upload.abort()


class TextFile(io.TextIOWrapper):
    """Tells the file of the error that it is left by: io's own would only close it, which stores it."""

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is not None and isinstance(self.buffer, RailheadFile):
            self.buffer.__exit__(kind, *error)
        self.close()


@contextmanager
def only_new(is_wanted: bool, path: str) -> Iterator[None]:
    try:
        yield
    except errors.PreconditionFailed as error:
        if not is_wanted:
            raise
        raise os_error(errno.EEXIST, path) from error


@contextmanager
def refused(path: str, number: int, *codes: str) -> Iterator[None]:
    """What the store answers with one of `codes`, as files' errors."""
    try:
        yield
    except errors.StoreError as error:
        if error.code not in codes:
            raise
        raise os_error(number, path) from error
