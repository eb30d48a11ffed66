"""The client: objects of a gateway in memory of the program's."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from railhead import _calls, _drive, _memory
from railhead._calls import Info, Stored, Upload, Want
from railhead._flush import flush
from railhead._jobs import Read
from railhead._options import PutOptions, ReadOptions, of_version
from railhead._paths import Paths, Report
from railhead._prefetch import Prefetched, prefetch
from railhead._progress import Progress
from railhead._session import Box, LoopBox, ThreadBox
from railhead._settings import Credentials, Fallback, settle
from railhead._transfer import Steps
from railhead._whole import Got

if TYPE_CHECKING:
    import numpy as np

    from railhead.kv import KV

Result = TypeVar("Result")
Reads = Iterable[Read | tuple[str, Any]]


class Client:
    """
    Any thread may call any method, at the same time. A buffer is the gateway's from the call until it returned, and is held for
    that long.
    """

    def __init__(self, endpoint: str | None = None, *, fabric: str = "auto", region: str | None = None,
                 profile: str | None = None, credentials: Credentials | None = None,
                 ca: str | os.PathLike[str] | None = None,
                 deadline: float = 60.0, in_flight: int = 32, ring: int = 64 << 20, fallback: Fallback | None = None) -> None:
        self._arguments = (endpoint, fabric, region, profile, credentials, ca, deadline, in_flight, ring, fallback)
        self._settings = settle(*self._arguments)
        self._renew()
        _clients.add(self)

    def _renew(self) -> None:
        self._paths = Paths(self._settings)
        self._closing = weakref.finalize(self, self._paths.end)
        self._closing.atexit = False  # as of sessions

    def _begin_again(self) -> None:
        """In a child of fork, which has neither sessions nor threads of its parent's."""
        self._closing.detach()
        self._renew()

    def __reduce__(self) -> tuple[object, ...]:
        return _again, self._arguments

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """
        Cancels the calls that are under way, on other threads and event loops, and waits until the last has ended and the gateway
        has let go of all memory. Memory of `empty` and `buffer` stays what it is.
        """
        self._paths.close()

    def _run(self, call: Callable[[Paths, Box], Steps[Result]]) -> Result:
        paths = self._paths
        box = ThreadBox()
        try:
            paths.enter(box)
            result = _drive.by_thread(call(paths, box), box)
        finally:
            paths.calls.discard(box)
        return result

    async def _arun(self, call: Callable[[Paths, Box], Steps[Result]]) -> Result:
        paths = self._paths
        box = LoopBox()
        try:
            paths.enter(box)
            result = await _drive.by_loop(call(paths, box), box)
        finally:
            paths.calls.discard(box)
        return result

    # ---- Before reading ----

    def prefetch(self, urls: Iterable[str]) -> list[Prefetched]:
        """
        Has the gateway bring the objects into its cache, with the rights and within the limits of who asks. Returns when each is
        there, or is known not to come. NotServed where the endpoint is no gateway.
        """
        return prefetch(self._paths.settings, urls)

    async def aprefetch(self, urls: Iterable[str]) -> list[Prefetched]:
        return await asyncio.to_thread(self.prefetch, urls)

    # ---- Reading ----

    def get_into(self, url: str, buffer: Any, *, start: int = 0, length: int | None = None,
                 version_id: str | None = None) -> Got:
        """Reads the object's bytes from `start` into the buffer's first: as many as fit, are asked for, or there are."""
        options = of_version(version_id)
        return self._run(lambda paths, box: _calls.get_into(paths, box, Read(url, buffer, start, length), options))

    def _get_into(self, url: str, buffer: Any, options: ReadOptions, progress: Progress) -> Got:
        return self._run(lambda paths, box: _calls.get_into(paths, box, Read(url, buffer), options, progress))

    async def aget_into(self, url: str, buffer: Any, *, start: int = 0, length: int | None = None,
                        version_id: str | None = None) -> Got:
        options = of_version(version_id)
        return await self._arun(lambda paths, box: _calls.get_into(paths, box, Read(url, buffer, start, length), options))

    # Lists of Got, or of Got and Exception with `return_exceptions`; Any spares the many who do not ask for them a check.
    def get_many(self, reads: Reads, *, progress: Progress = None, return_exceptions: bool = False) -> list[Any]:
        """Reads many at a time. In the order of `reads`: each one's Got, or, with `return_exceptions`, its error."""
        return self._run(lambda paths, box: _calls.get_many(paths, box, reads, progress, return_exceptions))

    async def aget_many(self, reads: Reads, *, progress: Progress = None, return_exceptions: bool = False) -> list[Any]:
        return await self._arun(lambda paths, box: _calls.get_many(paths, box, reads, progress, return_exceptions))

    def get(self, url: str, *, start: int = 0, length: int | None = None, version_id: str | None = None) -> bytes:
        want = Want(url, start, length, options=of_version(version_id))
        return self._run(lambda paths, box: _calls.get(paths, box, want))

    async def aget(self, url: str, *, start: int = 0, length: int | None = None, version_id: str | None = None) -> bytes:
        want = Want(url, start, length, options=of_version(version_id))
        return await self._arun(lambda paths, box: _calls.get(paths, box, want))

    def _get_ranges(self, wants: Iterable[Want], *, return_exceptions: bool = False) -> list[Any]:
        """As get_all, of parts of objects."""
        return self._run(lambda paths, box: _calls.get_all(paths, box, wants, None, return_exceptions))

    def get_all(self, urls: Iterable[str], *, progress: Progress = None, return_exceptions: bool = False) -> list[Any]:
        """Whole objects, many at a time: each one's bytes, or, with `return_exceptions`, its error."""
        wants = map(Want, urls)
        return self._run(lambda paths, box: _calls.get_all(paths, box, wants, progress, return_exceptions))

    async def aget_all(self, urls: Iterable[str], *, progress: Progress = None,
                       return_exceptions: bool = False) -> list[Any]:
        wants = map(Want, urls)
        return await self._arun(lambda paths, box: _calls.get_all(paths, box, wants, progress, return_exceptions))

    def head(self, url: str, *, version_id: str | None = None) -> Info:
        return self._head(url, of_version(version_id))

    async def ahead(self, url: str, *, version_id: str | None = None) -> Info:
        return await self._arun(lambda paths, box: _calls.head(paths, box, url, of_version(version_id)))

    def _head(self, url: str, options: ReadOptions) -> Info:
        return self._run(lambda paths, box: _calls.head(paths, box, url, options))

    def _head_all(self, urls: Iterable[str]) -> list[Info | Exception]:
        return self._run(lambda paths, box: _calls.head_all(paths, box, urls))

    def list(self, url: str, *, recursive: bool = True) -> Iterator[Info]:
        """What begins with the URL, by name; not recursive: folders end in "/" and have size 0."""
        yield from _calls.listed(self._paths, url, recursive)  # which holds the client meanwhile

    # ---- Writing ----

    def put_from(self, url: str, buffer: Any, *, content_type: str | None = None,
                 metadata: Mapping[str, str] | None = None, if_none_match: bool = False, progress: Progress = None,
                 options: Mapping[str, Any] | None = None) -> Stored:
        """
        Writes the whole buffer, or what a binary file has up to its end, as one object. Returns once it is acknowledged: by the
        store, or by the gateway's disk where a rule says so, as `Stored.acknowledged` has it.
        `options` are others of S3's PUT, as botocore names them: with one of them the object goes over HTTP.
        """
        kept = PutOptions(content_type, metadata or {}, if_none_match, options or {})
        return self._put(url, buffer, kept, progress)

    async def aput_from(self, url: str, buffer: Any, *, content_type: str | None = None,
                        metadata: Mapping[str, str] | None = None, if_none_match: bool = False, progress: Progress = None,
                        options: Mapping[str, Any] | None = None) -> Stored:
        kept = PutOptions(content_type, metadata or {}, if_none_match, options or {})
        return await self._arun(lambda paths, box: _calls.put_from(paths, box, url, buffer, kept, progress))

    def _put(self, url: str, source: Any, options: PutOptions, progress: Progress = None) -> Stored:
        return self._run(lambda paths, box: _calls.put_from(paths, box, url, source, options, progress))

    def _upload(self, url: str, options: PutOptions) -> Upload:
        """A multipart upload in the hands of the caller, as a filesystem's files need it."""
        return Upload(self._paths, url, options)

    def _send_parts(self, upload: Upload, first_number: int, buffer: Any, part_bytes: int) -> dict[int, str]:
        return self._run(lambda _, box: upload.send(box, first_number, buffer, part_bytes))

    def call(self, url: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Any other operation of S3's, over HTTP, as botocore names it and its arguments."""
        return self._paths.http().call(url, operation, **arguments)

    def flush(self, url: str, *, timeout: float = 600.0) -> None:
        """
        Waits until the store has what a gateway has acknowledged to this principal at its disk before, of what begins with the
        URL. DeadlineExceeded, with what is left, after `timeout` seconds; NotServed where the endpoint is no gateway.
        """
        self._run(lambda paths, _: flush(paths, url, timeout))

    async def aflush(self, url: str, *, timeout: float = 600.0) -> None:
        await self._arun(lambda paths, _: flush(paths, url, timeout))

    def delete(self, url: str) -> None:
        self._run(lambda paths, _: _calls.delete(paths, url))

    async def adelete(self, url: str) -> None:
        await self._arun(lambda paths, _: _calls.delete(paths, url))

    # ---- Memory ----

    def _allocate(self, nbytes: int) -> Any:
        paths = self._paths
        array, region = _memory.allocate(nbytes, shared=True)
        paths.add(region)
        weakref.finalize(array, _abandon, weakref.ref(paths), region).atexit = False
        return array

    def buffer(self, nbytes: int) -> memoryview:
        """Zeroed memory that the gateway can reach."""
        return memoryview(self._allocate(nbytes)).cast("B")

    def empty(self, shape: int | tuple[int, ...], dtype: Any = "uint8") -> np.ndarray[Any, Any]:
        """A zeroed array in memory that the gateway can reach."""
        import numpy as np

        kind = np.dtype(dtype)
        if kind.hasobject:
            raise TypeError(f"an array of Python objects: {kind}")
        nbytes = _memory.count_of(shape) * kind.itemsize
        made: np.ndarray[Any, Any] = np.ndarray(shape, kind, self._allocate(max(nbytes, 1)))
        return made

    @contextmanager
    def register(self, buffer: Any) -> Iterator[None]:
        """Meanwhile the gateway may move bytes to and from the buffer directly, where it can; else they are copied."""
        paths = self._paths
        region = _memory_region(_memory.view(buffer, writable=True))
        paths.add(region)
        try:
            session = paths.session()
            if session is not None:
                paths.register(region, session)
            yield
        finally:
            paths.remove(region)

    # ---- Blocks of a cache ----

    def kv(self, url: str) -> KV:
        """A namespace of cache-only blocks, whose keys come behind the URL: s3://BUCKET/PREFIX."""
        from railhead.kv import KV

        return KV(self, url)

    # ---- What is told ----

    @property
    def via(self) -> str:
        """ "loopback", "verbs", or "http: " and the reason; connects if there is need."""
        return self._paths.via

    def report(self) -> Report:
        return self._paths.report()


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _in_child() -> None:
    _memory.begin_again()
    for client in list(_clients):
        client._begin_again()


os.register_at_fork(after_in_child=_in_child)


def _memory_region(view: _memory.View) -> _memory.Region:
    if view.cuda is None:
        return _memory.Region(view)
    from railhead._cuda import CudaRegion

    return CudaRegion(view)


def _abandon(paths: weakref.ref[Paths], region: _memory.Region) -> None:
    client_paths = paths()
    if client_paths is not None:
        client_paths.abandon(region)


def _again(endpoint: str | None, fabric: str, region: str | None, profile: str | None, credentials: Credentials | None,
           ca: str | os.PathLike[str] | None, deadline: float, in_flight: int, ring: int,
           fallback: Fallback | None = None) -> Client:
    return Client(endpoint, fabric=fabric, region=region, profile=profile, credentials=credentials, ca=ca,
                  deadline=deadline, in_flight=in_flight, ring=ring, fallback=fallback)


@cache
def connect() -> Client:
    """This process's client of the environment's settings."""
    return Client()
