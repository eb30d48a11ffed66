"""
fastsafetensors' loader with files of a gateway: it reads headers and data by URL, straight into the loader's own buffers.

    loader = RailheadFileLoader(SingleGroup(), "cuda:0")
    loader.add_filenames({0: ["s3://models/llama/model-00001.safetensors"]})
    buffers = loader.copy_files_to_device()

Written for fastsafetensors 0.5.0. Its own loaders open a local file for the header, so that the copier alone is not enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from fastsafetensors.common import SafeTensorsMetadata
from fastsafetensors.copier.base import CopierInterface, validated_byte_ranges
from fastsafetensors.copier.nogds import load_library_func
from fastsafetensors.copier.registry import register_copier_constructor
from fastsafetensors.frameworks import get_framework_op
from fastsafetensors.loader import BaseSafeTensorsFileLoader
from fastsafetensors.st_types import DeviceType, DType

from railhead import errors
from railhead._checkpoint import HEADER_GUESS, LENGTH_BYTES, header_of
from railhead._jobs import Read
from railhead._memory import View
from railhead.client import Client, connect

_NAME = "railhead"


class RailheadCopier(CopierInterface):
    """
    Reads one file, whose header is known, into a new buffer. After an error the buffer is not freed: a gateway may still touch it
    (MemoryHeld), and a load that failed is not gone on with.
    """

    def __init__(self, client: Client, etag: str, metadata: Any, device: Any, framework: Any) -> None:
        self.metadata = metadata
        self._client = client
        self._etag = etag
        self._device = device
        self._framework = framework
        self._ranges: Sequence[tuple[int, int]] | None = None

    def set_byte_ranges(self, byte_ranges: Any) -> None:
        self._ranges = validated_byte_ranges(self.metadata, byte_ranges)

    def submit_io(self, use_buf_register: bool, max_copy_block_size: int) -> Any:
        """Returns when all is read."""
        first, end = self.metadata.header_length, self.metadata.size_bytes
        buffer = self._framework.alloc_tensor_memory(end - first, self._device)
        cuda = self._gpu()
        if cuda is not None:  # a gateway knows nothing of streams: what ran on this memory before has to be over
            self._framework.synchronize(self._device)
        whole = View(buffer.get_base_address(), end - first, None, cuda)
        ranges = [(first, end)] if self._ranges is None else self._ranges
        reads = [Read(self.metadata.src, whole.part(at - first, last - at), at) for at, last in ranges if last > at]
        with ExitStack() as registered:
            if reads and not self._client._paths.reaches(whole):
                registered.enter_context(self._client.register(whole))
            for read, got in zip(reads, self._client.get_many(reads), strict=True):
                if got.etag != self._etag or got.length != read.buffer.nbytes:
                    raise errors.PreconditionFailed("the file changed while it was read", url=self.metadata.src)
        return buffer

    def _gpu(self) -> int | None:
        """The GPU that a new buffer lies in; None for the host's memory."""
        if self._device.type != DeviceType.CUDA:
            return None
        if self._device.index is not None:
            return int(self._device.index)
        import torch  # other frameworks' devices always have a number

        return int(torch.cuda.current_device())

    def wait_io(self, gbuf: Any, dtype: Any = DType.AUTO, noalign: bool = False, owner: Any = None) -> Any:
        return self.metadata.get_tensors(gbuf, self._device, self.metadata.header_length, dtype=dtype, owner=owner)


def _new_copier(_device: Any, *, client: Client, etags: dict[str, str], framework: Any,
                **_: Any) -> Callable[..., RailheadCopier]:
    load_library_func(framework)
    return lambda metadata, device, framework: RailheadCopier(client, etags[metadata.src], metadata, device, framework)


register_copier_constructor(_NAME, RailheadCopier)(_new_copier)


class RailheadFileLoader(BaseSafeTensorsFileLoader):
    """
    Files are URLs, s3://BUCKET/KEY. `client` is the environment's where none is given, other options are fastsafetensors' own.
    Threads: one.
    """

    def __init__(self, pg: Any, device: str = "cpu", *, client: Client | None = None, framework: str = "pytorch",
                 **options: Any) -> None:
        self._client = client or connect()
        self._etags: dict[str, str] = {}
        operations = get_framework_op(framework)
        where = operations.get_device(device, operations.get_process_group(pg))
        super().__init__(pg, where, copier_type=_NAME, framework=framework, client=self._client, etags=self._etags, **options)

    def add_filenames(self, filenames: dict[int, list[str]]) -> None:
        urls = [url for of_rank in filenames.values() for url in of_rank if url not in self._metadata_cache]
        guesses = [(url, bytearray(HEADER_GUESS)) for url in urls]
        for (url, guess), got in zip(guesses, self._client.get_many(guesses), strict=True):
            text = header_of(self._client, url, guess, got)
            data = LENGTH_BYTES + len(text)
            self._metadata_cache[url] = SafeTensorsMetadata(text.decode(), data, got.size, self.framework, url)
            self._etags[url] = got.etag
        super().add_filenames(filenames)
