"""Objects of an S3 store, read through a Railhead gateway straight into memory: by RDMA, or over shared memory."""

from railhead._calls import Info, Stored
from railhead._jobs import Read
from railhead._paths import Report
from railhead._prefetch import Prefetched
from railhead._settings import Credentials, Fallback
from railhead._whole import Got
from railhead.client import Client, connect
from railhead.errors import (
    AccessDenied,
    Cancelled,
    ConnectionLost,
    DeadlineExceeded,
    FallbackWarning,
    MemoryHeld,
    NotFound,
    NotServed,
    OutcomeUnknown,
    PreconditionFailed,
    RailheadError,
    RangeNotSatisfiable,
    StoreError,
    Unavailable,
)

__version__ = "0.1.0"  # the package's, too

__all__ = [
    "AccessDenied", "Cancelled", "Client", "ConnectionLost", "Credentials", "DeadlineExceeded", "Fallback", "FallbackWarning",
    "Got", "Info", "MemoryHeld", "NotFound", "NotServed", "OutcomeUnknown", "PreconditionFailed", "Prefetched",
    "RailheadError", "RangeNotSatisfiable", "Read", "Report", "StoreError", "Stored", "Unavailable", "__version__",
    "connect",
]
