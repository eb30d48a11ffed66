"""python -m railhead check, on the host's memory: no GPU is at hand."""

import json
import sys

import pytest
from conftest import Rack, content

import railhead
from railhead import __main__, _check


def test_objects_arrive_whole_both_ways(environment: Rack, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    urls = ["s3://data/check/none", "s3://data/check/large"]
    with railhead.Client() as client:
        client.put_from(urls[0], b"")
        client.put_from(urls[1], content(3 << 20))
    assert __main__.main(["check", *urls, "--device", "cpu", "--via", "loopback", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["way"] for record in records] == ["copied", "registered"]
    assert {record["device"] for record in records} == {"cpu"}
    assert all("loopback" in record["via"] and record["mib_per_s"] > 0 for record in records)
    assert __main__.main(["check", urls[1], "--device", "cpu"]) == 0
    assert "registered memory, over loopback: whole" in capsys.readouterr().out


def test_wrong_bytes_are_named(environment: Rack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    with railhead.Client() as client:
        client.put_from("s3://data/check/wrong", content(1 << 20))
    read = _check._read

    def flipped(client, buffers):  # type: ignore[no-untyped-def]
        done = read(client, buffers)
        for buffer in buffers.values():
            buffer[77] ^= 4
        return done

    monkeypatch.setattr(_check, "_read", flipped)
    assert __main__.main(["check", "s3://data/check/wrong", "--device", "cpu"]) == 1
    assert "s3://data/check/wrong: wrong bytes in copied memory" in capsys.readouterr().err


def test_what_is_not_here_is_no_failure_of_the_bytes(environment: Rack, monkeypatch: pytest.MonkeyPatch,
                                                     capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert __main__.main(["check", "s3://data/check/wrong"]) == 69
    assert "no torch" in capsys.readouterr().err
