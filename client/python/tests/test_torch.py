"""Tensors and data sets. Run by a Python that has torch; see check."""

from __future__ import annotations

import copy
import io
import json
import pickle
import struct
import tarfile
from typing import Any

import pytest
from conftest import Rack, content

import railhead

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader  # noqa: E402

from railhead import torch as rtorch  # noqa: E402

MIB = 1 << 20


def safetensors(tensors: dict[str, Any], metadata: dict[str, str] | None = None, pad: int = 0) -> bytes:
    """As the format is specified: the length of the header, the header, the data."""
    names = {torch.float32: "F32", torch.bfloat16: "BF16", torch.int64: "I64", torch.bool: "BOOL", torch.uint8: "U8"}
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    data = b""
    for name, tensor in tensors.items():
        raw = bytes(tensor.contiguous().view(-1).view(torch.uint8).tolist()) if tensor.nelement() else b""
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode() + b" " * pad
    return struct.pack("<Q", len(text)) + text + data


def tensors_of_every_kind() -> dict[str, Any]:
    torch.manual_seed(1)
    return {"weights": torch.randn(33, 7), "half": torch.randn(5, 3).to(torch.bfloat16),
            "odd": torch.arange(3, dtype=torch.uint8), "misaligned": torch.arange(10),
            "mask": torch.tensor([True, False, True]), "none": torch.empty(0, 4), "scalar": torch.tensor(1.5),
            "large": torch.randn(700, 1000)}


@pytest.mark.parametrize("fabric", ["loopback", "http"])
@pytest.mark.parametrize("pad", [0, 100_000])
def test_load_safetensors(running: Rack, fabric: str, pad: int) -> None:
    there = tensors_of_every_kind()
    with running.client(fabric=fabric) as client:
        client.put_from("s3://data/model.safetensors", safetensors(there, {"format": "pt"}, pad))
        moved: list[int] = []
        got = rtorch.load_safetensors("s3://data/model.safetensors", client=client, progress=moved.append)
        assert rtorch.safetensors_metadata("s3://data/model.safetensors", client=client) == {"format": "pt"}
        some = rtorch.load_safetensors("s3://data/model.safetensors", client=client, names=["mask", "large"])
        with pytest.raises(KeyError, match="nobody"):
            rtorch.load_safetensors("s3://data/model.safetensors", client=client, names=["nobody"])
    assert got.keys() == there.keys()
    for name, tensor in there.items():
        assert got[name].dtype == tensor.dtype
        assert got[name].shape == tensor.shape
        assert torch.equal(got[name], tensor), name
    assert sum(moved) == sum(tensor.nelement() * tensor.element_size() for tensor in there.values())
    assert some.keys() == {"mask", "large"}
    assert torch.equal(some["large"], there["large"])
    got["weights"] += 1  # it is the program's memory, also after its client is closed


@pytest.mark.parametrize("fabric", ["loopback", "http"])
def test_shards_of_a_folder_and_of_an_index(running: Rack, fabric: str) -> None:
    there = tensors_of_every_kind()
    names = list(there)
    with running.client(fabric=fabric) as client:
        folder = f"s3://data/sharded-{fabric}"
        for i in range(2):
            client.put_from(f"{folder}/part-{i}.safetensors", safetensors({name: there[name] for name in names[i::2]}))
        client.put_from(f"{folder}/config.json", b"{}")
        with_folder = rtorch.load_safetensors(f"{folder}/", client=client)
        with_name = rtorch.load_safetensors(folder, client=client)
        weights = {name: f"part-{i}.safetensors" for i in range(2) for name in names[i::2] if name != "odd"}
        index = f"{folder}/model.safetensors.index.json"
        client.put_from(index, json.dumps({"metadata": {"total_size": 1}, "weight_map": weights}).encode())
        with_index = [rtorch.load_safetensors(url, client=client) for url in (index, f"{folder}/", folder)]
        some = rtorch.load_safetensors(index, client=client, names=["mask", "large"])
    for got in (with_folder, with_name):
        assert got.keys() == there.keys()
    for got in with_index:
        assert got.keys() == weights.keys(), "an index says what there is"
    for got in (with_folder, with_name, *with_index, some):
        assert all(torch.equal(tensor, there[name]) for name, tensor in got.items())
    assert some.keys() == {"mask", "large"}


def test_wrong_indices_and_folders(running: Rack) -> None:
    one = safetensors({"a": torch.ones(1)})
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/wi/a.safetensors", one)
        client.put_from("s3://data/wi/b.safetensors", one)
        with pytest.raises(ValueError, match=r"a is in more than one file: .*a\.safetensors and .*b\.safetensors"):
            rtorch.load_safetensors("s3://data/wi/", client=client)
        for text, said in ((b"{", "not an index"), (b"[]", "not an index"), (b'{"weight_map": {"a": 1}}', "not an index"),
                           (b'{"weight_map": {"b": "a.safetensors"}}', "has no b, which its index says")):
            client.put_from("s3://data/wi/model.safetensors.index.json", text)
            with pytest.raises(ValueError, match=said):
                rtorch.load_safetensors("s3://data/wi/", client=client)
        client.put_from("s3://data/wi/model.safetensors.index.json", b'{"weight_map": {"a": "nobody.safetensors"}}')
        for url in ("s3://data/wi/", "s3://data/nobody/", "s3://data/nobody", "s3://data/nobody.safetensors"):
            with pytest.raises(railhead.NotFound):
                rtorch.load_safetensors(url, client=client)


def tied() -> Any:
    """Two parameters are one memory, and one is not contiguous."""
    module = torch.nn.Module()
    module.embed = torch.nn.Embedding(10, 4)
    module.norm = torch.nn.BatchNorm1d(4)
    module.head = torch.nn.Linear(4, 10, bias=False)
    module.head.weight = module.embed.weight
    module.turned = torch.nn.Parameter(torch.zeros(3, 5).t())
    return module


@pytest.mark.parametrize("fabric", ["loopback", "http"])
def test_load_into_a_module(running: Rack, fabric: str) -> None:
    made, module = tied(), tied()
    torch.nn.init.normal_(made.turned)
    made.norm.num_batches_tracked += 7
    before = module.embed.weight.data_ptr()
    there = {name: tensor for name, tensor in made.state_dict().items() if name != "head.weight"}
    with running.client(fabric=fabric) as client:
        client.put_from("s3://data/tied.safetensors", safetensors(there))
        got = rtorch.load_safetensors("s3://data/tied.safetensors", client=client, into=module)
        other = tied()
        some = rtorch.load_safetensors("s3://data/tied.safetensors", client=client, into=other, names=["turned"])
    assert got.keys() == there.keys()
    assert all(torch.equal(tensor, module.state_dict()[name]) for name, tensor in made.state_dict().items())
    assert got["embed.weight"].data_ptr() == module.embed.weight.data_ptr() == before
    assert module.embed.weight.requires_grad
    assert some.keys() == {"turned"}
    assert torch.equal(other.turned, made.turned)
    assert not torch.equal(other.embed.weight, made.embed.weight)


def test_module_that_does_not_fit_stays_as_it_was(running: Rack) -> None:
    with running.client(fabric="loopback") as client:
        def said(**tensors: Any) -> str:
            module = torch.nn.Linear(2, 3)
            before = copy.deepcopy(module.state_dict())
            client.put_from("s3://data/unfit", safetensors(tensors))
            with pytest.raises(ValueError, match="does not fit the module") as error:
                rtorch.load_safetensors("s3://data/unfit", client=client, into=module)
            assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
            return str(error.value)

        weight, bias = torch.ones(3, 2), torch.ones(3)
        assert "missing bias" in said(weight=weight)
        assert "unexpected extra" in said(weight=weight, bias=bias, extra=bias)
        assert "mismatched bias: torch.float32[4] in the file, torch.float32[3] in the module" in said(
            weight=weight, bias=torch.ones(4))
        assert "mismatched weight: torch.bfloat16[3, 2]" in said(weight=weight.to(torch.bfloat16), bias=bias)
        with pytest.raises(ValueError, match="not both"):
            rtorch.load_safetensors("s3://data/unfit", "cpu", client=client, into=torch.nn.Linear(2, 3))


def of_header(text: str | bytes, data: bytes = b"") -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw + data


def entry(begin: Any, end: Any, shape: Any = "[1]", kind: str = "F32") -> str:
    return f'{{"dtype":"{kind}","shape":{shape},"data_offsets":[{begin},{end}]}}'


WRONG = {
    "nothing": b"", "no length": b"\0" * 7, "length of no file": struct.pack("<Q", 1 << 60), "no object": of_header("[]"),
    "no JSON": of_header("{nope"), "deep": of_header("[" * 100_000), "UTF-16": of_header("{}".encode("utf-16")),
    "too short for its shape": of_header(f'{{"a":{entry(0, 4, "[2]")}}}', b"1234"),
    "behind the end": of_header(f'{{"a":{entry(4, 8)}}}', b"1234"),
    "unknown type": of_header(f'{{"a":{entry(0, 4, kind="F99")}}}', b"1234"),
    "overlap": of_header(f'{{"a":{entry(0, 4)},"b":{entry(2, 6)}}}', b"123456"),
    "alias": of_header(f'{{"a":{entry(0, 4)},"b":{entry(0, 4)}}}', b"1234"),
    "hole": of_header(f'{{"a":{entry(0, 4)},"b":{entry(5, 9)}}}', b"123456789"),
    "hole at the beginning": of_header(f'{{"a":{entry(1, 5)}}}', b"12345"),
    "bytes behind": of_header(f'{{"a":{entry(0, 4)}}}', b"12345"), "bytes of nobody": of_header("{}", b"1"),
    "twice": of_header(f'{{"a":{entry(0, 4)},"a":{entry(4, 8)}}}', b"12345678"),
    "twice the same": of_header(f'{{"a":{entry(0, 4)},"a":{entry(0, 4)}}}', b"1234"),
    "backwards": of_header(f'{{"a":{entry(4, 0, "[-1]")},"b":{entry(0, 4)}}}', b"1234"),
    "negative": of_header(f'{{"a":{entry(0, 4, "[-1,-1]")}}}', b"1234"),
    "float": of_header(f'{{"a":{entry(0, 4, "[1.0]")}}}', b"1234"),
    "bool": of_header(f'{{"a":{entry(0, 4, "[true]")}}}', b"1234"),
    "float offset": of_header(f'{{"a":{entry(0.0, 4)}}}', b"1234"),
    "shape of names": of_header(f'{{"a":{entry(0, 4, "{}")}}}', b"1234"),
    "overflow": of_header(f'{{"a":{entry(0, 0, f"[0,{1 << 63}]")}}}'),
    "strides' overflow": of_header(f'{{"a":{entry(0, 0, f"[0,{1 << 40},{1 << 40}]")}}}'),
    "half a byte": of_header(f'{{"a":{entry(0, 2, "[3]", "F4")}}}', b"12"),
    "metadata of numbers": of_header('{"__metadata__":{"a":1}}'), "metadata of no names": of_header('{"__metadata__":[]}')}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_what_is_no_safetensors_file(running: Rack, wrong: bytes) -> None:
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/wrong.safetensors", wrong)
        with pytest.raises(ValueError, match="not a safetensors file"):
            rtorch.load_safetensors("s3://data/wrong.safetensors", client=client)


def test_tensors_in_any_order_and_empty_ones_among_them(running: Rack) -> None:
    none = entry(4, 4, f"[0,{1 << 62}]")
    text = f'{{"b":{entry(4, 8)},"none":{none},"a":{entry(0, 4)},"end":{entry(8, 8, "[0]")},"__metadata__":null}} \n'
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/order", of_header(text, struct.pack("<ff", 1, 2)))
        got = rtorch.load_safetensors("s3://data/order", client=client)
        assert rtorch.safetensors_metadata("s3://data/order", client=client) == {}
    assert {name: list(each.shape) for name, each in got.items()} == {"a": [1], "b": [1], "none": [0, 1 << 62], "end": [0]}
    assert (got["a"].item(), got["b"].item()) == (1, 2)


def test_type_that_this_torch_lacks_fails_who_asks_for_it(running: Rack) -> None:
    file = of_header(f'{{"a":{entry(3, 7)},"six":{entry(0, 3, "[2,2]", "F6_E2M3")}}}', b"123" + struct.pack("<f", 1))
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/six", file)
        assert rtorch.load_safetensors("s3://data/six", client=client, names=["a"])["a"].item() == 1
        for names in (None, ["six"]):
            with pytest.raises(ValueError, match=r"^s3://data/six: six: this torch has no F6_E2M3$"):
                rtorch.load_safetensors("s3://data/six", client=client, names=names)


def of_bytes(kind: str, shape: list[int], data: bytes) -> bytes:
    return of_header(f'{{"a":{entry(0, len(data), shape, kind)}}}', data)


@pytest.mark.parametrize("kind", [kind for kind, (_, name) in rtorch._TYPES.items() if name])
def test_numbers_of_every_kind_that_the_format_has(running: Rack, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    _, name = rtorch._TYPES[kind]
    if not hasattr(torch, name):
        monkeypatch.setattr(torch, name, {"U16": torch.int16, "U32": torch.int32, "U64": torch.int64}.get(kind, torch.uint8),
                            raising=False)
    data = bytes(i % 2 for i in range(96))
    width = torch.empty(0, dtype=getattr(torch, name)).element_size()
    columns = len(data) // 4 // width
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/kind", of_bytes(kind, [4, columns * 2 if kind == "F4" else columns], data))
        got = rtorch.load_safetensors("s3://data/kind", client=client)["a"]
    assert got.dtype == getattr(torch, name)
    assert got.shape == (4, columns)
    assert bytes(got.view(torch.uint8).view(-1).tolist()) == data


def test_row_that_ends_in_the_middle_of_a_byte(running: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "float4_e2m1fn_x2", torch.uint8, raising=False)
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/odd", of_bytes("F4", [2, 3], bytes(3)))
        with pytest.raises(ValueError, match="does not end with a byte"):
            rtorch.load_safetensors("s3://data/odd", client=client)


def test_file_that_is_replaced_between_header_and_data(running: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"a": torch.ones(4 * MIB)}
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/replaced", safetensors(there))
        header = rtorch._read_headers

        def replace(*arguments: Any) -> Any:
            read = header(*arguments)
            client.put_from("s3://data/replaced", safetensors({"a": torch.zeros(4 * MIB)}))
            return read

        monkeypatch.setattr(rtorch, "_read_headers", replace)
        with pytest.raises(railhead.PreconditionFailed):
            rtorch.load_safetensors("s3://data/replaced", client=client)


def test_tensors_as_buffers(running: Rack) -> None:
    there = torch.randn(1000, 1000)
    with running.client(fabric="loopback") as client:
        assert client.put_from("s3://data/tensor", there).via == "loopback"
        plain, registered = torch.empty(1000, 1000), rtorch.empty(client, (1000, 1000))
        client.get_many([("s3://data/tensor", plain), ("s3://data/tensor", registered)])
        assert torch.equal(plain, there)
        assert torch.equal(registered, there)
        with pytest.raises(BufferError, match="contiguous"):
            client.get_into("s3://data/tensor", plain.t())
        with pytest.raises(ValueError, match="not a shape"):
            rtorch.empty(client, (-1, -4))


def test_objects(environment: Rack) -> None:
    urls = [f"s3://data/objects/{i}" for i in range(23)]
    with railhead.Client() as client:
        for i, url in enumerate(urls):
            client.put_from(url, content(i * 1000, i))
        dataset = rtorch.Objects(urls, client=client)
        assert len(dataset) == 23
        assert bytes(dataset[7].tolist()) == content(7000, 7)
        assert [bytes(each.tolist()) for each in dataset.__getitems__([3, 0])] == [content(3000, 3), b""]
    lengths = DataLoader(rtorch.Objects(urls, transform=len), batch_size=5, num_workers=2)
    assert [length for batch in lengths for length in batch.tolist()] == [i * 1000 for i in range(23)]


def numbers_of(records: Any) -> list[int]:
    return [int.from_bytes(bytes(record.tolist()[:4]), "little") for record in records]


@pytest.fixture(scope="module")
def records(running: Rack) -> list[str]:
    """Four shards with 25 records of 1000 bytes that begin with their number."""
    urls = [f"s3://data/records/{i}" for i in range(4)]
    with running.client() as client:
        for i, url in enumerate(urls):
            client.put_from(url, b"".join(struct.pack("<I", i * 25 + j).ljust(1000, b".") for j in range(25)))
    return urls


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_records_of_all_workers_are_all(environment: Rack, records: list[str], workers: int) -> None:
    loader = DataLoader(rtorch.Records(records, 1000, batch=7), batch_size=None, num_workers=workers)
    assert sorted(numbers_of(loader)) == list(range(100))
    if workers < 2:
        assert numbers_of(loader) == list(range(100))


def test_order_of_records_is_of_seed_and_epoch(environment: Rack, records: list[str]) -> None:
    def order(seed: int, epoch: int) -> list[int]:
        dataset = rtorch.Records(records, 1000, shuffle=True, seed=seed)
        dataset.set_epoch(epoch)
        return numbers_of(dataset)

    first = order(1, 0)
    assert first == order(1, 0)
    assert sorted(first) == list(range(100))
    assert len({tuple(order(*each)) for each in ((1, 0), (1, 1), (2, 0))} | {tuple(range(100))}) == 4


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_that_persist_hear_of_the_epoch(environment: Rack, records: list[str], start: str) -> None:
    dataset = rtorch.Records(records, 1000, shuffle=True)
    loader = DataLoader(dataset, batch_size=None, num_workers=2, persistent_workers=True, multiprocessing_context=start)
    orders = []
    for epoch in (0, 1, 0):
        dataset.set_epoch(epoch)
        orders.append(numbers_of(loader))
        assert sorted(orders[-1]) == list(range(100))
    assert orders[0] == orders[2] != orders[1]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda dataset: pickle.loads(pickle.dumps(dataset))])
def test_copies_have_epochs_of_their_own(environment: Rack, records: list[str], copied: Any) -> None:
    dataset = rtorch.Records(records, 1000, shuffle=True)
    dataset.set_epoch(1)
    other = copied(dataset)
    assert numbers_of(other) == numbers_of(dataset)
    other.set_epoch(2)
    assert numbers_of(other) != numbers_of(dataset)
    loader = DataLoader(other, batch_size=None, num_workers=1, persistent_workers=True, multiprocessing_context="fork")
    before = numbers_of(loader)
    other.set_epoch(3)
    assert numbers_of(loader) != before


def test_records_that_are_not_whole(environment: Rack, records: list[str]) -> None:
    with pytest.raises(ValueError, match="whole records of 999"):
        list(rtorch.Records(records, 999))


def tar_of(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def test_shards(environment: Rack) -> None:
    urls = []
    with railhead.Client() as client:
        for shard in range(3):
            urls.append(f"s3://data/shards/{shard}.tar")
            files = {f"d.{shard}/{i}.{end}": f"{shard} {i} {end}".encode() for i in range(5) for end in ("jpg", "seg.png")}
            client.put_from(urls[-1], tar_of(files))
    samples = list(rtorch.Shards(urls))
    assert samples[6] == {"__key__": "d.1/1", "jpg": b"1 1 jpg", "seg.png": b"1 1 seg.png"}
    assert len(samples) == 15
    loader = DataLoader(rtorch.Shards(urls, shuffle=True, buffer=4, transform=key_of), batch_size=None, num_workers=2)
    shuffled = list(loader)
    assert sorted(shuffled) == [sample["__key__"] for sample in samples]
    assert shuffled != sorted(shuffled)
    assert list(loader) == shuffled, "the same seed and epoch"


def key_of(sample: dict[str, Any]) -> str:
    return str(sample["__key__"])
