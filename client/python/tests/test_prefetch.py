"""Objects that are brought into the cache before they are read."""

from __future__ import annotations

import asyncio
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import KEYS, Rack, Request, ScriptedStore, content, environment_of

import railhead
from railhead import Prefetched, __main__


def warm(request: Request) -> None:
    """As a gateway that knows of one key that is not cached."""
    query = parse_qs(urlsplit(request.path).query)
    state = "not_cached" if query["key"] == ["plain"] else "filled"
    running = json.dumps({"state": "running"})
    request.answer(body=f'{running}\n{json.dumps({"state": state, "bytes": 7, "reason": ""})}\n'.encode())


def test_each_is_asked_for_and_told(scripted: ScriptedStore) -> None:
    scripted.script = warm
    with scripted.client() as client:
        urls = ["s3://b/a b/ü+%", "s3://b/plain"]
        told = [Prefetched(urls[0], "filled", 7), Prefetched(urls[1], "not_cached", 7)]
        assert client.prefetch(urls) == told
        assert asyncio.run(client.aprefetch(iter(urls))) == told
        assert client.prefetch([]) == []
        with pytest.raises(ValueError, match="not s3://"):
            client.prefetch(["s3://b"])
    assert scripted.came("POST /.railhead/warm?bucket=b&key=a%20b%2F%C3%BC%2B%25")


def test_store_that_is_no_gateway_is_told(scripted: ScriptedStore) -> None:
    scripted.script = lambda request: request.answer(404, b"<Error><Code>NoSuchBucket</Code><Message>m</Message></Error>")
    with scripted.client() as client, pytest.raises(railhead.NotServed, match="prefetches nothing: NoSuchBucket: m"):
        client.prefetch(["s3://b/k"])


def test_gateway_that_is_busy_is_asked_again(scripted: ScriptedStore) -> None:
    def once_busy(request: Request) -> None:
        if len(scripted.asked) == 1:
            request.answer(503, b"<Error><Code>SlowDown</Code></Error>")
        else:
            warm(request)

    scripted.script = once_busy
    with scripted.client() as client:
        assert client.prefetch(["s3://b/k"])[0].state == "filled"
    scripted.script = lambda request: request.answer(403, b"<Error><Code>AccessDenied</Code></Error>")
    with scripted.client() as client, pytest.raises(railhead.AccessDenied):
        client.prefetch(["s3://b/k"])


def test_an_object_that_is_denied_keeps_none_away(scripted: ScriptedStore) -> None:
    def deny_the_first(request: Request) -> None:
        if "key=denied" in request.path:
            request.answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        else:
            warm(request)

    scripted.script = deny_the_first
    urls = ["s3://b/denied", *(f"s3://b/{i}" for i in range(40))]
    with scripted.client() as client, pytest.raises(railhead.AccessDenied):
        client.prefetch(urls)
    assert all(scripted.came(f"POST /.railhead/warm?bucket=b&key={i}") for i in range(40))


def test_refused_connection_names_its_url() -> None:
    with (railhead.Client("http://127.0.0.1:1", fabric="http", credentials=KEYS, region="us-east-1") as client,
          pytest.raises(railhead.ConnectionLost, match=re.escape("http://127.0.0.1:1: Connection refused"))):
        client.prefetch(["s3://b/k"])


def test_prefetched_objects_are_hits(own_rack: Rack, monkeypatch: pytest.MonkeyPatch,
                                     capsys: pytest.CaptureFixture[str]) -> None:
    data = content(3 << 20)
    own_rack.start_gateway_again()  # a prefetch evicts nothing that other tests have read
    for name, value in environment_of(own_rack).items():
        monkeypatch.setenv(name, value)
    with own_rack.client() as client, own_rack.client(own_rack.store_endpoint, fabric="http") as store:
        for name in ("a", "b c"):
            store.put_from(f"s3://data/prefetch/{name}", data)
        assert client.prefetch(["s3://data/prefetch/a", "s3://data/prefetch/none"]) == [
            Prefetched("s3://data/prefetch/a", "filled", len(data)), Prefetched("s3://data/prefetch/none", "refused", 0)]
        buffer = client.buffer(len(data))
        assert client.get_into("s3://data/prefetch/a", buffer).cache == "hit"
        assert __main__.main(["prefetch", "s3://data/prefetch/"]) == 0
        assert capsys.readouterr().out == (f"held\t{0:12}\ts3://data/prefetch/a\n"
                                           f"filled\t{len(data):12}\ts3://data/prefetch/b c\n")
        assert client.get_into("s3://data/prefetch/b c", buffer).cache == "hit"
