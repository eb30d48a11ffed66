"""Appending, folders' markers, and many files at a time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import KEYS, Rack, Request, ScriptedStore, content, take_uploads

import railhead

fsspec = pytest.importorskip("fsspec")

from railhead import _bulk, _options  # noqa: E402
from railhead import fsspec as ours  # noqa: E402
from railhead.fsspec import RailheadFileSystem  # noqa: E402

MIB = 1 << 20


@pytest.fixture
def fs(environment: Rack) -> Any:
    made = RailheadFileSystem(skip_instance_cache=True)
    if made.exists("data/files"):
        made.rm("data/files", recursive=True)
    yield made
    made.client.close()


@pytest.mark.parametrize("before", [None, 0, 3, 8 * MIB - 1, 8 * MIB, 17 * MIB + 1])
@pytest.mark.parametrize("more", [0, 5, 9 * MIB])
def test_file_that_is_appended_to(fs: Any, before: int | None, more: int) -> None:
    first, second = content(before or 0, 1), content(more, 2)
    if before is not None:
        fs.pipe_file("data/files/log", first, ContentType="text/x", Metadata={"a": "b"}, CacheControl="max-age=60")
    with fs.open("data/files/log", "ab") as file:
        assert file.tell() == len(first)
        file.write(second[:3])
        file.write(second[3:])
        assert file.tell() == len(first) + len(second)
    assert fs.cat("data/files/log") == first + second
    if before is not None:
        head = fs.client.call("", "head_object", Bucket="data", Key="files/log")
        assert (head["ContentType"], head["Metadata"], head["CacheControl"]) == ("text/x", {"a": "b"}, "max-age=60")


def test_text_is_appended(fs: Any) -> None:
    for line in ("one\n", "two\n"):
        with fs.open("data/files/text", "a") as file:
            file.write(line)
    assert fs.cat("data/files/text") == b"one\ntwo\n"


@pytest.mark.parametrize("before", [3, 9 * MIB])
def test_transaction_appends(fs: Any, before: int) -> None:
    first = content(before)
    fs.pipe_file("data/files/log", first)
    with fs.transaction, fs.open("data/files/log", "ab") as file:
        file.write(b"more")
    with fs.transaction, fs.open("data/files/log", "ab") as file:
        pass
    assert fs.cat("data/files/log") == first + b"more"


@pytest.mark.parametrize("before", [3, 9 * MIB])
def test_file_that_changed_since_it_was_opened_is_not_appended_to(fs: Any, before: int) -> None:
    fs.pipe_file("data/files/log", content(before, 1))
    file = fs.open("data/files/log", "ab")
    file.write(b"more")
    fs.pipe_file("data/files/log", content(before, 2))
    with pytest.raises(railhead.PreconditionFailed):
        file.close()
    assert fs.cat("data/files/log") == content(before, 2)


@pytest.mark.parametrize("before", [3, 9 * MIB])
def test_append_that_is_left_by_an_error_changes_nothing(fs: Any, before: int) -> None:
    fs.pipe_file("data/files/log", content(before))

    def leave() -> None:
        with fs.open("data/files/log", "ab") as file:
            file.write(bytes(9 * MIB))
            raise KeyError

    with pytest.raises(KeyError):
        leave()
    assert fs.cat("data/files/log") == content(before)


def test_pandas_appends(fs: Any, environment: Rack) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2]})
    frame.to_csv("railhead://data/files/table.csv", index=False)
    frame.to_csv("railhead://data/files/table.csv", index=False, mode="a", header=False)
    assert pandas.read_csv("railhead://data/files/table.csv")["a"].tolist() == [1, 2, 1, 2]


@pytest.fixture
def for_s3(fs: Any) -> Any:
    known = sys.modules["fsspec.registry"]._registry
    before = dict(known)
    ours.use_for_s3()
    yield fs
    known.clear()
    known.update(before)


# ---- Keys that end in a slash ----

def test_key_that_ends_in_a_slash_is_read_and_removed(scripted: ScriptedStore) -> None:
    scripted.script = lambda request: request.answer(204 if request.command == "DELETE" else 200, b"")
    fs = plain(scripted)
    assert fs.cat_file("b/dir/") == b""
    fs.rm_file("b/dir/")
    assert scripted.came("GET /b/dir/")
    assert scripted.came("DELETE /b/dir/")
    fs.client.close()


def keys(fs: Any) -> list[str]:
    return [info.url.removeprefix("s3://data/files/") for info in fs.client.list("s3://data/files/")]


@pytest.mark.parametrize("make", [
    lambda fs: fs.pipe("data/files/dir/", b""), lambda fs: fs.pipe({"data/files/dir/": b""}),
    lambda fs: fs.pipe_file("railhead://data/files/dir/", b""), lambda fs: fs.touch("data/files/dir/"),
    lambda fs: fs.write_bytes("s3://data/files/dir/", b"")])
def test_key_that_ends_in_a_slash_is_a_folders_marker(fs: Any, make: Any) -> None:
    make(fs)
    assert keys(fs) == ["dir/"]
    assert fs.isdir("data/files/dir")
    assert fs.isdir("data/files/dir/")
    assert fs.ls("data/files", detail=False) == ["data/files/dir"]
    fs.rm("data/files/dir")
    assert not keys(fs)


def test_file_that_is_put_into_a_folder_keeps_its_name(fs: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    fs.put(str(tmp_path / "f"), "data/files/dir/")
    fs.put_file(str(tmp_path / "f"), "data/files/other/")
    fs.copy("data/files/dir/f", "data/files/third/")
    assert keys(fs) == ["dir/f", "other/f", "third/f"]
    fs.get("data/files/dir/f", f"{tmp_path}/here/")
    assert (tmp_path / "here/f").read_bytes() == b"x"


@pytest.mark.parametrize("mode", ["wb", "w", "xb", "ab", "a"])
def test_folder_is_not_opened_to_be_written(fs: Any, mode: str) -> None:
    with pytest.raises(IsADirectoryError):
        fs.open("data/files/dir/", mode)


# ---- Many at a time ----

def test_many_are_written_read_and_removed(fs: Any, tmp_path: Path) -> None:
    wanted = {f"data/files/many/{at % 7}/{at}": f"object {at}".encode() for at in range(60)}
    fs.pipe(wanted)
    assert fs.cat("data/files/many", recursive=True) == wanted
    fs.get("data/files/many", str(tmp_path / "many"), recursive=True)
    for path, data in wanted.items():
        assert (tmp_path / path.removeprefix("data/files/")).read_bytes() == data
    fs.put(str(tmp_path / "many"), "data/files/again", recursive=True)
    fs.copy("data/files/again", "data/files/copied", recursive=True)
    copied = fs.cat("data/files/copied", recursive=True)
    assert {name.replace("copied", "many"): data for name, data in copied.items()} == wanted
    fs.mv("data/files/copied", "data/files/moved", recursive=True)
    assert not fs.exists("data/files/copied")
    assert len(fs.find("data/files/moved")) == 60
    fs.rm("data/files", recursive=True)
    assert not fs.exists("data/files")


def test_one_error_of_many_is_raised(fs: Any, tmp_path: Path) -> None:
    fs.pipe({f"data/files/{at}": b"x" for at in range(5)})
    with pytest.raises(FileNotFoundError):
        fs.get([f"data/files/{at}" for at in range(6)], [str(tmp_path / str(at)) for at in range(6)])
    with pytest.raises(FileNotFoundError):
        fs.rm([f"data/files/{at}" for at in range(6)])
    assert len(fs.find("data/files")) == 5


def test_progress_counts_files_and_bytes(fs: Any, tmp_path: Path) -> None:
    class Told(fsspec.callbacks.Callback):  # type: ignore[name-defined,misc]
        def branched(self, *_: Any, **__: Any) -> Any:
            return child

    child = fsspec.callbacks.Callback()
    fs.pipe({f"data/files/{at}": bytes(at) for at in range(5)})
    told = Told()
    fs.get("data/files", str(tmp_path / "here"), recursive=True, callback=told)
    assert (told.size, told.value) == (6, 6)  # one of them is the folder
    assert child.value == 10


def plain(scripted: ScriptedStore, **options: Any) -> Any:
    return RailheadFileSystem(endpoint=scripted.endpoint, fabric="http", credentials=KEYS, region="us-east-1",
                              skip_instance_cache=True, **options)


LIST = b"<ListBucketResult>%s<IsTruncated>false</IsTruncated></ListBucketResult>"
ENTRY = (b"<Contents><Key>d/%d</Key><Size>1</Size><ETag>e</ETag><LastModified>2026-11-25T17:00:00.000Z</LastModified>"
         b"</Contents>")


def store_with(count: int, delete: Any) -> Any:
    def answer(request: Request) -> None:
        if request.command == "POST":
            delete(request)
        elif request.command == "GET":
            request.answer(body=LIST % b"".join(ENTRY % at for at in range(count)))
        else:
            request.answer(204 if request.command == "DELETE" else 404)
    return answer


def test_a_thousand_are_removed_with_each_request(scripted: ScriptedStore) -> None:
    scripted.script = store_with(1500, lambda request: request.answer(body=b"<DeleteResult/>"))
    fs = plain(scripted)
    fs.rm("b/d", recursive=True)
    assert len(scripted.came("POST /b?delete")) == 2
    assert not scripted.came("DELETE")
    fs.client.close()


def test_store_without_bulk_deletes_is_asked_for_each(scripted: ScriptedStore) -> None:
    refused = b"<Error><Code>NotImplemented</Code></Error>"
    scripted.script = store_with(5, lambda request: request.answer(501, body=refused))
    fs = plain(scripted)
    fs.rm("b/d", recursive=True)
    assert len(scripted.came("DELETE /b/d/")) >= 5
    fs.client.close()


def test_key_that_is_not_removed_is_an_error(scripted: ScriptedStore) -> None:
    kept = b"<DeleteResult><Error><Key>d/3</Key><Code>AccessDenied</Code><Message>kept</Message></Error></DeleteResult>"
    scripted.script = store_with(5, lambda request: request.answer(body=kept))
    fs = plain(scripted)
    with pytest.raises(PermissionError, match="d/3"):
        fs.rm("b/d", recursive=True)
    fs.client.close()


# ---- Copies above what one request copies ----

def test_large_copy_is_made_in_parts(fs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "_MOST_COPIED_AT_ONCE", 10 * MIB)
    monkeypatch.setattr(_bulk, "_COPIED_PART_BYTES", 6 * MIB)
    data = content(20 * MIB + 7)
    fs.pipe_file("data/files/large", data, ContentType="text/x", Metadata={"a": "b"})
    fs.copy("data/files/large", "data/files/copied")
    assert fs.cat("data/files/copied") == data
    head = fs.client.call("", "head_object", Bucket="data", Key="files/copied")
    assert head["ETag"].endswith('-3"')
    assert (head["ContentType"], head["Metadata"]) == ("text/x", {"a": "b"})
    fs.copy("data/files/large", "data/files/copied", Metadata={"c": "d"})
    assert fs.client.call("", "head_object", Bucket="data", Key="files/copied")["Metadata"] == {"c": "d"}


def test_large_copy_that_fails_is_aborted(scripted: ScriptedStore) -> None:
    def answer(request: Request) -> None:
        if request.command == "HEAD":
            request.answer(Content_Length=str(6 << 30), Last_Modified="Wed, 25 Nov 2026 17:00:00 GMT")
        elif "partNumber=3" in request.path:
            request.answer(412, body=b"<Error><Code>PreconditionFailed</Code></Error>")
        elif "partNumber" in request.path:
            request.answer(body=b"<CopyPartResult><ETag>e</ETag></CopyPartResult>")
        else:
            take_uploads(request)

    scripted.script = answer
    fs = plain(scripted)
    with pytest.raises(railhead.PreconditionFailed):
        fs.cp_file("b/k", "b/l")
    assert len(scripted.came("DELETE /b/l?uploadId=u")) == 1
    assert not scripted.came("POST /b/l?uploadId")
    fs.client.close()


def test_part_of_a_copy_leaves_room_for_others() -> None:
    assert _bulk._MOST_COPIED_PARTS * (2 << 30) > 5 << 40
    assert _options.part_bytes(0) == 8 * MIB < _options.part_bytes(9999) <= 5 << 30


# ---- Other people's programs ----

@pytest.mark.filterwarnings("default")
def test_hugging_face_streams_text_and_webdataset(for_s3: Any, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    import io
    import tarfile

    for_s3.pipe("data/files/hf/a.txt", b"one\ntwo\n")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, data in (("0.txt", b"zero"), ("0.json", b'{"n": 0}'), ("1.txt", b"one"), ("1.json", b'{"n": 1}')):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    for_s3.pipe("data/files/hf/a.tar", made.getvalue())
    for scheme in ("railhead", "s3"):
        text = datasets.load_dataset("text", data_files=f"{scheme}://data/files/hf/a.txt", split="train", streaming=True)
        assert [row["text"] for row in text] == ["one", "two"]
        shards = datasets.load_dataset("webdataset", data_files=f"{scheme}://data/files/hf/*.tar", split="train",
                                       streaming=True)
        assert [(row["__key__"], row["json"]["n"]) for row in shards] == [("0", 0), ("1", 1)]
