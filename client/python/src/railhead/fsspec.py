"""The filesystem of railhead://, and of s3:// where a program asks for that."""

from __future__ import annotations

import errno
import mmap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import fsspec
from fsspec.caching import caches
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.spec import AbstractFileSystem

from railhead import _options, errors
from railhead._bulk import Recorder, copy_in_parts, copy_parts, delete_all, together
from railhead._calls import Info, Upload, Want
from railhead._file import RailheadFile, TextFile, only_new, refused
from railhead._local import has_no_size, mapped, os_error, replacing
from railhead._options import PART_BYTES, PutOptions, ReadOptions
from railhead._settings import split
from railhead._storage_options import client_of, with_client_kwargs

_FSSPEC = ("use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache", "asynchronous", "loop",
           "batch_size")
_TEXT = ("encoding", "errors", "newline")
_MOST_COPIED_AT_ONCE = 5 << 30  # S3's limit


def use_for_s3() -> None:
    """Has s3:// mean this filesystem, in this process."""
    for scheme in ("s3", "s3a"):
        fsspec.register_implementation(scheme, RailheadFileSystem, clobber=True)


class RailheadFileSystem(AbstractFileSystem):
    """
    Buckets and keys as paths. Options are those of railhead.Client, or s3fs's `key`, `secret`, `token`, `endpoint_url`,
    `client_kwargs`, `default_block_size`, `default_cache_type` and `s3_additional_kwargs`, and others of its that ask for what
    is done anyway. Options of a call are those of S3's, as botocore names them: another one is a ValueError. Nothing is cached:
    each listing asks the store.
    """

    protocol = ("railhead",)
    root_marker = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{name: value for name, value in options.items() if name in _FSSPEC})
        others = with_client_kwargs({name: value for name, value in options.items() if name not in _FSSPEC})
        self._block_size = _first(others, "default_block_size", "block_size") or PART_BYTES
        self._cache_type = others.pop("default_cache_type", None) or "readahead"
        if self._cache_type not in caches:
            raise ValueError(f"no such default_cache_type: {self._cache_type!r}")
        self._text = {name: others.pop(name) for name in _TEXT if name in others}
        self._of_each = others.pop("s3_additional_kwargs", None) or {}
        _options.for_put(self._of_each, {})
        self.client = client_of(others)

    def _reading(self, options: Mapping[str, Any]) -> ReadOptions:
        return _options.for_read(options, self._of_each)

    def _writing(self, options: Mapping[str, Any], mode: str = "overwrite") -> PutOptions:
        if mode not in ("overwrite", "create"):
            raise ValueError(f"no such mode: {mode!r}; overwrite, create")
        return _options.for_put(options, self._of_each, if_none_match=mode == "create")

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

    def _object_url(self, path: str) -> str:
        """Of the object with just this key, which may end in a slash."""
        url = self._url(path)
        return url + "/" if str(path).endswith("/") and "/" in self._strip_protocol(path) else url

    def _want(self, path: str, start: int | None, end: int | None, options: ReadOptions) -> Want:
        """As slices are: negative numbers count from the end, which has to be asked for first."""
        if (start or 0) < 0 or (end or 0) < 0:
            size = self._info(path, options)["size"]
            start, end, _ = slice(start, end).indices(size)
        first = start or 0
        return Want(self._object_url(path), first, None if end is None else max(0, end - first), options=options)

    # ---- Reading ----

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        got: bytes = self.client._get_ranges([self._want(path, start, end, self._reading(options))])[0]
        return got

    def cat_ranges(self, paths: list[str], starts: Any, ends: Any, max_gap: int | None = None, on_error: str = "return",
                   **options: Any) -> list[Any]:
        begins = starts if isinstance(starts, list) else [starts] * len(paths)
        stops = ends if isinstance(ends, list) else [ends] * len(paths)
        reading = self._reading(options)
        wants = [self._want(path, start, end, reading) for path, start, end in zip(paths, begins, stops, strict=True)]
        return self.client._get_ranges(wants, return_exceptions=on_error == "return")

    def cat(self, path: Any, recursive: bool = False, on_error: str = "raise", start: int | None = None,
            end: int | None = None, **options: Any) -> Any:
        reading = self._reading(options)
        paths = self.find(path) if recursive else self.expand_path(path)
        if len(paths) == 1 and isinstance(path, str) and paths[0] == self._strip_protocol(path):
            return self.cat_file(paths[0], start, end, **options)
        wants = [self._want(each, start, end, reading) for each in paths]
        each = dict(zip(paths, self.client._get_ranges(wants, return_exceptions=on_error != "raise"), strict=True))
        return each if on_error != "omit" else {name: one for name, one in each.items() if isinstance(one, bytes)}

    def get(self, rpath: Any, lpath: Any, recursive: bool = False, callback: Any = DEFAULT_CALLBACK,
            maxdepth: int | None = None, **options: Any) -> None:
        self._reading(options)
        recorder = Recorder(self)
        AbstractFileSystem.get(recorder, rpath, lpath, recursive=recursive, maxdepth=maxdepth)
        self._transfer(self.get_file, recorder.copies, callback, options)

    def _transfer(self, work: Any, copies: list[tuple[str, str]], callback: Any, options: Mapping[str, Any]) -> None:
        def one(source: str, target: str) -> None:
            with callback.branched(source, target) as child:
                work(source, target, callback=child, **options)

        callback.set_size(len(copies))
        together(one, copies, callback.relative_update)

    def get_file(self, rpath: str, lpath: Any, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **options: Any) -> None:
        reading = self._reading(options)
        if outfile is not None or hasattr(lpath, "write") or has_no_size(lpath):
            super().get_file(rpath, lpath, callback=callback, outfile=outfile, **options)
            return
        info = self._info(rpath, reading)
        if info["type"] == "directory":
            Path(lpath).mkdir(parents=True, exist_ok=True)
            return
        Path(lpath).parent.mkdir(parents=True, exist_ok=True)
        callback.set_size(info["size"])
        with replacing(Path(lpath)) as local:
            local.truncate(info["size"])
            if info["size"]:
                # Not closed here: a thread that waits for all may hold it a moment longer.
                memory = mmap.mmap(local.fileno(), info["size"])
                self._read_whole(rpath, memory, info["ETag"], callback, reading)

    def _read_whole(self, path: str, memory: mmap.mmap, etag: str, callback: Any, options: ReadOptions) -> None:
        got = self.client._get_into(self._url(path), memory, options, callback.relative_update)
        if got.etag != etag or got.length != len(memory):
            raise errors.PreconditionFailed("the object changed while it was read", url=self._url(path))

    def open(self, path: str, mode: str = "rb", block_size: int | None = None,
             cache_options: Mapping[str, Any] | None = None, compression: str | None = None, **options: Any) -> Any:
        """As fsspec's, but for text files that are left by an error."""
        if not mode.startswith("r") and str(path).endswith("/"):
            raise os_error(errno.EISDIR, path)
        if "b" in mode:
            return super().open(path, mode, block_size, cache_options, compression, **options)
        text = {**self._text, **{name: options.pop(name) for name in _TEXT if name in options}}
        file = self.open(path, mode.replace("t", "") + "b", block_size, cache_options, compression, **options)
        return TextFile(file, **text)

    def _open(self, path: str, mode: str = "rb", block_size: int | None = None, autocommit: bool = True,
              cache_options: Mapping[str, Any] | None = None, cache_type: str | None = None, size: int | None = None,
              fill_cache: bool | None = None, **options: Any) -> RailheadFile:
        """`fill_cache` is s3fs's, of a hint that caches here have no use for."""
        if mode not in ("rb", "wb", "xb", "ab"):
            raise ValueError(f"objects are read, written whole, or appended to, not opened as {mode!r}")
        if mode == "xb" and self.exists(path):  # what comes meanwhile is found when it is stored
            raise os_error(errno.EEXIST, path)
        reading, writing, head = _options.NEWEST, PutOptions(), None
        if mode == "rb":
            reading = self._reading(options)
            head = self._info(path, reading)
            if head["type"] == "directory":
                raise IsADirectoryError(path)
        elif mode == "ab":
            head, kept = self._appended_to(path)
            writing = self._writing({**kept, **options})
        else:
            writing = self._writing(options, "create" if mode == "xb" else "overwrite")
        return RailheadFile(self, path, mode, block_size or self._block_size, autocommit, reads=reading, puts=writing,
                            head=head, cache_options=cache_options, cache_type=cache_type or self._cache_type, size=size)

    def _appended_to(self, path: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        """The object that is there, if one is, and what it is stored with."""
        bucket, key = split(self._url(path))
        try:
            head = self.client.call(self._url(path), "head_object", Bucket=bucket, Key=key)
        except errors.NotFound:
            return None, {}
        return {"name": path, "size": head["ContentLength"], "type": "file", "ETag": head["ETag"]}, _options.kept_of(head)

    # ---- What there is ----

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        options.pop("refresh", None)  # s3fs's, of a cache of lists that is not here
        return self._info(path, self._reading(options))

    def _info(self, path: str, options: ReadOptions) -> dict[str, Any]:
        name = self._strip_protocol(path)
        if "/" in name:
            try:
                return _entry(self.client._head(self._url(name), options))
            except errors.NotFound:
                if options.version_id is not None:
                    raise
        elif name:
            self.client.call(self._url(name), "head_bucket", Bucket=name)
            return _folder(name)
        if name and next(self.client.list(self._url(name) + "/", recursive=False), None) is None:
            raise FileNotFoundError(path)
        return _folder(name)

    def exists(self, path: str, **options: Any) -> bool:
        """An error that does not say that there is none is raised: who is not answered does not know."""
        try:
            self.info(path, **options)
        except FileNotFoundError:
            return False
        return True

    def lexists(self, path: str, **options: Any) -> bool:
        return self.exists(path, **options)

    def ls(self, path: str, detail: bool = True, refresh: bool = False, versions: bool = False, **options: Any) -> list[Any]:
        """`refresh` and `versions` are s3fs's: there is no cache of lists, and versions are not listed."""
        if versions:
            raise ValueError("versions are not listed")
        _options.refuse_all(options)
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
        _options.refuse_all(options)
        entries = map(_entry, self.client.list(f"{self._url(path)}/{prefix}"))
        found = {each["name"]: each for each in entries if each["type"] == "file" and "//" not in each["name"]}
        return dict(sorted(found.items())) if detail else sorted(found)

    def modified(self, path: str, **options: Any) -> Any:
        info = self.info(path, **options)
        if info["type"] == "directory":
            raise IsADirectoryError(path)
        return info["LastModified"]

    def ukey(self, path: str) -> str:
        return str(self.info(path)["ETag"])

    # ---- Writing ----

    def pipe(self, path: Any, value: Any = None, **options: Any) -> None:
        if not isinstance(path, str | dict):
            raise ValueError("path must be str or dict")
        each = path if isinstance(path, dict) else {path: value}
        together(lambda name, data: self.pipe_file(name, data, **options), list(each.items()))

    def pipe_file(self, path: str, value: Any, mode: str = "overwrite", **options: Any) -> None:
        """A key that ends in a slash is that of a folder's marker."""
        with only_new(mode == "create", path):
            self.client._put(self._object_url(path), value, self._writing(options, mode))

    def touch(self, path: str, truncate: bool = True, **options: Any) -> None:
        if not truncate and self.exists(path):
            raise NotImplementedError("objects have no time that could be set")
        self.pipe_file(path, b"", **options)

    def put(self, lpath: Any, rpath: Any, recursive: bool = False, callback: Any = DEFAULT_CALLBACK,
            maxdepth: int | None = None, mode: str = "overwrite", **options: Any) -> None:
        self._writing(options, mode)
        recorder = Recorder(self)
        AbstractFileSystem.put(recorder, lpath, rpath, recursive=recursive, maxdepth=maxdepth)
        self._transfer(self.put_file, recorder.copies, callback, {"mode": mode, **options})

    def put_file(self, lpath: Any, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite",
                 **options: Any) -> None:
        """Below a path that ends in a slash the file keeps its name."""
        writing = self._writing(options, mode)
        if Path(lpath).is_dir():
            return
        url = self._object_url(rpath)
        url += Path(lpath).name if url.endswith("/") else ""
        with Path(lpath).open("rb") as local, only_new(mode == "create", rpath):
            memory = mapped(local)  # not closed, as above
            if memory is not None:
                callback.set_size(len(memory))
            self.client._put(url, local if memory is None else memory, writing, callback.relative_update)

    def copy(self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None,
             on_error: str | None = None, **options: Any) -> None:
        skips_missing = (on_error or ("ignore" if recursive else "raise")) == "ignore"
        recorder = Recorder(self)
        AbstractFileSystem.copy(recorder, path1, path2, recursive=recursive, maxdepth=maxdepth)

        def one(source: str, target: str) -> None:
            try:
                self.cp_file(source, target, **options)
            except FileNotFoundError:
                if not skips_missing:
                    raise

        together(one, recorder.copies)

    def cp_file(self, path1: str, path2: str, version_id: str | None = None, **options: Any) -> None:
        asked = _options.for_copy(options, self._of_each)
        source, url = self._strip_protocol(path1), self._object_url(path2)
        if "/" not in source:
            return
        info = self._info(source, _options.of_version(version_id))
        if info["type"] != "file":
            return
        bucket, key = split(url)
        from_bucket, from_key = split(self._url(source))
        named = {"Bucket": from_bucket, "Key": from_key, **({"VersionId": version_id} if version_id else {})}
        if info["size"] <= _MOST_COPIED_AT_ONCE:
            self.client.call(url, "copy_object", Bucket=bucket, Key=key, CopySource=named, **asked)
        else:
            copy_in_parts(self.client, url, named, asked)

    def _copy_parts(self, upload: Upload, path: str, head: Mapping[str, Any]) -> dict[int, str]:
        """For what is to be appended to the object."""
        bucket, key = split(self._url(path))
        return copy_parts(upload, {"Bucket": bucket, "Key": key}, head["size"], head["ETag"], upload.options.of_parts())

    def mv(self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **options: Any) -> None:
        if path1 != path2:
            self.copy(path1, path2, recursive, maxdepth, on_error="raise", **options)
            self.rm(path1, recursive=recursive, maxdepth=maxdepth)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        is_whole = recursive and maxdepth is None
        names = self.expand_path(path, recursive=recursive and not is_whole, maxdepth=maxdepth)
        # A store deletes what is not there, too.
        folders = [name for name in self._all_there(names) if name]
        urls = [self._url(name) for name in names if "/" in name]
        for name in names if is_whole else ():
            # By their keys, some of which are no paths: those of folders' markers.
            urls += [info.url for info in self.client.list(self._url(name) + "/")]
        delete_all(self.client, urls + [f"{self._url(name)}/" for name in folders if "/" in name])

    def _all_there(self, names: list[str]) -> Iterable[str]:
        """Those that are folders, if all are there."""
        keys = [name for name in names if "/" in name]
        for name, found in zip(keys, self.client._head_all(map(self._url, keys)), strict=True):
            if isinstance(found, errors.NotFound) and self.info(name)["type"] == "directory":
                yield name
            elif isinstance(found, Exception) and not isinstance(found, errors.NotFound):
                raise found
        for name in names:
            if "/" not in name:
                self.info(name)

    def rm_file(self, path: str) -> None:
        if "/" in self._strip_protocol(path):
            self.client.delete(self._object_url(path))

    def _rm(self, path: str) -> None:
        self.rm_file(path)

    def mkdir(self, path: str, create_parents: bool = True, acl: str | None = None, **options: Any) -> None:
        """Only buckets are made, with botocore's options of create_bucket: folders are what keys have in common."""
        name = self._strip_protocol(path)
        if name and "/" not in name:
            with refused(path, errno.EEXIST, "BucketAlreadyOwnedByYou", "BucketAlreadyExists"):
                self.client.call(self._url(name), "create_bucket", Bucket=name, **{"ACL": acl or None, **options})
        else:
            _options.refuse_all(options)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        name = self._strip_protocol(path)
        if "/" not in name and not (exist_ok and self.exists(name)):
            self.mkdir(name)

    def rmdir(self, path: str) -> None:
        name = self._strip_protocol(path)
        if "/" not in name:
            with refused(path, errno.ENOTEMPTY, "BucketNotEmpty"):
                self.client.call(self._url(name), "delete_bucket", Bucket=name)


def _path(url: str) -> str:
    return url.removeprefix("railhead://").rstrip("/")


def _entry(info: Info) -> dict[str, Any]:
    if info.url.endswith("/") and not info.size:
        return _folder(_path(info.url))
    entry = {"name": _path(info.url), "size": info.size, "type": "file", "ETag": info.etag, "LastModified": info.last_modified}
    asked = {"VersionId": info.version_id, "ContentType": info.content_type, "Metadata": dict(info.metadata)}
    return {**entry, **{name: value for name, value in asked.items() if value}}


def _folder(name: str) -> dict[str, Any]:
    return {"name": name, "size": 0, "type": "directory"}


def _first(options: dict[str, Any], *names: str) -> Any:
    """The first of the options that is named; none of them is left."""
    return next(filter(None, [options.pop(name, None) for name in names]), None)
