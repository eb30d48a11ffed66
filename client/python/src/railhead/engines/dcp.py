"""
Checkpoints of torch.distributed.checkpoint as objects below one URL.

    dcp.save(state, storage_writer=RailheadWriter("s3://checkpoints/run-7/step-1000/"))
    dcp.load(state, storage_reader=RailheadReader("s3://checkpoints/run-7/step-1000/"))

Each rank's part is one object of tensors' plain bytes, written from their own memory and read into it. Its name is new with each
save. `.metadata` is written last, by the coordinator, with one PUT: before it the checkpoint is not there, or the former one is.
"""

from __future__ import annotations

import io
import logging
import math
import os
import pickle
import re
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from enum import Enum, EnumMeta
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.checkpoint import StorageReader, StorageWriter
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta
from torch.distributed.checkpoint.planner import LoadItemType, LoadPlan, LoadPlanner, SavePlan, SavePlanner
from torch.distributed.checkpoint.storage import WriteResult
from torch.futures import Future

from railhead import _memory, errors
from railhead._bulk import delete_all
from railhead._calls import Upload
from railhead._jobs import Parts, Read
from railhead._options import PART_BYTES, PutOptions
from railhead._settings import PUT_BYTES, split
from railhead._transfer import Transfer
from railhead.client import Client, connect
from railhead.engines._layout import Section, batches, lay_out, part_bytes, with_offsets
from railhead.torch import empty

if TYPE_CHECKING:
    from railhead._paths import Paths
    from railhead._session import Box
    from railhead._transfer import Steps

_LOG = logging.getLogger(__name__)
_METADATA = ".metadata"
_SUFFIX = ".railhead"
_ASK_SECONDS = 30.0       # of a save, for the store to have what an answer of its own says it has
_MOST_PARTS = 5000        # half of what S3 allows, as parts of one object differ in size


@dataclass(frozen=True)
class _Place:
    """An item's bytes in the object `file` beside the metadata; of a tensor's chunk also its shape and type."""

    file: str
    offset: int
    nbytes: int
    shape: tuple[int, ...] = ()
    dtype: torch.dtype | None = None


class _Folder:
    """Place of a checkpoint, and the client that goes there, for both directions. Threads: one, as torch calls them."""

    def __init__(self, url: str | os.PathLike[str] = "", *, client: Client | None = None) -> None:
        super().__init__()
        self._given = client
        self._url = ""
        self.reset(url)

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Takes another checkpoint's URL, s3://BUCKET/PREFIX, in place of the constructor's."""
        if checkpoint_id:
            self._url = str(checkpoint_id).rstrip("/") + "/"
            split(self._url, with_key=False)

    @property
    def checkpoint_id(self) -> str:
        return self._url

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        try:
            split(str(checkpoint_id), with_key=False)
        except ValueError:
            return False
        return True

    def _client(self) -> Client:
        return self._given or connect()

    def _of(self, name: str) -> str:
        if not self._url:
            raise ValueError("no URL of a checkpoint: give it to the constructor, or as checkpoint_id")
        return self._url + name

    def _metadata(self) -> Any:
        """NotFound where there is none, ValueError where it is another storage's."""
        content = self._client().get(self._of(_METADATA))
        try:
            return _unpickled(content)
        except ValueError as error:
            raise ValueError(f"{self._url} has no checkpoint of RailheadWriter: {error}") from error


class RailheadWriter(_Folder, StorageWriter):
    """
    Writes a checkpoint below a URL. `client` is the environment's where none is given. A save over a checkpoint replaces it once
    the new one is whole, and then deletes the former one's objects: `settle` does where a gateway acknowledged it at its disk.
    """

    _rank = 0

    def __init__(self, url: str | os.PathLike[str] = "", *, client: Client | None = None) -> None:
        super().__init__(url, client=client)
        self._is_saving = False  # as the coordinator
        self._saved = ""  # the URL of the last save that was finished as the coordinator
        self._replaced: dict[str, set[str]] = {}  # by a checkpoint's URL: what is deleted once the store has it
        self._at_disk: set[str] = set()  # checkpoints that are not known to be in the store

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        if not kwargs.get("use_collectives", True):
            raise ValueError("a save without collectives has no metadata of all ranks: use_collectives=True is needed")
        self._rank = kwargs.get("rank") or 0
        self._is_saving = is_coordinator

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        return plans

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Returns when all is stored: the future is done."""
        name = f"__{self._rank}_{uuid.uuid4().hex}{_SUFFIX}"
        texts = {each.index: planner.resolve_data(each) for each in plan.items if each.tensor_data is None}
        sizes = [(each, _planned_bytes(each, texts.get(each.index))) for each in plan.items]
        step = max(PART_BYTES, -(-sum(nbytes for _, nbytes in sizes) // _MOST_PARTS))
        sections = lay_out(sizes, step)
        results: list[WriteResult] = []
        windows = partial(self._window, name, results, lambda item: texts.get(item.index) or planner.resolve_data(item))
        self._send(self._of(name), sections, step, windows)
        done: Future[list[WriteResult]] = Future()
        done.set_result(results)
        return done

    def _window(self, name: str, results: list[WriteResult], resolve: Callable[[Any], Any], section: Section,
                offset: int) -> Any:
        """The section's bytes, in the tensor's own memory where it is one that lies in one piece."""
        gathered = empty(self._client(), section.nbytes, torch.uint8) if len(section.items) > 1 else None
        window, at = gathered, 0
        for item, nbytes in section.items:
            content = resolve(item)
            place = _place(name, offset + at, nbytes, content)
            results.append(WriteResult(index=item.index, size_in_bytes=nbytes, storage_data=place))
            flat = _flat(content)
            if flat.nelement() != nbytes:
                raise ValueError(f"{item.index.fqn} has {flat.nelement()} bytes where {nbytes} were planned")
            if gathered is None:
                window = flat
            else:
                gathered[at:at + nbytes].copy_(flat)
            at += nbytes
        return window

    def _send(self, url: str, sections: list[Section], step: int, window: Callable[[Section, int], Any]) -> None:
        client = self._client()
        total = sum(section.nbytes for section in sections)
        if len(sections) <= 1 and total <= PUT_BYTES:
            windows = [window(section, 0) for section in sections]
            if total:  # a rank may have nothing, and needs no object then
                client.put_from(url, windows[0])
            return
        upload = client._upload(url, PutOptions())
        etags: dict[int, str] = {}
        offset = 0
        try:
            upload.create()
            for batch in batches(sections, lambda section: section.nbytes):
                etags |= _send_parts(client, upload, len(etags) + 1, step, [
                    (section.nbytes, partial(window, section, at)) for section, at in with_offsets(batch, offset)])
                offset += sum(section.nbytes for section in batch)
        except BaseException:
            upload.abort()
            raise
        upload.complete(etags)

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        metadata.storage_data = {each.index: each.storage_data for of_rank in results for each in of_rank}
        metadata.storage_meta = self.storage_meta()
        content = _pickled(metadata)
        try:
            _unpickled(content)
        except ValueError as error:
            raise ValueError(f"{self._url}: no load could read this checkpoint, and the former one stays: {error}") from error
        former = self._former()
        level = self._client().put_from(self._of(_METADATA), content).acknowledged
        files = {place.file for place in metadata.storage_data.values()}
        replaced = {self._of(name) for name in former - files}
        if level != "store":
            self._at_disk.add(self._url)
        if level != "store" or (replaced and not self._has_all(self._url)):
            self._replaced[self._url] = self._replaced.get(self._url, set()) | replaced
        else:
            self._delete(replaced)
        self._saved, self._is_saving = self._url, False

    def settle(self, *, keep: int | None = None, timeout: float = 600.0) -> list[str]:
        """
        Waits until the store has the checkpoint of the last save, and then deletes the objects of the one that it replaced.
        `keep` deletes also all but so many of the newest checkpoints in folders beside its own, and their URLs are returned.
        Nothing is deleted before the store has it: DeadlineExceeded after `timeout` seconds, StoreError (409) where an
        administrator has discarded some of it. ValueError while a save is under way, and after one that failed. On other ranks
        than the coordinator it does nothing, nor where torch saved in another process.
        """
        if keep is not None and keep < 1:
            raise ValueError(f"keep must be 1 or more: {keep}")
        if self._is_saving:
            raise ValueError(f"{self._url}: the last save is under way or has failed, so nothing is deleted")
        over = time.monotonic() + timeout
        failed = self._settle_replaced(over)
        gone: list[str] = []
        if keep is not None and self._saved and self._saved not in failed:
            gone = self._older()[keep - 1:]
            if gone:
                self._flush(self._saved, over - time.monotonic())
        for url in gone:
            delete_all(self._client(), [each.url for each in self._client().list(url)])
            self._replaced.pop(url, None)
            failed.pop(url, None)
        for error in failed.values():
            raise error
        return gone

    def _settle_replaced(self, over: float) -> dict[str, errors.RailheadError]:
        """By a checkpoint's URL, why what it replaced is still there: the others are gone on with."""
        failed = {}
        for url in list(self._replaced):
            try:
                self._flush(url, over - time.monotonic())
            except errors.RailheadError as error:
                failed[url] = error
            else:
                self._delete(self._replaced.pop(url))
        return failed

    def _flush(self, url: str, timeout: float) -> None:
        """Raises where the store lacks some of a checkpoint. What a store acknowledged needs no gateway."""
        with nullcontext() if url in self._at_disk else suppress(errors.NotServed, errors.AccessDenied):
            self._client().flush(url, timeout=max(0.0, timeout))
        self._at_disk.discard(url)

    def _has_all(self, url: str) -> bool:
        """Asks for ranks' objects that a disk acknowledged, and an administrator may have discarded since."""
        try:
            self._flush(url, _ASK_SECONDS)
        except errors.RailheadError as error:
            _LOG.warning("%s: objects of the former checkpoint are left: %s", url, error)
            return False
        return True

    def _older(self) -> list[str]:
        """
        Other checkpoints beside the last one saved, the newest first: by the store's time, then by the numbers in their names.
        NotFound where that one is not there itself: then nothing may be deleted for it.
        """
        above = self._saved.rstrip("/").rpartition("/")[0] + "/"
        found = [each for each in self._client().list(above)
                 if each.url.endswith(f"/{_METADATA}") and each.url.count("/") == above.count("/") + 1]
        found.sort(key=lambda each: (each.last_modified, _by_number(each.url)), reverse=True)
        urls = [each.url.removesuffix(_METADATA) for each in found]
        others = [url for url in urls if split(url) != split(self._saved)]
        if len(others) == len(urls):
            raise errors.NotFound(f"there is no {_METADATA} any more, so no other checkpoint is deleted", url=self._saved)
        return others

    def _delete(self, replaced: set[str]) -> None:
        try:
            delete_all(self._client(), replaced)
        except errors.RailheadError as error:  # the checkpoint is whole: what is left only takes room
            _LOG.warning("%s: objects of the former checkpoint are left: %s", self._url, error)

    def _former(self) -> set[str]:
        """Objects of the checkpoint that is there, where it is one of this class."""
        try:
            places = (self._metadata().storage_data or {}).values()
        except errors.NotFound:
            return set()
        except (errors.RailheadError, ValueError) as error:  # what may not be read is not this one's to delete
            _LOG.warning("%s: objects of the former checkpoint are left: %s", self._url, error)
            return set()
        return {place.file for place in places}

    def storage_meta(self) -> StorageMeta | None:
        return StorageMeta(checkpoint_id=self._url)


def _by_number(url: str) -> list[tuple[int, str]]:
    """A key by which step-9 comes before step-10."""
    return [(int(each), "") if each.isdigit() else (0, each) for each in re.split(r"([0-9]+)", url)]


class RailheadReader(_Folder, StorageReader):
    """
    Reads a checkpoint of RailheadWriter: into the tensors' own memory where the wanted bytes lie in one piece on both sides and
    the types agree, else through memory that is copied from. `client` is the environment's where none is given.
    """

    def __init__(self, url: str | os.PathLike[str] = "", *, client: Client | None = None) -> None:
        super().__init__(url, client=client)
        self._places: dict[Any, _Place] = {}

    def read_metadata(self) -> Metadata:
        """NotFound where no save was finished there; ValueError where it is another storage's checkpoint."""
        try:
            return self._metadata()
        except errors.NotFound as error:
            raise errors.NotFound(f"no checkpoint: there is no {_METADATA}, which a save writes last", status=error.status,
                                  code=error.code, request_id=error.request_id, url=self._url) from error

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self._places = metadata.storage_data or {}

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Returns when all is read: the future is done."""
        for items in batches(plan.items, lambda item: self._places[item.storage_index].nbytes):
            self._read(items, planner)
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def _read(self, items: Iterable[Any], planner: LoadPlanner) -> None:
        client, reads = self._client(), []
        done: list[Callable[[], object]] = []
        with ExitStack() as registered:
            for item in items:
                place = self._places[item.storage_index]
                if item.type == LoadItemType.BYTE_IO:
                    memory: Any = bytearray(place.nbytes)
                    first = place.offset
                    done.append(partial(_load_bytes, planner, item, memory))
                else:
                    memory, first = self._into_tensor(client, item, place, planner, done)
                    _register(registered, client, memory)
                if len(memory):
                    reads.append(Read(self._of(place.file), memory, first))
            for read, got in zip(reads, client.get_many(reads), strict=True):
                if got.length != len(read.buffer):
                    raise ValueError(f"{read.url} ends at {got.size}: bytes from {read.start} on are not there")
        for each in done:
            each()

    @staticmethod
    def _into_tensor(client: Client, item: Any, place: _Place, planner: LoadPlanner,
                     done: list[Callable[[], object]]) -> tuple[Any, int]:
        """Memory for the item's rows, as bytes, and their first byte in the object."""
        target = planner.resolve_tensor(item).detach()
        if target.size() != item.lengths:
            raise ValueError(f"{item.dest_index.fqn} has the shape {list(target.size())}, and {list(item.lengths)} is to be read")
        shape, first = _rows(item, place)
        if target.dtype == place.dtype and target.is_contiguous() and target.size() == shape:
            done.append(partial(planner.commit_tensor, item, target))
            return _flat(target), first
        rows = empty(client, shape, place.dtype)
        done.append(partial(_copy, planner, item, target, rows))
        return _flat(rows), first


_SAFE = frozenset({("railhead.engines.dcp", "_Place"), ("torch", "Size"), ("torch.serialization", "_get_layout"),
                   ("collections", "OrderedDict"), ("builtins", "set"), ("builtins", "slice"), *(
    ("torch.distributed.checkpoint.metadata", name) for name in (
        "BytesStorageMetadata", "ChunkStorageMetadata", "Metadata", "MetadataIndex", "StorageMeta", "TensorProperties",
        "TensorStorageMetadata", "_MEM_FORMAT_ENCODING"))})


class _Unpickler(pickle.Unpickler):
    """Metadata is of what DCP has in it, and nothing else is called: who can write an object cannot run code here."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "getattr"):
            return _member
        if (module, name) in _SAFE or (module == "torch" and isinstance(getattr(torch, name, None), torch.dtype)):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"its metadata names {module}.{name}")


def _member(kind: Any, name: str) -> Any:
    """Stands for getattr, to which some versions of Python reduce a member of an enum. It takes nothing but such members."""
    if not isinstance(kind, EnumMeta):
        raise pickle.UnpicklingError(f"its metadata asks for {name!r} of something that is no enum")
    return kind[name]


class _Pickler(pickle.Pickler):
    """Writes members of enums by value, on every version of Python."""

    def reducer_override(self, what: Any) -> Any:
        return (type(what), (what.value,)) if isinstance(what, Enum) else NotImplemented


def _pickled(metadata: Any) -> bytes:
    content = io.BytesIO()
    _Pickler(content).dump(metadata)
    return content.getvalue()


def _unpickled(content: bytes) -> Any:
    """ValueError where it is no metadata of a RailheadWriter."""
    try:
        metadata = _Unpickler(io.BytesIO(content)).load()
        places = (metadata.storage_data or {}).values()
    except Exception as error:  # of bytes that are no pickle almost any is raised
        raise ValueError(str(error)) from error
    if not all(isinstance(place, _Place) for place in places):
        raise ValueError("its items are stored in another way")
    return metadata


def _planned_bytes(item: Any, text: io.BytesIO | None) -> int:
    if text is not None:
        return len(text.getbuffer())
    element: int = torch.empty(0, dtype=item.tensor_data.properties.dtype).element_size()
    numbers: int = math.prod(item.tensor_data.chunk.sizes)
    return numbers * element


def _send_parts(client: Client, upload: Upload, number: int, step: int,
                windows: Iterable[tuple[int, Callable[[], Any]]]) -> dict[int, str]:
    """Parts from `number` on, of several pieces of memory, all under way together."""
    jobs: list[Parts] = []

    def call(paths: Paths, box: Box) -> Steps[None]:
        yield from Transfer(paths, box).run(jobs)

    with ExitStack() as registered:
        for nbytes, window in windows:
            memory = window()
            if nbytes:
                _register(registered, client, memory)
                part = part_bytes(nbytes, step)
                jobs.append(Parts(upload.url, _memory.view(memory, writable=False), upload.upload_id, part, PutOptions(),
                                  first_number=number))
                number += -(-nbytes // part)
        client._run(call)
    return {part: etag for job in jobs for part, etag in job.etags.items()}


def _register(registered: ExitStack, client: Client, memory: Any) -> None:
    """Large memory, which a gateway reaches by itself where it can; small pieces are copied sooner."""
    if len(memory) >= PART_BYTES and not client._paths.reaches(_memory.view(memory, writable=False)):
        registered.enter_context(client.register(memory))


def _flat(content: Any) -> Any:
    """Bytes as a tensor, over the content's own memory where it lies in one piece."""
    if isinstance(content, io.BytesIO):
        held = bytearray(content.getbuffer())
        return torch.frombuffer(held, dtype=torch.uint8) if held else torch.empty(0, dtype=torch.uint8)
    return content.detach().contiguous().view(-1).view(torch.uint8)


def _place(name: str, offset: int, nbytes: int, content: Any) -> _Place:
    if isinstance(content, io.BytesIO):
        return _Place(name, offset, nbytes)
    return _Place(name, offset, nbytes, tuple(content.shape), content.dtype)


def _rows(item: Any, place: _Place) -> tuple[tuple[int, ...], int]:
    """The rows of the stored chunk that the item needs some or all of: their shape, and their first byte in the object."""
    if not place.shape:
        return (), place.offset
    if not place.nbytes:
        return (0,), place.offset
    row_bytes = place.nbytes // place.shape[0]
    return (item.lengths[0], *place.shape[1:]), place.offset + item.storage_offsets[0] * row_bytes


def _copy(planner: LoadPlanner, item: Any, target: Any, rows: Any) -> None:
    if target.nelement():
        inner = (slice(first, first + count) for first, count in zip(item.storage_offsets[1:], item.lengths[1:], strict=True))
        part = (..., *inner)
        target.copy_(rows[part])
    planner.commit_tensor(item, target)


def _load_bytes(planner: LoadPlanner, item: Any, memory: bytearray) -> None:
    planner.load_bytes(item, io.BytesIO(memory))
