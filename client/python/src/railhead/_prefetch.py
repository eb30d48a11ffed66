"""Objects that a gateway brings into its cache before anybody reads them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import urllib3

from railhead import errors
from railhead._http import element, origin, reason, signed
from railhead._settings import Settings, split

_CONNECT_SECONDS = 10
_MOST_TRIES = 3
_PAUSE_SECONDS = 0.5
_AT_ONCE = 16


class Prefetched(NamedTuple):
    """
    `state`: "filled", "held" already, "not_cached" by its rule, "refused" by the store, "full" where it would evict something,
    or "failed", for the `reason`. `length`: bytes that were fetched.
    """

    url: str
    state: str
    length: int
    reason: str = ""


def prefetch(settings: Settings, urls: Iterable[str]) -> list[Prefetched]:
    asked = list(urls)
    for url in asked:
        split(url)
    if not asked:
        return []
    at_once = min(_AT_ONCE, settings.in_flight, len(asked))
    with (urllib3.PoolManager(ca_certs=settings.ca, retries=False, maxsize=at_once) as pool,
          ThreadPoolExecutor(at_once, "railhead-prefetch") as threads):
        done = [threads.submit(_prefetch, settings, pool, url) for url in asked]
        try:
            return _results(done)
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def _results(done: list[Future[Prefetched]]) -> list[Prefetched]:
    """An object that the caller may not read keeps none of the others away: its error comes once they are done."""
    denied: list[errors.AccessDenied] = []
    results = []
    for each in done:
        try:
            results.append(each.result())
        except errors.AccessDenied as error:
            denied.append(error)
    if denied:
        raise denied[0]
    return results


def _prefetch(settings: Settings, pool: Any, url: str) -> Prefetched:
    for tries in range(1, _MOST_TRIES + 1):
        status, body = _ask(settings, pool, url)
        if status != 503 or tries == _MOST_TRIES:
            break
        time.sleep(tries * _PAUSE_SECONDS)
    if status != 200:
        code, message = element(body, "Code"), element(body, "Message")
        if status in (400, 404, 405, 501):
            raise errors.NotServed(f"the endpoint prefetches nothing: {code or status}: {message}", status=status, url=url)
        raise errors.of_store(status, code, message, url)
    try:
        answer = json.loads(body.splitlines()[-1])
        return Prefetched(url, answer["state"], answer["bytes"], answer["reason"])
    except (IndexError, KeyError, ValueError) as error:
        raise errors.ConnectionLost("the answer has no end", url=url) from error


def _ask(settings: Settings, pool: Any, url: str) -> tuple[int, bytes]:
    """The gateway has a line to say each five seconds, however long an object takes."""
    bucket, key = split(url)
    target = f"{settings.endpoint}/.railhead/warm?" + urlencode({"bucket": bucket, "key": key}, quote_via=quote, safe="")
    timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=settings.deadline)
    try:
        answer = pool.request("POST", target, headers=signed(settings, "POST", target), body=b"", timeout=timeout, redirect=False)
    except urllib3.exceptions.HTTPError as error:
        raise errors.ConnectionLost(f"{origin(settings.endpoint)}: {reason(error)}", url=url) from error
    return answer.status, answer.data
