"""railhead:// and s3:// in pandas, pyarrow, zarr and Hugging Face datasets."""

import errno
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import KEYS, Rack, content

import railhead

fsspec = pytest.importorskip("fsspec")

from railhead._calls import Info  # noqa: E402
from railhead.fsspec import RailheadFileSystem, use_for_s3  # noqa: E402

MIB = 1 << 20
DATA = content(9 * MIB + 1, 2)


@pytest.fixture
def fs(environment: Rack) -> Any:
    made = fsspec.filesystem("railhead", skip_instance_cache=True)
    assert isinstance(made, RailheadFileSystem)
    yield made
    made.client.close()


@pytest.fixture
def tree(fs: Any) -> str:
    """railhead://data/tree with a, b/c and b/d."""
    if fs.exists("data/tree"):
        fs.rm("data/tree", recursive=True)
    fs.pipe({"data/tree/a": DATA, "data/tree/b/c": b"c", "data/tree/b/d": b""})
    return "data/tree"


def test_listing(fs: Any, tree: str) -> None:
    assert fs.ls(tree, detail=False) == [f"{tree}/a", f"{tree}/b"]
    assert fs.find(f"railhead://{tree}") == [f"{tree}/a", f"{tree}/b/c", f"{tree}/b/d"]
    assert fs.glob(f"{tree}/b/*") == [f"{tree}/b/c", f"{tree}/b/d"]
    assert "data" in fs.ls("", detail=False)
    assert fs.isdir("data")
    assert fs.isdir(f"{tree}/b")
    assert fs.isfile(f"{tree}/a")
    assert not fs.exists(f"{tree}/none")
    assert not fs.exists("nobucket/none")
    assert fs.info(f"s3://{tree}/a")["size"] == len(DATA)
    with pytest.raises(FileNotFoundError):
        fs.ls(f"{tree}/none")


def test_bytes(fs: Any, tree: str) -> None:
    path = f"{tree}/a"
    assert fs.cat(path) == DATA
    assert fs.cat_file(path, 5, 1000) == DATA[5:1000]
    assert fs.cat_file(path, -100) == DATA[-100:]
    assert fs.cat_file(path, -100, -50) == DATA[-100:-50]
    assert fs.cat(f"{tree}/b", recursive=True) == {f"{tree}/b/c": b"c", f"{tree}/b/d": b""}
    ranges = [(0, 10), (MIB, 5 * MIB), (len(DATA) - 3, None), (7, 7)]
    starts, ends = map(list, zip(*ranges, strict=True))
    assert fs.cat_ranges([path] * 4, starts, ends) == [DATA[start:end] for start, end in ranges]
    missing = fs.cat_ranges([path, f"{tree}/none"], [0, 0], [1, 1])
    assert missing[0] == DATA[:1]
    assert isinstance(missing[1], FileNotFoundError)


def test_files(fs: Any, tree: str) -> None:
    with fs.open(f"{tree}/a", "rb", block_size=MIB) as file:
        assert file.read(10) == DATA[:10]
        file.seek(-5, 2)
        assert file.read() == DATA[-5:]
        file.seek(3 * MIB)
        assert file.read(2 * MIB) == DATA[3 * MIB:5 * MIB]
    for nbytes in (0, 1, 8 * MIB, 21 * MIB):
        data = content(nbytes, 7)
        with fs.open(f"{tree}/written", "wb") as file:
            for at in range(0, nbytes, 3 * MIB):
                file.write(data[at:at + 3 * MIB])
        assert fs.cat(f"{tree}/written") == data
    with pytest.raises(FileExistsError), fs.open(f"{tree}/written", "xb") as file:
        file.write(b"other")
    with pytest.raises(ValueError, match=r"r\+b"):
        fs.open(f"{tree}/written", "r+b")
    with fs.open(f"{tree}/a", "rb", block_size=MIB) as file:
        file.read(1)
        fs.pipe_file(f"{tree}/a", DATA[::-1])
        file.seek(8 * MIB)
        with pytest.raises(railhead.PreconditionFailed):
            file.read(1)


@pytest.mark.parametrize("mode", ["wb", "w", "xb"])
@pytest.mark.parametrize("nbytes", [1, 21 * MIB])
def test_file_that_is_left_by_an_error_is_not_stored(fs: Any, tree: str, mode: str, nbytes: int) -> None:
    data = content(nbytes).decode("latin1") if mode == "w" else content(nbytes)
    more = {"encoding": "latin1", "newline": ""} if mode == "w" else {}

    def leave() -> None:
        with fs.open(f"{tree}/left", mode, **more) as file:
            file.write(data)
            raise KeyError

    with pytest.raises(KeyError):
        leave()
    assert not fs.exists(f"{tree}/left")
    uploads = fs.client.call("", "list_multipart_uploads", Bucket="data", Prefix="tree/left")
    assert not uploads.get("Uploads")
    with fs.open(f"{tree}/left", mode, **more) as file:
        file.write(data)
    assert fs.cat(f"{tree}/left") == content(nbytes)


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_transaction_that_is_left_by_an_error_stores_nothing(fs: Any, tree: str, compression: str | None) -> None:
    def leave() -> None:
        with fs.transaction, fsspec.core.OpenFile(fs, f"{tree}/left", "wb", compression) as file:
            file.write(content(9 * MIB))
            raise KeyError

    with pytest.raises(KeyError):
        leave()
    assert not fs.exists(f"{tree}/left")


def test_text(fs: Any, tree: str) -> None:
    with fs.open(f"{tree}/text", "wt", encoding="utf-16-le", newline="\r\n") as file:
        file.write("é\n")
    assert fs.cat(f"{tree}/text") == "é\r\n".encode("utf-16-le")
    with fs.open(f"{tree}/text", "r", encoding="utf-16-le") as file:
        assert file.read() == "é\n"


def test_write_that_is_larger_than_the_ring(environment: Rack) -> None:
    fs = RailheadFileSystem(fabric="loopback", ring=16 * MIB, skip_instance_cache=True)
    data = content(40 * MIB + 1)
    with fs.open("data/larger", "wb", block_size=32 * MIB) as file:
        file.write(data)
    assert fs.cat("data/larger") == data
    assert fs.client.report().bytes_by_path == {"loopback": 2 * len(data)}
    fs.client.close()


def test_local_files_and_copies(fs: Any, tree: str, tmp_path: Path) -> None:
    fs.get(tree, str(tmp_path / "here"), recursive=True)
    assert (tmp_path / "here/a").read_bytes() == DATA
    assert (tmp_path / "here/b/d").read_bytes() == b""
    fs.put(str(tmp_path / "here"), f"{tree}/again", recursive=True)
    assert fs.cat(f"{tree}/again/a") == DATA
    assert fs.cat(f"{tree}/again/b/d") == b""
    fs.copy(f"{tree}/b/c", f"{tree}/e")
    assert fs.cat(f"{tree}/e") == b"c"
    fs.mv(f"{tree}/e", f"{tree}/f")
    assert not fs.exists(f"{tree}/e")
    fs.rm(f"{tree}/again", recursive=True)
    assert not fs.exists(f"{tree}/again")


def test_find_below_a_prefix(fs: Any, tree: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fs.pipe({f"{tree}/b2": b"", f"{tree}/b/cc/d": b""})
    fs.client.put_from(f"s3://{tree}/b/folder/", b"")
    assert fs.find(tree, prefix="b") == [f"{tree}/b/c", f"{tree}/b/cc/d", f"{tree}/b/d", f"{tree}/b2"]
    assert fs.find(f"{tree}/b/", prefix="c") == [f"{tree}/b/c", f"{tree}/b/cc/d"]
    assert fs.find(tree, prefix="none") == []
    [found] = fs.find(tree, prefix="a", detail=True).values()
    assert (found["name"], found["size"]) == (f"{tree}/a", len(DATA))
    for more in ({"maxdepth": 1}, {"withdirs": True}):
        with pytest.raises(ValueError, match="prefix"):
            fs.find(tree, prefix="b", **more)
    names = ["b", "b//e"]  # which MinIO does not take
    monkeypatch.setattr(fs.client, "list", lambda _: [Info(f"railhead://{tree}/{name}", 0, "", None) for name in names])
    assert fs.find(tree, prefix="b") == [f"{tree}/b"]


def test_folders_by_markers(fs: Any) -> None:
    for key in ("dir/", "dir/sub/", "dir/sub/file"):
        fs.client.put_from(f"s3://data/marked/{key}", b"")
    assert fs.find("data/marked") == ["data/marked/dir/sub/file"]
    for path in ("data/marked/dir", "data/marked/dir/", "data/marked", "data"):
        with pytest.raises(IsADirectoryError):
            fs.open(path, "rb")
    fs.rm(["data/marked/dir/sub"], recursive=True)
    assert [info.url for info in fs.client.list("s3://data/marked/")] == ["s3://data/marked/dir/"]
    fs.rm("data/mark*", recursive=True)
    assert not fs.exists("data/marked")
    with pytest.raises(FileNotFoundError):
        fs.rm("data/marked", recursive=True)
    fs.client.put_from("s3://data/marked/a/b", b"")
    fs.rm(["data/marked/a", "data/marked/a/b"], recursive=True)
    assert not fs.exists("data/marked")


def test_other_secrets_are_another_filesystem() -> None:
    def of(secret: str, token: str | None = None) -> Any:
        return RailheadFileSystem(endpoint="http://127.0.0.1:1", credentials=railhead.Credentials("AKID", secret, token))

    first = of("first")
    assert of("first") is first
    assert len({id(each) for each in (first, of("second"), of("first", "token"), of("first", "renewed"))}) == 4
    assert "first" not in repr(railhead.Credentials("AKID", "first"))


@pytest.mark.parametrize("nbytes", [1, 20 * MIB])
def test_object_that_comes_while_it_is_written(fs: Any, tree: str, nbytes: int) -> None:
    file = fs.open(f"{tree}/new", "xb")
    file.write(bytes(nbytes))
    fs.pipe(f"{tree}/new", b"other")
    with pytest.raises(FileExistsError):
        file.close()
    assert fs.cat(f"{tree}/new") == b"other"
    with pytest.raises(FileExistsError):
        fs.pipe_file(f"{tree}/new", b"mine", mode="create")


def test_object_that_is_not_there_is_not_removed(fs: Any, tree: str) -> None:
    with pytest.raises(FileNotFoundError):
        fs.rm([f"{tree}/a", f"{tree}/none"])
    assert fs.exists(f"{tree}/a")
    fs.rm(f"{tree}/a")
    assert not fs.exists(f"{tree}/a")
    fs.rm(tree, recursive=True, maxdepth=2)
    assert not fs.exists(tree)


def test_buckets(fs: Any) -> None:
    fs.mkdir("of-fsspec")
    assert fs.exists("of-fsspec")
    fs.makedirs("of-fsspec", exist_ok=True)
    for make in (fs.mkdir, fs.makedirs):
        with pytest.raises(FileExistsError):
            make("of-fsspec")
    fs.pipe("of-fsspec/k", b"x")
    with pytest.raises(OSError, match="of-fsspec") as caught:
        fs.rmdir("of-fsspec")
    assert caught.value.errno == errno.ENOTEMPTY
    fs.rm("of-fsspec/k")
    fs.rmdir("of-fsspec")
    assert not fs.exists("of-fsspec")


def test_options(running: Rack) -> None:
    options = {"key": KEYS.access_key, "secret": KEYS.secret_key, "fabric": "loopback",
               "client_kwargs": {"endpoint_url": running.endpoint, "region_name": "us-east-1"}}
    fs = RailheadFileSystem(**options, skip_instance_cache=True)
    assert fs.client.via == "loopback"
    fs.client.close()


NOTHING_ASKED: dict[str, Any] = {
    "anon": False, "use_ssl": None, "default_fill_cache": True, "version_aware": False, "requester_pays": False,
    "config_kwargs": {}, "s3_additional_kwargs": {}, "cache_regions": False, "session": None, "profile": None}


def test_options_of_s3fs_that_ask_for_nothing(environment: Rack, tree: str) -> None:
    fs = RailheadFileSystem(**NOTHING_ASKED, default_block_size=9 * MIB, default_cache_type="bytes", skip_instance_cache=True)
    with fs.open(f"{tree}/a") as file:
        assert (file.blocksize, type(file.cache).name) == (9 * MIB, "bytes")
    with fs.open(f"{tree}/a", block_size=MIB, cache_type="none") as file:
        assert (file.blocksize, type(file.cache).name) == (MIB, "none")
    fs.client.close()
    for name in NOTHING_ASKED:
        RailheadFileSystem(**{name: None}, skip_instance_cache=True)
    RailheadFileSystem(use_ssl=False, skip_instance_cache=True)
    RailheadFileSystem(use_ssl=True, endpoint_url="https://gateway", skip_instance_cache=True)


@pytest.mark.parametrize("asked", [
    {"anon": True}, {"use_ssl": True}, {"version_aware": True}, {"requester_pays": True}, {"config_kwargs": {"retries": 1}},
    {"s3_additional_kwargs": {"s3_additional_kwargs_unheard": "x"}}, {"cache_regions": True}, {"max_concurrency": 0},
    {"session": object()},
    {"default_cache_type": "none such"}, {"unheard_of": None}])
def test_options_that_ask_for_what_is_not_done(environment: Rack, asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(asked))):
        RailheadFileSystem(**asked, skip_instance_cache=True)


@pytest.fixture
def for_s3(fs: Any) -> Any:
    known = sys.modules["fsspec.registry"]._registry
    before = dict(known)
    use_for_s3()
    yield fs
    known.clear()
    known.update(before)


@pytest.mark.parametrize("scheme", ["railhead", "s3"])
def test_pandas(for_s3: Any, scheme: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"number": range(100_000), "text": [f"row {i}" for i in range(100_000)]})
    frame.to_csv(f"{scheme}://data/frames/table.csv", index=False)
    pandas.testing.assert_frame_equal(pandas.read_csv(f"{scheme}://data/frames/table.csv"), frame)
    # For parquet files under s3:// pandas has pyarrow's own S3 unless it is told otherwise.
    more = {"filesystem": fsspec.filesystem("s3")} if scheme == "s3" else {}
    frame.to_parquet(f"{scheme}://data/frames/table.parquet", index=False, **more)
    pandas.testing.assert_frame_equal(pandas.read_parquet(f"{scheme}://data/frames/table.parquet", **more), frame)


def test_pyarrow(fs: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import dataset, parquet

    arrow = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(fs))
    table = pyarrow.table({"part": [i % 3 for i in range(9000)], "value": list(range(9000))})
    parquet.write_to_dataset(table, "data/arrow", partition_cols=["part"], filesystem=arrow)
    read = dataset.dataset("data/arrow", filesystem=arrow, partitioning="hive")
    assert sorted(read.to_table(filter=dataset.field("part") == 1)["value"].to_pylist()) == list(range(1, 9000, 3))


@pytest.mark.filterwarnings("default")
def test_zarr(fs: Any) -> None:
    zarr = pytest.importorskip("zarr")
    np = pytest.importorskip("numpy")
    there = np.arange(600 * 500, dtype="f4").reshape(600, 500)
    array = zarr.create_array("railhead://data/array.zarr", shape=there.shape, chunks=(100, 100), dtype=there.dtype,
                              overwrite=True)
    array[:] = there
    read = zarr.open_array("railhead://data/array.zarr", mode="r")
    assert np.array_equal(read[150:420, 90:410], there[150:420, 90:410])


@pytest.mark.filterwarnings("default")
def test_hugging_face_datasets(fs: Any, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [{"number": i, "text": f"row {i}"} for i in range(1000)]
    datasets.Dataset.from_list(rows).to_parquet("railhead://data/hf/train.parquet")
    loaded = datasets.load_dataset("parquet", data_files="railhead://data/hf/train.parquet", split="train",
                                   cache_dir=str(tmp_path))
    assert loaded.to_list() == rows
    stream = datasets.load_dataset("parquet", data_files="railhead://data/hf/train.parquet", split="train", streaming=True)
    assert list(stream) == rows
