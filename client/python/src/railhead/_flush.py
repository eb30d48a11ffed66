"""The wait for the store to have what a gateway has acknowledged at its own disk."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import urllib3

from railhead import errors
from railhead._http import element, origin, reason, signed
from railhead._paths import Paths
from railhead._settings import Settings, split
from railhead._transfer import Steps

_CONNECT_SECONDS = 10
_PAUSE_SECONDS = 0.5
_WAIT_SECONDS = 5.0  # of one question: who closes the client, or cancels, waits for its answer
_REST_SECONDS = 10.0  # for an answer, after the wait that was asked for
_THROUGH = "x-railhead-flush-through"  # the last write that is waited for, in the gateway's own words
_NO_ENDPOINT = (404, 405, 501)


class _Answer(NamedTuple):
    status: int
    through: str
    body: bytes


def flush(paths: Paths, url: str, timeout: float) -> Steps[None]:
    """Asks until all is there: the gateway answers each question in a bounded time. Later writes are not waited for."""
    bucket, prefix = split(url, with_key=False)
    asked = {"bucket": bucket, "prefix": prefix}
    over = time.monotonic() + timeout
    through, left = "", errors.RailheadError()
    while True:
        paths.check_open()
        wait = int(max(0.0, min(over - time.monotonic(), _WAIT_SECONDS)))
        question = {**asked, "wait": str(wait), **({"through": through} if through else {})}
        answer = yield partial(_ask, paths.settings, url, question, wait)
        if isinstance(answer, errors.ConnectionLost):
            if not through:
                raise answer
            left = answer  # a gateway that is restarted writes on what it has acknowledged
        elif answer.status == 200:
            return
        else:
            left, through = _refusal(answer, url), answer.through or through
        if time.monotonic() >= over:
            raise errors.DeadlineExceeded(f"not flushed in {timeout:g} s: {left}", status=left.status, code=left.code)
        yield partial(time.sleep, _PAUSE_SECONDS)


def _refusal(answer: _Answer, url: str) -> errors.RailheadError:
    """What is left, as the gateway says it; raises what no repeat would change."""
    code, message = element(answer.body, "Code"), element(answer.body, "Message")
    if answer.status in _NO_ENDPOINT or (answer.status == 400 and code in ("", "InvalidBucketName")):
        raise errors.NotServed(f"the endpoint flushes nothing: {code or answer.status}: {message}", status=answer.status, url=url)
    error = errors.of_store(answer.status, code, message, url)
    if answer.status != 503:
        raise error
    return error


def _ask(settings: Settings, url: str, question: dict[str, str], wait: int) -> _Answer | errors.ConnectionLost:
    """Returns a lost connection: of a call that is cancelled meanwhile, what is raised here would be caught, and asked again."""
    target = f"{settings.endpoint}/.railhead/flush?" + urlencode(question, quote_via=quote, safe="")
    timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=wait + _REST_SECONDS)
    try:
        with urllib3.PoolManager(ca_certs=settings.ca, retries=False) as pool:
            answer: Any = pool.request("POST", target, headers=signed(settings, "POST", target), body=b"", timeout=timeout,
                                       redirect=False)
    except urllib3.exceptions.HTTPError as error:
        lost = errors.ConnectionLost(f"{origin(settings.endpoint)}: {reason(error)}", url=url)
        lost.__cause__ = error
        return lost
    return _Answer(answer.status, answer.headers.get(_THROUGH, ""), answer.data)
