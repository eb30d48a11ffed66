"""The filesystem of railhead://, and of s3:// where a program asks for that."""

from __future__ import annotations

import errno
import io
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
from fsspec.caching import caches
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from railhead import errors
from railhead._calls import Info, Upload, Want
from railhead._session import Outcome
from railhead._settings import Credentials
from railhead.client import Client

_CLIENT = ("endpoint", "fabric", "region", "profile", "credentials", "ca", "deadline", "in_flight", "ring")
_FSSPEC = ("use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache", "asynchronous", "loop",
           "batch_size")
_TEXT = ("encoding", "errors", "newline")
# Options of s3fs's that are taken where they ask for nothing: None, or one of these.
_OF_S3FS: dict[str, tuple[Any, ...]] = {
    "anon": (False,), "requester_pays": (False,), "version_aware": (False,), "cache_regions": (False,), "session": (),
    "config_kwargs": ({},), "s3_additional_kwargs": ({},), "default_fill_cache": (True, False)}
_PART_BYTES = 8 << 20  # at least: S3 takes no part of less than 5 MiB, the last excepted


def use_for_s3() -> None:
    """Has s3:// mean this filesystem, in this process."""
    for scheme in ("s3", "s3a"):
        fsspec.register_implementation(scheme, RailheadFileSystem, clobber=True)


class RailheadFileSystem(AbstractFileSystem):
    """
    Buckets and keys as paths. Options are those of railhead.Client, or s3fs's `key`, `secret`, `token`, `endpoint_url`,
    `client_kwargs`, `default_block_size` and `default_cache_type`, and others of its that ask for nothing. Nothing is cached:
    each listing asks the store.
    """

    protocol = ("railhead",)
    root_marker = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{name: value for name, value in options.items() if name in _FSSPEC})
        others = {name: value for name, value in options.items() if name not in _FSSPEC}
        self._block_size = others.pop("default_block_size", None) or _PART_BYTES
        self._cache_type = others.pop("default_cache_type", None) or "readahead"
        if self._cache_type not in caches:
            raise ValueError(f"no such default_cache_type: {self._cache_type!r}")
        self.client = _client(others)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        text = str(path)
        for scheme in ("railhead://", "s3://", "s3a://"):
            text = text.removeprefix(scheme)
        return text.strip("/")

    def unstrip_protocol(self, name: str) -> str:
        return self._url(name)

    def _url(self, path: str) -> str:
        return f"railhead://{self._strip_protocol(path)}"

    def _want(self, path: str, start: int | None, end: int | None) -> Want:
        """As slices are: negative numbers count from the end, which has to be asked for first."""
        if (start or 0) < 0 or (end or 0) < 0:
            size = self.info(path)["size"]
            start, end, _ = slice(start, end).indices(size)
        first = start or 0
        return Want(self._url(path), first, None if end is None else max(0, end - first))

    # ---- Reading ----

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        want = self._want(path, start, end)
        return self.client.get(want.url, start=want.start, length=want.length)

    def cat_ranges(self, paths: list[str], starts: Any, ends: Any, max_gap: int | None = None, on_error: str = "return",
                   **_: Any) -> list[Any]:
        begins = starts if isinstance(starts, list) else [starts] * len(paths)
        stops = ends if isinstance(ends, list) else [ends] * len(paths)
        wants = [self._want(path, start, end) for path, start, end in zip(paths, begins, stops, strict=True)]
        return self.client._get_ranges(wants, return_exceptions=on_error == "return")

    def cat(self, path: Any, recursive: bool = False, on_error: str = "raise", **options: Any) -> Any:
        paths = self.find(path) if recursive else self.expand_path(path)
        if len(paths) == 1 and isinstance(path, str) and paths[0] == self._strip_protocol(path):
            return self.cat_file(paths[0], **options)
        got = self.client.get_all(map(self._url, paths), return_exceptions=on_error != "raise")
        each = dict(zip(paths, got, strict=True))
        return each if on_error != "omit" else {name: one for name, one in each.items() if isinstance(one, bytes)}

    def get_file(self, rpath: str, lpath: Any, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **_: Any) -> None:
        if outfile is not None or hasattr(lpath, "write"):
            super().get_file(rpath, lpath, callback=callback, outfile=outfile)
            return
        info = self.info(rpath)
        if info["type"] == "directory":
            Path(lpath).mkdir(parents=True, exist_ok=True)
            return
        Path(lpath).parent.mkdir(parents=True, exist_ok=True)
        callback.set_size(info["size"])
        with Path(lpath).open("wb+") as local:
            local.truncate(info["size"])
            if info["size"]:
                with mmap.mmap(local.fileno(), info["size"]) as memory:
                    self._read_whole(rpath, memory, info["ETag"], callback)

    def _read_whole(self, path: str, memory: mmap.mmap, etag: str, callback: Any) -> None:
        got = self.client.get_many([(self._url(path), memory)], progress=callback.relative_update)[0]
        if got.etag != etag or got.length != len(memory):
            raise errors.PreconditionFailed("the object changed while it was read", url=self._url(path))

    def open(self, path: str, mode: str = "rb", block_size: int | None = None,
             cache_options: Mapping[str, Any] | None = None, compression: str | None = None, **options: Any) -> Any:
        """As fsspec's, but for text files that are left by an error."""
        if "b" in mode:
            return super().open(path, mode, block_size, cache_options, compression, **options)
        text = {name: options.pop(name) for name in _TEXT if name in options}
        file = self.open(path, mode.replace("t", "") + "b", block_size, cache_options, compression, **options)
        return _TextFile(file, **text)

    def _open(self, path: str, mode: str = "rb", block_size: int | None = None, autocommit: bool = True,
              cache_options: Mapping[str, Any] | None = None, **options: Any) -> RailheadFile:
        if mode not in ("rb", "wb", "xb"):
            raise ValueError(f"objects are read or written whole, not opened as {mode!r}")
        if mode == "xb" and self.exists(path):  # what comes meanwhile is found when it is stored
            raise _os_error(errno.EEXIST, path)
        options.setdefault("cache_type", self._cache_type)
        file = RailheadFile(self, path, mode, block_size or self._block_size, autocommit, cache_options=cache_options,
                            **options)
        if mode == "rb" and file.details["type"] == "directory":
            raise IsADirectoryError(path)
        return file

    # ---- What there is ----

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        name = self._strip_protocol(path)
        if "/" in name:
            try:
                return _entry(self.client.head(self._url(name)))
            except errors.NotFound:
                pass
        elif name:
            self.client.call(self._url(name), "head_bucket", Bucket=name)
            return _folder(name)
        if name and next(self.client.list(self._url(name) + "/", recursive=False), None) is None:
            raise FileNotFoundError(path)
        return _folder(name)

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        name = self._strip_protocol(path)
        if not name:
            found = [_folder(each["Name"]) for each in self.client.call("", "list_buckets").get("Buckets", ())]
        else:
            listed = self.client.list(self._url(name) + "/", recursive=False)
            found = [_entry(each) for each in listed if _path(each.url) != name]
            if not found and "/" in name:
                found = [self.info(name)]
        return found if detail else [each["name"] for each in found]

    def find(self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, prefix: str = "",
             **options: Any) -> Any:
        """As fsspec's. With `prefix`, as s3fs has it, what begins with that below the path, which is all that is listed."""
        if not prefix:
            return super().find(path, maxdepth, withdirs, detail, **options)
        if maxdepth is not None or withdirs:
            raise ValueError("a prefix goes with neither maxdepth nor withdirs")
        entries = map(_entry, self.client.list(f"{self._url(path)}/{prefix}"))
        found = {each["name"]: each for each in entries if each["type"] == "file" and "//" not in each["name"]}
        return dict(sorted(found.items())) if detail else sorted(found)

    def modified(self, path: str) -> Any:
        return self.info(path)["LastModified"]

    def ukey(self, path: str) -> str:
        return str(self.info(path)["ETag"])

    # ---- Writing ----

    def pipe_file(self, path: str, value: Any, mode: str = "overwrite", **_: Any) -> None:
        with _only_new(mode == "create", path):
            self.client.put_from(self._url(path), value, if_none_match=mode == "create")

    def put_file(self, lpath: Any, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite", **_: Any) -> None:
        if Path(lpath).is_dir():
            return
        with Path(lpath).open("rb") as local:
            size = Path(lpath).stat().st_size
            callback.set_size(size)
            if not size:
                self.pipe_file(rpath, b"", mode)
                return
            with mmap.mmap(local.fileno(), size, access=mmap.ACCESS_READ) as memory, _only_new(mode == "create", rpath):
                self.client.put_from(self._url(rpath), memory, if_none_match=mode == "create",
                                     progress=callback.relative_update)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        bucket, _, key = target.partition("/")
        from_bucket, _, from_key = source.partition("/")
        if from_key and self.info(source)["type"] == "file":
            self.client.call(self._url(target), "copy_object", Bucket=bucket, Key=key,
                             CopySource={"Bucket": from_bucket, "Key": from_key})

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        is_whole = recursive and maxdepth is None
        names = self.expand_path(path, recursive=recursive and not is_whole, maxdepth=maxdepth)
        for name in names:
            self.info(name)  # a store deletes what is not there, too
        for name in reversed(names):
            if is_whole:
                # By their keys, some of which are no paths: those of folders' markers.
                for info in list(self.client.list(self._url(name) + "/")):
                    self.client.delete(info.url)
            self.rm_file(name)

    def rm_file(self, path: str) -> None:
        if "/" in self._strip_protocol(path):
            self.client.delete(self._url(path))

    def _rm(self, path: str) -> None:
        self.rm_file(path)

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Only buckets are made: folders are what keys have in common."""
        name = self._strip_protocol(path)
        if name and "/" not in name:
            with _refused(path, errno.EEXIST, "BucketAlreadyOwnedByYou", "BucketAlreadyExists"):
                self.client.call(self._url(name), "create_bucket", Bucket=name)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        name = self._strip_protocol(path)
        if "/" not in name and not (exist_ok and self.exists(name)):
            self.mkdir(name)

    def rmdir(self, path: str) -> None:
        name = self._strip_protocol(path)
        if "/" not in name:
            with _refused(path, errno.ENOTEMPTY, "BucketNotEmpty"):
                self.client.call(self._url(name), "delete_bucket", Bucket=name)


class RailheadFile(AbstractBufferedFile):
    """
    Read in blocks of one version; written in parts that become an object when it is closed, in a transaction when that ends.
    Of one that was discarded, as after an error, also of whoever writes it, nothing is stored any more.
    """

    fs: RailheadFileSystem
    _upload: Upload | None = None
    _is_discarded = False

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self.mode != "rb" and not self.closed:
            self.discard()
        self.close()

    def _fetch_range(self, start: int, end: int) -> bytes:
        version = Outcome(size=self.size, etag=self.details["ETag"])
        url = self.fs._url(self.path)
        got: bytes = self.fs.client._get_ranges([Want(url, start, end - start, version)])[0]
        return got

    def _initiate_upload(self) -> None:
        self._etags: dict[int, str] = {}

    def _upload_chunk(self, final: bool = False) -> bool:
        data = self.buffer.getbuffer()
        if not final and len(data) < _PART_BYTES:
            return False
        is_whole = final and self.autocommit and self._upload is None
        if len(data) and not is_whole:
            try:
                self._send(data)
            except BaseException:
                self.discard()
                raise
        if final and self.autocommit:
            self.commit()
        return True

    def _send(self, data: memoryview) -> None:
        client = self.fs.client
        if self._upload is None:
            self._upload = client._upload(self.fs._url(self.path), if_none_match=self.mode == "xb")
            self._upload.create()
        self._etags |= client._send_parts(self._upload, len(self._etags) + 1, data, max(self.blocksize, _PART_BYTES))

    def commit(self) -> None:
        """Without an upload what is in the buffer is all: after a transaction nothing is."""
        if not self.autocommit:
            self.close()
        url = self.fs._url(self.path)
        if self._is_discarded:
            raise errors.Cancelled("the file was discarded", url=url)
        upload, self._upload = self._upload, None
        with _only_new(self.mode == "xb", self.path):
            if upload is None:
                self.fs.client.put_from(url, self.buffer.getbuffer(), if_none_match=self.mode == "xb")
            else:
                upload.complete(self._etags)

    def discard(self) -> None:
        self._is_discarded = self.closed = True
        upload, self._upload = self._upload, None
        if upload is not None:
            upload.abort()


class _TextFile(io.TextIOWrapper):
    """Tells the file of the error that it is left by: io's own would only close it, which stores it."""

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is not None and isinstance(self.buffer, RailheadFile):
            self.buffer.__exit__(kind, *error)
        self.close()


def _client(options: dict[str, Any]) -> Client:
    use_ssl = options.pop("use_ssl", None)
    client = Client(**_client_options(options))
    endpoint = client._settings.endpoint
    if use_ssl is not None and use_ssl != endpoint.startswith("https://"):
        raise ValueError(f"use_ssl={use_ssl}, but the endpoint is {endpoint}")
    return client


def _client_options(options: dict[str, Any]) -> dict[str, Any]:
    named = {**options, **(options.get("client_kwargs") or {})}
    named.pop("client_kwargs", None)
    key, secret, token = (named.pop(name, None) for name in ("key", "secret", "token"))
    if key and secret:
        named["credentials"] = Credentials(key, secret, token)
    for theirs, ours in (("endpoint_url", "endpoint"), ("region_name", "region")):
        if theirs in named:
            named[ours] = named.pop(theirs)
    for name, defaults in _OF_S3FS.items():
        value = named.pop(name, None)
        if value is not None and value not in defaults:
            raise ValueError(f"what s3fs's option {name} asks for is not done here")
    unknown = set(named) - set(_CLIENT)
    if unknown:
        raise ValueError(f"no such option: {', '.join(sorted(unknown))}")
    return named


def _os_error(number: int, path: str) -> OSError:
    """Of the class that Python has for the number."""
    return OSError(number, os.strerror(number), path)


@contextmanager
def _only_new(is_wanted: bool, path: str) -> Iterator[None]:
    try:
        yield
    except errors.PreconditionFailed as error:
        if not is_wanted:
            raise
        raise _os_error(errno.EEXIST, path) from error


@contextmanager
def _refused(path: str, number: int, *codes: str) -> Iterator[None]:
    """What the store answers with one of `codes`, as files' errors."""
    try:
        yield
    except errors.StoreError as error:
        if error.code not in codes:
            raise
        raise _os_error(number, path) from error


def _path(url: str) -> str:
    return url.removeprefix("railhead://").rstrip("/")


def _entry(info: Info) -> dict[str, Any]:
    if info.url.endswith("/") and not info.size:
        return _folder(_path(info.url))
    return {"name": _path(info.url), "size": info.size, "type": "file", "ETag": info.etag, "LastModified": info.last_modified}


def _folder(name: str) -> dict[str, Any]:
    return {"name": name, "size": 0, "type": "directory"}
