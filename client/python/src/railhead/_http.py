"""
Plain S3, by botocore: what the native channel does not do, and the fallback. No request of this package's goes by a proxy,
whatever the environment names: a gateway stands beside its clients.
"""

from __future__ import annotations

import ctypes
import io
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import urllib3
from botocore import exceptions
from botocore.parsers import ResponseParserError

from railhead import _native, errors
from railhead._memory import View
from railhead._options import ReadOptions
from railhead._session import ACKNOWLEDGED, Outcome
from railhead._settings import Settings

_CONNECT_SECONDS = 10
_MOST_TRIES = 3
_PAUSE_SECONDS = 0.5
_GONE_SECONDS = 10.0  # before a gateway that is gone is asked again
_REFUSED = "SlowDown"  # nothing was done
_NOT_SENT = (exceptions.ConnectTimeoutError, exceptions.EndpointConnectionError, exceptions.ProxyConnectionError)
_LOST = (exceptions.HTTPClientError, exceptions.ConnectionError, exceptions.IncompleteReadError, ResponseParserError,
         urllib3.exceptions.HTTPError, OSError)
# Of answers without a document, as those to HEAD, botocore takes the status for the code; this is what the channel says.
_CODES = {"400": "BadRequest", "401": "AccessDenied", "403": "AccessDenied", "404": "NoSuchKey", "412": "PreconditionFailed",
          "416": "InvalidRange", "503": "SlowDown"}


def bytes_of(memory: View) -> memoryview:
    """The bytes of memory of the host; valid as long as the view is."""
    return memoryview((ctypes.c_ubyte * memory.nbytes).from_address(memory.address)).cast("B")


class _Body(io.RawIOBase):
    """Bytes of memory as botocore reads them: it may rewind to repeat a request."""

    def __init__(self, memory: View) -> None:
        self._bytes = bytes_of(memory)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        count = min(len(into), len(self._bytes) - self._at)
        into[:count] = self._bytes[self._at:self._at + count]
        self._at += count
        return count

    def seek(self, to: int, whence: int = io.SEEK_SET) -> int:
        self._at = to + (0, self._at, len(self._bytes))[whence]
        return self._at

    def tell(self) -> int:
        return self._at


class PlainS3:
    """Threads: any. What fails is an Outcome with its error; the administrative calls raise it."""

    def __init__(self, settings: Settings, tell: Callable[[str], object] = lambda _: None) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._store = PlainS3(settings.fallback) if settings.fallback else None
        self._tell = tell
        self._gone_because = ""
        self._ask_again_at = 0.0
        self._clients_of: Any = None
        self._clients: dict[int, Any] = {}  # by how often they try

    # ---- While the gateway is gone ----

    @property
    def gone_because(self) -> str:
        """Why reads go to the fallback; empty while they do not."""
        return self._gone_because

    def is_gone(self, reason: str) -> None:
        """Reads go to the fallback for a while; it is told once, until the gateway is there again."""
        self._ask_again_at = time.monotonic() + _GONE_SECONDS
        if not self._gone_because:
            self._tell(reason)  # raises where warnings are errors, each time
            self._gone_because = reason

    def _read(self, ask: Callable[[PlainS3], Outcome]) -> Outcome:
        if self._store is None:
            return ask(self)
        if time.monotonic() >= self._ask_again_at:
            outcome = ask(self)
            if not isinstance(outcome.error, errors.ConnectionLost):
                self._gone_because = ""
                return outcome
            try:
                self.is_gone(str(outcome.error))
            except errors.FallbackWarning as warning:  # where it is to be an error
                return Outcome(_native.STORE, error=warning)
        return ask(self._store)._replace(via="store")

    # ---- Requests ----

    @property
    def _retrying(self) -> Any:
        return self._trying(_MOST_TRIES)

    @property
    def _once(self) -> Any:
        return self._trying(1)

    def _trying(self, attempts: int) -> Any:
        with self._lock:  # botocore's clients may be used by many threads, but are made by one at a time
            session = self._settings.account.session
            if self._clients_of is not session:
                self._clients_of, self._clients = session, {}  # who uses one of the others still does
            if attempts not in self._clients:
                self._clients[attempts] = self._client(session, attempts)
            return self._clients[attempts]

    def _client(self, session: Any, attempts: int) -> Any:
        settings = self._settings
        config = botocore.config.Config(
            signature_version="s3v4", s3={"addressing_style": "path"}, connect_timeout=_CONNECT_SECONDS,
            read_timeout=settings.deadline, max_pool_connections=settings.in_flight, user_agent_extra="railhead-python",
            retries={"mode": "standard", "total_max_attempts": attempts}, request_checksum_calculation="when_required",
            response_checksum_validation="when_required", proxies={})
        keys = settings.credentials()
        named = settings.named is not None
        return session.create_client(
            "s3", endpoint_url=settings.endpoint, region_name=settings.region, verify=settings.ca, config=config,
            aws_access_key_id=keys.access_key if named else None, aws_secret_access_key=keys.secret_key if named else None,
            aws_session_token=keys.session_token if named else None)

    def call(self, url: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """One operation; RailheadError. What a repeat could take for another's doing is repeated only if it was refused."""
        completes = operation == "complete_multipart_upload"
        with _Translated(url, unknown=completes):
            answer: dict[str, Any] = (self._complete(url, arguments) if completes
                                      else getattr(self._retrying, operation)(**_present(arguments)))
            return answer

    def _complete(self, url: str, arguments: dict[str, Any], tries: int = 1) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = self._once.complete_multipart_upload(**_present(arguments))
            return answer
        except (exceptions.ClientError, *_NOT_SENT) as error:
            if tries == _MOST_TRIES or (isinstance(error, exceptions.ClientError)
                                        and error.response["Error"].get("Code") != _REFUSED):
                raise
        time.sleep(tries * _PAUSE_SECONDS)
        return self._complete(url, arguments, tries + 1)

    def get(self, url: str, bucket: str, key: str, memory: View, span: tuple[int, int] | None, if_match: str,
            options: ReadOptions) -> Outcome:
        return self._read(lambda who: who._get(url, bucket, key, memory, span, if_match, options))

    def _get(self, url: str, bucket: str, key: str, memory: View, span: tuple[int, int] | None, if_match: str,
             options: ReadOptions) -> Outcome:
        def ask() -> dict[str, Any]:
            wanted = f"bytes={span[0]}-{span[1]}" if span else f"bytes=0-{memory.nbytes - 1}"
            named = {"Bucket": bucket, "Key": key, "IfMatch": if_match or None, **options.arguments()}
            try:
                answer: dict[str, Any] = self._retrying.get_object(**_present({**named, "Range": wanted}))
            except exceptions.ClientError as error:
                # An empty object has no first byte to ask for.
                if span or error.response["ResponseMetadata"].get("HTTPStatusCode") != 416:
                    raise
                answer = self._retrying.get_object(**_present(named))
            return answer

        def read(tries: int = 1) -> Outcome:
            answer = ask()
            try:
                with closing(answer["Body"]) as body:
                    moved = _fill(body, bytes_of(memory), answer["ContentLength"])
            except (exceptions.IncompleteReadError, exceptions.ResponseStreamingError, errors.ConnectionLost):
                # botocore repeats only what has no answer.
                if tries == _MOST_TRIES:
                    raise
                return read(tries + 1)
            content_range = answer.get("ContentRange", "")
            size = int(content_range.rpartition("/")[2]) if content_range else answer["ContentLength"]
            return Outcome(status=answer["ResponseMetadata"]["HTTPStatusCode"], moved=moved, size=size,
                           etag=said(answer, "ETag", url), version_id=answer.get("VersionId", ""))
        return _outcome(url, read)

    def head(self, url: str, bucket: str, key: str, options: ReadOptions) -> Outcome:
        return self._read(lambda who: who._head(url, bucket, key, options))

    def _head(self, url: str, bucket: str, key: str, options: ReadOptions) -> Outcome:
        def ask() -> Outcome:
            answer = self._retrying.head_object(**_present({"Bucket": bucket, "Key": key, **options.arguments()}))
            headers = {"content-type": answer.get("ContentType", "")}
            headers.update({f"x-amz-meta-{name}": value for name, value in answer.get("Metadata", {}).items()})
            return Outcome(
                status=200, size=said(answer, "ContentLength", url), etag=said(answer, "ETag", url),
                version_id=answer.get("VersionId", ""),
                headers="".join(f"{name}: {value}\n" for name, value in headers.items()),
                last_modified_millis=int(said(answer, "LastModified", url).timestamp() * 1000))
        return _outcome(url, ask)

    def put(self, url: str, memory: View, operation: str, **arguments: Any) -> Outcome:
        def write() -> Outcome:
            # A part may be sent again; an object that another wrote meanwhile may not.
            client = self._retrying if operation == "upload_part" else self._once
            # For a stream botocore asks first (Expect), of no bytes, too: after that the gateway may close the connection.
            body = {"Body": _Body(memory)} if memory.nbytes else {}
            answer = getattr(client, operation)(**body, ContentLength=memory.nbytes, **_present(arguments))
            return Outcome(status=200, moved=memory.nbytes, size=memory.nbytes, etag=said(answer, "ETag", url),
                           version_id=answer.get("VersionId", ""), acknowledged=acknowledged(answer))
        return _outcome(url, write, unknown=operation == "put_object")

    def list(self, url: str, bucket: str, prefix: str, delimiter: str) -> Iterator[dict[str, Any]]:
        """One that has begun is not gone on with at the fallback: its pages are the gateway's."""
        if self._store is not None:
            one = self._read(lambda who: _outcome(url, lambda: who._first_key(bucket, prefix)))
            if one.error is None and one.via:
                yield from self._store.list(url, bucket, prefix, delimiter)
                return
        with _Translated(url):
            pages = self._retrying.get_paginator("list_objects_v2").paginate(
                **_present({"Bucket": bucket, "Prefix": prefix or None, "Delimiter": delimiter or None}))
            yield from pages

    def _first_key(self, bucket: str, prefix: str) -> Outcome:
        self._retrying.list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1)
        return Outcome()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
        for client in self._clients.values():
            client.close()


def said(answer: dict[str, Any], name: str, url: str) -> Any:
    """What every store says, and what is none may not."""
    if name not in answer:
        raise errors.StoreError(f"the answer has no {name}", url=url,
                                status=answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return answer[name]


def acknowledged(answer: dict[str, Any]) -> str:
    """The level of a write. A gateway names it where a rule has more than one; any other store has but its own."""
    level: str = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get(ACKNOWLEDGED, "store")
    return level


def _present(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _fill(body: Any, into: memoryview, announced: int) -> int:
    at = 0
    while at < announced:
        if at == len(into):
            raise errors.StoreError("the store answered more bytes than were asked for")
        got = body.readinto(into[at:])
        if not got:
            raise errors.ConnectionLost(f"the answer ended after {at} of {announced} bytes")
        at += got
    return at


class _Translated:
    """Raises botocore's errors as this package's; `unknown`: what fails in the middle may be done, and is not repeated."""

    def __init__(self, url: str, unknown: bool = False) -> None:
        self._url = url
        self._unknown = unknown

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, errors.RailheadError):
            return
        if isinstance(error, exceptions.ClientError):
            raise (_unknown if self._unknown and _is_doubtful(error) else _of_store)(error, self._url) from error
        if isinstance(error, exceptions.ParamValidationError | exceptions.ValidationError):
            raise ValueError(f"{self._url}: {error}") from error
        if isinstance(error, (*_LOST, exceptions.BotoCoreError)):
            raise self._kind(error)(str(error), url=self._url) from error

    def _kind(self, error: BaseException) -> type[errors.RailheadError]:
        if isinstance(error, _NOT_SENT):
            return errors.ConnectionLost
        if not isinstance(error, _LOST):
            return errors.RailheadError
        if self._unknown:
            return errors.OutcomeUnknown
        return errors.DeadlineExceeded if isinstance(error, exceptions.ReadTimeoutError) else errors.ConnectionLost


def _is_doubtful(error: Any) -> bool:
    """Whether it may be done all the same: a gateway, too, says 503 of a connection to its store that broke."""
    code, status = error.response["Error"].get("Code", ""), error.response["ResponseMetadata"]["HTTPStatusCode"]
    return bool(status >= 500 and status != 501 and code != _REFUSED and not code.startswith("RDMA"))


def _unknown(error: Any, url: str) -> errors.RailheadError:
    said, meta = error.response["Error"], error.response["ResponseMetadata"]
    return errors.OutcomeUnknown(str(error), status=meta["HTTPStatusCode"], code=said.get("Code", ""),
                                 request_id=meta.get("RequestId", ""), url=url)


def _of_store(error: Any, url: str) -> errors.RailheadError:
    said, meta = error.response.get("Error", {}), error.response.get("ResponseMetadata", {})
    code = "NoSuchBucket" if (said.get("Code"), error.operation_name) == ("404", "HeadBucket") else said.get("Code", "")
    return errors.of_store(meta.get("HTTPStatusCode", 0), _CODES.get(code, code), said.get("Message", ""), url,
                           meta.get("RequestId", ""))


def _outcome(url: str, action: Callable[[], Outcome], unknown: bool = False) -> Outcome:
    try:
        with _Translated(url, unknown):
            return action()
    except Exception as error:  # the box carries it to who waits
        return Outcome(_native.STORE, error=error)


class Opener:
    """The library's one HTTP request, by urllib3: so that no libcurl is needed, and one CA file counts for all."""

    def __init__(self, settings: Settings) -> None:
        self._ca = settings.ca
        self.function = _native.HttpFunction(self._send)
        self.failure = ""  # why there was no answer
        self.interrupt: BaseException | None = None  # to be raised by who connects
        self.status = 0  # of the answer
        self.code = ""  # of a refusal

    def _send(self, _context: int | None, exchange_pointer: Any) -> int:
        """Nothing may be raised through the library."""
        try:
            self._exchange(exchange_pointer.contents)
            return 0
        except Exception as error:
            self.failure = f"{origin(exchange_pointer.contents.url.decode())}: {reason(error)}"
        except BaseException as interrupt:
            self.interrupt = interrupt
        return 1

    def _exchange(self, exchange: Any) -> None:
        lines: list[bytes] = []
        while (line := exchange.headers[len(lines)]) is not None:
            lines.append(line)
        headers = dict(line.decode().split(": ", 1) for line in lines)
        with urllib3.PoolManager(ca_certs=self._ca, retries=False) as pool:
            answer = pool.request(exchange.method.decode(), exchange.url.decode(), headers=headers,
                                  timeout=exchange.timeout_millis / 1000, redirect=False)
        body = answer.data[: exchange.answer_room]
        ctypes.memmove(exchange.answer, body, len(body))
        self.status = exchange.status = answer.status
        exchange.answer_bytes = len(body)
        self.code = element(body, "Code") if answer.status >= 400 else ""


def signed(settings: Settings, method: str, url: str) -> dict[str, str]:
    """The header lines of a request of the gateway's own, which has no body."""
    keys = settings.credentials()
    request = botocore.awsrequest.AWSRequest(method, url, data=b"")
    signer = botocore.credentials.Credentials(keys.access_key, keys.secret_key, keys.session_token)
    botocore.auth.S3SigV4Auth(signer, "s3", settings.region).add_auth(request)
    return dict(request.headers)


def element(document: bytes, name: str) -> str:
    """The text of an element of an error's document."""
    found = re.search(f"<{name}>([^<]*)</{name}>", document.decode(errors="replace"))
    return found[1] if found else ""


def origin(url: str) -> str:
    parsed = urllib3.util.parse_url(url)
    return f"{parsed.scheme}://{parsed.netloc}"


def reason(error: BaseException) -> str:
    """What the system said, which urllib3 wraps in its own objects' names."""
    first = error
    while (cause := first.__cause__ or first.__context__) is not None:
        first = cause
    return getattr(first, "strerror", None) or str(first)
