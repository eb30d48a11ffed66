"""A store that reads go to while the gateway is gone."""

from __future__ import annotations

import pickle
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import KEYS, Rack, Request, ScriptedStore, content

import railhead
from railhead import _http

OWN = railhead.Credentials("STOREKEY", "store-secret")
LISTED = b"""<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>k</Key><Size>5</Size><ETag>"e"</ETag>
<LastModified>2026-11-02T10:00:00.000Z</LastModified></Contents></ListBucketResult>"""


def serve(request: Request) -> None:
    assert "Credential=STOREKEY/" in request.headers["Authorization"]
    if "list-type" in request.path:
        request.answer(body=LISTED)
    elif request.command == "GET":
        request.answer(206, b"bytes", Content_Range="bytes 0-4/5")
    elif request.command == "HEAD":
        request.answer(Content_Length="5", Last_Modified="Mon, 02 Nov 2026 10:00:00 GMT")
    else:
        request.answer()


@pytest.fixture
def gone() -> Iterator[str]:
    """Where nobody listens, and nobody else will meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def client_of(gateway: str, store: ScriptedStore, **options: Any) -> railhead.Client:
    return railhead.Client(gateway, credentials=KEYS, region="us-east-1",
                           fallback=railhead.Fallback(store.endpoint, OWN), **options)


@pytest.mark.parametrize("fabric", ["http", "loopback", "auto"])
def test_reads_go_to_the_store_that_was_named(scripted: ScriptedStore, gone: str, fabric: str) -> None:
    scripted.script = serve
    with warnings.catch_warnings(record=True) as told, client_of(gone, scripted, fabric=fabric) as client:
        warnings.simplefilter("always")
        buffer = bytearray(5)
        assert client.get("s3://b/k") == b"bytes"
        assert client.get_into("s3://b/k", buffer).via == "store"
        assert [got.length for got in client.get_many([("s3://b/k", buffer)] * 3)] == [5] * 3
        assert client.head("s3://b/k").size == 5
        assert [info.url for info in client.list("s3://b/")] == ["s3://b/k"]
        report = client.report()
    said = [str(each.message) for each in told if "the gateway is gone" in str(each.message)]
    assert len(said) == 1
    assert said[0].startswith(f"the gateway is gone, and reads go to {scripted.endpoint}: ")
    assert report.bytes_by_path == {"store": 25}
    assert report.fallback.startswith(f"{scripted.endpoint}, in use: ")
    assert f"fallback: {report.fallback}" in str(report)


def test_writes_do_not(scripted: ScriptedStore, gone: str) -> None:
    scripted.script = serve
    with client_of(gone, scripted, fabric="http") as client:
        for write in (lambda: client.put_from("s3://b/k", b"x"), lambda: client.delete("s3://b/k"),
                      lambda: client.put_from("s3://b/k", bytes(17 << 20))):
            with pytest.raises(railhead.ConnectionLost):
                write()
    assert not scripted.asked


@pytest.mark.parametrize(("status", "kind"), [(404, railhead.NotFound), (403, railhead.AccessDenied), (500, railhead.StoreError)])
def test_answer_of_the_gateway_is_one(scripted: ScriptedStore, status: int, kind: type[Exception]) -> None:
    with ScriptedStore() as store:
        scripted.script = lambda request: request.answer(status)
        with client_of(scripted.endpoint, store, fabric="http") as client:
            with pytest.raises(kind):
                client.get("s3://b/k")
            assert client.report().fallback == f"{store.endpoint}, not used"


def test_gateway_that_is_back_is_asked_again(scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_http, "_GONE_SECONDS", 0.0)

    def first_lost(request: Request) -> None:
        if "Credential=STOREKEY/" not in request.headers["Authorization"] and len(scripted.asked) <= 3:
            request.hang_up()
        else:
            request.answer(206, b"bytes", Content_Range="bytes 0-4/5")

    scripted.script = first_lost
    with client_of(scripted.endpoint, scripted, fabric="http") as client:
        with pytest.warns(railhead.FallbackWarning, match="the gateway is gone"):
            assert client.get_into("s3://b/k", bytearray(5)).via == "store"
        assert client.get_into("s3://b/k", bytearray(5)).via == "http"
        assert client.report().fallback.endswith("not used")


def test_fallback_has_keys_of_its_own(scripted: ScriptedStore) -> None:
    with pytest.raises(ValueError, match="of its own"):
        railhead.Client("http://127.0.0.1:1", credentials=KEYS, fallback=railhead.Fallback(scripted.endpoint))
    with pytest.raises(ValueError, match="no scheme"):
        railhead.Client("http://127.0.0.1:1", credentials=KEYS, fallback=railhead.Fallback("store:9000", OWN))
    client = client_of("http://127.0.0.1:1", scripted, fabric="http")
    assert pickle.loads(pickle.dumps(client))._settings.fallback.endpoint == scripted.endpoint


def test_environment_names_one_for_programs(scripted: ScriptedStore, gone: str, tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    scripted.script = serve
    file = tmp_path / "credentials"
    file.write_text(f"[store]\naws_access_key_id = {OWN.access_key}\naws_secret_access_key = {OWN.secret_key}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("RAILHEAD_FALLBACK_ENDPOINT", scripted.endpoint)
    with pytest.raises(ValueError, match="RAILHEAD_FALLBACK_PROFILE"):
        railhead.Client(gone, credentials=KEYS)
    monkeypatch.setenv("RAILHEAD_FALLBACK_PROFILE", "store")
    with (railhead.Client(gone, credentials=KEYS, fabric="http") as client,
          pytest.warns(railhead.FallbackWarning, match="the gateway is gone")):
        assert client.get("s3://b/k") == b"bytes"


def test_reads_outlive_a_gateway_that_is_killed(own_rack: Rack) -> None:
    data = content(20 << 20)
    fallback = railhead.Fallback(own_rack.store_endpoint, KEYS)
    with own_rack.client(fabric="loopback", fallback=fallback) as client:
        client.put_from("s3://data/fallback", data)
        assert client.get("s3://data/fallback") == data
        assert client.report().fallback.endswith("not used")
        own_rack.processes.stop(own_rack.gateway)
        with pytest.warns(railhead.FallbackWarning, match="the gateway is gone"):
            assert client.get("s3://data/fallback") == data
        own_rack.start_gateway_again()
