"""
Over RDMA verbs, where there is an adapter: in the rig, for one. From the root of the repository, after `./railhead --version` and
`client/python/check`:

    export JAVA_TOOL_OPTIONS='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' OPENBLAS_CORETYPE=Nehalem ATEN_CPU_CAPABILITY=default
    deploy/soft-roce/run --memory 3G -- target/python/torch/bin/python -m pytest -q -p no:cacheprovider --basetemp=/run/verbs \
        -c client/python/pyproject.toml client/python/tests/test_verbs.py
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest
import rack
from conftest import KEYS, RULES, Rack, content

import railhead
from railhead._paths import has_adapter

pytestmark = pytest.mark.skipif(not has_adapter() and "RAILHEAD_REQUIRE_VERBS" not in os.environ,
                                reason="no RDMA device; deploy/soft-roce/run has two")
MIB = 1 << 20
SIZES = [1, 4096, MIB + 3, 9 * MIB]


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    keys = (KEYS.access_key, KEYS.secret_key)
    folder = tmp_path_factory.mktemp("verbs")
    with rack.Processes(folder) as processes:
        store = (rack.start_minio if rack.find_minio() else rack.start_s3proxy)(processes, keys)
        endpoint, health = rack.start_gateway(processes, store, {"python": keys}, rules=RULES, cache={"memory": "64MiB"},
                                              rdma={"verbs": {"enabled": True}})
        made = Rack(processes, folder, store, endpoint, health)
        with made.client(fabric="http") as client:
            client.call("", "create_bucket", Bucket="data")
        yield made


@pytest.fixture
def client(adapter: Rack) -> Iterator[railhead.Client]:
    with adapter.client(fabric="verbs", deadline=120) as made:
        assert made.via == "verbs"
        yield made


@pytest.mark.parametrize("size", SIZES)
def test_what_is_written_is_read_by_every_way(client: railhead.Client, size: int) -> None:
    url, data = f"s3://data/{size}", content(size, size)
    assert client.put_from(url, data).via == "verbs"
    registered, anywhere = client.buffer(size), bytearray(size)
    got = client.get_many([(url, registered), (url, anywhere)])
    assert [(each.via, each.length, each.size) for each in got] == [("verbs", size, size)] * 2
    assert registered == anywhere == data
    assert client.get(url) == data
    assert client.get(url, start=size // 2) == data[size // 2:]
    assert client.head(url).size == size


def test_parts(client: railhead.Client) -> None:
    data = content(17 * MIB, 1)
    assert client.put_from("s3://data/parts", data).via == "verbs"
    assert client.get("s3://data/parts") == data


def test_event_loop(client: railhead.Client) -> None:
    data = content(MIB, 2)

    async def both() -> list[Any]:
        await client.aput_from("s3://data/loop", data)
        buffers = [client.buffer(MIB) for _ in range(4)]
        await asyncio.gather(*(client.aget_into("s3://data/loop", each) for each in buffers))
        return [bytes(each) for each in buffers]

    assert asyncio.run(both()) == [data] * 4


def test_nothing_there(client: railhead.Client) -> None:
    with pytest.raises(railhead.NotFound):
        client.get_into("s3://data/none", client.buffer(10))


def test_tensors(client: railhead.Client) -> None:
    torch = pytest.importorskip("torch")
    from test_torch import safetensors

    from railhead import torch as rtorch

    there = {"a": torch.arange(1000), "b": torch.randn(300, 700)}
    client.put_from("s3://data/model.safetensors", safetensors(there))
    got = rtorch.load_safetensors("s3://data/model.safetensors", client=client)
    assert all(torch.equal(got[name], there[name]) for name in there)


def test_files(adapter: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    from conftest import environment_of

    for name, value in environment_of(adapter).items():
        monkeypatch.setenv(name, value)
    data = content(3 * MIB, 3)
    with fsspec.open("railhead://data/file", "wb", fabric="verbs") as file:
        file.write(data)
    with fsspec.open("railhead://data/file", "rb", fabric="verbs") as file:
        file.seek(MIB)
        assert file.read() == data[MIB:]
