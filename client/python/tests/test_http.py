"""Plain S3, against a store that is scripted: whatever goes wrong is an error of this package's."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import urllib3
from conftest import COMPLETED, KEYS, UPLOAD, Request, ScriptedStore, take_uploads

import railhead

DATA = b"0123456789" * 10


def part_of(request: Request, sent: int) -> None:
    """The first `sent` bytes of an answer that announces all of them."""
    request.answer(206, DATA[:sent], Content_Length=str(len(DATA)), Content_Range=f"bytes 0-{len(DATA) - 1}/{len(DATA)}")
    request.hang_up()


def test_read_that_breaks_off_is_asked_for_again(scripted: ScriptedStore) -> None:
    scripted.script = lambda request: part_of(request, len(DATA) if len(scripted.asked) == 3 else 50)
    with scripted.client() as client:
        assert client.get("s3://b/k") == DATA
    assert len(scripted.asked) == 3


def test_read_that_always_breaks_off_is_a_lost_connection(scripted: ScriptedStore) -> None:
    scripted.script = lambda request: part_of(request, 50)
    with scripted.client() as client, pytest.raises(railhead.ConnectionLost):
        client.get("s3://b/k")
    assert len(scripted.asked) == 3


class NoStore(Request):
    """Answers 200 to everything, and says nothing of objects."""

    def send_header(self, keyword: str, value: str) -> None:
        if keyword != "ETag":
            super().send_header(keyword, value)


def test_answer_of_what_is_no_store(scripted: ScriptedStore) -> None:
    scripted.RequestHandlerClass = NoStore
    scripted.script = lambda request: request.answer(body=b"hello" if request.command == "GET" else b"")
    with scripted.client() as client:
        for call in (lambda: client.get("s3://b/k"), lambda: client.get_into("s3://b/k", bytearray(9)),
                     lambda: client.put_from("s3://b/k", b"x"), lambda: client.head("s3://b/k")):
            with pytest.raises(railhead.StoreError, match="s3://b/k: the answer has no ETag"):
                call()


def test_upload_whose_answers_say_nothing(scripted: ScriptedStore) -> None:
    answers = {"UploadId": (b"<InitiateMultipartUploadResult/>", COMPLETED),
               "ETag": (UPLOAD, b"<CompleteMultipartUploadResult/>")}
    for missing, (created, completed) in answers.items():
        def take(request: Request, created: bytes = created, completed: bytes = completed) -> None:
            if request.command == "POST":
                request.answer(body=created if request.path.endswith("?uploads") else completed)
            else:
                take_uploads(request)

        scripted.script = take
        with scripted.client() as client, pytest.raises(railhead.StoreError, match=f"the answer has no {missing}"):
            client.put_from("s3://b/k", bytes(17 << 20))


def test_object_without_bytes_is_sent_without_asking(scripted: ScriptedStore) -> None:
    expected: list[str | None] = []

    def take(request: Request) -> None:
        expected.append(request.headers["Expect"])
        request.answer()

    scripted.script = take
    with scripted.client() as client:
        client.put_from("s3://b/k", b"")
        client.put_from("s3://b/k", b"x")
    assert expected == [None, "100-continue"]


def test_what_botocore_refuses_is_a_mistake(scripted: ScriptedStore) -> None:
    with scripted.client() as client:
        with pytest.raises(ValueError, match="Bad Bucket"):
            client.head("s3://Bad Bucket/k")
        with pytest.raises(ValueError, match="Bad Bucket"):
            client.call("s3://Bad Bucket", "head_bucket", Bucket="Bad Bucket")


def test_profile_that_is_not_there() -> None:
    said = subprocess.run([sys.executable, "-m", "railhead", "report"], capture_output=True, text=True, check=False,
                          env={**os.environ, "AWS_PROFILE": "nope", "AWS_CONFIG_FILE": os.devnull})
    assert (said.returncode, said.stderr) == (2, "railhead: The config profile (nope) could not be found\n")


def test_credentials_that_cannot_be_had(scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    config = tmp_path / "config"
    config.write_text("[default]\ncredential_process = false\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for fabric in ("http", "loopback"):
        with railhead.Client(scripted.endpoint, fabric=fabric) as client, pytest.raises(railhead.RailheadError):
            client.head("s3://b/k")


@pytest.mark.parametrize(("status", "kind", "code"), [
    (403, railhead.AccessDenied, "AccessDenied"), (404, railhead.NotFound, "NoSuchKey"),
    (412, railhead.PreconditionFailed, "PreconditionFailed")])
def test_refusals_without_a_document_have_the_channel_s_codes(scripted: ScriptedStore, status: int,
                                                              kind: type[railhead.RailheadError], code: str) -> None:
    scripted.script = lambda request: request.answer(status)
    with scripted.client() as client:
        with pytest.raises(kind) as caught:
            client.head("s3://b/k")
        assert caught.value.code == code
        with pytest.raises(kind) as caught:
            client.call("s3://b", "head_bucket", Bucket="b")
        assert caught.value.code == code.replace("NoSuchKey", "NoSuchBucket")


def test_authorities_are_the_system_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "ca.pem").touch()
    for name in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    assert railhead.Client("https://127.0.0.1:1", credentials=KEYS)._settings.ca == str(tmp_path / "ca.pem")
    (tmp_path / "config").write_text("[default]\nca_bundle = /nope/profile.pem\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for endpoint, named, variable, said in (
            ("https://127.0.0.1:1", None, "", "ca_bundle: /nope/profile.pem: No such file"),
            ("https://127.0.0.1:1", None, "/nope/env.pem", "AWS_CA_BUNDLE or ca_bundle: /nope/env.pem: No such file"),
            ("http://127.0.0.1:1", Path("/nope.pem"), "", "ca: /nope.pem: No such file"),
            ("https://127.0.0.1:1", str(tmp_path), "", f"ca: {tmp_path}: Is a directory|ca: {tmp_path} has no"),
            ("https://127.0.0.1:1", str(tmp_path / "ca.pem"), "", "ca: .*ca.pem has no certificates")):
        if variable:
            monkeypatch.setenv("AWS_CA_BUNDLE", variable)
        else:
            monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
        with pytest.raises(ValueError, match=said):
            railhead.Client(endpoint, credentials=KEYS, ca=named)
    assert railhead.Client("http://127.0.0.1:1", credentials=KEYS)._settings.ca == "/nope/profile.pem"


def test_endpoints_of_the_services_section_go_before_the_profile_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    config = tmp_path / "config"
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    for name in ("RAILHEAD_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    own = "[default]\nservices = rack\nendpoint_url = http://own:1\n"
    for services, found in (("[services rack]\ns3 =\n  endpoint_url = http://rack:1/\n", "http://rack:1"),
                            ("[services other]\ns3 =\n  endpoint_url = http://other:1\n", "http://own:1"),
                            ("[services rack]\nsts =\n  endpoint_url = http://sts:1\n", "http://own:1"),
                            ("[services rack]\ns3 = nothing\n", "http://own:1")):
        config.write_text(own + services)
        assert railhead.Client(credentials=KEYS)._settings.endpoint == found
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://s3:1")
    assert railhead.Client(credentials=KEYS)._settings.endpoint == "http://s3:1"


@pytest.mark.parametrize(("endpoint", "said"), [
    ("localhost:9000", "endpoint has no scheme: localhost:9000; write http://localhost:9000"), ("rack7", "has no scheme"),
    ("127.0.0.1:9000/", "has no scheme"), ("[::1]:9000", "has no scheme"), ("ftp://h", "not an endpoint"),
    ("http://", "not an endpoint"), ("http://h/path", "not an endpoint"), ("http://h#f", "not an endpoint"),
    ("http://u@h", "not an endpoint"), ("http://h:99999", "not an endpoint"), ("http://[::1", "not an endpoint"),
    ("/", "not an endpoint")])
def test_what_is_wrong_with_an_endpoint_is_named(endpoint: str, said: str) -> None:
    with pytest.raises(ValueError, match="endpoint") as caught:
        railhead.Client(endpoint, credentials=KEYS)
    assert said in str(caught.value)
    assert endpoint in str(caught.value)


@pytest.mark.parametrize("fabric", ["http", "auto"])
def test_no_request_goes_by_a_proxy_of_the_environment(scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch,
                                                       fabric: str) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        for each in (name, name.upper()):
            monkeypatch.setenv(each, "" if "no_" in name else "http://127.0.0.1:1")

    def take(request: Request) -> None:
        if request.path.startswith("/.railhead/"):
            request.answer(501)
        elif "list-type" in request.path:
            request.answer(body=b"<ListBucketResult/>")
        elif request.command in ("GET", "HEAD"):
            request.answer(206, b"x", Content_Range="bytes 0-0/1", Last_Modified="Thu, 01 Jan 2026 00:00:00 GMT")
        else:
            take_uploads(request)

    scripted.script = take
    with (warnings.catch_warnings(),
          railhead.Client(scripted.endpoint, fabric=fabric, credentials=KEYS, region="us-east-1") as client):
        warnings.simplefilter("ignore", railhead.FallbackWarning)
        assert client.get("s3://b/k") == b"x"
        client.head("s3://b/k")
        client.put_from("s3://b/k", b"x")
        client.put_from("s3://b/k", bytes(17 << 20))
        assert not list(client.list("s3://b/"))
        client.delete("s3://b/k")
        client.call("s3://b", "head_bucket", Bucket="b")
        assert not any("127.0.0.1:1" in reason for reason in client.report().reasons)
    assert bool(scripted.came("/.railhead/sessions")) == (fabric == "auto"), "sessions are opened past it, too"


@pytest.mark.parametrize("fabric", ["auto", "loopback"])
def test_interrupt_while_connecting_is_raised(scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch, fabric: str) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with railhead.Client(scripted.endpoint, fabric=fabric, credentials=KEYS, region="us-east-1") as client:
        with monkeypatch.context() as context:
            context.setattr(urllib3.PoolManager, "request", interrupted)
            with pytest.raises(KeyboardInterrupt):
                client.head("s3://b/k")
        assert not scripted.asked, "it did not go on over plain S3"


def test_list_holds_its_client(scripted: ScriptedStore) -> None:
    scripted.script = lambda request: request.answer(body=b"""<ListBucketResult><Contents><Key>k</Key><Size>1</Size>
        <ETag>e</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>""")
    infos = scripted.client().list("s3://b/")
    gc.collect()
    assert [info.url for info in infos] == ["s3://b/k"]


def test_list_takes_an_object_without_an_etag(scripted: ScriptedStore) -> None:
    scripted.script = lambda request: request.answer(body=b"""<ListBucketResult><Contents><Key>k</Key><Size>0</Size>
        <LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>""")
    assert [info.etag for info in scripted.client().list("s3://b/")] == [""]
