"""Local files, and what among them has no size."""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path
from typing import Any


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
