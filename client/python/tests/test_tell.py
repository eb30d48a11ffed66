"""What get, put and ls of the command line tell of their success, to people and to programs."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import KEYS, Request, ScriptedStore

import railhead
from railhead import __main__, _native, _progress

MODIFIED = "Mon, 02 Nov 2026 10:00:00 GMT"
LISTED = b"""<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a b</Key><Size>45340</Size><ETag>"e"</ETag>
<LastModified>2026-11-02T10:00:00.000Z</LastModified></Contents></ListBucketResult>"""


def serve(request: Request) -> None:
    if "list-type" in request.path:
        request.answer(body=LISTED)
    elif request.command == "HEAD":
        request.answer(Content_Length="45340", Last_Modified=MODIFIED)
    elif request.command == "GET":
        request.answer(206, bytes(45340), Content_Range="bytes 0-45339/45340", Last_Modified=MODIFIED)
    else:
        request.answer()


@pytest.fixture(autouse=True)
def store(scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch) -> ScriptedStore:
    for name, value in {"RAILHEAD_ENDPOINT": scripted.endpoint, "AWS_ACCESS_KEY_ID": KEYS.access_key,
                        "AWS_SECRET_ACCESS_KEY": KEYS.secret_key, "AWS_REGION": "us-east-1"}.items():
        monkeypatch.setenv(name, value)
    scripted.script = serve
    return scripted


def run(*words: str) -> int:
    return __main__.main([*words, "--via", "http"])


def test_people_are_told_bytes_time_and_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k"
    assert run("get", "s3://b/k", "-v", "-o", str(file)) == 0
    assert re.fullmatch(r"45,340 bytes, [\d,]+ ms, http\n", capsys.readouterr().err)
    assert run("put", "-v", str(file), "s3://b/k") == 0
    assert re.fullmatch(r"45,340 bytes, [\d,]+ ms, http\n", capsys.readouterr().err)
    assert run("ls", "-v", "s3://b") == 0
    told = capsys.readouterr()
    assert re.fullmatch(r"1 objects, 45,340 bytes, [\d,]+ ms, http\n", told.err)
    assert told.out == "2026-11-02T10:00:00Z\t       45340\ta b\n"


def test_nobody_is_told_where_nobody_watches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("get", "s3://b/k", "-o", str(tmp_path / "k")) == 0
    assert run("put", str(tmp_path / "k"), "s3://b/k") == 0
    assert capsys.readouterr() == ("", "")


def test_programs_read_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told() -> Any:
        out, err = capsys.readouterr()
        assert (out.count("\n"), err) == (1, "")
        return json.loads(out)

    assert run("get", "s3://b/k", "--json", "-o", str(tmp_path / "k")) == 0
    read = told()
    assert isinstance(read.pop("millis"), int)
    assert read == {"url": "s3://b/k", "bytes": 45340, "via": "http", "cache": "", "etag": '"e"'}
    assert run("put", "--json", str(tmp_path / "k"), "s3://b/dir/") == 0
    assert told()["url"] == "s3://b/dir/k"
    assert run("ls", "--json", "s3://b") == 0
    assert told() == {"key": "a b", "bytes": 45340, "last_modified": "2026-11-02T10:00:00Z"}


def test_standard_output_is_the_objects_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("get", "s3://b/k", "--json", "-o", "-") == 2
    assert "--json needs a file" in capsys.readouterr().err


@pytest.mark.parametrize(("word", "said"), [("gte", "unknown command 'gte'; did you mean 'get'?"),
                                            ("banch", "did you mean 'bench'?"), ("nosuch", "unknown command 'nosuch'; see")])
def test_unknown_command_names_the_nearest(word: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        __main__.main([word])
    assert left.value.code == 2
    assert said in capsys.readouterr().err


def test_refused_connection_names_its_url() -> None:
    endpoint = "http://127.0.0.1:1"
    with (railhead.Client(endpoint, fabric="loopback", credentials=KEYS, region="us-east-1") as client,
          pytest.raises(railhead.Unavailable, match=endpoint + ": Connection refused")):
        client.get("s3://b/k")


def test_only_what_takes_longer_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    now, terminal = 0.0, Terminal()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(sys, "stderr", terminal)
    with _progress.Bar(4 << 20, "k", 1.0) as bar:
        now = 0.9
        bar.update(1 << 20)
        assert not terminal.getvalue()
        now = 2.0
        bar.update(1 << 20)
        assert "k: [############            ] 50 %, 2.0 of 4.0 MiB, 1.0 MiB/s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_build_without_verbs_says_so(store: ScriptedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "has_verbs", lambda: False)
    with pytest.warns(railhead.FallbackWarning, match="built without"), store.client(fabric="auto") as client:
        report = client.report()
    assert report.build.endswith(", without verbs")
    assert "not used: verbs: this librailhead was built without it" in str(report)
    with store.client(fabric="verbs") as client, pytest.raises(railhead.Unavailable, match="built without"):
        client.get("s3://b/k")
