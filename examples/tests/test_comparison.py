"""What the examples say of what they measured, and that wrong bytes end them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import railhead
import torch

import comparison
import measuring
import rag
import training
from measuring import GIB, MIB, Pass, Row, Stopwatch, Wrong


def row(way: str, mib_per_second: float, cpu: float) -> Row:
    return Row.of(way, [Pass(GIB, 1024 / mib_per_second, cpu)])


def test_what_was_faster_is_said_to_be_faster() -> None:
    said = measuring.saving(row("railhead", 600, 0.5), row("boto3, store", 200, 2.0))
    assert said == ("railhead was 3.0 times as fast as boto3, store, and took 1/4.0 of the processor time of this process: "
                    "0.500 s/GiB instead of 2.000.")


def test_what_was_slower_is_said_to_be_slower() -> None:
    said = measuring.saving(row("railhead", 200, 3.0), row("boto3, store", 600, 2.0))
    assert said == ("railhead was SLOWER, it took 3.0 times as long as boto3, store, and took 1.5 times as much processor time "
                    "of this process: 3.000 s/GiB instead of 2.000.")


def test_what_hardly_differs_is_said_to_be_alike() -> None:
    said = measuring.saving(row("railhead", 102, 1.01), row("boto3, store", 100, 1.0))
    assert said.startswith("railhead was about as fast as boto3, store, and took about as much processor time")


def test_a_row_is_of_all_passes() -> None:
    both = Row.of("way", [Pass(MIB, 1.0, 0.1, 1.0, (1e-3,)), Pass(3 * MIB, 1.0, 0.3, 2.0, (3e-3,))])
    assert both.mib_per_second == pytest.approx(2.0)
    assert both.cpu_seconds_per_gib == pytest.approx(0.4 * 256)
    assert both.gateway_seconds_per_gib == pytest.approx(3.0 * 256)
    assert (both.passes, both.p50_micros) == (2, pytest.approx(2000))


def test_every_way_has_its_turn_in_every_round() -> None:
    turns: list[str] = []

    def way(name: str) -> measuring.Way:
        return lambda _: turns.append(name) or MIB  # type: ignore[func-returns-value]

    passes = measuring.by_turns({name: way(name) for name in "abc"}, seconds=0)
    assert "".join(turns) == "abc" + "abc" + "bca"  # the first round is not counted
    assert {name: len(each) for name, each in passes.items()} == {"a": 2, "b": 2, "c": 2}


def busy(seconds: float) -> None:
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        pass


def test_processor_time_aside_is_not_counted() -> None:
    watch = Stopwatch()
    with watch.aside():
        busy(0.2)
    busy(0.05)
    assert 0.04 < watch.read(1).cpu_seconds < 0.2


def test_what_is_read_beside_a_step_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training.Trained, "step", lambda *_: time.sleep(0.1))
    data = training.Dataset.make(10 * training.RECORD, np.random.default_rng(1)).records[:10]
    trained = training.Trained(training.Dataset(data))

    def read(name: str, shard: torch.Tensor) -> None:
        time.sleep(0.1)
        shard[:] = torch.from_numpy(data[int(name)])

    memory = torch.empty((1, training.RECORD), dtype=torch.uint8), torch.empty((1, training.RECORD), dtype=torch.uint8)
    shards = training.WholeShards({str(i): 1 for i in range(10)}, memory, read, random.Random(1))
    watch = Stopwatch()
    assert watch.read(trained.epoch(shards, watch)).seconds >= 1


def test_the_processor_time_of_another_process_is_seen() -> None:
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        deadline = time.monotonic() + 60
        while measuring.cpu_seconds_of(other.pid) < 0.1:
            assert time.monotonic() < deadline
        watch = Stopwatch(other.pid)
        with watch.aside():
            while measuring.cpu_seconds_of(other.pid) < 0.3:
                assert time.monotonic() < deadline
        assert 0 <= watch.read(1).gateway_seconds < 0.2
    finally:
        other.kill()
        other.wait()


def test_the_gateways_column_is_there_only_where_it_was_measured() -> None:
    rows = [row("railhead", 600, 0.5), row("boto3, store", 200, 2.0)]
    assert "gateway's" in measuring.table(rows, gateway=True)
    assert measuring.table(rows, gateway=False).splitlines() == [
        "way           MiB/s  CPU s/GiB  passes",
        "railhead      600.0      0.500       1",
        "boto3, store  200.0      2.000       1"]


def test_nothing_is_counted_once_the_watch_was_stopped() -> None:
    watch = Stopwatch()
    watch.stop()
    busy(0.1)
    assert watch.read(1).cpu_seconds < 0.1


@pytest.mark.parametrize(("text", "nbytes"), [("8MiB", 8 * MIB), ("1 GiB", GIB), ("512", 512), ("2kib", 2048)])
def test_sizes_have_binary_units(text: str, nbytes: int) -> None:
    assert comparison.size(text) == nbytes


@pytest.mark.parametrize("text", ["8MB", "", "-1", "many", "0"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="size"):
        comparison.size(text)


@pytest.mark.parametrize("wrong", [
    "--seed=-1", "--seed=x", "--seconds=nan", "--seconds=inf", "--seconds=-1", "--bytes=0", "--gateway-pid=999999999",
    "--gateway-pid=-1", "--json=/nowhere/x.json", "--json=/proc"])
def test_what_is_wrong_is_told_in_a_line_before_anything_is_measured(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        comparison.parse("rag", "", "1MiB", ["--endpoint=http://127.0.0.1:1", wrong])
    assert left.value.code == 2
    assert f"argument {wrong.partition('=')[0]}: " in capsys.readouterr().err.splitlines()[-1]


def test_options_as_they_are_meant(tmp_path: Path) -> None:
    words = [f"--gateway-pid={os.getpid()}", f"--json={tmp_path}/new.json", "--seconds=0", "--seed=0"]
    options = comparison.parse("rag", "", "1MiB", ["--endpoint=http://127.0.0.1:1", *words])
    assert (options.gateway_pid, options.json, options.seconds, options.seed) == (os.getpid(), tmp_path / "new.json", 0, 0)


def test_no_query_asks_twice_for_a_vector() -> None:
    queries = rag.ask_for(rag.CANDIDATES, np.random.default_rng(1))
    assert queries.shape == (rag.QUERIES, rag.CANDIDATES)
    assert all(len(set(candidates)) == rag.CANDIDATES for candidates in queries.tolist())


def test_an_example_without_a_gateway_says_how_one_is_started(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("RAILHEAD_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit) as left:
        comparison.parse("rag", "", "1MiB", [])
    assert left.value.code == 2
    assert "examples/run" in capsys.readouterr().err


def test_an_interrupt_is_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "Site", interrupt)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["rag", "--endpoint", "http://127.0.0.1:9"])
    assert comparison.main("rag", "", "1MiB", lambda _: None) == 130
    assert capsys.readouterr().err == "rag: interrupted\n"


def test_a_vector_that_is_not_the_one_asked_for_ends_the_example() -> None:
    vectors = np.eye(16, rag.DIMENSION, dtype=np.float32)
    collection, queries = rag.Collection(vectors), np.arange(16).reshape(2, 8)
    assert rag.run(lambda wanted: vectors[wanted], collection, queries)(Stopwatch()) == 16 * rag.VECTOR_BYTES
    with pytest.raises(Wrong, match="vectors"):
        rag.run(lambda wanted: vectors[wanted[::-1]], collection, queries)(Stopwatch())


def test_an_epoch_without_one_record_ends_the_example() -> None:
    training = pytest.importorskip("training", reason="no torch")
    torch = pytest.importorskip("torch")
    trained = training.Trained(training.Dataset.make(4 * training.BATCH * training.RECORD, np.random.default_rng(1)))
    batches = list(torch.from_numpy(trained.dataset.records).split(training.BATCH))
    assert trained.epoch(batches, Stopwatch()) == trained.dataset.records.nbytes
    with pytest.raises(Wrong, match="32 records"):
        trained.epoch(batches[1:], Stopwatch())
    batches[2][5, 1000] ^= 1  # the data set's own memory: what it is compared with must not change with it
    batches[2] = batches[2].clone()
    trained.dataset.records[2 * training.BATCH + 5, 1000] ^= 1
    with pytest.raises(Wrong, match="record"):
        trained.epoch(batches, Stopwatch())


def test_a_kv_cache_that_was_not_restored_gives_other_logits() -> None:
    kv_cache = pytest.importorskip("kv_cache", reason="no torch")
    transformer = pytest.importorskip("transformer")
    torch = pytest.importorskip("torch")
    with torch.inference_mode():
        torch.manual_seed(1)
        blocks = torch.zeros(3, transformer.LAYERS, 2, transformer.HEADS, transformer.BLOCK, transformer.HEAD)
        tokens = torch.randint(transformer.VOCABULARY, (2 * transformer.BLOCK + 1,))
        prefix = kv_cache.Prefix(transformer.Transformer(3 * transformer.BLOCK), tokens, transformer.Cache(blocks))
        prefix.prefill()
        kept, logits = prefix.cache.blocks.clone(), prefix.go_on()
        kv_cache.restored(prefix, logits, lambda: prefix.cache.blocks.copy_(kept))(Stopwatch())
        with pytest.raises(Wrong, match="logits"):
            kv_cache.restored(prefix, logits, lambda: prefix.cache.blocks[0].copy_(kept[0]))(Stopwatch())


def test_a_prefill_by_chunks_is_one_at_once() -> None:
    transformer = pytest.importorskip("transformer", reason="no torch")
    torch = pytest.importorskip("torch")
    with torch.inference_mode():
        torch.manual_seed(1)
        model, tokens = transformer.Transformer(2 * transformer.BLOCK), torch.randint(transformer.VOCABULARY, (200,))
        logits = []
        for chunk in (200, 64, 1):
            cache = transformer.Cache(torch.zeros(2, transformer.LAYERS, 2, transformer.HEADS, transformer.BLOCK,
                                                  transformer.HEAD))
            for part in tokens.split(chunk):
                last = model(part, cache)
            logits.append(last)
        assert torch.allclose(logits[0], logits[1], atol=1e-4)
        assert torch.allclose(logits[0], logits[2], atol=1e-4)


class NoFlush:
    """A gateway's client that acknowledges at the disk, behind an endpoint that serves no flush."""

    def put_from(self, _url: str, _data: bytes) -> railhead.Stored:
        return railhead.Stored("e", None, "http", "disk")

    def flush(self, _url: str) -> None:
        raise railhead.NotServed("the endpoint flushes nothing")


@pytest.mark.parametrize("at_disk", ["put_from", "boto3"])
def test_a_flush_is_left_out_only_where_the_store_acknowledged_all(at_disk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "us-east-1")
    options = comparison.Options("e", "http://127.0.0.1:1", None, None, None, "b", "http", 1, 1.0, 1, None)
    site = comparison.Site(options)
    site.client.close()
    site.client = NoFlush()  # type: ignore[assignment]
    site.flush("a/")
    if at_disk == "put_from":
        site.put_from("a/1", b"x")
    else:
        answer = {"ResponseMetadata": {"HTTPHeaders": {"x-railhead-acknowledged": "disk"}}}
        site.gateway.meta.events.emit("after-call.s3.PutObject", parsed=answer, context={}, http_response=None)
    with pytest.raises(railhead.NotServed):
        site.flush("a/")
