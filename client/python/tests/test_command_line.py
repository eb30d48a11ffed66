"""python -m railhead, and what README.md says."""

import hashlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Rack, content, environment_of

import railhead
from railhead import __main__, _bench

README = Path(__file__).parents[1] / "README.md"


def test_report(running: Rack) -> None:
    def report(endpoint: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-m", "railhead", "report"], capture_output=True, text=True, check=False,
                              env={**os.environ, **environment_of(running), "RAILHEAD_ENDPOINT": endpoint})

    gateway, store, nothing = report(running.endpoint), report(running.store_endpoint), report("no endpoint")
    assert (gateway.returncode, gateway.stdout.splitlines()[0]) == (0, "path: loopback")
    assert store.returncode == 1
    assert store.stdout.startswith("path: http: loopback: ")
    assert "not used: verbs: " in store.stdout
    assert nothing.returncode == 2
    assert nothing.stderr.startswith("railhead: RAILHEAD_ENDPOINT is not an endpoint")


def shell(script: str, folder: Path, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """`railhead` is the command."""
    text = f'railhead() {{ {sys.executable} -m railhead "$@"; }}; {script}'
    return subprocess.run(["bash", "-c", text], capture_output=True, check=False, input=stdin, cwd=folder, timeout=120)


def test_files_are_put_and_got(environment: Rack, tmp_path: Path) -> None:
    for name, data in (("none", b""), ("small", b"hello"), ("large", content(70 << 20))):
        (tmp_path / name).write_bytes(data)
        done = shell(f"railhead put {name} s3://data/shell/ && railhead get s3://data/shell/{name} -o back-{name}", tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert (tmp_path / f"back-{name}").read_bytes() == data
    done = shell("mkdir d && cd d && railhead get s3://data/shell/small && cat small", tmp_path)
    assert (done.returncode, done.stdout) == (0, b"hello")
    done = shell("railhead ls s3://data/shell/", tmp_path)
    assert [line.split(b"\t")[1:] for line in done.stdout.splitlines()] == [
        [b"    73400320", b"shell/large"], [b"           0", b"shell/none"], [b"           5", b"shell/small"]]
    assert b"\tdata\n" in shell("railhead ls", tmp_path).stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back-large", "back-none", "back-small", "d", "large", "none",
                                                                "small"]


def test_pipes_are_read_to_their_end_and_written_whole(environment: Rack, tmp_path: Path) -> None:
    data = content(40 << 20)
    (tmp_path / "file").write_bytes(data)
    done = shell("cat | railhead put - s3://data/pipe/in && railhead cat s3://data/pipe/in s3://data/pipe/in | sha256sum",
                 tmp_path, data)
    assert (done.returncode, done.stdout[:64].decode()) == (0, hashlib.sha256(data * 2).hexdigest())
    done = shell("railhead put <(printf x; sleep 0.1; printf y) s3://data/pipe/p && railhead get s3://data/pipe/p -o -", tmp_path)
    assert (done.returncode, done.stdout) == (0, b"xy")
    done = shell("railhead put /proc/version s3://data/pipe/ && railhead cat s3://data/pipe/version | cmp - /proc/version",
                 tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    done = shell("mkfifo fifo && { cat fifo & railhead get s3://data/pipe/p -o fifo; wait; }", tmp_path)
    assert (done.returncode, done.stdout, (tmp_path / "fifo").is_fifo()) == (0, b"xy", True)
    done = shell("set -o pipefail; railhead cat s3://data/pipe/in | head -c 3 | wc -c; echo ${PIPESTATUS[0]}", tmp_path)
    assert (done.stdout, done.stderr) == (b"3\n141\n", b""), "who reads no more is no error"


def test_what_is_no_file_is_written_to_and_links_are_followed(environment: Rack, tmp_path: Path) -> None:
    with railhead.Client() as client:
        client.put_from("s3://data/link/x", b"new")
    (tmp_path / "file").write_bytes(b"old and longer")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    done = shell("railhead get s3://data/link/x -o link && railhead get s3://data/link/x -o /dev/null", tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert ((tmp_path / "file").read_bytes(), (tmp_path / "file").stat().st_mode & 0o777) == (b"new", 0o640)
    assert Path("/dev/null").is_char_device()


def test_errors_are_one_line_and_a_status(environment: Rack, tmp_path: Path) -> None:
    for words, status, said in (
            ("get s3://data/nobody", 1, b"s3://data/nobody: NoSuchKey"), ("cat s3://data/nobody", 1, b"NoSuchKey"),
            ("put nothing s3://data/x", 1, b"No such file or directory: 'nothing'"),
            ("get s3://data", 2, b"not s3://BUCKET/KEY"), ("put - s3://data/f/", 2, b"no name"),
            ("get s3://data/folder/", 2, b"names no file"), ("ls s3://nobucket", 1, b"NoSuchBucket"),
            ("get s3://data/x -o /nope/x", 1, b"/nope/"), ("nosuch", 2, b"unknown command 'nosuch'"),
            ("gett", 2, b"did you mean 'get'?")):
        done = shell(f"railhead {words}", tmp_path)
        assert (done.returncode, done.stdout) == (status, b""), done.stderr
        assert said in done.stderr
        is_usage = words in ("nosuch", "gett")
        assert is_usage or (done.stderr.startswith(b"railhead: ") and done.stderr.count(b"\n") == 1), done.stderr
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_plain_s3_is_said_in_one_line(running: Rack, environment: Rack, tmp_path: Path) -> None:
    done = shell(f"RAILHEAD_ENDPOINT={running.store_endpoint} railhead put - s3://data/plain", tmp_path, b"x")
    assert done.returncode == 0
    assert re.fullmatch(rb"railhead: plain S3 in place of RDMA: [^\n]*\n", done.stderr)


def test_version(tmp_path: Path) -> None:
    assert shell("railhead --version", tmp_path).stdout.decode() == f"railhead {railhead.__version__}\n"
    assert railhead.__version__ == re.search(r'__version__ = "(.*?)"', Path(railhead.__file__).read_text())[1]  # type: ignore[index]


def test_bench(environment: Rack, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "s3://data/bench", "--sizes", "4KiB,2MiB", "--in-flight", "2", "--seconds", "0.05",
             "--store", environment.store_endpoint, "--json", str(tmp_path / "rows.json")]
    try:
        import matplotlib as mpl
        assert mpl
        words += ["--plot", str(tmp_path / "plot.svg")]
    except ImportError:
        pass
    assert __main__.main(words) == 0
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert {(row["path"], row["size"]) for row in rows} >= {
        (path, size) for path in ("loopback", "loopback, copied", "http") for size in (4096, 2 << 20)}
    assert all(0 < row["p50_micros"] <= row["p99_micros"] and row["mib_per_second"] > 0 for row in rows)
    assert len(capsys.readouterr().out.splitlines()) == len(rows) + 2
    assert "--plot" not in words or (tmp_path / "plot.svg").read_text().startswith("<?xml")
    with railhead.Client() as client:
        assert not list(client.list("s3://data/bench")), "it leaves nothing"


@pytest.mark.parametrize(("number", "status", "said"), [
    (signal.SIGINT, 130, "railhead: interrupted\n"), (signal.SIGTERM, 143, "")])
def test_bench_that_is_stopped_leaves_nothing(environment: Rack, number: signal.Signals, status: int, said: str) -> None:
    words = [sys.executable, "-m", "railhead", "bench", "s3://data/stopped", "--sizes", "4KiB", "--seconds", "30"]
    bench = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    with railhead.Client() as client:
        while len(list(client.list("s3://data/stopped"))) < 8:
            assert bench.poll() is None
            time.sleep(0.05)
        bench.send_signal(number)
        assert bench.communicate(timeout=30)[1] == said
        assert bench.returncode == status
        assert not list(client.list("s3://data/stopped"))


@pytest.mark.parametrize(("option", "value"), [
    ("--sizes", "x"), ("--sizes", "0"), ("--sizes", "4KiB,"), ("--sizes", "-1"), ("--in-flight", "0"), ("--in-flight", "4097"),
    ("--seconds", "-1"), ("--seconds", "nan"), ("--seconds", "x")])
def test_mistakes_are_told_before_anything_is_measured(capsys: pytest.CaptureFixture[str], option: str, value: str) -> None:
    with pytest.raises(SystemExit) as left:
        __main__.main(["bench", "s3://data/bench", f"{option}={value}"])
    assert left.value.code == 2
    assert f"argument {option}: invalid" in capsys.readouterr().err


def test_plot_that_cannot_be_drawn_is_told_before_anything_is_measured(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(_bench, "measure", lambda *_: pytest.fail("it measures"))
    assert __main__.main(["bench", "s3://data/bench", "--plot", "plot.svg"]) == 2
    assert capsys.readouterr().err.startswith("railhead: --plot needs matplotlib")


def test_bench_finds_bytes_that_are_wrong(environment: Rack) -> None:
    way = _bench.Way("lying", lambda *_: None, lambda *_: None)
    with railhead.Client() as client, pytest.raises(AssertionError, match="other bytes"):
        _bench._measure(client, way, False, ["s3://data/x"], b"content", 0.01)


def test_sizes_as_text() -> None:
    assert [_bench.size_of(text) for text in ("7", "64KiB", "3MiB", "2GiB")] == [7, 65536, 3 << 20, 2 << 30]
    assert [_bench.text_of(size) for size in (7, 65536, 3 << 20, 2 << 30)] == ["7", "64KiB", "3MiB", "2GiB"]


def whole(text: str) -> str:
    """What awaits is in a function, as it is in programs."""
    if "async with" not in text:
        return text
    body = "".join(f"    {line}\n" for line in text.splitlines())
    return f"import asyncio\nasync def main():\n{body}asyncio.run(main())\n"


def test_examples_of_the_readme(kv_rack: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that need torch are torch's; each is run as it stands."""
    for name, value in environment_of(kv_rack).items():
        monkeypatch.setenv(name, value)
    pytest.importorskip("pandas")
    # fsspec keeps filesystems by their arguments: other tests have another gateway.
    kept = pytest.importorskip("fsspec").get_filesystem_class("railhead")
    kept.clear_instance_cache()
    np = pytest.importorskip("numpy")
    examples = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    others = ("import torch", "railhead.torch", "fastsafetensors", "RailheadWriter", "@dataclass")
    runnable = [text for text in examples
                if not any(other in text for other in others) and not text.startswith("railhead.Client(")]
    with railhead.Client() as client:
        for bucket in ("models-demo", "checkpoints"):
            client.call("", "create_bucket", Bucket=bucket)
        client.put_from("s3://models-demo/README.md", b"# Railhead")
        client.put_from("s3://models-demo/weights", np.ones((1024, 1024), np.float32))
        for i in range(64):
            client.put_from(f"s3://models-demo/frame-{i}", bytes(1000))
        names = {"reads": [("s3://models-demo/weights", bytearray(100))] * 3}
        import pandas
        pandas.DataFrame({"a": [1]}).to_parquet("railhead://models-demo/table.parquet")
        try:
            for text in runnable:
                exec(compile(whole(text), "README.md", "exec"), names)
        finally:
            kept.clear_instance_cache()
    assert len(runnable) == 7
