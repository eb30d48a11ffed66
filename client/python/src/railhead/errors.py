"""What a call can fail with. Mistakes in arguments are ValueError, TypeError and, of memory, BufferError."""

from __future__ import annotations


class RailheadError(Exception):
    """`status` is HTTP's, 0 where there was none; `code` S3's, or the library's word; `request_id` what logs name the request."""

    def __init__(self, message: str = "", *, status: int = 0, code: str = "", request_id: str = "", url: str = "") -> None:
        super().__init__(f"{url}: {message}" if url else message)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.url = url

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), str(self), self.status, self.code, self.request_id, self.url)


def _again(kind: type[RailheadError], text: str, status: int, code: str, request_id: str, url: str) -> RailheadError:
    made = kind(text, status=status, code=code, request_id=request_id)
    made.url = url
    return made


class NotFound(RailheadError, FileNotFoundError):
    """The bucket, the key or the version is not there."""


class AccessDenied(RailheadError, PermissionError):
    """The store or the gateway said no to who asks."""


class PreconditionFailed(RailheadError):
    """The object is another than the one that was asked for, such as one that changed while it was read."""


class RangeNotSatisfiable(RailheadError):
    """The range begins behind the object's end."""


class StoreError(RailheadError):
    """Any other error that the store answered."""


class DeadlineExceeded(RailheadError, TimeoutError):
    """Not done in time."""


class Cancelled(RailheadError):
    """The request was cancelled."""


class ConnectionLost(RailheadError, ConnectionError):
    """There is no way to the gateway any more. What was read may be asked for again."""


class OutcomeUnknown(RailheadError, ConnectionError):
    """The object may or may not be stored: ask with head."""


class Unavailable(RailheadError):
    """The fabric that was asked for cannot be used here."""


class NotServed(RailheadError):
    """The gateway does not serve this request on the channel."""


class MemoryHeld(RailheadError):
    """The gateway may still touch the memory, which therefore stays until the process ends: use it for nothing else."""


class FallbackWarning(UserWarning):
    """Something goes over plain S3 that was to go by a fabric."""


def of_store(status: int, code: str, message: str, url: str, request_id: str = "") -> RailheadError:
    """The error for an answer of the store's."""
    kinds = {401: AccessDenied, 403: AccessDenied, 404: NotFound, 412: PreconditionFailed, 416: RangeNotSatisfiable}
    text = f"{code or status}: {message}" if message else f"{code or 'HTTP'} ({status})"
    if request_id:
        text += f" (request {request_id})"
    return kinds.get(status, StoreError)(text, status=status, code=code, request_id=request_id, url=url)
