"""Local files, and what among them has no size."""

from __future__ import annotations

import errno
import mmap
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from railhead import _unfinished

_DESCRIPTORS = Path("/proc/self/fd")
_NO_UNNAMED = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL)  # of the filesystem, or of the kernel


def has_no_size(path: Any) -> bool:
    """Whether it is there and can be given none: a pipe, a device."""
    return Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()


def mapped(file: Any) -> mmap.mmap | None:
    """The file as memory; None where its size is not that of its bytes, or not known before they have been read."""
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or not status.st_size:
        return None
    try:
        return mmap.mmap(file.fileno(), status.st_size, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # /sys has files with a size that is none
        return None


def os_error(number: int, path: Any) -> OSError:
    """Of the class that Python has for the number."""
    return OSError(number, os.strerror(number), str(path))


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """
    A file that takes the path's place once all is written to it. Until then it has no name, so that nothing is left of it
    whatever ends the process; a filesystem that has no such files gives it a name beside the path's. Links are followed.
    """
    target = path.resolve()
    if target.is_dir():
        raise os_error(errno.EISDIR, path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_native_id()}.partial")
    _unfinished.begun(partial.unlink)
    try:
        descriptor = _unnamed(target.parent)
        is_named = descriptor is None
        with (partial.open("xb+", buffering=0) if descriptor is None else os.fdopen(descriptor, "wb+", buffering=0)) as file:
            yield file
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            if not is_named:
                _name(file.fileno(), partial)
        partial.replace(target)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and error.filename in (str(partial), str(target.parent)):
            raise os_error(error.errno or errno.EIO, path) from error
        raise
    finally:
        _unfinished.over(partial.unlink)


def _unnamed(folder: Path) -> int | None:
    if not _DESCRIPTORS.exists():
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError as error:
        if error.errno not in _NO_UNNAMED:
            raise
        return None


def _name(descriptor: int, path: Path) -> None:
    # Links are followed only where a folder's descriptor is given, which says nothing about an absolute path.
    os.link(_DESCRIPTORS / str(descriptor), path, src_dir_fd=descriptor, follow_symlinks=True)
