"""librailhead's declarations (railhead.h) and where the library is found. A test compares them with the header."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p, py_object
from functools import cache
from pathlib import Path
from typing import Any

ABI = 1

OK = 0
ARGUMENT = -1
NO_MEMORY = -2
UNAVAILABLE = -3
REFUSED = -4
TIMED_OUT = -5
ENDED = -6
UNKNOWN = -7
CANCELLED = -8
NOT_SERVED = -9
STORE = -10
BUSY = -11
HELD = -12
NOT_FLUSHED = -13

LOOPBACK = 1
VERBS = 2

HOST = 2
MEMFD = 3
DEVICE = 4

GET = 1
HEAD = 2
PUT = 3
UPLOAD_PART = 4
EXISTS = 5
PREFIX = 6
DELETE = 7
DELETE_PREFIX = 8
LEASE = 9
TOUCH = 10
USAGE = 11
REMOVALS = 12

RANGE = 1

CACHE = ("none", "hit", "miss", "revalidated", "stale")

WINDOW_HELD = 2


class Http(ctypes.Structure):
    _fields_ = [("method", c_char_p), ("url", c_char_p), ("headers", POINTER(c_char_p)), ("timeout_millis", c_uint32),
                ("status", c_uint32), ("answer", c_void_p), ("answer_room", c_size_t), ("answer_bytes", c_size_t)]


HttpFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Http))


class Options(ctypes.Structure):
    _fields_ = [("struct_bytes", c_uint32), ("fabric", c_uint32), ("endpoint", c_char_p), ("region", c_char_p),
                ("access_key", c_char_p), ("secret_key", c_char_p), ("session_token", c_char_p), ("ca_bundle", c_char_p),
                ("timeout_millis", c_uint32), ("request_timeout_millis", c_uint32), ("http", HttpFunction),
                ("http_context", c_void_p), ("shared_only", c_uint32), ("reserved_too", c_uint32),
                ("reserved", c_uint64 * 3)]


class Memory(ctypes.Structure):
    _fields_ = [("kind", c_uint32), ("descriptor", c_int32), ("address", c_void_p), ("bytes", c_uint64),
                ("offset", c_uint64), ("flush", c_void_p), ("flush_context", c_void_p), ("reserved", c_uint64 * 4)]


class Window(ctypes.Structure):
    _fields_ = [("offset", c_uint64), ("bytes", c_uint64)]


class Request(ctypes.Structure):
    _fields_ = [("operation", c_uint32), ("flags", c_uint32), ("bucket", c_char_p), ("key", c_char_p),
                ("version_id", c_char_p), ("if_match", c_char_p), ("upload_id", c_char_p), ("headers", c_char_p),
                ("buffer", c_void_p), ("offset", c_uint64), ("window", c_uint64), ("range_first", c_uint64),
                ("range_last", c_uint64), ("part_number", c_uint32), ("timeout_millis", c_uint32), ("user", c_uint64),
                ("keys", c_char_p), ("keys_bytes", c_uint32), ("keys_count", c_uint32), ("hash_bytes", c_uint32),
                ("windows_count", c_uint32), ("windows", POINTER(Window))]


class Completion(ctypes.Structure):
    _fields_ = [("user", c_uint64), ("id", c_uint64), ("result", c_int32), ("status", c_uint32), ("bytes", c_uint64),
                ("object_bytes", c_uint64), ("first_byte", c_uint64), ("last_modified_millis", c_uint64),
                ("cache", c_uint32), ("flags", c_uint32), ("etag", c_char_p), ("version_id", c_char_p),
                ("code", c_char_p), ("message", c_char_p), ("headers", c_char_p), ("owned", c_void_p)]


class Region(ctypes.Structure):
    """batch.c's struct region."""

    _fields_ = [("start", c_uint64), ("end", c_uint64), ("reach", c_uint64), ("buffer", c_uint64), ("cuda", c_int64)]


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "railhead_abi_version": (c_uint32, []),
    "railhead_version": (c_char_p, []),
    "railhead_result_text": (c_char_p, [c_int32]),
    "railhead_last_error": (c_char_p, []),
    "railhead_options_init": (None, [POINTER(Options), c_size_t]),
    "railhead_connect": (c_int32, [POINTER(Options), POINTER(c_void_p)]),
    "railhead_is_open": (c_int32, [c_void_p]),
    "railhead_max_requests": (c_uint32, [c_void_p]),
    "railhead_close": (c_int32, [c_void_p]),
    "railhead_register": (c_int32, [c_void_p, POINTER(Memory), POINTER(c_void_p)]),
    "railhead_release": (c_int32, [c_void_p]),
    "railhead_submit": (c_int32, [c_void_p, POINTER(Request), c_size_t, POINTER(c_uint64)]),
    "railhead_cancel": (c_int32, [c_void_p, POINTER(c_uint64), c_size_t]),
    "railhead_poll": (c_int32, [c_void_p, POINTER(Completion), c_size_t]),
    "railhead_wait": (c_int32, [c_void_p, POINTER(Completion), c_size_t, c_int64]),
    "railhead_wait_all": (c_int32, [c_void_p, POINTER(Completion), c_size_t, c_uint64, c_int64]),
    "railhead_completions_free": (None, [POINTER(Completion), c_size_t]),
    "railhead_event_fd": (c_int32, [c_void_p]),
}
_OWNERS: dict[str, tuple[Any, list[Any]]] = {
    "railhead_member": (c_uint64, [c_char_p]),
    "railhead_owner": (c_size_t, [POINTER(c_uint64), c_size_t, c_char_p, c_char_p, c_uint64]),
}
PLACEMENT_RULE = "2"


_BUNDLED = Path(__file__).parent / "lib"


def _path() -> str:
    named = os.environ.get("RAILHEAD_LIBRARY")
    if named:
        return named
    bundled = _BUNDLED / "librailhead.so.1"
    return str(bundled) if bundled.exists() else "librailhead.so.1"


@cache
def library() -> ctypes.CDLL:
    """The library that RAILHEAD_LIBRARY names, else the wheel's, else the system's. OSError where there is none."""
    path = _path()
    loaded = ctypes.CDLL(path)
    _declare(loaded, _FUNCTIONS)
    with suppress(AttributeError):
        _declare(loaded, _OWNERS)
    found = loaded.railhead_abi_version()
    if found != ABI:
        raise OSError(f"{path} has the ABI {found}, not {ABI}")
    return loaded


def _declare(loaded: ctypes.CDLL, functions: dict[str, tuple[Any, list[Any]]]) -> None:
    for name, (result, arguments) in functions.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments


def knows_owners() -> bool:
    """Whether it has the rule of owners, and sessions with them. A library of the system's may be older."""
    return hasattr(library(), "railhead_owner")


@cache
def batch() -> Any:
    """The wheel's batch.c; None where there is none, as in a checkout that is not built."""
    try:
        loaded = ctypes.PyDLL(str(_BUNDLED / "batch.so"))
    except OSError:
        return None
    loaded.railhead_describe.restype = loaded.railhead_came.restype = py_object
    loaded.railhead_describe.argtypes = [py_object, c_size_t, py_object, POINTER(Region), c_size_t, c_uint64, c_uint64,
                                         POINTER(Request)]
    loaded.railhead_came.argtypes = [POINTER(Completion), c_size_t, c_uint64, POINTER(Request), *[py_object] * 5]
    return loaded


def build() -> str:
    """The library's release, and what it was built without."""
    version: bytes = library().railhead_version()
    return f"librailhead {version.decode()}, {'with' if has_verbs() else 'without'} verbs"


def has_verbs() -> bool:
    """A library of the system's may be older than the function."""
    try:
        return bool(library().railhead_has_verbs())
    except AttributeError:
        return True


def last_error() -> str:
    """One line on the last call of this thread that failed."""
    text: bytes = library().railhead_last_error()
    return text.decode(errors="replace")
