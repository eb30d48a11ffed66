"""Many operations of the filesystem at a time, and what S3 does to many objects, or many parts, itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import groupby, islice
from typing import Any, TypeVar
from urllib.parse import urlencode

from railhead import errors
from railhead._calls import Upload
from railhead._options import for_put, kept_of, of_every_part, of_source, of_target
from railhead._settings import split
from railhead.client import Client

Result = TypeVar("Result")
_AT_ONCE = 16
_KEYS_OF_A_DELETE = 1000         # S3's limit
_COPIED_PART_BYTES = 512 << 20   # the store copies it itself, which takes it seconds
_MOST_COPIED_PARTS = 5000        # leaves numbers for what is appended
_NOT_DONE = ("NotImplemented", "MethodNotAllowed")


class Recorder:
    """A filesystem that copies nothing: it records what fsspec's own get, put and copy would have it copy."""

    def __init__(self, fs: Any) -> None:
        self._fs = fs
        self.copies: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fs, name)

    def get_file(self, source: str, target: str, **_: Any) -> None:
        self.copies.append((source, target))

    put_file = cp_file = get_file


def together(work: Callable[..., Result], each: Sequence[tuple[Any, ...]],
             done: Callable[[int], object] | None = None) -> list[Result]:
    """The work on each of them, some at a time. After the first error no other one begins."""
    if len(each) == 1:  # on the caller's thread, which an interrupt reaches
        only = [work(*each[0])]
        if done is not None:
            done(1)
        return only
    with ThreadPoolExecutor(_AT_ONCE, "railhead-fsspec") as pool:
        futures = [pool.submit(work, *arguments) for arguments in each]
        try:
            for future in as_completed(futures):
                future.result()
                if done is not None:
                    done(1)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def delete_all(client: Client, urls: Iterable[str]) -> None:
    """A thousand with each request, where the store has that."""
    together(lambda bucket, keys: _delete(client, bucket, keys), list(_batches(urls)))


def _batches(urls: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    for bucket, pairs in groupby(sorted({split(url) for url in urls}), lambda pair: pair[0]):
        while keys := [key for _, key in islice(pairs, _KEYS_OF_A_DELETE)]:
            yield bucket, keys


def _delete(client: Client, bucket: str, keys: list[str]) -> None:
    url = f"railhead://{bucket}"
    if len(keys) == 1:
        client.delete(f"{url}/{keys[0]}")
        return
    try:
        answer = client.call(url, "delete_objects", Bucket=bucket,
                             Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True})
    except errors.StoreError as error:
        if error.status != 501 and error.code not in _NOT_DONE:
            raise
        for key in keys:
            client.delete(f"{url}/{key}")
        return
    for failed in answer.get("Errors", ()):
        status = {"AccessDenied": 403, "NoSuchBucket": 404}.get(failed.get("Code", ""), 0)
        raise errors.of_store(status, failed.get("Code", ""), failed.get("Message", ""), f"{url}/{failed.get('Key', '')}")


def copy_parts(upload: Upload, source: Mapping[str, str], size: int, etag: str, options: Mapping[str, Any]) -> dict[int, str]:
    """The first parts of the upload, of one version of the source: the store copies them. Their ETags."""
    count = max(1, size // max(_COPIED_PART_BYTES, -(-size // _MOST_COPIED_PARTS)))
    step = -(-size // count)

    def copy(number: int, first: int) -> tuple[int, str]:
        answer = upload.call("upload_part_copy", UploadId=upload.upload_id, PartNumber=number, CopySource=source,
                             CopySourceRange=f"bytes={first}-{min(first + step, size) - 1}", CopySourceIfMatch=etag, **options)
        return number, answer["CopyPartResult"]["ETag"]

    return dict(together(copy, list(enumerate(range(0, size, step), 1))))


def copy_in_parts(client: Client, url: str, source: Mapping[str, str], options: Mapping[str, Any]) -> None:
    """S3 copies what else there is to an object with its bytes only where one request copies all of it."""
    head = client.call(url, "head_object", **source, **of_source(options))
    kept = {} if options.get("MetadataDirective") == "REPLACE" else kept_of(head)
    if head.get("TagCount") and options.get("TaggingDirective") != "REPLACE":
        tags = client.call(url, "get_object_tagging", **source)["TagSet"]
        kept["Tagging"] = urlencode({tag["Key"]: tag["Value"] for tag in tags})
    upload = client._upload(url, for_put({**kept, **of_target(options)}, {}))
    upload.create()
    try:
        etags = copy_parts(upload, source, head["ContentLength"], head["ETag"], of_every_part(options))
    except BaseException:
        upload.abort()
        raise
    upload.complete(etags)
