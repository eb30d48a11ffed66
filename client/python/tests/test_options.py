"""Options of single calls are honoured or refused, and never dropped."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from conftest import KEYS, Rack, Request, ScriptedStore, take_uploads

import railhead

pytest.importorskip("fsspec")

from railhead import _options
from railhead.fsspec import RailheadFileSystem

MIB = 1 << 20


@pytest.fixture
def fs(environment: Rack) -> Any:
    made = RailheadFileSystem(skip_instance_cache=True)
    yield made
    made.client.close()


@pytest.fixture(scope="module")
def versions(running: Rack) -> tuple[str, str]:
    """Two of data-of-versions/k: the old one is longer."""
    with running.client(fabric="http") as client:
        client.call("", "create_bucket", Bucket="versions")
        try:
            client.call("", "put_bucket_versioning", Bucket="versions", VersioningConfiguration={"Status": "Enabled"})
        except railhead.RailheadError as error:
            pytest.skip(f"a store without versions: {error}")
        first = client.put_from("s3://versions/k", b"the first, which is long", content_type="text/first").version_id
        second = client.put_from("s3://versions/k", b"the second").version_id
        client.put_from("s3://versions/large", bytes(9 * MIB))
    assert first
    assert second
    return first, second


def test_version_that_is_named_is_read(fs: Any, versions: tuple[str, str], tmp_path: Path) -> None:
    first, path = b"the first, which is long", "versions/k"
    for _ in range(2):  # the gateway may hold the newest by now
        assert fs.cat_file(path) == b"the second"
        named = {"version_id": versions[0]}
        assert fs.cat_file(path, **named) == fs.cat(path, **named) == first
        assert fs.cat_file(path, -4, **named) == b"long"
        assert fs.cat_ranges([path], [4], [9], **named) == [b"first"]
        assert fs.read_bytes(path, **named) == first
        assert fs.read_text(path, **named) == first.decode()
        with fs.open(path, **named) as file:
            assert file.read(9) + file.read() == first
            assert file.size == len(first)
        with fs.open(path, "r", **named) as text:
            assert text.read() == first.decode()
        info = fs.info(path, **named)
        assert (info["size"], info["VersionId"], info["ContentType"]) == (len(first), versions[0], "text/first")
        for target in (tmp_path / "got", tmp_path / "again"):
            fs.get_file(path, target, VersionId=versions[0])
            assert target.read_bytes() == first
        fs.get(path, str(tmp_path / "several"), **named)
        assert (tmp_path / "several").read_bytes() == first
        assert fs.modified(path, **named) <= fs.modified(path)
        fs.copy(path, "versions/copied", **named)
        assert fs.cat("versions/copied") == first


def test_file_of_a_version_can_be_pickled(fs: Any, versions: tuple[str, str]) -> None:
    with fs.open("versions/k", version_id=versions[0]) as file:
        again, arguments = file.__reduce__()
        with again(*arguments) as other:
            assert other.read() == b"the first, which is long"


@pytest.mark.parametrize("fabric", ["http", "loopback"])
def test_client_reads_the_version_that_is_named(running: Rack, versions: tuple[str, str], fabric: str) -> None:
    with running.client(fabric=fabric) as client:
        for version, data in zip(versions, (b"the first, which is long", b"the second"), strict=True):
            assert client.get("s3://versions/k", version_id=version) == data
            buffer = bytearray(4)
            got = client.get_into("s3://versions/k", buffer, start=4, version_id=version)
            assert (bytes(buffer[:got.length]), got.size, got.via) == (data[4:8], len(data), "http")
            assert client.head("s3://versions/k", version_id=version).size == len(data)
        with pytest.raises(ValueError, match="version_id"):
            client.get("s3://versions/k", version_id="")


def test_version_that_is_not_there_is_not_found(fs: Any, versions: tuple[str, str]) -> None:
    missing = "00000000-0000-0000-0000-000000000000"
    with pytest.raises(FileNotFoundError):
        fs.cat_file("versions/k", version_id=missing)
    with pytest.raises(FileNotFoundError):
        fs.open("versions/k", version_id=missing)
    assert not fs.exists("versions/k", version_id=missing)


STORED = {"ContentType": "text/x", "Metadata": {"A": "b"}, "CacheControl": "max-age=60", "ContentLanguage": "de"}


@pytest.mark.parametrize("nbytes", [0, 5, 17 * MIB])
def test_what_is_asked_for_is_stored(fs: Any, tmp_path: Path, nbytes: int) -> None:
    local = tmp_path / "local"
    local.write_bytes(bytes(nbytes))

    def by_file(mode: str) -> None:
        with fs.open("data/kept", mode, **STORED) as file:
            file.write(bytes(nbytes))

    writes = {
        "pipe_file": lambda: fs.pipe_file("data/kept", bytes(nbytes), **STORED),
        "pipe": lambda: fs.pipe({"data/kept": bytes(nbytes)}, **STORED),
        "put_file": lambda: fs.put_file(local, "data/kept", **STORED),
        "put": lambda: fs.put(str(local), "data/kept", **STORED),
        "open": lambda: by_file("wb"), "exclusive": lambda: by_file("xb"), "append": lambda: by_file("ab"),
        "copy": lambda: (fs.pipe("data/from", bytes(nbytes)), fs.copy("data/from", "data/kept", **STORED))}
    for name, write in writes.items():
        if fs.exists("data/kept"):
            fs.rm("data/kept")
        write()  # type: ignore[no-untyped-call]
        head = fs.client.call("", "head_object", Bucket="data", Key="kept")
        assert head["ContentLength"] == nbytes, name
        assert {key.upper(): value for key, value in head["Metadata"].items()} == {"A": "b"}, name
        assert {key: head.get(key) for key in STORED if key != "Metadata"} == \
               {key: value for key, value in STORED.items() if key != "Metadata"}, name


@pytest.fixture
def plain(scripted: ScriptedStore) -> Any:
    scripted.script = take_uploads
    made = RailheadFileSystem(endpoint=scripted.endpoint, fabric="http", credentials=KEYS, region="us-east-1",
                              skip_instance_cache=True)
    yield made
    made.client.close()


def headers_of(scripted: ScriptedStore, write: Any) -> list[tuple[str, dict[str, str]]]:
    came: list[tuple[str, dict[str, str]]] = []

    def take(request: Request) -> None:
        came.append((f"{request.command} {request.path}", {name.lower(): value for name, value in request.headers.items()}))
        take_uploads(request)

    scripted.script = take
    write()
    return came


ASKED = {"ACL": "private", "ServerSideEncryption": "AES256", "Tagging": "a=b", "StorageClass": "STANDARD_IA"}
SENT = {"x-amz-acl": "private", "x-amz-server-side-encryption": "AES256", "x-amz-tagging": "a=b",
        "x-amz-storage-class": "STANDARD_IA"}


@pytest.mark.parametrize("nbytes", [0, 5, 17 * MIB])
def test_options_reach_the_store(plain: Any, scripted: ScriptedStore, nbytes: int) -> None:
    def by_file() -> None:
        with plain.open("data/k", "wb", acl="private", **{name: value for name, value in ASKED.items() if name != "ACL"}) as file:
            file.write(bytes(nbytes))

    for write in (lambda: plain.pipe_file("data/k", bytes(nbytes), **ASKED), by_file,
                  lambda: plain.client.put_from("s3://b/k", bytes(nbytes), options=ASKED)):
        _, first = headers_of(scripted, write)[0]
        assert {name: first.get(name) for name in SENT} == SENT


def test_key_of_the_callers_goes_with_each_part_and_read(plain: Any, scripted: ScriptedStore) -> None:
    key = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": "k" * 32}
    for write in (lambda: plain.pipe_file("data/k", bytes(17 * MIB), **key), lambda: plain.pipe_file("data/k", b"", **key)):
        assert all("x-amz-server-side-encryption-customer-key" in headers for _, headers in headers_of(scripted, write))

    def answer(request: Request) -> None:
        assert request.headers["x-amz-server-side-encryption-customer-key"]
        request.answer(body=b"hello", Last_Modified="Wed, 25 Nov 2026 17:00:00 GMT")

    scripted.script = answer
    assert plain.cat_file("data/k", **key) == b"hello"
    assert plain.info("data/k", **key)["size"] == 5


def test_options_of_the_filesystem_go_with_each_write(scripted: ScriptedStore) -> None:
    fs = RailheadFileSystem(endpoint=scripted.endpoint, fabric="http", credentials=KEYS, region="us-east-1",
                            s3_additional_kwargs={"ServerSideEncryption": "AES256"}, skip_instance_cache=True)
    [(_, headers)] = headers_of(scripted, lambda: fs.pipe_file("data/k", b"x"))
    assert headers["x-amz-server-side-encryption"] == "AES256"
    fs.client.close()


CALLS: dict[str, Any] = {
    "open": lambda fs, _, **asked: fs.open("data/k", **asked),
    "open to write": lambda fs, _, **asked: fs.open("data/k", "wb", **asked),
    "open text": lambda fs, _, **asked: fs.open("data/k", "w", **asked),
    "cat": lambda fs, _, **asked: fs.cat("data/k", **asked),
    "cat many": lambda fs, _, **asked: fs.cat(["data/k", "data/l"], **asked),
    "cat_file": lambda fs, _, **asked: fs.cat_file("data/k", **asked),
    "cat_ranges": lambda fs, _, **asked: fs.cat_ranges(["data/k"], [0], [1], **asked),
    "get": lambda fs, local, **asked: fs.get("data/k", str(local), **asked),
    "get_file": lambda fs, local, **asked: fs.get_file("data/k", str(local), **asked),
    "put": lambda fs, local, **asked: fs.put(str(local),
    "data/k", **asked),
    "put_file": lambda fs, local, **asked: fs.put_file(str(local),
    "data/k", **asked),
    "pipe": lambda fs, _, **asked: fs.pipe("data/k", b"x", **asked),
    "pipe_file": lambda fs, _, **asked: fs.pipe_file("data/k", b"x", **asked),
    "write_bytes": lambda fs, _, **asked: fs.write_bytes("data/k", b"x", **asked),
    "touch": lambda fs, _, **asked: fs.touch("data/k", **asked),
    "copy": lambda fs, _, **asked: fs.copy("data/k", "data/l", **asked),
    "cp_file": lambda fs, _, **asked: fs.cp_file("data/k", "data/l", **asked),
    "mv": lambda fs, _, **asked: fs.mv("data/k", "data/l", **asked),
    "info": lambda fs, _, **asked: fs.info("data/k", **asked),
    "exists": lambda fs, _, **asked: fs.exists("data/k", **asked),
    "ls": lambda fs, _, **asked: fs.ls("data", **asked),
    "find": lambda fs, _, **asked: fs.find("data", **asked),
    "find below": lambda fs, _, **asked: fs.find("data", prefix="k", **asked),
    "glob": lambda fs, _, **asked: fs.glob("data/*", **asked),
    "walk": lambda fs, _, **asked: list(fs.walk("data", **asked)),
    "du": lambda fs, _, **asked: fs.du("data", **asked),
    "mkdir": lambda fs, _, **asked: fs.mkdir("other-bucket", **asked),
    "mkdir below": lambda fs, _, **asked: fs.mkdir("data/k", **asked),
    "modified": lambda fs, _, **asked: fs.modified("data/k", **asked)}


@pytest.mark.parametrize("name", CALLS)
def test_option_that_is_unknown_is_refused(fs: Any, tmp_path: Path, name: str) -> None:
    fs.pipe({"data/k": b"x", "data/l": b"x"})
    (tmp_path / "local").write_bytes(b"y")
    with pytest.raises(ValueError, match=r"Unheard|unheard"):
        CALLS[name](fs, tmp_path / "local", UnheardOf="x")
    assert fs.cat_file("data/k") == b"x"


def test_no_method_takes_options_and_drops_them() -> None:
    from railhead import client
    from railhead import fsspec as ours

    for module in (ours, client):
        assert "**_:" not in inspect.getsource(module)


def test_names_are_botocores() -> None:
    import botocore.session

    model = botocore.session.get_session().get_service_model("s3")

    def members(operation: str) -> set[str]:
        return set(model.operation_model(operation).input_shape.members)

    assert _options._STORED | {"ContentType", "Metadata"} <= members("PutObject") & members("CreateMultipartUpload")
    assert members("GetObject") & members("HeadObject") & members("UploadPart") >= _options._EVERYWHERE
    assert members("CopyObject") >= _options._COPIED | _options._STORED
    assert set(_options.of_every_part(dict.fromkeys(_options._COPIED | _options._STORED))) <= members("UploadPartCopy")


def test_refused_request_is_no_answer_to_exists(plain: Any, scripted: ScriptedStore) -> None:
    scripted.script = lambda request: request.answer(403)
    with pytest.raises(PermissionError):
        plain.exists("data/k")
